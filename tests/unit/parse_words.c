// SPDX-License-Identifier: GPL-2.0-or-later
/* Words from tables: abbreviations, duplicates, missing words, suggestions. */
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "files/lines.h"
#include "unit.h"

static struct weir_err err;

/* Split @text and parse it as the words of a command. */
static int read_words(const struct weir_set *set, unsigned int verb, const char *text,
		      bool exact, void *model)
{
	char line[1024], *split[64];
	struct weir_args args = { .words = split, .exact = exact, .err = &err };

	snprintf(line, sizeof(line), "%s", text);
	args.count = weir_split(line, split, 64);
	return weir_parse(&args, set, verb, model) ?: weir_check(&args, set, verb, model);
}

static int read_limit(unsigned int verb, const char *text, bool exact, struct weir_limit *limit)
{
	return read_words(&weir_limit_fields, verb, text, exact, limit);
}

static int read_query(unsigned int verb, const char *text, struct weir_query *query)
{
	return read_words(&weir_query_fields, verb, text, false, query);
}

static void test_limit(void **state)
{
	struct weir_limit limit;

	assert_int_equal(read_limit(WEIR_ON_ADD,
				    "syn budget 20/10s proto tcp syn per 32,64 sources 262144",
				    true, &limit), 0);
	assert_string_equal(limit.name, "syn");
	assert_int_equal(limit.budgets[0].amount.count, 20);
	assert_int_equal(limit.budgets[0].amount.window_ms, 10000);
	assert_int_equal(limit.match.has, WEIR_COND_PROTO | WEIR_COND_SYN);
	assert_int_equal(limit.sources, 262144);
	assert_int_equal(limit.has, WEIR_HAS(LIMIT_BUDGET) | WEIR_HAS(LIMIT_PREFIX4) |
			 WEIR_HAS(LIMIT_SOURCES) | WEIR_HAS(LIMIT_MATCH));

	assert_int_equal(read_limit(WEIR_ON_ADD,
				    "bulk lenient slots 8 before web budget 10M/1s bytes",
				    true, &limit), 0);
	assert_int_equal(limit.budgets[0].amount.count, 10000000);
	assert_int_equal(limit.budgets[0].unit, WEIR_UNIT_BYTES);
	assert_int_equal(limit.budgets[0].mode, WEIR_MODE_LENIENT);
	assert_int_equal(limit.budgets[0].slots, 8);
	assert_string_equal(limit.before, "web");

	/* a budget too large for packets, but not for bytes */
	assert_int_equal(read_limit(WEIR_ON_ADD, "b budget 5G/s bytes", true, &limit), 0);
	assert_int_equal(read_limit(WEIR_ON_SET, "web match any", true, &limit), 0);
	assert_int_equal(limit.has, WEIR_HAS(LIMIT_MATCH));
	assert_int_equal(limit.match.has, 0);
	assert_int_equal(limit.match.any, WEIR_MATCH_ANY);

	assert_int_equal(read_limit(WEIR_ON_ADD, "web comment 'a b' budget 1/s", true, &limit), 0);
	assert_int_equal(limit.has, WEIR_HAS(LIMIT_BUDGET) | WEIR_HAS(LIMIT_COMMENT));
	assert_string_equal(limit.comment, "a b");
	/* an empty comment is sent only by set, which may have to remove one */
	assert_int_equal(read_limit(WEIR_ON_ADD, "web comment '' budget 1/s", true, &limit), 0);
	assert_int_equal(limit.has, WEIR_HAS(LIMIT_BUDGET));
	assert_int_equal(read_limit(WEIR_ON_SET, "web comment ''", true, &limit), 0);
	assert_int_equal(limit.has, WEIR_HAS(LIMIT_COMMENT));

	/* set keeps what it does not name */
	assert_int_equal(read_limit(WEIR_ON_SET, "web dport 80", true, &limit), 0);
	assert_int_equal(limit.match.any, 0);
	assert_int_equal(read_limit(WEIR_ON_SET, "web match proto tcp dport 80", true, &limit), 0);
	assert_int_equal(limit.match.has, WEIR_COND_PROTO | WEIR_COND_DPORT);
	assert_int_equal(limit.match.any, WEIR_MATCH_THESE);
	assert_int_equal(read_limit(WEIR_ON_SET, "web match tcp dst-port 80", true, &limit), 0);
	assert_int_equal(limit.match.has, WEIR_COND_PROTO | WEIR_COND_DPORT);
	assert_int_equal(read_limit(WEIR_ON_SET, "web match src 10.0.0.0/8", true, &limit), 0);
	assert_int_equal(limit.match.has, WEIR_COND_FROM);
	assert_int_equal(read_limit(WEIR_ON_SET, "web match not syn", true, &limit), 0);
	assert_int_equal(limit.match.invert, WEIR_COND_SYN);
	assert_int_equal(read_limit(WEIR_ON_ADD, "a budget 1/s not from 10.0.0.0/8 to 10.1.0.0/16 not syn",
				    true, &limit), 0);
	assert_int_equal(limit.match.has, WEIR_COND_FROM | WEIR_COND_TO | WEIR_COND_SYN);
	assert_int_equal(limit.match.invert, WEIR_COND_FROM | WEIR_COND_SYN);
}

static void test_abbreviations(void **state)
{
	struct weir_limit limit;

	assert_int_equal(read_limit(WEIR_ON_ADD, "a b 1/s so 64 act obs fam ipv6", false,
				    &limit), -EINVAL);
	assert_non_null(strstr(err.text, "'b' is ambiguous: budget, bytes, bucket, burst, budgets-by, blocks, before"));
	assert_int_equal(read_limit(WEIR_ON_ADD, "a bud 1/s so 64 act obs fam ipv6", false,
				    &limit), 0);
	assert_int_equal(limit.action, WEIR_ACTION_OBSERVE);
	assert_int_equal(limit.match.family, AF_INET6);
	/* no abbreviations in a file */
	assert_int_equal(read_limit(WEIR_ON_ADD, "a bud 1/s", true, &limit), -EINVAL);
	assert_int_equal(read_limit(WEIR_ON_ADD, "a budget 1/s action obs", true, &limit), -EINVAL);
}

static void test_limit_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "", "required: NAME" },
		{ "web", "required: budget COUNT" },
		{ "web bugdet 1/s", "unknown word 'bugdet'; did you mean 'budget'" },
		{ "web budget 1/s sydn", "did you mean 'syn'" },
		{ "web budget 1/s surces 64", "did you mean 'sources'" },
		{ "web budget 1/s form 10.0.0.0/8", "did you mean 'from'" },
		{ "web budget 1/s port 80", "write 'dport' for the destination, or 'sport'" },
		{ "web 5/s", "'5/s' is a value of 'budget': write 'budget 5/s'" },
		{ "web 1.5M/h bytes", "write 'budget 1.5M/h'" },
		{ "web budget 1/s bits", "a budget counts packets or bytes; 10 Mbit/s is '1250k/s bytes'" },
		{ "web budget 1/s per 24 48", "separate the values of 'per' by ','" },
		{ "web budget 1/s no syn", "to remove a condition give the others after 'match'" },
		{ "web budget 1/s observe", "'observe' is a value of 'action': write 'action observe'" },
		{ "web budget 1/s Bytes", "unknown word 'Bytes'; did you mean 'bytes'" },
		{ "web budget 1/s sour 64", "'sour' abbreviates 'sources'" },
		{ "web budget 1/s rats", "unknown word 'rats'; the nearest are: " },
		{ "web budget", "'budget' requires a value: COUNT" },
		{ "web budget 1/s dev", "'dev' requires a value: IFACE" },
		{ "web budget 1/s slots 3 slots 4", "'slots' given twice" },
		{ "web budget 1/s budget 2/m slots 3 slots 4", "'slots' given twice" },
		{ "web budget 1/s budget 2/m budget 3/h budget 4/d budget 5/d",
		  "'budget' is given more than 4 times" },
		{ "web budget 1/s syn syn", "'syn' given twice" },
		{ "web budget 1/s syn not syn", "'syn' given twice" },
		{ "web budget 1/s strict lenient", "'strict' and 'lenient' cannot be combined" },
		{ "web budget 1/s not", "'not' requires a condition" },
		{ "web budget 1/s not not syn", "'not' given twice" },
		{ "web budget 1/s not slots 3", "'not' cannot precede 'slots' here" },
		{ "budget 1000/s", "'budget' was taken as the NAME" },
		{ "web budget 1/s slots 0", "slots: 0 is out of range 1..64" },
		{ "web budget 1/s slots 65", "slots: 65 is out of range 1..64" },
		{ "web budget 1/10ms slots 11",
		  "slots: 11 do not fit a window of 10ms; at most 10 do" },
		{ "web budget 1/s sources 63", "sources: 63 is out of range 64..16777216" },
		{ "web budget 1/s sources 17M", "sources: 17M is out of range 64..16777216" },
		{ "web budget 1/s action dop",
		  "action: unknown word 'dop'; did you mean 'drop'" },
		{ "web budget 1/s family ipv5", "family: unknown word" },
		{ "web budget 1/s dport 80", "dport requires a protocol with ports" },
		{ "web budget 1/s sport 80 proto icmp", "sport requires a protocol with ports" },
		{ "web budget 1/s dport 80 not proto tcp", "dport requires a protocol with ports" },
		{ "web budget 1/s proto udp syn", "syn requires proto tcp" },
		{ "web budget 1/s frag proto tcp dport 80", "have no transport header" },
		{ "web budget 1/s frag syn", "have no transport header" },
		{ "web budget 1/s family ipv4 from 2001:db8::/32",
		  "family is IPv4 but from is IPv6" },
		{ "web budget 1/s from 10.0.0.0/8 to 2001:db8::/32",
		  "from is IPv4 but to is IPv6" },
		{ "web budget 1/s match any syn", "'match any' and 'syn' cannot be combined" },
		{ "web budget 1/s syn match any", "'match any' and 'syn' cannot be combined" },
		{ "web budget 1/s match some", "match: unknown condition 'some'; the nearest are: from, to, sport; help lists all" },
		{ "web budget 1/s match slots 3", "match: unknown condition 'slots'" },
		{ "web budget 1/s match ipv6", "'ipv6' is a value of 'family': write 'family ipv6'" },
		{ "web budget 1/s match syn match frag", "'match' given twice" },
		{ "web budget 1/s before web", "cannot be placed before itself" },
		{ "web budget 5G/s packets", "5G is out of range 1..4294967295" },
		{ "-web budget 1/s", "begins with '-'" },
		{ "web budget 1/s comment", "'comment' requires a value: TEXT" },
		{ "web budget 1/s comment a comment b", "'comment' given twice" },
		{ "web budget 1/s comment two words", "'words' stands behind a comment of one word; put one of several in quotes" },
	};
	struct weir_limit limit;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		check(read_limit(WEIR_ON_ADD, bad[i].text, true, &limit) == -EINVAL, "%s", bad[i].text);
		check(strstr(err.text, bad[i].why), "%s: %s", bad[i].text, err.text);
	}
	assert_int_equal(read_limit(WEIR_ON_SET, "web", true, &limit), -EINVAL);
	assert_non_null(strstr(err.text, "nothing to change"));
	assert_int_equal(read_limit(WEIR_ON_DEL, "a b", true, &limit), -EINVAL);
	assert_non_null(strstr(err.text, "unexpected argument 'b'"));
}

/* Conditions that conflict, unless one is inverted, and other valid combinations. */
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

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		check(!read_limit(WEIR_ON_ADD, good[i], true, &limit), "%s: %s", good[i], err.text);
}

static void test_query(void **state)
{
	struct weir_query query;

	assert_int_equal(read_query(WEIR_ON_SHOW, "limit web 10.0.0.0/8 limited top 10 by count",
				    &query), 0);
	assert_string_equal(query.limit, "web");
	assert_int_equal(query.prefix.len, 8);
	assert_true(query.limited);
	assert_int_equal(query.top, 10);
	assert_int_equal(query.rank, WEIR_RANK_COUNT);
	assert_int_equal(read_query(WEIR_ON_SHOW, "2001:db8::/32 all", &query), 0);
	assert_true(query.idle);
	assert_int_equal(query.prefix.family, AF_INET6);
	assert_int_equal(read_query(WEIR_ON_SHOW, "top 5 by count", &query), 0);
	assert_false(query.idle);
	assert_int_equal(read_query(WEIR_ON_SHOW, "top 5", &query), 0);
	assert_true(query.idle);
	assert_int_equal(query.rank, WEIR_RANK_DROPPED);
	assert_int_equal(read_query(WEIR_ON_CHARGE, "203.0.113.9 limit web packets 100 mode drain",
				    &query), 0);
	assert_int_equal(query.packets, 100);
	assert_int_equal(query.mode, WEIR_CHARGE_MODE_DRAIN);
	assert_int_equal(read_query(WEIR_ON_FORGET, "all limit web", &query), 0);
	assert_int_equal(query.prefix.family, 0);
}

static void test_query_refused(void **state)
{
	static const struct {
		unsigned int verb;
		const char *text, *why;
	} bad[] = {
		{ WEIR_ON_SHOW, "idle all", "cannot be combined" },
		{ WEIR_ON_SHOW, "top 0", "top: 0 is out of range 1..1000" },
		{ WEIR_ON_SHOW, "top 3 by", "'top' requires a value" },
		{ WEIR_ON_SHOW, "top 5 limit web by dropped", "'by' must follow 'top': write 'top N [ by dropped|count ]'" },
		{ WEIR_ON_SHOW, "top 2 dropped", "write 'by dropped'" },
		{ WEIR_ON_SHOW, "top 3 by size", "unknown word 'size'" },
		{ WEIR_ON_SHOW, "10.0.0.1/8", "did you mean 10.0.0.0/8" },
		{ WEIR_ON_SHOW, "10.0.0.0/8 11.0.0.0/8", "cannot be combined" },
		{ WEIR_ON_SHOW, "lmited", "did you mean 'limited'" },
		{ WEIR_ON_GET, "", "required: ADDR" },
		{ WEIR_ON_CHARGE, "10.0.0.1", "required: limit NAME" },
		{ WEIR_ON_CHARGE, "10.0.0.1 limit a packets 0", "0 is out of range" },
		{ WEIR_ON_CHARGE, "10.0.0.1 limit a packets 1 bytes 1", "cannot be combined" },
		{ WEIR_ON_CHARGE, "10.0.0.1 limit a mode some", "unknown word" },
		{ WEIR_ON_FORGET, "", "required: PREFIX|all" },
		{ WEIR_ON_FORGET, "everything", "invalid IPv4" },
	};
	struct weir_query query;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		check(read_query(bad[i].verb, bad[i].text, &query) == -EINVAL, "%s", bad[i].text);
		check(strstr(err.text, bad[i].why), "%s: %s", bad[i].text, err.text);
	}
}

static void test_split(void **state)
{
	char line[] = " limit\tadd  web#1 #comment here\n", *words[4];
	char comment[] = "# nothing", blank[] = " \t\r\n", many[] = "a b c d e";
	static const struct {
		const char *line, *word;	/* last of three words, NULL if refused */
	} quoted[] = {
		{ "a b \"c d\"", "c d" }, { "a b '# c'#", NULL }, { "a b '# c' # d", "# c" }, { "a b 'c \\' #'", "c \\" },
		{ "a b \"\\\"\\\\\"\r\n", "\"\\" }, { "a b \"\\x\"", "\\x" }, { "a b \"\"", "" }, { "a b c\"d'", "c\"d'" },
		{ "a b \"c", NULL }, { "a b \"c\"d", NULL }, { "a b \"c\\\"", NULL }, { "a b \"", NULL }, { "a b 'c\n", NULL },
		{ "a b \"c\\", NULL },
	};
	size_t i;

	assert_int_equal(weir_split(line, words, 4), 3);
	assert_string_equal(words[2], "web#1");
	assert_int_equal(weir_split(comment, words, 4), 0);
	assert_int_equal(weir_split(blank, words, 4), 0);
	assert_int_equal(weir_split(many, words, 4), -E2BIG);
	for (i = 0; i < sizeof(quoted) / sizeof(quoted[0]); i++) {
		char *text = strdup(quoted[i].line);

		check(weir_split(text, words, 4) == (quoted[i].word ? 3 : -EINVAL), "%s", quoted[i].line);
		check(!strcmp(words[2], quoted[i].word ? quoted[i].word : words[2]), "%s: %s", quoted[i].line, words[2]);
		check(quoted[i].word || words[0] == text + 4, "%s", quoted[i].line);
		free(text);
	}
}

/* A likely word is suggested; without one, all words are listed. */
static void test_pick(void **state)
{
	static const char rows[4];
	static const struct weir_word words[] = {
		{ .name = "show", .is = &rows[0] }, { .name = "list", .is = &rows[0] },
		{ .name = "add", .is = &rows[1] }, { .name = "del", .is = &rows[2] },
		{ .name = "delete", .is = &rows[2] },
		{ .name = "depend", .is = &rows[3] }, { 0 }
	};
	static const struct {
		const char *word, *why;
	} bad[] = {
		{ "shwo", "unknown word 'shwo'; did you mean 'show'?" },
		{ "ad", NULL }, { "dele", NULL }, { "del", NULL },
		{ "aad", "did you mean 'add'" },
		{ "deleet", "did you mean 'delete'" },
		{ "de", "'de' is ambiguous: del, depend" },
		{ "save", "unknown word 'save'; expected one of: show, add, del, depend" },
		{ "x", "expected one of" }, { "aXdXdX", "expected one of" },
		{ "", "unknown word ''; expected one of" },
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct weir_word *word = weir_pick(words, bad[i].word, false, "word", &err);

		check(!word == !!bad[i].why, "%s", bad[i].word);
		check(word || strstr(err.text, bad[i].why), "%s: %s", bad[i].word, err.text);
	}
}

/* Comma-separated values. */
static void test_lists(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "dport 80,", "dport: a value is missing before or after ','; write no space there" },
		{ "dport ,80", "dport: a value is missing before or after ','; write no space there" },
		{ "dport 80,http", "dport: names are not accepted; write 80 for 'http'" },
		{ "dport 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16", "dport: more than 15 in a list" },
		{ "dport 80, 443", "dport: a value is missing" },
		{ "dport 80 443", "separate the values of 'dport' by ','" },
		{ "from ::/1 8000::/1", "separate the values of 'from' by ','" },
		{ "dport 8000:8100", "dport: write 8000-8100" },
		{ "dport 80,ssh", "dport: names are not accepted; write 22 for 'ssh'" },
		{ "from not 10.0.0.0/8", "write 'not from PREFIX[,...]'" },
		{ "dport 80,443,80", "dport: 80 and 80 overlap" },
		{ "sport 1-5,5-9", "sport: 1-5 and 5-9 overlap" },
		{ "from 10.0.0.0/8,10.0.0.1/8", "from: '10.0.0.1/8' has host bits set" },
		{ "from 10.0.0.0/8,10.1.0.0/16", "from: 10.0.0.0/8 and 10.1.0.0/16 overlap" },
		{ "to 2001:db8:1::/48,10.0.0.0/8,2001:db8::/32",
		  "to: 2001:db8:1::/48 and 2001:db8::/32 overlap" },
		{ "family ipv4 from 10.0.0.0/8,2001:db8::/32", "family is IPv4 but from is IPv6" },
		{ "from 10.0.0.0/8,2001:db8::/32 to 192.0.2.1", "from is IPv6 but to is IPv4" },
		{ "from 10.0.0.0/8 from 11.0.0.0/8", "'from' given twice" },
	};
	static const char words[] = "web budget 1/s from 192.0.2.0/24,2001:db8::/32 not to 198.51.100.1,"
		"2001:db8::1 proto tcp sport 0,7 not dport 80,443,8000-8100";
	struct weir_limit limit;
	struct weir_out out = { 0 };
	char text[256], *shown;
	size_t i;

	check(!read_limit(WEIR_ON_ADD, words, true, &limit), "%s", err.text);
	assert_int_equal(limit.match.dport_count, 3);
	assert_int_equal(limit.match.dport[2][1], 8100);
	assert_int_equal(limit.match.from[1].family, AF_INET6);
	out.to = open_memstream(&shown, &i);
	weir_set_show(&weir_limit_fields, WEIR_WORDS, &out, &limit);
	fclose(out.to);
	check(!strncmp(shown, words, strlen(words)), "%s", shown);
	free(shown);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), "web budget 1/s proto tcp %s", bad[i].text);
		check(read_limit(WEIR_ON_ADD, text, true, &limit) == -EINVAL, "%s", text);
		check(strstr(err.text, bad[i].why), "%s: %s", text, err.text);
	}
}

/* The words of a file, with ' ' and '|' between words and lines, if there is @room. */
static void read_text(const char *text, size_t size, char *shown, size_t room)
{
	char path[] = "/tmp/weir.XXXXXX";
	int fd = mkstemp(path), ret, i;
	struct weir_lines lines;
	size_t used = 0;

	assert_true(fd >= 0 && write(fd, text, size) == (ssize_t)size);
	close(fd);
	assert_int_equal(weir_lines_open(&lines, path, &err), 0);
	unlink(path);
	*shown = '\0';
	while ((ret = weir_lines_next(&lines, &err)) > 0) {
		for (i = 0; i < lines.count && used < room; i++)
			used += snprintf(shown + used, room - used, "%s%s",
					 i ? " " : used ? "|" : "", lines.words[i]);
	}
	check(!ret, "%s", err.text);
	weir_lines_close(&lines);
}

static void test_continued(void **state)
{
	static const struct {
		const char *text, *words;
	} rows[] = {
		{ "a b \\\nc", "a b c" },
		{ "a\\\n#c", "a" },
		{ "a\\\nb#c \\\n d", "a b#c d" },
		{ "a # b \\\nc", "a|c" },
		{ "a \\\nb # c \\\nd", "a b|d" },
		{ "'a # b' \\\r\nc", "a # b c" },
		{ "a'b # c' \\\nd", "a'b|d" },
		{ "\"a\\\" # b\" \\\nc", "a\" # b c" },
		{ "\"a\\\\\" # b \\\nc", "a\\|c" },
		{ "'a\\' # b \\\nc", "a\\|c" },
		{ "\"a\\\n# b\" c \\\nd", "a\x20\n# b c d" },
		{ "'a\\\n' # b \\\nc", "a\x20\n|c" },
		{ "a \\\n\\\n\\\n", "a" },
	};
	char shown[64];
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		read_text(rows[i].text, strlen(rows[i].text), shown, sizeof(shown));
		check(!strcmp(shown, rows[i].words), "%s: %s", rows[i].text, shown);
	}
}

/* The processor time, in ns, that it takes to read a line continued @count times. */
static uint64_t time_continued(char quote, unsigned int count)
{
	char *text = malloc(2 * count + 3), shown[64];
	struct timespec begin, end;
	unsigned int i;

	text[0] = quote;
	for (i = 0; i < count; i++)
		memcpy(text + 1 + 2 * i, "\\\n", 2);
	memcpy(text + 1 + 2 * count, (char []) { quote, '\n' }, 2);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	read_text(text, 2 * count + 3, shown, sizeof(shown));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	free(text);
	return (end.tv_sec - begin.tv_sec) * 1000000000LL + end.tv_nsec - begin.tv_nsec;
}

/* Sixteen times as many lines take about that much longer, not its square. */
static void test_continued_often(void **state)
{
	static const char quotes[] = "a'\"";
	uint64_t few, many;
	size_t i;

	for (i = 0; quotes[i]; i++) {
		few = time_continued(quotes[i], 2500);
		many = time_continued(quotes[i], 40000);
		check(many < 64 * few, "%c: %llu and %llu ns", quotes[i],
		      (unsigned long long)few, (unsigned long long)many);
	}
}

UNIT_MAIN("parse_words", T(test_limit), T(test_abbreviations), T(test_limit_refused),
	  T(test_limit_granted), T(test_query), T(test_query_refused), T(test_split),
	  T(test_pick), T(test_lists), T(test_continued), T(test_continued_often))
