/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A network namespace with limits and exemptions, and its twin: a count for each
 * limit and source. Each operation is applied to both, and the results must agree.
 */
#ifndef HOOK_TWIN_H
#define HOOK_TWIN_H

#include <linux/netdevice.h>

#include "hook_edit.h"
#include "hook_said.h"
#include "limit/stats.h"
#include "table_twin.h"

#define LIMITS_MAX 6
#define EXEMPTS_MAX 4

/* One source as one limit counts it. */
struct twin_source {
	struct weir_source source;
	struct twin_count count;
	u64 dropped;
	bool observed;		/* dropped counts observed drops */
};

struct twin_limit {
	struct weir_limit_config words;
	struct twin_source source[SOURCES];
	unsigned int sources;
};

struct hook_twin {
	struct chance chance;
	struct net net;
	struct weir_net wn;
	struct net_device dev[2];
	struct twin_limit limit[LIMITS_MAX];
	unsigned int limits;
	struct said_exempt exempt[EXEMPTS_MAX];
	unsigned int exempts;
	u64 seen[WEIR_OUTCOMES];
	bool pressure;	/* pressure events are allowed */
	bool plain;	/* mostly a single limit, mostly without conditions */
	u64 run, events, dropped, blocked, early, admitted, failures;
	u32 names;
};

extern struct hook_twin t;

static inline u64 below(u64 n)
{
	return chance_below(&t.chance, n);
}

void hook_begin(u64 run);
void hook_end(void);

struct weir_limit *hook_limit(const char *name);
struct weir_limit *hook_real(const struct twin_limit *limit);
/* Packets of a fate that a limit has counted */
u64 hook_fate(const char *name, enum weir_fate fate);
/* Is a packet exempt from limit @name, or from all limits ("")? Or blocked? */
bool hook_exempts(const struct said *said, const char *name, bool block);
/* The twin's record of a source, created if there is none. */
struct twin_source *hook_source(struct twin_limit *limit, struct weir_source source);
/* A source's count: the limit's, also by slot, and the twin's. */
u64 hook_peek(const struct weir_limit *real, const struct twin_source *s,
	      u64 slot[WEIR_SLOTS_MAX + 1]);
u64 hook_sum(const struct weir_limit *real, const struct twin_source *s);
/* Its drops in the table, and under the same action those pending in the caches. */
u64 hook_dropped(const struct weir_limit *real, const struct twin_source *s);
/* Compare all sources of a limit with the twin. */
void hook_check(struct twin_limit *limit);

/* Run the hook for a packet received on @dev; sets skb->dev if it is NULL. */
unsigned int hook_verdict(struct sk_buff *skb, bool ipv6, struct net_device *dev);
bool hook_early(struct sk_buff *skb, bool ipv6, struct net_device *dev);

/* Random operations: a packet, or one kind of change. */
void hook_packet(void);
void hook_add(void);
void hook_set(void);
void hook_del(void);
void hook_add_exempt(void);
void hook_del_exempt(void);
void hook_replace(void);

#endif /* HOOK_TWIN_H */
