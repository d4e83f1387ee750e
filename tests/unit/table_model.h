/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model of a table, and the table beside it: each act is done to both, and
 * both must say the same.
 */
#ifndef TABLE_MODEL_H
#define TABLE_MODEL_H

#include "table_twin.h"

#define NOWAY WEIR_WAYS_MAX

struct model_source {
	struct weir_visit visit;
	struct weir_source source;
	u32 hash;
	unsigned int way;	/* in its bucket, or NOWAY */
	struct twin_wheel wheel;
	u64 dropped;
	bool has_refused;
	u64 refused;
	struct twin_history history;
};

struct model_bucket {
	u64 slot;
	struct twin_wheel floor;
	struct twin_wheel all;		/* what it admitted, given back or not */
	u64 since_idle;			/* the same since it held nothing */
	int holder[WEIR_WAYS_MAX];	/* index of a source, or -1 */
};

/* A charge that another limit may still make void. */
struct model_held {
	struct model_source *source;
	u64 tick, cost;
};

struct model {
	struct weir_table *table;
	struct model_held held[8];
	struct chance chance;
	u64 budget, tick;
	bool first;	/* WEIR_FIRST can be foretold */
	unsigned int sources;
	struct model_source *source;
	struct model_bucket bucket[8];
	u64 admitted, refused, floored, evicted;
	u64 run;
	/* What is too large for a kernel's stack. */
	struct weir_source_state state[WEIR_WAYS_MAX];
	char before[32768];
};

static inline struct model_bucket *bucket_of(struct model *m,
					     struct model_source *s)
{
	return &m->bucket[s->hash & m->table->mask];
}

static inline struct weir_bucket *real_bucket(struct model *m,
					      struct model_source *s)
{
	return weir_bucket(m->table, s->hash & m->table->mask);
}

static inline struct weir_way *real_way(struct model *m, struct model_source *s)
{
	return weir_bucket_way(m->table, real_bucket(m, s), s->way);
}

void model_lose_way(struct model *m, struct model_bucket *bucket,
		    unsigned int way);
/* The bucket comes to a slot: idle ways may be freed, at times they must. */
void model_turn(struct model *m, struct model_bucket *bucket,
		struct weir_bucket *real, u64 slot);
/*
 * A source got a way: find it, and see that its former holder could go. Refusals
 * that waited before will be counted in it.
 */
void model_take(struct model *m, struct model_source *s, bool live,
		u64 pending);
bool model_idle(struct model *m, struct model_bucket *bucket);
/* What a charge will be answered, with the bucket's slot up to date. */
unsigned int model_foretell(struct model *m, struct model_source *s, u64 cost);
/* Does the table know of a source what the model does? */
void model_check(struct model *m, struct model_source *s);

/* A refusal without the lock: only where a charge is refused too. */
bool model_try_refuse(struct model *m, struct model_source *s, u64 cost,
		      bool must);
/*
 * With what was seen last, however old, with what the CPU recalls, or with
 * nothing. Recalling may refuse at once.
 */
void model_charge(struct model *m, struct model_source *s, u64 cost);
/* Give back at once or, where time passes and others come first, later. */
void model_give_back(struct model *m, struct model_held *held);
/* What a source was charged counts no more once it is forgotten. */
void model_let_go(struct model *m, struct model_source *s);

void model_peek(struct model *m, struct model_source *s);
void model_forget(struct model *m, struct model_source *s);
void model_clear(struct model *m, u32 index);
void model_walk(struct model *m, u32 index);

#endif /* TABLE_MODEL_H */
