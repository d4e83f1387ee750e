// SPDX-License-Identifier: GPL-2.0-or-later
/* One print call, two formats: JSON and text, compared byte by byte. */
#include <jansson.h>
#include <libmnl/libmnl.h>
#include <locale.h>
#include <sys/socket.h>

#include "show/show.h"
#include "unit.h"
#include "lang/value.h"

static struct weir_out out;
static char *text;
static size_t size;

static void begin(bool json, bool pretty, bool color)
{
	out = (struct weir_out){ .json = json, .pretty = pretty, .color = color };
	out.to = open_memstream(&text, &size);
}

static const struct weir_budget second = { .amount.window_ms = 1000 };

static void end(const char *what, const char *expected)
{
	fclose(out.to);
	check(!strcmp(text, expected), "%s:\n%s instead of\n%s", what, text, expected);
	free(text);
}

static void shown(bool json, weir_show_model *show, const void *model, const char *expected)
{
	begin(json, false, false);
	show(&out, model);
	end(json ? "JSON" : "text", expected);
}

static void put_sample(void)
{
	weir_out_begin(&out, NULL, '[');
	weir_out_begin(&out, NULL, '{');
	weir_out_str(&out, "name", "a\"b\\c\n\xc3\xa9\xff");
	weir_out_word(&out, WEIR_COLOR_NAME, "name %s", "x");
	weir_out_u64(&out, "big", UINT64_MAX);
	weir_out_word(&out, WEIR_COLOR_NONE, "big");
	weir_out_bool(&out, "yes", true);
	weir_out_bool(&out, "no", false);
	weir_out_text(&out, "\n");
	weir_out_begin(&out, "inner", '{');
	weir_out_end(&out, '}');
	weir_out_begin(&out, "list", '[');
	weir_out_u64(&out, NULL, 1);
	weir_out_u64(&out, NULL, 2);
	weir_out_end(&out, ']');
	weir_out_end(&out, '}');
	weir_out_begin(&out, NULL, '{');
	weir_out_end(&out, '}');
	weir_out_end(&out, ']');
}

static void test_json(void **state)
{
	begin(true, false, true);
	put_sample();
	end("one line",
	    "[{\"name\":\"a\\\"b\\\\c\\u000a\xc3\xa9\\ufffd\",\"big\":18446744073709551615,\"yes\":true,\"no\":false,\"inner\":{},\"list\":[1,2]},{}]\n");
	begin(true, false, false);
	weir_out_begin(&out, NULL, '[');
	weir_out_end(&out, ']');
	weir_out_begin(&out, NULL, '[');
	weir_out_end(&out, ']');
	end("all", "[]\n[]\n");
}

static void test_pretty(void **state)
{
	begin(true, true, false);
	weir_out_begin(&out, NULL, '[');
	weir_out_begin(&out, NULL, '{');
	weir_out_u64(&out, "a", 1);
	weir_out_begin(&out, "b", '[');
	weir_out_end(&out, ']');
	weir_out_end(&out, '}');
	weir_out_end(&out, ']');
	end("all", "[\n    {\n        \"a\": 1,\n        \"b\": []\n    }\n]\n");
	/* a stream has one object per line nevertheless */
	begin(true, true, false);
	weir_out_line(&out);
	weir_out_u64(&out, "a", 1);
	weir_out_line_end(&out);
	weir_out_line(&out);
	weir_out_line_end(&out);
	end("all", "{\"a\":1}\n{}\n");
}

static void test_text(void **state)
{
	begin(false, false, false);
	put_sample();
	end("all", "name x big\n");
	begin(false, false, true);
	put_sample();
	end("all", "\033[36mname x\033[0m big\n");
}

/* Names that others chose cannot send control sequences to the terminal. */
static void test_escape(void **state)
{
	static const char name[] = "a\033[31m\b\x7f\xc2\x9b\xc3\xa9\xff\t\xc2";
	static const char turned[] = "\xe2\x80\xae\143ba\xe2\x81\xa6";

	begin(false, false, false);
	weir_out_word(&out, WEIR_COLOR_NONE, "dev %s\n", name);
	weir_out_text(&out, "%s", turned);
	end("text", "dev a\\x1b[31m\\x08\\x7f\\xc2\\x9b\xc3\xa9\\xff\\x09\\xc2\n\\xe2\\x80\\xaecba\\xe2\\x81\\xa6");
	begin(true, false, false);
	weir_out_str(&out, NULL, name);
	weir_out_str(&out, NULL, turned);
	end("JSON", "\"a\\u001b[31m\\u0008\\u007f\\u009b\xc3\xa9\\ufffd\\u0009\\ufffd\",\"\\u202ecba\\u2066\"");
	begin(false, false, false);
	weir_out_escape(out.to, "one\nline", 8);
	end("one line", "one\\x0aline");
}

/* A flag that is not set does not colour what follows. */
static void test_color(void **state)
{
	struct weir_source source = {
		.budget_count = 1, .budgets = { { .count = 1, .budget = 2, .left = 1 } },
	};

	begin(false, false, true);
	weir_show_source(&out, &source);
	end("text", "\033[35mall\033[0m count 1 of 2 left 1 dropped 0\n");
}

static struct weir_source sample = {
	.has = WEIR_HAS(SOURCE_NEXT_NS), .limit = "web",
	.prefix = { AF_INET, 32, { 203, 0, 113, 9 } }, .budget_count = 1,
	.budgets = { {
		.has = WEIR_HAS(SOURCE_BUDGET_NEXT_NS) | WEIR_HAS(SOURCE_BUDGET_SLOT_NS),
		.count = 1000, .budget = 1000, .limited = true, .next_ns = 312000000,
		.slot_ns = 250000000, .slots = 5, .slot = { 0, 1, 400, 800, 799 },
	} },
	.next_ns = 312000000, .dropped = 51, .limited = true,
};

/* Bytes are printed in full, so that they add up; times are in milliseconds. */
static void test_bytes(void **state)
{
	union weir_model model = { .source = {
		.limit = "web", .prefix = { AF_INET, 32, { 203, 0, 113, 9 } },
		.budget_count = 1, .budgets = { { .unit = WEIR_UNIT_BYTES, .count = 1249248,
						  .budget = 1250000, .left = 752 } },
	} };
	const char *until;

	shown(false, weir_show_source, &model,
	      "203.0.113.9 limit web count 1.249248M of 1.25M bytes left 752 dropped 0\n");
	begin(false, false, false);
	weir_show_event(&out, WEIR_CMD_SOURCE_NTF, &model, &second);
	fclose(out.to);
	until = strstr(text, " until 2");
	assert_non_null(until);
	assert_int_equal(strspn(strchr(until, '.') + 1, "0123456789"), 3);
	free(text);
}

static void test_source(void **state)
{
	struct weir_source one = sample;

	setlocale(LC_CTYPE, "C.UTF-8");
	shown(false, weir_show_source, &sample,
	      "203.0.113.9 limit web count 1000 of 1000 left 0 limited for 312ms dropped 51\n    \xe2\x96\x81\xe2\x96\x82\xe2\x96\x85\xe2\x96\x88\xe2\x96\x88 5 slots of 250ms, oldest first\n");
	setlocale(LC_CTYPE, "C");
	shown(false, weir_show_source, &sample,
	      "203.0.113.9 limit web count 1000 of 1000 left 0 limited for 312ms dropped 51\n    _.=## 5 slots of 250ms, oldest first\n");
	one.budgets[0].slots = 1;
	one.budgets[0].slot[0] = 1000;
	shown(false, weir_show_source, &one,
	      "203.0.113.9 limit web count 1000 of 1000 left 0 limited for 312ms dropped 51\n    # 1 slot of 250ms\n");
	shown(true, weir_show_source, &sample,
	      "{\"source\":\"203.0.113.9\",\"limit\":\"web\",\"budgets\":[{\"count\":1000,\"budget\":1000,\"unit\":\"packets\",\"left\":0,\"limited\":true,\"next_ms\":312,\"slot_ms\":250,\"slot_counts\":[0,1,400,800,799]}],\"limited\":true,\"next_ms\":312,\"blocked\":false,\"dropped_packets\":51,\"would_drop_packets\":0,\"idle\":false,\"floor\":false,\"unknown\":false,\"action\":\"drop\"}\n");
}

static void test_exempt_source(void **state)
{
	struct weir_source source = {
		.limit = "web", .prefix = { AF_INET, 32, { 203, 0, 113, 9 } },
		.has = WEIR_HAS(SOURCE_EXEMPT),
		.exempt = { .prefix = { AF_INET, 24, { 203, 0, 113 } },
			    .dev = "eth1" },
	};

	shown(false, weir_show_source, &source,
	      "203.0.113.9 limit web exempt by 203.0.113.0/24 dev eth1\n");
	shown(true, weir_show_source, &source,
	      "{\"source\":\"203.0.113.9\",\"limit\":\"web\",\"exempt_by\":{\"prefix\":\"203.0.113.0/24\",\"dev\":\"eth1\"}}\n");
}

static void test_limit(void **state)
{
	struct weir_limit limit = {
		.has = ~(WEIR_HAS(LIMIT_STATS) | WEIR_HAS(LIMIT_BUDGETS_BY) |
			 WEIR_HAS(LIMIT_BLOCKS_ONLY)), .name = "bulk",
		.zone.name = "Europe/Berlin",
		.budget_count = 1,
		.budgets = { {
			.has = ~(WEIR_HAS(BUDGET_BURST) | WEIR_HAS(BUDGET_RENEWS) |
				 WEIR_HAS(BUDGET_REFUSED)),
			.amount = { 10000000, 1000 }, .unit = WEIR_UNIT_BYTES, .slots = 8,
			.mode = WEIR_MODE_LENIENT, .slot_ns = 128000000, .window_ns = 1024000000,
			.most = 20000000,
		} },
		.sources = 64, .per = { 24, 56 }, .action = WEIR_ACTION_OBSERVE,
		.match = { .has = WEIR_COND_FROM | WEIR_COND_PROTO |
				    WEIR_COND_DPORT | WEIR_COND_MARK,
			   .invert = WEIR_COND_FROM,
			   .from_count = 1, .from = { { AF_INET, 8, { 10 } } }, .proto_count = 1, .proto = { 6 },
			   .dport_count = 1, .dport = { { 80, 81 } }, .mark = { 1, 255 } },
		.memory = 8192,
		.newcomers = { 2000, 1000 }, .flood = 1000000, .known_ms = 2000,
		.entries = 128, .source_bytes = 67, .blocks = 40, .comment = "a \"b\" \\ \xc3\xa9",
	};

	shown(false, weir_show_limit, &limit,
	      "bulk budget 10M/s bytes slots 8 lenient tz Europe/Berlin not from 10.0.0.0/8 proto tcp dport 80-81 mark 0x1/0xff per 24,56 sources 64 newcomers 2000/s flood 1M/s known 2s action observe comment \"a \\\"b\\\" \\\\ \xc3\xa9\"\n    slot 128ms window 1.024s at most 20M memory 8.0KiB places 128 each 67B blocks 40\n");
	shown(true, weir_show_limit, &limit,
	      "{\"limit\":\"bulk\",\"budgets\":[{\"budget\":10000000,\"window_ms\":1000,\"unit\":\"bytes\",\"slots\":8,\"mode\":\"lenient\",\"alone\":0,\"slot_ms\":128,\"effective_window_ms\":1024,\"most\":20000000}],\"tz\":\"Europe/Berlin\",\"sharing\":\"unshared\",\"match\":{\"proto\":[\"tcp\"],\"dport\":[{\"first\":80,\"last\":81}],\"mark\":1,\"mark_mask\":255,\"not\":{\"from\":[\"10.0.0.0/8\"]}},\"prefix4\":24,\"prefix6\":56,\"sources\":64,\"newcomers\":2000,\"newcomers_ms\":1000,\"flood\":1000000,\"known_ms\":2000,\"penalty_ms\":0,\"action\":\"observe\",\"log\":0,\"comment\":\"a \\\"b\\\" \\\\ \xc3\xa9\",\"memory\":8192,\"entries\":128,\"source_bytes\":67,\"blocks\":40}\n");
}

/* As in ip(8): brief shows the configuration, oneline prints one record per line. */
static void test_lines(void **state)
{
	struct weir_limit limit = {
		.has = WEIR_HAS(LIMIT_STATS), .budget_count = 1,
		.name = "web",
		.budgets = { { .has = WEIR_HAS(BUDGET_BUDGET) | WEIR_HAS(BUDGET_SLOT_NS),
			       .amount = { 20, 1000 }, .slots = 1, .slot_ns = 1000000000 } },
		.sources = 64,
		.stats = { .has = WEIR_HAS(LIMIT_STATS_SOURCES_NOW), .matched = { .packets = 3, .bytes = 180 },
			   .dropped = { .packets = 1, .bytes = 60 } },
	};

	shown(false, weir_show_limit, &limit,
	      "web budget 20/s\n    slot 1s\n"
	    "    matched                      3 packets             180 bytes\n"
	    "    dropped                      1 packets              60 bytes\n");
	begin(false, false, false);
	out.oneline = true;
	weir_out_begin(&out, NULL, '[');
	weir_show_limit(&out, &limit);
	weir_show_source(&out, &sample);
	weir_out_end(&out, ']');
	end("oneline", "web budget 20/s\\    slot 1s"
	    "\\    matched                      3 packets             180 bytes"
	    "\\    dropped                      1 packets              60 bytes\n"
	    "203.0.113.9 limit web count 1000 of 1000 left 0 limited for 312ms dropped 51\\    _.=## 5 slots of 250ms, oldest first\n");
	begin(false, false, false);
	out.brief = true;
	limit.has = 0;
	weir_show_limit(&out, &limit);
	weir_show_source(&out, &sample);
	end("brief", "web budget 20/s\n"
	    "203.0.113.9 limit web count 1000 of 1000 left 0 limited for 312ms dropped 51\n");
}

/* Milliseconds are exact numbers without an exponent; times are as in RFC 3339, or left out. */
static void test_times(void **state)
{
	static const struct {
		uint64_t ns;
		const char *ms;
	} times[] = {
		{ 0, "0" }, { 1, "0.000001" }, { 250000, "0.25" }, { 1000000, "1" }, { 312000001, "312.000001" },
		{ 315359999100000000, "315359999100" }, { UINT64_MAX, "18446744073709.551615" },
	};
	static const struct {
		uint64_t s;
		const char *date;
	} dates[] = {
		{ 0, "1970-01-01T00:00:00Z" }, { 1830297600, "2028-01-01T00:00:00Z" },
		{ 253402300799, "9999-12-31T23:59:59Z" }, { UINT64_MAX, "9999-12-31T23:59:59Z" },
		{ INT64_MAX, "9999-12-31T23:59:59Z" }, { 1ULL << 63, "9999-12-31T23:59:59Z" },
	};
	union weir_model model = { .source = sample };
	char buf[WEIR_TEXT_SIZE];
	size_t i;

	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		begin(true, false, false);
		weir_out_ms(&out, NULL, times[i].ns);
		end("ms", times[i].ms);
	}
	for (i = 0; i < sizeof(dates) / sizeof(dates[0]); i++)
		assert_string_equal(weir_text_date(NULL, &dates[i].s, buf), dates[i].date);
	setenv("TZ", "IST-05:30", 1);
	tzset();
	begin(true, false, false);
	out.filled = true;
	weir_show_timestamp(&out);
	fclose(out.to);
	check(strlen(text) == strlen(",\"timestamp\":\"2026-11-24T12:00:00.123456+05:30\"") &&
	      strstr(text, "+05:30\""), "%s", text);
	free(text);
	unsetenv("TZ");
	model.source.event = WEIR_SOURCE_EVENT_LIMITED;
	begin(true, false, false);
	weir_show_event(&out, WEIR_CMD_SOURCE_NTF, &model, &second);
	fclose(out.to);
	assert_non_null(strstr(text, "\"until\":\"2"));
	free(text);
	model.source.has = model.source.blocked_ns = 0;	/* it has no end */
	begin(true, false, false);
	weir_show_event(&out, WEIR_CMD_SOURCE_NTF, &model, &second);
	fclose(out.to);
	assert_null(strstr(text, "until"));
	free(text);
}

/* Attributes of any length with any value, as often as one likes. */
static void put_any(struct chance *c, struct nlmsghdr *msg, const struct weir_set *set, int depth)
{
	static const uint8_t lengths[] = { 0, 1, 2, 4, 8, 8, 8, 16, 40 };
	const struct weir_field *field;
	uint64_t bytes[5];
	unsigned int i, n;
	struct nlattr *nest;

	for (field = set->fields; field->type; field++) {
		n = field->attr && chance(c) % 4 ? 1 : 0;
		if (n && field->many)
			n = chance(c) % (field->many + 3);
		while (n--) {
			if (field->nest && depth) {
				nest = mnl_attr_nest_start(msg, field->attr);
				put_any(c, msg, field->nest, depth - 1);
				mnl_attr_nest_end(msg, nest);
				continue;
			}
			for (i = 0; i < 5; i++)
				bytes[i] = (chance(c) % 3 ? -1ull : chance(c)) >> chance(c) % 64;
			i = chance(c);
			mnl_attr_put(msg, field->part && i % 3 == 0 ? field->part : field->attr,
				     lengths[i / 3 % sizeof(lengths)], bytes);
		}
	}
}

/* Whatever the kernel answers is shown, as valid JSON. */
static void test_malformed(void **state)
{
	static const struct {
		const struct weir_set *set;
		weir_show_model *show;
		uint8_t event;
	} replies[] = {
		{ &weir_limit_fields, weir_show_limit, WEIR_CMD_LIMIT_NTF },
		{ &weir_source_fields, weir_show_source, WEIR_CMD_SOURCE_NTF },
		{ &weir_exempt_fields, weir_show_exempt, WEIR_CMD_EXEMPT_NTF },
		{ &weir_stats_fields, weir_show_stats, 0 },
		{ &weir_pressure_fields, NULL, WEIR_CMD_PRESSURE_NTF },
		{ &weir_newcomers_fields, NULL, WEIR_CMD_NEWCOMERS_NTF },
	}, *reply;
	static char room[1 << 18] __attribute__((aligned(8)));
	struct unit_runs runs = unit_runs(20000);
	struct nlmsghdr *msg;
	union weir_model model;
	struct chance c;
	json_error_t error;
	json_t *json;
	struct weir_budget budget = { 0 };
	bool event;

	for (; runs.first < runs.end; runs.first++) {
		c = chance_of(runs.first);
		reply = &replies[chance(&c) % (sizeof(replies) / sizeof(replies[0]))];
		msg = mnl_nlmsg_put_header(room);
		put_any(&c, msg, reply->set, 3);
		weir_set_get(reply->set, mnl_nlmsg_get_payload(msg), mnl_nlmsg_get_payload_len(msg), &model);
		event = !reply->show || (reply->event && chance(&c) % 2);
		begin(chance(&c) % 2, chance(&c) % 2, chance(&c) % 2);
		budget.mode = chance(&c) % 6;
		budget.amount.window_ms = chance(&c) >> chance(&c) % 32;
		if (event)
			weir_out_line(&out);
		if (event)
			weir_show_event(&out, reply->event, &model, &budget);
		else
			reply->show(&out, &model);
		if (event)
			weir_out_line_end(&out);
		fclose(out.to);
		if (out.json) {
			json = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
			check(json, "run %llu: %s: %s", runs.first, error.text, text);
			json_decref(json);
		}
		free(text);
	}
}

/* Text for a terminal is wrapped at its width, between words; colours take no room. */
static void test_width(void **state)
{
	static const struct {
		unsigned int width;
		bool oneline, color;
		const char *expected;
	} shapes[] = {
		{ 0, false, false, "aaaa bbbb cccc dddd\n" },
		{ 19, false, false, "aaaa bbbb cccc dddd\n" },
		{ 18, false, false, "aaaa bbbb cccc\n        dddd\n" },
		{ 14, false, true, "\033[36maaaa\033[0m bbbb cccc\n        dddd\n" },
		{ 13, false, false, "aaaa bbbb\n        cccc\n        dddd\n" },
		{ 1, false, false, "aaaa\n        bbbb\n        cccc\n        dddd\n" },
		{ 13, true, false, "aaaa bbbb cccc dddd" },
	};
	size_t i;

	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		begin(false, false, shapes[i].color);
		out.width = shapes[i].width;
		out.oneline = shapes[i].oneline;
		weir_out_word(&out, WEIR_COLOR_NAME, "aaaa");
		weir_out_word(&out, WEIR_COLOR_NONE, "bbbb");
		weir_out_word(&out, WEIR_COLOR_NONE, "cccc");
		weir_out_word(&out, WEIR_COLOR_NONE, "dddd");
		weir_out_text(&out, "\n");
		end("width", shapes[i].expected);
	}
}

UNIT_MAIN("tool_out", T(test_width), T(test_times), T(test_malformed), T(test_json), T(test_pretty), T(test_text), T(test_escape), T(test_color),
	  T(test_bytes), T(test_source), T(test_exempt_source), T(test_limit), T(test_lines))
