/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stupid twins: a wheel that counts by whole slot numbers and forgets
 * nothing it need not, and the list of all that a source was admitted.
 */
#ifndef TABLE_TWIN_H
#define TABLE_TWIN_H

#include <linux/err.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "bucket.h"

#include "thread.h"
#include "unit.h"

struct twin_wheel {
	u64 at;
	u64 count[WEIR_SLOTS_MAX + 1];	/* by age */
};

void twin_turn(struct twin_wheel *w, unsigned int ring, u64 slot);
u64 twin_sum(const struct twin_wheel *w);
void twin_join(struct twin_wheel *w, const struct twin_wheel *v,
	       unsigned int ring);
void twin_uncharge(struct twin_wheel *w, unsigned int ring, u64 slot, u64 cost);

/* What a source was admitted, in order of time. */
struct twin_event {
	u64 tick;
	u64 cost;
};

struct twin_history {
	struct twin_event *event;
	unsigned int len, room;
};

void twin_note(struct twin_history *h, u64 tick, u64 cost);
void twin_take_back(struct twin_history *h, u64 tick, u64 cost);
void twin_forget(struct twin_history *h);
/* The most within any interval of so many ticks, both its ends included. */
u64 twin_most(const struct twin_history *h, u64 ticks);
/* The same for the intervals that end at or after a tick. */
u64 twin_most_since(const struct twin_history *h, u64 ticks, u64 tick);

/* A real wheel turned to a slot against its twin; where they differ, or -1. */
int twin_differs(const struct weir_table *table, const struct weir_wheel *wheel,
		 struct twin_wheel twin, u64 slot);

/* Source i of a test: IPv4 and IPv6 in turns, masked, and its hash. */
struct weir_source twin_source(unsigned int i, struct weir_prefix prefix);

/* Go to any CPU, or stay: where it takes long to go, as a rule. */
static inline void twin_wander(struct chance *c)
{
	if (chance_one_in(c, THREAD_STAY))
		thread_go(chance_below(c, thread_cpus()));
}

extern const hsiphash_key_t twin_key;

/* Tables are tiny in tests: fewer buckets and ways than were allocated. */
void twin_shrink(struct weir_table *table, unsigned int buckets,
		 unsigned int ways);

/* Segments are few, whatever a test makes them cost. */
static inline u32 twin_packets(struct weir_cost cost)
{
	return cost.packets % 45 ?: 1;
}

/*
 * The three questions of a packet, with @visit between them or, where it is
 * NULL, with nothing remembered. Context: as of those in table.h.
 */
static inline unsigned int twin_recall(struct weir_table *table,
				       const struct weir_source *source,
				       u64 tick, struct weir_cost cost,
				       u64 budget, struct weir_visit *visit)
{
	visit->tick = tick;
	visit->packets = twin_packets(cost);
	return weir_table_recall(table, source, weir_table_cost(table, cost),
				 budget, visit) & WEIR_REFUSED;
}

static inline unsigned int twin_refuse(struct weir_table *table,
				       const struct weir_source *source,
				       u32 hash, u64 tick,
				       struct weir_cost cost, u64 budget,
				       struct weir_visit *visit)
{
	visit->tick = tick;
	visit->packets = twin_packets(cost);
	visit->hash = hash;
	return weir_table_refuse(table, source, weir_table_cost(table, cost),
				 budget, visit);
}

static inline unsigned int twin_charge(struct weir_table *table,
				       const struct weir_source *source,
				       u32 hash, u64 *tick,
				       struct weir_cost cost, u64 budget,
				       struct weir_visit *visit)
{
	struct weir_visit fresh = { };
	unsigned int result;

	if (!visit)
		visit = &fresh;
	visit->tick = *tick;
	visit->packets = twin_packets(cost);
	visit->hash = hash;
	result = weir_table_charge(table, source, cost, budget, visit);
	*tick = visit->tick;
	return result;
}

#endif /* TABLE_TWIN_H */
