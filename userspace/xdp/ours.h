/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tool's XDP programs as the kernel has them: told from others, and removed once their device
 * is gone or without them. libxdp pins each, with its place in the dispatcher of a device, and
 * never looks again.
 */
#ifndef WEIR_XDP_OURS_H
#define WEIR_XDP_OURS_H

#include "tool/tool.h"

#define WEIR_XDP_PROGRAM	"weir_xdp"
#define WEIR_XDP_BTF		"/sys/kernel/btf/weir"

struct bpf_object;

/* The kernel did not tell whose a program is. */
extern bool weir_xdp_hidden;

/* Can there be a program of ours? It would keep the module and its BTF. */
bool weir_xdp_is_called(void);
bool weir_xdp_is_ours(uint32_t id);
/* Write the name of its device, one of this namespace, into an object that is not loaded yet. */
void weir_xdp_name(struct bpf_object *object, const char *dev);
/*
 * Before a program is pinned for a device: a map that tells when the device is gone; a descriptor,
 * or negative. Then give it to the program, 0: there is none, and close it.
 */
int weir_xdp_watch(int ifindex);
void weir_xdp_watched(int watch, uint32_t program);
/*
 * Remove the programs of devices that are gone, in any namespace, and of devices from which another
 * tool has detached them, in this namespace or @everywhere, with a note each; with -check only say
 * so. Returns how many were of devices named @dev, NULL: of any.
 */
unsigned int weir_xdp_clean(struct weir_tool *tool, const char *dev, bool everywhere);

#endif
