/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What tests by hand share: a table with one budget, the time, and what this CPU
 * has seen in it last. Packets come one by one, with bottom halves off.
 */
#ifndef TABLE_HAND_H
#define TABLE_HAND_H

#include "table_twin.h"

struct sender {
	struct weir_source source;
	u32 hash;
};

static struct {
	struct weir_table *table;
	struct weir_visit visit;
	u64 budget, tick;
} t;

static inline struct sender sender(unsigned int i, u32 hash)
{
	return (struct sender) {
		twin_source(i, (struct weir_prefix) { 32, 64 }), hash,
	};
}

static inline void begin(u64 budget, u64 slot_ticks, u64 tick)
{
	struct weir_table_spec spec = {
		.budget = budget, .slot_ticks = slot_ticks, .slots = 4,
		.sources = 64, .prefix = { 32, 64 },
	};

	t.table = weir_table_alloc(&spec);
	assert_false(IS_ERR(t.table));
	t.visit = (struct weir_visit) { };
	t.budget = budget;
	t.tick = tick;
	local_bh_disable();
}

static inline void end(void)
{
	local_bh_enable();
	weir_table_put(t.table);
	assert_int_equal(shim_allocations, 0);
}

static inline unsigned int refuse(const struct sender *s, u32 packets)
{
	struct weir_cost cost = { .packets = packets };

	return twin_refuse(t.table, &s->source, s->hash, t.tick, cost, t.budget,
			   &t.visit);
}

static inline unsigned int charge_seen(const struct sender *s, u32 packets,
				       struct weir_visit *visit)
{
	struct weir_cost cost = { .packets = packets };
	u64 tick = t.tick;

	return twin_charge(t.table, &s->source, s->hash, &tick, cost, t.budget,
			   visit);
}

/* Of whom nothing was seen. */
static inline unsigned int charge_unseen(const struct sender *s, u32 packets)
{
	return charge_seen(s, packets, NULL);
}

#endif /* TABLE_HAND_H */
