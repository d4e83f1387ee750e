// SPDX-License-Identifier: GPL-2.0-or-later
/* Random conditions that a limit accepts, and how the tool writes them. */
#include <stdio.h>

#include "packets.h"

static void make_prefix(struct weir_prefix_list *list, struct chance *dice, u8 family,
			const u8 address[][16], const u8 *len)
{
	unsigned int which = chance_below(dice, 3) + (family == AF_INET6 ? 3 : 0);

	list->count = 1;
	list->prefix[0].family = family;
	memcpy(list->prefix[0].word, address[which], 16);
	list->prefix[0].len = len[which];
}

static void make_prefixes(struct weir_match *match, struct chance *dice)
{
	static const u8 from[][16] = {
		{ 10 }, { 10, 0, 0, 128 }, { 169, 254 },
		{ 0x20, 1, 0xd, 0xb8 }, { 0x20, 1, 0xd, 0xb8, 0, 1 }, { 0xfe, 0x80 },
	};
	static const u8 to[][16] = {
		{ 192, 0, 2 }, { 192, 0, 2, 64 }, { 203, 0, 113, 1 },
		{ 0x20, 1, 0xd, 0xb8 }, { 0x20, 1, 0xd, 0xb8, 0, 7 }, { 0xff, 2 },
	};
	static const u8 from_len[] = { 8, 25, 16, 32, 48, 10 };
	static const u8 to_len[] = { 24, 26, 32, 32, 48, 16 };

	make_prefix(&match->from, dice, match->family, from, from_len);
	make_prefix(&match->to, dice, match->family, to, to_len);
}

static void make_ports(struct weir_match *match, struct chance *dice)
{
	static const u8 protos[] = { 6, 17, 132, 136, 33 };
	static const u16 ports[] = { 0, 53, 80, 443, 1024, 65535 };
	unsigned int a = chance_below(dice, 6), b = chance_below(dice, 6);

	__set_bit(protos[chance_below(dice, 5)], match->proto);
	if (chance_below(dice, 2))
		__set_bit(protos[chance_below(dice, 5)], match->proto);
	match->conds |= WEIR_COND_PROTO | (chance_below(dice, 2) ? WEIR_COND_SPORT : WEIR_COND_DPORT);
	match->sport.count = 1;
	match->sport.range[0] = (struct weir_port_range) { ports[min(a, b)], ports[max(a, b)] };
	match->dport = match->sport;
	/* The protocol must not be inverted if ports are given. */
	match->invert |= chance(dice) & match->conds & (WEIR_COND_SPORT | WEIR_COND_DPORT);
}

static void make_header(struct weir_match *match, struct chance *dice)
{
	static const u8 protos[] = { 6, 17, 58, 1, 50, 41 };
	static const u8 types[] = { 0, 8, 255, 128, 135, 0 };

	switch (chance_below(dice, 8)) {
	case 0:
	case 1:
		make_ports(match, dice);
		break;
	case 2:
		match->conds |= WEIR_COND_SYN;
		match->invert |= chance_below(dice, 2) ? WEIR_COND_SYN : 0;
		break;
	case 3:
		match->conds |= WEIR_COND_FRAG;
		match->invert |= chance_below(dice, 2) ? WEIR_COND_FRAG : 0;
		break;
	case 4:
		match->conds |= WEIR_COND_PROTO;
		match->invert |= chance_below(dice, 3) ? 0 : WEIR_COND_PROTO;
		__set_bit(protos[chance_below(dice, 6)], match->proto);
		__set_bit(protos[chance_below(dice, 6)], match->proto);
		break;
	case 5:
		match->conds |= WEIR_COND_ICMP_TYPE;
		match->invert |= chance_below(dice, 2) ? WEIR_COND_ICMP_TYPE : 0;
		__set_bit(types[chance_below(dice, 3)], match->icmp);
		__set_bit(types[chance_below(dice, 3)], match->icmp);
		break;
	case 6:
		match->conds |= WEIR_COND_ICMPV6_TYPE;
		match->invert |= chance_below(dice, 2) ? WEIR_COND_ICMPV6_TYPE : 0;
		__set_bit(types[3 + chance_below(dice, 3)], match->icmpv6);
		__set_bit(types[3 + chance_below(dice, 3)], match->icmpv6);
		break;
	}
}

/* Make the conditions of a limit. */
void match_make(struct weir_match *match, struct chance *dice)
{
	memset(match, 0, sizeof(*match));
	match->family = chance_below(dice, 2) ? AF_INET6 : AF_INET;
	make_header(match, dice);
	strcpy(match->dev, chance_below(dice, 3) ? "rx0" : "rx0.5");
	make_prefixes(match, dice);
	match->conds |= dice_percent(dice, 20) ? WEIR_COND_FAMILY : 0;
	match->conds |= dice_percent(dice, 20) ? WEIR_COND_DEV : 0;
	match->conds |= dice_percent(dice, 30) ? WEIR_COND_FROM : 0;
	match->conds |= dice_percent(dice, 20) ? WEIR_COND_TO : 0;
	if (dice_percent(dice, 40))
		match->invert |= chance(dice) & match->conds & (WEIR_CONDS_SENDER | WEIR_COND_TO);
}

static void print_types(const unsigned long *types)
{
	const char *separator = "";
	unsigned int type;

	for_each_set_bit(type, types, WEIR_TYPES) {
		printf("%s%u", separator, type);
		separator = ",";
	}
}

static void print_prefix(const struct weir_prefix_list *list)
{
	const u8 *byte = (const u8 *)list->prefix[0].word;
	unsigned int i;

	for (i = 0; list->prefix[0].family == AF_INET && i < 4; i++)
		printf("%s%u", i ? "." : "", byte[i]);
	for (i = 0; list->prefix[0].family == AF_INET6 && i < 16; i += 2)
		printf("%s%x", i ? ":" : "", byte[i] << 8 | byte[i + 1]);
	printf("/%u", list->prefix[0].len);
}

/* Print them in the tool's words. */
void match_print(const struct weir_match *match)
{
	static const char *const words[] = { "family", "dev", "from", "to", "proto",
					     "sport", "dport", "syn", "frag", "mark",
					     "icmp-type", "icmpv6-type" };
	const struct weir_port_range *ports = match->sport.range;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		if (!(match->conds & BIT(i)))
			continue;
		printf(" %s%s ", match->invert & BIT(i) ? "not " : "", words[i]);
		switch (BIT(i)) {
		case WEIR_COND_FAMILY: printf("ipv%d", match->family == AF_INET ? 4 : 6); break;
		case WEIR_COND_DEV: printf("%s", match->dev); break;
		case WEIR_COND_FROM: print_prefix(&match->from); break;
		case WEIR_COND_TO: print_prefix(&match->to); break;
		case WEIR_COND_PROTO: print_types(match->proto); break;
		case WEIR_COND_ICMP_TYPE: print_types(match->icmp); break;
		case WEIR_COND_ICMPV6_TYPE: print_types(match->icmpv6); break;
		case WEIR_COND_SPORT:
		case WEIR_COND_DPORT: printf("%u-%u", ports->min, ports->max); break;
		}
	}
}
