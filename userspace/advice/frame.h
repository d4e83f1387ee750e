/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a captured frame says to the conditions of a limit. */
#ifndef WEIR_FRAME_H
#define WEIR_FRAME_H

#include "model.h"

/* Does weir_frame_read() know frames of a link type of libpcap (DLT_*)? */
bool weir_frame_known(int link);
/*
 * Fill in what @packet, all zero at first, is; its source in from[0], with host bits. @len of @size
 * bytes were captured. Returns the length with the IP header, or 0 if it has no IP header.
 */
uint32_t weir_frame_read(int link, const uint8_t *frame, uint32_t len, uint32_t size,
			 struct weir_match *packet);

#endif
