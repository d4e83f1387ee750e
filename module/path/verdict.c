// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decide on a packet that the refusal cache does not answer. Every limit that
 * matches may refuse it before any is charged; then they are charged in order, and
 * a refusal then gives back what the limits before it were charged.
 */
#include <linux/err.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/percpu.h>

#include "compat.h"
#include "limit/limit.h"
#include "limit/net.h"
#include "limit/stats.h"
#include "packet/packet.h"
#include "path/refusal.h"
#include "path/verdict.h"
#include "table/bucket.h"
#include "table/shared.h"

#define CREATE_TRACE_POINTS
#include "path/events.h"
#include "path/penalty.h"
#include "path/permit.h"
#include "path/trace.h"

/* A limit that matches the packet. */
struct met {
	u8 limit;		/* its index */
	u16 result;		/* WEIR_* flags of the table, 0 until asked */
	struct weir_receipt receipt;	/* if charged */
	struct weir_receipt newcomer;	/* if charged as one */
};

/* A packet and what is known of it; each part is filled before it is read. */
struct weir_context {
	struct weir_packet packet;
	struct weir_cost cost;
	struct weir_exempt_place place;	/* its source among the exemptions */
	struct weir_source masked;	/* its source, masked to @prefix */
	struct weir_lookup lookup;	/* in the table of the last limit asked */
	struct weir_prefix prefix;	/* of that limit, if there are several; invalid at first */
	u16 refused;		/* result of the limit that refused last */
	struct met met[WEIR_LIMITS_MAX];	/* in order, if there are several */
};

/* Not static: the per-CPU data of all modules share 8 KiB. Constant while there are hooks. */
static struct weir_context __percpu *contexts __read_mostly;

/* Before any hook; may sleep. */
int weir_verdict_init(void)
{
	contexts = alloc_percpu_gfp(struct weir_context, GFP_KERNEL);
	return contexts ? 0 : -ENOMEM;
}

void weir_verdict_exit(void)
{
	free_percpu(contexts);
}

/* Does the limit apply to the packet? */
static inline bool meets(struct weir_context *ctx, const struct weir_limit *limit)
{
	const struct weir_exempt *exempt;

	if (!weir_match_packet(&limit->match, &ctx->packet))
		return false;
	if (likely(!ctx->place.exempts))
		return true;
	exempt = weir_exempt_from(&ctx->place, ctx->packet.in->name, limit->id);
	if (exempt)
		weir_exempt_count(exempt, ctx->cost.packets, ctx->cost.bytes);
	return !exempt;
}

/* Look for the source as the limit masks it. */
static inline void seek(struct weir_context *ctx, const struct weir_net *wn,
			const struct weir_limit *limit)
{
	struct weir_lookup *lookup = &ctx->lookup;

	lookup->source = weir_source_masked(&ctx->packet.source, limit->prefix, &ctx->masked);
	lookup->hash = weir_source_hash(lookup->source, limit->prefix, &wn->key);
}

/* Prepare the lookup in the table of one of several limits. Returns as weir_limit_cost(). */
static inline u16 prepare(struct weir_context *ctx, const struct weir_net *wn,
			  const struct weir_limit *limit)
{
	u16 result = weir_limit_cost(limit, &ctx->lookup, ctx->cost.packets, ctx->cost.bytes);

	if (unlikely(result))
		return result;
	if (ctx->prefix.len4 != limit->prefix.len4 || ctx->prefix.len6 != limit->prefix.len6) {
		ctx->prefix = limit->prefix;
		seek(ctx, wn, limit);
	}
	return 0;
}

/* The tick that was charged: the wheel's slot may be ahead of this CPU's clock. */
static u64 charged_at(const struct weir_limit *limit, const struct weir_lookup *lookup)
{
	u64 slot = weir_table_slot(limit->table, lookup->tick);
	u16 late = lookup->receipt.at[0] - slot;

	/* A calendar's slots do not tick. */
	return !late || limit->budget[0].mode == WEIR_MODE_CALENDAR ? lookup->tick :
	       (slot + late) * limit->budget[0].slot_ticks;
}

/* Refuse without a charge, if that is certain. */
static u16 refuse(struct weir_context *ctx, const struct weir_limit *limit)
{
	/* The unspent batch may be the room that is missing: see weir_batch_charge(). */
	if (weir_batch_wanted(limit->table, ctx->lookup.source) &&
	    weir_batch_left(limit->table, ctx->lookup.source))
		return 0;
	return weir_table_refuse(limit->table, &ctx->lookup);
}

/* Slow path of a charge: penalties, traces and events. */
static noinline void report(struct weir_context *ctx, struct weir_net *wn,
			    const struct weir_limit *limit, u16 result)
{
	if (trace_weir_charge_enabled() && result & WEIR_CHARGED)
		trace_weir_charge(limit, &ctx->packet.source, ctx->cost.packets,
				  ctx->cost.bytes, charged_at(limit, &ctx->lookup));
	if (result & (WEIR_EVICTED | WEIR_FLOORED))
		weir_event_pressure(wn, limit, ctx->lookup.tick);
	if (result & WEIR_FIRST && result & WEIR_NEWCOMER) {
		weir_event_newcomers(wn, limit);
	} else if (result & WEIR_FIRST) {
		trace_weir_limited(limit, result, &ctx->packet.source, ctx->lookup.tick);
		weir_penalty(wn, limit, &ctx->lookup, &ctx->packet.source, result);
		weir_event_source(wn, limit, &ctx->packet.source);
	}
}

/* Charge the lookup that prepare() filled. */
static inline u16 charge(struct weir_context *ctx, struct weir_net *wn,
			 const struct weir_limit *limit)
{
	u16 result = weir_batch_wanted(limit->table, ctx->lookup.source) ?
		    weir_batch_charge(limit->table, &ctx->lookup) :
		    weir_table_charge(limit->table, &ctx->lookup);

	/* The common case, so that the compiler specialises the callers for it. */
	if (likely(result == WEIR_CHARGED) && !trace_weir_charge_enabled())
		return WEIR_CHARGED;
	if (result == WEIR_NEWCOMER)
		result = weir_permit_charge(limit, &ctx->lookup, ctx->cost.packets);
	if (result & (WEIR_CHARGED | WEIR_FLOORED | WEIR_FIRST))
		report(ctx, wn, limit, result);
	return result;
}

static void give_back(struct weir_context *ctx, const struct weir_net *wn,
		      const struct weir_config *config, const struct met *met,
		      unsigned int count)
{
	const struct weir_limit *limit;

	for (; count; count--, met++) {
		if (!(met->result & WEIR_CHARGED))
			continue;
		limit = config->limit[met->limit];
		if (met->result & WEIR_NEWCOMER)
			weir_permit_uncharge(&limit->newcomers, ctx->lookup.tick,
					     ctx->cost.packets, met->result, met->newcomer);
		prepare(ctx, wn, limit);
		ctx->lookup.receipt = met->receipt;
		if (weir_table_uncharge(limit->table, &ctx->lookup))
			trace_weir_uncharge(limit, &ctx->packet.source,
					    ctx->cost.packets, ctx->cost.bytes,
					    charged_at(limit, &ctx->lookup));
		if (met->result & WEIR_MET)
			weir_table_unmeet(limit->table, &ctx->lookup);
	}
}

/*
 * Count a refusal for its source, in the refusal cache if an entry can answer the
 * next packet. @first is the index of the limit if no other matched before it,
 * WEIR_LIMITS_MAX otherwise.
 */
static __always_inline void
count_refusal(struct weir_context *ctx, struct weir_net *wn, const struct weir_config *config,
	      const struct weir_limit *limit, u16 result, unsigned int first)
{
	const struct weir_packet *packet = &ctx->packet;
	struct weir_refusal *entry = NULL;

	weir_refused_note(&packet->source, ctx->lookup.tick);
	ctx->refused = result;
	if (unlikely(result & WEIR_NO_WAY))
		return;
	if (unlikely(limit->penalty_ticks) && !(result & WEIR_FIRST))
		weir_penalty(wn, limit, &ctx->lookup, &packet->source, result);
	if (first < config->refusals.limits)
		entry = weir_refusal_entry(this_cpu_ptr(wn->refusals), &config->refusals,
					   &packet->source);
	/*
	 * Packets that a VRF's device passes on again do not use the cache, and an
	 * exemption from an earlier limit must count its packets.
	 */
	if (entry && weir_refusal_free(entry, config->generation, &ctx->lookup) &&
	    !limit->observe && !ctx->place.exempts && !netif_is_l3_master(packet->in) &&
	    weir_skb_plain(packet->skb, packet->family, &packet->source))
		weir_refusal_store(wn, config, entry, &packet->source, packet->in->ifindex,
				   limit, &ctx->lookup, result);
	else
		weir_way_dropped(ctx->lookup.way, ctx->cost.packets, limit->observe);
}

/* The index of the first limit from @i on that matches, or config->count. */
static noinline unsigned int next_met(struct weir_context *ctx,
				      const struct weir_config *config, size_t i)
{
	const size_t count = config->count;

	while (i < count && !meets(ctx, config->limit[i]))
		i++;
	return i;
}

/* Count the packet at a limit. @dropped: by any limit. */
static inline void count_met(const struct weir_context *ctx,
			     const struct weir_limit *limit, u16 result, bool dropped)
{
	enum weir_fate fate = dropped ? WEIR_ELSEWHERE : WEIR_ADMITTED;

	if (result & WEIR_REFUSED)
		fate = limit->observe ? WEIR_WOULD_DROP : WEIR_DROPPED;
	weir_count_limit(limit->stats, fate, ctx->cost.packets, ctx->cost.bytes, result);
}

/*
 * Charge the limits that have not refused, in order. Returns the index of the one
 * that drops the packet, @count if none does, or -1 to start again.
 */
static int charge_all(struct weir_context *ctx, struct weir_net *wn,
		      const struct weir_config *config, struct met *met, int count)
{
	const struct weir_limit *limit;
	int i;

	for (i = 0; i < count; i++) {
		if (met[i].result)
			continue;
		limit = config->limit[met[i].limit];
		prepare(ctx, wn, limit);
		met[i].result = charge(ctx, wn, limit);
		met[i].receipt = ctx->lookup.receipt;
		met[i].newcomer = ctx->lookup.newcomer;
		if (likely(met[i].result & WEIR_CHARGED))
			continue;
		if (!(met[i].result & WEIR_AGAIN)) {
			if (limit->observe)
				continue;
			count_refusal(ctx, wn, config, limit, met[i].result,
				      !i ? met[i].limit : WEIR_LIMITS_MAX);
		}
		give_back(ctx, wn, config, met, i);
		return met[i].result & WEIR_AGAIN ? -1 : i;
	}
	return count;
}

/*
 * A packet that several limits match, @first and @second being the first two: all
 * may refuse before any is charged. Returns the limit that drops it, NULL if none
 * does, or ERR_PTR(-EAGAIN) to start again.
 */
static noinline const struct weir_limit *
meet_all(struct weir_context *ctx, struct weir_net *wn,
	 const struct weir_config *config, unsigned int first, unsigned int second)
{
	struct met *met = ctx->met;
	const struct weir_limit *limit;
	int count = 0, dropper = -1, i;
	unsigned int at = first;

	ctx->prefix.len4 = U8_MAX;
	do {
		limit = config->limit[at];
		met[count].limit = at;
		met[count].result = prepare(ctx, wn, limit) ?:
				    refuse(ctx, limit);
		if (met[count].result && !limit->observe) {
			count_refusal(ctx, wn, config, limit, met[count].result,
				      !count ? at : WEIR_LIMITS_MAX);
			dropper = count;
		}
		at = count++ ? next_met(ctx, config, at + 1) : second;
	} while (dropper < 0 && at < config->count);
	if (dropper < 0)
		dropper = charge_all(ctx, wn, config, met, count);
	if (unlikely(dropper < 0))
		return ERR_PTR(-EAGAIN);
	for (i = 0; i < count && i <= dropper; i++) {
		limit = config->limit[met[i].limit];
		count_met(ctx, limit, met[i].result, dropper < count);
		/* An observing limit refused only what no limit before it dropped. */
		if (limit->observe && met[i].result & WEIR_REFUSED &&
		    !(met[i].result & WEIR_NO_WAY) &&
		    !prepare(ctx, wn, limit))
			weir_table_dropped(limit->table, &ctx->lookup,
					   ctx->cost.packets, true);
	}
	return dropper < count ? limit : NULL;
}

/* As meet_all() for a single limit, where one lookup refuses or charges. */
static inline const struct weir_limit *
meet_one(struct weir_context *ctx, struct weir_net *wn,
	 const struct weir_config *config, unsigned int at)
{
	const struct weir_limit *limit = config->limit[at];
	u16 result = weir_limit_cost(limit, &ctx->lookup, ctx->cost.packets, ctx->cost.bytes);
	bool refused;

	if (likely(!result)) {
		seek(ctx, wn, limit);
		result = charge(ctx, wn, limit);
	}
	if (likely(result == WEIR_CHARGED)) {
		count_met(ctx, limit, WEIR_CHARGED, false);
		return NULL;
	}
	if (unlikely(result & WEIR_AGAIN))
		return ERR_PTR(-EAGAIN);
	refused = result & WEIR_REFUSED;
	if (refused)
		count_refusal(ctx, wn, config, limit, result, at);
	count_met(ctx, limit, result, false);
	return refused && !limit->observe ? limit : NULL;
}

/* The first limit that drops the packet because its prefix is blocked there, or NULL. */
static noinline const struct weir_limit *blocked_by(struct weir_context *ctx,
						    const struct weir_config *config)
{
	const char *dev = ctx->packet.in->name;
	const struct weir_exempt *block;
	const struct weir_limit *limit;
	unsigned int i;

	for (i = 0; config->blocks && ctx->place.exempts && i < config->count; i++) {
		limit = config->limit[i];
		block = weir_exempt_from(&ctx->place, dev, WEIR_EXEMPT_BLOCK) ?:
			weir_exempt_from(&ctx->place, dev, limit->id | WEIR_EXEMPT_BLOCK);
		if (!block || limit->observe || !weir_match_packet(&limit->match, &ctx->packet) ||
		    weir_exempt_from(&ctx->place, dev, limit->id))
			continue;
		ctx->refused = WEIR_REFUSED | WEIR_BLOCKED;
		weir_exempt_count(block, ctx->cost.packets, ctx->cost.bytes);
		weir_count_limit(limit->stats, WEIR_DROPPED, ctx->cost.packets, ctx->cost.bytes,
				 WEIR_REFUSED);
		return limit;
	}
	return NULL;
}

/* Ask all limits. Returns the verdict, or -1 to start again. */
static inline int limits(struct weir_context *ctx, struct weir_net *wn,
			 const struct weir_config *config)
{
	const struct weir_limit *dropper;
	unsigned int first = 0, second;

	if (unlikely(config->odd)) {
		dropper = blocked_by(ctx, config);
		if (dropper)
			goto drop;
		first = next_met(ctx, config, 0);
		goto met;
	}
	if (!meets(ctx, config->limit[0])) {
		first = next_met(ctx, config, 1);
met:
		if (first >= config->count) {
			if (!(ctx->packet.flags & WEIR_PACKET_DECRYPTED))
				weir_count_seen(wn->stats, WEIR_SEEN_UNMATCHED,
						ctx->packet.flags & WEIR_PACKET_CUT);
			return NF_ACCEPT;
		}
	}
	second = first + 1;
	if (unlikely(second != config->count))
		second = next_met(ctx, config, second);
	dropper = likely(second == config->count) ? meet_one(ctx, wn, config, first) :
		  meet_all(ctx, wn, config, first, second);
	if (IS_ERR(dropper))
		return -1;
drop:
	weir_count_seen(wn->stats, dropper ? WEIR_SEEN_DROPPED : WEIR_SEEN_ADMITTED,
			ctx->packet.flags & WEIR_PACKET_CUT);
	if (!dropper)
		return NF_ACCEPT;
	if (trace_weir_drop_enabled())
		trace_weir_drop(ctx->packet.skb, dropper, ctx->refused, &ctx->packet.source,
				ctx->cost.packets, ctx->cost.bytes, ctx->lookup.tick);
	return NF_DROP;
}

/*
 * Decide on a packet in PRE_ROUTING that the refusal cache does not answer: NF_ACCEPT or
 * NF_DROP. BH off, RCU read lock.
 */
unsigned int weir_verdict(struct sk_buff *skb, u8 family, struct weir_net *wn,
			  const struct weir_config *config, u64 tick)
{
	struct weir_context *ctx = this_cpu_ptr(contexts);
	struct weir_packet *packet = &ctx->packet;
	int verdict;

	weir_packet_init(packet, skb, family);
	ctx->lookup.tick = tick;

	if (packet->in->flags & IFF_LOOPBACK || weir_packet_already_seen(packet))
		return NF_ACCEPT;
	ctx->cost = weir_packet_cost(packet->skb, packet->family);
	do {
		ctx->place.exempts = config->exempts;
		if (config->exempts) {
			weir_exempt_place(config->exempts, &packet->source,
					  packet->in->name, &ctx->place);
			if (ctx->place.all) {
				if (packet->flags & WEIR_PACKET_DECRYPTED)
					return NF_ACCEPT;
				weir_exempt_count(ctx->place.all, ctx->cost.packets,
						  ctx->cost.bytes);
				weir_count_seen(wn->stats, WEIR_SEEN_EXEMPT, false);
				return NF_ACCEPT;
			}
		}
		if (config->conds & WEIR_IF_TRANSPORT) {
			weir_packet_parse(packet);
		} else if (weir_packet_may_be_vital(packet)) {
			weir_packet_parse(packet);
			/* What else was parsed counts only if a limit asks for it. */
			packet->flags &= WEIR_PACKET_VITAL | WEIR_PACKET_DECRYPTED;
		}
		verdict = limits(ctx, wn, config);
		if (likely(verdict >= 0))
			return verdict;
		config = weir_config_get(wn);
	} while (config);
	return NF_ACCEPT;
}
