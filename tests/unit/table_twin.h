/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stupid twins: a wheel that counts by whole slot numbers, and the list of
 * all that a source was admitted.
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

void twin_turn(struct twin_wheel *w, unsigned int reach, u64 slot);
/* The sum of the window in a slot, or in the wheel's own if that is later. */
u64 twin_sum(const struct twin_wheel *w, unsigned int reach, u64 slot);
/* Of two wheels of one time the larger count from each slot on, into the first. */
void twin_join(struct twin_wheel *w, const struct twin_wheel *v,
	       unsigned int reach);
bool twin_uncharge(struct twin_wheel *w, unsigned int reach, u64 slot, u64 cost);

/* What a source was admitted, in order of time. */
struct twin_event {
	u64 tick;
	u64 cost;
};

struct twin_history {
	struct twin_event *event;
	unsigned int len, room;
};

void twin_admit(struct twin_history *h, u64 tick, u64 cost);
void twin_forget(struct twin_history *h);
/*
 * The most within any interval of so many ticks, both its ends included, that
 * ends at or after a tick.
 */
u64 twin_most(const struct twin_history *h, u64 ticks, u64 tick);

/* Source i of a test: IPv4 and IPv6 in turns, masked. */
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

/*
 * The tick that a charge counted at: where its clock was late, one in the wheel's
 * slot, that of the true clock right before the charge if it can be.
 */
u64 twin_charged_at(const struct weir_table *table,
		    const struct weir_lookup *lookup, u64 now);

/* The context of a packet: softirq, in a read-side section. */
static inline void twin_enter(void)
{
	local_bh_disable();
	rcu_read_lock();
}

static inline void twin_leave(void)
{
	rcu_read_unlock();
	local_bh_enable();
}

/* As the hook does it, refusals counted. Context: as weir_table_charge(). */
u8 twin_packet(struct weir_table *table, struct weir_lookup *lookup);

#endif /* TABLE_TWIN_H */
