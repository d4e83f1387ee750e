// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The packet's way against a twin: random packets through random limits and
 * exemptions, which change all the while. The twin has a wheel for each limit
 * and source, and knows by the words alone which limits a packet meets. Every
 * verdict, every counter and every count of the sources met is compared after
 * each packet, so what is given back must leave nothing. Configuring is made to
 * fail at each allocation first, and must then have changed nothing.
 */
#include <linux/jiffies.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/user_namespace.h>

#include <unistd.h>

#include "limit.h"
#include "table_twin.h"
#include "weir.h"

#define LIMITS_MAX 6
#define SOURCES 12
#define EXEMPTS_MAX 4
#define OPTIONS_MAX 8	/* headers of IPv6 that are walked */
#define PACKET_MAX 160

/* One source as one limit counts it. */
struct twin_source {
	struct weir_source source;
	struct twin_wheel wheel;
};

struct twin_limit {
	struct weir_words words;
	struct twin_source source[SOURCES];
	unsigned int sources;
};

/* A packet as it is said, from which its bytes are made. */
struct said {
	unsigned int source, to, proto, port, dev;
	bool ipv6, first, later, syn;	/* the first fragment, a later one */
	bool hidden;			/* a later one of IPv6, of options */
	u8 flags;			/* of TCP */
	unsigned int options;		/* headers of IPv6 in front */
	unsigned int missing;		/* bytes of the last header */
	u32 mark;
	unsigned int segments;
};

static struct {
	struct chance chance;
	struct net net;
	struct weir_net wn;
	struct net_device dev[2];
	struct twin_limit limit[LIMITS_MAX];
	unsigned int limits;
	struct weir_exempt_words exempt[EXEMPTS_MAX];
	unsigned int exempts;
	u64 seen[WEIR_OUTCOMES];
	u64 run, events, made, dropped, admitted, failures;
	u32 names;
} t;

void weir_event_source(struct weir_net *wn, const struct weir_limit *limit,
		       const struct weir_source *source)
{
	(void)wn, (void)limit, (void)source;
	t.events++;
}

void weir_event_pressure(struct weir_net *wn, const struct weir_limit *limit,
			 u64 tick)
{
	(void)wn, (void)limit, (void)tick;
	fail_msg("there is no pressure");
}

void weir_event_limit(struct weir_net *wn, enum weir_event_type type,
		      const struct weir_limit *limit)
{
	(void)wn, (void)type, (void)limit;
}

static u64 below(u64 n)
{
	return chance_below(&t.chance, n);
}

/* Sources 0..: half of them in a prefix each, IPv6 in one /64 by twos. */
static struct weir_net_prefix address_of(bool ipv6, unsigned int i)
{
	struct weir_net_prefix address = { };

	address.family = ipv6 ? AF_INET6 : AF_INET;
	address.len = ipv6 ? 128 : 32;
	if (ipv6) {
		address.word[0] = htonl(0x20010db8);
		address.word[1] = htonl(i / 2);
		address.word[3] = htonl(i % 2 + 1);
	} else {
		address.word[0] = htonl(0xc6336400 + (i / 2 << 8) + i % 2 + 1);
	}
	return address;
}

static struct weir_source whole_source(const struct said *said)
{
	struct weir_net_prefix address = address_of(said->ipv6, said->source);
	struct weir_source source;

	if (said->ipv6)
		weir_source_ipv6(&source, (struct in6_addr *)address.word, 1);
	else
		weir_source_ipv4(&source, address.word[0], 1);
	return source;
}

static bool within(struct weir_net_prefix prefix, struct weir_net_prefix address)
{
	unsigned int i;

	if (prefix.family != address.family)
		return false;
	for (i = 0; i < prefix.len; i++)
		if ((ntohl(prefix.word[i / 32] ^ address.word[i / 32]) >>
		     (31 - i % 32)) & 1)
			return false;
	return true;
}

static bool has_ports(const struct said *said)
{
	return said->proto == IPPROTO_TCP || said->proto == IPPROTO_UDP;
}

static bool too_deep(const struct said *said)
{
	return said->options > OPTIONS_MAX;
}

/* Is there a header that cannot be read? */
static bool is_cut(const struct said *said)
{
	if (too_deep(said))
		return true;
	return !said->later &&
	       (said->missing > 16 ? has_ports(said) :
		said->missing && said->proto == IPPROTO_TCP);
}

/* The conditions that hold, inverted or not, for want of a header to read. */
static u16 open_conds(const struct said *said)
{
	u16 open = said->hidden ? WEIR_IF_PROTO : 0;

	if (too_deep(said))
		return WEIR_IF_TRANSPORT;
	if (!is_cut(said))
		return open;
	if (said->missing > 16)
		open |= WEIR_IF_SPORT | WEIR_IF_DPORT;
	return open | WEIR_IF_SYN;
}

/* By the words: does a packet meet a limit? */
static bool meets(const struct weir_match *match, const struct said *said)
{
	bool ports = has_ports(said) && !said->later;
	u16 open = open_conds(said);
	u16 holds = 0, carried = WEIR_IF_SPORT | WEIR_IF_DPORT;

	if (match->family == (said->ipv6 ? AF_INET6 : AF_INET))
		holds |= WEIR_IF_FAMILY;
	if (!strcmp(match->dev, t.dev[said->dev].name))
		holds |= WEIR_IF_DEV;
	if (within(match->from, address_of(said->ipv6, said->source)))
		holds |= WEIR_IF_FROM;
	if (within(match->to, address_of(said->ipv6, said->to)))
		holds |= WEIR_IF_TO;
	if (match->proto == said->proto)
		holds |= WEIR_IF_PROTO;
	if (match->sport.min <= 1000 && match->sport.max >= 1000)
		holds |= WEIR_IF_SPORT;
	if (match->dport.min <= said->port && match->dport.max >= said->port)
		holds |= WEIR_IF_DPORT;
	if (said->syn)
		holds |= WEIR_IF_SYN;
	if (said->later)
		holds |= WEIR_IF_FRAG;
	if ((said->mark & match->mark_mask) == match->mark)
		holds |= WEIR_IF_MARK;
	if (match->conds & carried & ~open && !ports)
		return false;
	if (match->conds & WEIR_IF_SYN & ~open &&
	    (said->proto != IPPROTO_TCP || said->later))
		return false;
	return (((holds ^ match->invert) | open) & match->conds) == match->conds;
}

/* The exemptions that hold for a packet: of all limits, or of one. */
static bool exempt(const struct said *said, const char *name)
{
	unsigned int i;

	for (i = 0; i < t.exempts; i++) {
		const struct weir_exempt_words *e = &t.exempt[i];

		if (!strcmp(e->limit, name) &&
		    within(e->exempt.prefix, address_of(said->ipv6,
							said->source)) &&
		    (!*e->exempt.dev ||
		     !strcmp(e->exempt.dev, t.dev[said->dev].name)))
			return true;
	}
	return false;
}

static struct weir_limit *real_of(const struct twin_limit *limit)
{
	return weir_limit_find(weir_config_get(&t.wn), limit->words.name);
}

static struct twin_source *source_of(struct twin_limit *limit,
				     struct weir_source source)
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

static u64 peek(const struct weir_limit *real, const struct twin_source *s,
		u64 slot[WEIR_SLOTS_MAX + 1])
{
	struct weir_source_state state;

	weir_table_peek(real->table, &s->source,
			weir_source_hash(&s->source, real->prefix, &t.wn.key),
			shim_jiffies, real->budget, &state, slot);
	return state.count;
}

static void check_sources(struct twin_limit *limit)
{
	const struct weir_limit *real = real_of(limit);
	u64 slot[WEIR_SLOTS_MAX + 1], count;
	struct twin_source *s;

	for (s = limit->source; s < limit->source + limit->sources; s++) {
		twin_turn(&s->wheel, real->slots + !real->lenient,
			  shim_jiffies / real->slot_ticks);
		count = peek(real, s, slot);
		check(count == twin_sum(&s->wheel), "run %llu: %s: %llu for %llu",
		      t.run, real->name, count, twin_sum(&s->wheel));
	}
}

/* ---- packets ------------------------------------------------------------ */

static unsigned int make_packet(const struct said *said, u8 *byte)
{
	struct weir_net_prefix from = address_of(said->ipv6, said->source);
	struct weir_net_prefix to = address_of(said->ipv6, said->to);
	unsigned int len = said->ipv6 ? 40 : 20, i;

	memset(byte, 0, PACKET_MAX);
	if (said->ipv6) {
		byte[0] = 0x60;
		byte[6] = said->later || said->first ? 44 :
			  said->options ? 60 : said->proto;
		byte[7] = 64;
		memcpy(byte + 8, from.word, 16);
		memcpy(byte + 24, to.word, 16);
		if (said->later || said->first) {
			byte[len] = said->hidden ? 60 : said->proto;
			byte[len + 3] = 8 * said->later + said->first;
			len += 8;
		}
		for (i = said->options; i; i--, len += 8)
			byte[len] = i > 1 ? 60 : said->proto;
	} else {
		byte[0] = 0x45;
		byte[6] = said->first ? 0x20 : 0;
		byte[7] = said->later;
		byte[9] = said->proto;
		memcpy(byte + 12, from.word, 4);
		memcpy(byte + 16, to.word, 4);
	}
	byte[len] = 1000 >> 8;
	byte[len + 1] = 1000 & 255;
	byte[len + 3] = said->port;
	byte[len + 12] = 0x50;
	byte[len + 13] = said->flags;
	return len + 20 - said->missing;
}

static struct said random_said(void)
{
	static const u8 protos[] = { IPPROTO_TCP, IPPROTO_UDP, 47 };
	/* SYN alone begins a connection; with FIN, RST or ACK it does not. */
	static const u8 flags[] = { 2, 2, 2, 16, 3, 6, 18 };
	struct said said = {
		.source = below(SOURCES / 2), .to = below(SOURCES / 2),
		.proto = protos[below(3)], .port = below(4),
		.dev = below(2), .ipv6 = below(2), .later = !below(6),
		.mark = below(4), .segments = below(4) ? 1 : 1 + below(12),
	};

	said.flags = flags[below(ARRAY_SIZE(flags))];
	said.syn = said.proto == IPPROTO_TCP && said.flags == 2;
	said.first = !said.later && !below(6);
	if (said.ipv6 && said.later)
		said.hidden = below(2);
	else if (said.ipv6 && !said.first && !below(4))
		said.options = OPTIONS_MAX + below(2);
	if (!below(6))
		said.missing = 1 + below(20);
	if (said.later || said.first || said.options || said.missing ||
	    said.proto != IPPROTO_TCP)
		said.segments = 1;
	return said;
}

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
		if (!meets(&limit->words.match, said) ||
		    exempt(said, limit->words.name))
			continue;
		f->limit = limit;
		f->real = real_of(limit);
		f->source = source_of(limit, whole_source(said));
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
		check_sources(f->limit);
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
		check_sources(f->limit);
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

static void packet(void)
{
	struct said said = random_said();
	struct nf_hook_state state = {
		.pf = said.ipv6 ? AF_INET6 : AF_INET, .in = &t.dev[said.dev],
	};
	struct foretold met[LIMITS_MAX];
	struct weir_cost cost;
	bool drops = false;
	unsigned int n, i, header, verdict;
	u8 byte[PACKET_MAX];
	struct sk_buff skb = { .network = byte, .mark = said.mark };

	header = make_packet(&said, byte);
	skb.transport = header - 20;
	skb.len = header + (said.segments > 1 ? said.segments * 100 : 0);
	if (said.segments > 1)
		skb.shinfo = (struct skb_shared_info) {
			100, below(2) ? said.segments : 0,
			said.ipv6 ? SKB_GSO_TCPV6 : SKB_GSO_TCPV4,
		};
	cost = (struct weir_cost) {
		said.segments, skb.len + (said.segments - 1) * header,
	};
	if (exempt(&said, "")) {
		n = 0;
	} else {
		n = foretell(&said, cost, met);
		for (i = 0; i < n; i++)
			drops |= !met[i].room && !met[i].real->observe;
	}
	shim_cpu = below(SHIM_CPUS);
	local_bh_disable();
	rcu_read_lock();
	verdict = shim_hooks[said.ipv6].hook(shim_hooks[said.ipv6].priv, &skb,
					     &state);
	rcu_read_unlock();
	local_bh_enable();
	check(verdict == (drops ? NF_DROP : NF_ACCEPT), "run %llu: verdict %u",
	      t.run, verdict);
	if (drops)
		check_dropped(met, n, cost);
	else
		check_admitted(met, n, cost);
	check_seen(exempt(&said, "") ? WEIR_SEEN_EXEMPT : !n ?
		   WEIR_SEEN_UNMATCHED : drops ? WEIR_SEEN_DROPPED :
		   WEIR_SEEN_ADMITTED,
		   is_cut(&said) && is_parsed(&said) && !exempt(&said, ""));
	t.dropped += drops;
	t.admitted += !drops && n;
}

/* ---- changes ------------------------------------------------------------ */

/* From an address to the prefix that it shares with another. */
static void widen(struct weir_net_prefix *prefix)
{
	prefix->len = prefix->family == AF_INET ? 24 : 64;
	if (prefix->family == AF_INET)
		prefix->word[0] &= htonl(0xffffff00);
	prefix->word[3] = 0;
}

static void random_match(struct weir_match *match)
{
	u16 cond;

	do {
		*match = (struct weir_match) {
			.conds = below(3) ? 1 << below(10) | 1 << below(10) : 0,
			.family = below(2) ? AF_INET : AF_INET6,
			.proto = below(2) ? IPPROTO_TCP : IPPROTO_UDP,
			.from = address_of(below(2), below(SOURCES / 2)),
			.to = address_of(below(2), below(SOURCES / 2)),
			.sport = { 0, 500 + below(1000) },
			.dport = { below(3), 1 + below(3) },
			.mark_mask = 1 + below(3),
		};
		match->mark = below(4) & match->mark_mask;
		if (below(2)) {
			match->sport.max = 999 + below(3);
			match->sport.min = match->sport.max;
		}
		if (below(2))
			widen(&match->from);
		if (below(2))
			widen(&match->to);
		if (!below(8))
			match->to = (struct weir_net_prefix) {
				.family = match->to.family,
			};
		strcpy(match->dev, t.dev[below(2)].name);
		if (match->conds & (WEIR_IF_SPORT | WEIR_IF_DPORT))
			match->conds |= WEIR_IF_PROTO;
		if (below(3) == 0)
			match->invert = match->conds & ~WEIR_IF_PROTO &
					chance(&t.chance);
	} while (weir_match_check(match, &cond));
}

static struct weir_words random_words(void)
{
	static const struct weir_prefix prefix[] = {
		{ 32, 64 }, { 32, 128 }, { 24, 48 }, { 0, 0 },
	};
	static const u32 window_ms[] = { 40, 400, 1000 };
	struct weir_words words = {
		.given = 0xffff & ~BIT(WEIR_WORD_BEFORE),
		.window_ms = window_ms[below(3)],
		.bytes = below(3) == 0,
		.slots = 1 + below(4),
		.lenient = below(4) == 0,
		.prefix = prefix[below(4)],
		.sources = 64,
		.observe = below(3) == 0,
	};

	words.budget = words.bytes ? 100 + below(3000) : 1 + below(20);
	if (below(2))
		words.given &= ~BIT(WEIR_WORD_SLOTS);
	random_match(&words.match);
	snprintf(words.name, sizeof(words.name), "l%u", t.names++);
	return words;
}

/* A change: at first without memory, step by step; then it must be done. */
static void change(int (*does)(const void *words, struct weir_fault *fault),
		   const void *words, int err)
{
	const struct weir_config *config = weir_config_get(&t.wn);
	unsigned int allocations = shim_allocations;
	u64 bytes = t.wn.bytes;
	int i, result;

	for (i = 0; ; i++) {
		struct weir_fault fault = { .word = -1 };

		shim_fail_after = below(4) ? -1 : i;
		result = does(words, &fault);
		shim_fail_after = -1;
		if (!err && result != -ENOMEM)
			break;
		t.failures++;
		check(weir_config_get(&t.wn) == config &&
		      shim_allocations == allocations && t.wn.bytes == bytes,
		      "run %llu: %d, and something changed", t.run, result);
		if (err && result != -ENOMEM)
			break;
	}
	check(result == err, "run %llu: %d for %d", t.run, result, err);
}

static int does_add(const void *words, struct weir_fault *fault)
{
	return weir_limit_add(&t.wn, words, fault);
}

static int does_set(const void *words, struct weir_fault *fault)
{
	return weir_limit_set(&t.wn, words, fault);
}

static int does_del(const void *name, struct weir_fault *fault)
{
	return weir_limit_del(&t.wn, name, fault);
}

static int does_exempt_add(const void *words, struct weir_fault *fault)
{
	return weir_exempt_add(&t.wn, words, fault);
}

static int does_exempt_del(const void *words, struct weir_fault *fault)
{
	return weir_exempt_del(&t.wn, words, fault);
}

static int does_replace(const void *words, struct weir_fault *fault)
{
	return weir_config_replace(&t.wn, words, t.limits, t.exempt, t.exempts,
				   fault);
}

static void add(void)
{
	struct twin_limit limit = { .words = random_words() };
	unsigned int place = t.limits;

	if (t.limits == LIMITS_MAX)
		return;
	if (t.limits && below(2)) {
		limit.words.given |= BIT(WEIR_WORD_BEFORE);
		place = below(t.limits);
		strcpy(limit.words.before, t.limit[place].words.name);
	}
	change(does_add, &limit.words, 0);
	change(does_add, &limit.words, -EEXIST);
	memmove(t.limit + place + 1, t.limit + place,
		(t.limits++ - place) * sizeof(limit));
	t.limit[place] = limit;
}

/* The new table's wheels, which know as much in all. */
static void follow(struct twin_limit *limit)
{
	const struct weir_limit *real = real_of(limit);
	u64 slot[WEIR_SLOTS_MAX + 1], count;
	struct twin_source *s;
	unsigned int age;

	for (s = limit->source; s < limit->source + limit->sources; s++) {
		count = peek(real, s, slot);
		check(count == twin_sum(&s->wheel), "run %llu: %llu moved to %llu",
		      t.run, twin_sum(&s->wheel), count);
		s->wheel.at = shim_jiffies / real->slot_ticks;
		for (age = 0; age <= WEIR_SLOTS_MAX; age++)
			s->wheel.count[age] = slot[WEIR_SLOTS_MAX - age];
	}
}

static void set(void)
{
	struct twin_limit *limit = &t.limit[below(t.limits)];
	struct weir_words words = random_words(), other;

	strcpy(words.name, limit->words.name);
	words.given = BIT(WEIR_WORD_NAME) | BIT(WEIR_WORD_BUDGET) |
		      BIT(WEIR_WORD_ACTION);
	if (below(2))
		words.given |= BIT(WEIR_WORD_MATCH);
	if (below(4) == 0)
		words.given |= BIT(WEIR_WORD_SOURCES);
	words.sources = 64 << below(3);
	if (below(4) == 0)
		words.given |= BIT(WEIR_WORD_WINDOW);
	if (limit->words.bytes != words.bytes)
		words.budget = limit->words.bytes ? 1000 : 7;
	other = words;
	other.given |= BIT(WEIR_WORD_PREFIX4);
	other.prefix.len4 = limit->words.prefix.len4 ^ 1;
	change(does_set, &other, -EINVAL);
	check_sources(limit);
	/* Slots that were asked for may not fit a shorter window. */
	if (words.given & BIT(WEIR_WORD_WINDOW) &&
	    words.window_ms < limit->words.window_ms)
		words.window_ms = limit->words.window_ms;
	change(does_set, &words, 0);
	limit->words.budget = words.budget;
	limit->words.observe = words.observe;
	if (words.given & BIT(WEIR_WORD_MATCH))
		limit->words.match = words.match;
	if (words.given & BIT(WEIR_WORD_WINDOW))
		limit->words.window_ms = words.window_ms;
	if (words.given & BIT(WEIR_WORD_SOURCES))
		limit->words.sources = words.sources;
	follow(limit);
}

static void gone(unsigned int place)
{
	unsigned int i, n = 0;

	for (i = 0; i < t.exempts; i++)
		if (strcmp(t.exempt[i].limit, t.limit[place].words.name))
			t.exempt[n++] = t.exempt[i];
	t.exempts = n;
	memmove(t.limit + place, t.limit + place + 1,
		(--t.limits - place) * sizeof(t.limit[0]));
}

static void del(void)
{
	unsigned int place = below(t.limits);

	if (t.limits < 2)
		return;
	change(does_del, "none", -ENOENT);
	change(does_del, t.limit[place].words.name, 0);
	gone(place);
}

static void add_exempt(void)
{
	struct weir_exempt_words words = {
		.exempt.prefix = address_of(below(2), below(SOURCES / 2)),
	};

	if (t.exempts == EXEMPTS_MAX)
		return;
	if (below(2))
		widen(&words.exempt.prefix);
	if (below(2))
		strcpy(words.exempt.dev, t.dev[below(2)].name);
	if (below(2))
		strcpy(words.limit, t.limit[below(t.limits)].words.name);
	if (does_exempt_add(&words, &(struct weir_fault) { }))
		return; /* it was there */
	change(does_exempt_add, &words, -EEXIST);
	t.exempt[t.exempts++] = words;
}

static void del_exempt(void)
{
	unsigned int i = below(EXEMPTS_MAX);

	if (i >= t.exempts)
		return;
	change(does_exempt_del, &t.exempt[i], 0);
	change(does_exempt_del, &t.exempt[i], -ENOENT);
	t.exempt[i] = t.exempt[--t.exempts];
}

/* The same words once more change nothing; another order and action do. */
static void replace(void)
{
	struct weir_words words[LIMITS_MAX];
	struct twin_limit first = t.limit[0];
	unsigned int i;

	memmove(t.limit, t.limit + 1, (t.limits - 1) * sizeof(first));
	t.limit[t.limits - 1] = first;
	t.limit[0].words.observe ^= below(2);
	for (i = 0; i < t.limits; i++)
		words[i] = t.limit[i].words;
	change(does_replace, words, 0);
	for (i = 0; i < t.limits; i++)
		check_sources(&t.limit[i]);
}

static void step(void)
{
	if (below(3) == 0)
		shim_jiffies += below(12);
	if (below(200) == 0)
		shim_jiffies += below(400);
	switch (below(200)) {
	case 0 ... 2:
		add();
		break;
	case 3 ... 4:
		set();
		break;
	case 5:
		del();
		break;
	case 6:
		add_exempt();
		break;
	case 7:
		del_exempt();
		break;
	case 8:
		replace();
		break;
	default:
		packet();
	}
	check(weir_exempts_count(weir_config_get(&t.wn)->exempts) == t.exempts,
	      "run %llu: exemptions", t.run);
}

static void begin(u64 run)
{
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
	t.wn.stats = alloc_percpu_gfp(struct weir_net_stats, GFP_KERNEL);
	assert_non_null(t.wn.stats);
	mutex_init(&t.wn.lock);
	strcpy(t.dev[0].name, "eth0");
	strcpy(t.dev[1].name, "eth1");
	t.dev[0].ifindex = 1;
	t.dev[1].ifindex = 2;
	shim_jiffies = below(BIT_ULL(40));
}

static void end(void)
{
	assert_int_equal(weir_limit_flush(&t.wn), 0);
	assert_null(shim_hooks);
	assert_true(!t.wn.bytes);
	weir_config_free(&t.wn);
	free_percpu(t.wn.stats);
	assert_int_equal(shim_allocations, 0);
}

static void test_packets(void **state)
{
	u64 run = unit_number("UNIT_RUN", 0), runs = unit_rounds(300), i;

	(void)state;
	if (getenv("UNIT_RUN"))
		runs = run + 1;
	for (; run < runs; run++) {
		begin(run);
		add();
		for (i = 0; i < 1500; i++)
			step();
		end();
	}
	print_message("# %llu runs: %llu admitted, %llu dropped, %llu events, %llu failures\n",
		      runs, t.admitted, t.dropped, t.events, t.failures);
}

/* One packet of TCP, IPv4, from source 0; the verdict */
static unsigned int pass(struct net_device *dev)
{
	struct said said = { .proto = IPPROTO_TCP };
	struct nf_hook_state state = { .pf = AF_INET, .in = dev };
	struct sk_buff skb = { };
	unsigned int verdict;
	u8 byte[PACKET_MAX];

	skb.len = make_packet(&said, byte);
	skb.network = byte;
	local_bh_disable();
	rcu_read_lock();
	verdict = shim_hooks->hook(shim_hooks->priv, &skb, &state);
	rcu_read_unlock();
	local_bh_enable();
	return verdict;
}

static struct weir_words plain_words(const char *name, u64 budget, bool observe)
{
	struct weir_words words = {
		.given = BIT(WEIR_WORD_NAME) | BIT(WEIR_WORD_BUDGET) |
			 BIT(WEIR_WORD_WINDOW) | BIT(WEIR_WORD_SOURCES) |
			 BIT(WEIR_WORD_ACTION),
		.budget = budget, .window_ms = 1000, .sources = 64,
		.observe = observe,
	};

	strcpy(words.name, name);
	return words;
}

static u64 count_in(const char *name)
{
	struct said said = { .proto = IPPROTO_TCP };
	struct twin_source s = { .source = whole_source(&said) };
	u64 slot[WEIR_SLOTS_MAX + 1];

	return peek(weir_limit_find(weir_config_get(&t.wn), name), &s, slot);
}

/* What is met by nobody: loopback, and a VRF's second look. */
static void test_passed_by(void **state)
{
	struct weir_words words = plain_words("a", 1, false);
	struct weir_fault fault = { };

	(void)state;
	begin(1);
	shim_hooks_error = -ENOMEM;
	assert_int_equal(weir_limit_add(&t.wn, &words, &fault), -ENOMEM);
	assert_null(weir_config_get(&t.wn));
	assert_int_equal(shim_allocations, 1);
	shim_hooks_error = 0;
	assert_int_equal(weir_limit_add(&t.wn, &words, &fault), 0);
	t.dev[0].flags = IFF_LOOPBACK;
	t.dev[1].l3_master = true;
	assert_int_equal(pass(&t.dev[0]), NF_ACCEPT);
	assert_int_equal(pass(&t.dev[0]), NF_ACCEPT);
	assert_int_equal(pass(&t.dev[1]), NF_ACCEPT);
	assert_int_equal(count_in("a"), 0);
	memset(t.dev, 0, sizeof(t.dev));
	assert_int_equal(pass(&t.dev[0]), NF_ACCEPT);
	assert_int_equal(pass(&t.dev[0]), NF_DROP);
	assert_int_equal(count_in("a"), 1);
	end();
}

/*
 * On a CPU whose clock is late a packet counts at the time of the bucket, in
 * all limits, and what is given back is found there.
 */
static void test_late(void **state)
{
	struct weir_words first = plain_words("a", 100, false);
	struct weir_words second = plain_words("b", 100, true);
	struct weir_words third = plain_words("c", 2, false);
	const struct weir_limit *limit;
	struct weir_fault fault = { };
	struct weir_counts counts;
	u64 now;

	(void)state;
	/* A packet may start again, but not for ever. */
	alarm(20);
	begin(2);
	assert_int_equal(weir_limit_add(&t.wn, &first, &fault), 0);
	assert_int_equal(pass(&t.dev[0]), NF_ACCEPT);
	assert_int_equal(weir_limit_add(&t.wn, &second, &fault), 0);
	assert_int_equal(weir_limit_add(&t.wn, &third, &fault), 0);
	now = shim_jiffies += 100;
	assert_int_equal(pass(&t.dev[0]), NF_ACCEPT);
	shim_jiffies -= 60;
	assert_int_equal(pass(&t.dev[0]), NF_ACCEPT);
	assert_int_equal(pass(&t.dev[0]), NF_DROP);
	assert_int_equal(pass(&t.dev[0]), NF_DROP);
	shim_jiffies = now;
	assert_int_equal(count_in("a"), 3);
	assert_int_equal(count_in("b"), 2);
	assert_int_equal(count_in("c"), 2);
	limit = weir_limit_find(weir_config_get(&t.wn), "a");
	weir_limit_counts(limit, &counts);
	assert_true(counts.packets[WEIR_ADMITTED] == 3);
	assert_true(counts.packets[WEIR_ELSEWHERE] == 2);
	/* The one of before the leap leaves first, the late ones with the rest. */
	shim_jiffies = now + 250 - 100 + limit->slot_ticks + 60;
	assert_int_equal(count_in("a"), 2);
	end();
	alarm(0);
}

/* The same where there is one limit. */
static void test_late_alone(void **state)
{
	struct weir_words words = plain_words("a", 3, false);
	struct weir_fault fault = { };
	const struct weir_limit *limit;
	struct weir_counts counts;
	u64 now;

	(void)state;
	alarm(20);
	begin(3);
	assert_int_equal(weir_limit_add(&t.wn, &words, &fault), 0);
	assert_int_equal(pass(&t.dev[0]), NF_ACCEPT);
	now = shim_jiffies += 100;
	assert_int_equal(pass(&t.dev[0]), NF_ACCEPT);
	shim_jiffies -= 60;
	assert_int_equal(pass(&t.dev[0]), NF_ACCEPT);
	assert_int_equal(pass(&t.dev[0]), NF_DROP);
	shim_jiffies = now;
	assert_int_equal(count_in("a"), 3);
	limit = weir_limit_find(weir_config_get(&t.wn), "a");
	weir_limit_counts(limit, &counts);
	assert_true(counts.packets[WEIR_ADMITTED] == 3);
	assert_true(counts.packets[WEIR_DROPPED] == 1);
	shim_jiffies = now + 250 - 100 + limit->slot_ticks + 60;
	assert_int_equal(count_in("a"), 2);
	end();
	alarm(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packets),
		cmocka_unit_test(test_passed_by),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_late_alone),
	};

	return cmocka_run_group_tests_name("hook_random", tests, NULL, NULL);
}
