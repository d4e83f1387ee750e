/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A network namespace with its limits and exemptions, and its twin: a wheel for
 * each limit and source. What is done is done to both, and must come out alike.
 */
#ifndef HOOK_TWIN_H
#define HOOK_TWIN_H

#include <linux/netdevice.h>

#include "hook_edit.h"
#include "hook_said.h"
#include "table_twin.h"

#define LIMITS_MAX 6
#define EXEMPTS_MAX 4

/* One source as one limit counts it. */
struct twin_source {
	struct weir_source source;
	struct twin_wheel wheel;
	u64 dropped;
	bool observed;		/* ... of this kind */
};

struct twin_limit {
	struct weir_limit words;
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
	bool pressure;	/* there may be */
	bool plain;	/* limits are mostly, and there is one mostly */
	u64 run, events, dropped, admitted, failures;
	u32 names;
};

extern struct hook_twin t;

static inline u64 below(u64 n)
{
	return chance_below(&t.chance, n);
}

void hook_begin(u64 run);
void hook_end(void);

struct weir_limit *hook_real(const struct twin_limit *limit);
/* Is a packet exempt from a limit, or with "" from all? */
bool hook_exempts(const struct said *said, const char *name);
/* A source as a limit counts it, which is new to the twin perhaps. */
struct twin_source *hook_source(struct twin_limit *limit,
				struct weir_source source);
/* What a limit counts of a source, in all and by the slot. */
u64 hook_peek(const struct weir_limit *real, const struct twin_source *s,
	      u64 slot[WEIR_SLOTS_MAX + 1]);
u64 hook_sum(const struct weir_limit *real, const struct twin_source *s);
/* Its refusals, also of the action before, and those that wait in the caches. */
u64 hook_dropped(const struct weir_limit *real, const struct twin_source *s);
/* All sources that a limit has met, beside their twins. */
void hook_check(struct twin_limit *limit);

/* A packet of a family comes in at a device, which is the skb's if that has none. */
unsigned int hook_verdict(struct sk_buff *skb, bool ipv6,
			  struct net_device *dev);

/* Acts at random: a packet, a change of one kind. */
void hook_packet(void);
void hook_add(void);
void hook_set(void);
void hook_del(void);
void hook_add_exempt(void);
void hook_del_exempt(void);
void hook_replace(void);

#endif /* HOOK_TWIN_H */
