// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random words: whatever is written, it is understood or refused with a
 * sentence; and what is understood stays the same through a netlink message,
 * through what is shown, and through being read again.
 */
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>

#include "field.h"
#include "show.h"
#include "unit.h"

#define WORDS	64

static const char *const values[] = {
	"1000/s", "20/10s", "2M/s", "10M/1s", "bytes", "packets", "ipv4",
	"ipv6", "eth0", "eth0.1", "10.0.0.0/8", "192.0.2.0/24", "2001:db8::/32",
	"::/0", "192.0.2.1", "192.0.2.1/24", "tcp", "udp", "47", "icmp", "80",
	"1-1024", "65536", "0x10", "0x1/0x3", "3/1", "any", "32,64", "24", "0",
	"24,56", "8", "64", "65", "1M", "100", "drop", "observe", "web", "dns",
	"", "-", "/", "#", "not", "\xff", "18446744073709551616", "1/30d",
};

static const char *any_word(struct chance *c)
{
	struct weir_word words[WEIR_WORDS_MAX];
	size_t n = 0;

	if (chance_one_in(c, 2))
		return values[chance_below(c, sizeof(values) / sizeof(values[0]))];
	weir_set_words(&weir_limit_fields, WEIR_ON_ADD, words);
	while (words[n].name)
		n++;
	return words[chance_below(c, n)].name;
}

/* A value that the word may well take. */
static const char *likely_value(struct chance *c, const char *word)
{
	static const char *const likely[][5] = {
		{ "budget", "1000/s", "20/10s", "2M/s", "7/90s" },
		{ "family", "ipv4", "ipv6", "ipv4", "ipv6" },
		{ "dev", "eth0", "lo", "br-1", "wlan0.7" },
		{ "from", "10.0.0.0/8", "2001:db8::/32,10.0.0.0/8", "192.0.2.1,192.0.2.4/30", "::/0" },
		{ "to", "10.0.0.0/8", "2001:db8::1", "192.0.2.0/24", "0.0.0.0/0" },
		{ "proto", "tcp", "udp", "tcp", "132" },
		{ "sport", "80", "1-1024", "0", "65535" },
		{ "dport", "443", "0,1024-65535,80", "53", "0-1" },
		{ "mark", "1", "0x10/0xf0", "0/0", "0xffffffff" },
		{ "match", "any", "any", "any", "any" },
		{ "per", "24", "0", "32,128", "8,0" },
		{ "slots", "1", "4", "16", "64" },
		{ "sources", "64", "1000", "65536", "16M" },
		{ "action", "drop", "observe", "drop", "observe" },
		{ "before", "web", "dns", "x", "y" },
	};
	size_t i;

	for (i = 0; i < sizeof(likely) / sizeof(likely[0]); i++) {
		if (!strcmp(likely[i][0], word))
			return likely[i][1 + chance_below(c, 4)];
	}
	return NULL;
}

static int random_words(struct chance *c, const char **words)
{
	int count = 0, more = chance_below(c, 10);
	bool sane = !chance_one_in(c, 4);
	const char *word, *value;

	words[count++] = chance_one_in(c, 20) ? any_word(c) : "web";
	if (!chance_one_in(c, 20)) {
		words[count++] = "budget";
		words[count++] = likely_value(c, "budget");
		if (chance_one_in(c, 3))
			words[count++] = chance_one_in(c, 2) ? "bytes" : "packets";
	}
	while (more-- && count < WORDS - 3) {
		word = any_word(c);
		value = likely_value(c, word);
		if (sane && !value && strcmp(word, "syn") &&
		    strcmp(word, "frag") && strcmp(word, "strict") &&
		    strcmp(word, "lenient"))
			continue;
		if (chance_one_in(c, 4))
			words[count++] = "not";
		words[count++] = word;
		if (value)
			words[count++] = value;
	}
	return count;
}

/* What of a limit the kernel would have put in where words are left out. */
static void complete(struct weir_limit *limit)
{
	if (!(limit->has & WEIR_HAS(LIMIT_PREFIX4))) {
		limit->per[0] = 32;
		limit->per[1] = 64;
	}
	if (!(limit->has & WEIR_HAS(LIMIT_SLOTS)))
		limit->slots = 10;
	if (!(limit->has & WEIR_HAS(LIMIT_SOURCES)))
		limit->sources = 65536;
	limit->has |= WEIR_HAS(LIMIT_BUDGET) | WEIR_HAS(LIMIT_UNIT) | WEIR_HAS(LIMIT_SLOTS) |
		      WEIR_HAS(LIMIT_MODE) | WEIR_HAS(LIMIT_PREFIX4) | WEIR_HAS(LIMIT_SOURCES) |
		      WEIR_HAS(LIMIT_ACTION) | WEIR_HAS(LIMIT_MATCH);
	limit->has &= ~WEIR_HAS(LIMIT_BEFORE);
	memset(limit->before, 0, sizeof(limit->before));
}

static void through_netlink(const struct weir_limit *limit,
			    struct weir_limit *told)
{
	struct weir_msg msg;

	weir_msg_begin(&msg, 0x20, 0, WEIR_CMD_LIMIT_ADD, 1);
	weir_set_put(&weir_limit_fields, WEIR_ON_ADD, &msg, limit);
	weir_set_get(&weir_limit_fields, (char *)msg.nlh + NLMSG_HDRLEN + GENL_HDRLEN,
		     msg.nlh->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN, told);
	weir_msg_free(&msg);
}

static void through_text(const struct weir_limit *limit,
			 struct weir_limit *told)
{
	struct weir_err err = { "" };
	char *text = NULL, *split[WORDS];
	struct weir_args args = { .words = split, .exact = true, .err = &err };
	struct weir_out out = { 0 };
	size_t size;

	out.to = open_memstream(&text, &size);
	weir_set_show(&weir_limit_fields, WEIR_WORDS, &out, limit);
	fclose(out.to);
	args.count = weir_split(text, split, WORDS);
	check(!weir_parse(&args, &weir_limit_fields, WEIR_ON_ADD, told), "%s: %s",
	      text, err.text);
	complete(told);
	free(text);
}

static void test_random(void **state)
{
	uint64_t rounds = unit_rounds(200000), run, good = 0;
	struct weir_limit limit, told;
	char copy[WORDS][64], *words[WORDS];
	struct weir_err err;
	int i;

	(void)state;
	for (run = 0; run < rounds; run++) {
		struct chance c = chance_of(run);
		const char *made[WORDS];
		struct weir_args args = { .words = words, .err = &err,
					  .exact = chance_one_in(&c, 2) };

		args.count = random_words(&c, made);
		for (i = 0; i < args.count; i++) {
			snprintf(copy[i], sizeof(copy[i]), "%s", made[i]);
			words[i] = copy[i];
		}
		err.text[0] = '\0';
		if (weir_parse(&args, &weir_limit_fields, WEIR_ON_ADD, &limit)) {
			check(*err.text, "run %lu: no sentence", run);
			continue;
		}
		good++;
		complete(&limit);
		limit.match.any = 0;	/* how it is said, not what it is */
		through_netlink(&limit, &told);
		check(!memcmp(&limit, &told, sizeof(told)),
		      "run %lu: netlink", run);
		through_text(&limit, &told);
		check(!memcmp(&limit, &told, sizeof(told)), "run %lu: text",
		      run);
	}
	check(good > rounds / 50, "%lu of %lu understood", good, rounds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("parse_random", tests, NULL, NULL);
}
