// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What was saved of a table and is merged into another one. Into an empty one with slots as long
 * each source has the count and the wait that it had, and a stranger, too, whenever the clock
 * began. Whatever is there already, nobody counts for
 * less than was counted in either.
 */
#include "count/numbers.h"
#include "table/saved.h"
#include "table/state.h"
#include "table_twin.h"

#define SOURCES 24
#define STRANGER SOURCES
#define OBJECTS 512

/* What a message has of a source or a floor. */
struct object {
	struct weir_moved moved;
	struct weir_floor floor;
	bool is_floor;
	u32 set;
	u64 wanted[WEIR_BUDGETS_MAX];
	u32 refused[WEIR_BUDGETS_MAX];
	unsigned int bytes[WEIR_BUDGETS_MAX];
	u8 numbers[WEIR_BUDGETS_MAX][WEIR_NUMBERS_BYTES];
};

static struct {
	struct chance c;
	u64 run, tick, saved_at;
	unsigned int up, down;	/* ticks here for as many of the kernel that saved, one of them 1 */
	struct weir_table_spec spec;
	u64 room[WEIR_BUDGETS_MAX];
	unsigned int budgets;
	struct twin_history history[2][SOURCES];	/* of the first count */
	unsigned int first, end;	/* of those of which packets are now */
	bool without[SOURCES];	/* it was not saved */
	bool nowhere[SOURCES];	/* it found no entry when it was added */
	bool united;		/* the first has the other one's, too */
	u64 early;		/* that a bucket has leaked in a slot that was longer */
	struct object object[OBJECTS];
	unsigned int objects;
	u64 merged, evicted, floors, waits;
} s;

static u64 below(u64 n)
{
	return chance_below(&s.c, n);
}

static void random_count(unsigned int i)
{
	static const u64 rooms[] = { 1, 3, 20, 54, 70000, 5000000000 };
	struct weir_meter_spec *meter = &s.spec.meter[i];
	unsigned int kind = below(6);

	*meter = (struct weir_meter_spec) {
		.slots = 1 + below(below(2) ? 15 : WEIR_SLOTS_MAX),
		.slot_ticks = 1 + below(below(2) ? 3 : 100), .lenient = kind == 1,
	};
	s.room[i] = rooms[below(ARRAY_SIZE(rooms))];
	meter->budget = s.room[i];
	if (kind == 2) {
		meter->slots = 1 + below(below(2) ? 4 : 1000);
		meter->rate = 1 + below(2 * s.room[i]);
	} else if (kind == 3) {
		meter->log = true;
		s.room[i] = min(s.room[i], 54ull);
		meter->budget = s.room[i];
		meter->slots = 1 + below(10000);
	} else if (kind == 4) {
		meter->slots = 1;
		meter->slot_ticks = 0;
		meter->lenient = true;
	}
}

/* As in a limit, no two counts have the same window. */
static bool window_taken(unsigned int i)
{
	const struct weir_meter_spec *meter = s.spec.meter;
	unsigned int j;

	for (j = 0; j < i; j++)
		if ((u64)meter[j].slots * meter[j].slot_ticks ==
		    (u64)meter[i].slots * meter[i].slot_ticks)
			return true;
	return false;
}

static struct weir_table *table_new(bool tiny)
{
	struct weir_table *table = weir_table_alloc(&s.spec, s.tick);

	assert_false(IS_ERR(table));
	if (tiny)
		twin_shrink(table, 2, 4);
	return table;
}

static struct weir_lookup lookup_of(struct weir_table *table, unsigned int i,
				    struct weir_source *source)
{
	struct weir_lookup lookup = { .tick = s.tick, .budgets = s.room };

	*source = twin_source_in(table, i, &lookup.hash);
	lookup.source = source;
	return lookup;
}

/* Of what was saved, or of what was there, no window that ends now has more than a budget. */
static void admitted(unsigned int i, u64 cost)
{
	const struct weir_meter_spec *meter = &s.spec.meter[0];
	u64 window = meter->slot_ticks ? (u64)meter->slots * meter->slot_ticks : s.tick, most;
	/* Two buckets that are added have leaked side by side. */
	bool bounded = (!meter->lenient && !(s.united && meter->rate)) || !meter->slot_ticks;
	u64 bound = s.room[0] + meter->rate + s.early;
	unsigned int part;

	for (part = s.first; part < s.end; part++) {
		if (!part && s.without[i])
			continue;
		twin_admit(&s.history[part][i], s.tick, cost);
		most = twin_most(&s.history[part][i], window, s.tick);
		check(most <= bound || !bounded, "run %llu: %llu of %llu", s.run, most, bound);
	}
}

static void packet(struct weir_table *table, unsigned int i)
{
	struct weir_source source;
	struct weir_lookup lookup = lookup_of(table, i, &source);
	u64 least = s.room[0], b, cost;

	for (b = 1; b < s.budgets; b++)
		least = min(least, s.room[b]);
	cost = 1 + below(below(2) ? 1 : least);
	lookup.amount[false] = cost;
	twin_enter();
	if (twin_packet(table, &lookup) & WEIR_CHARGED)
		admitted(i, cost);
	twin_leave();
}

static void traffic(struct weir_table *table, unsigned int packets)
{
	unsigned int slot = s.spec.meter[0].slot_ticks ?: 5;
	struct weir_source source;
	struct weir_lookup lookup;

	while (packets--) {
		if (!below(3))
			s.tick += below(slot + 1);
		packet(table, below(below(2) ? 4 : SOURCES));
		if (below(100))
			continue;
		lookup = lookup_of(table, below(SOURCES), &source);
		twin_enter();
		weir_table_block(table, &lookup, s.tick + 1 + below(1000 * slot), WEIR_BLOCK_REPLACE);
		twin_leave();
	}
}

static struct weir_source_state peek(struct weir_table *table, unsigned int i)
{
	u64 slot[WEIR_SLOTS_MAX + 1];
	struct weir_source_state state;
	struct weir_source source;
	struct weir_lookup lookup = lookup_of(table, i, &source);

	rcu_read_lock();
	weir_table_peek(table, &source, lookup.hash, s.tick, s.room, NULL, &state, slot);
	rcu_read_unlock();
	return state;
}

static void object_add(const struct weir_table *table, struct weir_saved *saved, bool is_floor,
		       u32 set)
{
	struct object *object = &s.object[s.objects++];
	const struct weir_meter *meter = table->meter;
	struct weir_count *count;
	unsigned int i;

	assert_true(s.objects < OBJECTS);
	*object = (struct object) {
		.moved = saved->moved, .floor = saved->floor, .is_floor = is_floor, .set = set,
	};
	for (i = 0; i <= table->more; i++, meter++) {
		count = weir_saved_count(saved, meter);
		object->bytes[i] = weir_count_keep(meter, count, object->numbers[i]);
		if (weir_count_keep_refusal(meter, count, &object->refused[i]))
			object->wanted[i] = weir_count_wanted(&meter->shape, count, count->at);
	}
}

static void save(struct weir_table *table)
{
	static struct weir_saved saved;
	unsigned int set, entry;
	int there;

	s.objects = 0;
	s.saved_at = s.tick;
	for (set = 0; set <= table->mask; set++)
		for (entry = 0; entry < table->entries; entry++) {
			there = weir_saved_source(table, set, entry, s.tick, &saved);
			assert_true(there >= 0);
			if (there)
				object_add(table, &saved, false, set);
		}
	for (set = 0; set <= table->mask; set++) {
		there = weir_saved_floor(table, set, s.tick, &saved);
		assert_true(there >= 0);
		if (there)
			object_add(table, &saved, true, set);
		s.floors += there;
	}
}

/* Of ticks of the kernel that saved. */
static u64 saved_ns(u64 ticks)
{
	return weir_ticks_ns(ticks) / s.down * s.up;
}

/* The saved table, as a request describes it: wide, with lengths of time in ns. */
static struct weir_table *saved_table(const struct weir_table *table, u64 passed,
				      struct weir_kept_clock *clock)
{
	struct weir_table *was = calloc(1, sizeof(*was));
	struct weir_table_spec spec = s.spec;
	const struct weir_meter *meter;
	u64 lasted, ticks;
	unsigned int i;

	assert_non_null(was);
	for (i = 0; i < s.budgets; i++)
		spec.meter[i].budget = spec.meter[i].log ? WEIR_LOG_CELLS : 1ull << 56;
	spec.sources = 1;
	spec.prefix = (struct weir_prefix) { };
	weir_table_plan(was, &spec);
	was->mask = table->mask;
	for (i = 0; i < s.budgets; i++) {
		meter = &table->meter[i];
		lasted = meter->slot_ticks ? (s.saved_at + meter->base) % meter->slot_ticks : 0;
		clock[i] = (struct weir_kept_clock) {
			.tick = s.tick - passed, .tick_ns = saved_ns(1),
			.slot_ns = saved_ns(meter->slot_ticks), .phase_ns = saved_ns(lasted),
			.slots = table->spec.meter[i].slots,
		};
		lasted = weir_kept_lasted(&clock[i]);
		ticks = s.spec.meter[i].slot_ticks;
		while (ticks && (clock[i].tick + was->meter[i].base) % ticks != lasted % ticks)
			was->meter[i].base++;
	}
	return was;
}

/* Which source is it? */
static unsigned int index_of(const struct weir_table *table, const struct weir_source *source)
{
	struct weir_source is;
	unsigned int i;
	u32 hash;

	for (i = 0; i < SOURCES; i++) {
		is = twin_source_in(table, i, &hash);
		if (is.scope == source->scope && !memcmp(is.word, source->word, sizeof(is.word)))
			break;
	}
	assert_true(i < SOURCES);
	return i;
}

/* Floors are merged only where nobody has an entry yet. */
static void merge(struct weir_table *table, const struct weir_table *from, u64 passed, bool empty,
		  bool add)
{
	static struct weir_saved saved;
	struct weir_kept_clock clock[WEIR_BUDGETS_MAX];
	struct weir_table *was = saved_table(from, passed, clock);
	const struct weir_heritage of = weir_heritage(table, was, s.room, s.room, true);
	struct weir_count *count;
	struct object *object;
	unsigned int i;
	u8 lost;

	for (object = s.object; object < s.object + s.objects; object++) {
		weir_slots_align(table, was, empty, s.tick);
		for (i = 0; i < s.budgets; i++) {
			count = weir_saved_count(&saved, &was->meter[i]);
			assert_true(weir_count_restore(&was->meter[i], count, object->numbers[i],
						       object->bytes[i], from->meter[i].shape.width,
						       &clock[i]));
			if (object->wanted[i])
				weir_count_restore_refusal(&was->meter[i], count, object->wanted[i],
							   object->refused[i], &clock[i]);
		}
		weir_counts_advance(was, &saved.count->count, s.tick);
		saved.moved = object->moved;
		saved.moved.hash = weir_source_hash(&saved.moved.source, s.spec.prefix, &twin_key);
		saved.floor = object->floor;
		if (object->is_floor) {
			if (empty)
				weir_saved_merge_floor(&of, object->set, &saved, s.tick);
			continue;
		}
		lost = weir_saved_merge(&of, &saved, add, s.tick);
		s.evicted += !!(lost & WEIR_MERGE_EVICTED);
		s.merged++;
		i = index_of(table, &object->moved.source);
		s.nowhere[i] = lost & WEIR_MERGE_EVICTED && peek(table, i).floor;
	}
	free(was);
}

/* Events, as by another clock. */
static void shift(struct twin_history *h, u64 ticks)
{
	unsigned int i;

	for (i = 0; i < h->len; i++)
		h->event[i].tick += ticks;
}

static void unite(struct twin_history *h, const struct twin_history *other)
{
	unsigned int i;

	for (i = 0; i < other->len; i++)
		twin_admit(h, other->event[i].tick, other->event[i].cost);
}

/* Of a block there is kept for how long it lasts. */
static void block_shift(struct weir_state *state, u64 passed)
{
	u64 left = weir_block_left(state->until, s.saved_at);

	if (left != WEIR_NEVER)
		state->until = left > passed ? weir_block_until(s.tick + left - passed) : 0;
}

static void run_begin(u64 run)
{
	unsigned int i;

	s.c = chance_of(run);
	s.run = run;
	s.tick = 1 + below(1ull << (1 + below(36)));
	s.first = 0;
	s.end = 1;
	s.up = 1;
	s.down = 1;
	s.united = false;
	s.early = 0;
	memset(s.without, 0, sizeof(s.without));
	memset(s.nowhere, 0, sizeof(s.nowhere));
	s.budgets = below(2) ? 1 : 1 + below(WEIR_BUDGETS_MAX);
	s.spec = (struct weir_table_spec) {
		.sources = 512, .prefix = { 32, below(2) ? 64 : 128 },
	};
	for (i = 0; i < s.budgets; i++)
		do
			random_count(i);
		while (window_taken(i));
}

static void run_end(void)
{
	unsigned int i;

	for (i = 0; i < SOURCES; i++) {
		twin_forget(&s.history[0][i]);
		twin_forget(&s.history[1][i]);
	}
}

/*
 * A source is as it would be; the ends of blocks and of floors of totals are of a coarse clock. Of
 * a bucket or log refusals are remembered by groups of slots, and the wait is for what was refused.
 */
static void check_same(const struct weir_source_state *is, const struct weir_source_state *be,
		       bool restart)
{
	const struct weir_meter_spec *meter;
	unsigned int b;
	u64 more;

	check(is->dropped == be->dropped && is->blocked >= be->blocked &&
	      is->blocked - be->blocked < (restart ? WEIR_SINCE_TICKS : 1),
	      "run %llu: %llu dropped for %llu, blocked %llu for %llu", s.run, is->dropped, be->dropped,
	      is->blocked, be->blocked);
	for (b = 0; b < s.budgets; b++) {
		check(is->count[b] == be->count[b],
		      "run %llu: count %llu for %llu of budget %u", s.run, is->count[b], be->count[b], b);
		meter = &s.spec.meter[b];
		more = restart && !meter->slot_ticks ? WEIR_SINCE_TICKS : 0;
		check((is->waits[b] >= be->waits[b] && is->waits[b] - be->waits[b] <= more) ||
		      (restart && (meter->rate || meter->log)),
		      "run %llu: wait %llu for %llu of budget %u", s.run, is->waits[b], be->waits[b], b);
		s.waits += be->waits[b] && be->waits[b] != WEIR_NEVER;
	}
}

/* No bucket leaks earlier than it would have from that tick on. */
static void check_leaks(struct weir_table *old, struct weir_table *next, u64 tick)
{
	u64 now = s.tick, passed, left;
	unsigned int b;

	for (b = 0; b < s.budgets; b++)
		for (passed = 0; s.spec.meter[b].rate &&
		     passed < 2 * s.spec.meter[b].slot_ticks; passed++) {
			s.tick = tick + passed;
			left = peek(old, 0).count[b];
			s.tick = now + passed;
			check(peek(next, 0).count[b] >= left, "run %llu: after %llu %llu for %llu",
			      s.run, passed, peek(next, 0).count[b], left);
		}
	s.tick = now;
}

/* An empty table takes over, at once or later, by the same clock or after a restart. */
static void test_restore(void **state)
{
	struct unit_runs runs = unit_runs(400);
	struct weir_source_state was[SOURCES + 1], is;
	struct weir_table *old, *next;
	u64 run, passed;
	bool tiny, restart, alike;
	unsigned int i;

	for (run = runs.first; run < runs.end; run++) {
		run_begin(run);
		tiny = below(2);
		old = table_new(tiny);
		traffic(old, 1 + below(400));
		save(old);
		restart = below(2);
		passed = below(3) ? 0 : below(100);
		s.tick += passed;
		for (i = 0; i <= SOURCES; i++)
			was[i] = peek(old, i);
		/* In ticks of a clock that began elsewhere, as the kernel's near 2^32. */
		if (restart)
			s.tick = BIT_ULL(32) + below(BIT_ULL(36));
		for (i = 0; i < s.objects; i++)
			block_shift(&s.object[i].moved.state, passed);
		alike = below(4);
		next = table_new(tiny == alike);
		merge(next, old, passed, true, false);
		for (i = 0; i <= SOURCES; i++) {
			is = peek(next, i);
			/* Of a source that is idle nothing is kept, so that it becomes a stranger. */
			if (alike && (was[i].floor || was[i].live || was[i].dropped || was[i].blocked))
				check_same(&is, &was[i], restart);
		}
		if (alike)
			check_leaks(old, next, s.saved_at + passed);
		for (i = 0; i < SOURCES; i++)
			shift(&s.history[0][i], s.tick - passed - s.saved_at);
		traffic(next, 1 + below(200));
		weir_table_free(old);
		weir_table_free(next);
		run_end();
	}
	printf("# %llu sources and %llu floors merged, %llu waits\n", s.merged, s.floors, s.waits);
}

/* Has a meter more slots in a window if ticks are shorter? Those of others are longer then. */
static bool divided(const struct weir_meter_spec *meter)
{
	return meter->rate || meter->log;
}

static void scale_meter(struct weir_meter_spec *meter, u32 up, u32 down)
{
	if (divided(meter))
		meter->slots = meter->slots * up / down;
	else
		meter->slot_ticks = meter->slot_ticks * up / down;
}

/*
 * The kernel that saved had another HZ: here all lengths of time are @up / @down as many ticks. What
 * was admitted is as old as it was, or older by a part of a tick here; if ticks there were longer, it was
 * admitted at the end of one, and saved at the beginning of one.
 */
static void scale(void)
{
	struct twin_history *h;
	unsigned int i, j;
	u64 age;

	for (i = 0; i < s.budgets; i++)
		scale_meter(&s.spec.meter[i], s.up, s.down);
	for (i = 0; i < SOURCES; i++)
		for (h = &s.history[0][i], j = 0; j < h->len; j++) {
			age = DIV_ROUND_UP((s.tick - h->event[j].tick) * s.up, s.down);
			h->event[j].tick = s.tick - (age - min(age, s.up - 1ull));
		}
}

/*
 * Some time after both ticks a bucket is as full as it would have been, but for what leaks in two
 * slots, or has lost that much later, and a log has what it would have.
 */
static void check_later(struct weir_table *old, struct weir_table *next, u64 then, unsigned int b)
{
	const struct weir_meter_spec *meter = &s.spec.meter[b];
	u64 now = s.tick, passed = below((u64)meter->slots * meter->slot_ticks), late, left, is;
	unsigned int i = below(SOURCES);

	passed -= passed % s.up;
	late = 3 * (meter->slot_ticks * (s.up + 1) + s.up + 1);
	s.tick = then + passed * s.down / s.up;
	left = peek(old, i).count[b];
	s.tick = now + passed + late;
	is = peek(next, i).count[b];
	check(is <= left, "run %llu: %llu for %llu of budget %u, %llu later", s.run, is, left, b, passed);
	s.tick = now;
}

/* A log has what it was charged until a window, and both its ends, have passed. */
static void check_held(struct weir_table *next)
{
	u64 now = s.tick, window = (u64)s.spec.meter[0].slots * s.spec.meter[0].slot_ticks, is, be;
	struct twin_history *h;
	unsigned int i, j;

	for (i = 0, h = s.history[0]; i < SOURCES && s.spec.meter[0].log; i++, h++) {
		if (!h->len)
			continue;
		s.tick = max(now, h->event[below(h->len)].tick + window);
		for (be = 0, j = 0; j < h->len; j++)
			be += h->event[j].tick + window >= s.tick ? h->event[j].cost : 0;
		is = peek(next, i).count[0];
		check(is >= be, "run %llu: a log has %llu of %llu", s.run, is, be);
	}
	s.tick = now;
}

/*
 * No source waits less than it would have, nor longer by more than a slot and what is rounded; a
 * bucket is as full later, and a log has as much.
 */
static void test_other_hz(void **state)
{
	static const unsigned int factors[] = { 2, 4, 10 };
	struct unit_runs runs = unit_runs(400);
	struct weir_source_state was[SOURCES], is;
	struct weir_table *old, *next;
	u64 run, passed, begin, most;
	unsigned int i, b, factor;
	bool finer;

	for (run = runs.first; run < runs.end; run++) {
		run_begin(run);
		finer = below(2);
		factor = factors[below(ARRAY_SIZE(factors))];
		s.up = finer ? factor : 1;
		s.down = finer ? 1 : factor;
		for (b = 0; b < s.budgets; b++)
			scale_meter(&s.spec.meter[b], s.down, 1);
		s.tick -= s.tick % s.down;
		old = table_new(false);
		traffic(old, 1 + below(400));
		save(old);
		for (i = 0; i < SOURCES; i++)
			was[i] = peek(old, i);
		s.early = DIV_ROUND_UP(s.spec.meter[0].rate, s.spec.meter[0].slots);
		scale();
		begin = s.tick;
		passed = 0;
		s.tick = BIT_ULL(32) + below(BIT_ULL(36));
		next = table_new(false);
		merge(next, old, passed, true, false);
		for (i = 0; i < SOURCES; i++) {
			is = peek(next, i);
			for (b = 0; b < s.budgets; b++) {
				check(is.count[b] >= was[i].count[b], "run %llu: count %llu for %llu",
				      s.run, is.count[b], was[i].count[b]);
				most = s.spec.meter[b].slot_ticks + 2 * (s.up + 1);
				check(was[i].waits[b] == WEIR_NEVER ||
				      s.spec.meter[b].rate || s.spec.meter[b].log ||
				      !s.spec.meter[b].slot_ticks ||
				      (is.waits[b] * s.down >= was[i].waits[b] * s.up &&
				       is.waits[b] <= was[i].waits[b] * s.up / s.down + most),
				      "run %llu: wait %llu for %llu of budget %u", s.run, is.waits[b],
				      was[i].waits[b], b);
				s.waits += !!was[i].waits[b];
			}
			shift(&s.history[0][i], s.tick - begin);
		}
		for (b = 0; b < s.budgets; b++)
			if (divided(&s.spec.meter[b]))
				check_later(old, next, s.saved_at, b);
		check_held(next);
		traffic(next, 1 + below(200));
		weir_table_free(old);
		weir_table_free(next);
		run_end();
	}
	printf("# %llu sources merged, %llu waits\n", s.merged, s.waits);
}

/*
 * What was saved is merged into a table of any size that is in use, by the same sources. To join
 * them is for counts of the same packets, to add them for those of others, which needs an entry: it
 * takes that of a source with less.
 */
static void test_merge(void **state)
{
	struct unit_runs runs = unit_runs(400);
	struct weir_source_state was[SOURCES], before[SOURCES], is;
	struct weir_table *old, *next;
	unsigned int i, b;
	u64 run, least;
	bool add;

	for (run = runs.first; run < runs.end; run++) {
		run_begin(run);
		add = below(2);
		old = table_new(below(2));
		traffic(old, 1 + below(300));
		save(old);
		for (i = 0; i < SOURCES; i++)
			was[i] = peek(old, i);
		for (i = 0; i < SOURCES; i++)
			s.without[i] = was[i].floor;
		next = table_new(below(2));
		s.first = 1;
		s.end = 2;
		traffic(next, below(50));
		for (i = 0; i < SOURCES; i++)
			before[i] = peek(next, i);
		merge(next, old, s.tick - s.saved_at, false, add);
		for (i = 0; i < SOURCES; i++) {
			is = peek(next, i);
			for (b = 0; b < s.budgets; b++) {
				least = before[i].count[b];
				/* A floor of a full table of totals tells that nobody may go. */
				if (s.tick == s.saved_at && !was[i].floor)
					least = max(least, was[i].count[b]);
				check(is.count[b] >= least, "run %llu: count %llu of %llu", run,
				      is.count[b], least);
			}
		}
		for (i = 0; add && i < SOURCES; i++) {
			/* Of such a source the floor has what was counted in one or in the other. */
			if (s.nowhere[i])
				twin_forget(&s.history[0][i]);
			unite(&s.history[0][i], &s.history[1][i]);
		}
		s.united = add;
		s.first = 0;
		s.end = 1 + !add;
		traffic(next, 1 + below(200));
		weir_table_free(old);
		weir_table_free(next);
		run_end();
	}
	printf("# %llu sources merged, %llu without an entry\n", s.merged, s.evicted);
}

UNIT_MAIN("table_saved", T(test_restore), T(test_other_hz), T(test_merge))
