/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints. tick is the time that the wheel counted at.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM weir

#if !defined(WEIR_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define WEIR_TRACE_H

#include <linux/tracepoint.h>

#include "limit.h"

#define weir_trace_source_entry						\
	__array(char, limit, WEIR_NAME_SIZE)				\
	__array(u8, saddr, 16)						\
	__field(bool, ipv6)						\
	__field(u64, tick)

#define weir_trace_source_assign					\
	memcpy(__entry->limit, limit->name, WEIR_NAME_SIZE);		\
	memcpy(__entry->saddr, source->word, 16);			\
	__entry->ipv6 = source->zone & WEIR_ZONE_IPV6;			\
	__entry->tick = tick

#define weir_trace_source_print						\
	__entry->limit, __entry->ipv6 ? 6 : 4, __entry->saddr,	\
	__entry->tick

TRACE_EVENT(weir_limited,
	TP_PROTO(const struct weir_limit *limit,
		 const struct weir_source *source, u64 tick),
	TP_ARGS(limit, source, tick),
	TP_STRUCT__entry(weir_trace_source_entry),
	TP_fast_assign(weir_trace_source_assign;),
	TP_printk("limit=%s ipv%d saddr=%pI6c tick=%llu",
		  weir_trace_source_print)
);

DECLARE_EVENT_CLASS(weir_cost,
	TP_PROTO(const struct weir_limit *limit,
		 const struct weir_source *source, u32 packets, u64 bytes,
		 u64 tick),
	TP_ARGS(limit, source, packets, bytes, tick),
	TP_STRUCT__entry(
		weir_trace_source_entry
		__field(u32, packets)
		__field(u64, bytes)
	),
	TP_fast_assign(
		weir_trace_source_assign;
		__entry->packets = packets;
		__entry->bytes = bytes;
	),
	TP_printk("limit=%s ipv%d saddr=%pI6c tick=%llu packets=%u bytes=%llu",
		  weir_trace_source_print, __entry->packets, __entry->bytes)
);

DEFINE_EVENT(weir_cost, weir_charge,
	TP_PROTO(const struct weir_limit *limit,
		 const struct weir_source *source, u32 packets, u64 bytes,
		 u64 tick),
	TP_ARGS(limit, source, packets, bytes, tick)
);

DEFINE_EVENT(weir_cost, weir_uncharge,
	TP_PROTO(const struct weir_limit *limit,
		 const struct weir_source *source, u32 packets, u64 bytes,
		 u64 tick),
	TP_ARGS(limit, source, packets, bytes, tick)
);

TRACE_EVENT(weir_drop,
	TP_PROTO(const struct sk_buff *skb, const struct weir_limit *limit,
		 const struct weir_source *source, u32 packets, u64 bytes,
		 u64 tick),
	TP_ARGS(skb, limit, source, packets, bytes, tick),
	TP_STRUCT__entry(
		__field(const void *, skbaddr)
		weir_trace_source_entry
		__field(u32, packets)
		__field(u64, bytes)
	),
	TP_fast_assign(
		__entry->skbaddr = skb;
		weir_trace_source_assign;
		__entry->packets = packets;
		__entry->bytes = bytes;
	),
	TP_printk("skbaddr=%p limit=%s ipv%d saddr=%pI6c tick=%llu packets=%u bytes=%llu",
		  __entry->skbaddr, weir_trace_source_print, __entry->packets,
		  __entry->bytes)
);

#endif /* WEIR_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
