// SPDX-License-Identifier: GPL-2.0-only
/*
 * All that limits know of their sources, to be kept in a file, or on another host: a dump, and
 * the request that merges a message of it. The rules are at the top of saved.c.
 *
 * A message is of one limit and one tick. When a count is met that is of a later one the next
 * message begins.
 */
#include <linux/err.h>
#include <linux/math64.h>
#include <linux/netdevice.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "clock.h"
#include "config/check.h"
#include "count/numbers.h"
#include "limit/pool.h"
#include "netlink/message.h"
#include "path/refusal.h"
#include "table/floor.h"
#include "table/saved.h"
#include "table/state.h"

static_assert(WEIR_COUNT_MAX == WEIR_NUMBERS_BYTES);

/* How many entries and floors are looked at without a pause. */
#define LOOKS_MAX	4096

/* The state of a dump, in args[0]. */
struct state_dump {
	const char *name;	/* of the only limit, or "" */
	u32 at;			/* index of a limit */
	bool begun;		/* a message of it was put */
	bool floors;		/* its sources were put */
	bool changes;		/* only sources are dumped that were counted lately */
	u64 since;		/* from the slot of this tick on */
	u64 least;		/* and so often in the window */
	u64 cursor;		/* @since of the next dump */
	u32 set;		/* the next one */
	u32 entry;		/* likewise, in it */
	u64 tick;		/* of the message */
	struct weir_saved saved;
	u8 numbers[WEIR_NUMBERS_BYTES];
};

/* Ticks of a time, rounded up; for ever stays so. */
static u64 ns_ticks(u64 ns)
{
	u32 left;

	if (ns == U64_MAX)
		return WEIR_NEVER;
	div_u64_rem(ns, NSEC_PER_SEC / HZ, &left);
	return mul_u64_u64_div_u64(ns, HZ, NSEC_PER_SEC) + !!left;
}

/* Put how counts of a meter are to be read. */
static int put_budget(struct sk_buff *skb, const struct weir_limit *limit, unsigned int i, u64 tick)
{
	const struct weir_table *table = limit->table;
	const struct weir_meter_spec *spec = &table->spec.meter[i];
	const struct weir_meter *meter = &table->meter[i];
	u64 renews = weir_table_renews(table, i), phase = 0;
	u32 mode = meter->calendar ? WEIR_MODE_CALENDAR : WEIR_MODE_STRICT;

	if (meter->shape.kind != WEIR_COUNT_RING)
		mode = meter->shape.kind == WEIR_COUNT_LEAK ? WEIR_MODE_BUCKET : WEIR_MODE_EXACT;
	else if (spec->lenient && !meter->calendar)
		mode = WEIR_MODE_LENIENT;
	if (meter->slot_inverse)
		phase = tick - weir_meter_begins(meter, weir_meter_slot(meter, tick));
	return nla_put_u32(skb, WEIR_A_STATE_BUDGET_UNIT, meter->bytes) ||
	       nla_put_u32(skb, WEIR_A_STATE_BUDGET_MODE, mode) ||
	       weir_nl_put_u64(skb, WEIR_A_STATE_BUDGET_BUDGET, weir_limit_room_joined(limit, i)) ||
	       (spec->rate && weir_nl_put_u64(skb, WEIR_A_STATE_BUDGET_RATE, spec->rate)) ||
	       nla_put_u32(skb, WEIR_A_STATE_BUDGET_SLOTS, spec->slots) ||
	       weir_nl_put_u64(skb, WEIR_A_STATE_BUDGET_SLOT_NS,
			       weir_ticks_ns(meter->slot_ticks)) ||
	       weir_nl_put_u64(skb, WEIR_A_STATE_BUDGET_WINDOW_NS, weir_ticks_ns(meter->window)) ||
	       weir_nl_put_u64(skb, WEIR_A_STATE_BUDGET_PHASE_NS, weir_ticks_ns(phase)) ||
	       (renews && weir_nl_put_u64(skb, WEIR_A_STATE_BUDGET_RENEWS, renews)) ||
	       nla_put_u32(skb, WEIR_A_STATE_BUDGET_WIDTH, meter->shape.width) ? -EMSGSIZE : 0;
}

static int put_count(struct sk_buff *skb, int attr, const struct weir_meter *meter,
		     const struct weir_count *count, u8 numbers[WEIR_NUMBERS_BYTES])
{
	unsigned int bytes = weir_count_keep(meter, count, numbers);
	struct nlattr *nest = nla_nest_start(skb, attr);
	u32 ago;

	if (!nest || nla_put(skb, WEIR_A_STATE_COUNT_NUMBERS, bytes, numbers) ||
	    (weir_count_keep_refusal(meter, count, &ago) &&
	     (weir_nl_put_u64(skb, WEIR_A_STATE_COUNT_WANTED,
			      weir_count_wanted(&meter->shape, count, count->at)) ||
	      nla_put_u32(skb, WEIR_A_STATE_COUNT_REFUSED, ago))))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_counts(struct sk_buff *skb, int attr, const struct weir_table *table,
		      struct state_dump *dump)
{
	const struct weir_meter *meter = table->meter;
	unsigned int i;

	for (i = 0; i <= table->more; i++, meter++)
		if (put_count(skb, attr, meter, weir_saved_count(&dump->saved, meter),
			      dump->numbers))
			return -EMSGSIZE;
	return 0;
}

/* Returns -EAGAIN if a count is ahead of the tick. */
static int put_newcomers(struct sk_buff *skb, const struct weir_limit *limit,
			 struct state_dump *dump)
{
	struct nlattr *nest = nla_nest_start(skb, WEIR_A_STATE_NEWCOMERS);
	const struct weir_newcomers *newcomers = &limit->newcomers;
	u64 learning = weir_newcomers_learning(&limit->newcomers), slot = 0;
	struct weir_pool_state state;
	struct weir_count *count = (struct weir_count *)state.count;
	unsigned int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < WEIR_NEWCOMERS_POOLS; i++) {
		weir_pool_peek(&newcomers->pool[i], dump->tick, newcomers->budget, &state);
		slot = weir_meter_slot(&state.meter, dump->tick);
		if (count->at != (u32)slot)
			return -EAGAIN;
		if (put_count(skb, WEIR_A_STATE_NEWCOMERS_COUNT, &state.meter, count,
			      dump->numbers))
			return -EMSGSIZE;
	}
	if (weir_nl_put_u64(skb, WEIR_A_STATE_NEWCOMERS_SLOT_NS,
			    weir_ticks_ns(state.meter.slot_ticks)) ||
	    weir_nl_put_u64(skb, WEIR_A_STATE_NEWCOMERS_PHASE_NS,
			    weir_ticks_ns(dump->tick - weir_meter_begins(&state.meter, slot))) ||
	    (learning &&
	     weir_nl_put_u64(skb, WEIR_A_STATE_NEWCOMERS_LEARN_NS, weir_ticks_ns(learning))))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_limit(struct sk_buff *skb, const struct weir_net *wn,
		     const struct weir_limit *limit, struct state_dump *dump)
{
	const struct weir_table *table = limit->table;
	u64 ends = weir_floor_wait(table, dump->tick);
	struct nlattr *nest;
	unsigned int i;

	if (nla_put_string(skb, WEIR_A_STATE_LIMIT, limit->cfg.name) ||
	    nla_put(skb, WEIR_A_STATE_HASH_KEY, sizeof(limit->key), &limit->key) ||
	    weir_nl_put_u64(skb, WEIR_A_STATE_CLOCK_NS, weir_ticks_ns(dump->tick)) ||
	    weir_nl_put_u64(skb, WEIR_A_STATE_TICK_NS, weir_ticks_ns(1)) ||
	    nla_put_u8(skb, WEIR_A_STATE_PREFIX4, limit->cfg.prefix.len4) ||
	    nla_put_u8(skb, WEIR_A_STATE_PREFIX6, limit->cfg.prefix.len6) ||
	    nla_put_u32(skb, WEIR_A_STATE_SETS, weir_table_sets(table)) ||
	    (ends && weir_nl_put_u64(skb, WEIR_A_STATE_FLOORS_NS, weir_ticks_ns(ends))) ||
	    (dump->changes &&
	     weir_nl_put_u64(skb, WEIR_A_STATE_SINCE_NS, weir_ticks_ns(dump->cursor))))
		return -EMSGSIZE;
	for (i = 0; i <= table->more; i++) {
		nest = nla_nest_start(skb, WEIR_A_STATE_BUDGET);
		if (!nest || put_budget(skb, limit, i, dump->tick))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

/* Its drops, WEIR_DROPPED_*, with those that CPUs have not added yet. */
static u32 source_dropped(const struct weir_net *wn, const struct weir_limit *limit,
			  const struct weir_moved *moved)
{
	struct weir_source_state state = {
		.source = moved->source, .dropped = moved->dropped & WEIR_DROPPED_MAX,
		.observed = moved->dropped & WEIR_DROPPED_OBSERVED,
	};

	weir_refusals_pending(wn, limit, &state, 1);
	return min_t(u64, state.dropped, WEIR_DROPPED_MAX) |
	       (state.dropped && state.observed ? WEIR_DROPPED_OBSERVED : 0);
}

static int put_source(struct sk_buff *skb, const struct weir_net *wn,
		      const struct weir_limit *limit, struct state_dump *dump)
{
	const u32 dropped = source_dropped(wn, limit, &dump->saved.moved);
	const struct weir_moved *moved = &dump->saved.moved;
	struct weir_net_prefix prefix = weir_nl_source_prefix(&moved->source, limit->cfg.prefix);
	const struct weir_state *state = &moved->state;
	u16 since = weir_since(dump->tick) - state->since;
	struct nlattr *nest = nla_nest_start(skb, WEIR_A_STATE_SOURCE);

	if (!nest ||
	    (prefix.family && nla_put(skb, WEIR_A_STATE_SOURCE_ADDRESS,
				      prefix.family == AF_INET ? 4 : 16, prefix.word)) ||
	    weir_nl_put_dev(skb, WEIR_A_STATE_SOURCE_DEV, wn->net,
			    weir_source_ifindex(&moved->source)) ||
	    put_counts(skb, WEIR_A_STATE_SOURCE_COUNT, limit->table, dump) ||
	    (dropped &&
	     nla_put_u32(skb, WEIR_A_STATE_SOURCE_DROPPED, dropped & WEIR_DROPPED_MAX)) ||
	    (dropped & WEIR_DROPPED_OBSERVED &&
	     nla_put_flag(skb, WEIR_A_STATE_SOURCE_OBSERVED)) ||
	    (state->newcomer &&
	     (nla_put_flag(skb, WEIR_A_STATE_SOURCE_UNKNOWN) ||
	      weir_nl_put_u64(skb, WEIR_A_STATE_SOURCE_SINCE_NS,
			      weir_ticks_ns((u64)since * WEIR_SINCE_TICKS)))) ||
	    (state->late && nla_put_flag(skb, WEIR_A_STATE_SOURCE_LATE)) ||
	    (state->until &&
	     weir_nl_put_u64(skb, WEIR_A_STATE_SOURCE_BLOCKED_NS,
			     weir_ticks_ns(weir_block_left(state->until, dump->tick)))))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_floor(struct sk_buff *skb, const struct weir_limit *limit, struct state_dump *dump)
{
	const struct weir_floor *floor = &dump->saved.floor;
	struct nlattr *nest = nla_nest_start(skb, WEIR_A_STATE_FLOOR);

	if (!nest || nla_put_u32(skb, WEIR_A_STATE_FLOOR_SET, dump->set) ||
	    put_counts(skb, WEIR_A_STATE_FLOOR_COUNT, limit->table, dump) ||
	    (floor->ends && nla_put_u8(skb, WEIR_A_STATE_FLOOR_ENDS, floor->ends)) ||
	    (floor->stays && nla_put_u8(skb, WEIR_A_STATE_FLOOR_STAYS, floor->stays)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Go on to the next entry or floor. Returns false behind the last one. */
static bool dump_next(struct state_dump *dump, const struct weir_table *table)
{
	dump->entry = dump->floors || dump->entry + 1 == table->entries ? 0 : dump->entry + 1;
	if (dump->entry || ++dump->set < weir_table_sets(table))
		return true;
	dump->set = 0;
	dump->floors = !dump->floors && !dump->changes;
	return dump->floors;
}

/* Is there a source to put at the cursor? As weir_saved_source(). */
static int source_next(const struct weir_table *table, struct state_dump *dump)
{
	int ret = weir_saved_source(table, dump->set, dump->entry, dump->tick, &dump->saved);

	return ret > 0 && dump->changes ?
	       weir_saved_changed(table, &dump->saved, dump->since, dump->tick, dump->least) : ret;
}

/* Put what there is from the cursor on. Returns 0 behind the last of the limit, or -EAGAIN. */
static int put_objects(struct sk_buff *skb, const struct weir_net *wn,
		       const struct weir_limit *limit, struct state_dump *dump)
{
	unsigned int looks = LOOKS_MAX, before;
	int err;

	do {
		err = dump->floors ?
		      weir_saved_floor(limit->table, dump->set, dump->tick, &dump->saved) :
		      source_next(limit->table, dump);
		if (err < 0)
			return err;
		before = skb->len;
		if (err && (dump->floors ? put_floor(skb, limit, dump) :
			    put_source(skb, wn, limit, dump))) {
			skb_trim(skb, before);
			return -EAGAIN;
		}
		if (!dump_next(dump, limit->table))
			return 0;
	} while (--looks);
	return -EAGAIN;
}

/* Put a message of a limit, also if it has no source. As put_objects(). Under rcu_read_lock(). */
static int put_message(struct sk_buff *skb, struct netlink_callback *cb,
		       const struct weir_net *wn, const struct weir_limit *limit,
		       struct state_dump *dump)
{
	void *header = weir_nl_dump_put(skb, cb);
	unsigned int empty;
	int err;

	dump->tick = weir_clock();
	err = header ? put_limit(skb, wn, limit, dump) : -EMSGSIZE;
	if (!err && !dump->begun && !dump->changes && limit->newcomers.budget)
		err = put_newcomers(skb, limit, dump);
	if (err) {
		genlmsg_cancel(skb, header);
		return err;
	}
	empty = skb->len;
	err = put_objects(skb, wn, limit, dump);
	if (skb->len == empty && dump->begun)
		genlmsg_cancel(skb, header);
	else
		genlmsg_end(skb, header);
	dump->begun = err;
	return err;
}

/*
 * The clock of which the next dump of changes is to ask: one that was read before a grace period
 * that is over. A packet counts by the clock that it has read, perhaps after this dump has looked
 * at its source. It has not read an earlier one than this, so the next dump has it.
 */
static u64 cursor_take(struct weir_net *wn)
{
	struct weir_cursor *cursor = &wn->cursor;

	lockdep_assert_held(&wn->lock);
	if (!cursor->next || poll_state_synchronize_rcu(cursor->grace)) {
		cursor->tick = cursor->next;
		cursor->next = weir_clock();
		cursor->grace = start_poll_synchronize_rcu();
	}
	return cursor->tick;
}

/* What the request asks of sources. */
static void changes_parse(struct nlattr **attrs, struct weir_net *wn, struct state_dump *dump)
{
	const struct nlattr *since = attrs[WEIR_A_STATE_SINCE_NS];
	const struct nlattr *least = attrs[WEIR_A_STATE_LEAST];

	dump->changes = since || least;
	if (!dump->changes)
		return;
	dump->since = since ? ns_ticks(nla_get_u64(since)) : 0;
	dump->least = least ? nla_get_u64(least) : 1;
	dump->cursor = cursor_take(wn);
}

static struct state_dump *dump_start(struct netlink_callback *cb, struct weir_net *wn)
{
	struct nlattr **attrs = weir_dump_attrs(cb);
	struct state_dump *dump;
	int err;

	rcu_read_lock();
	err = weir_nl_limits(weir_config_get(wn), attrs[WEIR_A_STATE_LIMIT], cb->extack);
	rcu_read_unlock();
	if (err)
		return ERR_PTR(err);
	dump = kvzalloc(sizeof(*dump), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!dump) {
		weir_nl_refuse(cb->extack, NULL, "no memory to list the state; try again");
		return ERR_PTR(-ENOMEM);
	}
	dump->name = weir_nl_name(attrs[WEIR_A_STATE_LIMIT]);
	/* After a change no predecessor has sources any more; a later one interrupts the dump. */
	mutex_lock(&wn->lock);
	changes_parse(attrs, wn, dump);
	mutex_unlock(&wn->lock);
	return dump;
}

/* Each part is one message. */
static int state_put(struct sk_buff *skb, struct netlink_callback *cb, struct weir_net *wn)
{
	struct state_dump *dump = (struct state_dump *)cb->args[0];
	const struct weir_limit *limit;
	int err = -EAGAIN;

	if (!dump) {
		dump = dump_start(cb, wn);
		if (IS_ERR(dump))
			return PTR_ERR(dump);
		cb->args[0] = (long)dump;
	}
	while (!skb->len) {
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
		rcu_read_lock();
		limit = weir_nl_limit_next(weir_config_get(wn), dump->name, &dump->at);
		if (limit)
			err = put_message(skb, cb, wn, limit, dump);
		rcu_read_unlock();
		if (!limit)
			return 0;
		if (err != -EAGAIN && err)
			return err;
		dump->at += !err;
	}
	return skb->len;
}

int weir_nl_state_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return weir_nl_dump(skb, cb, ~0ull, BIT(WEIR_LIMITS), state_put);
}

int weir_nl_state_get_done(struct netlink_callback *cb)
{
	kvfree((void *)cb->args[0]);
	return 0;
}

/* A request that merges a message of a dump, with the limit of that name. */
struct merge {
	struct weir_net *wn;
	const struct weir_limit *limit;
	struct weir_table *was;		/* the saved one, without memory */
	u64 room[WEIR_BUDGETS_MAX];	/* of the limit with it */
	u64 now;
	u64 tick;			/* at which the counts are as given */
	u64 tick_ns;
	struct weir_kept_clock clock[WEIR_BUDGETS_MAX];
	u8 width[WEIR_BUDGETS_MAX];
	bool ended[WEIR_BUDGETS_MAX];	/* the period of its calendar has */
	bool held;			/* no packet meets the limit yet */
	bool add;
	u32 merged;
	u32 evicted;
	u32 unblocked;
	u32 skipped;
	struct weir_heritage of;
	struct weir_saved saved;
};

/* Where slots begin, if they tick, of which the current one had lasted so long at @tick. */
static u32 slot_base(u32 slot, u64 lasted, u64 tick)
{
	u32 was, now;

	if (!slot)
		return 0;
	div_u64_rem(lasted, slot, &was);
	div_u64_rem(tick, slot, &now);
	return was >= now ? was - now : slot - now + was;
}

/* Parse how the slots of the i-th saved meter lie in time. */
static int clock_parse(struct merge *merge, unsigned int i, u64 slot_ns, u32 slots,
		       const struct nlattr *phase, struct netlink_ext_ack *extack)
{
	merge->clock[i] = (struct weir_kept_clock) {
		.tick = merge->tick, .tick_ns = merge->tick_ns, .slot_ns = slot_ns,
		.phase_ns = phase ? nla_get_u64(phase) : 0, .slots = slots,
	};
	if (merge->clock[i].phase_ns > slot_ns)
		return weir_nl_refuse(extack, phase,
				      "the current slot has lasted longer than a slot does");
	return 0;
}

/*
 * The meter here that counts alike in the same window, of which ticks of another length make other
 * slots; NULL if there is none. A window was rounded up to ticks there, and to those here.
 */
static const struct weir_meter_spec *spec_here(const struct weir_table *table,
					       const struct weir_meter_spec *was,
					       u64 window_ns, u64 tick_ns)
{
	u64 least = ns_ticks(window_ns - min(window_ns / 2, tick_ns - 1));
	u64 most = ns_ticks(window_ns);
	const struct weir_meter_spec *is = table->spec.meter;
	unsigned int i;

	if (!was->slot_ticks || was->calendar_ms)
		return NULL;
	for (i = 0; i <= table->more; i++, is++)
		if (is->slot_ticks && !is->calendar_ms && is->log == was->log &&
		    is->rate == was->rate && (is->log || is->rate || is->slots == was->slots) &&
		    table->meter[i].window >= least && table->meter[i].window <= most)
			return is;
	return NULL;
}

/* Parse how counts of the i-th saved meter are to be read. */
static int budget_parse(const struct nlattr *nest, struct merge *merge,
			struct weir_meter_spec *spec, unsigned int i,
			struct netlink_ext_ack *extack)
{
	struct nlattr *attrs[WEIR_A_STATE_BUDGET_WIDTH + 1];
	const struct weir_meter_spec *here;
	bool bucket, exact, calendar;
	u64 slot_ns, slot, window_ns;
	u32 mode, slots, width;
	int err;

	err = weir_nl_nest(nest, attrs, WEIR_A_STATE_BUDGET_WIDTH, weir_state_budget_nl_policy,
			   extack);
	if (err)
		return err;
	mode = weir_nl_uint(attrs[WEIR_A_STATE_BUDGET_MODE], 0);
	slots = weir_nl_uint(attrs[WEIR_A_STATE_BUDGET_SLOTS], 0);
	width = weir_nl_uint(attrs[WEIR_A_STATE_BUDGET_WIDTH], 0);
	slot_ns = weir_nl_uint(attrs[WEIR_A_STATE_BUDGET_SLOT_NS], 0);
	bucket = mode == WEIR_MODE_BUCKET;
	exact = mode == WEIR_MODE_EXACT;
	calendar = mode == WEIR_MODE_CALENDAR;
	if (!slots || !attrs[WEIR_A_STATE_BUDGET_BUDGET] ||
	    slots > (exact ? WEIR_LOG_SLOTS : bucket ? WEIR_PARTS_MAX : WEIR_SLOTS_MAX) ||
	    slot_ns > div_u64(WEIR_SLOT_NS_MAX, slots) ||
	    (!slot_ns && (mode != WEIR_MODE_LENIENT || slots > 1)) ||
	    (calendar && slots > 1) || (width != 2 && width != 4 && width != 8) ||
	    bucket != !!attrs[WEIR_A_STATE_BUDGET_RATE])
		return weir_nl_refuse(extack, nest, "no budget has such a mode, slots and rate");
	err = clock_parse(merge, i, slot_ns, slots, attrs[WEIR_A_STATE_BUDGET_PHASE_NS], extack);
	if (err)
		return err;
	merge->width[i] = width;
	merge->room[i] = weir_nl_uint(attrs[WEIR_A_STATE_BUDGET_BUDGET], 0);
	merge->ended[i] = attrs[WEIR_A_STATE_BUDGET_RENEWS] &&
			  weir_calendar_ended(weir_nl_uint(attrs[WEIR_A_STATE_BUDGET_RENEWS], 0));
	slot = ns_ticks(slot_ns);
	window_ns = weir_nl_uint(attrs[WEIR_A_STATE_BUDGET_WINDOW_NS], 0);
	*spec = (struct weir_meter_spec) {
		/* As wide as any, or with as many cells. */
		.budget = exact ? WEIR_LOG_CELLS : WEIR_BYTES_MAX,
		.rate = weir_nl_uint(attrs[WEIR_A_STATE_BUDGET_RATE], 0),
		.slot_ticks = slot,
		.slots = slots,
		.rounded = slots * slot - min(ns_ticks(window_ns), slots * slot),
		.calendar_ms = calendar ? WEIR_MINUTE_MS : 0,
		.log = exact,
		.lenient = mode != WEIR_MODE_STRICT,
		.bytes = weir_nl_uint(attrs[WEIR_A_STATE_BUDGET_UNIT], 0),
	};
	/* Rounded up to ticks, slots are at most twice as long; others may be too many here. */
	here = slots * slot_ns > 2 * window_ns ? NULL :
	       spec_here(merge->limit->table, spec, window_ns, merge->tick_ns);
	if (here) {
		spec->slot_ticks = here->slot_ticks;
		spec->slots = here->slots;
		spec->rounded = here->rounded;
	}
	spec->base = slot_base(spec->slot_ticks, weir_kept_lasted(&merge->clock[i]), merge->tick);
	return 0;
}

/* Have a calendar of the saved table be the one here with periods as long, if there is one. */
static void calendar_find(const struct weir_table *table, struct weir_table *was,
			  struct weir_meter *meter)
{
	unsigned int i;

	meter->calendar = was->calendar;
	for (i = 0; i <= table->more; i++)
		if (table->meter[i].calendar && table->meter[i].slot_ticks == meter->slot_ticks) {
			meter->calendar = table->meter[i].calendar;
			/* Pairs with its timer. */
			meter->base = READ_ONCE(table->meter[i].base);
		}
}

/* Make the saved table. */
static int budgets_parse(struct merge *merge, const struct genl_info *info)
{
	struct weir_table_spec spec = { .sources = WEIR_SOURCES_MIN };
	struct weir_table *was = merge->was;
	const struct nlattr *attr;
	unsigned int n = 0, i;
	int err, rem;

	nlmsg_for_each_attr_type(attr, WEIR_A_STATE_BUDGET, info->nlhdr, GENL_HDRLEN, rem) {
		if (n == WEIR_BUDGETS_MAX)
			return weir_nl_refuse(info->extack, attr, "a limit has at most 4 budgets");
		err = budget_parse(attr, merge, &spec.meter[n], n, info->extack);
		if (err)
			return err;
		n++;
	}
	weir_table_plan(was, &spec);
	was->mask = nla_get_u32(info->attrs[WEIR_A_STATE_SETS]) - 1;
	for (i = 0; i < n; i++)
		if (spec.meter[i].calendar_ms)
			calendar_find(merge->limit->table, was, &was->meter[i]);
	return 0;
}

/* Read a count into the saved table's. */
static int count_parse(const struct nlattr *nest, struct merge *merge, unsigned int i,
		       struct netlink_ext_ack *extack)
{
	struct nlattr *attrs[WEIR_A_STATE_COUNT_REFUSED + 1], *numbers;
	const struct weir_meter *meter = &merge->was->meter[i];
	struct weir_count *count;
	u64 now;
	int err;

	if (i > merge->was->more)
		return weir_nl_refuse(extack, nest, "there are more counts than budgets");
	err = weir_nl_nest(nest, attrs, WEIR_A_STATE_COUNT_REFUSED, weir_state_count_nl_policy,
			   extack);
	if (err)
		return err;
	count = weir_saved_count(&merge->saved, meter);
	numbers = attrs[WEIR_A_STATE_COUNT_NUMBERS];
	if (!weir_count_restore(meter, count, numbers ? nla_data(numbers) : NULL,
				numbers ? nla_len(numbers) : 0, merge->width[i], &merge->clock[i]))
		return weir_nl_refuse(extack, nest, "no count of this budget has such numbers");
	/* Slots are numbered modulo 2^32, and no count lasts for a quarter of that. */
	now = weir_meter_slot(meter, merge->now);
	if (merge->ended[i] || now - weir_meter_slot(meter, merge->tick) > BIT(30))
		weir_count_init(&meter->shape, count, now);
	else if (attrs[WEIR_A_STATE_COUNT_WANTED])
		weir_count_restore_refusal(meter, count,
					   nla_get_u64(attrs[WEIR_A_STATE_COUNT_WANTED]),
					   weir_nl_uint(attrs[WEIR_A_STATE_COUNT_REFUSED], 0),
					   &merge->clock[i]);
	return 0;
}

/* Read the counts of an object, and turn them to now. */
static int counts_parse(const struct nlattr *object, int type, struct merge *merge,
			struct netlink_ext_ack *extack)
{
	const struct nlattr *attr;
	unsigned int n = 0;
	int err, rem;

	nla_for_each_nested_type(attr, type, object, rem) {
		err = count_parse(attr, merge, n, extack);
		if (err)
			return err;
		n++;
	}
	if (n <= merge->was->more)
		return weir_nl_refuse(extack, object, "there are fewer counts than budgets");
	weir_counts_advance(merge->was, &merge->saved.count->count, merge->now);
	return 0;
}

/* Parse the address of a saved source. Returns -ENODEV if its device does not exist. */
static int address_parse(struct nlattr **attrs, const struct merge *merge,
			 struct weir_source *source, struct netlink_ext_ack *extack)
{
	const struct nlattr *address = attrs[WEIR_A_STATE_SOURCE_ADDRESS];
	const struct nlattr *dev = attrs[WEIR_A_STATE_SOURCE_DEV];
	const struct net_device *found;
	int err = 0;

	*source = (struct weir_source) { };
	if (address && nla_len(address) != 4 && nla_len(address) != 16)
		return weir_nl_refuse(extack, address, "an address has 4 or 16 bytes");
	if (address) {
		memcpy(source->word, nla_data(address), nla_len(address));
		source->scope = nla_len(address) == 16 ? WEIR_SCOPE_IPV6 : 0;
	}
	if (!dev)
		goto mask;
	rcu_read_lock();
	found = dev_get_by_name_rcu(merge->wn->net, nla_data(dev));
	if (found)
		source->scope |= WEIR_SCOPE_LINKLOCAL | found->ifindex << WEIR_SCOPE_DEV_SHIFT;
	else
		err = -ENODEV;
	rcu_read_unlock();
mask:
	weir_source_mask(source, merge->limit->cfg.prefix);
	return err;
}

/* Likewise. */
static int source_parse(const struct nlattr *nest, struct merge *merge,
			struct netlink_ext_ack *extack)
{
	struct nlattr *attrs[WEIR_A_STATE_SOURCE_BLOCKED_NS + 1];
	struct weir_moved *moved = &merge->saved.moved;
	u64 since, end;
	int err, gone;

	err = weir_nl_nest(nest, attrs, WEIR_A_STATE_SOURCE_BLOCKED_NS,
			   weir_state_source_nl_policy, extack);
	gone = err ?: address_parse(attrs, merge, &moved->source, extack);
	err = gone && gone != -ENODEV ? gone :
	      counts_parse(nest, WEIR_A_STATE_SOURCE_COUNT, merge, extack);
	if (err)
		return err;
	since = ns_ticks(weir_nl_uint(attrs[WEIR_A_STATE_SOURCE_SINCE_NS], 0));
	since = div_u64(min(merge->now, since) + merge->now - merge->tick, WEIR_SINCE_TICKS);
	end = ns_ticks(weir_nl_uint(attrs[WEIR_A_STATE_SOURCE_BLOCKED_NS], 0));
	end = end && end < WEIR_NEVER - merge->tick ? end + merge->tick : end;
	moved->dropped = min(weir_nl_uint(attrs[WEIR_A_STATE_SOURCE_DROPPED], 0), WEIR_DROPPED_MAX);
	if (moved->dropped && attrs[WEIR_A_STATE_SOURCE_OBSERVED])
		moved->dropped |= WEIR_DROPPED_OBSERVED;
	moved->state = (struct weir_state) {
		.newcomer = attrs[WEIR_A_STATE_SOURCE_UNKNOWN] && merge->limit->newcomers.budget,
		.late = attrs[WEIR_A_STATE_SOURCE_LATE] && merge->limit->newcomers.budget,
		.since = weir_since(merge->now) - min_t(u64, since, S16_MAX),
		.until = end > merge->now ? weir_block_until(end) : 0,
	};
	return gone;
}

static int source_merge(const struct nlattr *nest, struct merge *merge, bool check,
			struct netlink_ext_ack *extack)
{
	struct weir_moved *moved = &merge->saved.moved;
	int err = source_parse(nest, merge, extack);
	u8 lost;

	if (check)
		return err == -ENODEV ? 0 : err;
	if (err) {
		merge->skipped++;
		return 0;
	}
	moved->hash = weir_source_hash(&moved->source, merge->limit->cfg.prefix,
				       &merge->limit->key);
	lost = weir_saved_merge(&merge->of, &merge->saved, merge->add, merge->now);
	merge->merged++;
	merge->evicted += !!(lost & WEIR_MERGE_EVICTED);
	merge->unblocked += !!(lost & WEIR_MERGE_UNBLOCKED);
	return 0;
}

static int floor_merge(const struct nlattr *nest, struct merge *merge, bool check,
		       struct netlink_ext_ack *extack)
{
	struct nlattr *attrs[WEIR_A_STATE_FLOOR_STAYS + 1];
	int err;

	err = weir_nl_nest(nest, attrs, WEIR_A_STATE_FLOOR_STAYS, weir_state_floor_nl_policy,
			   extack) ?:
	      counts_parse(nest, WEIR_A_STATE_FLOOR_COUNT, merge, extack);
	if (err)
		return err;
	if (weir_nl_uint(attrs[WEIR_A_STATE_FLOOR_SET], 0) > merge->was->mask)
		return weir_nl_refuse(extack, attrs[WEIR_A_STATE_FLOOR_SET] ?: nest,
				      "the table that was saved had no such set");
	if (check)
		return 0;
	merge->saved.floor = (struct weir_floor) {
		.ends = weir_nl_uint(attrs[WEIR_A_STATE_FLOOR_ENDS], 0),
		.stays = weir_nl_uint(attrs[WEIR_A_STATE_FLOOR_STAYS], 0),
	};
	weir_saved_merge_floor(&merge->of, weir_nl_uint(attrs[WEIR_A_STATE_FLOOR_SET], 0),
			       &merge->saved, merge->now);
	merge->merged++;
	return 0;
}

/* Floors that end do so when they would have, or if they had no end, with their windows. */
static void floors_merge(struct merge *merge, struct nlattr **attrs)
{
	u64 end = ns_ticks(weir_nl_uint(attrs[WEIR_A_STATE_FLOORS_NS], 0));
	struct weir_table *table = merge->limit->table;

	merge->was->floor_end = !end ? 0 : end < WEIR_NEVER - merge->tick ?
				weir_block_until(merge->tick + end) : WEIR_FOR_EVER;
	weir_floors_end(table, max(table->floor_end, weir_floors_until(table, merge->was)));
}

/* Merge how the newcomers' budget stands into slots as they are here, if the limit has one. */
static int newcomers_merge(struct merge *merge, const struct genl_info *info, bool check)
{
	const struct weir_newcomers *newcomers = &merge->limit->newcomers;
	const struct nlattr *nest = info->attrs[WEIR_A_STATE_NEWCOMERS];
	struct nlattr *attrs[WEIR_A_STATE_NEWCOMERS_LEARN_NS + 1];
	struct weir_table_spec spec = { .sources = WEIR_SOURCES_MIN };
	unsigned int i;
	u64 learn;
	int err;

	if (!nest)
		return 0;
	err = weir_nl_nest(nest, attrs, WEIR_A_STATE_NEWCOMERS_LEARN_NS,
			   weir_state_newcomers_nl_policy, info->extack) ?:
	      weir_nl_require(attrs, nest, WEIR_A_STATE_NEWCOMERS_SLOT_NS,
			      "the length of the newcomers' slots is missing", info->extack);
	for (i = 0; i < WEIR_NEWCOMERS_POOLS && !err; i++) {
		spec.meter[i] = (struct weir_meter_spec) {
			.budget = WEIR_PACKETS_MAX, .slots = WEIR_POOL_SLOTS,
			.slot_ticks = newcomers->pool ? newcomers->pool->meter.slot_ticks : 1,
		};
		merge->width[i] = sizeof(u32);
		merge->ended[i] = false;
		err = clock_parse(merge, i, nla_get_u64(attrs[WEIR_A_STATE_NEWCOMERS_SLOT_NS]),
				  WEIR_POOL_SLOTS, attrs[WEIR_A_STATE_NEWCOMERS_PHASE_NS],
				  info->extack);
	}
	if (err)
		return err;
	weir_table_plan(merge->was, &spec);
	err = counts_parse(nest, WEIR_A_STATE_NEWCOMERS_COUNT, merge, info->extack);
	if (err || check || !newcomers->pool)
		return err;
	for (i = 0; i < WEIR_NEWCOMERS_POOLS; i++)
		weir_pool_merge(&newcomers->pool[i],
				weir_saved_count(&merge->saved, &merge->was->meter[i]), merge->add);
	if (merge->add)
		return 0;
	/* Not for longer than they would have been. */
	learn = weir_nl_uint(attrs[WEIR_A_STATE_NEWCOMERS_LEARN_NS], 0);
	weir_newcomers_learnt(newcomers, merge->tick + ns_ticks(learn));
	return 0;
}

/* Check all that the request has, or merge it. */
static int objects_merge(struct merge *merge, const struct genl_info *info, bool check)
{
	const struct nlattr *attr;
	int err, rem;

	err = newcomers_merge(merge, info, check) ?:
	      budgets_parse(merge, info);
	merge->of = weir_heritage(merge->limit->table, merge->was, merge->limit->room, merge->room,
				  true);
	if (!err && !check)
		weir_slots_align(merge->limit->table, merge->was, merge->held, merge->now);
	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (!err && nla_type(attr) == WEIR_A_STATE_SOURCE)
			err = source_merge(attr, merge, check, info->extack);
		else if (!err && nla_type(attr) == WEIR_A_STATE_FLOOR)
			err = floor_merge(attr, merge, check, info->extack);
		cond_resched();
	}
	return err;
}

/* Is the request for this limit? */
static int merge_check(const struct merge *merge, const struct genl_info *info)
{
	static const struct {
		int attr;
		const char *msg;
	} needed[] = {
		{ WEIR_A_STATE_CLOCK_NS, "the clock at which the counts are as given is missing" },
		{ WEIR_A_STATE_TICK_NS, "the length of a tick of that clock is missing" },
		{ WEIR_A_STATE_PREFIX4, "the prefix length of IPv4 sources is missing" },
		{ WEIR_A_STATE_PREFIX6, "the prefix length of IPv6 sources is missing" },
		{ WEIR_A_STATE_SETS, "the number of sets is missing" },
		{ WEIR_A_STATE_BUDGET, "the budgets are missing by which to read the counts" },
	};
	const struct nlattr *key = info->attrs[WEIR_A_STATE_HASH_KEY];
	const struct nlattr *floor = info->attrs[WEIR_A_STATE_FLOOR];
	struct nlattr **attrs = info->attrs;
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(needed) && !err; i++)
		err = weir_nl_require(attrs, NULL, needed[i].attr, needed[i].msg, info->extack);
	if (err)
		return err;
	if (nla_get_u8(attrs[WEIR_A_STATE_PREFIX4]) != merge->limit->cfg.prefix.len4)
		return weir_nl_refuse(info->extack, attrs[WEIR_A_STATE_PREFIX4],
				      "the limit counts IPv4 sources of another prefix length");
	if (nla_get_u8(attrs[WEIR_A_STATE_PREFIX6]) != merge->limit->cfg.prefix.len6)
		return weir_nl_refuse(info->extack, attrs[WEIR_A_STATE_PREFIX6],
				      "the limit counts IPv6 sources of another prefix length");
	if (!is_power_of_2(nla_get_u32(attrs[WEIR_A_STATE_SETS])))
		return weir_nl_refuse(info->extack, attrs[WEIR_A_STATE_SETS],
				      "the number of sets is a power of two");
	/* A source with an entry may be within a floor that comes later. */
	if (floor && !merge->held)
		return weir_nl_refuse(info->extack, floor,
				      "only a limit that is held takes floors: config-replace with hold");
	if (floor && (!key || nla_len(key) != sizeof(merge->limit->key) ||
		      memcmp(nla_data(key), &merge->limit->key, sizeof(merge->limit->key))))
		return weir_nl_refuse(info->extack, key ?: floor,
				      "floors are of the hash key they were saved with; config-replace sets it");
	return 0;
}

static int merge_all(struct merge *merge, const struct genl_info *info)
{
	int err;

	merge->now = weir_clock();
	merge->add = info->attrs[WEIR_A_STATE_ADD];
	err = merge->add ? 0 : weir_nl_restoring(merge->wn, info);
	if (err)
		return err;
	merge->held = merge->wn->held && !merge->add;
	merge->limit = weir_limit_find(merge->held ? merge->wn->held :
				       weir_config_get(merge->wn),
				       nla_data(info->attrs[WEIR_A_STATE_LIMIT]));
	if (!merge->limit)
		return weir_nl_no_limit(info->attrs[WEIR_A_STATE_LIMIT], info->extack);
	err = merge_check(merge, info);
	if (err)
		return err;
	merge->tick = min(ns_ticks(nla_get_u64(info->attrs[WEIR_A_STATE_CLOCK_NS])), merge->now);
	merge->tick_ns = nla_get_u64(info->attrs[WEIR_A_STATE_TICK_NS]);
	err = objects_merge(merge, info, true);
	if (err)
		return err;
	floors_merge(merge, info->attrs);
	err = objects_merge(merge, info, false);
	weir_limit_count(merge->limit, WEIR_COUNTER_OF(evictions), merge->evicted);
	weir_limit_count(merge->limit, WEIR_COUNTER_OF(blocks_lost), merge->unblocked);
	if (!merge->add)
		weir_pressure_reset(merge->limit);
	return err;
}

int weir_nl_source_merge_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *reply = weir_nl_reply(info);
	struct weir_table *was;
	struct merge *merge;
	int err;

	if (!reply)
		return -ENOMEM;
	err = weir_nl_require(info->attrs, NULL, WEIR_A_STATE_LIMIT,
			      "the limit whose sources they are is missing", info->extack);
	if (err)
		return weir_nl_reply_end(info, reply, err);
	merge = kvzalloc(sizeof(*merge), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	was = kvzalloc(sizeof(*was), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	err = merge && was ? 0 : weir_nl_error(&(struct weir_error) { }, NULL, -ENOMEM,
					       info->extack);
	if (!err) {
		merge->wn = weir_net(genl_info_net(info));
		merge->was = was;
		mutex_lock(&merge->wn->lock);
		err = merge_all(merge, info);
		mutex_unlock(&merge->wn->lock);
	}
	if (!err && (nla_put_string(reply, WEIR_A_STATE_LIMIT,
				    nla_data(info->attrs[WEIR_A_STATE_LIMIT])) ||
		     nla_put_u32(reply, WEIR_A_STATE_MERGED, merge->merged) ||
		     nla_put_u32(reply, WEIR_A_STATE_EVICTED, merge->evicted) ||
		     nla_put_u32(reply, WEIR_A_STATE_BLOCKS_LOST, merge->unblocked) ||
		     nla_put_u32(reply, WEIR_A_STATE_SKIPPED, merge->skipped)))
		err = -EMSGSIZE;
	kvfree(was);
	kvfree(merge);
	return weir_nl_reply_end(info, reply, err);
}
