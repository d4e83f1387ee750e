/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints. saddr is the whole address of the sender, IPv4 as IPv6 knows it
 * (::ffff:192.0.2.1); tick is that at which the entry counted it; budget is the number of
 * the one that refused, from 1; reason is enum weir_reason.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM weir

#if !defined(WEIR_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define WEIR_TRACE_H

#include <linux/tracepoint.h>

#include "limit/limit.h"
#include "limit/result.h"

#ifndef WEIR_TRACE_ADDRESS
#define WEIR_TRACE_ADDRESS
static inline void weir_trace_address(u8 *saddr, const struct weir_source *source)
{
	if (source->scope & WEIR_SCOPE_IPV6) {
		memcpy(saddr, source->word, 16);
		return;
	}
	memset(saddr, 0, 10);
	memset(saddr + 10, 0xff, 2);
	memcpy(saddr + 12, source->word, 4);
}
#endif

/* perf reads the format, and there has no other way to know what an enumerator is. */
TRACE_DEFINE_ENUM(WEIR_REASON_BUDGET);
TRACE_DEFINE_ENUM(WEIR_REASON_BLOCK);
TRACE_DEFINE_ENUM(WEIR_REASON_FLOOR);
TRACE_DEFINE_ENUM(WEIR_REASON_SIZE);
TRACE_DEFINE_ENUM(WEIR_REASON_NEWCOMERS);

#define weir_trace_reason(reason)			\
	__print_symbolic(reason,			\
			 { WEIR_REASON_BUDGET, "budget" },	\
			 { WEIR_REASON_BLOCK, "block" },	\
			 { WEIR_REASON_FLOOR, "floor" },	\
			 { WEIR_REASON_SIZE, "size" },	\
			 { WEIR_REASON_NEWCOMERS, "newcomers" })

DECLARE_EVENT_CLASS(weir_source,
	TP_PROTO(const struct weir_limit *limit, struct weir_result result,
		 const struct weir_source *source, u64 tick),
	TP_ARGS(limit, result, source, tick),
	TP_STRUCT__entry(
		__array(char, limit, WEIR_NAME_SIZE)
		__array(u8, saddr, 16)
		__field(u64, tick)
		__field(u8, budget)
		__field(u8, reason)
	),
	TP_fast_assign(
		memcpy(__entry->limit, limit->cfg.name, WEIR_NAME_SIZE);
		weir_trace_address(__entry->saddr, source);
		__entry->tick = tick;
		__entry->budget = weir_result_budget(result) + 1;
		__entry->reason = weir_result_reason(result);
	),
	TP_printk("limit=%s saddr=%pI6c tick=%llu reason=%s budget=%u",
		  __entry->limit, __entry->saddr, __entry->tick,
		  weir_trace_reason(__entry->reason), __entry->budget)
);

#define WEIR_SOURCE_EVENT(name)						\
DEFINE_EVENT(weir_source, name,						\
	TP_PROTO(const struct weir_limit *limit, struct weir_result result,		\
		 const struct weir_source *source, u64 tick),		\
	TP_ARGS(limit, result, source, tick)				\
)

WEIR_SOURCE_EVENT(weir_limited);
WEIR_SOURCE_EVENT(weir_blocked);

DECLARE_EVENT_CLASS(weir_cost,
	TP_PROTO(const struct weir_limit *limit,
		 const struct weir_source *source, u32 packets, u64 bytes,
		 u64 tick),
	TP_ARGS(limit, source, packets, bytes, tick),
	TP_STRUCT__entry(
		__array(char, limit, WEIR_NAME_SIZE)
		__array(u8, saddr, 16)
		__field(u64, tick)
		__field(u32, packets)
		__field(u64, bytes)
	),
	TP_fast_assign(
		memcpy(__entry->limit, limit->cfg.name, WEIR_NAME_SIZE);
		weir_trace_address(__entry->saddr, source);
		__entry->tick = tick;
		__entry->packets = packets;
		__entry->bytes = bytes;
	),
	TP_printk("limit=%s saddr=%pI6c tick=%llu packets=%u bytes=%llu",
		  __entry->limit, __entry->saddr, __entry->tick,
		  __entry->packets, __entry->bytes)
);

#define WEIR_COST_EVENT(name)						\
DEFINE_EVENT(weir_cost, name,						\
	TP_PROTO(const struct weir_limit *limit,			\
		 const struct weir_source *source, u32 packets,		\
		 u64 bytes, u64 tick),					\
	TP_ARGS(limit, source, packets, bytes, tick)			\
)

WEIR_COST_EVENT(weir_charge);
WEIR_COST_EVENT(weir_uncharge);
WEIR_COST_EVENT(weir_early);

TRACE_EVENT(weir_drop,
	TP_PROTO(const struct sk_buff *skb, const struct weir_limit *limit,
		 struct weir_result result, const struct weir_source *source, u32 packets,
		 u64 bytes, u64 tick),
	TP_ARGS(skb, limit, result, source, packets, bytes, tick),
	TP_STRUCT__entry(
		__field(const void *, skbaddr)
		__array(char, limit, WEIR_NAME_SIZE)
		__array(u8, saddr, 16)
		__field(u64, tick)
		__field(u32, packets)
		__field(u64, bytes)
		__field(u8, budget)
		__field(u8, reason)
	),
	TP_fast_assign(
		__entry->skbaddr = skb;
		memcpy(__entry->limit, limit->cfg.name, WEIR_NAME_SIZE);
		weir_trace_address(__entry->saddr, source);
		__entry->tick = tick;
		__entry->packets = packets;
		__entry->bytes = bytes;
		__entry->budget = weir_result_budget(result) + 1;
		__entry->reason = weir_result_reason(result);
	),
	TP_printk("skbaddr=%p limit=%s saddr=%pI6c tick=%llu packets=%u bytes=%llu reason=%s budget=%u",
		  __entry->skbaddr, __entry->limit, __entry->saddr,
		  __entry->tick, __entry->packets, __entry->bytes,
		  weir_trace_reason(__entry->reason), __entry->budget)
);

#endif /* WEIR_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH path
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
