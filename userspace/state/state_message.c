// SPDX-License-Identifier: GPL-2.0-or-later
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>

#include "state/state_message.h"

#define HEADERS		(NLMSG_HDRLEN + GENL_HDRLEN)

static bool take_attr(const struct nlattr *attr, struct weir_saved_message *message)
{
	void *data = mnl_attr_get_payload(attr);

	switch (mnl_attr_get_type(attr)) {
	case WEIR_A_STATE_LIMIT:
		message->limit = data;
		return mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0;
	case WEIR_A_STATE_CLOCK_NS:
		message->clock_ns = data;
		return mnl_attr_get_payload_len(attr) == sizeof(uint64_t);
	case WEIR_A_STATE_HASH_KEY:
		message->hash_key = data;
		return mnl_attr_get_payload_len(attr) == WEIR_HASH_KEY_SIZE;
	default:
		message->sources += mnl_attr_get_type(attr) == WEIR_A_STATE_SOURCE;
		message->floors += mnl_attr_get_type(attr) == WEIR_A_STATE_FLOOR;
		return true;
	}
}

bool weir_saved_message(void *data, size_t length, struct weir_saved_message *message)
{
	const struct nlmsghdr *nlh = data;
	const struct nlattr *attr;

	*message = (struct weir_saved_message){ 0 };
	if (length < HEADERS || nlh->nlmsg_len != length)
		return false;
	message->attrs = (const char *)data + HEADERS;
	message->attrs_len = length - HEADERS;
	mnl_attr_for_each_payload(message->attrs, message->attrs_len) {
		if (!take_attr(attr, message))
			return false;
	}
	return message->limit && message->clock_ns;
}

static uint64_t get_number(const struct nlattr *attr)
{
	uint32_t narrow;
	uint64_t wide;

	if (mnl_attr_get_payload_len(attr) == sizeof(narrow)) {
		memcpy(&narrow, mnl_attr_get_payload(attr), sizeof(narrow));
		return narrow;
	}
	if (mnl_attr_get_payload_len(attr) != sizeof(wide))
		return 0;
	memcpy(&wide, mnl_attr_get_payload(attr), sizeof(wide));
	return wide;
}

static void read_clock(const struct nlattr *nest, struct weir_saved_clock *clock)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, nest) {
		switch (mnl_attr_get_type(attr)) {
		case WEIR_A_STATE_BUDGET_UNIT:
			clock->unit = get_number(attr);
			break;
		case WEIR_A_STATE_BUDGET_MODE:
			clock->mode = get_number(attr);
			break;
		case WEIR_A_STATE_BUDGET_SLOTS:
			clock->slots = get_number(attr);
			break;
		case WEIR_A_STATE_BUDGET_SLOT_NS:
			clock->slot_ns = get_number(attr);
			break;
		case WEIR_A_STATE_BUDGET_PHASE_NS:
			clock->phase_ns = get_number(attr);
			break;
		case WEIR_A_STATE_BUDGET_WIDTH:
			clock->width = get_number(attr);
			break;
		}
	}
}

bool weir_saved_clock(const struct weir_saved_message *message, struct weir_saved_clock *clock)
{
	const struct nlattr *attr;

	*clock = (struct weir_saved_clock){ 0 };
	mnl_attr_for_each_payload(message->attrs, message->attrs_len) {
		if (mnl_attr_get_type(attr) != WEIR_A_STATE_BUDGET)
			continue;
		read_clock(attr, clock);
		return clock->slots && (clock->width == 2 || clock->width == 4 ||
					clock->width == 8);
	}
	return false;
}

/* The numbers of the first count */
static void read_count(const struct nlattr *nest, struct weir_saved_source *source)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, nest) {
		if (mnl_attr_get_type(attr) != WEIR_A_STATE_COUNT_NUMBERS)
			continue;
		source->numbers = mnl_attr_get_payload(attr);
		source->bytes = mnl_attr_get_payload_len(attr);
	}
}

static void read_source(const struct nlattr *nest, struct weir_saved_source *source)
{
	const struct nlattr *attr;
	unsigned int len;

	*source = (struct weir_saved_source){ 0 };
	mnl_attr_for_each_nested(attr, nest) {
		len = mnl_attr_get_payload_len(attr);
		switch (mnl_attr_get_type(attr)) {
		case WEIR_A_STATE_SOURCE_ADDRESS:
			if (len != 4 && len != sizeof(source->prefix.addr))
				break;
			source->prefix.family = len == 4 ? AF_INET : AF_INET6;
			source->prefix.len = 8 * len;
			memcpy(source->prefix.addr, mnl_attr_get_payload(attr), len);
			break;
		case WEIR_A_STATE_SOURCE_COUNT:
			if (!source->numbers)
				read_count(attr, source);
			break;
		case WEIR_A_STATE_SOURCE_DROPPED:
			source->dropped = get_number(attr);
			break;
		case WEIR_A_STATE_SOURCE_BLOCKED_NS:
			if (len == sizeof(uint64_t))
				source->blocked_ns = mnl_attr_get_payload(attr);
			break;
		}
	}
}

int weir_saved_sources(const struct weir_saved_message *message,
		       int (*source)(const struct weir_saved_source *source, void *data),
		       void *data)
{
	struct weir_saved_source is;
	const struct nlattr *attr;
	int ret = 0;

	mnl_attr_for_each_payload(message->attrs, message->attrs_len) {
		if (mnl_attr_get_type(attr) != WEIR_A_STATE_SOURCE)
			continue;
		read_source(attr, &is);
		ret = source(&is, data);
		if (ret)
			break;
	}
	return ret;
}
