// SPDX-License-Identifier: GPL-2.0-only
/*
 * Refuse a packet before the hook has seen it. Nothing is charged here, so only what is
 * refused without a charge is refused: by the refusal cache, and by tables without a
 * lock. The hook would refuse the same packet now, for the same reason, and counts it
 * alike. All else is not sure, and goes to the hook.
 */
#include <linux/percpu.h>

#include "batch.h"
#include "compat.h"
#include "early.h"
#include "limit.h"
#include "packet.h"
#include "refusal.h"
#include "trace.h"
#include "weir.h"

/* What a limit said of the packet: WEIR_* flags of the table, or: */
#define NOT_MET U16_MAX

/* A packet that is asked about; each part is filled before it is read. */
struct early {
	const struct weir_packet *packet;
	u32 bytes;
	struct weir_source masked;	/* its source, masked to @prefix */
	struct weir_prefix prefix;	/* of the last limit asked; invalid at first */
	struct weir_lookup lookup;	/* in that limit's table */
	struct weir_exempt_place place;	/* its source among the exemptions */
	u16 result[WEIR_LIMITS_MAX];	/* of the limits up to the one that refuses */
};

/* The limit whose refusal the cache repeats, or NULL. A traced drop takes the slow path. */
static const struct weir_limit *refused_before(const struct weir_packet *packet,
					       const struct weir_net *wn,
					       const struct weir_config *config,
					       u64 tick, u32 bytes)
{
	struct weir_refusal_cache *cache = this_cpu_ptr(wn->refusals);
	struct weir_source source = packet->source;
	struct weir_refusal *entry;

	if (tick >= cache->until || !weir_packet_frame_plain(packet))
		return NULL;
	entry = weir_refusal_entry(cache, &config->refusals, &source);
	weir_refusal_mask(&config->refusals, &source);
	if (!weir_refusal_holds(entry, config->generation, &source, packet->in->ifindex,
				tick, bytes) ||
	    (entry->bytes && bytes > entry->limit->room) || trace_weir_early_enabled())
		return NULL;
	/* Pairs with weir_refusals_pending(). */
	WRITE_ONCE(entry->count, entry->count + 1);
	return entry->limit;
}

/* Prepare the lookup in the limit's table. */
static void prepare(struct early *early, const struct weir_net *wn, const struct weir_limit *limit)
{
	struct weir_lookup *lookup = &early->lookup;

	lookup->cost = limit->bytes ? early->bytes : 1;
	lookup->budget = limit->room;
	if (early->prefix.len4 == limit->prefix.len4 && early->prefix.len6 == limit->prefix.len6)
		return;
	early->prefix = limit->prefix;
	lookup->source = weir_source_masked(&early->packet->source, early->prefix,
					    &early->masked);
	lookup->hash = weir_source_hash(lookup->source, early->prefix, &wn->key);
}

/* Refuse as the hook would, if no charge is needed to know. 0: not sure. */
static u16 ask(struct early *early, const struct weir_net *wn, const struct weir_limit *limit)
{
	struct weir_table *table = limit->table;

	prepare(early, wn, limit);
	if (unlikely(early->lookup.cost > limit->room))
		return WEIR_REFUSED | WEIR_TOO_LARGE;
	/* The source may still be in the predecessor, and only the hook moves it. */
	if (unlikely(rcu_access_pointer(table->old)))
		return 0;
	/* The unspent batch may be the room that is missing: see weir_batch_charge(). */
	if (weir_batch_wanted(table, early->lookup.source) &&
	    weir_batch_left(table, early->lookup.source))
		return 0;
	return weir_table_refuse(table, &early->lookup) ?:
	       weir_permit_refuse(limit, &early->lookup);
}

/*
 * The index of the limit that drops the packet, or -1. A limit with a mark is not asked:
 * what comes before the hook may set it. A source that is exempt from a limit which it
 * meets is counted at the exemption by the hook.
 */
static int ask_all(struct early *early, const struct weir_net *wn,
		   const struct weir_config *config)
{
	const struct weir_packet *packet = early->packet;
	const struct weir_limit *limit;
	unsigned int i;

	for (i = 0; i < config->count; i++) {
		limit = config->limit[i];
		early->result[i] = NOT_MET;
		if (limit->match.conds & WEIR_IF_MARK || !weir_match_packet(&limit->match, packet))
			continue;
		if (early->place.exempts &&
		    weir_exempt_from(&early->place, packet->in->name, limit->id))
			return -1;
		early->result[i] = ask(early, wn, limit);
		if (early->result[i] && !limit->observe)
			return i;
	}
	return -1;
}

/* Count the refusal for the source, in the refusal cache if that can answer the next one. */
static void count_source(const struct early *early, const struct weir_net *wn,
			 const struct weir_config *config, unsigned int dropper)
{
	struct weir_refusal_cache *cache = this_cpu_ptr(wn->refusals);
	const struct weir_packet *packet = early->packet;
	struct weir_refusal *entry;
	unsigned int first = 0;

	if (early->result[dropper] & WEIR_NO_WAY)
		return;
	while (early->result[first] == NOT_MET)
		first++;
	entry = weir_refusal_entry(cache, &config->refusals, &packet->source);
	if (first == dropper && first < config->refusals.limits && !early->place.exempts &&
	    weir_refusal_free(entry, config->generation, &early->lookup) &&
	    weir_packet_frame_plain(packet))
		weir_refusal_store(wn, config, entry, &packet->source, packet->in->ifindex,
				   config->limit[dropper], &early->lookup);
	else
		weir_way_dropped(early->lookup.way, 1, false);
}

/* Count the packet at the limits that it met. */
static void count_limits(struct early *early, const struct weir_net *wn,
			 const struct weir_config *config, unsigned int dropper)
{
	const struct weir_limit *limit;
	enum weir_fate fate;
	unsigned int i;

	for (i = 0; i <= dropper; i++) {
		if (early->result[i] == NOT_MET)
			continue;
		limit = config->limit[i];
		fate = i == dropper ? WEIR_DROPPED :
		       early->result[i] ? WEIR_WOULD_DROP : WEIR_ELSEWHERE;
		weir_count_limit(limit->stats, fate, 1, early->bytes, early->result[i]);
		if (fate != WEIR_WOULD_DROP || early->result[i] & WEIR_NO_WAY)
			continue;
		prepare(early, wn, limit);
		weir_table_dropped(limit->table, &early->lookup, 1, true);
	}
}

/* The limit that drops the packet, or NULL. */
static const struct weir_limit *refused_now(struct weir_packet *packet, struct weir_net *wn,
					    const struct weir_config *config,
					    u64 tick, u32 bytes)
{
	/* Filled before it is read. */
	struct early early __weir_uninitialized;
	const struct weir_limit *limit;
	int dropper;

	early.packet = packet;
	early.bytes = bytes;
	early.prefix.len4 = U8_MAX;
	early.lookup.tick = tick;
	early.place.exempts = NULL;
	if (config->exempts) {
		weir_exempt_place(config->exempts, &packet->source, packet->in->name,
				  &early.place);
		if (early.place.all)
			return NULL;
	}
	if (config->conds & WEIR_IF_TRANSPORT || weir_packet_may_be_vital(packet))
		weir_packet_parse(packet);
	/* Without all of its headers the packet may be another one. */
	if (packet->flags & (WEIR_PACKET_VITAL | WEIR_PACKET_CUT))
		return NULL;
	dropper = ask_all(&early, wn, config);
	if (dropper < 0)
		return NULL;
	limit = config->limit[dropper];
	count_source(&early, wn, config, dropper);
	count_limits(&early, wn, config, dropper);
	trace_weir_early(limit, &packet->source, 1, bytes, tick);
	return limit;
}

/*
 * Would the hook surely refuse a packet of @bytes that weir_packet_frame() has begun? If so
 * it is counted as dropped. The configuration has limits. BH off, with the CPU's data to
 * itself, RCU read lock.
 */
bool weir_early_refuses(struct weir_packet *packet, struct weir_net *wn,
			const struct weir_config *config, u64 tick, u32 bytes)
{
	const struct weir_limit *limit = refused_before(packet, wn, config, tick, bytes);

	if (limit) {
		weir_count_limit(limit->stats, WEIR_DROPPED, 1, bytes, 0);
	} else {
		limit = refused_now(packet, wn, config, tick, bytes);
		if (!limit)
			return false;
	}
	weir_count_early(limit->stats, bytes);
	weir_count_seen(wn->stats, WEIR_SEEN_DROPPED, false);
	weir_refused_note(tick);
	return true;
}
