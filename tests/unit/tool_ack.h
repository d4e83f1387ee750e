/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A request, and the kernel's answer to it. */
#ifndef TOOL_ACK_H
#define TOOL_ACK_H

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include "nl.h"
#include "unit.h"

static struct weir_nl nl;
static struct weir_request request;
static char request_buf[WEIR_MSG_ROOM] __attribute__((aligned(8)));
static char answer_buf[4096] __attribute__((aligned(8)));

/* Make the request of a command that sends fields of a model. */
static void make_request(uint8_t cmd, const struct weir_set *set,
			 unsigned int verb, const void *model)
{
	request = (struct weir_request){ .cmd = cmd, .set = set, .verb = verb };
	request.msg = weir_msg_begin(request_buf, 0x20, 0, cmd);
	weir_set_put(set, verb, request.msg, model);
}

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
