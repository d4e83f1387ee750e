// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Races with another CPU between two steps of a packet, forced by callbacks: stale
 * hints, changed sequence counts, sets moved in between.
 */
#include "table_twin.h"

static struct weir_table *table, *next;
static u64 now;

struct sender {
	struct weir_source source;
	struct weir_lookup lookup;
};

static u64 test_clock(void)
{
	return now;
}

static const u64 ten = 10;

static struct weir_table *make_table(u8 slots, u32 sources)
{
	struct weir_table_spec spec = {
		.meter[0] = { .budget = 10, .slot_ticks = 1, .slots = slots },
		.sources = sources, .prefix = { 32, 64 },
	};
	struct weir_table *t = weir_table_alloc(&spec, now);

	assert_false(IS_ERR(t));
	return t;
}

static void begin(u8 slots, u32 sources)
{
	now = 1000;
	table = make_table(slots, sources);
	next = NULL;
	twin_enter();
}

static void end(void)
{
	shim_reading = NULL;
	shim_locking = NULL;
	twin_leave();
	weir_table_free(table);
	weir_table_free(next);
	assert_int_equal(shim_allocations, 0);
}

static void lay_out(struct sender *s, unsigned int i, u64 cost)
{
	s->source = (struct weir_source) { .word[0] = htonl(i) };
	s->lookup = (struct weir_lookup) {
		.source = &s->source, .tick = now, .amount = { cost }, .budgets = &ten,
		.hash = weir_source_hash(&s->source, (struct weir_prefix) { 32, 64 },
					 &twin_key),
	};
}

static u8 packet(struct weir_table *t, unsigned int i, u64 cost)
{
	struct sender s;

	lay_out(&s, i, cost);
	return twin_packet(t, &s.lookup);
}

static struct weir_source_state stand(struct weir_table *t, unsigned int i)
{
	struct weir_source_state state;
	u64 slot[WEIR_SLOTS_MAX + 1];
	struct sender s;

	lay_out(&s, i, 1);
	weir_table_peek(t, &s.source, s.lookup.hash, now, &ten, NULL, &state, slot);
	return state;
}

/* Send from other sources until @i is evicted. */
static void evict(unsigned int i)
{
	unsigned int other = 100;

	while (!stand(table, i).floor)
		packet(table, other++, 1);
}

static struct weir_entry *entry_of(unsigned int i)
{
	struct sender s;

	lay_out(&s, i, 1);
	return weir_set_search(table, weir_set(table, s.lookup.hash), &s.source, s.lookup.hash);
}

static unsigned int home_of(unsigned int i)
{
	struct sender s;

	lay_out(&s, i, 1);
	return weir_hash_home(table, s.lookup.hash);
}

/* Two entries: source 1 has its home, the source returned, of the same home, the other. */
static unsigned int begin_pair(void)
{
	unsigned int i = 2;

	begin(4, 1);
	twin_shrink(table, 1, 2);
	while (home_of(i) != home_of(1))
		i++;
	assert_true(packet(table, 1, 2) & WEIR_CHARGED);
	assert_true(packet(table, i, 2) & WEIR_CHARGED);
	return i;
}

static unsigned int loser;

/* Give the loser's entry to another source, which fills it and is refused. */
static void give_away(void)
{
	struct weir_entry *entry = entry_of(loser);
	unsigned int i = 100;

	shim_locking = NULL;
	evict(loser);
	while (entry_of(i) != entry)
		i++;
	while (packet(table, i, 1) & WEIR_CHARGED)
		;
	packet(table, i, 1);
}

static unsigned int versions_before;

static void give_away_unread(bool began)
{
	if (began || versions_before--)
		return;
	shim_reading = NULL;
	give_away();
}

/* A source is not refused by the entry it has lost. */
static void test_refuse_stranger(void **state)
{
	unsigned int beside, other;
	struct sender s;

	for (beside = 0; beside < 2; beside++) {
		other = begin_pair();
		loser = beside ? other : 1;
		versions_before = beside;
		lay_out(&s, loser, 1);
		shim_reading = give_away_unread;
		assert_int_equal(weir_table_refuse(table, &s.lookup), 0);
		assert_null(shim_reading);
		end();
	}
}

/* An entry that the source has lost is not charged. */
static void test_charge_stranger(void **state)
{
	struct sender s;

	begin_pair();
	loser = 1;
	lay_out(&s, 1, 1);
	shim_locking = give_away;
	assert_true(weir_table_charge(table, &s.lookup) & WEIR_CHARGED);
	assert_null(shim_locking);
	assert_true(weir_entry_is(table, s.lookup.entry, &s.source));
	/* Its new entry starts from the floor, which holds at least the 2 from before. */
	assert_true(stand(table, 1).count[0] >= 3);
	end();
}

static void take_another(void)
{
	shim_locking = NULL;
	weir_table_clear(table, 0);
	assert_true(packet(table, loser, 1) & WEIR_CHARGED);
}

/* A source that gets an entry while its packet waits for a lock gets only one. */
static void charge_twice(void)
{
	struct weir_source_state all[WEIR_ENTRIES_MAX];
	unsigned int n, i, found = 0;
	struct sender s;

	lay_out(&s, loser, 1);
	shim_locking = take_another;
	assert_true(weir_table_charge(table, &s.lookup) & WEIR_CHARGED);
	assert_null(shim_locking);
	assert_int_equal(stand(table, loser).count[0], 2);
	n = weir_table_walk(table, 0, now, &ten, NULL, false, all);
	for (i = 0; i < n; i++)
		found += weir_source_same(&all[i].source, &s.source);
	assert_int_equal(found, 1);
}

static void test_one_entry(void **state)
{
	/* It had no entry, */
	begin(4, 1);
	loser = 1;
	charge_twice();
	end();
	/* or a different one. */
	loser = begin_pair();
	charge_twice();
	end();
}

/* A writer stops halfway. */
static void write_half(bool began)
{
	struct weir_entry *entry = entry_of(1);

	if (!began)
		return;
	shim_reading = NULL;
	raw_spin_lock(&entry->lock);
	write_seqcount_begin(&entry->seq);
	weir_count_advance(&table->meter[0].shape, weir_entry_count(table, entry), now);
	weir_count_add(&table->meter[0].shape, weir_entry_count(table, entry), 10);
	raw_spin_unlock(&entry->lock);
}

/* A read that races with a writer is discarded, as is one during the write. */
static void test_second_look(void **state)
{
	struct weir_entry *entry;
	struct sender s;

	begin(4, 1);
	assert_true(packet(table, 1, 10) & WEIR_CHARGED);
	assert_int_equal(packet(table, 1, 1), WEIR_REFUSED | WEIR_FIRST);
	lay_out(&s, 1, 1);
	assert_int_equal(weir_table_refuse(table, &s.lookup), WEIR_REFUSED);
	entry = s.lookup.entry;
	raw_spin_lock(&entry->lock);
	write_seqcount_begin(&entry->seq);
	local_bh_disable();
	raw_spin_unlock(&entry->lock);
	assert_int_equal(weir_table_refuse(table, &s.lookup), 0);
	raw_spin_lock(&entry->lock);
	write_seqcount_end(&entry->seq);
	raw_spin_unlock(&entry->lock);
	local_bh_enable();
	assert_int_equal(weir_table_refuse(table, &s.lookup), WEIR_REFUSED);
	now += 5;
	lay_out(&s, 1, 1);
	shim_reading = write_half;
	assert_int_equal(weir_table_refuse(table, &s.lookup), 0);
	assert_null(shim_reading);
	end();
}

static unsigned int reads_before;

/* The writer goes on, and leaves 3. */
static void write_rest(bool began)
{
	struct weir_entry *entry = entry_of(1);
	struct weir_count *count = weir_entry_count(table, entry);

	if (began || reads_before--)
		return;
	shim_reading = NULL;
	raw_spin_lock(&entry->lock);
	weir_count_init(&table->meter[0].shape, count, now);
	weir_count_add(&table->meter[0].shape, count, 3);
	write_seqcount_end(&entry->seq);
	raw_spin_unlock(&entry->lock);
}

static void write_half_first(bool began)
{
	if (!began)
		return;
	write_half(true);
	shim_reading = write_rest;
}

/* A walk without locks reads again what was written meanwhile, or is being written. */
static void test_walk_second_look(void **state)
{
	struct weir_source_state all[WEIR_ENTRIES_MAX];
	unsigned int begun;

	for (begun = 0; begun < 2; begun++) {
		begin(4, 1);
		assert_true(packet(table, 1, 10) & WEIR_CHARGED);
		reads_before = begun;
		if (begun)
			write_half(true);
		shim_reading = begun ? write_rest : write_half_first;
		assert_int_equal(weir_table_walk(table, 0, now, &ten, NULL, true, all), 1);
		assert_null(shim_reading);
		assert_int_equal(all[0].count[0], 3);
		end();
	}
}

/* A drop count is of one kind and saturates. */
static void test_dropped(void **state)
{
	struct sender s;

	begin(4, 1);
	lay_out(&s, 1, 10);
	assert_true(twin_packet(table, &s.lookup) & WEIR_CHARGED);
	weir_table_dropped(table, &s.lookup, WEIR_DROPPED_MAX - 1, false);
	assert_true(stand(table, 1).dropped == WEIR_DROPPED_MAX - 1);
	weir_table_dropped(table, &s.lookup, 5, false);
	assert_true(stand(table, 1).dropped == WEIR_DROPPED_MAX);
	assert_false(stand(table, 1).observed);
	weir_table_dropped(table, &s.lookup, U32_MAX, true);
	assert_true(stand(table, 1).dropped == WEIR_DROPPED_MAX);
	assert_true(stand(table, 1).observed);
	/* Nothing is counted for a source without an entry. */
	lay_out(&s, 2, 1);
	weir_table_dropped(table, &s.lookup, 5, false);
	assert_true(stand(table, 2).floor && !stand(table, 2).dropped);
	end();
}

static void take_over(u8 slots, u32 sources)
{
	twin_leave();
	next = make_table(slots, sources);
	shim_clock = test_clock;
	weir_table_succeed(next, table, &ten, &ten, &twin_key);
	twin_enter();
}

static void let_go(void)
{
	twin_leave();
	weir_table_drain(next);
	synchronize_rcu();
	twin_enter();
}

/* A packet that found its entry before the set moved must start again. */
static void test_moved_meanwhile(void **state)
{
	struct sender s;

	begin(4, 1);
	assert_true(packet(table, 1, 7) & WEIR_CHARGED);
	lay_out(&s, 1, 1);
	assert_int_equal(weir_table_refuse(table, &s.lookup), 0);
	take_over(4, 1);
	assert_int_equal(packet(next, 1, 4), WEIR_REFUSED | WEIR_FIRST);
	assert_int_equal(weir_table_charge(table, &s.lookup), WEIR_AGAIN);
	assert_false(weir_table_uncharge(table, &s.lookup));
	assert_true(packet(next, 1, 3) & WEIR_CHARGED);
	let_go();
	end();
}

/* A late clock does not charge before slots of an idle source that was not moved. */
static void test_moved_idle(void **state)
{
	struct sender s;

	begin(4, 1);
	assert_true(packet(table, 1, 10) & WEIR_CHARGED);
	take_over(4, 1);
	now += 5;
	lay_out(&s, 1, 10);
	/* Three slots late, within the window of the first ten */
	s.lookup.tick = now - 3;
	assert_true(twin_packet(next, &s.lookup) & WEIR_CHARGED);
	assert_int_equal((u16)(s.lookup.receipt.at[0] - s.lookup.slot[0]), 3);
	let_go();
	end();
}

/* A packet moves one set only, which bounds the locks it takes. */
static void test_one_set(void **state)
{
	unsigned int i, sources = 60, again = 0;
	unsigned long locks;

	begin(4, 60);
	assert_int_equal(weir_table_sets(table), 2);
	for (i = 0; i < sources; i++)
		assert_true(packet(table, i, 7) & WEIR_CHARGED);
	take_over(4, 200);
	locks = shim_locks;
	assert_true(packet(next, 0, 1) & WEIR_CHARGED);
	assert_true(shim_locks - locks <= 3 * WEIR_ENTRIES_MAX + 3);
	for (i = 0; i < sources; i++)
		again += packet(table, i, 1) == WEIR_AGAIN;
	assert_true(again && again < sources);
	let_go();
	for (i = 0; i < sources; i++)
		assert_true(packet(next, i, 4) & WEIR_REFUSED);
	end();
}

/* Before a lock is taken, another CPU blocks a source. */
static void block_it(void)
{
	struct sender s;

	shim_locking = NULL;
	lay_out(&s, 1, 0);
	assert_int_equal(weir_table_block(table, &s.lookup, WEIR_NEVER, WEIR_BLOCK_ADD), 0);
}

static void test_blocked_meanwhile(void **state)
{
	begin(4, 8);
	assert_true(packet(table, 1, 1) & WEIR_CHARGED);
	shim_locking = block_it;
	assert_true(packet(table, 1, 1) & WEIR_REFUSED);
	assert_int_equal(stand(table, 1).count[0], 1);
	end();
}

static unsigned int forgotten;

/* Before any lock is taken, another CPU forgets all sources. */
static void forget_always(void)
{
	u32 i;

	shim_locking = NULL;
	for (i = 0; i < weir_table_sets(table); i++)
		weir_table_clear(table, i);
	forgotten++;
	shim_locking = forget_always;
}

/* A request and a block take their entry and use it before others can take it. */
static void test_under_one_lock(void **state)
{
	struct weir_take take = { .cost = 3 };
	struct sender s;

	begin(4, 8);
	lay_out(&s, 1, 3);
	forgotten = 0;
	shim_locking = forget_always;
	assert_int_equal(weir_table_take(table, &s.lookup, &take), WEIR_CHARGED);
	assert_int_equal(forgotten, 1);
	assert_int_equal(weir_table_block(table, &s.lookup, WEIR_NEVER, WEIR_BLOCK_ADD), 0);
	assert_int_equal(forgotten, 2);
	shim_locking = NULL;
	assert_true(!stand(table, 1).count[0] && stand(table, 1).blocked);
	end();
}

UNIT_MAIN("table_race", T(test_refuse_stranger), T(test_charge_stranger), T(test_one_entry),
	  T(test_second_look), T(test_walk_second_look), T(test_dropped),
	  T(test_moved_meanwhile), T(test_moved_idle), T(test_one_set),
	  T(test_blocked_meanwhile), T(test_under_one_lock))
