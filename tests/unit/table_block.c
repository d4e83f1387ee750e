// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Blocked sources against a list of ends: who is blocked is refused until then and never
 * evicted, at most half of the entries are, and what was sent stays counted.
 */
#include "table/counts.h"
#include "table_twin.h"

#define SOURCES	24
#define ENTRIES	6
#define SETS	2

static struct {
	struct weir_table *table;
	u64 tick, run;
	u64 blocked[SOURCES];	/* tick at which its block ends, WEIR_NEVER, or 0 */
	bool first[SOURCES];	/* its block ended since it was refused last */
	struct twin_history history[SOURCES];
	struct chance c;
	u64 refused, full, ended, moved, evicted;
	struct weir_source_state state[WEIR_ENTRIES_MAX];
} t;

#define BUDGET	5

/* Of the packets, and of the bytes, of which a packet has one. */
static const u64 budgets[WEIR_BUDGETS_MAX] = { BUDGET, 2 * BUDGET }, none[WEIR_BUDGETS_MAX];

static u64 below(u64 n)
{
	return chance_below(&t.c, n);
}

static struct weir_source source_of(unsigned int i, u32 *hash)
{
	struct weir_source source = { .word = { htonl(0x0a000000 + i) } };

	*hash = weir_source_hash(&source, t.table->spec.prefix, &twin_key);
	return source;
}

static struct weir_table *table_of(bool newcomers, bool further)
{
	struct weir_table_spec spec = {
		.meter[0] = { .budget = BUDGET, .slot_ticks = 40, .slots = 4 },
		.sources = 64, .newcomers = newcomers, .prefix = { 32, 64 },
	};
	struct weir_table *table;

	if (further)
		spec.meter[1] = (struct weir_meter_spec) {
			.budget = 2 * BUDGET, .slot_ticks = 160, .slots = 4, .bytes = true,
		};
	table = weir_table_alloc(&spec, t.tick);

	assert_false(IS_ERR(table));
	twin_shrink(table, SETS, ENTRIES);
	return table;
}

/* An end as the table keeps it. */
static u64 end_of(u64 end)
{
	return end == WEIR_NEVER ? end : DIV_ROUND_UP(end, WEIR_SINCE_TICKS) * WEIR_SINCE_TICKS;
}

static bool is_blocked(unsigned int i)
{
	return t.blocked[i] > t.tick;
}

/* Blocked sources of a set. */
static unsigned int quota(u32 set)
{
	unsigned int i, n = 0;
	u32 hash;

	for (i = 0; i < SOURCES; i++) {
		source_of(i, &hash);
		n += is_blocked(i) && (hash & t.table->mask) == set;
	}
	return n;
}

static void block(unsigned int i, enum weir_block how)
{
	struct weir_lookup lookup = { .tick = t.tick, .budgets = none }; /* needs no room */
	u64 end = below(8) ? t.tick + WEIR_SINCE_TICKS * (1 + below(20)) : WEIR_NEVER;
	struct weir_source source = source_of(i, &lookup.hash);
	struct weir_source_state state;
	u64 slot[WEIR_SLOTS_MAX + 1];
	bool was = is_blocked(i), entry;
	int want = 0, ret;

	/* As who puts back what was. */
	if (was && !below(4))
		end = t.blocked[i];
	if (how >= WEIR_BLOCK_PUNISH)
		end = min(end, t.tick + 100000);
	lookup.source = &source;
	twin_leave();
	weir_table_peek(t.table, &source, lookup.hash, t.tick, budgets, NULL, &state, slot);
	twin_enter();
	entry = !state.floor;
	check(entry || !was, "run %llu: a blocked source has no entry", t.run);
	if (how >= WEIR_BLOCK_PUNISH && !entry)
		want = -ENOENT;
	else if (was && (how == WEIR_BLOCK_ADD || how == WEIR_BLOCK_PUNISH ||
			 (how != WEIR_BLOCK_REPLACE && end_of(end) <= t.blocked[i])))
		want = -EEXIST;
	else if (!was && quota(lookup.hash & t.table->mask) == ENTRIES / 2)
		want = -ENOSPC;
	ret = weir_table_block(t.table, &lookup, end, how);
	check(ret == want || (ret == 1 && !want && !entry), "run %llu: %d instead of %d", t.run,
	      ret, want);
	t.full += ret == -ENOSPC;
	t.evicted += ret == 1;
	if (ret >= 0)
		t.blocked[i] = end_of(end);
}

static void release(unsigned int i, bool forget)
{
	bool was = is_blocked(i), released;
	struct weir_source source;
	u32 hash;

	source = source_of(i, &hash);
	twin_leave();
	released = forget ? weir_table_forget(t.table, &source, hash, t.tick) :
		   weir_table_release(t.table, &source, hash, t.tick);
	twin_enter();
	check(forget ? released || !was : released == was, "run %llu: released or not?", t.run);
	t.blocked[i] = 0;
	if (forget)
		twin_forget(&t.history[i]);
	else if (was)
		t.first[i] = true;
}

static void packet(unsigned int i)
{
	const struct weir_permit permit = { .known_ticks = 100, .late = below(2) };
	struct weir_lookup lookup = {
		.tick = t.tick, .budgets = budgets, .amount = { 1, 1 },
	};
	struct weir_source source = source_of(i, &lookup.hash);
	bool ended = t.blocked[i] && !is_blocked(i);
	u16 result;

	lookup.source = &source;
	result = below(2) ? weir_table_refuse(t.table, &lookup) : 0;
	if (!result)
		result = weir_table_charge(t.table, &lookup);
	if (result == WEIR_NEWCOMER)
		result = weir_table_admit(t.table, &lookup, &permit);
	check(!(result & WEIR_BLOCKED) == !is_blocked(i), "run %llu: result %x, blocked %d", t.run,
	      result, is_blocked(i));
	if (result & WEIR_BLOCKED) {
		check(result == (WEIR_REFUSED | WEIR_BLOCKED), "run %llu: %x", t.run, result);
		check(weir_budgets_until(t.table, &lookup, 0) == t.blocked[i], "run %llu", t.run);
		check(lookup.seq == lookup.entry->seq.sequence, "run %llu: a stale seqcount", t.run);
		t.refused++;
		return;
	}
	if (ended)
		t.first[i] = true;
	t.ended += ended;
	t.blocked[i] = 0;
	if (result & WEIR_CHARGED)
		twin_admit(&t.history[i], t.tick, 1);
	check(twin_most(&t.history[i], t.table->spec.meter[0].slot_ticks * 4, t.tick) <= BUDGET,
	      "run %llu: more than the budget", t.run);
	if (result & WEIR_REFUSED && !(result & WEIR_FLOORED)) {
		check(!t.first[i] || result & WEIR_FIRST,
		      "run %llu: not the first refusal after a block", t.run);
		t.first[i] = false;
	}
	if (result & (WEIR_EVICTED | WEIR_FLOORED))
		t.first[i] = false;
}

/* All that are blocked are seen as that, and no others. */
static void walk(void)
{
	unsigned int i, n, seen = 0, want = 0;
	u32 set;

	for (i = 0; i < SOURCES; i++)
		want += is_blocked(i);
	for (set = 0; set < SETS; set++) {
		n = weir_table_walk(t.table, set, t.tick, budgets, NULL, false, t.state);
		while (n--) {
			i = ntohl(t.state[n].source.word[0]) - 0x0a000000;
			seen += !!t.state[n].blocked;
			check(t.state[n].blocked == (!is_blocked(i) ? 0 :
			      t.blocked[i] == WEIR_NEVER ? WEIR_NEVER : t.blocked[i] - t.tick),
			      "run %llu: blocked for %llu", t.run, t.state[n].blocked);
			check(t.state[n].wait >= t.state[n].blocked, "run %llu", t.run);
		}
	}
	check(seen == want, "run %llu: %u of %u blocks are seen", t.run, seen, want);
}

static u64 now(void)
{
	return t.tick;
}

static void move(void)
{
	struct weir_table *old = t.table, *next = table_of(below(2), below(2));

	t.tick++;
	shim_clock = now;
	weir_table_succeed(next, old, budgets, budgets, &twin_key);
	t.table = next;
	twin_enter();
	packet(below(SOURCES));
	twin_leave();
	weir_table_drain(next);
	check(!weir_table_unblocked(next), "run %llu: a block is lost in a table of the same size", t.run);
	synchronize_rcu();
	weir_table_free(old);
	memset(t.first, 0, sizeof(t.first));
	t.moved++;
}

static void step(void)
{
	unsigned int i = below(SOURCES);

	switch (below(64)) {
	case 0 ... 3:
		block(i, below(5));
		break;
	case 4:
		release(i, !below(4));
		break;
	case 5 ... 9:
		t.tick += below(below(8) ? 40 : 4 * WEIR_SINCE_TICKS);
		break;
	case 10:
		walk();
		break;
	case 11:
		if (below(8))
			break;
		twin_leave();
		weir_table_age(t.table, t.tick);
		twin_enter();
		break;
	case 12:
		if (below(8))
			break;
		twin_leave();
		move();
		twin_enter();
		break;
	default:
		packet(i);
	}
}

static void test_block(void **state)
{
	struct unit_runs runs = unit_runs(400);
	unsigned int i;
	u64 run;

	for (run = runs.first; run < runs.end; run++) {
		t.c = chance_of(run);
		t.run = run;
		t.tick = below(BIT_ULL(36));
		memset(t.blocked, 0, sizeof(t.blocked));
		memset(t.first, 0, sizeof(t.first));
		t.table = table_of(below(2), below(2));
		twin_enter();
		for (i = 0; i < 3000; i++)
			step();
		walk();
		twin_leave();
		for (i = 0; i < SETS; i++) {
			weir_table_clear(t.table, i);
			check(!weir_table_walk(t.table, i, t.tick, budgets, NULL, false, t.state),
			      "run %llu: cleared", t.run);
		}
		synchronize_rcu();
		weir_table_free(t.table);
		for (i = 0; i < SOURCES; i++)
			twin_forget(&t.history[i]);
	}
	print_message("# %llu runs: %llu refused, %llu blocks ended, %llu without room, %llu evicted for one, %llu tables moved\n",
		      runs.end - runs.first, t.refused, t.ended, t.full, t.evicted, t.moved);
	assert_true(t.refused && t.ended && t.full && t.evicted && t.moved);
	assert_int_equal(shim_allocations, 0);
}

/* Blocks of both sets, or of the last alone, move to one set. */
static void shrink(bool last)
{
	struct weir_lookup lookup = { .budgets = budgets, .amount = { 1 } };
	struct weir_table *old;
	struct weir_source source;
	unsigned int i, kept = 0;
	u64 evicted;

	t.tick = 1000;
	lookup.tick = t.tick;
	t.table = table_of(false, false);
	old = t.table;
	for (i = 0; i < 2 * ENTRIES; i++) {
		source = source_of(i, &lookup.hash);
		lookup.hash = i % SETS | i << 16;
		lookup.source = &source;
		twin_enter();
		weir_table_charge(old, &lookup);
		if (i < ENTRIES && (!last || i % SETS))
			assert_int_equal(weir_table_block(old, &lookup, WEIR_NEVER,
							  WEIR_BLOCK_ADD), 0);
		twin_leave();
	}
	t.table = table_of(false, false);
	twin_shrink(t.table, 1, ENTRIES);
	shim_clock = now;
	weir_table_succeed(t.table, old, budgets, budgets, &twin_key);
	evicted = weir_table_drain(t.table);
	synchronize_rcu();
	weir_table_free(old);
	i = weir_table_walk(t.table, 0, t.tick, budgets, NULL, false, t.state);
	assert_int_equal(i, ENTRIES);
	while (i--)
		kept += t.state[i].blocked == WEIR_NEVER;
	assert_int_equal(kept, ENTRIES / 2);
	assert_int_equal(weir_table_unblocked(t.table), last ? 0 : ENTRIES - ENTRIES / 2);
	assert_int_equal(evicted, ENTRIES);
	synchronize_rcu();
	weir_table_free(t.table);
}

/* A smaller table keeps blocks up to its quota, evicts others for them, and counts the rest. */
static void test_shrink(void **state)
{
	shrink(false);
	shrink(true);
}

/* Charge one packet. */
static u16 charge(unsigned int i)
{
	struct weir_lookup lookup = { .tick = t.tick, .budgets = budgets, .amount = { 1 } };
	struct weir_source source = source_of(i, &lookup.hash);
	u16 result;

	lookup.source = &source;
	twin_enter();
	result = weir_table_charge(t.table, &lookup);
	twin_leave();
	return result;
}

/* A block that takes an entry evicts nobody who is idle, and leaves the floor in the present. */
static void test_slot(void **state)
{
	const u64 ticks[] = { 1000, BIT_ULL(31) + 1000, BIT_ULL(32) - 1000 };
	struct weir_lookup lookup = { .budgets = budgets };
	struct weir_source source;
	unsigned int n, i;

	for (n = 0; n < ARRAY_SIZE(ticks); n++) {
		t.tick = 40 * ticks[n];
		t.table = table_of(false, false);
		twin_shrink(t.table, 1, ENTRIES);
		for (i = 0; i < ENTRIES; i++)
			assert_int_equal(charge(i), WEIR_CHARGED);
		t.tick += 1000;
		source = source_of(ENTRIES, &lookup.hash);
		lookup.source = &source;
		lookup.tick = t.tick;
		twin_enter();
		assert_int_equal(weir_table_block(t.table, &lookup, WEIR_NEVER, WEIR_BLOCK_ADD), 0);
		twin_leave();
		for (i = 0; i < 2 * BUDGET; i++) {
			/* A newcomer, which gets its budget again when the window has passed. */
			t.tick += i == BUDGET ? 1000 : 0;
			check(charge(ENTRIES + 1) == WEIR_CHARGED, "%u of %u: not charged", i, n);
		}
		synchronize_rcu();
		weir_table_free(t.table);
	}
}

UNIT_MAIN("table_block", T(test_block), T(test_shrink), T(test_slot))
