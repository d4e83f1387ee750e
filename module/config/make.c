// SPDX-License-Identifier: GPL-2.0-only
/*
 * A limit is made from a checked configuration and never changes. A changed limit is
 * a copy that takes over the identity and the counters of the one it replaces, and
 * its table or a successor of it; so no count is lost.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#include "clock.h"
#include "config/check.h"
#include "config/make.h"
#include "limit/limit.h"
#include "limit/net.h"
#include "limit/stats.h"
#include "path/nflog.h"
#include "table/saved.h"
#include "table/shared.h"

#define PREFIX4_DEFAULT		32
#define PREFIX6_DEFAULT		64
#define SOURCES_DEFAULT		65536
#define FLOOD_DEFAULT		100000
/*
 * The places of a block: of tables up to the largest fewer than one in 100,000 has a set without
 * one for a block, their number being Poisson distributed.
 */
#define BLOCK_SOURCES		3

void weir_newcomers_init(struct weir_newcomers_config *cfg)
{
	*cfg = (struct weir_newcomers_config) {
		.flood = FLOOD_DEFAULT, .known_ms = WEIR_KNOWN_MS_DEFAULT,
	};
}

/* The default configuration of a limit. */
void weir_limit_init(struct weir_limit_config *cfg, const char *name)
{
	memset(cfg, 0, sizeof(*cfg));
	cfg->budgets = 1;
	cfg->prefix.len4 = PREFIX4_DEFAULT;
	cfg->prefix.len6 = PREFIX6_DEFAULT;
	cfg->sources = SOURCES_DEFAULT;
	weir_newcomers_init(&cfg->newcomers);
	cfg->zone.change = S64_MAX;
	strscpy_pad(cfg->name, name, sizeof(cfg->name));
}

/* Have a limit only block. It has a count all the same, which stays empty. */
void weir_limit_only_blocks(struct weir_limit_config *cfg, u32 blocks)
{
	cfg->budget[0] = (struct weir_budget_config) { .amount = 1, .window_ms = MSEC_PER_SEC };
	cfg->budgets = 0;
	cfg->blocks = blocks;
	cfg->sources = max_t(u32, WEIR_SOURCES_MIN, blocks * BLOCK_SOURCES);
}

/* The sources of one length within a prefix, or within all addresses; at most the default. */
static u32 sources_within(u8 len, u8 outer)
{
	return len <= outer ? 1 : len - outer > 16 ? SOURCES_DEFAULT : 1u << (len - outer);
}

/*
 * The sources that a table is made for unless they are given: as many as can match, from the
 * least that a table may have to the default.
 */
u32 weir_limit_sources(const struct weir_limit_config *cfg)
{
	const struct weir_match *match = &cfg->match;
	u16 plain = match->conds & ~match->invert;
	const struct weir_net_prefix *from = match->from.prefix;
	u32 sources = 0, i, family;
	u8 len;

	for (family = 0; family < 2; family++) {
		len = family ? cfg->prefix.len6 : cfg->prefix.len4;
		if (!(plain & WEIR_COND_FROM))
			sources += sources_within(len, 0);
		for (i = 0; plain & WEIR_COND_FROM && i < match->from.count; i++)
			if (from[i].family == (family ? AF_INET6 : AF_INET))
				sources += sources_within(len, from[i].len);
	}
	return max_t(u32, WEIR_SOURCES_MIN, min_t(u32, sources, SOURCES_DEFAULT));
}

/* Does a meter serve a budget? */
static bool meter_serves(const struct weir_limit *was, const struct weir_limit *limit,
			 unsigned int i)
{
	const struct weir_meter_spec *a = &was->meter[i], *b = &limit->meter[i];

	return a->slot_ticks == b->slot_ticks && a->slots == b->slots &&
	       a->rounded == b->rounded && a->lenient == b->lenient && a->rate == b->rate &&
	       a->calendar_ms == b->calendar_ms && a->log == b->log && a->bytes == b->bytes &&
	       weir_table_holds(was->table, i, weir_limit_room_most(limit, i));
}

static bool table_serves(const struct weir_limit *was, const struct weir_limit *limit)
{
	unsigned int i;

	for (i = 0; i < limit->cfg.budgets; i++)
		if (was->cfg.budgets != limit->cfg.budgets || !meter_serves(was, limit, i))
			return false;
	return was->cfg.blocks == limit->cfg.blocks && was->cfg.sources == limit->cfg.sources &&
	       !was->newcomers.budget == !limit->newcomers.budget;
}

static bool has_count(const struct weir_budget_config *was, const struct weir_budget_config *is)
{
	return was->window_ms == is->window_ms && was->unit == is->unit;
}

/*
 * Counts are wide enough for what sources may have sent under @was. Otherwise
 * sources would get part of a budget again when it grows back.
 */
static u64 budget_most(const struct weir_limit *limit, unsigned int i, const struct weir_limit *was)
{
	const struct weir_budget_config *is = &limit->cfg.budget[i];
	const unsigned int count = was && limit->cfg.budgets ? was->cfg.budgets : 0;
	u64 most = weir_limit_room_most(limit, i), before;
	bool same = false;
	unsigned int j;

	/* The count starts from one of the same window and unit, if there is one: heritage.c. */
	for (j = 0; j < count; j++)
		same |= has_count(&was->cfg.budget[j], is);
	for (j = 0; j < count; j++) {
		before = was->meter[j].budget;
		if (was->meter[j].bytes != limit->meter[i].bytes)
			before = weir_budget_part(before, limit->room[i], was->room[j]);
		if (!same || has_count(&was->cfg.budget[j], is))
			most = max(most, before);
	}
	/* What a log has no entry for has no effect on it. */
	if (limit->cfg.budget[i].mode == WEIR_MODE_EXACT)
		most = min(most, weir_limit_log_most(&limit->cfg));
	return most;
}

static int limit_table(struct weir_net *wn, struct weir_limit *limit,
		       const struct weir_limit *was, struct weir_error *error)
{
	struct weir_table_spec spec = {
		.sources = limit->cfg.sources,
		.newcomers = limit->newcomers.budget,
		.strangers = !limit->cfg.newcomers.known_ms,
		.prefix = limit->cfg.prefix,
		.blocks = limit->cfg.blocks,
	};
	const int attr = weir_limit_size_attr(&limit->cfg);
	struct weir_table *table;
	u64 bytes;

	memcpy(spec.meter, limit->meter, sizeof(spec.meter));
	if (was)
		weir_slots_follow(&spec, was->table);
	bytes = weir_table_need(&spec);
	error->value = bytes;
	if (!weir_net_affords(wn, bytes))
		return weir_refuse(error, -EDQUOT, attr,
				   "tables of a user's namespace hold 64 MiB; a smaller one may fit");
	table = weir_table_alloc(&spec, weir_clock());
	if (IS_ERR(table))
		return weir_refuse(error, PTR_ERR(table), attr,
				   "not enough memory for the table; try a smaller one");
	error->value = 0;
	weir_table_account(table, &wn->bytes);
	limit->table = table;
	return 0;
}

/* Has it amounts for a limit that is alone? */
static bool can_be_alone(const struct weir_limit_config *cfg)
{
	unsigned int i;

	for (i = 0; i < cfg->budgets; i++)
		if (cfg->budget[i].alone)
			return true;
	return false;
}

/* When it is to be made again, since it joins, or is alone; at the latest @now, or U64_MAX. */
u64 weir_limit_turns(const struct weir_limit *limit, u64 now)
{
	if (limit->alone)
		return limit->joined_until > now ? now : U64_MAX;
	return can_be_alone(&limit->cfg) ? limit->joined_until : U64_MAX;
}

/*
 * Make a limit from a configuration, which is checked. It takes table and counters from @was,
 * which it will replace, if they can be kept. Under the namespace's mutex.
 */
struct weir_limit *weir_limit_make(struct weir_net *wn, const struct weir_limit_config *cfg,
				   const struct weir_limit *was, struct weir_error *error)
{
	struct weir_limit *limit;
	unsigned int i;
	int err;

	lockdep_assert_held(&wn->lock);
	limit = kzalloc(sizeof(*limit), WEIR_GFP);
	if (!limit)
		return ERR_PTR(-ENOMEM);
	/* The padding, too: configurations are compared as bytes. */
	memcpy(&limit->cfg, cfg, sizeof(*cfg));
	weir_prefixes_get(cfg->match.from_list);
	weir_prefixes_get(cfg->match.to_list);
	weir_prefixes_get(cfg->budgets_by);
	limit->budget_by = cfg->budgets == 1 ? cfg->budgets_by : NULL;
	limit->joined_until = was ? was->joined_until : 0;
	limit->alone = can_be_alone(cfg) && limit->joined_until <= weir_clock();
	err = weir_limit_check(limit, error) ?: weir_nflog_get(limit, was, error);
	if (err) {
		weir_limit_drop(limit);
		return ERR_PTR(err);
	}
	for (i = 0; i < max(limit->cfg.budgets, 1); i++)
		limit->meter[i].budget = budget_most(limit, i, was);
	if (was) {
		limit->id = was->id;
		limit->key = was->key;
		limit->stats = was->stats;
		limit->pressure = was->pressure;
		if (table_serves(was, limit))
			limit->table = was->table;
	} else {
		limit->id = ++wn->next_id;
		limit->key = wn->key;
		err = weir_limit_account(limit);
	}
	if (!err && !limit->table)
		err = limit_table(wn, limit, was, error);
	if (!err && weir_newcomers_make(wn, &limit->newcomers, was ? &was->newcomers : NULL))
		err = weir_refuse(error, -ENOMEM, WEIR_A_LIMIT_FLOOD,
				  "not enough memory to remember a flood so large; try a smaller one");
	if (!err)
		return limit;
	weir_limit_free(limit, was);
	return ERR_PTR(err);
}

/* @heir has replaced @limit, a grace period ago. */
void weir_limit_replaced(const struct weir_limit *limit, const struct weir_limit *heir)
{
	if (heir->table == limit->table && heir->room[0] != limit->room[0])
		weir_batches_end(heir->table);
	weir_newcomers_replaced(&limit->newcomers, &heir->newcomers);
}

/*
 * Free a limit that was never published, or was a grace period ago, except what
 * @heir has taken over: its counters, and perhaps its table.
 */
void weir_limit_free(struct weir_limit *limit, const struct weir_limit *heir)
{
	if (!heir || heir->table != limit->table)
		weir_table_free(limit->table);
	weir_newcomers_free(&limit->newcomers, heir ? &heir->newcomers : NULL);
	weir_nflog_put(limit, heir);
	if (!heir) {
		free_percpu(limit->stats);
		kfree(limit->pressure);
	}
	weir_limit_drop(limit);
}

/* Free a limit that shares all but its lists with another one. */
void weir_limit_drop(struct weir_limit *limit)
{
	weir_prefixes_put(limit->cfg.match.from_list);
	weir_prefixes_put(limit->cfg.match.to_list);
	weir_prefixes_put(limit->cfg.budgets_by);
	kfree(limit);
}
