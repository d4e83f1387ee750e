// SPDX-License-Identifier: GPL-2.0-or-later
/* Messages of counts: what is written is read again, and nothing else is. */
#include <sys/socket.h>

#include "fleet/announce.h"
#include "unit.h"

static struct fleet_writer writer;

static struct fleet_head random_head(struct chance *c)
{
	struct fleet_head head = {
		.run = chance(c), .number = 1 + chance_below(c, UINT32_MAX),
		.interval_ms = 10 + chance_below(c, 991), .age_ms = chance_below(c, 65536),
		.budgets = 1 + chance_below(c, WEIR_BUDGETS_MAX),
	};
	size_t length = 1 + chance_below(c, chance_below(c, 2) ? 8 : sizeof(head.host) - 1);

	memset(head.host, 'h', length);
	return head;
}

/* A number of any length. */
static uint64_t random_number(struct chance *c)
{
	return chance(c) & ((FLEET_ADMITTED_MAX >> chance_below(c, 58)) * 2 - 1);
}

static struct fleet_record random_record(struct chance *c, unsigned int budgets)
{
	static const struct {
		uint8_t family, most;
	} kinds[] = { { 0, 0 }, { AF_INET, 32 }, { AF_INET6, 128 } };
	unsigned int kind = chance_below(c, 3), i;
	struct fleet_record record = { .source.family = kinds[kind].family };

	record.source.len = chance_below(c, kinds[kind].most + 1u);
	for (i = 0; i < record.source.len; i++)
		record.source.addr[i / 8] |= chance_below(c, 2) << (7 - i % 8);
	for (i = 0; i < budgets; i++) {
		record.admitted[i] = random_number(c);
		if (record.admitted[i] > FLEET_ADMITTED_MAX)
			record.admitted[i] = FLEET_ADMITTED_MAX;
	}
	return record;
}

static void test_again(void **state)
{
	struct unit_runs runs = unit_runs(2000);
	struct fleet_record records[100], record;
	struct fleet_reader reader;
	struct fleet_head head;
	unsigned int count, i;
	struct chance c;
	uint64_t run;

	for (run = runs.first; run < runs.end; run++) {
		c = chance_of(run);
		head = random_head(&c);
		count = chance_below(&c, 100);
		fleet_announce_begin(&writer, &head);
		for (i = 0; i < count; i++) {
			records[i] = random_record(&c, head.budgets);
			check(fleet_announce_put(&writer, &records[i]), "run %llu: no room",
			      (unsigned long long)run);
		}
		check(!fleet_announce_read(&reader, writer.data, writer.size), "run %llu",
		      (unsigned long long)run);
		check(!strcmp(reader.head.host, head.host) && reader.head.run == head.run &&
		      reader.head.number == head.number && reader.head.age_ms == head.age_ms &&
		      reader.head.interval_ms == head.interval_ms &&
		      reader.head.budgets == head.budgets, "run %llu", (unsigned long long)run);
		for (i = 0; i < count; i++)
			check(fleet_announce_next(&reader, &record) &&
			      !memcmp(&record.source, &records[i].source, sizeof(record.source)) &&
			      !memcmp(record.admitted, records[i].admitted,
				      sizeof(record.admitted)), "run %llu, %u",
			      (unsigned long long)run, i);
		check(!fleet_announce_next(&reader, &record), "run %llu", (unsigned long long)run);
		/* Cut off anywhere but between two records, it is malformed. */
		check(!count || fleet_announce_read(&reader, writer.data, writer.size - 1),
		      "run %llu: it is read without its end", (unsigned long long)run);
	}
}

static void test_full(void **state)
{
	const struct fleet_head head = {
		.host = "web1", .number = 1, .interval_ms = 10, .budgets = 1,
	};
	struct fleet_record record = {
		.source = { AF_INET, 32, { 192, 0, 2, 1 } }, .admitted = { 7 },
	};
	struct fleet_reader reader;
	unsigned int count = 0;

	fleet_announce_begin(&writer, &head);
	while (fleet_announce_put(&writer, &record))
		count++;
	check(count > 8000 && writer.size <= FLEET_ANNOUNCE_SIZE, "%u in %zu bytes", count,
	      writer.size);
	assert_int_equal(fleet_announce_read(&reader, writer.data, writer.size), 0);
	while (fleet_announce_next(&reader, &record))
		count--;
	assert_int_equal(count, 0);
}

/* A head, then records. */
#define HEAD	"\1wxyzwxyz\0\0\0\1\0\12\0\0\1\4web1"

static void test_malformed(void **state)
{
	static const struct {
		const char *what, *data;
		size_t size;
		int is;
	} cases[] = {
#define CASE(is, what, text)	{ what, text, sizeof(text) - 1, is }
		CASE(0, "no record", HEAD),
		CASE(0, "all sources", HEAD "\0\0\5"),
		CASE(0, "an address", HEAD "\4\40\300\0\2\1\5"),
		CASE(0, "a prefix", HEAD "\6\20\40\1\5\4\11\12\200\5"),
		CASE(-EINVAL, "nothing", ""),
		CASE(-EINVAL, "another version", "\2wxyzwxyz\0\0\0\1\0\12\0\0\1\4web1"),
		CASE(-EINVAL, "number 0", "\1wxyzwxyz\0\0\0\0\0\12\0\0\1\4web1"),
		CASE(-EINVAL, "interval 9", "\1wxyzwxyz\0\0\0\1\0\11\0\0\1\4web1"),
		CASE(-EINVAL, "interval 1001", "\1wxyzwxyz\0\0\0\1\3\351\0\0\1\4web1"),
		CASE(-EINVAL, "no budget", "\1wxyzwxyz\0\0\0\1\0\12\0\0\0\4web1"),
		CASE(-EINVAL, "5 budgets", "\1wxyzwxyz\0\0\0\1\0\12\0\0\5\4web1"),
		CASE(-EINVAL, "no name", "\1wxyzwxyz\0\0\0\1\0\12\0\0\1\0"),
		CASE(-EINVAL, "a long name", "\1wxyzwxyz\0\0\0\1\0\12\0\0\1\5web1"),
		CASE(-EINVAL, "a NUL in a name", "\1wxyzwxyz\0\0\0\1\0\12\0\0\1\4web\0"),
		CASE(-EINVAL, "a name of a path", "\1wxyzwxyz\0\0\0\1\0\12\0\0\1\4w/.."),
		CASE(-EINVAL, "another kind", HEAD "\5\40\300\0\2\1\5"),
		CASE(-EINVAL, "33 bits", HEAD "\4\41\300\0\2\1\200\5"),
		CASE(-EINVAL, "129 bits", HEAD "\6\201\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\200\5"),
		CASE(-EINVAL, "bits behind the prefix", HEAD "\4\11\12\300\5"),
		CASE(-EINVAL, "a number in too many bytes", HEAD "\0\0\205\0"),
		CASE(-EINVAL, "a number without its end", HEAD "\0\0\205"),
		CASE(-EINVAL, "2^57 + 1", HEAD "\0\0\201\200\200\200\200\200\200\200\2"),
		CASE(0, "2^57", HEAD "\0\0\200\200\200\200\200\200\200\200\2"),
		CASE(-EINVAL, "-1", HEAD "\0\0\377\377\377\377\377\377\377\377\377\1"),
		CASE(-EINVAL, "a kind alone", HEAD "\4"),
#undef CASE
	};
	static uint8_t large[FLEET_ANNOUNCE_SIZE + 3] = HEAD;
	struct fleet_reader reader;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check(fleet_announce_read(&reader, cases[i].data, cases[i].size) == cases[i].is,
		      "%s", cases[i].what);
	/* Records of nothing for all sources, but too many. */
	for (i = sizeof(HEAD) - 1; i + 3 <= sizeof(large); i += 3)
		large[i] = 0;
	assert_int_equal(fleet_announce_read(&reader, large, i), -EINVAL);
}

UNIT_MAIN("fleet_announce", T(test_again), T(test_full), T(test_malformed))
