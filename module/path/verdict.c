// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decide on a packet that the refusal cache does not answer. In the first pass every limit that
 * matches may refuse it, for its prefix or its source, before any is charged. In the second they
 * are charged in order, and a refusal then undoes the charges before it.
 *
 * A frame, which XDP asks about, has the first pass only: where the second would begin, it is not
 * sure, and goes to the hook. So the hook would refuse now what is refused here, for the same
 * reason, and it is counted alike.
 */
#include <linux/netdevice.h>
#include <linux/percpu.h>

#include "compat.h"
#include "limit/limit.h"
#include "limit/net.h"
#include "limit/stats.h"
#include "packet/packet.h"
#include "path/charge.h"
#include "path/nflog.h"
#include "path/refusal.h"
#include "path/trace.h"
#include "path/verdict.h"
#include "table/set.h"

/* A limit that matches the packet. */
struct matched {
	u8 limit;		/* its index */
	struct weir_charged receipt;	/* with its result */
};

/* A packet and what is known of it; each part is filled before it is read. */
struct weir_context {
	struct weir_packet packet;
	struct weir_request request;
	struct weir_exception_place place;	/* its source among the exemptions */
	bool exempt;		/* a frame: from a limit, for the hook to count */
	const struct weir_limit *dropper;	/* the limit that drops it */
	struct weir_result result;	/* of that */
	struct matched matched[WEIR_LIMITS_MAX];	/* in order, if there are several */
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

/* Is the packet exempt from the limit? If so, the exemption counts it, but no frame. */
static noinline bool is_exempt(struct weir_context *ctx, const struct weir_limit *limit)
{
	const struct weir_exception *exception =
		weir_exception_of(&ctx->place, ctx->packet.in->name, limit->id, false);

	if (exception && ctx->packet.skb)
		weir_exception_count(exception, ctx->request.cost.packets, ctx->request.cost.bytes);
	ctx->exempt |= !!exception;
	return exception;
}

/* Does the limit apply to the packet? */
static inline bool matches(struct weir_context *ctx, const struct weir_limit *limit)
{
	return weir_match_packet(&limit->cfg.match, &ctx->packet) &&
	       (likely(!ctx->place.node) || !is_exempt(ctx, limit));
}

/* Log a drop, if the limit does, and the packet has a buffer. */
static noinline void log_drop(const struct weir_context *ctx, const struct weir_net *wn,
			      const struct weir_limit *limit, struct weir_result result)
{
	if (limit->cfg.log && ctx->packet.skb)
		weir_nflog_drop(wn, limit, &ctx->packet, result, ctx->request.lookup.tick);
}

/*
 * Count a refusal for its source, in the refusal cache if a cell can answer the
 * next packet. @first is the index of the limit if no other matched before it,
 * WEIR_LIMITS_MAX otherwise.
 */
static __always_inline void
count_refusal(struct weir_context *ctx, struct weir_net *wn, const struct weir_config *config,
	      const struct weir_limit *limit, struct weir_result result, unsigned int first)
{
	const struct weir_packet *packet = &ctx->packet;
	struct weir_lookup *lookup = &ctx->request.lookup;
	struct weir_refusal *cell = NULL;

	if (likely(limit->plain)) {
		weir_refused_note(&packet->source, lookup->tick);
	} else if (!limit->cfg.observe) {
		weir_refused_note(&packet->source, lookup->tick);
		log_drop(ctx, wn, limit, result);
	}
	ctx->dropper = limit;
	ctx->result = result;
	if (unlikely(!weir_result_has_entry(result)))
		return;
	if (first < config->refusals.limits)
		cell = weir_refusal_cell(this_cpu_ptr(wn->refusals), &config->refusals,
					 &packet->source);
	/*
	 * Packets that a VRF's device passes on again do not use the cache, and an
	 * exemption from an earlier limit must count its packets.
	 */
	if (cell && weir_refusal_free(cell, data_race(config->generation), lookup) &&
	    !limit->cfg.observe && !ctx->place.node && !netif_is_l3_master(packet->in) &&
	    weir_packet_plain(packet))
		weir_refusal_store(wn, config, cell, &packet->source, packet->in->ifindex,
				   limit, lookup, result);
	else
		weir_entry_dropped(lookup->entry, ctx->request.cost.packets, limit->cfg.observe);
}

/* The index of the first limit from @i on that matches, or config->count. */
static noinline unsigned int next_matched(struct weir_context *ctx,
					  const struct weir_config *config, size_t i)
{
	const size_t count = config->count;

	while (i < count && !matches(ctx, config->limit[i]))
		i++;
	return i;
}

/* Count the packet at a limit. @dropped: by any limit. */
static inline void count_matched(const struct weir_context *ctx, const struct weir_limit *limit,
				 struct weir_result result, bool dropped)
{
	enum weir_fate fate = dropped ? WEIR_ELSEWHERE : WEIR_ADMITTED;

	if (weir_result_refuses(result))
		fate = limit->cfg.observe ? WEIR_WOULD_DROP : WEIR_DROPPED;
	weir_stats_limit(limit->stats, fate, ctx->request.cost.packets,
			 ctx->request.cost.bytes, result);
}

/*
 * The second pass: charge the limits that have not refused, in order, up to the one that drops
 * the packet, then the last of @count. Returns WEIR_ADMIT, WEIR_REFUSE or WEIR_RESTART.
 */
static enum weir_verdict charge_all(struct weir_context *ctx, struct weir_net *wn,
				    const struct weir_config *config, int *count)
{
	struct matched *m = ctx->matched;
	const struct weir_limit *limit;
	enum weir_verdict verdict;
	int i;

	for (i = 0; i < *count; i++, m++) {
		if (weir_result_refuses(m->receipt.result))
			continue;
		limit = config->limit[m->limit];
		verdict = weir_result_verdict(weir_limit_charge(wn, limit, &ctx->request,
								&m->receipt));
		if (likely(verdict == WEIR_ADMIT) || (verdict == WEIR_REFUSE && limit->cfg.observe))
			continue;
		if (verdict == WEIR_REFUSE) {
			count_refusal(ctx, wn, config, limit, m->receipt.result,
				      !i ? m->limit : WEIR_LIMITS_MAX);
			*count = i + 1;
		}
		for (m = ctx->matched; i--; m++)
			weir_limit_undo(config->limit[m->limit], &ctx->request, &m->receipt);
		return verdict;
	}
	return WEIR_ADMIT;
}

/* Is the packet's prefix blocked at a limit that it matches? If so, the block counts it. */
static bool prefix_blocked(const struct weir_context *ctx, const struct weir_net *wn,
			   const struct weir_limit *limit)
{
	const struct weir_exception *block =
		weir_exception_of(&ctx->place, ctx->packet.in->name, limit->id, true);

	if (!block || limit->cfg.observe)
		return false;
	weir_exception_count(block, ctx->request.cost.packets, ctx->request.cost.bytes);
	weir_stats_seen(wn->stats, WEIR_SEEN_BLOCKED, false);
	return true;
}

/*
 * The first pass, of the limits from @at on, the next one that matches being @next if that is not
 * 0 and no exemption is near: what a limit refuses counts at none behind it. Sets @count to how
 * many were asked. Returns WEIR_UNSURE, or WEIR_REFUSE if the last of those drops it.
 */
static __always_inline enum weir_verdict
ask_all(struct weir_context *ctx, struct weir_net *wn, const struct weir_config *config,
	unsigned int at, unsigned int next, int *count)
{
	const bool early = !next;
	struct matched *m = ctx->matched;
	const struct weir_limit *limit;

	*count = 0;
	for (; at < config->count; m++) {
		if (early && unlikely(ctx->exempt))
			break;
		limit = config->limit[at];
		++*count;
		m->limit = at;
		m->receipt.result = unlikely(ctx->place.node) && prefix_blocked(ctx, wn, limit) ?
				    (struct weir_result) { WEIR_PREFIX_REFUSED } :
				    weir_limit_ask(wn, limit, &ctx->request, early);
		if (weir_result_refuses(m->receipt.result) && !limit->cfg.observe) {
			count_refusal(ctx, wn, config, limit, m->receipt.result,
				      *count == 1 ? at : WEIR_LIMITS_MAX);
			return WEIR_REFUSE;
		}
		at = *count == 1 && !early && likely(!ctx->place.node) ?
		     next : next_matched(ctx, config, at + 1);
	}
	return WEIR_UNSURE;
}

/* Count the packet at the first @count limits that it matches. */
static noinline void count_all(struct weir_context *ctx, const struct weir_config *config,
			       int count, bool dropped)
{
	struct weir_request *request = &ctx->request;
	const struct weir_limit *limit;
	struct matched *m = ctx->matched;

	for (; count--; m++) {
		limit = config->limit[m->limit];
		count_matched(ctx, limit, m->receipt.result, dropped);
		/* An observing limit refused only what no limit before it dropped. */
		if (limit->cfg.observe && weir_result_refuses(m->receipt.result) &&
		    weir_result_has_entry(m->receipt.result) &&
		    !(weir_request_prepare(request, limit) & ~WEIR_UNCHARGED))
			weir_table_dropped(limit->table, &request->lookup,
					   request->cost.packets, true);
	}
}

/*
 * A packet that several limits match, or whose prefix may be blocked. @first and @second are the
 * first two that match; @second is config->count if there is none.
 */
static noinline enum weir_verdict
charge_several(struct weir_context *ctx, struct weir_net *wn, const struct weir_config *config,
	       unsigned int first, unsigned int second)
{
	enum weir_verdict verdict;
	int count;

	verdict = ask_all(ctx, wn, config, first, second, &count);
	if (verdict == WEIR_UNSURE)
		verdict = charge_all(ctx, wn, config, &count);
	if (likely(verdict != WEIR_RESTART))
		count_all(ctx, config, count, verdict == WEIR_REFUSE);
	return verdict;
}

/* A packet that a single limit matches, where one lookup refuses or charges. */
static inline enum weir_verdict
charge_one(struct weir_context *ctx, struct weir_net *wn, const struct weir_config *config,
	   unsigned int at)
{
	const struct weir_limit *limit = config->limit[at];
	struct weir_result result;

	result = weir_limit_charge(wn, limit, &ctx->request, NULL);
	if (likely(result.flags == WEIR_CHARGED)) {
		count_matched(ctx, limit, result, false);
		return WEIR_ADMIT;
	}
	if (unlikely(result.flags & WEIR_AGAIN))
		return WEIR_RESTART;
	if (weir_result_refuses(result))
		count_refusal(ctx, wn, config, limit, result, at);
	count_matched(ctx, limit, result, false);
	return weir_result_refuses(result) && !limit->cfg.observe ? WEIR_REFUSE : WEIR_ADMIT;
}

/* Ask and charge all limits. */
static inline enum weir_verdict limits(struct weir_context *ctx, struct weir_net *wn,
				       const struct weir_config *config)
{
	const struct weir_request *request = &ctx->request;
	enum weir_verdict verdict;
	unsigned int first = 0, second;

	if (unlikely(!config->count) || !matches(ctx, config->limit[0])) {
		first = next_matched(ctx, config, 1);
		if (first >= config->count) {
			if (!(ctx->packet.flags & WEIR_PACKET_DECRYPTED))
				weir_stats_seen(wn->stats, WEIR_SEEN_UNMATCHED,
						ctx->packet.flags & WEIR_PACKET_CUT);
			return WEIR_ADMIT;
		}
	}
	second = first + 1;
	if (unlikely(second != config->count && !ctx->place.node))
		second = next_matched(ctx, config, second);
	verdict = likely(second == config->count && !ctx->place.node) ?
		  charge_one(ctx, wn, config, first) :
		  charge_several(ctx, wn, config, first, second);
	if (verdict == WEIR_RESTART)
		return WEIR_RESTART;
	weir_stats_seen(wn->stats, verdict == WEIR_REFUSE ? WEIR_SEEN_DROPPED : WEIR_SEEN_ADMITTED,
			ctx->packet.flags & WEIR_PACKET_CUT);
	if (verdict == WEIR_REFUSE && trace_weir_drop_enabled())
		trace_weir_drop(ctx->packet.skb, ctx->dropper, ctx->result, request->source,
				request->cost.packets, request->cost.bytes,
				request->lookup.tick);
	return verdict;
}

/*
 * Decide on a packet in PRE_ROUTING that the refusal cache does not answer: WEIR_REFUSE drops
 * it. BH off, RCU read lock.
 */
enum weir_verdict weir_verdict(struct sk_buff *skb, u8 family, struct weir_net *wn,
			       const struct weir_config *config, u64 tick)
{
	struct weir_context *ctx = this_cpu_ptr(contexts);
	struct weir_packet *packet = &ctx->packet;
	const struct weir_cost *cost = &ctx->request.cost;
	enum weir_verdict verdict;

	weir_packet_init(packet, skb, family);
	weir_request_init(&ctx->request, &packet->source, weir_packet_cost(skb, family), tick);
	if (packet->in->flags & IFF_LOOPBACK || weir_packet_already_seen(packet))
		return WEIR_ADMIT;
	do {
		ctx->place.node = NULL;
		if (config->exceptions) {
			weir_exception_place(config->exceptions, &packet->source,
					     packet->in->name, &ctx->place);
			if (ctx->place.all) {
				if (packet->flags & WEIR_PACKET_DECRYPTED)
					return WEIR_ADMIT;
				weir_exception_count(ctx->place.all, cost->packets, cost->bytes);
				weir_stats_seen(wn->stats, WEIR_SEEN_EXEMPT, false);
				return WEIR_ADMIT;
			}
		}
		if (config->conds & WEIR_CONDS_TRANSPORT) {
			weir_packet_parse(packet);
		} else if (weir_packet_may_be_vital(packet)) {
			weir_packet_parse(packet);
			/* What else was parsed counts only if a limit asks for it. */
			packet->flags &= WEIR_PACKET_VITAL | WEIR_PACKET_DECRYPTED;
		}
		verdict = limits(ctx, wn, config);
		if (likely(verdict != WEIR_RESTART))
			return verdict;
		weir_request_init(&ctx->request, &packet->source, *cost, tick);
		config = weir_config_get(wn);
	} while (config);
	return WEIR_ADMIT;
}

/* The first pass of a frame. */
static inline enum weir_verdict ask_frame(struct weir_context *ctx, struct weir_net *wn,
					  const struct weir_config *config)
{
	const struct weir_request *request = &ctx->request;
	unsigned int first = 0;
	int count;

	if (!matches(ctx, config->limit[0]))
		first = next_matched(ctx, config, 1);
	if (ask_all(ctx, wn, config, first, 0, &count) == WEIR_UNSURE)
		return WEIR_UNSURE;
	ctx->result.flags |= WEIR_EARLY;
	weir_stats_limit(ctx->dropper->stats, WEIR_DROPPED, 1, request->cost.bytes, ctx->result);
	if (--count)
		count_all(ctx, config, count, true);
	weir_stats_seen(wn->stats, WEIR_SEEN_DROPPED, false);
	trace_weir_early(ctx->dropper, request->source, 1, request->cost.bytes,
			 request->lookup.tick);
	return WEIR_REFUSE;
}

/*
 * Decide on a frame: WEIR_REFUSE, which is counted, or WEIR_UNSURE. BH off, with the CPU's data
 * to itself.
 */
enum weir_verdict weir_verdict_frame(struct weir_frame frame, struct weir_net *wn,
				     const struct weir_config *config, u64 tick)
{
	struct weir_context *ctx = this_cpu_ptr(contexts);
	struct weir_packet *packet = &ctx->packet;
	enum weir_verdict verdict = WEIR_UNSURE;

	rcu_read_lock();
	weir_packet_init_frame(packet, &frame);
	weir_request_init(&ctx->request, &packet->source,
			  (struct weir_cost) { .packets = 1, .bytes = frame.bytes }, tick);
	ctx->exempt = false;
	ctx->place.node = NULL;
	if (config->exceptions)
		weir_exception_place(config->exceptions, &packet->source, packet->in->name,
				     &ctx->place);
	if (config->conds & WEIR_CONDS_TRANSPORT || weir_packet_may_be_vital(packet))
		weir_packet_parse(packet);
	/* Without all of its headers the packet may be another one. */
	if (!(packet->flags & (WEIR_PACKET_VITAL | WEIR_PACKET_CUT)))
		verdict = ask_frame(ctx, wn, config);
	rcu_read_unlock();
	return verdict;
}
