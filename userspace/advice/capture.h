/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Read a file of captured packets. */
#ifndef WEIR_CAPTURE_H
#define WEIR_CAPTURE_H

#include <stdint.h>

#include "err.h"

/* A frame, of which @len of @size bytes were captured, at so many ns since 1970. */
struct weir_frame {
	const uint8_t *bytes;
	uint32_t len, size;
	uint64_t ns;
};

struct weir_capture;

/* Open a file, "-" for stdin; NULL with a sentence. */
struct weir_capture *weir_capture_open(const char *path, struct weir_err *err);
/* Its link type, DLT_* of libpcap, and the name of that or NULL. */
int weir_capture_link(const struct weir_capture *capture);
const char *weir_capture_link_name(const struct weir_capture *capture);
/* The next frame: 1, 0 at the end, -EINVAL with a sentence. */
int weir_capture_next(struct weir_capture *capture, struct weir_frame *frame, struct weir_err *err);
void weir_capture_close(struct weir_capture *capture);

#endif
