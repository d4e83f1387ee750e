// SPDX-License-Identifier: GPL-2.0-or-later
/* A random packet: what it is foretold to meet, and what has become of it. */
#include <linux/jiffies.h>
#include <linux/skbuff.h>

#include "hook_twin.h"

/* What a limit's counters gained, as it is foretold for one packet. */
static void check_gain(const struct weir_counts *was, const struct weir_limit *l,
		       struct weir_cost cost, u64 gain, const char *what,
		       int fate)
{
	struct weir_counts is;

	weir_limit_counts(l, &is);
	check(is.packets[fate] - was->packets[fate] == gain * cost.packets &&
	      is.bytes[fate] - was->bytes[fate] == gain * cost.bytes,
	      "run %llu: %s: %s by %llu", t.run, l->name, what,
	      is.packets[fate] - was->packets[fate]);
}

struct foretold {
	struct twin_limit *limit;
	struct weir_limit *real;
	struct twin_source *source;
	struct weir_counts was;
	u64 cost;
	bool room, large;
};

/* The limits that a packet meets, and who has room. Returns how many. */
static unsigned int foretell(const struct said *said, struct weir_cost cost,
			     struct foretold *met)
{
	struct twin_limit *limit;
	struct foretold *f = met;

	for (limit = t.limit; limit < t.limit + t.limits; limit++) {
		if (!said_meets(said, &limit->words.match) ||
		    hook_exempts(said, limit->words.name))
			continue;
		f->limit = limit;
		f->real = hook_real(limit);
		f->source = hook_source(limit, said_source(said));
		f->cost = f->real->bytes ? cost.bytes : cost.packets;
		twin_turn(&f->source->wheel,
			  f->real->slots + !f->real->lenient,
			  shim_jiffies / f->real->slot_ticks);
		f->room = twin_sum(&f->source->wheel) + f->cost <=
			  f->real->budget;
		f->large = f->cost > f->real->budget;
		weir_limit_counts(f->real, &f->was);
		f++;
	}
	return f - met;
}

/* The first that gained a drop. */
static struct foretold *dropper_of(struct foretold *met, unsigned int n)
{
	struct weir_counts is;
	struct foretold *f;

	for (f = met; f < met + n; f++) {
		weir_limit_counts(f->real, &is);
		if (is.packets[WEIR_DROPPED] != f->was.packets[WEIR_DROPPED])
			break;
	}
	check(f < met + n && !f->room && !f->real->observe,
	      "run %llu: who dropped it?", t.run);
	return f;
}

static void check_dropped(struct foretold *met, unsigned int n,
			  struct weir_cost cost)
{
	struct foretold *dropper = dropper_of(met, n), *f;
	struct weir_counts is;
	u64 would;

	for (f = met; f < met + n; f++) {
		weir_limit_counts(f->real, &is);
		would = is.packets[WEIR_WOULD_DROP] !=
			f->was.packets[WEIR_WOULD_DROP];
		check(!would || (f->real->observe && !f->room), "run %llu", t.run);
		check_gain(&f->was, f->real, cost, f == dropper, "dropped",
			   WEIR_DROPPED);
		check_gain(&f->was, f->real, cost, would, "would drop",
			   WEIR_WOULD_DROP);
		check_gain(&f->was, f->real, cost, f < dropper && !would,
			   "elsewhere", WEIR_ELSEWHERE);
		check_gain(&f->was, f->real, cost, 0, "admitted", WEIR_ADMITTED);
		check_gain(&f->was, f->real, cost,
			   f->large && (f == dropper || would), "too large",
			   WEIR_TOO_LARGE);
		hook_check(f->limit);
	}
}

static void check_admitted(struct foretold *met, unsigned int n,
			   struct weir_cost cost)
{
	struct foretold *f;

	for (f = met; f < met + n; f++) {
		if (f->room)
			f->source->wheel.count[0] += f->cost;
		check_gain(&f->was, f->real, cost, f->room, "admitted",
			   WEIR_ADMITTED);
		check_gain(&f->was, f->real, cost, !f->room, "would drop",
			   WEIR_WOULD_DROP);
		check_gain(&f->was, f->real, cost, 0, "dropped", WEIR_DROPPED);
		check_gain(&f->was, f->real, cost, 0, "elsewhere",
			   WEIR_ELSEWHERE);
		check_gain(&f->was, f->real, cost, f->large, "too large",
			   WEIR_TOO_LARGE);
		hook_check(f->limit);
	}
}

static void check_seen(enum weir_outcome outcome, bool unparsable)
{
	u64 count[WEIR_OUTCOMES] = { };
	unsigned int i, cpu;

	for_each_possible_cpu(cpu)
		for (i = 0; i < WEIR_OUTCOMES; i++)
			count[i] += per_cpu_ptr(t.wn.stats, cpu)->packets[i].v;
	t.seen[outcome]++;
	t.seen[WEIR_SEEN_UNPARSABLE] += unparsable;
	assert_memory_equal(count, t.seen, sizeof(count));
}

/* Are the headers read? Where no limit asks, only what IPv6 has in front. */
static bool is_parsed(const struct said *said)
{
	struct twin_limit *limit;

	if (said->ipv6 && (said->options || said->first || said->later))
		return true;
	for (limit = t.limit; limit < t.limit + t.limits; limit++)
		if (limit->words.match.conds & WEIR_IF_TRANSPORT)
			return true;
	return false;
}

/* The packet, whose bytes are made at @byte. Returns how many are headers. */
static unsigned int make_skb(const struct said *said, u8 byte[PACKET_MAX],
			     struct sk_buff *skb)
{
	unsigned int header = said_make(said, byte);

	*skb = (struct sk_buff) {
		.network = byte, .transport = header - 20, .len = header,
		.mark = said->mark,
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

void hook_packet(void)
{
	struct said said = said_random(&t.chance);
	bool drops = false, exempt = hook_exempts(&said, "");
	struct foretold met[LIMITS_MAX];
	unsigned int n, i, header, verdict;
	struct weir_cost cost;
	u8 byte[PACKET_MAX];
	struct sk_buff skb;

	header = make_skb(&said, byte, &skb);
	cost = (struct weir_cost) {
		said.segments, skb.len + (said.segments - 1) * header,
	};
	n = exempt ? 0 : foretell(&said, cost, met);
	for (i = 0; i < n; i++)
		drops |= !met[i].room && !met[i].real->observe;
	shim_cpu = below(SHIM_CPUS);
	verdict = hook_verdict(&skb, said.ipv6, &t.dev[said.dev]);
	check(verdict == (drops ? NF_DROP : NF_ACCEPT), "run %llu: verdict %u",
	      t.run, verdict);
	if (drops)
		check_dropped(met, n, cost);
	else
		check_admitted(met, n, cost);
	check_seen(exempt ? WEIR_SEEN_EXEMPT : !n ? WEIR_SEEN_UNMATCHED :
		   drops ? WEIR_SEEN_DROPPED : WEIR_SEEN_ADMITTED,
		   said_cut(&said) && is_parsed(&said) && !exempt);
	t.dropped += drops;
	t.admitted += !drops && n;
}
