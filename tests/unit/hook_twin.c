// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/jiffies.h>
#include <linux/user_namespace.h>

#include "table/shared.h"
#include "path/frame.h"
#include "hook_twin.h"

struct hook_twin t;

void weir_event_source(struct weir_net *wn, const struct weir_limit *limit,
		       const struct weir_source *source)
{
	t.events++;
}

void weir_event_pressure(struct weir_net *wn, const struct weir_limit *limit, u64 tick)
{
	check(t.pressure, "run %llu: there is no pressure", t.run);
}

bool hook_exempts(const struct said *said, const char *name, bool block)
{
	unsigned int i;

	for (i = 0; i < t.exempts; i++)
		if (t.exempt[i].exempt.block == block && !strcmp(t.exempt[i].limit, name) &&
		    said_exempt(said, &t.exempt[i].exempt))
			return true;
	return false;
}

struct weir_limit *hook_limit(const char *name)
{
	return weir_limit_find(weir_config_get(&t.wn), name);
}

struct weir_limit *hook_real(const struct twin_limit *limit)
{
	return hook_limit(limit->words.name);
}

u64 hook_fate(const char *name, enum weir_fate fate)
{
	struct weir_counters counts;

	weir_limit_counters(hook_limit(name), &counts);
	return counts.packets[fate];
}

struct twin_source *hook_source(struct twin_limit *limit, struct weir_source source)
{
	struct twin_source *s;

	weir_source_mask(&source, limit->words.prefix);
	for (s = limit->source; s < limit->source + limit->sources; s++)
		if (!memcmp(&s->source, &source, sizeof(source)))
			return s;
	check(limit->sources++ < SOURCES, "run %llu", t.run);
	*s = (struct twin_source) { .source = source };
	return s;
}

u64 hook_peek(const struct weir_limit *real, const struct twin_source *s,
	      u64 slot[WEIR_SLOTS_MAX + 1])
{
	struct weir_source_state state;

	weir_table_peek(real->table, &s->source,
			weir_source_hash(&s->source, real->cfg.prefix, &t.wn.key),
			shim_jiffies, real->room, NULL, &state, slot);
	weir_batches_unspent(real->table, shim_jiffies, &state, slot);
	return state.count[0];
}

u64 hook_dropped(const struct weir_limit *real, const struct twin_source *s)
{
	struct weir_source_state state;
	u64 slot[WEIR_SLOTS_MAX + 1];

	weir_table_peek(real->table, &s->source,
			weir_source_hash(&s->source, real->cfg.prefix, &t.wn.key),
			shim_jiffies, real->room, NULL, &state, slot);
	if (s->observed == real->cfg.observe)
		weir_refusals_pending(&t.wn, real, &state, 1);
	return state.dropped;
}

u64 hook_sum(const struct weir_limit *real, const struct twin_source *s)
{
	return twin_sum(&s->count, real->meter[0].slots - !!real->cfg.budget[0].mode,
			shim_jiffies / real->meter[0].slot_ticks);
}

void hook_check(struct twin_limit *limit)
{
	const struct weir_limit *real = hook_real(limit);
	u64 slot[WEIR_SLOTS_MAX + 1], count, sum;
	struct twin_source *s;

	for (s = limit->source; s < limit->source + limit->sources; s++) {
		sum = hook_sum(real, s);
		count = hook_peek(real, s, slot);
		check(count == sum, "run %llu: %s: %llu for %llu", t.run, real->cfg.name, count, sum);
		check(hook_dropped(real, s) == s->dropped,
		      "run %llu: %s: %llu dropped for %llu", t.run, real->cfg.name,
		      hook_dropped(real, s), s->dropped);
	}
}

unsigned int hook_verdict(struct sk_buff *skb, bool ipv6, struct net_device *dev)
{
	struct nf_hook_state state = { .pf = ipv6 ? AF_INET6 : AF_INET, .in = dev };
	/* Packets reinjected from user space run with BH enabled. */
	bool reinjected = chance_one_in(&t.chance, 8);
	unsigned int verdict;

	if (!skb->dev)
		skb->dev = dev;
	if (!reinjected)
		local_bh_disable();
	rcu_read_lock();
	verdict = shim_hooks[ipv6].hook(shim_hooks[ipv6].priv, skb, &state);
	rcu_read_unlock();
	if (!reinjected)
		local_bh_enable();
	return verdict;
}

/* Would a packet of one segment be dropped before the stack? The shim's is linear. */
bool hook_early(struct sk_buff *skb, bool ipv6, struct net_device *dev)
{
	const struct weir_frame frame = {
		.dev = dev,
		.header = skb->network,
		.len = skb->len,
		.bytes = skb->len,
		.family = ipv6 ? AF_INET6 : AF_INET,
	};
	struct weir_config *config;
	bool refused;

	local_bh_disable();
	config = weir_config_get(&t.wn);
	refused = config && config->count &&
		  weir_frame_refused(&frame, &t.wn, config, shim_jiffies);
	local_bh_enable();
	return refused;
}

void hook_begin(u64 run)
{
	unsigned int i;

	memset(&t.wn, 0, sizeof(t.wn));
	t.chance = chance_of(run);
	t.run = run;
	t.limits = 0;
	t.exempts = 0;
	t.names = 0;
	memset(t.seen, 0, sizeof(t.seen));
	t.net.user_ns = &init_user_ns;
	t.wn.net = &t.net;
	t.wn.key = (hsiphash_key_t) { { chance(&t.chance), run } };
	t.wn.stats = alloc_percpu_gfp(struct weir_stats, GFP_KERNEL);
	assert_non_null(t.wn.stats);
	mutex_init(&t.wn.lock);
	for (i = 0; i < ARRAY_SIZE(t.dev); i++) {
		strcpy(t.dev[i].name, said_dev[i]);
		t.dev[i].ifindex = i + 1;
	}
	shim_jiffies = below(BIT_ULL(40));
}

void hook_end(void)
{
	assert_int_equal(edit_flush(&t.wn, true), 0);
	assert_null(shim_hooks);
	assert_true(!atomic64_read(&t.wn.bytes));
	weir_config_free(&t.wn);
	free_percpu(t.wn.stats);
	assert_int_equal(shim_allocations, 0);
}
