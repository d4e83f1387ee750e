// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What design.rst says of a table's memory: its formula, written down again, and
 * its examples, read from it, against what is told of tables and allocated.
 */
#include <linux/mm.h>

#include <string.h>

#include "table_twin.h"

#define DESIGN "../../Documentation/design.rst"

static u64 up(u64 bytes, u64 to)
{
	return (bytes + to - 1) / to * to;
}

/* E: entries of a CPU for sources that it met a moment ago. */
static u64 entries(const struct weir_table_spec *spec, unsigned int cpus)
{
	u64 e = 16;

	while (e < 1024 && 2 * e <= spec->sources / 8 / cpus)
		e *= 2;
	return e;
}

/* The formula, on so many CPUs, for buckets of so many ways. */
static u64 bytes_of(const struct weir_table_spec *spec, u64 buckets,
		    unsigned int ways, unsigned int cpus)
{
	u64 ring = spec->slots + !spec->lenient;
	u64 width = spec->budget < 1ull << 16 ? 2 :
		    spec->budget < 1ull << 32 ? 4 : 8;
	u64 wheel = 8 + width * (1 + ring);
	u64 key = up(spec->prefix.len6 > 64 ? 20 : 12, width);
	u64 way = up(8 + key + wheel, 8);
	u64 bucket = up(up(80 + wheel, 64) + ways * way, 64);
	u64 each = 1;

	while (each < buckets && 2 * each * bucket <= 4 << 20)
		each *= 2;
	return buckets / each * (up(each * bucket, 4096) + 8) +
	       64 * cpus * entries(spec, cpus) + 128;
}

static void test_formula(void **state)
{
	static const u64 budget[] = {
		1, 65535, 65536, 1ull << 32, (1ull << 32) - 1, 1ull << 56,
	};
	static const u8 len6[] = { 0, 64, 65, 128 };
	struct chance c = chance_of(1);
	struct weir_table_spec spec;
	struct weir_table *table;
	unsigned int i;

	(void)state;
	for (i = 0; i < 400; i++) {
		spec = (struct weir_table_spec) {
			.budget = budget[chance_below(&c, ARRAY_SIZE(budget))],
			.slot_ticks = 1,
			.slots = 1 + chance_below(&c, WEIR_SLOTS_MAX),
			.lenient = chance_one_in(&c, 2),
			.sources = 64 + chance_below(&c, 4ull << chance_below(&c, 17)),
			.prefix = { 32, len6[chance_below(&c, ARRAY_SIZE(len6))] },
		};
		table = weir_table_alloc(&spec);
		assert_false(IS_ERR(table));
		check(bytes_of(&spec, weir_table_buckets(table), table->ways,
			       SHIM_CPUS) == weir_table_bytes(table),
		      "%u sources, %u slots, budget %llu: %llu bytes, not %llu",
		      spec.sources, spec.slots, spec.budget,
		      weir_table_bytes(table),
		      bytes_of(&spec, weir_table_buckets(table), table->ways,
			       SHIM_CPUS));
		assert_true(weir_table_bytes(table) == shim_allocated);
		weir_table_put(table);
	}
}

/* "65,536" and "10 GB" as numbers */
static u64 number(const char *text)
{
	u64 n = 0;

	for (; (*text >= '0' && *text <= '9') || *text == ','; text++)
		if (*text != ',')
			n = 10 * n + *text - '0';
	return strncmp(text, " GB", 3) ? n : n * 1000000000;
}

/* "6.2 MiB" as what rounds to it: half a unit of the last digit either way. */
static void check_rounds(u64 bytes, const char *text, const char *line)
{
	double value = strtod(text, NULL), half = strchr(text, '.') ? 0.05 : 0.5;
	const char *unit = strchr(text, ' ');
	double is;

	assert_non_null(unit);
	is = bytes / (unit[1] == 'G' ? 1024. * 1024 * 1024 :
		      unit[1] == 'M' ? 1024. * 1024 : 1024.);
	check(is >= value - half && is <= value + half, "%.3f, not %s: %s", is,
	      text, line);
}

/* A row of the table: sources slots budget, prefix buckets ways memory. */
static void check_row(const char *line)
{
	char sources[16], budget[16], buckets[16], size[24], unit[4];
	unsigned int slots, len6, ways;
	struct weir_table_spec spec;
	struct weir_table *table;

	if (sscanf(line, "%15s %u %15[^/]/%u %15s %u each %15s %3s", sources,
		   &slots, budget, &len6, buckets, &ways, size, unit) != 8)
		fail_msg("what is this row? %s", line);
	budget[strcspn(budget, "\n") - 2] = '\0'; /* ", " */
	spec = (struct weir_table_spec) {
		.budget = number(budget), .slot_ticks = 1, .slots = slots,
		.sources = number(sources), .prefix = { 32, len6 },
	};
	strcat(strcat(size, " "), unit);
	check_rounds(bytes_of(&spec, number(buckets), ways, 4), size, line);
	/* What is made has as many; 2 GiB are not made for that. */
	if (spec.sources > 1 << 20)
		return;
	table = weir_table_alloc(&spec);
	assert_false(IS_ERR(table));
	assert_true(weir_table_buckets(table) == number(buckets));
	assert_int_equal(table->ways, ways);
	weir_table_put(table);
}

static void test_examples(void **state)
{
	FILE *file = fopen(DESIGN, "r");
	unsigned int rows = 0;
	char line[256];
	int rules = -1;	/* -1: in front of the table; 3 end it */

	(void)state;
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "sources        slots", 20))
			rules = 1;
		else if (rules > 0 && rules < 3 && *line == '=')
			rules++;
		else if (rules == 2) {
			check_row(line);
			rows++;
		}
	}
	fclose(file);
	assert_int_equal(rules, 3);
	assert_true(rows >= 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formula),
		cmocka_unit_test(test_examples),
	};

	return cmocka_run_group_tests_name("table_memory", tests, NULL, NULL);
}
