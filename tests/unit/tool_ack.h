/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A request, and the kernel's answer to it. */
#ifndef TOOL_ACK_H
#define TOOL_ACK_H

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <sys/socket.h>

#include "nl_priv.h"
#include "unit.h"

static struct weir_nl nl = { .family = 0x20, .seq = 1, .portid = 7 };
static char request_buf[4096] __attribute__((aligned(8)));
static char answer_buf[4096] __attribute__((aligned(8)));

/* Begin the answer that has @error, a negative errno or 0; no attribute yet. */
static struct nlmsghdr *begin_answer(int error)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(answer_buf);
	struct nlmsgerr *told;

	nlh->nlmsg_type = NLMSG_ERROR;
	nlh->nlmsg_flags = NLM_F_CAPPED | NLM_F_ACK_TLVS;
	told = mnl_nlmsg_put_extra_header(nlh, sizeof(*told));
	told->error = error;
	return nlh;
}

#endif
