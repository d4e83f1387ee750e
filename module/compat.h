/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between kernels, found by name: Kbuild looks for the names in
 * the headers and defines WEIR_HAS_*.
 */
#ifndef WEIR_COMPAT_H
#define WEIR_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/local_lock.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#ifdef WEIR_HAS_rps_needed
#include <net/rps.h>
#endif

/* A verdict that drops, with a reason that dropwatch and perf report. */
static inline unsigned int weir_nf_drop(struct sk_buff *skb)
{
#ifdef WEIR_HAS_NF_DROP_REASON
	return NF_DROP_REASON(skb, SKB_DROP_REASON_NETFILTER_DROP, 0);
#else
	return NF_DROP;
#endif
}

/*
 * With BH off a CPU has one packet at a time, except with PREEMPT_RT on kernels that
 * have this lock. Without PREEMPT_RT only lockdep sees it.
 */
#ifdef local_lock_nested_bh
#define weir_lock_nested_bh(lock)	local_lock_nested_bh(lock)
#define weir_unlock_nested_bh(lock)	local_unlock_nested_bh(lock)
#else
#define weir_lock_nested_bh(lock)	((void)(lock))
#define weir_unlock_nested_bh(lock)	((void)(lock))
#endif

/* A timer that is not started yet. */
static inline void weir_hrtimer_setup(struct hrtimer *timer,
				      enum hrtimer_restart (*function)(struct hrtimer *),
				      clockid_t clock, enum hrtimer_mode mode)
{
#ifdef WEIR_HAS_hrtimer_setup
	hrtimer_setup(timer, function, clock, mode);
#else
	hrtimer_init(timer, clock, mode);
	timer->function = function;
#endif
}

/* Does a receive queue of this machine pass packets on to other CPUs? */
static inline bool weir_packets_steered(void)
{
#ifdef CONFIG_RPS
	return static_branch_unlikely(&rps_needed);
#else
	return false;
#endif
}

/* Filled before it is read: kernels that clear the stack need not clear it. */
#if __has_attribute(__uninitialized__)
#define __weir_uninitialized __attribute__((__uninitialized__))
#else
#define __weir_uninitialized
#endif

#endif /* WEIR_COMPAT_H */
