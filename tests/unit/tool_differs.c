// SPDX-License-Identifier: GPL-2.0-or-later
/* What -exist takes for the same limit, and in what words another differs. */
#include "config.h"
#include "tool_words.h"

static void read_limit(const char *text, struct weir_limit *limit)
{
	char line[512];

	snprintf(line, sizeof(line), "web %s", text);
	check(!read_words(&weir_limit_fields, WEIR_ON_ADD, line, true, limit), "%s: %s", text, err.text);
}

/* A limit as the kernel tells it: complete. */
static void complete(struct weir_limit *limit)
{
	if (!(limit->has & WEIR_HAS(LIMIT_PREFIX4))) {
		limit->per[0] = 32;
		limit->per[1] = 64;
	}
	if (!(limit->has & WEIR_HAS(LIMIT_SOURCES)))
		limit->sources = 65536;
	if (!(limit->has & WEIR_HAS(LIMIT_SLOTS)))
		limit->slots = 16;
	limit->has = ~(*limit->comment ? 0 : WEIR_HAS(LIMIT_COMMENT));
}

static void test_differs(void **state)
{
	static const struct {
		const char *words, *there, *differs;
	} say[] = {
		{ "budget 1/s", "budget 1/s", "" },
		{ "budget 1000/s", "budget 1k/1000ms packets", "" },
		{ "budget 1/s", "budget 1/s slots 4", "" },
		{ "budget 1/s slots 16", "budget 1/s slots 4", "slots" },
		{ "budget 1/s", "budget 2/s", "budget" },
		{ "budget 1/s", "budget 1/2s", "budget" },
		{ "budget 1/s", "budget 1/s bytes", "budget" },
		{ "budget 1/s", "budget 1/s per 24", "per" },
		{ "budget 1/s per 32,64", "budget 1/s strict sources 64k action drop",
		  "sources" },
		{ "budget 1/s sources 65536 strict action drop", "budget 1/s", "" },
		{ "budget 1/s lenient", "budget 1/s action observe",
		  "strict|lenient, action" },
		{ "budget 1/s syn", "budget 1/s not syn", "syn" },
		{ "budget 1/s from 10.0.0.0/8", "budget 1/s from 10.0.0.0/9", "from" },
		{ "budget 1/s to ::/0", "budget 1/s to 0.0.0.0/0", "to" },
		{ "budget 1/s dev lo", "budget 1/s dev eth0", "dev" },
		{ "budget 1/s mark 1", "budget 1/s mark 1/1", "mark" },
		{ "budget 1/s family ipv4", "budget 1/s family ipv6", "family" },
		{ "budget 1/s proto tcp sport 1-2 dport 3", "budget 1/s frag",
		  "proto, sport, dport, frag" },
		{ "budget 1/s proto udp sport 1-2", "budget 1/s proto 17 sport 1",
		  "sport" },
		{ "budget 1/s", "budget 1/s comment 'a b'", "" },
		{ "budget 1/s comment 'a b'", "budget 1/s comment 'a b'", "" },
		{ "budget 1/s comment 'a b'", "budget 1/s comment a", "comment" },
		{ "budget 1/s comment ''", "budget 1/s", "" },
		{ "budget 1/s not mark 1/3 not dev lo not from 10.0.0.0/8",
		  "budget 1/s not from 10.0.0.0/8 not dev lo not mark 1/3", "" },
	};
	struct weir_limit words, there;
	char text[WEIR_DIFFERS_SIZE];
	size_t i;

	for (i = 0; i < sizeof(say) / sizeof(say[0]); i++) {
		read_limit(say[i].words, &words);
		read_limit(say[i].there, &there);
		complete(&there);
		check(weir_limit_differs(&words, &there, text) == !!*say[i].differs,
		      "%s", say[i].words);
		check(!strcmp(text, say[i].differs), "%s against %s: '%s'",
		      say[i].words, say[i].there, text);
	}
	/* all of them have room */
	read_limit("budget 1/s", &words);
	read_limit("budget 2/s family ipv4 dev lo from 10.0.0.0/8 to 10.0.0.0/8 proto tcp sport 1 dport 2 syn mark 1 per 24 slots 1 lenient sources 64 action observe comment a",
		   &there);
	there.match.has |= WEIR_COND_FRAG;
	words.has |= WEIR_HAS(LIMIT_SLOTS) | WEIR_HAS(LIMIT_COMMENT);
	assert_true(weir_limit_differs(&words, &there, text));
	assert_string_equal(text, "budget, family, dev, from, to, proto, sport, dport, syn, frag, mark, per, slots, sources, strict|lenient, action, comment");
}

UNIT_MAIN("tool_differs", T(test_differs))
