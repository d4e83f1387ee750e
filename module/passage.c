// SPDX-License-Identifier: GPL-2.0-only
/*
 * A packet that several limits meet: all are asked before one is charged, and
 * what was charged before one refused is given back.
 */
#include "passage.h"

/**
 * struct meetings - the limits that a packet met
 * @count: of them
 * @which: index of each in their order
 * @fate: of the packet at each
 */
struct meetings {
	unsigned int count;
	u8 which[WEIR_LIMITS_MAX];
	u8 fate[WEIR_LIMITS_MAX];
};

/**
 * weir_passage_charged - what is seldom to be said of a charge
 * @passage: packet, its visit as weir_table_charge() left it
 * @wn: namespace
 * @limit: limit that was charged
 * @result: what weir_table_charge() returned
 * @fate: what became of it here
 *
 * The clock was late if that counted at another time: it is given back and all
 * starts again by the bucket's time, so that all limits count at one time and
 * can give back at it.
 *
 * Context: softirq, rcu_read_lock.
 * Return: WEIR_REFUSED, WEIR_AGAIN or 0, it is charged.
 */
noinline unsigned int weir_passage_charged(struct weir_passage *passage,
					   struct weir_net *wn,
					   const struct weir_limit *limit,
					   unsigned int result, u8 *fate)
{
	if (result & WEIR_AGAIN)
		return result;
	if (result & WEIR_EVICTED)
		weir_limit_count_evictions(limit, 1);
	if (result & (WEIR_EVICTED | WEIR_FLOORED))
		weir_event_pressure(wn, limit, passage->visit.hash,
				    passage->tick);
	if (!(result & WEIR_REFUSED)) {
		if (passage->visit.tick == passage->tick)
			return 0;
		weir_table_uncharge(limit->table, passage->source,
				    passage->visit.hash, passage->visit.tick,
				    passage->cost);
		return WEIR_AGAIN;
	}
	if (result & WEIR_FIRST) {
		trace_weir_limited(limit, &passage->packet.source,
				   passage->visit.tick);
		weir_event_source(wn, limit, &passage->packet.source);
	}
	*fate |= weir_passage_why(result);
	return result;
}

/* The sender; limits of one prefix share it. @last is the limit before. */
static void source_again(struct weir_passage *passage,
			 const struct weir_limit *limit,
			 const struct weir_limit *last)
{
	if (!last || last->prefix.len4 != limit->prefix.len4 ||
	    last->prefix.len6 != limit->prefix.len6)
		weir_passage_source(passage, limit);
}

/* Does a source's way, or a note of it, count the refusal? */
static bool refused_by_count(u8 fate)
{
	return (fate & (WEIR_MET_NO_ROOM | WEIR_MET_FLOORED |
			WEIR_MET_TOO_LARGE)) == WEIR_MET_NO_ROOM;
}

/*
 * Give back what the limits that it met were charged. What the first @stand of
 * them refused stays refused; the others are asked once more, or in vain.
 */
static void give_back(struct weir_passage *passage, struct weir_net *wn,
		      const struct weir_config *config, struct meetings *met,
		      unsigned int stand)
{
	const struct weir_limit *limit;
	bool charged, refused;
	unsigned int i;

	for (i = 0; i < met->count; i++) {
		charged = met->fate[i] & WEIR_MET_CHARGED;
		refused = i >= stand && refused_by_count(met->fate[i]);
		if (!charged && !refused)
			continue;
		limit = config->limit[met->which[i]];
		weir_passage_source(passage, limit);
		weir_passage_hash(passage, wn, limit);
		if (refused) {
			weir_table_unrefuse(limit->table, passage->source,
					    passage->visit.hash,
					    passage->cost.packets);
			continue;
		}
		weir_table_uncharge(limit->table, passage->source,
				    passage->visit.hash, passage->tick,
				    passage->cost);
		trace_weir_uncharge(limit, &passage->packet.source,
				    passage->cost.packets,
				    passage->cost.bytes, passage->tick);
		met->fate[i] &= ~WEIR_MET_CHARGED;
	}
}

/*
 * Ask the limits in their order. Returns the place among those met of the one
 * that drops the packet, their number if none does. @last becomes the last that
 * was asked.
 */
static unsigned int ask_all(struct weir_passage *passage, struct weir_net *wn,
			    const struct weir_config *config,
			    struct meetings *met,
			    const struct weir_limit **last)
{
	const struct weir_gate *gate, *end = config->gate + config->count;
	struct weir_gate_view view = weir_gate_view(&passage->packet);
	const struct weir_limit *limit;
	unsigned int i;
	u8 fate;

	met->count = 0;
	for (gate = config->gate; gate < end; gate++) {
		if (weir_gate_shut(gate, &view))
			continue;
		i = gate - config->gate;
		limit = config->limit[i];
		if (!weir_passage_meets(passage, limit))
			continue;
		source_again(passage, limit, *last);
		*last = limit;
		fate = weir_passage_ask(passage, wn, limit);
		met->which[met->count] = i;
		met->fate[met->count++] = fate;
		if (fate & WEIR_MET_NO_ROOM && !limit->observe)
			return met->count - 1;
	}
	return met->count;
}

/*
 * Charge those that have room. Returns as ask_all(), or -1 to start again: a
 * new configuration is out, or time is later than it seemed.
 */
static int charge_all(struct weir_passage *passage, struct weir_net *wn,
		      const struct weir_config *config, struct meetings *met,
		      const struct weir_limit *last)
{
	const struct weir_limit *limit;
	unsigned int i, result;
	u64 late;

	for (i = 0; i < met->count; i++) {
		if (met->fate[i] & WEIR_MET_NO_ROOM)
			continue;
		limit = config->limit[met->which[i]];
		if (met->count > 1) {
			/* The visit was to another table. */
			source_again(passage, limit, last);
			last = limit;
			weir_passage_hash(passage, wn, limit);
			passage->visit.tick = passage->tick;
			passage->visit.recalled = false;
			passage->visit.recent = NULL;
			passage->visit.table = NULL;
		}
		result = weir_passage_charge(passage, wn, limit, &met->fate[i]);
		if (likely(!result) ||
		    (result & WEIR_REFUSED && limit->observe))
			continue;
		late = max(passage->tick, passage->visit.tick);
		give_back(passage, wn, config, met,
			  result & WEIR_AGAIN ? 0 : i + 1);
		if (!(result & WEIR_AGAIN))
			return i;
		passage->tick = late;
		return -1;
	}
	return met->count;
}

/**
 * weir_passage_limits - the way through any number of limits
 * @passage: packet
 * @wn: namespace
 * @config: its limits
 * @skb: the packet
 *
 * Context: softirq, rcu_read_lock.
 * Return: verdict, or -1 to start again with the configuration of then.
 */
noinline int weir_passage_limits(struct weir_passage *passage,
				 struct weir_net *wn,
				 const struct weir_config *config,
				 struct sk_buff *skb)
{
	/* What is filled before it is read is not cleared. */
	struct meetings met __weir_uninitialized;
	const struct weir_limit *last = NULL;
	int i, dropper;
	bool drops;

	dropper = ask_all(passage, wn, config, &met, &last);
	if (dropper == met.count)
		dropper = charge_all(passage, wn, config, &met, last);
	if (unlikely(dropper < 0))
		return -1;
	drops = dropper < met.count;
	for (i = 0; i < dropper; i++)
		weir_passage_count(config->limit[met.which[i]], passage->cost,
				   met.fate[i] & WEIR_MET_NO_ROOM ?
				   WEIR_WOULD_DROP :
				   drops ? WEIR_ELSEWHERE : WEIR_ADMITTED,
				   met.fate[i]);
	if (drops)
		return weir_passage_drop(passage, wn,
					 config->limit[met.which[dropper]],
					 met.fate[dropper], skb);
	return weir_passage_accept(passage, wn, met.count ?
				   WEIR_SEEN_ADMITTED : WEIR_SEEN_UNMATCHED);
}
