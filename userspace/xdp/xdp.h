/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The XDP program, which drops early what the limits refuse. */
#ifndef WEIR_XDP_H
#define WEIR_XDP_H

#include "tool/request.h"

/*
 * Have the program on a device: an enum weir_exit with a sentence, and then the device is as it
 * was; undo that, on all of a configuration; remove it from all other devices, with a note, and
 * a warning where that fails, or with -check only say so.
 */
int weir_xdp_apply(struct weir_tool *tool, struct weir_xdp *at);
void weir_xdp_undo(const struct weir_config *config);
void weir_xdp_prune(struct weir_tool *tool, const struct weir_config *config);
/* The devices with the program, sorted by name, WEIR_EARLY_MAX at most; returns their number. */
unsigned int weir_xdp_list(struct weir_tool *tool, struct weir_xdp *list);
/* Likewise, with what turns each off. */
unsigned int weir_xdp_look(struct weir_tool *tool, struct weir_xdp *list);
/*
 * space.c: list the XDP programs of the namespace that was entered, detach them, and attach
 * them again; likewise.
 */
int weir_space_list(struct weir_tool *tool, struct weir_space *space);
int weir_space_detach(struct weir_tool *tool, struct weir_space *space);
int weir_space_attach(struct weir_tool *tool, struct weir_space *space);
weir_run weir_xdp_attach, weir_xdp_detach, weir_xdp_show;

#endif
