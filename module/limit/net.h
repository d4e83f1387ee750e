/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of a network namespace.
 */
#ifndef WEIR_NET_H
#define WEIR_NET_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/netfilter.h>
#include <linux/rcupdate.h>
#include <linux/siphash.h>
#include <linux/user_namespace.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>

struct weir_config;
struct weir_events;
struct weir_refusal_cache;
struct weir_stats;

/* Clocks of dumps of changes: see cursor_take() in netlink/save.c. */
struct weir_cursor {
	u64 tick;		/* one before which no packet is under way, or 0 */
	u64 next;		/* one that will be, or 0 */
	unsigned long grace;	/* the grace period for which it waits */
};

struct weir_net {
	/* Published by RCU, written under @lock; NULL at first */
	struct weir_config __rcu *config;
	struct weir_stats __percpu *stats;	/* CPU-local */
	struct weir_refusal_cache __percpu *refusals;	/* likewise, allocated while @hooked */
	hsiphash_key_t key;	/* of the hash of sources, for limits that are added */
	struct net *net;	/* outlives this */

	struct mutex lock;	/* one change at a time */
	struct weir_config *held;	/* made, but not published yet; or NULL */
	u32 holder;		/* port ID of the socket that asked for it, or 0 */
	bool privileged;	/* the host's root asked for it */
	u64 spare;		/* bytes of tables that what is being made replaces */
	struct weir_cursor cursor;
	u32 next_id;		/* of the last limit that was made */
	atomic64_t bytes;	/* held by the tables, also by those of removed limits */
	bool hooked;		/* the hooks are registered */
	struct nf_hook_ops ops[2];
	struct weir_events *events;	/* ring of events, allocated while @hooked */
	struct delayed_work age;	/* calls weir_table_age() */
	struct delayed_work expire;	/* see config_watch() in config/publish.c */
	struct mem_cgroup *memcg;	/* of the last change by a process; held */
	atomic64_t events_lost;	/* because the ring was full or sending failed */
};

extern unsigned int weir_net_id;	/* of the namespaces' states */

/* In any context, from the module's init to the exit of the namespace. */
struct weir_net *weir_net(const struct net *net);

/* May a namespace have so much memory for its limits in addition? */
static inline bool weir_net_affords(const struct weir_net *wn, u64 bytes)
{
	const u64 most = (64 << 20) + wn->spare;

	return wn->net->user_ns == &init_user_ns || atomic64_read(&wn->bytes) + bytes <= most;
}

/* NULL if there never was one. In an RCU section, BH off or locked. */
static inline struct weir_config *weir_config_get(const struct weir_net *wn)
{
	return rcu_dereference_check(wn->config, lockdep_is_held(&wn->lock) ||
				     rcu_read_lock_bh_held());
}

#endif /* WEIR_NET_H */
