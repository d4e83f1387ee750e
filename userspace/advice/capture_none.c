// SPDX-License-Identifier: GPL-2.0-or-later
/* capture.c of a weir that was built without libpcap. */

#include <stddef.h>

#include "advice/capture.h"

#ifndef WEIR_PCAP

struct weir_capture *weir_capture_open(const char *path, struct weir_err *err)
{
	weir_err_set(err, "this weir was built without libpcap, which reads captures");
	return NULL;
}

int weir_capture_link(const struct weir_capture *capture)
{
	return -1;
}

const char *weir_capture_link_name(const struct weir_capture *capture)
{
	return NULL;
}

int weir_capture_next(struct weir_capture *capture, struct weir_frame *frame, struct weir_err *err)
{
	return 0;
}

void weir_capture_close(struct weir_capture *capture)
{
}

#endif
