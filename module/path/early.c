// SPDX-License-Identifier: GPL-2.0-only
/*
 * Refuse a packet before the hook has seen it. Nothing is charged here, so only what is
 * refused without a charge is refused: by the refusal cache, and by tables without a
 * lock. The hook would refuse the same packet now, for the same reason, and counts it
 * alike. All else is not sure, and goes to the hook.
 */
#include <linux/percpu.h>

#include "limit/stats.h"
#include "path/early.h"
#include "path/penalty.h"
#include "path/permit.h"
#include "path/refusal.h"
#include "table/bucket.h"
#include "table/shared.h"

/* What a limit said of the packet: WEIR_* flags of the table, or: */
#define NOT_MET U16_MAX

/* A packet that is asked about; each part is filled before it is read. */
struct early {
	struct weir_packet packet;
	u32 bytes;
	struct weir_source masked;	/* its source, masked to @prefix */
	struct weir_prefix prefix;	/* of the last limit asked; invalid at first */
	struct weir_lookup lookup;	/* in that limit's table */
	struct weir_exempt_place place;	/* its source among the exemptions */
	u16 result[WEIR_LIMITS_MAX];	/* of the limits up to the one that refuses */
};

/* Prepare the lookup in the limit's table. Returns as weir_limit_cost(). */
static u16 prepare(struct early *early, const struct weir_net *wn, const struct weir_limit *limit)
{
	struct weir_lookup *lookup = &early->lookup;
	u16 result = weir_limit_cost(limit, lookup, 1, early->bytes);

	if (early->prefix.len4 == limit->prefix.len4 && early->prefix.len6 == limit->prefix.len6)
		return result;
	early->prefix = limit->prefix;
	lookup->source = weir_source_masked(&early->packet.source, early->prefix,
					    &early->masked);
	lookup->hash = weir_source_hash(lookup->source, early->prefix, &wn->key);
	return result;
}

/* Refuse as the hook would, if no charge is needed to know. 0: not sure. */
static u16 ask(struct early *early, const struct weir_net *wn, const struct weir_limit *limit)
{
	struct weir_table *table = limit->table;
	u16 result = prepare(early, wn, limit);

	if (unlikely(result))
		return result;
	/* The source may still be in the predecessor, and only the hook moves it. */
	if (unlikely(rcu_access_pointer(table->old)))
		return 0;
	/*
	 * The unspent batch may be the room that is missing: see weir_batch_charge(). It is
	 * another CPU's if that runs the hook.
	 */
	if (weir_batch_wanted(table, early->lookup.source) &&
	    (weir_packets_steered() || weir_batch_left(table, early->lookup.source)))
		return 0;
	result = weir_table_refuse(table, &early->lookup);
	/* The newcomers' budget has batches, too. */
	return result || weir_packets_steered() ? result :
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
	const struct weir_packet *packet = &early->packet;
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
static void count_source(struct early *early, const struct weir_frame *frame,
			 struct weir_net *wn, const struct weir_config *config,
			 unsigned int dropper)
{
	struct weir_refusal_cache *cache = this_cpu_ptr(wn->refusals);
	const struct weir_source *source = &early->packet.source;
	struct weir_refusal *entry;
	unsigned int first = 0;

	if (early->result[dropper] & WEIR_NO_WAY)
		return;
	if (config->limit[dropper]->penalty_ticks)
		weir_penalty(wn, config->limit[dropper], &early->lookup, source,
			     early->result[dropper]);
	while (early->result[first] == NOT_MET)
		first++;
	entry = weir_refusal_entry(cache, &config->refusals, source);
	if (first == dropper && first < config->refusals.limits && !early->place.exempts &&
	    weir_refusal_free(entry, config->generation, &early->lookup) &&
	    weir_header_plain(frame->header, frame->family, source))
		weir_refusal_store(wn, config, entry, source, frame->dev->ifindex,
				   config->limit[dropper], &early->lookup,
				   early->result[dropper]);
	else
		weir_way_dropped(early->lookup.way, 1, false);
}

/* Count the packet at the limits that it met before the one that drops it. */
static void count_limits(struct early *early, const struct weir_net *wn,
			 const struct weir_config *config, unsigned int dropper)
{
	const struct weir_limit *limit;
	enum weir_fate fate;
	unsigned int i;

	for (i = 0; i < dropper; i++) {
		if (early->result[i] == NOT_MET)
			continue;
		limit = config->limit[i];
		fate = early->result[i] ? WEIR_WOULD_DROP : WEIR_ELSEWHERE;
		weir_count_limit(limit->stats, fate, 1, early->bytes, early->result[i]);
		if (fate != WEIR_WOULD_DROP || early->result[i] & WEIR_NO_WAY)
			continue;
		prepare(early, wn, limit);
		weir_table_dropped(limit->table, &early->lookup, 1, true);
	}
}

/* Does a limit surely refuse the packet? If so it is counted. */
static bool refused_now(const struct weir_frame *frame, struct weir_net *wn,
			const struct weir_config *config, u64 tick)
{
	/* Filled before it is read. */
	struct early early __weir_uninitialized;
	struct weir_packet *packet = &early.packet;
	const struct weir_limit *limit;
	int dropper;

	weir_packet_init_frame(packet, frame);
	early.bytes = frame->bytes;
	early.prefix.len4 = U8_MAX;
	early.lookup.tick = tick;
	early.place.exempts = NULL;
	if (config->exempts) {
		weir_exempt_place(config->exempts, &packet->source, packet->in->name,
				  &early.place);
		if (early.place.all)
			return false;
	}
	if (config->conds & WEIR_IF_TRANSPORT || weir_packet_may_be_vital(packet))
		weir_packet_parse(packet);
	/* Without all of its headers the packet may be another one. */
	if (packet->flags & (WEIR_PACKET_VITAL | WEIR_PACKET_CUT))
		return false;
	dropper = ask_all(&early, wn, config);
	if (dropper < 0)
		return false;
	limit = config->limit[dropper];
	count_source(&early, frame, wn, config, dropper);
	count_limits(&early, wn, config, dropper);
	weir_count_early(limit->stats, frame->bytes, early.result[dropper]);
	weir_refused_note(&packet->source, tick);
	weir_count_seen(wn->stats, WEIR_SEEN_DROPPED, false);
	trace_weir_early(limit, &packet->source, 1, frame->bytes, tick);
	return true;
}

/* As weir_early_refuses(), if the refusal cache does not tell. */
bool weir_early_ask(struct weir_frame frame, struct weir_net *wn,
		    const struct weir_config *config, u64 tick)
{
	bool refused;

	rcu_read_lock();
	refused = refused_now(&frame, wn, config, tick);
	rcu_read_unlock();
	return refused;
}
