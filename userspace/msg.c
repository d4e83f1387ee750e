// SPDX-License-Identifier: GPL-2.0-or-later
/* Messages as they are built, and numbers of any width. */

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <string.h>

#include "msg.h"

struct nlmsghdr *weir_msg_begin(void *room, uint16_t family, uint16_t flags,
				uint8_t cmd, uint8_t version)
{
	struct nlmsghdr *msg = mnl_nlmsg_put_header(room);
	struct genlmsghdr *genl = mnl_nlmsg_put_extra_header(msg, sizeof(*genl));

	msg->nlmsg_type = family;
	msg->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	genl->cmd = cmd;
	genl->version = version;
	return msg;
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
