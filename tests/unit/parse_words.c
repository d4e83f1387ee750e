// SPDX-License-Identifier: GPL-2.0-or-later
/* Words by their rows: abbreviations, doubles, what is missing, what is near. */
#include <sys/socket.h>

#include "parse.h"
#include "unit.h"
#include "value.h"

#define WORDS	64

static struct weir_err err;

/* Split @text and read it as @words say. */
static int read_limit(const struct weir_word *words, const char *text,
		      bool exact, struct weir_limit *limit)
{
	char line[1024], *split[WORDS];
	struct weir_args args = { .words = split, .exact = exact, .err = &err };

	snprintf(line, sizeof(line), "%s", text);
	args.count = weir_split(line, split, WORDS);
	return weir_parse_limit(&args, words, limit);
}

static int read_query(const struct weir_word *words, const char *text,
		      struct weir_query *query)
{
	char line[1024], *split[WORDS];
	struct weir_args args = { .words = split, .err = &err };

	snprintf(line, sizeof(line), "%s", text);
	args.count = weir_split(line, split, WORDS);
	return weir_parse_query(&args, words, query);
}

static void test_limit(void **state)
{
	struct weir_limit limit;

	(void)state;
	assert_int_equal(read_limit(weir_words_limit_add,
				    "syn budget 20/10s proto tcp syn per 32,64 sources 262144",
				    true, &limit), 0);
	assert_string_equal(limit.name, "syn");
	assert_int_equal(limit.budget, 20);
	assert_int_equal(limit.window_ms, 10000);
	assert_int_equal(limit.match.conds, WEIR_COND_PROTO | WEIR_COND_SYN);
	assert_int_equal(limit.sources, 262144);
	assert_int_equal(limit.has, WEIR_HAS_BUDGET | WEIR_HAS_PER |
			 WEIR_HAS_SOURCES | WEIR_HAS_MATCH);

	assert_int_equal(read_limit(weir_words_limit_add,
				    "bulk lenient slots 8 before web budget 10M/1s bytes",
				    true, &limit), 0);
	assert_int_equal(limit.budget, 10000000);
	assert_int_equal(limit.unit, WEIR_UNIT_BYTES);
	assert_int_equal(limit.mode, WEIR_MODE_LENIENT);
	assert_int_equal(limit.slots, 8);
	assert_string_equal(limit.before, "web");

	/* more than packets may have: bytes may */
	assert_int_equal(read_limit(weir_words_limit_add,
				    "b budget 5G/s bytes", true, &limit), 0);
	assert_int_equal(read_limit(weir_words_limit_set,
				    "web match any", true, &limit), 0);
	assert_int_equal(limit.has, WEIR_HAS_MATCH);
	assert_int_equal(limit.match.conds, 0);
}

static void test_not(void **state)
{
	struct weir_limit limit;

	(void)state;
	assert_int_equal(read_limit(weir_words_limit_add,
				    "a budget 1/s not from 10.0.0.0/8 to 10.1.0.0/16 not syn",
				    true, &limit), 0);
	assert_int_equal(limit.match.conds, WEIR_COND_FROM | WEIR_COND_TO |
			 WEIR_COND_SYN);
	assert_int_equal(limit.match.invert, WEIR_COND_FROM | WEIR_COND_SYN);
}

static void test_abbreviations(void **state)
{
	struct weir_limit limit;

	(void)state;
	assert_int_equal(read_limit(weir_words_limit_add,
				    "a b 1/s so 64 act obs fam ipv6", false,
				    &limit), -EINVAL);
	assert_non_null(strstr(err.text, "'b' is short for more than one word: budget, before"));
	assert_int_equal(read_limit(weir_words_limit_add,
				    "a bu 1/s so 64 act obs fam ipv6", false,
				    &limit), 0);
	assert_int_equal(limit.action, WEIR_ACTION_OBSERVE);
	assert_int_equal(limit.match.family, AF_INET6);
	/* in a file a word is a word */
	assert_int_equal(read_limit(weir_words_limit_add, "a bu 1/s", true,
				    &limit), -EINVAL);
	assert_int_equal(read_limit(weir_words_limit_add,
				    "a budget 1/s action obs", true, &limit),
			 -EINVAL);
}

static void test_limit_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "", "NAME missing" },
		{ "web", "budget missing: budget COUNT" },
		{ "web bugdet 1/s", "unknown word 'bugdet'; the nearest is 'budget'" },
		{ "web budget 1/s sydn", "the nearest is 'syn'" },
		{ "web budget 1/s surces 64", "the nearest is 'sources'" },
		{ "web budget 1/s form 10.0.0.0/8", "the nearest is 'from'" },
		{ "web budget 1/s port 80", "the nearest is 'sport' or 'dport'" },
		{ "web budget 1/s observe", "'observe' is a value; say action observe" },
		{ "web budget 1/s Bytes", "budget: unknown word 'Bytes'; the nearest is 'bytes'" },
		{ "web budget 1/s sour 64", "'sour' is short for 'sources'" },
		{ "web budget 1/s rate", "unknown word 'rate'; known are budget, family" },
		{ "web budget", "budget: value missing (COUNT" },
		{ "web budget 1/s dev", "dev: value missing (IFACE)" },
		{ "web budget 1/s budget 2/s", "budget: given twice" },
		{ "web budget 1/s syn syn", "syn: given twice" },
		{ "web budget 1/s syn not syn", "syn: given twice" },
		{ "web budget 1/s strict lenient", "strict and lenient exclude" },
		{ "web budget 1/s not", "not: which condition?" },
		{ "web budget 1/s not not syn", "not: given twice" },
		{ "web budget 1/s not slots 3", "not: 'slots' is not a condition" },
		{ "budget 1000/s", "'budget' was taken for the name" },
		{ "web budget 1/s slots 0", "slots: 0 not in 1..64" },
		{ "web budget 1/s slots 65", "slots: 65 not in 1..64" },
		{ "web budget 1/10ms slots 11",
		  "slots: 11 do not fit a window of 10ms; at most 10 do" },
		{ "web budget 1/s sources 63", "sources: 63 not in 64..16777216" },
		{ "web budget 1/s sources 17M", "sources: 17M not in 64..16777216" },
		{ "web budget 1/s action dop",
		  "action: unknown word 'dop'; the nearest is 'drop'" },
		{ "web budget 1/s family ipv5", "family: unknown word" },
		{ "web budget 1/s dport 80", "dport needs a proto that has ports" },
		{ "web budget 1/s sport 80 proto icmp", "sport needs a proto" },
		{ "web budget 1/s dport 80 not proto tcp", "dport needs a proto" },
		{ "web budget 1/s proto udp syn", "syn is of tcp" },
		{ "web budget 1/s frag proto tcp dport 80", "has no such header" },
		{ "web budget 1/s frag syn", "has no such header" },
		{ "web budget 1/s family ipv4 from 2001:db8::/32",
		  "family is IPv4 but from is IPv6" },
		{ "web budget 1/s from 10.0.0.0/8 to 2001:db8::/32",
		  "from is IPv4 but to is IPv6" },
		{ "web budget 1/s match any syn", "syn: match any excludes it" },
		{ "web budget 1/s syn match any", "match: any excludes every condition" },
		{ "web budget 1/s match some", "'some' is not any" },
		{ "web budget 1/s before web", "cannot stand before itself" },
		{ "web budget 5G/s packets", "5G not in 1..4294967295" },
		{ "-web budget 1/s", "begins with -" },
	};
	struct weir_limit limit;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		check(read_limit(weir_words_limit_add, bad[i].text, true,
				 &limit) == -EINVAL, "%s", bad[i].text);
		check(strstr(err.text, bad[i].why), "%s: %s", bad[i].text,
		      err.text);
	}
	assert_int_equal(read_limit(weir_words_limit_set, "web", true, &limit),
			 -EINVAL);
	assert_non_null(strstr(err.text, "nothing to change"));
	assert_int_equal(read_limit(weir_words_limit_name, "a b", true, &limit),
			 -EINVAL);
	assert_non_null(strstr(err.text, "'b' is a word too many"));
}

/* What holds of an inverted condition is not refused. */
static void test_limit_granted(void **state)
{
	static const char *const good[] = {
		"web budget 1/s not family ipv4 from 2001:db8::/32",
		"web budget 1/s from 10.0.0.0/8 not to 2001:db8::/32",
		"web budget 1/s not frag proto tcp dport 80",
		"web budget 1/s syn", "web budget 1/s not syn proto tcp",
		"web budget 1/s proto sctp sport 1-2",
		"show budget 1/s", "budget budget 1/s",
	};
	struct weir_limit limit;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		check(!read_limit(weir_words_limit_add, good[i], true, &limit),
		      "%s: %s", good[i], err.text);
}

static void test_query(void **state)
{
	struct weir_query query;

	(void)state;
	assert_int_equal(read_query(weir_words_source_show,
				    "limit web 10.0.0.0/8 limited top 10 by count",
				    &query), 0);
	assert_string_equal(query.limit, "web");
	assert_int_equal(query.prefix.len, 8);
	assert_true(query.limited);
	assert_int_equal(query.top, 10);
	assert_int_equal(query.rank, WEIR_RANK_COUNT);
	assert_int_equal(read_query(weir_words_source_show, "2001:db8::/32 all",
				    &query), 0);
	assert_true(query.idle);
	assert_int_equal(query.prefix.family, AF_INET6);
	assert_int_equal(read_query(weir_words_source_show, "top 5 idle", &query),
			 0);
	assert_int_equal(query.rank, WEIR_RANK_DROPPED);
	assert_int_equal(read_query(weir_words_source_charge,
				    "203.0.113.9 limit web packets 100 mode drain",
				    &query), 0);
	assert_int_equal(query.cost, 100);
	assert_int_equal(query.charge_mode, WEIR_CHARGE_MODE_DRAIN);
	assert_int_equal(read_query(weir_words_source_forget, "all limit web",
				    &query), 0);
	assert_int_equal(query.prefix.family, 0);
}

static void test_query_refused(void **state)
{
	static const struct {
		const struct weir_word *words;
		const char *text, *why;
	} bad[] = {
		{ weir_words_source_show, "idle all", "exclude each other" },
		{ weir_words_source_show, "top 0", "top: 0 not in 1..1000" },
		{ weir_words_source_show, "top 3 by", "by what?" },
		{ weir_words_source_show, "top 3 by size", "unknown word 'size'" },
		{ weir_words_source_show, "10.0.0.1/8", "the prefix is 10.0.0.0/8" },
		{ weir_words_source_show, "10.0.0.0/8 11.0.0.0/8", "given twice" },
		{ weir_words_source_show, "lmited", "the nearest is 'limited'" },
		{ weir_words_source_get, "", "ADDR missing" },
		{ weir_words_source_get, "10.0.0.0/8", "one address is wanted" },
		{ weir_words_source_charge, "10.0.0.1", "limit missing" },
		{ weir_words_source_charge, "10.0.0.1 limit a packets 0", "0 not in" },
		{ weir_words_source_charge, "10.0.0.1 limit a packets 1 bytes 1", "exclude" },
		{ weir_words_source_charge, "10.0.0.1 limit a mode some", "unknown word" },
		{ weir_words_source_forget, "", "PREFIX|all missing" },
		{ weir_words_source_forget, "everything", "is not an IPv4" },
	};
	struct weir_query query;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		check(read_query(bad[i].words, bad[i].text, &query) == -EINVAL,
		      "%s", bad[i].text);
		check(strstr(err.text, bad[i].why), "%s: %s", bad[i].text,
		      err.text);
	}
}

static void test_split(void **state)
{
	char line[] = " limit\tadd  web#1 #comment here\n", *words[4];
	char comment[] = "# nothing", blank[] = " \t\r\n", many[] = "a b c d e";

	(void)state;
	assert_int_equal(weir_split(line, words, 4), 3);
	assert_string_equal(words[2], "web#1");
	assert_int_equal(weir_split(comment, words, 4), 0);
	assert_int_equal(weir_split(blank, words, 4), 0);
	assert_int_equal(weir_split(many, words, 4), -E2BIG);
}

struct row {
	const char *name;
	int meaning;
};

static bool same_row(const void *row, const void *other)
{
	const struct row *a = row, *b = other;

	return a->meaning == b->meaning;
}

/* What was meant, where that is likely; all there is, where it is not. */
static void test_pick(void **state)
{
	static const struct row rows[] = {
		{ "show", 1 }, { "list", 1 }, { "add", 2 }, { "del", 3 },
		{ "delete", 3 }, { "depend", 4 }, { 0 }
	};
	static const struct {
		const char *word, *why;
	} bad[] = {
		{ "shwo", "unknown word 'shwo'; the nearest is 'show'" },
		{ "ad", NULL }, { "dele", NULL }, { "del", NULL },
		{ "aad", "the nearest is 'add'" },
		{ "deleet", "the nearest is 'delete'" },
		{ "de", "'de' is short for more than one word: del, depend" },
		{ "save", "unknown word 'save'; known are show, add, del, depend" },
		{ "x", "known are" }, { "aXdXdX", "known are" },
		{ "", "unknown word ''; known are" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const void *row = weir_pick(rows, sizeof(*rows), bad[i].word,
					    false, same_row, &err);

		check(!row == !!bad[i].why, "%s", bad[i].word);
		check(row || strstr(err.text, bad[i].why), "%s: %s",
		      bad[i].word, err.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_not),
		cmocka_unit_test(test_abbreviations),
		cmocka_unit_test(test_limit_refused),
		cmocka_unit_test(test_limit_granted),
		cmocka_unit_test(test_query),
		cmocka_unit_test(test_query_refused),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_pick),
	};

	return cmocka_run_group_tests_name("parse_words", tests, NULL, NULL);
}
