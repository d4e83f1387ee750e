// SPDX-License-Identifier: GPL-2.0-or-later
/* Messages as they are built, and numbers of any width. */

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <stdlib.h>
#include <string.h>

#include "msg.h"

/* The largest is a whole configuration; what it does not fill stays untouched. */
#define ROOM	(4 << 20)

void weir_msg_begin(struct weir_msg *msg, uint16_t family, uint16_t flags,
		    uint8_t cmd, uint8_t version)
{
	struct genlmsghdr *genl;

	*msg = (struct weir_msg){ .nlh = malloc(ROOM) };
	if (!msg->nlh) {
		msg->error = -ENOMEM;
		return;
	}
	mnl_nlmsg_put_header(msg->nlh);
	msg->nlh->nlmsg_type = family;
	msg->nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	genl = mnl_nlmsg_put_extra_header(msg->nlh, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = version;
}

void weir_msg_free(struct weir_msg *msg)
{
	free(msg->nlh);
	msg->nlh = NULL;
}

void weir_msg_put(struct weir_msg *msg, uint16_t type, const void *data, size_t len)
{
	if (!msg->error && !mnl_attr_put_check(msg->nlh, ROOM, type, len, data))
		msg->error = -EMSGSIZE;
}

size_t weir_msg_nest(struct weir_msg *msg, uint16_t type)
{
	size_t at = msg->error ? 0 : msg->nlh->nlmsg_len;

	weir_msg_put(msg, type | NLA_F_NESTED, NULL, 0);
	return at;
}

void weir_msg_nest_end(struct weir_msg *msg, size_t nest)
{
	struct nlattr *attr;
	size_t len;

	if (msg->error)
		return;
	len = msg->nlh->nlmsg_len - nest;
	attr = (struct nlattr *)((char *)msg->nlh + nest);
	attr->nla_len = len;
	if (len > UINT16_MAX)
		msg->error = -EMSGSIZE;
}

/* Where in 64 bits the low @len bytes are. */
static size_t low_bytes(size_t len)
{
	const uint16_t one = 1;

	return *(const uint8_t *)&one ? 0 : sizeof(uint64_t) - len;
}

uint64_t weir_uint_get(const void *data, size_t len)
{
	uint64_t value = 0;

	if (len == 1 || len == 2 || len == 4 || len == 8)
		memcpy((char *)&value + low_bytes(len), data, len);
	return value;
}

void weir_uint_set(void *data, size_t len, uint64_t value)
{
	if (len <= sizeof(value))
		memcpy(data, (char *)&value + low_bytes(len), len);
}
