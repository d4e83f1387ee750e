// SPDX-License-Identifier: GPL-2.0-or-later
/* Values as an operator writes them: how they are parsed, what is refused and why. */
#include <sys/socket.h>

#include "unit.h"
#include "lang/value.h"

static struct weir_err err;

/* Parse a value of a type, followed by the word @next. */
static int read_value(const struct weir_type *type, const char *text, void *at, const char *next)
{
	char *words[1] = { (char *)next };
	struct weir_args args = { .words = words, .count = !!next, .err = &err };

	return type->parse(NULL, &args, text, at);
}

struct refused {
	const char *text, *why;
};

/* Each text is refused, with its reason. */
#define REFUSED(type, bad)	check_refused(type, bad, sizeof(bad) / sizeof(*(bad)))

static void check_refused(const struct weir_type *type, const struct refused *bad, size_t count)
{
	char value[WEIR_COMMENT_SIZE] __attribute__((aligned(8)));

	for (; count; bad++, count--) {
		check(read_value(type, bad->text, value, NULL), "%s", bad->text);
		check(strstr(err.text, bad->why), "%s: %s", bad->text, err.text);
	}
}

static void test_budget(void **state)
{
	static const struct {
		const char *text;
		uint64_t budget;
		uint32_t window_ms;
	} good[] = {
		{ "1000/s", 1000, 1000 }, { "20/10s", 20, 10000 }, { "2M/s", 2000000, 1000 },
		{ "10M/1s", 10000000, 1000 }, { "5k/m", 5000, 60000 }, { "5K/minute", 5000, 60000 },
		{ "1G/h", 1000000000, 3600000 }, { "1/30d", 1, 2592000000u }, { "1/10ms", 1, 10 },
		{ "7/second", 7, 1000 }, { "7/2hours", 7, 7200000 }, { "7/day", 7, 86400000 },
		{ "7/10secs", 7, 10000 }, { "7/3hr", 7, 10800000 }, { "7/2w", 7, 1209600000 },
		{ "4294967295/s", 4294967295u, 1000 }, { "1.25M/s", 1250000, 1000 },
		{ "0.5k/m", 500, 60000 }, { "2.00/s", 2, 1000 }, { "1.5G/s", 1500000000, 1000 },
		{ "0.000000001G/s", 1, 1000 }, { "10k/total", 10000, 0 },
	};
	static const struct refused bad[] = {
		{ "1000", "'1000' has no time; for example 1000/s or 1000/10s" },
		{ "10M/", "'10M/' has no time; for example 10M/s or 10M/10s" },
		{ "", "invalid budget" }, { "x/s", "invalid budget" },
		{ "-1/s", "invalid budget" }, { "1.5/s", "whole number: write 15/10s" }, { "9999.9999/s", "write 99999999/10000s" },
		{ "1.5/month", "invalid budget" }, { "1.5/foo", "invalid budget" },
		{ "-1.5/s", "invalid budget" }, { "1.-5/s", "invalid budget" }, { "1.5", "invalid" },
		{ "1.00001/s", "invalid budget" }, { "1.5/milliseconds", "15/10milliseconds" },
		{ "0.01/h", "whole number: write 1/100h" }, { "0.0001/h", "invalid budget" }, { "0.5/10s", "invalid budget" },
		{ "1.2345k/s", "invalid budget" }, { "1.k/s", "invalid budget" },
		{ "1..5k/s", "invalid budget" }, { ".5k/s", "invalid budget" },
		{ "0.0000000001G/s", "invalid budget" }, { "7/10mss", "invalid time '10mss'" },
		{ "1T/s", "suffix 'T' in '1T/s'; k, M and G are powers of 1000, and 1T is 1000G" },
		{ "10MiB/s", "invalid suffix 'MiB' in '10MiB/s'" },
		{ "10m/s", "invalid suffix 'm' in '10m/s'" }, { "0x10/s", "invalid suffix 'x10'" },
		{ "1000/fortnight", "expected numbers (1 if left out) and ms, s, m, h, d, w or month" },
		{ "5/s,20/m", "repeat the word for each budget: 'budget 5/s budget 20/m'" },
		{ "5/s,20/m,30/h", "budget 5/s budget 20/m ..." }, { "5/s,", "invalid time" }, { "5/s,a", "invalid time" },
		{ "1/S", "invalid time" }, { "1/s/s", "invalid time" },
		{ "20/60", "time '60' has no unit; write 60s" },
		{ "1/9ms", "9ms is out of range 10ms..30d" },
		{ "1/31d", "31d is out of range 10ms..30d" }, { "1/0s", "out of range 10ms" },
		{ "1/99999999999999999999d", "out of range 10ms..30d" },
		{ "0/s", "0 is out of range 1..4294967295; to block a source use 'weir source block'" },
		{ "5G/s", "5G is out of range 1..4294967295; for bytes, put 'bytes' behind it" },
		{ "99999999999999999999/s", "out of range 1..4294967295" },
		{ "18446744073709551615G/s", "out of range 1..4294967295" },
		{ "18446744073709552k/s", "out of range 1..4294967295" },
		{ "18446744073709551.999k/s", "out of range 1..4294967295" },
		{ "10Mb/s", "write '1250k/s bytes' for 10Mbit/s, '10M/s bytes' for 10MB/s" },
		{ "10Mbps", "write '1250k/s bytes' for 10Mbit/s, '10M/s bytes' for 10MB/s" },
		{ "1.5mb/s", "write '187500/s bytes' for 1.5mbit/s, '1500k/s bytes' for 1.5mB/s" },
		{ "1.5Mbit", "write '187500/s bytes' for 1.5Mbit" },
		{ "2MB/s", "write '2M/s bytes' for 2MB/s" },
	};
	struct weir_amount budget;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		check(!read_value(&weir_type_budget, good[i].text, &budget, NULL),
		      "%s: %s", good[i].text, err.text);
		check(budget.count == good[i].budget && budget.window_ms == good[i].window_ms,
		      "%s", good[i].text);
	}
	REFUSED(&weir_type_budget, bad);
	assert_int_equal(read_value(&weir_type_budget, "72057594037927936/s", &budget, "bytes"), 0);
	assert_true(read_value(&weir_type_budget, "72057594037927937/s", &budget, "bytes"));
}

/* Any budget, written as text, parses to the same budget. */
static void test_budget_again(void **state)
{
	uint64_t rounds = unit_rounds(100000), count;
	struct weir_amount budget, again;
	struct chance c = chance_of(1);
	char text[WEIR_TEXT_SIZE];

	while (rounds--) {
		count = chance(&c) % WEIR_BYTES_MAX + 1;
		count >>= chance_below(&c, 50);
		count = count ? count : 1;
		if (chance_one_in(&c, 3))
			count = count % 1000 * 1000000 + 1000000;
		else if (chance_one_in(&c, 3))
			count = (count % 1000 + 1) * 1000;
		budget.window_ms = WEIR_WINDOW_MS_MIN +
			 chance_below(&c, WEIR_WINDOW_MS_MAX - WEIR_WINDOW_MS_MIN + 1);
		if (chance_one_in(&c, 2))
			budget.window_ms = (1 + chance_below(&c, 40)) * 1000;
		budget.count = count;
		weir_text_budget(NULL, &budget, text);
		check(!read_value(&weir_type_budget, text, &again, "bytes"), "%s: %s",
		      text, err.text);
		check(again.count == count && again.window_ms == budget.window_ms, "%s", text);
	}
}

/* A unit replaces long runs of zeroes. */
static void test_budget_text(void **state)
{
	static const struct {
		uint64_t budget;
		const char *text;
	} told[] = {
		{ 1000, "1000/s" }, { 99000, "99000/s" }, { 100000, "100k/s" },
		{ 100001, "100001/s" }, { 123000, "123k/s" }, { 1000000, "1M/s" },
		{ 1500000, "1500k/s" }, { 1500001, "1500001/s" }, { 3000000000, "3G/s" },
	};
	char text[WEIR_TEXT_SIZE];
	size_t i;

	for (i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		assert_string_equal(weir_text_budget(NULL, &(struct weir_amount){ told[i].budget, 1000 }, text),
				    told[i].text);
}

/* The times that are printed are taken, with the same value but for rounding. */
static void test_time(void **state)
{
	static const struct {
		const char *text;
		uint64_t ms;
	} good[] = {
		{ "1s", 1000 }, { "s", 1000 }, { "1.008s", 1008 }, { "312.4ms", 313 }, { "0.5ms", 1 },
		{ "1h36m", 5760000 }, { "1d2h3m4s5ms", 93784005 }, { "1.5h", 5400000 },
		{ "1week1d", 691200000 }, { "2 days", 0 }, { "1h1h", 0 }, { "1m1h", 0 }, { "1h2", 0 },
		{ "", 0 }, { ".5s", 0 }, { "1.s", 0 }, { "1.0000000001s", 0 }, { "-1s", 0 }, { "1h 2m", 0 },
		{ "1.5", 0 }, { "18446744073709551615d", UINT64_MAX }, { "18446744073709551616ms", UINT64_MAX },
		{ "18446744073709551d18446744073709551h", UINT64_MAX }, { "0.999999999month", 2591999998 },
	};
	struct unit_runs runs = unit_runs(100000);
	char text[WEIR_TEXT_SIZE];
	uint64_t ms, ns;
	struct chance c;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		check(!weir_value_time(good[i].text, &ms, &err) == !!good[i].ms, "%s: %s", good[i].text, err.text);
		check(!good[i].ms || ms == good[i].ms, "%s: %llu", good[i].text, (unsigned long long)ms);
	}
	for (; runs.first < runs.end; runs.first++) {
		c = chance_of(runs.first);
		ns = chance(&c) >> chance_below(&c, 64);
		weir_text_time(ns, text);
		check(!weir_value_time(text, &ms, &err), "run %llu: %s: %s", runs.first, text, err.text);
		/* four digits below ten minutes, two units above: a second, minute, hour or day is lost at most */
		check(ms <= ns / 1000000 + ns / 1000000 / 1000 + 1 && ms >= ns / 1000000 - ns / 1000000 / 10,
		      "run %llu: %llu ns: %s: %llu ms", runs.first, (unsigned long long)ns, text, (unsigned long long)ms);
	}
}

static void test_prefix(void **state)
{
	static const struct {
		const char *text, *again;
	} good[] = {
		{ "192.0.2.0/24", "192.0.2.0/24" }, { "10.0.0.0/8", "10.0.0.0/8" },
		{ "0.0.0.0/0", "0.0.0.0/0" }, { "192.0.2.1", "192.0.2.1" },
		{ "192.0.2.1/32", "192.0.2.1" }, { "2001:db8::/32", "2001:db8::/32" },
		{ "2001:DB8:0:0::1", "2001:db8::1" }, { "::/0", "::/0" },
		{ "2001:db8::1/128", "2001:db8::1" }, { "192.0.2.128/25", "192.0.2.128/25" },
		/* IPv4 clients of an IPv6 socket, as programs log them */
		{ "::ffff:192.0.2.1", "192.0.2.1" }, { "::ffff:c000:201", "192.0.2.1" },
		{ "::FFFF:192.0.2.0/120", "192.0.2.0/24" }, { "::ffff:0:0/96", "0.0.0.0/0" },
		{ "192.0.2/24", "192.0.2.0/24" }, { "10/8", "10.0.0.0/8" }, { "0/0", "0.0.0.0/0" },
		{ "10.1.0.0/255.255.0.0", "10.1.0.0/16" }, { "192.0.2.1/255.255.255.255", "192.0.2.1" },
		{ "0.0.0.0/0.0.0.0", "0.0.0.0/0" }, { "128/128.0.0.0", "128.0.0.0/1" },
		{ "::fffe:192.0.2.1", "::fffe:c000:201" }, { "::192.0.2.1", "::192.0.2.1" },
	};
	static const struct refused bad[] = {
		{ "192.0.2.1/24", "has host bits set; did you mean 192.0.2.0/24" },
		{ "10.1.2.3/9", "did you mean 10.0.0.0/9" },
		{ "2001:db8::1/64", "did you mean 2001:db8::/64" },
		{ "1.2.3.4/0", "did you mean 0.0.0.0/0" },
		{ "192.0.2.0/33", "prefix length out of range 0..32" },
		{ "2001:db8::/129", "prefix length out of range 0..128" },
		{ "192.0.2.0/", "prefix length out of range 0..32" },
		{ "192.0.2.0/x", "prefix length out of range 0..32" },
		{ "192.0.2.0/-1", "prefix length out of range 0..32" },
		{ "::ffff:192.0.2.1/129", "prefix length out of range 0..128" },
		{ "::ffff:192.0.2.1/120", "did you mean 192.0.2.0/24" },
		{ "192.0.2.0.0/24", "invalid IPv4 or IPv6 prefix" },
		{ "192.0.2", "invalid IPv4 or IPv6 address" },
		{ "10.0.0.0/255.0.255.0", "prefix length out of range 0..32" },
		{ "2001:db8::/255.0.0.0", "prefix length out of range 0..128" },
		{ "any", "every IPv4 address is 0.0.0.0/0" },
		{ "192.0.2.256", "invalid IPv4 or IPv6 address" },
		{ "example.org", "invalid IPv4 or IPv6 address" },
		{ "", "invalid IPv4 or IPv6 address" },
		{ "/24", "invalid IPv4 or IPv6 prefix" },
		{ "fe80::1%eth0", "write the device as a separate argument: 'dev eth0'" },
		{ "1%92.0.2.0:", "write the device as a separate argument: 'dev 92.0.2.0:'" },
		{ "1111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111",
		  "invalid IPv4 or IPv6 address" },
	};
	struct weir_prefix prefix;
	char text[WEIR_TEXT_SIZE];
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		check(!read_value(&weir_type_prefix, good[i].text, &prefix, NULL), "%s: %s",
		      good[i].text, err.text);
		assert_string_equal(weir_text_prefix(NULL, &prefix, text), good[i].again);
	}
	REFUSED(&weir_type_prefix, bad);
	assert_true(read_value(&weir_type_address, "10.0.0.0/8", &prefix, NULL));
	assert_non_null(strstr(err.text, "a single address is required"));
}

static void test_name(void **state)
{
	static const char *const good[] = {
		"web", "a", "x_-.:+@9", "1234567890123456789012345678901",
	};
	static const struct refused bad[] = {
		{ "", "cannot be empty" }, { "a b", "contains a space" },
		{ "12345678901234567890123456789012", "longer than 31 bytes" },
		{ "a/b", "only letters, digits and" }, { "a\nb", "only letters, digits" },
		{ "\xc3\xa9", "only letters, digits" }, { "-web", "begins with '-'" },
		{ "#web", "only letters, digits" },
	};
	char name[WEIR_NAME_SIZE];
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		check(!read_value(&weir_type_name, good[i], name, NULL), "%s", err.text);
		assert_string_equal(name, good[i]);
	}
	REFUSED(&weir_type_name, bad);
}

static void test_dev(void **state)
{
	static const char *const good[] = { "eth0.100", "123456789012345", "\xc3\xa9th", "#a\\" };
	static const struct refused bad[] = {
		{ "1234567890123456", "longer than 15 bytes" }, { "", "" }, { "..", "" }, { "a/b", "" }, { "a b", "" },
		/* names that save would write differently than they are parsed */
		{ "a\033", "" }, { "a\xc2\x9b", "" }, { "et0\xf8", "" }, { "et0\xc3", "" },
	};
	char dev[WEIR_DEV_SIZE];
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		check(!read_value(&weir_type_dev, good[i], dev, NULL), "%s: %s", good[i], err.text);
	REFUSED(&weir_type_dev, bad);
}

/* Comments are printable UTF-8, at most 127 bytes. */
static void test_comment(void **state)
{
	static const char *const good[] = {
		"", " ", "help", "not", "#", "\"", "'\\", "public web, ticket 123", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x9a\x80",
	};
	static const struct refused bad[] = {
		{ "a\tb", "control character or invalid UTF-8 at byte 2; a comment is printable text" },
		{ "\n", "byte 1;" }, { "\177", "byte 1;" }, { "ab\xc2\x9b", "byte 3;" }, { "\xff", "byte 1;" },
		{ "\xc3\xa9\xc3", "byte 3;" }, { "\xed\xa0\x80", "byte 1;" }, { "\xe2\x80\xae", "byte 1;" },
	};
	char comment[WEIR_COMMENT_SIZE], text[WEIR_COMMENT_SIZE + 1];
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		check(!read_value(&weir_type_comment, good[i], comment, NULL), "%s: %s", good[i], err.text);
		assert_string_equal(comment, good[i]);
	}
	REFUSED(&weir_type_comment, bad);
	memset(text, 'x', sizeof(text) - 2);
	strcpy(text + sizeof(text) - 2, "");
	assert_int_equal(read_value(&weir_type_comment, text, comment, NULL), 0);
	strcpy(text + sizeof(text) - 2, "x");
	assert_true(read_value(&weir_type_comment, text, comment, NULL));
	assert_string_equal(err.text, "at most 127 bytes, not 128");
}

static void test_proto(void **state)
{
	static const struct refused bad[] = {
		{ "tpc", "" }, { "256", "unknown protocol" },
	};
	char text[WEIR_TEXT_SIZE];
	unsigned int number;
	uint8_t proto;

	for (number = 0; number < 256; number++) {
		proto = number;
		weir_text_proto(NULL, &proto, text);
		assert_int_equal(read_value(&weir_type_proto, text, &proto, NULL), 0);
		assert_int_equal(proto, number);
	}
	assert_int_equal(read_value(&weir_type_proto, "tcp", &proto, NULL), 0);
	assert_int_equal(proto, 6);
	assert_true(weir_proto_has_ports(proto));
	assert_int_equal(read_value(&weir_type_proto, "ipv6-icmp", &proto, NULL), 0);
	assert_int_equal(proto, 58);
	assert_false(weir_proto_has_ports(proto));
	REFUSED(&weir_type_proto, bad);
}

static void test_ports(void **state)
{
	static const struct refused bad[] = {
		{ "", "" }, { "-", "" }, { "1-", "" }, { "-1", "" }, { "65536", "" }, { "1-65536", "" },
		{ "2-1", "" }, { "x", "" }, { "1-2-3", "" }, { "http", "" }, { "123456789", "" },
	};
	char text[WEIR_TEXT_SIZE];
	uint16_t ports[2];

	assert_int_equal(read_value(&weir_type_ports, "443", ports, NULL), 0);
	assert_int_equal(ports[0], 443);
	assert_int_equal(ports[1], 443);
	assert_string_equal(weir_text_ports(NULL, ports, text), "443");
	assert_int_equal(read_value(&weir_type_ports, "0-65535", ports, NULL), 0);
	assert_string_equal(weir_text_ports(NULL, ports, text), "0-65535");
	REFUSED(&weir_type_ports, bad);
}

static void test_mark(void **state)
{
	static const struct refused bad[] = {
		{ "", "" }, { "/", "" }, { "1/", "" }, { "x", "" }, { "0x100000000", "" }, { "1/2/3", "" },
		{ "0000000000000000001", "" }, { "0x3/0x1", "did you mean 0x1/0x1" },
	};
	uint32_t mark[2];

	assert_int_equal(read_value(&weir_type_mark, "0x10", mark, NULL), 0);
	assert_int_equal(mark[0], 16);
	assert_int_equal(mark[1], UINT32_MAX);
	assert_int_equal(read_value(&weir_type_mark, "1/0xff", mark, NULL), 0);
	assert_int_equal(mark[1], 0xff);
	REFUSED(&weir_type_mark, bad);
}

static void test_per(void **state)
{
	static const struct {
		const char *text;
		uint8_t prefix4, prefix6;
	} good[] = {
		{ "32,64", 32, 64 }, { "24", 24, 64 }, { "0", 0, 0 },
		{ "0,64", 0, 64 }, { "24,0", 24, 0 }, { "32,128", 32, 128 },
	};
	static const char *const bad[] = {
		"", ",", "129", "24,129", "24,", ",64", "a", "24,64,3", "/24", "24/129",
	};
	uint8_t per[2];
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		check(!read_value(&weir_type_per, good[i].text, per, NULL), "%s", err.text);
		check(per[0] == good[i].prefix4 && per[1] == good[i].prefix6, "%s", good[i].text);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		check(read_value(&weir_type_per, bad[i], per, NULL), "%s", bad[i]);
		assert_non_null(strstr(err.text, "0..32 and 0..128"));
	}
	assert_true(read_value(&weir_type_per, "24/48", per, NULL));
	assert_string_equal(err.text, "write 24,48");
	assert_true(read_value(&weir_type_per, "33", per, NULL));
	assert_non_null(strstr(err.text, "for IPv6 write 32,33"));
}

static void test_texts(void **state)
{
	static const struct {
		uint64_t ms;
		const char *text;
	} exact[] = {
		{ 1000, "1s" }, { 90000, "90s" }, { 1500, "1500ms" }, { 599999, "599999ms" },
		{ 600000, "10m" }, { 3543000, "59m3s" }, { 3600000, "1h" }, { 3601000, "1h1s" },
		{ 7 * 86400000 + 1, "7d1ms" }, { 0, "ever" },
	};
	const struct weir_field field = { .size = sizeof(exact[0].ms), .value = "TIME|ever" };
	char text[WEIR_TEXT_SIZE];
	unsigned int i;

	assert_string_equal(weir_text_time(312000000, text), "312ms");
	assert_string_equal(weir_text_time(0, text), "0ms");
	assert_string_equal(weir_text_time(1500000000, text), "1.5s");
	assert_string_equal(weir_text_time(700000000000, text), "11m40s");
	assert_string_equal(weir_text_time(3600000000000, text), "1h");
	assert_string_equal(weir_text_time(5400000000000, text), "1h30m");
	assert_string_equal(weir_text_time(7200000000000000, text), "83d8h");
	assert_string_equal(weir_text_time(UINT64_MAX, text), "213503d23h");
	for (i = 0; i < sizeof(exact) / sizeof(exact[0]); i++)
		assert_string_equal(weir_text_ms(&field, &exact[i].ms, text), exact[i].text);
	assert_string_equal(weir_text_amount(99999, 5, text), "99999");
	assert_string_equal(weir_text_amount(100000, 5, text), "100k");
	assert_string_equal(weir_text_amount(999999, 5, text), "999.99k");
	assert_string_equal(weir_text_amount(49999998500, 5, text), "49.999G");
	assert_string_equal(weir_text_amount(UINT64_MAX, 5, text), "18.446E");
	assert_string_equal(weir_text_amount(49999998500, 20, text), "49.9999985G");
	assert_string_equal(weir_text_amount(UINT64_MAX, 20, text), "18.446744073709551615E");
	assert_string_equal(weir_text_amount(4000000000, 20, text), "4G");
	assert_string_equal(weir_text_rate(100, 10000, text), "10/s");
	assert_string_equal(weir_text_rate(20, 3600000, text), "20/h");
	assert_string_equal(weir_text_rate(90, 3600000, text), "1.5/m");
	assert_string_equal(weir_text_rate(1, 2592000000, text), "0.0333/d");
	assert_string_equal(weir_text_rate(5e9, 1000, text), "5G/s");
	assert_string_equal(weir_text_rate(0, 2592000000, text), "0");
	assert_string_equal(weir_text_size(512, text), "512B");
	assert_string_equal(weir_text_size(1536, text), "1.5KiB");
	assert_string_equal(weir_text_size(12 << 20, text), "12MiB");
}

UNIT_MAIN("parse_value", T(test_budget), T(test_budget_again), T(test_budget_text), T(test_time), T(test_prefix),
	  T(test_name), T(test_dev), T(test_comment), T(test_proto), T(test_ports), T(test_mark), T(test_per),
	  T(test_texts))
