/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kfunc for XDP programs. See the top of xdp.c.
 */
#ifndef WEIR_XDP_H
#define WEIR_XDP_H

struct xdp_md;

int weir_xdp_refuses(struct xdp_md *ctx);
int weir_xdp_init(void);

#endif /* WEIR_XDP_H */
