// SPDX-License-Identifier: GPL-2.0-or-later
/* One print call, two formats: JSON and text, compared byte by byte. */
#include <locale.h>
#include <sys/socket.h>

#include "show.h"
#include "unit.h"

static struct weir_out out;
static char *text;
static size_t size;

static void begin(bool json, bool pretty, bool color)
{
	out = (struct weir_out){ .json = json, .pretty = pretty, .color = color };
	out.to = open_memstream(&text, &size);
}

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
	struct weir_source source = { .has = 0, .count = 1, .budget = 2, .left = 1 };

	begin(false, false, true);
	weir_show_source(&out, &source);
	end("text", "\033[35mall sources\033[0m count 1 of 2 left 1 dropped 0\n");
}

static struct weir_source sample = {
	.has = WEIR_HAS(SOURCE_NEXT_NS) | WEIR_HAS(SOURCE_SLOT_NS), .limit = "web",
	.prefix = { AF_INET, 32, { 203, 0, 113, 9 } }, .count = 1000, .budget = 1000,
	.next_ns = 312000000, .dropped = 51, .limited = true, .slot_ns = 250000000, .slots = 5,
	.slot = { 0, 1, 400, 800, 799 },
};

/* Bytes are printed in full, so that they add up; times are in milliseconds. */
static void test_bytes(void **state)
{
	union weir_model model = { .source = {
		.limit = "web", .prefix = { AF_INET, 32, { 203, 0, 113, 9 } },
		.unit = WEIR_UNIT_BYTES, .count = 1249248, .budget = 1250000, .left = 752,
	} };
	const char *until;

	shown(false, weir_show_source, &model,
	      "203.0.113.9 limit web count 1.249248M of 1.25M bytes left 752 dropped 0\n");
	begin(false, false, false);
	weir_show_event(&out, WEIR_CMD_SOURCE_NTF, &model, 1000);
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
	one.slots = 1;
	one.slot[0] = 1000;
	shown(false, weir_show_source, &one,
	      "203.0.113.9 limit web count 1000 of 1000 left 0 limited for 312ms dropped 51\n    # 1 slot of 250ms\n");
	shown(true, weir_show_source, &sample,
	      "{\"source\":\"203.0.113.9\",\"limit\":\"web\",\"count\":1000,\"budget\":1000,\"unit\":\"packets\",\"left\":0,\"limited\":true,\"next_ms\":312,\"blocked\":false,\"dropped\":51,\"would_drop\":0,\"idle\":false,\"floor\":false,\"unknown\":false,\"action\":\"drop\",\"slot_ms\":250,\"slots\":[0,1,400,800,799]}\n");
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
	      "{\"source\":\"203.0.113.9\",\"limit\":\"web\",\"exempt\":{\"prefix\":\"203.0.113.0/24\",\"dev\":\"eth1\"}}\n");
}

static void test_limit(void **state)
{
	struct weir_limit limit = {
		.has = -1 & ~(WEIR_HAS(LIMIT_STATS) | WEIR_HAS(LIMIT_BURST)), .name = "bulk",
		.zone.name = "Europe/Berlin",
		.budget = { 10000000, 1000 }, .unit = WEIR_UNIT_BYTES, .slots = 8,
		.mode = WEIR_MODE_LENIENT, .sources = 64, .per = { 24, 56 }, .action = WEIR_ACTION_OBSERVE,
		.match = { .has = WEIR_COND_FROM | WEIR_COND_PROTO |
				    WEIR_COND_DPORT | WEIR_COND_MARK,
			   .invert = WEIR_COND_FROM,
			   .from_count = 1, .from = { { AF_INET, 8, { 10 } } }, .proto = 6,
			   .dport_count = 1, .dport = { { 80, 81 } }, .mark = { 1, 255 } },
		.slot_ns = 128000000, .window_ns = 1024000000, .most = 20000000, .memory = 8192,
		.newcomers = { 2000, 1000 }, .flood = 1000000, .known_ms = 2000,
		.ways = 128, .source_bytes = 67, .comment = "a \"b\" \\ \xc3\xa9",
	};

	shown(false, weir_show_limit, &limit,
	      "bulk budget 10M/s bytes slots 8 lenient tz Europe/Berlin not from 10.0.0.0/8 proto tcp dport 80-81 mark 0x1/0xff per 24,56 sources 64 newcomers 2000/s flood 1M/s known 2s action observe comment \"a \\\"b\\\" \\\\ \xc3\xa9\"\n    slot 128ms window 1.024s at most 20M memory 8.0KiB ways 128 a source 67B\n");
	shown(true, weir_show_limit, &limit,
	      "{\"name\":\"bulk\",\"budget\":10000000,\"window_ms\":1000,\"unit\":\"bytes\",\"slots\":8,\"mode\":\"lenient\",\"tz\":\"Europe/Berlin\",\"match\":{\"from\":[\"10.0.0.0/8\"],\"proto\":\"tcp\",\"dport\":[{\"first\":80,\"last\":81}],\"mark\":1,\"mark_mask\":255,\"not\":[\"from\"]},\"prefix4\":24,\"prefix6\":56,\"sources\":64,\"newcomers\":2000,\"newcomers_ms\":1000,\"flood\":1000000,\"known_ms\":2000,\"penalty_ms\":0,\"action\":\"observe\",\"comment\":\"a \\\"b\\\" \\\\ \xc3\xa9\",\"slot_ms\":128,\"effective_window_ms\":1024,\"most\":20000000,\"memory\":8192,\"ways\":128,\"source_bytes\":67}\n");
}

/* As in ip(8): brief shows the configuration, oneline prints one record per line. */
static void test_lines(void **state)
{
	struct weir_limit limit = {
		.has = WEIR_HAS(LIMIT_BUDGET) | WEIR_HAS(LIMIT_SLOT_NS) | WEIR_HAS(LIMIT_STATS),
		.name = "web",
		.budget = { 20, 1000 }, .sources = 64, .slots = 1, .slot_ns = 1000000000,
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
	limit.has = WEIR_HAS(LIMIT_BUDGET);
	weir_show_limit(&out, &limit);
	weir_show_source(&out, &sample);
	end("brief", "web budget 20/s\n"
	    "203.0.113.9 limit web count 1000 of 1000 left 0 limited for 312ms dropped 51\n");
}

UNIT_MAIN("tool_out", T(test_json), T(test_pretty), T(test_text), T(test_escape), T(test_color),
	  T(test_bytes), T(test_source), T(test_exempt_source), T(test_limit), T(test_lines))
