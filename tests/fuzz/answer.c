// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel does what a message says before sendmsg() returns, and the next
 * part of a dump before recvmsg() does. So all of an answer is there when
 * there is nothing more to read; nothing waits here.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "answer.h"

#define ROOM 65536

const struct attr *attr_find(const struct set *set, unsigned int number)
{
	unsigned int i;

	for (i = 0; i < set->count; i++)
		if (set->attrs[i].number == number)
			return &set->attrs[i];
	return NULL;
}

unsigned int kind_bytes(enum kind kind)
{
	switch (kind) {
	case U8: return 1;
	case U16: return 2;
	case U32: return 4;
	case U64: return 8;
	default: return 0;
	}
}

static const char *check_attrs(const uint8_t *byte, size_t len,
			       const struct set *set);

static const char *check_value(const uint8_t *byte, size_t len, uint16_t type,
			       const struct attr *attr)
{
	switch (attr->kind) {
	case U8:
	case U16:
	case U32:
	case U64:
		return len == kind_bytes(attr->kind) ? NULL :
		       "an answer has a number of wrong length";
	case STRING:
		if (!len || len > attr->max_len + 1u || byte[len - 1] ||
		    strlen((const char *)byte) + 1 != len)
			return "an answer has a bad string";
		return NULL;
	case BINARY:
		return len <= attr->max_len ? NULL : "an answer has a long binary";
	case NEST:
		return type & NLA_F_NESTED ? check_attrs(byte, len, attr->nest) :
		       "an answer has a nest that is not marked";
	case FLAG:
	case PAD:
		return len ? "an answer has a flag with a value" : NULL;
	}
	return NULL;
}

/* The next attribute: its header, and its value; NULL where there is none. */
static const uint8_t *attr_next(const uint8_t **byte, size_t *len,
				struct nlattr *head)
{
	const uint8_t *value = *byte + sizeof(*head);
	size_t size;

	if (*len < sizeof(*head))
		return NULL;
	memcpy(head, *byte, sizeof(*head));
	if (head->nla_len < sizeof(*head) || head->nla_len > *len)
		return NULL;
	size = NLA_ALIGN(head->nla_len);
	size = size < *len ? size : *len;
	*byte += size;
	*len -= size;
	return value;
}

/* Is an answer what the specification says? What is wrong, or NULL. */
static const char *check_attrs(const uint8_t *byte, size_t len,
			       const struct set *set)
{
	const struct attr *attr;
	const uint8_t *value;
	struct nlattr head;
	const char *wrong;

	while ((value = attr_next(&byte, &len, &head))) {
		attr = attr_find(set, head.nla_type & NLA_TYPE_MASK);
		if (!attr)
			return "an answer has an unknown attribute";
		wrong = check_value(value, head.nla_len - sizeof(head),
				    head.nla_type, attr);
		if (wrong)
			return wrong;
	}
	return len ? "an answer ends in bytes that are no attribute" : NULL;
}

/* The extended ACK behind an error or the end of a dump. */
static void take_ack(const uint8_t *byte, size_t len, struct answer *answer)
{
	const uint8_t *value;
	struct nlattr head;
	size_t size;

	while ((value = attr_next(&byte, &len, &head))) {
		size = head.nla_len - sizeof(head);
		if (head.nla_type == NLMSGERR_ATTR_MSG && size) {
			size = size < sizeof(answer->msg) ? size : sizeof(answer->msg);
			memcpy(answer->msg, value, size);
			answer->msg[size - 1] = '\0';
		} else if (head.nla_type == NLMSGERR_ATTR_OFFS && size == 4) {
			memcpy(&answer->offset, value, 4);
		}
	}
}

static void take_end(const struct nlmsghdr *nlh, struct answer *answer)
{
	const uint8_t *byte = NLMSG_DATA(nlh);
	size_t len = nlh->nlmsg_len - NLMSG_HDRLEN;
	size_t skip = nlh->nlmsg_type == NLMSG_DONE ? 4 : sizeof(struct nlmsgerr);
	const struct nlmsgerr *error = NLMSG_DATA(nlh);

	if (len < 4) {
		answer->wrong = "the end of an answer is cut short";
		return;
	}
	if (answer->ended && nlh->nlmsg_type == NLMSG_ERROR && !error->error)
		return; /* a dump, acknowledged */
	answer->ended = true;
	memcpy(&answer->error, byte, 4);
	answer->error = -answer->error;
	/* An error that is not capped carries the message. */
	if (nlh->nlmsg_type == NLMSG_ERROR && !(nlh->nlmsg_flags & NLM_F_CAPPED) &&
	    answer->error)
		skip += NLMSG_ALIGN(error->msg.nlmsg_len) - NLMSG_HDRLEN;
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS && len > skip)
		take_ack(byte + skip, len - skip, answer);
}

static void take(const struct nlmsghdr *nlh, uint16_t family,
		 const struct set *set, struct answer *answer)
{
	const char *wrong;

	if (nlh->nlmsg_type == NLMSG_ERROR || nlh->nlmsg_type == NLMSG_DONE) {
		take_end(nlh, answer);
		return;
	}
	answer->parts++;
	if (nlh->nlmsg_type != family) {
		answer->wrong = "an answer is of another family";
		return;
	}
	if (nlh->nlmsg_len < NLMSG_HDRLEN + GENL_HDRLEN || !set)
		return;
	wrong = check_attrs((const uint8_t *)nlh + NLMSG_HDRLEN + GENL_HDRLEN,
			    nlh->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN, set);
	if (wrong)
		answer->wrong = wrong;
}

/* Every part of an answer goes to each, with what it was given. */
typedef void each_fn(const struct nlmsghdr *nlh, void *data);

static int receive(struct channel *channel, each_fn *each, void *data)
{
	static uint8_t room[ROOM] __attribute__((aligned(NLMSG_ALIGNTO)));
	const struct nlmsghdr *nlh;
	ssize_t got;
	size_t left;

	for (;;) {
		got = recv(channel->fd, room, sizeof(room), MSG_DONTWAIT | MSG_TRUNC);
		if (got < 0 && errno == EAGAIN)
			return 0;
		if (got < 0 || got > ROOM)
			return -1;
		left = got;
		nlh = (void *)room;
		while (left >= sizeof(*nlh) && nlh->nlmsg_len >= sizeof(*nlh) &&
		       nlh->nlmsg_len <= left) {
			each(nlh, data);
			left -= left < NLMSG_ALIGN(nlh->nlmsg_len) ? left :
				NLMSG_ALIGN(nlh->nlmsg_len);
			nlh = (void *)((uint8_t *)nlh + NLMSG_ALIGN(nlh->nlmsg_len));
		}
	}
}

struct asked {
	uint16_t family;
	uint32_t seq;
	const struct set *set;
	struct answer *answer;
};

static void take_asked(const struct nlmsghdr *nlh, void *data)
{
	struct asked *asked = data;

	if (nlh->nlmsg_seq == asked->seq)
		take(nlh, asked->family, asked->set, asked->answer);
	else
		asked->answer->wrong = "an answer to what was not asked";
}

/**
 * channel_ask - send a message and take all of its answer
 * @channel: to the family
 * @message: netlink message
 * @len: in bytes
 * @seq: of the message
 * @set: attributes of the answer
 * @answer: filled
 *
 * Return: 0, or -1 where the channel is broken.
 */
int channel_ask(struct channel *channel, const void *message, size_t len,
		uint32_t seq, const struct set *set, struct answer *answer)
{
	struct asked asked = { channel->family, seq, set, answer };

	memset(answer, 0, sizeof(*answer));
	if (send(channel->fd, message, len, 0) < 0)
		return -1;
	return receive(channel, take_asked, &asked);
}

static void hash_part(const struct nlmsghdr *nlh, void *data)
{
	const uint8_t *byte = (const uint8_t *)nlh + NLMSG_HDRLEN;
	size_t i, len = nlh->nlmsg_len - NLMSG_HDRLEN;
	uint64_t *hash = data;

	for (i = 0; i < len; i++)
		*hash = (*hash ^ byte[i]) * 0x100000001b3ull;
}

/**
 * channel_config - a hash of the whole configuration
 * @channel: to the family
 * @hash: filled
 *
 * Return: 0, or -1 where the channel is broken.
 */
int channel_config(struct channel *channel, uint64_t *hash)
{
	static const char *const asked[] = { "limit-get", "exempt-get" };
	struct {
		struct nlmsghdr nlh;
		struct genlmsghdr genl;
	} message = {
		{ sizeof(message), channel->family, NLM_F_REQUEST | NLM_F_DUMP, 1, 0 },
		{ 0, 1, 0 },
	};
	unsigned int i, j;

	*hash = 0xcbf29ce484222325ull;
	for (i = 0; i < 2; i++) {
		for (j = 0; j < ops_count; j++)
			if (!strcmp(ops[j].name, asked[i]))
				message.genl.cmd = ops[j].cmd;
		if (send(channel->fd, &message, sizeof(message), 0) < 0 ||
		    receive(channel, hash_part, hash))
			return -1;
	}
	return 0;
}

static void take_family(const struct nlmsghdr *nlh, void *data)
{
	const uint8_t *byte = (const uint8_t *)nlh + NLMSG_HDRLEN + GENL_HDRLEN;
	size_t left = nlh->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN;
	struct channel *channel = data;
	const uint8_t *value;
	struct nlattr head;

	if (nlh->nlmsg_type != GENL_ID_CTRL)
		return;
	while ((value = attr_next(&byte, &left, &head)))
		if (head.nla_type == CTRL_ATTR_FAMILY_ID)
			memcpy(&channel->family, value, 2);
}

/**
 * channel_open - a way to the family in the namespace of the process
 * @channel: filled
 *
 * Return: 0, or -1 and errno.
 */
int channel_open(struct channel *channel)
{
	struct {
		struct nlmsghdr nlh;
		struct genlmsghdr genl;
		struct nlattr attr;
		char name[8];
	} message = {
		{ sizeof(message), GENL_ID_CTRL, NLM_F_REQUEST, 1, 0 },
		{ CTRL_CMD_GETFAMILY, 1, 0 },
		{ sizeof(struct nlattr) + 5, CTRL_ATTR_FAMILY_NAME }, "weir",
	};
	int one = 1, room = 4 << 20;

	channel->family = 0;
	channel->fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	if (channel->fd < 0)
		return -1;
	setsockopt(channel->fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(channel->fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	setsockopt(channel->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	errno = ENOENT;
	if (send(channel->fd, &message, sizeof(message), 0) < 0 ||
	    receive(channel, take_family, channel) || !channel->family) {
		close(channel->fd);
		return -1;
	}
	return 0;
}

void channel_close(struct channel *channel)
{
	close(channel->fd);
}

/**
 * channel_abandon - send a message and be gone, perhaps in the middle of a dump
 * @channel: to the family; another one afterwards
 * @message: netlink message
 * @len: in bytes
 *
 * Return: 0, or -1 where there is no other channel.
 */
int channel_abandon(struct channel *channel, const void *message, size_t len)
{
	int ret = send(channel->fd, message, len, 0) < 0 ? -1 : 0;

	channel_close(channel);
	return ret ? ret : channel_open(channel);
}
