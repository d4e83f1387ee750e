/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deliberately simple twins: a count that counts by full slot numbers, and a list
 * of everything a source was admitted.
 */
#ifndef TABLE_TWIN_H
#define TABLE_TWIN_H

#include <linux/err.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "table/set.h"
#include "thread.h"
#include "unit.h"

struct twin_count {
	u64 at;
	u64 count[WEIR_SLOTS_MAX + 1];	/* by age */
};

void twin_turn(struct twin_count *w, unsigned int reach, u64 slot);
/* The sum of the window that ends with @slot, or with the count's slot if later. */
u64 twin_sum(const struct twin_count *w, unsigned int reach, u64 slot);
/* Join @v into @w, turned to the same slot: the larger sum from each slot on. */
void twin_join(struct twin_count *w, const struct twin_count *v, unsigned int reach);
bool twin_uncharge(struct twin_count *w, unsigned int reach, u64 slot, u64 cost);

/* What a source was admitted, by time */
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
/* The most in any interval of @ticks ticks, both ends included, that ends at or after @tick. */
u64 twin_most(const struct twin_history *h, u64 ticks, u64 tick);

/* Source i of a test: IPv4 or IPv6, masked. */
struct weir_source twin_source(unsigned int i, struct weir_prefix prefix);
/* Likewise in a table, and its hash; have the table forget it. */
struct weir_source twin_source_in(const struct weir_table *table, unsigned int i, u32 *hash);
void twin_forget_in(struct weir_table *table, unsigned int i);

/* Go to a random CPU; stay mostly, where going takes long. */
static inline void twin_wander(struct chance *c)
{
	if (chance_one_in(c, THREAD_STAY))
		thread_go(chance_below(c, thread_cpus()));
}

extern const hsiphash_key_t twin_key;

/* Use fewer sets and entries than were allocated, for tiny tables. */
void twin_shrink(struct weir_table *table, unsigned int sets, unsigned int entries);

/*
 * The tick that a charge counted at, by the count @i. If its clock was late, a tick in the count's
 * slot, as near as possible to @now, the true time right before the charge.
 */
u64 twin_charged_at(const struct weir_table *table, const struct weir_lookup *lookup,
		    unsigned int i, u64 now);

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

/* Like the hook, count refusals. Context: as weir_table_charge(). */
u8 twin_packet(struct weir_table *table, struct weir_lookup *lookup);

#endif /* TABLE_TWIN_H */
