/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A model of a table without its bit layout: the expected state of its sources and
 * sets, and for each source a list of what was admitted.
 */
#ifndef TABLE_MODEL_H
#define TABLE_MODEL_H

#include "table_twin.h"

#define HELD 8

struct model_source {
	struct weir_source source;
	u32 hash;
	bool has_entry;
	struct twin_count count;
	u64 dropped;
	bool observed;		/* dropped counts observed drops */
	bool marked;
	u64 mark;		/* slot of the last refusal */
	u64 wanted;		/* cost of the first refusal in that slot */
	struct twin_history history;
};

struct model_set {
	struct twin_count floor;
	struct twin_count all;	/* all it admitted, given back or not */
	u64 since_idle;		/* the same, since its counts were all 0 */
	u64 most_cost;		/* largest cost in since_idle */
};

/* A charge that may still be given back, as when another limit refuses. */
struct model_held {
	struct model_source *source;
	struct weir_lookup lookup;
};

extern struct model {
	struct weir_table *table;
	struct chance chance;
	u64 run, tick, budget, budget_most;
	unsigned int reach, sources;
	bool very_late;		/* clocks are later than refusal marks allow for */
	u16 epoch;
	struct model_source *source;
	struct model_set set[4];
	struct model_held held[HELD];
	u64 admitted, refused, floored, evicted, first, given, left;
	/* Too large for a kernel stack */
	struct weir_source_state state[WEIR_ENTRIES_MAX];
} m;

static inline u64 below(u64 n)
{
	return chance_below(&m.chance, n);
}

static inline struct model_set *set_of(const struct model_source *s)
{
	return &m.set[s->hash & m.table->mask];
}

static inline bool neighbours(const struct model_source *a, const struct model_source *b)
{
	return a != b && set_of(a) == set_of(b);
}

/* Compare with the model: a packet, a source's state, the sources of a set. */
void model_packet(struct model_source *s, u64 cost);
void model_check_peek(const struct model_source *s);
void model_check_walk(u32 set);

#endif /* TABLE_MODEL_H */
