// SPDX-License-Identifier: GPL-2.0-or-later
/* A random packet: the expected limits and verdict, compared with the hook's. */
#include <linux/jiffies.h>
#include <linux/skbuff.h>

#include "hook_twin.h"

struct expected {
	struct twin_limit *limit;
	struct weir_limit *real;
	struct twin_source *source;
	struct weir_counters was;
	u64 cost;
	u64 newcomers;	/* in the window of their budgets */
	bool room, large;
	bool early;	/* the packet was dropped before the stack */
	bool blocked;	/* its prefix is, so it has no room */
	bool unmarked;	/* dropped before the stack, where a limit that looks at marks is not asked */
};

/* Packets in the window of a limit's newcomers' budgets */
static u64 newcomers_of(const struct weir_limit *limit)
{
	struct weir_newcomers_state state = { };

	rcu_read_lock();
	if (limit->newcomers.budget)
		weir_newcomers_peek(&limit->newcomers, weir_clock(), &state);
	rcu_read_unlock();
	return state.count;
}

/* A packet adds to these counters of a limit and to no others. */
static void check_gains(const struct expected *f, struct weir_cost cost, bool dropped,
			bool would, bool elsewhere, bool admitted)
{
	const struct {
		enum weir_fate fate;
		bool gain;
	} gains[] = {
		{ WEIR_DROPPED, dropped }, { WEIR_WOULD_DROP, would },
		{ WEIR_ELSEWHERE, elsewhere }, { WEIR_ADMITTED, admitted },
		{ WEIR_TOO_LARGE_REFUSED, f->large && !f->blocked && (dropped || would) },
		{ WEIR_EARLY_REFUSED, f->early && dropped },
		{ WEIR_NEWCOMERS_REFUSED, false }, { WEIR_PREFIX_BLOCKED, f->blocked && dropped },
	};
	struct weir_counters is;
	unsigned int i, fate;
	u64 charged;

	weir_limit_counters(f->real, &is);
	charged = is.packets[WEIR_NEWCOMERS_CHARGED] - f->was.packets[WEIR_NEWCOMERS_CHARGED];
	check(newcomers_of(f->real) - f->newcomers == charged * admitted,
	      "run %llu: %s: %llu newcomers, were %llu", t.run, f->real->cfg.name,
	      newcomers_of(f->real), f->newcomers);
	for (i = 0; i < ARRAY_SIZE(gains); i++) {
		fate = gains[i].fate;
		check(is.packets[fate] - f->was.packets[fate] == gains[i].gain * cost.packets &&
		      is.bytes[fate] - f->was.bytes[fate] == gains[i].gain * cost.bytes,
		      "run %llu: %s: counter %u by %llu", t.run, f->real->cfg.name, fate,
		      is.packets[fate] - f->was.packets[fate]);
	}
	hook_check(f->limit);
}

/* The limits that a packet matches, and whether each has room. Returns how many. */
static unsigned int expect_limits(const struct said *said, struct weir_cost cost,
			     struct expected *met)
{
	struct twin_limit *limit;
	struct expected *f = met;
	unsigned int reach;
	u64 slot;

	for (limit = t.limit; limit < t.limit + t.limits; limit++) {
		if (!said_meets(said, &limit->words.match) || hook_exempts(said, limit->words.name, false))
			continue;
		f->limit = limit;
		f->real = hook_real(limit);
		f->source = hook_source(limit, said_source(said));
		f->cost = f->real->cfg.budget[0].unit ? cost.bytes : cost.packets;
		slot = shim_jiffies / f->real->meter[0].slot_ticks;
		reach = f->real->meter[0].slots - !!f->real->cfg.budget[0].mode;
		twin_turn(&f->source->count, reach, slot);
		f->blocked = !f->real->cfg.observe && (hook_exempts(said, "", true) ||
						   hook_exempts(said, limit->words.name, true));
		f->room = !f->blocked && twin_sum(&f->source->count, reach, slot) + f->cost <=
			  f->real->room[0];
		f->large = f->cost > f->real->room[0];
		f->newcomers = newcomers_of(f->real);
		f->early = false;
		f->unmarked = false;
		weir_limit_counters(f->real, &f->was);
		f++;
	}
	return f - met;
}

/* The first limit whose drop counter rose. */
static struct expected *dropper_of(struct expected *met, unsigned int n)
{
	struct weir_counters is;
	struct expected *f;

	for (f = met; f < met + n; f++) {
		weir_limit_counters(f->real, &is);
		if (is.packets[WEIR_DROPPED] != f->was.packets[WEIR_DROPPED])
			break;
	}
	check(f < met + n && !f->room && !f->real->cfg.observe, "run %llu: who dropped it?", t.run);
	return f;
}

static void note_dropped(const struct expected *e, struct weir_cost cost, bool observed)
{
	if (e->large || e->blocked)
		return;
	if (e->source->observed != observed)
		e->source->dropped = 0;
	e->source->observed = observed;
	e->source->dropped += cost.packets;
}

/* Returns the limit that dropped the packet. */
static struct twin_limit *check_dropped(struct expected *met, unsigned int n, struct weir_cost cost)
{
	struct expected *dropper = dropper_of(met, n), *f;
	struct weir_counters is;
	u64 would;

	for (f = met; f < met + n; f++) {
		weir_limit_counters(f->real, &is);
		would = is.packets[WEIR_WOULD_DROP] !=
			f->was.packets[WEIR_WOULD_DROP];
		check(!would || (f->real->cfg.observe && !f->room), "run %llu", t.run);
		check(f >= dropper || !f->blocked || f->unmarked, "run %llu: not blocked", t.run);
		if (would || f == dropper)
			note_dropped(f, cost, would);
		check_gains(f, cost, f == dropper, would,
			    f < dropper && !would && !f->unmarked, false);
	}
	t.seen[WEIR_SEEN_BLOCKED] += dropper->blocked;
	t.blocked += dropper->blocked;
	return dropper->limit;
}

static void check_admitted(struct expected *met, unsigned int n, struct weir_cost cost)
{
	struct expected *f;

	for (f = met; f < met + n; f++) {
		if (f->room)
			f->source->count.count[0] += f->cost;
		else
			note_dropped(f, cost, true);
		check_gains(f, cost, false, !f->room, false, f->room);
	}
}

/* Unreadable headers must be counted if a limit surely asked for them. */
static void check_seen(enum weir_outcome outcome, bool unparsable, bool surely)
{
	u64 count[WEIR_OUTCOMES] = { };
	unsigned int i, cpu;

	for_each_possible_cpu(cpu)
		for (i = 0; i < WEIR_OUTCOMES; i++)
			count[i] += per_cpu_ptr(t.wn.stats, cpu)->count[i].v;
	t.seen[outcome]++;
	if (unparsable && (surely || count[WEIR_SEEN_UNPARSABLE] != t.seen[WEIR_SEEN_UNPARSABLE]))
		t.seen[WEIR_SEEN_UNPARSABLE]++;
	assert_memory_equal(count, t.seen, sizeof(count));
}

/* Does any limit before @end need the transport header? */
static bool is_parsed(const struct twin_limit *end)
{
	const struct twin_limit *limit;

	for (limit = t.limit; limit < end; limit++)
		if (limit->words.match.conds & WEIR_CONDS_TRANSPORT)
			return true;
	return false;
}

/* Make the packet and its bytes at @byte. Returns the length of its headers. */
static unsigned int make_skb(const struct said *said, u8 byte[PACKET_MAX], struct sk_buff *skb)
{
	unsigned int header = said_make(said, byte);

	*skb = (struct sk_buff) {
		.network = byte, .transport = header - 20, .len = header, .mark = said->mark,
	};
	if (said->segments > 1) {
		skb->len += said->segments * 100;
		skb->shinfo = (struct skb_shared_info) {
			100, below(2) ? said->segments : 0,
			said->ipv6 ? SKB_GSO_TCPV6 : SKB_GSO_TCPV4,
		};
	}
	return header;
}

/* Ask before the stack: is the packet dropped there? Only if the hook would drop it. */
static bool asked_early(const struct said *said, struct sk_buff *skb, bool drops,
			struct expected *met, unsigned int n)
{
	unsigned int i;

	if (said->segments > 1 || below(2) ||
	    !hook_early(skb, said->ipv6, &t.dev[said->dev]))
		return false;
	check(drops, "run %llu: dropped early, but not by the hook", t.run);
	t.early++;
	for (i = 0; i < n; i++) {
		met[i].early = true;
		met[i].unmarked = met[i].real->cfg.match.conds & WEIR_COND_MARK;
	}
	return true;
}

void hook_packet(void)
{
	struct said said = said_random(&t.chance);
	bool drops = false, exempt = hook_exempts(&said, "", false);
	struct expected met[LIMITS_MAX];
	struct twin_limit *asked = t.limit + t.limits;
	unsigned int n, i, header, verdict;
	struct weir_cost cost;
	u8 byte[PACKET_MAX];
	struct sk_buff skb;

	header = make_skb(&said, byte, &skb);
	cost = (struct weir_cost) { said.segments, skb.len + (said.segments - 1) * header };
	n = exempt ? 0 : expect_limits(&said, cost, met);
	for (i = 0; i < n; i++)
		drops |= !met[i].room && !met[i].real->cfg.observe;
	shim_cpu = below(SHIM_CPUS);
	if (asked_early(&said, &skb, drops, met, n))
		verdict = NF_DROP;
	else
		verdict = hook_verdict(&skb, said.ipv6, &t.dev[said.dev]);
	check(verdict == (drops ? NF_DROP : NF_ACCEPT), "run %llu: verdict %u", t.run, verdict);
	if (drops)
		asked = check_dropped(met, n, cost) + 1;
	else
		check_admitted(met, n, cost);
	check_seen(exempt ? WEIR_SEEN_EXEMPT : !n ? WEIR_SEEN_UNMATCHED :
		   drops ? WEIR_SEEN_DROPPED : WEIR_SEEN_ADMITTED,
		   said_cut(&said) && !exempt && is_parsed(t.limit + t.limits), is_parsed(asked));
	t.dropped += drops;
	t.admitted += !drops && n;
}
