// SPDX-License-Identifier: GPL-2.0-or-later
/* One print call, two formats: JSON and text, byte by byte. */
#include <locale.h>
#include <sys/socket.h>

#include "show.h"
#include "unit.h"

static FILE *old;
static char *text;
static size_t size;

static void begin(bool json, bool pretty, bool color)
{
	struct weir_out_opts opts = { json, pretty, color };

	weir_out_init(&opts);
	old = stdout;
	stdout = open_memstream(&text, &size);
}

static void end(const char *what, const char *expected)
{
	fclose(stdout);
	stdout = old;
	check(!strcmp(text, expected), "%s:\n%s instead of\n%s", what, text,
	      expected);
	free(text);
}

static void put_sample(void)
{
	weir_out_array(NULL);
	weir_out_object(NULL);
	weir_out_color(WEIR_COLOR_NAME);
	weir_out_str("name", "a\"b\\c\n\xc3\xa9\xff", "name %s", "x");
	weir_out_u64("big", UINT64_MAX, " big");
	weir_out_flag("yes", true, " yes");
	weir_out_flag("no", false, " no");
	weir_out_text("\n");
	weir_out_object("inner");
	weir_out_object_end();
	weir_out_array("list");
	weir_out_u64(NULL, 1, NULL);
	weir_out_u64(NULL, 2, NULL);
	weir_out_array_end();
	weir_out_object_end();
	weir_out_object(NULL);
	weir_out_object_end();
	weir_out_array_end();
}

static void test_json(void **state)
{
	(void)state;
	begin(true, false, true);
	put_sample();
	end("one line",
	    "[{\"name\":\"a\\\"b\\\\c\\u000a\xc3\xa9\\ufffd\",\"big\":18446744073709551615,\"yes\":true,\"no\":false,\"inner\":{},\"list\":[1,2]},{}]\n");
	begin(true, false, false);
	weir_out_array(NULL);
	weir_out_array_end();
	weir_out_array(NULL);
	weir_out_array_end();
	end("all", "[]\n[]\n");
}

static void test_pretty(void **state)
{
	(void)state;
	begin(true, true, false);
	weir_out_array(NULL);
	weir_out_object(NULL);
	weir_out_u64("a", 1, NULL);
	weir_out_array("b");
	weir_out_array_end();
	weir_out_object_end();
	weir_out_array_end();
	end("all", "[\n    {\n        \"a\": 1,\n        \"b\": []\n    }\n]\n");
	/* a stream has an object a line all the same */
	begin(true, true, false);
	weir_out_line();
	weir_out_u64("a", 1, NULL);
	weir_out_line_end();
	weir_out_line();
	weir_out_line_end();
	end("all", "{\"a\":1}\n{}\n");
}

static void test_text(void **state)
{
	(void)state;
	begin(false, false, false);
	put_sample();
	end("all", "name x big yes\n");
	begin(false, false, true);
	put_sample();
	end("all", "\033[36mname x\033[0m big yes\n");
}

/* What others chose the names of orders nothing from a terminal. */
static void test_escape(void **state)
{
	static const char name[] = "a\033[31m\b\x7f\xc2\x9b\xc3\xa9\xff\t\xc2";

	(void)state;
	begin(false, false, false);
	weir_out_str("dev", name, "dev %s\n", name);
	weir_out_color(WEIR_COLOR_NAME);
	weir_out_text("%s", "end");
	end("text", "dev a\\x1b[31m\\x08\\x7f\\xc2\\x9b\xc3\xa9\\xff\\x09\\xc2\nend");
	begin(true, false, false);
	weir_out_str(NULL, name, NULL);
	end("JSON", "\"a\\u001b[31m\\u0008\\u007f\\u009b\xc3\xa9\\ufffd\\u0009\\ufffd\"");
	begin(false, false, false);
	weir_out_escape(stdout, "one\nline", false);
	end("one line", "one\\x0aline");
}

static struct weir_source sample = {
	.limit = "web", .prefix = { AF_INET, 32, { 203, 0, 113, 9 } },
	.count = 1000, .budget = 1000, .next_ns = 312000000, .dropped = 51,
	.limited = true, .slot_ns = 250000000, .slots = 5,
	.slot = { 0, 1, 400, 800, 799 },
};

static void test_source(void **state)
{
	(void)state;
	setlocale(LC_CTYPE, "C.UTF-8");
	begin(false, false, false);
	weir_show_source(&sample, true);
	end("one line",
	    "203.0.113.9 limit web count 1000 of 1000 left 0 limited next 312ms dropped 51\n    \xe2\x96\x81\xe2\x96\x82\xe2\x96\x85\xe2\x96\x88\xe2\x96\x88 5 slots of 250ms, oldest first\n");
	setlocale(LC_CTYPE, "C");
	begin(false, false, false);
	weir_show_source(&sample, true);
	end("one line",
	    "203.0.113.9 limit web count 1000 of 1000 left 0 limited next 312ms dropped 51\n    _.=## 5 slots of 250ms, oldest first\n");
	begin(true, false, false);
	weir_show_source(&sample, true);
	end("one line",
	    "{\"source\":\"203.0.113.9\",\"limit\":\"web\",\"count\":1000,\"budget\":1000,\"unit\":\"packets\",\"left\":0,\"limited\":true,\"next_ns\":312000000,\"dropped\":51,\"idle\":false,\"floor\":false,\"action\":\"drop\",\"slot_ns\":250000000,\"slots\":[0,1,400,800,799]}\n");
}

static void test_exempt_source(void **state)
{
	struct weir_source source = {
		.limit = "web", .prefix = { AF_INET, 32, { 203, 0, 113, 9 } },
		.is_exempt = true,
		.exempt = { .prefix = { AF_INET, 24, { 203, 0, 113 } },
			    .dev = "eth1" },
	};

	(void)state;
	begin(false, false, false);
	weir_show_source(&source, true);
	end("all", "203.0.113.9 limit web exempt by 203.0.113.0/24 dev eth1\n");
	begin(true, false, false);
	weir_show_source(&source, true);
	end("one line",
	    "{\"source\":\"203.0.113.9\",\"limit\":\"web\",\"exempt\":{\"prefix\":\"203.0.113.0/24\",\"dev\":\"eth1\"}}\n");
}

static void test_limit(void **state)
{
	struct weir_limit limit = {
		.has = WEIR_HAS_RESULT, .name = "bulk", .budget = 10000000,
		.window_ms = 1000, .unit = WEIR_UNIT_BYTES, .slots = 8,
		.mode = WEIR_MODE_LENIENT, .sources = 64, .prefix4 = 24,
		.prefix6 = 56, .action = WEIR_ACTION_OBSERVE,
		.match = { .conds = WEIR_COND_FROM | WEIR_COND_PROTO |
				    WEIR_COND_DPORT | WEIR_COND_MARK,
			   .invert = WEIR_COND_FROM,
			   .from = { AF_INET, 8, { 10 } }, .proto = 6,
			   .dport = { 80, 81 }, .mark = 1, .mask = 255 },
		.slot_ns = 128000000, .window_ns = 1024000000, .memory = 8192,
		.ways = 128,
	};

	(void)state;
	begin(false, false, false);
	weir_show_limit(&limit);
	end("one line",
	    "bulk budget 10M/s bytes not from 10.0.0.0/8 proto tcp dport 80-81 mark 0x1/0xff per 24,56 slots 8 sources 64 lenient action observe\n    slot 128ms window 1.024s memory 8.0KiB ways 128\n");
	begin(true, false, false);
	weir_show_limit(&limit);
	end("one line",
	    "{\"name\":\"bulk\",\"budget\":10000000,\"window_ms\":1000,\"unit\":\"bytes\",\"match\":{\"from\":\"10.0.0.0/8\",\"proto\":\"tcp\",\"dport_min\":80,\"dport_max\":81,\"mark\":1,\"mark_mask\":255,\"not\":[\"from\"]},\"prefix4\":24,\"prefix6\":56,\"slots\":8,\"sources\":64,\"mode\":\"lenient\",\"action\":\"observe\",\"slot_ns\":128000000,\"window_ns\":1024000000,\"memory\":8192,\"ways\":128}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_pretty),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_escape),
		cmocka_unit_test(test_source),
		cmocka_unit_test(test_exempt_source),
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests_name("tool_out", tests, NULL, NULL);
}
