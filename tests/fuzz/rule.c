// SPDX-License-Identifier: GPL-2.0-or-later
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "packets.h"

static void make_prefix(struct twin_prefix *prefix, struct dice *dice, int family,
			bool source)
{
	static const uint8_t from[][16] = {
		{ 10 }, { 10, 0, 0, 128 }, { 169, 254 },
		{ 0x20, 1, 0xd, 0xb8 }, { 0x20, 1, 0xd, 0xb8, 0, 1 }, { 0xfe, 0x80 },
	};
	static const uint8_t to[][16] = {
		{ 192, 0, 2 }, { 192, 0, 2, 64 }, { 203, 0, 113, 1 },
		{ 0x20, 1, 0xd, 0xb8 }, { 0x20, 1, 0xd, 0xb8, 0, 7 }, { 0xff, 2 },
	};
	static const unsigned int from_len[] = { 8, 25, 16, 32, 48, 10 };
	static const unsigned int to_len[] = { 24, 26, 32, 32, 48, 16 };
	unsigned int which = dice_of(dice, 3) + (family == 6 ? 3 : 0);

	prefix->family = family;
	memcpy(prefix->address, source ? from[which] : to[which], 16);
	prefix->len = source ? from_len[which] : to_len[which];
}

static void make_ports(struct twin_rule *rule, struct dice *dice)
{
	static const unsigned int protos[] = { 6, 17, 132, 136, 33 };
	static const unsigned int ports[] = { 0, 53, 80, 443, 1024, 65535 };
	unsigned int a = dice_of(dice, 6), b = dice_of(dice, 6);

	rule->proto = protos[dice_of(dice, 5)];
	rule->conds |= TWIN_PROTO | (dice_of(dice, 2) ? TWIN_SPORT : TWIN_DPORT);
	rule->sport_min = ports[a < b ? a : b];
	rule->sport_max = ports[a < b ? b : a];
	rule->dport_min = rule->sport_min;
	rule->dport_max = rule->sport_max;
	/* The protocol must not be inverted if ports are given. */
	rule->invert |= dice_roll(dice) & rule->conds & (TWIN_SPORT | TWIN_DPORT);
}

static void make_header(struct twin_rule *rule, struct dice *dice)
{
	static const unsigned int protos[] = { 6, 17, 58, 1, 50, 41 };

	switch (dice_of(dice, 6)) {
	case 0:
	case 1:
		make_ports(rule, dice);
		break;
	case 2:
		rule->conds |= TWIN_SYN;
		rule->invert |= dice_of(dice, 2) ? TWIN_SYN : 0;
		break;
	case 3:
		rule->conds |= TWIN_FRAG;
		rule->invert |= dice_of(dice, 2) ? TWIN_FRAG : 0;
		break;
	case 4:
		rule->conds |= TWIN_PROTO;
		rule->invert |= dice_of(dice, 3) ? 0 : TWIN_PROTO;
		rule->proto = protos[dice_of(dice, 6)];
		break;
	}
}

/**
 * rule_make - make a valid match for a limit
 * @rule: result
 * @dice: source of randomness
 */
void rule_make(struct twin_rule *rule, struct dice *dice)
{
	int family = dice_of(dice, 2) ? 6 : 4;

	memset(rule, 0, sizeof(*rule));
	make_header(rule, dice);
	rule->family = family;
	strcpy(rule->dev, dice_of(dice, 3) ? "rx0" : "rx0.5");
	make_prefix(&rule->from, dice, family, true);
	make_prefix(&rule->to, dice, family, false);
	if (dice_percent(dice, 20))
		rule->conds |= TWIN_FAMILY;
	if (dice_percent(dice, 20))
		rule->conds |= TWIN_DEV;
	if (dice_percent(dice, 30))
		rule->conds |= TWIN_FROM;
	if (dice_percent(dice, 20))
		rule->conds |= TWIN_TO;
	if (dice_percent(dice, 40))
		rule->invert |= dice_roll(dice) & rule->conds &
				(TWIN_FAMILY | TWIN_DEV | TWIN_FROM | TWIN_TO);
}

static void print_word(const struct twin_rule *rule, unsigned int cond,
		       const char *word)
{
	printf(" %s%s", rule->invert & cond ? "not " : "", word);
}

static void print_prefix(const struct twin_prefix *prefix)
{
	char text[INET6_ADDRSTRLEN];

	inet_ntop(prefix->family == 4 ? AF_INET : AF_INET6, prefix->address, text, sizeof(text));
	printf(" %s/%u", text, prefix->len);
}

/**
 * rule_print - print a match in the tool's words
 * @rule: match
 */
void rule_print(const struct twin_rule *rule)
{
	static const struct {
		unsigned int cond;
		const char *word;
	} words[] = {
		{ TWIN_FAMILY, "family" }, { TWIN_DEV, "dev" }, { TWIN_FROM, "from" },
		{ TWIN_TO, "to" }, { TWIN_PROTO, "proto" }, { TWIN_SPORT, "sport" },
		{ TWIN_DPORT, "dport" }, { TWIN_SYN, "syn" }, { TWIN_FRAG, "frag" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!(rule->conds & words[i].cond))
			continue;
		print_word(rule, words[i].cond, words[i].word);
		switch (words[i].cond) {
		case TWIN_FAMILY: printf(" ipv%d", rule->family); break;
		case TWIN_DEV: printf(" %s", rule->dev); break;
		case TWIN_FROM: print_prefix(&rule->from); break;
		case TWIN_TO: print_prefix(&rule->to); break;
		case TWIN_PROTO: printf(" %u", rule->proto); break;
		case TWIN_SPORT: printf(" %u-%u", rule->sport_min, rule->sport_max); break;
		case TWIN_DPORT: printf(" %u-%u", rule->dport_min, rule->dport_max); break;
		}
	}
}
