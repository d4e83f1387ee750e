/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_TRACEPOINT_H
#define SHIM_TRACEPOINT_H

/* Tracepoints that nobody listens to. */
#define TP_PROTO(args...)	args
#define TP_ARGS(args...)
#define TP_STRUCT__entry(args...)
#define TP_fast_assign(args...)
#define TP_printk(args...)
#define SHIM_TRACE(name, proto)							\
	static inline void __attribute__((unused)) trace_##name(proto) { }	\
	static inline bool __attribute__((unused)) trace_##name##_enabled(void) { return false; }
#define TRACE_EVENT(name, proto, args...)		SHIM_TRACE(name, TP_PROTO(proto))
#define DECLARE_EVENT_CLASS(name, proto, args...)
#define DEFINE_EVENT(class, name, proto, args...)	SHIM_TRACE(name, TP_PROTO(proto))

#endif
