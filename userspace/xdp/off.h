/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why nothing is dropped early on a device. */
#ifndef WEIR_XDP_OFF_H
#define WEIR_XDP_OFF_H

#include "tool/tool.h"

/* What takes the packets before the module's hook? @why: a predicate of the device. */
bool weir_xdp_taken(const char *dev, char why[WEIR_OFF_SIZE]);
/* Likewise, or what else is the reason now, limits apart? @why: a sentence. */
bool weir_xdp_off(const char *dev, char why[WEIR_OFF_SIZE]);

#endif
