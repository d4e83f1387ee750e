// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A message begins as the specification wants it, for an operation and with
 * attributes that are drawn by lot. How wrong it becomes is drawn first, its
 * mood: values out of range, attributes of wrong length, type or place,
 * nests in nests, and at last bytes.
 */
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "value.h"

/* No more attributes from here on: the largest one still fits. */
#define MESSAGE_FULL (MESSAGE_MAX - 12288)

struct maker {
	struct message *message;
	struct dice *dice;
	enum mood mood;
	unsigned int depth;
};

static void put(struct message *message, const void *data, size_t len)
{
	if (message->len + len > MESSAGE_MAX)
		len = MESSAGE_MAX - message->len;
	if (data)
		memcpy(message->byte + message->len, data, len);
	else
		memset(message->byte + message->len, 0, len);
	message->len += len;
}

/* Begin an attribute; attr_end sets its length. */
static size_t attr_begin(struct message *message, uint16_t type)
{
	struct nlattr attr = { .nla_type = type };
	size_t at = message->len;

	put(message, &attr, sizeof(attr));
	return at;
}

static void attr_end(struct message *message, size_t at)
{
	uint16_t len = message->len - at;

	memcpy(message->byte + at, &len, sizeof(len));
	put(message, NULL, -message->len & 3);
}

static void attr_put(struct message *message, uint16_t type, const void *data,
		     size_t len)
{
	size_t at = attr_begin(message, type);

	put(message, data, len);
	attr_end(message, at);
}

static void make_attrs(struct maker *maker, const struct set *set,
		       const struct mode *mode);

static void make_value(struct maker *maker, const struct attr *attr)
{
	uint8_t value[VALUE_MAX];

	if (attr->kind == NEST)
		make_attrs(maker, attr->nest, NULL);
	else
		put(maker->message, value,
		    value_make(value, maker->dice, attr, maker->mood));
}

/* The flood of nests: what is inside is the outer one again. */
static void make_deep(struct maker *maker, const struct attr *attr)
{
	struct message *message = maker->message;
	unsigned int depth = 2 + dice_of(maker->dice, 60), i;
	size_t at[64];

	for (i = 0; i < depth; i++)
		at[i] = attr_begin(message, attr->number | NLA_F_NESTED);
	while (i--)
		attr_end(message, at[i]);
}

static void spoil_attr(struct maker *maker, size_t at)
{
	struct message *message = maker->message;
	struct dice *dice = maker->dice;
	struct nlattr attr;

	memcpy(&attr, message->byte + at, sizeof(attr));
	switch (dice_of(dice, 7)) {
	case 0: attr.nla_len = dice_of(dice, 5); break;
	case 1: attr.nla_len += dice_of(dice, 12); break;
	case 2: attr.nla_len -= dice_of(dice, 5); break;
	case 3: attr.nla_type ^= NLA_F_NESTED; break;
	case 4: attr.nla_type ^= NLA_F_NET_BYTEORDER; break;
	case 5: attr.nla_type = dice_of(dice, 40); break;
	case 6: attr.nla_len = dice_roll(dice); break;
	}
	memcpy(message->byte + at, &attr, sizeof(attr));
}

static void make_attr(struct maker *maker, const struct attr *attr)
{
	struct message *message = maker->message;
	struct dice *dice = maker->dice;
	bool odd = maker->mood == ODD_ATTRS;
	size_t at;

	if (odd && attr->kind == NEST && dice_percent(dice, 10)) {
		make_deep(maker, attr);
		return;
	}
	at = attr_begin(message, attr->number |
			(attr->kind == NEST ? NLA_F_NESTED : 0));
	make_value(maker, attr);
	if (odd && dice_percent(dice, 5))
		put(message, NULL, dice_of(dice, dice_percent(dice, 5) ? 9000 : 20));
	attr_end(message, at);
	if (odd && dice_percent(dice, 20))
		spoil_attr(maker, at);
}

/* Conditions of a match that make sense together. */
static const char *sense(struct dice *dice)
{
	static const char *const together[] = {
		" proto dport ", " proto sport dport ", " proto dport invert ",
		" proto syn ", " dev ", " from ", " to ", " family ", " frag ",
		" mark mark-mask ", " mark ", " proto invert ", " from to ",
	};

	return together[dice_of(dice, sizeof(together) / sizeof(*together))];
}

/* Attributes by their likely places: what an object is nothing without comes
 * nearly always, the rest now and then.
 */
static unsigned int likely(const struct attr *attr, const char *wanted)
{
	static const char *const vital[] = {
		"name", "budget", "window-ms", "address", "sources", "first",
	};
	char word[32];
	size_t i;

	if (wanted) {
		snprintf(word, sizeof(word), " %s ", attr->name);
		return strstr(wanted, word) ? 100 : 0;
	}
	for (i = 0; i < sizeof(vital) / sizeof(*vital); i++)
		if (!strcmp(vital[i], attr->name))
			return 93;
	return !strcmp(attr->name, "limit") ? 50 : !strcmp(attr->name, "before") ? 5 : 20;
}

static bool taken(const struct mode *mode, unsigned int number)
{
	unsigned int i;

	for (i = 0; !mode || i < mode->count; i++)
		if (!mode || mode->attr[i] == number)
			return true;
	return false;
}

/* Attributes of a set, of those that the mode takes where there is one. */
static void make_attrs(struct maker *maker, const struct set *set,
		       const struct mode *mode)
{
	struct dice *dice = maker->dice;
	bool odd = maker->mood == ODD_ATTRS;
	const char *wanted = NULL;
	unsigned int i, times, start;

	if (set == &match_set && dice_percent(dice, 80))
		wanted = sense(dice);
	if (maker->depth == 8)
		return;
	maker->depth++;
	start = odd ? dice_of(dice, set->count + 1) : 0;
	for (i = 0; i < set->count; i++) {
		const struct attr *attr = &set->attrs[(start + i) % set->count];

		times = dice_percent(dice, likely(attr, wanted));
		if (attr->multi && times)
			times = dice_of(dice, dice_percent(dice, 3) ? 300 : 5);
		if (!taken(mode, attr->number))
			times = odd && dice_percent(dice, 2);
		else if (odd && dice_percent(dice, 10))
			times = dice_of(dice, 3);
		while (times-- && maker->message->len < MESSAGE_FULL)
			make_attr(maker, attr);
	}
	if (odd && dice_percent(dice, 5))
		attr_put(maker->message, dice_of(dice, 100), NULL,
			 dice_of(dice, 10));
	maker->depth--;
}

static void spoil_bytes(struct maker *maker, size_t start)
{
	struct message *message = maker->message;
	struct dice *dice = maker->dice;
	unsigned int n = 1 + dice_of(dice, 6);
	size_t room = message->len - start, at, len;

	while (n-- && room) {
		at = start + dice_of(dice, room);
		switch (dice_of(dice, 4)) {
		case 0:
			message->byte[at] ^= 1 << dice_of(dice, 8);
			break;
		case 1:
			message->byte[at] = dice_roll(dice);
			break;
		case 2:
			message->len = at;
			room = at - start;
			break;
		case 3: /* a part of it once more */
			len = dice_of(dice, message->len - at) & ~3u;
			put(message, message->byte + at, len);
			room = message->len - start;
			break;
		}
	}
}

static void spoil_headers(struct maker *maker, struct nlmsghdr *nlh,
			  struct genlmsghdr *genl)
{
	struct message *message = maker->message;
	struct dice *dice = maker->dice;

	message->sound = false;
	switch (dice_of(dice, 7)) {
	case 0: nlh->nlmsg_len = dice_of(dice, 64); break;
	case 1: nlh->nlmsg_len += dice_of(dice, 32); break;
	case 2: nlh->nlmsg_len -= dice_of(dice, 32); break;
	case 3: nlh->nlmsg_flags = dice_roll(dice); break;
	case 4: genl->cmd = dice_of(dice, 30); break;
	case 5: genl->version = dice_roll(dice); break;
	case 6: genl->reserved = dice_of(dice, 3); break;
	}
}

/**
 * message_make - one message
 * @message: filled
 * @dice: decides
 * @family: number of the family
 * @seq: of the message
 */
void message_make(struct message *message, struct dice *dice, uint16_t family,
		  uint32_t seq)
{
	static const enum mood moods[] = {
		GOOD, GOOD, GOOD, GOOD, ODD_VALUES, ODD_VALUES, ODD_VALUES,
		ODD_ATTRS, ODD_ATTRS, ODD_BYTES,
	};
	struct maker maker = { message, dice, moods[dice_of(dice, 10)], 0 };
	struct nlmsghdr nlh = {
		.nlmsg_type = family, .nlmsg_seq = seq,
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
	};
	struct genlmsghdr genl = { .version = 1 };
	size_t start = NLMSG_HDRLEN + GENL_HDRLEN;

	message->op = &ops[dice_of(dice, ops_count)];
	/* Clearing as often would leave nothing to be asked about. */
	if ((strstr(message->op->name, "flush") ||
	     strstr(message->op->name, "replace")) && dice_percent(dice, 85))
		message->op = &ops[dice_of(dice, 2)];
	message->dump = !message->op->one.there ||
			(message->op->dump.there && dice_percent(dice, 40));
	message->sound = true;
	message->len = start;
	make_attrs(&maker, message->op->set, message->dump ?
		   &message->op->dump : &message->op->one);
	if (maker.mood == ODD_BYTES)
		spoil_bytes(&maker, start);
	genl.cmd = message->op->cmd;
	if (message->dump)
		nlh.nlmsg_flags |= NLM_F_DUMP;
	if (dice_percent(dice, 20))
		nlh.nlmsg_flags |= NLM_F_ECHO;
	nlh.nlmsg_len = message->len;
	if (maker.mood == ODD_BYTES && dice_percent(dice, 40))
		spoil_headers(&maker, &nlh, &genl);
	memcpy(message->byte, &nlh, sizeof(nlh));
	memcpy(message->byte + NLMSG_HDRLEN, &genl, sizeof(genl));
}
