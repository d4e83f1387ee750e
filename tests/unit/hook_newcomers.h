/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A limit "a" with newcomers, and packets that it is charged. */
#ifndef HOOK_NEWCOMERS_H
#define HOOK_NEWCOMERS_H

#include "hook_edit.h"
#include "hook_twin.h"
#include "table_twin.h"
#include "unit.h"

#define CELL (HZ / 16)
#define KNOWN (2 * HZ)

static struct net net = { .user_ns = &init_user_ns };
static struct weir_net wn = { .net = &net };
static struct weir_error error;

static inline struct weir_limit_config words(u32 newcomers, u32 sources)
{
	struct weir_limit_config limit = edit_words("a", 20);

	limit.sources = sources;
	limit.newcomers.budget = newcomers;
	limit.newcomers.window_ms = 1000;
	limit.newcomers.flood = 1000;
	limit.newcomers.known_ms = 1000 * KNOWN / HZ;
	return limit;
}

static inline const struct weir_limit *limit(void)
{
	return weir_limit_find(weir_config_get(&wn), "a");
}

/* A limit that has learned already. */
static inline void begin_with(const struct weir_limit_config *made)
{
	t.pressure = true;
	shim_jiffies = 100000;
	assert_int_equal(edit_add(&wn, made, NULL, &error), 0);
	shim_jiffies += KNOWN + 1;
}

static inline void begin(u32 newcomers, u32 sources)
{
	const struct weir_limit_config made = words(newcomers, sources);

	begin_with(&made);
}

static inline void end(void)
{
	assert_int_equal(edit_del(&wn, "a", &error), 0);
}

static inline void change(const struct weir_limit_config *to)
{
	assert_int_equal(edit_set(&wn, to, &error), 0);
}

static inline struct weir_source source_of(u32 n)
{
	return (struct weir_source) { .word = { (__force __be32)n } };
}

/* A packet of a source, as verdict.c charges it. */
static inline u16 packet(u32 n, struct weir_lookup *lookup)
{
	const struct weir_source source = source_of(n);
	const struct weir_limit *in = limit();
	u16 result;

	*lookup = (struct weir_lookup) {
		.source = &source, .tick = shim_jiffies,
		.hash = weir_source_hash(&source, in->cfg.prefix, &wn.key),
	};
	weir_limit_cost(in, lookup, lookup->source, 1, 60);
	twin_enter();
	result = weir_table_charge(in->table, lookup);
	if (result == WEIR_NEWCOMER)
		result = weir_newcomers_charge(&in->newcomers, in->table, lookup, 1);
	twin_leave();
	return result;
}

static inline u16 arrive(u32 n)
{
	struct weir_lookup lookup;

	return packet(n, &lookup) & ~(WEIR_FIRST | WEIR_EVICTED | WEIR_MET);
}

/* Block a source, or with 0 release it. */
static inline int block(u32 n, u64 ticks)
{
	const struct weir_source source = source_of(n);
	const struct weir_limit *in = limit();
	struct weir_lookup lookup = {
		.source = &source, .tick = shim_jiffies, .budgets = in->room,
		.hash = weir_source_hash(&source, in->cfg.prefix, &wn.key),
	};
	int ret;

	if (!ticks)
		return weir_table_release(in->table, &source, lookup.hash, shim_jiffies);
	twin_enter();
	ret = weir_table_block(in->table, &lookup, shim_jiffies + ticks, WEIR_BLOCK_ADD);
	twin_leave();
	return ret;
}

static inline void forget(u32 n)
{
	const struct weir_source source = source_of(n);
	const struct weir_limit *in = limit();

	rcu_read_lock();
	weir_table_forget(in->table, &source, weir_source_hash(&source, in->cfg.prefix, &wn.key),
			  shim_jiffies);
	rcu_read_unlock();
}

static inline struct weir_source_state state_of(u32 n)
{
	const struct weir_source source = source_of(n);
	const struct weir_limit *in = limit();
	struct weir_source_state state;
	u64 slot[WEIR_SLOTS_MAX + 1];

	rcu_read_lock();
	weir_table_peek(in->table, &source, weir_source_hash(&source, in->cfg.prefix, &wn.key),
			shim_jiffies, in->room, NULL, &state, slot);
	rcu_read_unlock();
	return state;
}

static inline u64 newcomers_wait(void)
{
	struct weir_newcomers_state state;

	rcu_read_lock();
	weir_newcomers_peek(&limit()->newcomers, weir_clock(), &state);
	rcu_read_unlock();
	return state.wait;
}

#endif /* HOOK_NEWCOMERS_H */
