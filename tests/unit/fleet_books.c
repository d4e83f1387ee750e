// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Books of hosts that share a limit: what is announced and charged. Random hosts with tables of
 * slots, of which all that was admitted is announced once, and added everywhere; and what peers
 * may not bring about.
 */
#include <sys/socket.h>

#include "fleet/books.h"
#include "unit.h"

#define HOSTS		3
#define SOURCES		5
#define REACH		4
#define BUDGET		1000u
#define SLOT_MS		100
#define INTERVAL_MS	20

static const struct fleet_shape shape = {
	.budgets = 2,
	.ring = {
		{ .budget = BUDGET, .slot_ns = SLOT_MS * 1000000ull, .reach = REACH },
		{ .budget = 50 * BUDGET, .slot_ns = 3 * SLOT_MS * 1000000ull, .reach = 1 },
	},
};

struct host {
	struct fleet_books *books;
	uint64_t own[SOURCES][2][64];	/* admitted here, by slot */
	uint64_t added[SOURCES][2][64];	/* for others */
	uint64_t told[SOURCES][2], charged[SOURCES][2];
	uint64_t slot[2];	/* of the last dump */
};

static struct host hosts[HOSTS];
static struct fleet_writer writer;

static struct weir_prefix prefix_of(unsigned int source)
{
	return (struct weir_prefix){ AF_INET, 32, { 192, 0, 2, source } };
}

static void set_clock(struct host *host, int64_t ms)
{
	struct fleet_clock clock[2];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		host->slot[i] = ms / (i ? 3 * SLOT_MS : SLOT_MS);
		clock[i] = (struct fleet_clock){ .slot = host->slot[i] };
	}
	fleet_books_clock(host->books, clock, ms);
}

static void dump(struct host *host, unsigned int source)
{
	struct weir_prefix prefix = prefix_of(source);
	uint64_t ring[2][REACH + 1] = { 0 };
	const uint64_t *const numbers[] = { ring[0], ring[1] };
	unsigned int count[] = { REACH + 1, 2 }, i, n;
	uint64_t slot;

	for (i = 0; i < 2; i++)
		for (n = 0; n < count[i] && n <= host->slot[i]; n++) {
			slot = host->slot[i] - n;
			ring[i][n] = host->own[source][i][slot] + host->added[source][i][slot];
		}
	fleet_books_dumped(host->books, &prefix, numbers, count);
}

static void add(const struct weir_prefix *source, const uint64_t amount[], void *data)
{
	struct host *host = data;
	unsigned int i, s = source->addr[3];

	for (i = 0; i < 2; i++) {
		host->added[s][i][host->slot[i]] += amount[i];
		host->charged[s][i] += amount[i];
	}
}

static void begin(uint64_t run)
{
	char name[] = "web0";
	unsigned int i;

	memset(hosts, 0, sizeof(hosts));
	for (i = 0; i < HOSTS; i++) {
		name[3] = '0' + i;
		hosts[i].books = fleet_books_new(name, run + 1, &shape, INTERVAL_MS);
		check(hosts[i].books, "no memory");
	}
}

static void end(void)
{
	unsigned int i;

	for (i = 0; i < HOSTS; i++)
		fleet_books_free(hosts[i].books);
}

/* Let everybody else hear what a host announces. */
static void announce(struct host *host, int64_t ms)
{
	struct fleet_record record;
	struct fleet_reader reader;
	unsigned int i;

	if (!fleet_books_announce(host->books, 0, &writer))
		return;
	for (i = 0; i < HOSTS; i++)
		check(!fleet_books_hear(hosts[i].books, writer.data, writer.size, ms), "malformed");
	check(!fleet_announce_read(&reader, writer.data, writer.size), "malformed");
	while (fleet_announce_next(&reader, &record))
		for (i = 0; i < 2; i++)
			host->told[record.source.addr[3]][i] += record.admitted[i];
}

static void admit(struct host *host, unsigned int source, int64_t ms, uint64_t packets)
{
	host->own[source][0][ms / SLOT_MS] += packets;
	host->own[source][1][ms / (3 * SLOT_MS)] += 40 * packets;
}

static uint64_t total(uint64_t of[64])
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < 64; i++)
		sum += of[i];
	return sum;
}

/*
 * What was admitted after the first slot is announced once, whatever was added meanwhile; and
 * each host has charged at least that.
 */
static void check_all(uint64_t run)
{
	unsigned int h, s, i, other;
	uint64_t own, told;

	for (s = 0; s < SOURCES; s++)
		for (i = 0; i < 2; i++)
			for (h = 0; h < HOSTS; h++) {
				own = total(hosts[h].own[s][i]) - hosts[h].own[s][i][0];
				check(hosts[h].told[s][i] == own,
				      "run %llu, host %u, source %u, budget %u: %llu, not %llu",
				      (unsigned long long)run, h, s, i,
				      (unsigned long long)hosts[h].told[s][i],
				      (unsigned long long)own);
				for (other = 0, told = 0; other < HOSTS; other++)
					told += other == h ? 0 : hosts[other].told[s][i];
				check(hosts[h].charged[s][i] >= told,
				      "run %llu, host %u, source %u, budget %u: %llu for %llu",
				      (unsigned long long)run, h, s, i,
				      (unsigned long long)hosts[h].charged[s][i],
				      (unsigned long long)told);
			}
}

static void test_random(void **state)
{
	struct unit_runs runs = unit_runs(300);
	struct chance c;
	unsigned int h, s;
	int64_t ms;
	uint64_t run;

	for (run = runs.first; run < runs.end; run++) {
		c = chance_of(run);
		begin(run);
		/* The past, which nobody announces. */
		for (h = 0; h < HOSTS; h++)
			admit(&hosts[h], chance_below(&c, SOURCES), 50, 7);
		for (ms = 60; ms < 4000; ms += 5) {
			if (ms >= 300 && ms < 3900 && chance_one_in(&c, 3))
				admit(&hosts[chance_below(&c, HOSTS)], chance_below(&c, SOURCES),
				      ms, chance_below(&c, chance_one_in(&c, 9) ? 500 : 5));
			for (h = 0; h < HOSTS; h++) {
				if ((ms + 5 * h) % INTERVAL_MS)
					continue;
				set_clock(&hosts[h], ms);
				for (s = 0; s < SOURCES; s++)
					dump(&hosts[h], s);
				announce(&hosts[h], ms);
			}
			for (h = 0; h < HOSTS; h++)
				fleet_books_charge(hosts[h].books, ms, add, &hosts[h]);
		}
		check_all(run);
		end();
	}
}

static void hear(struct host *host, const char *name, uint64_t run, uint32_t number,
		 uint64_t admitted, int64_t ms)
{
	struct fleet_head head = {
		.run = run, .number = number, .interval_ms = INTERVAL_MS, .budgets = 2,
	};
	struct fleet_record record = { .source = prefix_of(1), .admitted = { admitted, 0 } };

	strcpy(head.host, name);
	fleet_announce_begin(&writer, &head);
	check(fleet_announce_put(&writer, &record), "no room");
	check(!fleet_books_hear(host->books, writer.data, writer.size, ms), "malformed");
	fleet_books_charge(host->books, ms, add, host);
}

/* What is charged in advance is as much as the last time, until it is announced. */
static void test_advance(void **state)
{
	struct host *host = hosts;

	begin(0);
	set_clock(host, 1000);
	hear(host, "other", 1, 1, 10, 1000);
	assert_int_equal(host->charged[1][0], 20);
	hear(host, "other", 1, 2, 10, 1020);
	assert_int_equal(host->charged[1][0], 30);
	hear(host, "other", 1, 3, 4, 1040);
	assert_int_equal(host->charged[1][0], 30);
	hear(host, "other", 1, 4, 20, 1060);
	/* 44 were announced; 20 more are expected */
	assert_int_equal(host->charged[1][0], 64);
	/* In another slot the credit has ended. */
	set_clock(host, 1100);
	hear(host, "other", 1, 5, 1, 1100);
	assert_int_equal(host->charged[1][0], 66);
	/* It is not charged more than is left. */
	hear(host, "other", 1, 6, 600, 1120);
	assert_in_range(host->charged[1][0], BUDGET, BUDGET);
	end();
}

/* All of what is left, in proportion to what each announced. */
static void test_parts(void **state)
{
	struct host *host = hosts;

	begin(0);
	set_clock(host, 1000);
	hear(host, "one", 1, 1, 200, 1000);
	assert_int_equal(host->charged[1][0], 400);
	hear(host, "two", 1, 1, 400, 1000);
	/* 400 are left, of which one is expected to admit a third */
	assert_int_equal(host->charged[1][0], 200 + 400 + 200 + 400 * 400 / 600);
	end();
}

static void test_peers(void **state)
{
	const struct fleet_books_counts *counts;
	struct host *host = hosts;
	uint64_t charged;
	uint32_t i;

	begin(0);
	counts = fleet_books_counts(host->books);
	/* Before the books have begun nothing is taken, nor ever from the host itself. */
	hear(host, "other", 1, 1, 10, 1000);
	set_clock(host, 1000);
	hear(host, "web0", 1, 2, 10, 1000);
	assert_int_equal(host->charged[1][0], 0);
	assert_int_equal(fleet_books_peers(host->books, 1000, 1000), 0);
	hear(host, "other", 1, 3, 10, 1000);
	assert_int_equal(fleet_books_peers(host->books, 1000, 1000), 1);
	charged = host->charged[1][0];
	/* twice, and an earlier one */
	hear(host, "other", 1, 3, 10, 1020);
	hear(host, "other", 1, 2, 10, 1020);
	assert_int_equal(counts->repeated, 2);
	assert_int_equal(host->charged[1][0], charged);
	hear(host, "other", 1, 6, 0, 1040);
	assert_int_equal(counts->lost, 2);
	/* anew, with lower numbers: what was charged in advance is no credit any more */
	hear(host, "other", 2, 1, 10, 1060);
	assert_int_equal(counts->repeated, 2);
	assert_int_equal(counts->lost, 2);
	assert_int_equal(host->charged[1][0], charged + 20);
	/* more than a budget */
	hear(host, "other", 2, 2, FLEET_ADMITTED_MAX, 1080);
	assert_int_equal(counts->capped, 1);
	assert_in_range(host->charged[1][0], BUDGET, BUDGET + charged + 20);
	/* too often */
	for (i = 3; i < 100; i++)
		hear(host, "other", 2, i, 1, 1081);
	assert_in_range(counts->babbled, 80, 96);
	/* of a limit that is another one there */
	assert_int_equal(fleet_books_hear(host->books, "x", 1, 1100), -EINVAL);
	assert_int_equal(counts->malformed, 1);
	/* It does not come any more: forgotten, and with it what its hosts may leave unsaid. */
	assert_int_equal(fleet_books_least(host->books), BUDGET / 8 / 2);
	for (i = 0; i < 4; i++) {
		set_clock(host, 70000 + 1000 * i);
		fleet_books_announce(host->books, 0, &writer);
	}
	assert_int_equal(fleet_books_least(host->books), BUDGET / 8);
	end();
}

/* A message that has a source twice. */
static void test_twice(void **state)
{
	struct fleet_head head = {
		.host = "other", .number = 1, .interval_ms = INTERVAL_MS, .budgets = 2,
	};
	struct fleet_record record = { .source = prefix_of(1), .admitted = { BUDGET, 0 } };
	struct host *host = hosts;

	begin(0);
	set_clock(host, 1000);
	fleet_announce_begin(&writer, &head);
	fleet_announce_put(&writer, &record);
	fleet_announce_put(&writer, &record);
	check(!fleet_books_hear(host->books, writer.data, writer.size, 1000), "malformed");
	fleet_books_charge(host->books, 1000, add, host);
	assert_int_equal(host->charged[1][0], BUDGET);
	assert_int_equal(fleet_books_counts(host->books)->capped, 1);
	end();
}

/* A peer may not fill the books. */
static void test_full(void **state)
{
	struct fleet_head head = { .run = 1, .interval_ms = INTERVAL_MS, .budgets = 2 };
	struct fleet_record record = { .source = { .family = AF_INET, .len = 32 }, .admitted = { 1, 1 } };
	const struct fleet_books_counts *counts;
	struct host *host = hosts;
	uint64_t sent = 0;
	unsigned int i, peer;

	begin(0);
	set_clock(host, 1000);
	counts = fleet_books_counts(host->books);
	for (peer = 0; peer < 6; peer++)
		for (head.number = 1; head.number <= 4; head.number++) {
			sprintf(head.host, "peer%u", peer);
			fleet_announce_begin(&writer, &head);
			for (i = 0; i < 5000; i++, sent++) {
				memcpy(record.source.addr, &sent, 4);
				fleet_announce_put(&writer, &record);
			}
			check(!fleet_books_hear(host->books, writer.data, writer.size, 1000),
			      "malformed");
		}
	assert_int_equal(counts->heard, sent);
	/* Each may have so many, and together they fill the table. */
	assert_int_equal(counts->no_room, sent - FLEET_SOURCES_MAX);
	end();
}

/* What the module begins a source with that it had forgotten is nothing that came. */
static void test_floor(void **state)
{
	struct weir_prefix prefix = prefix_of(1);
	struct fleet_clock clock[] = { { .slot = 10 }, { .slot = 3 } };
	uint64_t ring[REACH + 1] = { 5 }, bytes[] = { 200 };
	const uint64_t *const numbers[] = { ring, bytes };
	const unsigned int count[] = { REACH + 1, 1 };
	struct fleet_record record;
	struct fleet_reader reader;
	struct host *host = hosts;

	begin(0);
	set_clock(host, 500);
	assert_true(fleet_books_announce(host->books, 0, &writer));
	fleet_books_clock(host->books, clock, 1000);
	fleet_books_dumped(host->books, &prefix, numbers, count);
	assert_true(fleet_books_announce(host->books, 0, &writer));
	clock[0].since = 10;
	ring[0] = 7;
	ring[1] = 90;
	fleet_books_clock(host->books, clock, 1020);
	fleet_books_dumped(host->books, &prefix, numbers, count);
	assert_true(fleet_books_announce(host->books, 0, &writer));
	assert_int_equal(fleet_announce_read(&reader, writer.data, writer.size), 0);
	assert_true(fleet_announce_next(&reader, &record));
	assert_int_equal(record.admitted[0], 2);
	end();
}

/* What does not fit goes later, and the largest first. */
static void test_pressure(void **state)
{
	struct weir_prefix prefix = { .family = AF_INET6, .len = 128 };
	struct fleet_clock clock[2] = { { .slot = 10 }, { .slot = 3 } };
	const unsigned int count[] = { 1, 1 }, sources = 4000;
	const struct fleet_books_counts *counts;
	uint64_t first, amount, bytes = 1, least = UINT64_MAX;
	const uint64_t *const numbers[] = { &amount, &bytes };
	struct fleet_record record;
	struct fleet_reader reader;
	struct host *host = hosts;
	unsigned int i;

	begin(0);
	set_clock(host, 500);
	assert_true(fleet_books_announce(host->books, 0, &writer));
	fleet_books_clock(host->books, clock, 1000);
	counts = fleet_books_counts(host->books);
	for (i = 0; i < sources; i++) {
		memcpy(prefix.addr, &i, sizeof(i));
		amount = i % 500 + 1;
		fleet_books_dumped(host->books, &prefix, numbers, count);
	}
	assert_true(fleet_books_announce(host->books, 0, &writer));
	first = counts->announced;
	assert_in_range(first, 2000, sources - 1);
	assert_int_equal(counts->left_out, sources - first);
	assert_int_equal(fleet_announce_read(&reader, writer.data, writer.size), 0);
	while (fleet_announce_next(&reader, &record))
		least = record.admitted[0] < least ? record.admitted[0] : least;
	assert_in_range(least, 500 * (sources - first) / sources - 1, 500);
	assert_true(fleet_books_announce(host->books, 0, &writer));
	assert_int_equal(counts->announced, sources);
	/* Then it says that there are no more, and is silent. */
	assert_true(fleet_books_announce(host->books, 0, &writer));
	assert_false(fleet_books_announce(host->books, 0, &writer));
	end();
}

UNIT_MAIN("fleet_books", T(test_random), T(test_advance), T(test_parts), T(test_peers),
	  T(test_twice), T(test_full), T(test_floor), T(test_pressure))
