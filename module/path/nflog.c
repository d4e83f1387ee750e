// SPDX-License-Identifier: GPL-2.0-only
/*
 * A sample of the packets that a limit drops goes to a group of nflog, as by nft's log: to whoever
 * listens to it in the network namespace. This allocates, and costs thousands of instructions, so
 * there is little of it: WEIR_NFLOG_RATE a second for each limit, on all CPUs together. Whatever
 * is sent, no more is logged. What is logged is counted.
 *
 * Frames have no buffer yet that could be logged, nor is what the refusal cache drops.
 */
#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/kmod.h>
#include <net/netfilter/nf_log.h>

#include "error.h"
#include "limit/stats.h"
#include "path/nflog.h"
#include "path/trace.h"

#define WEIR_NFLOG_RATE	16

int weir_nflog_get(const struct weir_limit *limit, const struct weir_limit *was,
		   struct weir_error *error)
{
	if (!limit->cfg.log || (was && was->cfg.log) ||
	    !nf_logger_find_get(NFPROTO_INET, NF_LOG_TYPE_ULOG))
		return 0;
	request_module("nfnetlink_log");
	if (!nf_logger_find_get(NFPROTO_INET, NF_LOG_TYPE_ULOG))
		return 0;
	return weir_refuse(error, -EOPNOTSUPP, WEIR_A_LIMIT_LOG,
			   "the kernel's nfnetlink_log is missing, or could not be loaded");
}

void weir_nflog_put(const struct weir_limit *limit, const struct weir_limit *heir)
{
	if (limit->cfg.log && !(heir && heir->cfg.log))
		nf_logger_put(NFPROTO_INET, NF_LOG_TYPE_ULOG);
}

/* Is there room for one more in the second that began with the first one? */
static bool take_one(atomic64_t *second, u32 tick)
{
	u64 old = atomic64_read(second);
	u32 begin = old >> 32, taken = old;

	if (tick - begin >= HZ)
		return atomic64_cmpxchg_relaxed(second, old, (u64)tick << 32 | 1) == old;
	return taken < WEIR_NFLOG_RATE &&
	       atomic64_cmpxchg_relaxed(second, old, old + 1) == old;
}

void weir_nflog_drop(const struct weir_net *wn, const struct weir_limit *limit,
		     const struct weir_packet *packet, struct weir_result result, u64 tick)
{
	static const char *const reasons[] = {
		[WEIR_REASON_BUDGET]	= "budget",
		[WEIR_REASON_BLOCK]	= "block",
		[WEIR_REASON_FLOOR]	= "floor",
		[WEIR_REASON_SIZE]	= "size",
		[WEIR_REASON_NEWCOMERS]	= "newcomers",
	};
	struct nf_loginfo info = {
		.type = NF_LOG_TYPE_ULOG,
		.u.ulog.group = limit->cfg.log,
	};

	if (!take_one(&limit->pressure->logged, tick))
		return;
	nf_log_packet(wn->net, packet->family, NF_INET_PRE_ROUTING, packet->skb, packet->in, NULL,
		      &info, "weir %s: %s", limit->cfg.name,
		      reasons[weir_result_reason(result)]);
	weir_limit_count(limit, WEIR_COUNTER_OF(logged), 1);
}
