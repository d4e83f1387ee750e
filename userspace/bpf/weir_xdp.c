// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The XDP program of `weir xdp attach`: drop what the module would surely refuse.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

extern int weir_xdp_refuses(struct xdp_md *ctx) __ksym;

SEC("xdp")
int weir_xdp(struct xdp_md *ctx)
{
	return weir_xdp_refuses(ctx) ? XDP_DROP : XDP_PASS;
}

/* Only programs under this licence may call functions of the kernel. */
char _license[] SEC("license") = "GPL";
