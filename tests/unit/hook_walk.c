// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A random walk over all that changes between packets and charges, with a model beside it
 * (walk_model.h) that says of each packet whether it must be refused, must be admitted, or may be
 * either. A step is drawn from its own number: if a walk fails, steps are left out for as long as
 * it still fails, and what is left is printed.
 */
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/jiffies.h>
#include <stdarg.h>

#include "table/shared.h"
#include "hook_twin.h"
#include "path/refusal.h"
#include "walk_model.h"

#define STEPS 400
#define ADDRESSES 40
#define LIMITS 2
#define TRIES_MAX 3000

static struct walk {
	struct walk_limit limit[LIMITS];
	struct said_exempt exempt[4];
	unsigned int exempts;
	struct weir_member member[8];	/* of the list that has budgets of sources */
	unsigned int members;
	u64 now;		/* tick */
	time64_t wall;		/* of the wall clock at tick 0 */
	bool tiny;		/* tables of a single small set */
	bool failed, aloud;
	unsigned int step;
	unsigned int strangers;	/* addresses that were used once */
	char reason[400];
	bool skip[STEPS];
	/* Of all walks */
	u64 steps, refused, admitted, must_refuse, must_admit, changes, early, waits, blocks, known;
} w;

static __attribute__((format(printf, 1, 2))) void say(const char *format, ...)
{
	va_list args;

	if (!w.aloud)
		return;
	va_start(args, format);
	printf("# %3u @%llu ", w.step, w.now);
	vprintf(format, args);
	printf("\n");
	va_end(args);
}

#define expect(cond, format, ...) do {							\
	if (!(cond) && !w.failed) {							\
		w.failed = true;							\
		snprintf(w.reason, sizeof(w.reason), "%s: " format, #cond, ##__VA_ARGS__); \
	}										\
} while (0)

static time64_t wall_now(void)
{
	return w.wall + w.now / HZ;
}

static struct weir_limit *real_of(const struct walk_limit *l)
{
	return hook_limit(l->asked.name);
}

/* 1 to @most, half of the time at an end or a power of two. */
static u64 ends(u64 most)
{
	u64 power = BIT_ULL(below(fls64(most)));

	switch (below(10)) {
	case 0:
		return most;
	case 1:
		return max(most - 1, 1ull);
	case 2:
		return min(power + 1, most);
	case 3:
		return max(power - 1, 1ull);
	case 4:
		return power;
	default:
		return 1 + below(min(most, 20ull));
	}
}

static u32 random_window(void)
{
	static const u32 window[] = {
		10, 11, 12, 20, 1000, 60000, 3600000, 86400000, 67108864, 67108860, 67108868,
		604800000, 2591999999, 2592000000,
	};

	return below(2) ? window[below(ARRAY_SIZE(window))] : 10 * (1 + below(300));
}

static const char *const mode_name[] = {
	[WEIR_MODE_STRICT] = "strict", [WEIR_MODE_LENIENT] = "lenient", [WEIR_MODE_FIXED] = "fixed",
	[WEIR_MODE_CALENDAR] = "calendar", [WEIR_MODE_BUCKET] = "bucket", [WEIR_MODE_EXACT] = "exact",
};

/* The ways to count that are drawn */
static const u32 modes[] = {
	WEIR_MODE_STRICT, WEIR_MODE_LENIENT, WEIR_MODE_FIXED, WEIR_MODE_CALENDAR,
	WEIR_MODE_BUCKET, WEIR_MODE_EXACT,
};

static void random_budget(struct weir_limit_config *words, unsigned int i)
{
	static const u32 calendar[] = {
		WEIR_MINUTE_MS, WEIR_HOUR_MS, WEIR_DAY_MS, WEIR_WEEK_MS, WEIR_MONTH_MS,
	};
	struct weir_budget_config *budget = &words->budget[i];
	const u32 unit = !below(4);

	*budget = (struct weir_budget_config) {
		.mode = modes[below(ARRAY_SIZE(modes))],
		.window_ms = random_window(), .unit = unit,
	};
	if (budget->mode == WEIR_MODE_EXACT) {
		budget->unit = WEIR_UNIT_PACKETS;
		budget->amount = min(ends(56), 54ull);
	} else {
		budget->amount = unit ? 100 * ends(WEIR_BURST_MAX / 100) : ends(WEIR_PACKETS_MAX);
	}
	if (budget->mode == WEIR_MODE_CALENDAR)
		budget->window_ms = calendar[below(ARRAY_SIZE(calendar))];
	if (budget->mode == WEIR_MODE_BUCKET && below(2))
		budget->burst = min(ends(4096) * budget->amount - below(2),
				    budget->unit ? (u64)WEIR_BURST_MAX : WEIR_PACKETS_MAX);
	if (budget->mode < WEIR_MODE_FIXED && !below(3))
		budget->slots = ends(WEIR_SLOTS_MAX);
	if (budget->mode < WEIR_MODE_CALENDAR && !below(8))
		budget->window_ms = 0;
}

/* Offsets at the ends, and a change long ago, near, or never */
static void random_zone(struct weir_zone *zone, time64_t wall)
{
	static const s64 change[] = { 0, -S64_MAX, S64_MAX, 4000000500 };
	const s32 most = WEIR_ZONE_OFFSET_MAX;

	zone->offset = below(3) ? 900 * (s32)below(9) - 3600 : below(2) ? most : -most;
	zone->next_offset = below(3) ? zone->offset + 3600 * ((s32)below(3) - 1) : -zone->offset;
	zone->next_offset = max(min(zone->next_offset, most), -most);
	zone->change = below(3) ? (wall / 900 + (s64)below(400) - 100) * 900 :
		       change[below(ARRAY_SIZE(change))];
}

static void say_limit(const char *what, const struct weir_limit_config *words)
{
	char text[400];
	unsigned int i, n = 0;

	for (i = 0; i < words->budgets; i++)
		n += snprintf(text + n, sizeof(text) - n, " %llu%s/%ums %s burst %llu slots %u",
			      words->budget[i].amount, words->budget[i].unit ? "B" : "",
			      words->budget[i].window_ms, mode_name[words->budget[i].mode],
			      words->budget[i].burst, words->budget[i].slots);
	if (words->newcomers.budget)
		n += snprintf(text + n, sizeof(text) - n, " newcomers %u/%ums known %u ms",
			      words->newcomers.budget, words->newcomers.window_ms,
			      words->newcomers.known_ms);
	n += snprintf(text + n, sizeof(text) - n, " penalty %llu ms%s", words->penalty_ms,
		      words->renew ? " renew" : "");
	say("limit %s %s per %u,%u sources %u%s%s%s zone %d,%d at %lld", what, words->name,
	    words->prefix.len4, words->prefix.len6, words->sources,
	    words->observe ? " observe" : "", words->budgets_by ? " by list" : "", text, words->zone.offset, words->zone.next_offset,
	    words->zone.change);
}

static void clock_run(void)
{
	unsigned int i;

	shim_jiffies = w.now;
	shim_real_seconds = wall_now();
	shim_timers_run();
	for (i = 0; i < LIMITS; i++)
		walk_wall(&w.limit[i], w.now, wall_now());
}

/* Time passes; the worker runs when it is due, or if the machine was paused, late. */
static void pass(u64 ticks, bool paused)
{
	struct delayed_work *age = &t.wn.age;
	u64 to = w.now + ticks;
	unsigned int i;

	if (paused)
		w.now = to;
	do {
		if (age->due && age->due <= to)
			w.now = max(w.now, age->due);
		else
			w.now = to;
		clock_run();
		if (age->due && age->due <= w.now) {
			age->work.func(&age->work);
			for (i = 0; i < LIMITS; i++)
				walk_aged(&w.limit[i]);
		}
	} while (w.now < to);
}

/* A limit that there is, or NULL. */
static struct walk_limit *some_limit(void)
{
	unsigned int first = below(LIMITS), i;

	for (i = 0; i < LIMITS; i++)
		if (w.limit[(first + i) % LIMITS].budgets)
			return &w.limit[(first + i) % LIMITS];
	return NULL;
}

/* Near the ends of what a limit counts by */
static void step_time(void)
{
	const struct walk_limit *l = some_limit();
	const struct walk_budget *b = l ? &l->budget[below(l->budgets)] : NULL;
	u64 slot = b && b->slot_ticks ? b->slot_ticks : HZ;
	u64 window = b && b->window ? b->slots * b->slot_ticks : HZ, ticks;

	switch (below(12)) {
	case 0 ... 2:
		ticks = below(4);
		break;
	case 3:
		ticks = slot - below(2);
		break;
	case 4:
		ticks = window - below(3);
		break;
	case 5:
		ticks = window + slot - below(3);
		break;
	case 6:
		ticks = below(window + slot);
		break;
	case 7:
		ticks = slot - w.now % slot - below(2);
		break;
	case 8:
		ticks = HZ * ends(100000);
		break;
	case 9:
		/* Up to thousands of windows, which a burst takes to drain */
		ticks = window * ends(4097);
		break;
	case 10:
		ticks = BIT_ULL(27 + below(5)) + below(3) - 1;
		break;
	default:
		ticks = below(2 * HZ);
	}
	ticks = min(ticks, BIT_ULL(33));
	say("%llu ticks pass", ticks);
	pass(ticks, false);
}

/* The wall clock is set, or went on in a suspend, or the machine was paused. */
static void step_wall(void)
{
	static const s64 by[] = { 1, 59, 60, 61, 3600, 86400, 7 * 86400, 366 * 86400, 1461 * 86400 };
	s64 seconds = by[below(ARRAY_SIZE(by))] - below(2);
	const struct walk_limit *l = some_limit();
	unsigned int i;
	u64 ticks;

	switch (below(6)) {
	case 0:
		ticks = BIT_ULL(below(30)) - below(2);
		say("the machine is paused for %llu ticks", ticks);
		pass(ticks, true);
		return;
	case 1:
		seconds = -seconds;
		break;
	case 2 ... 3:
		/* To the end of a period, or just before. */
		for (i = 0; l && i < l->budgets; i++)
			if (l->budget[i].mode == WEIR_MODE_CALENDAR)
				seconds = l->budget[i].end - wall_now() - below(2);
		break;
	}
	if (wall_now() + seconds < 0 || wall_now() + seconds > 4000000000)
		seconds = 0;
	say("the wall clock goes on by %lld s", seconds);
	w.wall += seconds;
	clock_run();
}

static struct weir_net_prefix address_of(unsigned int n)
{
	static const u32 odd[][4] = {
		{ 0, 0, 0, 5 }, { 0, 0, 1, 0 }, { 0xfe800000, 0, 0, 1 }, { ~0u, ~0u, ~0u, ~0u },
		{ 0x20010db8, 0, 0, 0 },
	};
	struct weir_net_prefix address = { .family = n % 2 ? AF_INET6 : AF_INET, .len = n % 2 ? 128 : 32 };
	unsigned int i, half = n / 2;

	if (address.family == AF_INET) {
		address.word[0] = htonl(half == 1 ? ~0u : half == 2 ? 1 : 0xc6336400 + (half / 2 << 8) + half % 2);
		return address;
	}
	for (i = 0; i < 4 && half < ARRAY_SIZE(odd); i++)
		address.word[i] = htonl(odd[half][i]);
	if (half >= ARRAY_SIZE(odd)) {
		address.word[0] = htonl(0x20010db8);
		address.word[1] = htonl(half / 2);
		address.word[3] = htonl(half % 2);
	}
	return address;
}

static struct weir_source source_of(const struct weir_net_prefix *address)
{
	struct weir_source source;

	if (address->family == AF_INET)
		weir_source_ipv4(&source, address->word[0], 1);
	else
		weir_source_ipv6(&source, (struct in6_addr *)address->word, 1);
	return source;
}

static const char *text_of(const struct weir_net_prefix *p)
{
	static char text[80];

	if (p->family == AF_INET)
		sprintf(text, "%u.%u.%u.%u/%u", ntohl(p->word[0]) >> 24, ntohl(p->word[0]) >> 16 & 255,
			ntohl(p->word[0]) >> 8 & 255, ntohl(p->word[0]) & 255, p->len);
	else
		sprintf(text, "%x:%x:%x:%x/%u", ntohl(p->word[0]), ntohl(p->word[1]),
			ntohl(p->word[2]), ntohl(p->word[3]), p->len);
	return text;
}

/* An address that sends often, or one that never sent. */
static struct weir_net_prefix some_address(void)
{
	unsigned int often = w.tiny ? ADDRESSES : ADDRESSES / 2;

	if (w.tiny && !below(16) && w.strangers < 100)
		return address_of(1000 + w.strangers++);
	return address_of(below(below(2) ? 6 : often));
}

static bool is_exempt(const struct weir_net_prefix *address, const char *limit)
{
	const struct weir_net_prefix *p;
	unsigned int i, bit;

	for (i = 0; i < w.exempts; i++) {
		p = &w.exempt[i].exempt.prefix;
		if (p->family != address->family || strcmp(w.exempt[i].limit, limit))
			continue;
		for (bit = 0; bit < p->len; bit++)
			if ((ntohl(p->word[bit / 32]) ^ ntohl(address->word[bit / 32])) >> (31 - bit % 32) & 1)
				break;
		if (bit == p->len)
			return true;
	}
	return false;
}

/* A TCP packet of so many segments, of so many bytes. Returns the bytes of its headers. */
static unsigned int make_packet(struct sk_buff *skb, u8 byte[60], const struct weir_net_prefix *from,
				u32 segments, u32 len)
{
	bool ipv6 = from->family == AF_INET6;
	unsigned int header = ipv6 ? 60 : 40;

	memset(byte, 0, 60);
	byte[0] = ipv6 ? 0x60 : 0x45;
	byte[ipv6 ? 6 : 9] = IPPROTO_TCP;
	if (ipv6)
		byte[7] = 64;
	memcpy(byte + (ipv6 ? 8 : 12), from->word, ipv6 ? 16 : 4);
	byte[header - 8] = 0x50;
	*skb = (struct sk_buff) {
		.network = byte, .transport = header - 20, .len = max(len, header + segments),
	};
	if (segments > 1)
		skb->shinfo = (struct skb_shared_info) {
			1, segments, ipv6 ? SKB_GSO_TCPV6 : SKB_GSO_TCPV4,
		};
	return header;
}

/* The largest packet that fits all budgets of a source. */
static u64 largest_of(const struct walk_limit *l, const struct walk_source *s, bool bytes)
{
	u64 own[WEIR_BUDGETS_MAX];

	return weir_limit_largest(real_of(l), weir_limit_room_masked(real_of(l), &s->key, own), bytes);
}

/*
 * What "source get" tells is within what the model says. @refused: a packet just was by the
 * limit, which the largest budget would have had room for.
 */
static void check_state(struct walk_limit *l, struct walk_source *s, bool refused)
{
	const struct weir_limit *real = real_of(l);
	struct weir_source_state state;
	u64 slot[WEIR_SLOTS_MAX + 1], own[WEIR_BUDGETS_MAX];
	unsigned int i;

	rcu_read_lock();
	weir_table_peek(real->table, &s->key,
			weir_source_hash(&s->key, real->cfg.prefix, &t.wn.key), w.now,
			weir_limit_room_masked(real, &s->key, own), NULL, &state, slot);
	weir_batches_unspent(real->table, w.now, &state, slot);
	rcu_read_unlock();
	if (refused && real->penalty_ticks && !real->cfg.observe && !state.floor &&
	    !state.blocked) {
		expect(!walk_punishes(l, s, w.now), "%s does not block", l->asked.name);
		s->unpunished = w.now + HZ;
	}
	expect(!real->newcomers.budget || !s->known || !state.unknown, "%s does not know it",
	       l->asked.name);
	expect(!real->newcomers.budget || s->may_be_known || !s->placed || state.unknown,
	       "%s knows it", l->asked.name);
	w.known += s->known;
	w.blocks += state.blocked && w.now >= s->blocked;
	expect(walk_blocked(l, s, state.blocked == WEIR_NEVER ? WEIR_NEVER : state.blocked ?
			    w.now + state.blocked : 0, w.now),
	       "%s: blocked for %llu ticks", l->asked.name, state.blocked);
	for (i = 0; i < l->budgets; i++)
		/* The model caps what another unit makes of a count. */
		expect(min(state.count[i], U64_MAX / 2) <= walk_told(l, s, i, w.now),
		       "%s, budget %u: %llu, at most %llu", l->asked.name, i, state.count[i],
		       walk_told(l, s, i, w.now));
	for (i = 0; i < l->budgets; i++)
		/* A set that is full of totals tells the budget. */
		expect(state.count[i] >= min(walk_bound(l, s, i, w.now), walk_room(l, s, i)),
		       "%s, budget %u: %llu, at least %llu", l->asked.name, i, state.count[i],
		       walk_bound(l, s, i, w.now));
}

static u64 fate_of(const struct walk_limit *l, enum weir_fate fate)
{
	return hook_fate(l->asked.name, fate);
}

/* A packet through the hook. Returns whether it was dropped. */
static bool packet(const struct weir_net_prefix *from, u32 segments, u32 len, bool late)
{
	u64 was[LIMITS][WEIR_ELSEWHERE + 1], cost[2], clock = w.now - late;
	struct walk_source *s[LIMITS] = { };
	enum walk_verdict says[LIMITS];
	struct weir_source source = source_of(from);
	bool exempt = is_exempt(from, ""), drops = false, early = false, dropped, refused;
	unsigned int i, f;
	struct walk_limit *l;
	struct sk_buff skb;
	u8 byte[60];

	cost[true] = make_packet(&skb, byte, from, segments, len) * (u64)(segments - 1);
	cost[true] += skb.len;
	cost[false] = segments;
	for (i = 0; i < LIMITS; i++) {
		l = &w.limit[i];
		if (!l->budgets || exempt || is_exempt(from, l->asked.name))
			continue;
		s[i] = walk_source(l, source);
		says[i] = walk_says(l, s[i], cost, clock, w.now);
		if (says[i] == WALK_ADMIT &&
		    !walk_welcomes(l, s[i], segments, clock, w.now))
			says[i] = WALK_EITHER;
	}
	shim_cpu = below(SHIM_CPUS);
	shim_jiffies = clock;
	if (segments == 1 && !below(4))
		early = hook_early(&skb, from->family == AF_INET6, &t.dev[0]);
	for (i = 0; i < LIMITS; i++)
		for (f = 0; s[i] && f <= WEIR_ELSEWHERE; f++)
			was[i][f] = fate_of(&w.limit[i], f);
	dropped = shim_hooks &&
		  hook_verdict(&skb, from->family == AF_INET6, &t.dev[0]) == NF_DROP;
	shim_jiffies = w.now;
	w.early += early;
	expect(dropped || !early, "the hook admits what was refused before");
	for (i = 0; i < LIMITS; i++)
		drops |= s[i] && fate_of(&w.limit[i], WEIR_DROPPED) != was[i][WEIR_DROPPED];
	for (i = 0; i < LIMITS; i++) {
		l = &w.limit[i];
		if (!s[i])
			continue;
		refused = fate_of(l, WEIR_DROPPED) != was[i][WEIR_DROPPED];
		expect(!refused || !l->asked.observe, "%s", l->asked.name);
		refused |= fate_of(l, WEIR_WOULD_DROP) != was[i][WEIR_WOULD_DROP];
		if (refused || early)
			walk_punished(s[i], real_of(l)->penalty_ticks, clock);
		w.must_refuse += refused && says[i] == WALK_REFUSE;
		w.must_admit += !refused && says[i] == WALK_ADMIT;
		w.refused += refused;
		expect(!refused || says[i] != WALK_ADMIT,
		       "%s refuses %s, which has room: counted %llu, at most %llu of %llu, cost %llu, %llu",
		       l->asked.name, text_of(from), walk_bound(l, s[i], 0, w.now),
		       walk_most(l, s[i], 0, clock), walk_room(l, s[i], 0), cost[0], cost[1]);
		if (fate_of(l, WEIR_ADMITTED) != was[i][WEIR_ADMITTED]) {
			w.admitted++;
			expect(!refused, "%s counts twice", l->asked.name);
			expect(says[i] != WALK_REFUSE,
			       "%s admits %s beyond its budget: counted %llu of %llu, cost %llu, %llu",
			       l->asked.name, text_of(from), walk_bound(l, s[i], 0, w.now),
			       walk_room(l, s[i], 0), cost[0], cost[1]);
			expect(walk_entered(l, s[i], segments, clock, w.now, true),
			       "%s admits newcomers beyond their budget", l->asked.name);
			walk_admitted(l, s[i], cost, clock, w.now);
		} else {
			/* Those behind the one that drops are not asked. */
			expect(refused || drops, "%s was not asked", l->asked.name);
			if (!refused) {
				walk_entered(l, s[i], segments, clock, w.now, false);
				walk_given_back(l, s[i], w.now);
			}
		}
		if (!w.failed)
			check_state(l, s[i], refused && (s[i]->known || !l->newcomers.amount) &&
				    cost[false] <= largest_of(l, s[i], false) &&
				    cost[true] <= largest_of(l, s[i], true));
	}
	expect(dropped == drops, "the hook drops %u", dropped);
	return dropped;
}

static void step_packets(void)
{
	struct weir_net_prefix from = some_address();
	unsigned int n = below(3) ? 1 : ends(80), i, dropped = 0;
	u32 segments = below(4) ? 1 : ends(65535), len = below(2) ? 60 : ends(65535);
	bool late = !below(8);

	say("%u packets of %u segments, %u bytes from %s%s", n, segments, len, text_of(&from),
	    late ? ", late" : "");
	for (i = 0; i < n && dropped < 2 && !w.failed; i++)
		dropped += packet(&from, segments, len, late);
	say("  %u dropped", dropped);
}

/* Evenly, up to as fast as is never refused */
static void step_even(void)
{
	struct weir_net_prefix from = some_address();
	const struct walk_limit *l = some_limit();
	unsigned int n = ends(60);
	u64 every = 1 + below(4);

	if (!l)
		return;
	if (l->budget[0].window)
		every = below(2) ? l->budget[0].window - below(2) :
			(l->budget[0].slots + 1) * l->budget[0].slot_ticks / l->budget[0].amount + 1;
	every = min(every, BIT_ULL(30));
	say("%u packets, one each %llu ticks, from %s", n, every, text_of(&from));
	while (n-- && !w.failed) {
		packet(&from, 1, 60, false);
		pass(every, false);
	}
}

/* From many addresses, one packet each */
static void step_flood(void)
{
	unsigned int n = ends(30);
	struct weir_net_prefix from;

	say("%u packets of other addresses each", n);
	while (n-- && !w.failed) {
		from = some_address();
		packet(&from, 1, 60, false);
	}
}

static void random_penalty(struct weir_limit_config *words)
{
	words->penalty_ms = 0;
	if (words->prefix.len4 && words->prefix.len6 && !below(3))
		words->penalty_ms = WEIR_BLOCK_MS_MIN *
				    ends(WEIR_BLOCK_MS_MAX / WEIR_BLOCK_MS_MIN);
	words->renew = words->penalty_ms && below(2);
}

/* The memory of a flood is small, to be made quickly. */
static void random_newcomers(struct weir_limit_config *words)
{
	words->newcomers.budget = 0;
	words->newcomers.flood = 64;
	words->newcomers.window_ms = below(2) ? 1000 : random_window();
	words->newcomers.known_ms = 1000 * ends(WEIR_KNOWN_MS_MAX / 1000);
	if (words->prefix.len4 && words->prefix.len6 && !below(3))
		words->newcomers.budget = ends(WEIR_PACKETS_MAX);
}

/* The list that has budgets of sources, or NULL. */
static struct weir_prefixes *the_list(void)
{
	const struct weir_config *config = weir_config_get(&t.wn);

	return config && config->lists ? config->list[0] : NULL;
}

static struct weir_limit_config random_words(unsigned int i)
{
	static const struct weir_prefix prefix[] = {
		{ 32, 64 }, { 32, 128 }, { 24, 64 }, { 0, 0 }, { 0, 64 }, { 32, 0 },
	};
	struct weir_limit_config words;

	weir_limit_init(&words, i ? "b" : "a");
	words.prefix = prefix[below(ARRAY_SIZE(prefix))];
	words.sources = w.tiny ? below(2) : 64;
	words.observe = !below(8);
	words.budgets = below(3) ? 1 : 1 + below(WEIR_BUDGETS_MAX);
	for (i = 0; i < words.budgets; i++)
		random_budget(&words, i);
	if (below(2))
		random_zone(&words.zone, wall_now());
	random_penalty(&words);
	random_newcomers(&words);
	words.budgets_by = below(2) ? the_list() : NULL;
	return words;
}

/* Have a limit's model go by the list if the limit does. */
static void go_by(struct walk_limit *l)
{
	l->asked.budgets_by = real_of(l)->cfg.budgets_by;
	walk_members(l, w.member, l->asked.budgets_by ? w.members : 0);
}

static void limit_add(unsigned int i)
{
	struct walk_limit *l = &w.limit[i];
	struct weir_error error = { };
	struct weir_limit_config words = random_words(i);
	int err;

	say_limit("add", &words);
	err = edit_add(&t.wn, &words, NULL, &error);
	say("  %d %s", err, error.msg ?: "");
	if (err)
		return;
	l->asked = words;
	walk_limit_make(l, real_of(l), w.now, wall_now());
	go_by(l);
	w.changes++;
}

static void step_add(void)
{
	unsigned int i = below(LIMITS);

	if (!w.limit[i].budgets)
		limit_add(i);
}

static void change_words(struct weir_limit_config *words)
{
	unsigned int i = below(words->budgets);

	switch (below(12)) {
	case 0 ... 1:
		words->budget[i].amount = words->budget[i].mode == WEIR_MODE_EXACT ? ends(54) :
					  ends(WEIR_PACKETS_MAX);
		break;
	case 2:
		words->budget[i].window_ms = random_window();
		break;
	case 3:
		words->sources = w.tiny ? below(2) ? below(2) : 64 : 64u << below(3);
		break;
	case 4:
		words->observe ^= true;
		break;
	case 5:
		random_zone(&words->zone, wall_now());
		break;
	case 6:
		i = words->budgets;
		words->budgets = 1 + below(WEIR_BUDGETS_MAX);
		for (; i < words->budgets; i++)
			random_budget(words, i);
		break;
	case 7:
		random_penalty(words);
		break;
	case 8:
		random_newcomers(words);
		break;
	case 9:
		words->budgets_by = words->budgets_by ? NULL : the_list();
		break;
	default:
		random_budget(words, i);
	}
}

static void set_words(struct walk_limit *l, const struct weir_limit_config *words)
{
	struct weir_table *table = real_of(l)->table;
	struct weir_error error = { };
	int err;

	say_limit("set", words);
	err = edit_set(&t.wn, words, &error);
	say("  %d %s", err, error.msg ?: "");
	if (err)
		return;
	walk_limit_set(l, real_of(l), real_of(l)->table == table, w.now, wall_now());
	l->asked = *words;
	go_by(l);
	w.changes++;
}

/* A prefix of some source's address */
static struct weir_member random_member(void)
{
	static const u8 len[2][4] = { { 0, 24, 31, 32 }, { 0, 32, 48, 64 } };
	struct weir_member member = { .prefix = some_address() };
	struct weir_net_prefix *p = &member.prefix;
	unsigned int bit;

	p->len = len[p->family == AF_INET6][below(4)];
	for (bit = p->len; bit < 128; bit++)
		p->word[bit / 32] &= htonl(~(0x80000000 >> bit % 32));
	if (below(4))
		member.budget = below(2) ? 1 + below(54) : ends(WEIR_PACKETS_MAX);
	return member;
}

/* The list gets other budgets, or other prefixes, of which none may divide a source. */
static void step_list(void)
{
	struct weir_table *table[LIMITS] = { };
	struct weir_member member[ARRAY_SIZE(w.member)];
	unsigned int count = 1 + below(ARRAY_SIZE(member)), i;
	struct weir_error error = { };
	struct weir_edit *edit;
	int err;

	for (i = 0; i < count; i++) {
		member[i] = random_member();
		say("list: %s=%llu", text_of(&member[i].prefix), member[i].budget);
	}
	for (i = 0; i < LIMITS; i++)
		table[i] = w.limit[i].budgets ? real_of(&w.limit[i])->table : NULL;
	edit = weir_edit_begin(&t.wn, false, 0);
	err = weir_edit_list_add(edit, "own", true, member, count, &error);
	err = weir_edit_end(edit, err, WEIR_EDIT_PUBLISH, &error);
	say("  %d %s", err, error.msg ?: "");
	if (err)
		return;
	memcpy(w.member, member, sizeof(member));
	w.members = count;
	for (i = 0; i < LIMITS; i++) {
		struct walk_limit *l = &w.limit[i];

		if (!l->budgets || !real_of(l)->cfg.budgets_by)
			continue;
		walk_limit_set(l, real_of(l), real_of(l)->table == table[i], w.now, wall_now());
		go_by(l);
	}
	w.changes++;
}

static void step_set(void)
{
	struct walk_limit *l = some_limit();
	struct weir_limit_config words;

	if (!l)
		return;
	words = l->asked;
	change_words(&words);
	set_words(l, &words);
}

/* A crowd, and then a total with room for it; somebody comes, and again when the windows are over. */
static void step_total(void)
{
	struct walk_limit *l = some_limit();
	struct weir_net_prefix from;
	struct weir_limit_config words;
	unsigned int i, n;
	u64 ticks = 0;

	if (!l || !w.tiny)
		return;
	for (i = 0; i < 12 && !w.failed; i++) {
		from = some_address();
		packet(&from, 1, 60, false);
	}
	for (i = 0; i < l->budgets; i++)
		ticks = max(ticks, (l->budget[i].slots + 1) * l->budget[i].slot_ticks + HZ / 4 + 1);
	words = l->asked;
	words.budgets = 1;
	words.sources = below(4) ? 64 : words.sources;
	words.budget[0] = (struct weir_budget_config) { .amount = 2 + below(20) };
	set_words(l, &words);
	from = some_address();
	n = 1 + below(3);
	say("%u packets of %s, and more %llu ticks later", n, text_of(&from), ticks);
	for (i = 0; i < n + 20 && !w.failed; i++) {
		if (i == n)
			pass(min(ticks, BIT_ULL(33)), false);
		packet(&from, 1, 60, false);
	}
}

/* Another whole configuration: limits that stay as they are, change, come or go. */
static void step_replace(void)
{
	unsigned int order = below(2), i, n, exempts = 0;
	struct weir_table *table[LIMITS] = { };
	struct weir_limit_config words[LIMITS];
	struct said_exempt exempt[ARRAY_SIZE(w.exempt)];
	struct weir_error error = { };
	bool stays[LIMITS] = { };
	struct weir_edit *edit;
	struct walk_limit *l;
	int err = 0;

	say("replace:");
	edit = weir_edit_begin(&t.wn, true, w.exempts);
	if (w.members)
		err = weir_edit_list_add(edit, "own", true, w.member, w.members, &error);
	for (n = 0; n < LIMITS; n++) {
		i = n ^ order;
		l = &w.limit[i];
		words[i] = l->budgets ? l->asked : random_words(i);
		if (l->budgets)
			table[i] = real_of(l)->table;
		if (l->budgets && below(2))
			change_words(&words[i]);
		if (l->budgets && !below(8))
			words[i].prefix.len6 = 48 + below(64);
		if (!below(4))
			continue;
		stays[i] = true;
		say_limit(l->budgets ? "again" : "new", &words[i]);
		err = err ?: weir_edit_limit_add(edit, &words[i], NULL, &error);
	}
	for (n = 0; n < w.exempts; n++) {
		i = strcmp(w.exempt[n].limit, "b") ? 0 : 1;
		if ((*w.exempt[n].limit && !stays[i]) || !below(4))
			continue;
		exempt[exempts] = w.exempt[n];
		exempt[exempts].exempt.comment = "";
		err = err ?: weir_edit_exception_add(edit, &exempt[exempts].exempt,
						  exempt[exempts].limit, WEIR_BLOCK_ADD, &error);
		exempts++;
	}
	err = weir_edit_end(edit, err, WEIR_EDIT_PUBLISH, &error);
	say("  %d %s", err, error.msg ?: "");
	if (err)
		return;
	memcpy(w.exempt, exempt, sizeof(exempt));
	w.exempts = exempts;
	for (i = 0; i < LIMITS; i++) {
		l = &w.limit[i];
		if (l->budgets && stays[i] && l->asked.prefix.len6 == words[i].prefix.len6) {
			walk_limit_set(l, hook_limit(words[i].name),
				       hook_limit(words[i].name)->table == table[i], w.now,
				       wall_now());
			l->asked = words[i];
			go_by(l);
			continue;
		}
		walk_limit_free(l);
		if (!stays[i])
			continue;
		l->asked = words[i];
		walk_limit_make(l, real_of(l), w.now, wall_now());
		go_by(l);
	}
	w.changes++;
}

static void step_del(void)
{
	struct walk_limit *l = some_limit();
	struct weir_error error = { };
	unsigned int i, n = 0;

	if (!l)
		return;
	say("limit del %s", l->asked.name);
	expect(!edit_del(&t.wn, l->asked.name, &error), "%s", error.msg);
	for (i = 0; i < w.exempts; i++)
		if (strcmp(w.exempt[i].limit, l->asked.name))
			w.exempt[n++] = w.exempt[i];
	w.exempts = n;
	walk_limit_free(l);
}

static void step_exempt(void)
{
	const struct walk_limit *l = some_limit();
	struct weir_error error = { };
	struct said_exempt *exempt = &w.exempt[w.exempts];
	int err;

	if (w.exempts && (w.exempts == ARRAY_SIZE(w.exempt) || below(2))) {
		exempt = &w.exempt[below(w.exempts)];
		say("exempt del %s limit '%s'", text_of(&exempt->exempt.prefix), exempt->limit);
		expect(!edit_exempt(&t.wn, exempt, false, &error), "%s", error.msg);
		*exempt = w.exempt[--w.exempts];
		return;
	}
	*exempt = (struct said_exempt) { .exempt.prefix = some_address() };
	if (l && below(2))
		strcpy(exempt->limit, l->asked.name);
	err = edit_exempt(&t.wn, exempt, true, &error);
	say("exempt add %s limit '%s': %d", text_of(&exempt->exempt.prefix), exempt->limit, err);
	w.exempts += !err;
}

/* As netlink_forget.c does it. */
static void step_forget(void)
{
	struct walk_limit *l = some_limit();
	struct weir_net_prefix from = some_address();
	bool all = !below(3);
	struct walk_source *s;
	const struct weir_limit *real;
	u32 set;

	if (!l)
		return;
	say("source forget %s limit %s", all ? "all" : text_of(&from), l->asked.name);
	real = real_of(l);
	mutex_lock(&t.wn.lock);
	weir_refusals_renew(&t.wn);
	if (all && real->newcomers.budget)
		weir_newcomers_learn(&real->newcomers);
	s = all ? NULL : walk_source(l, source_of(&from));
	if (s)
		weir_table_forget(real->table, &s->key,
				  weir_source_hash(&s->key, real->cfg.prefix, &t.wn.key), w.now);
	for (set = 0; all && set < weir_table_sets(real->table); set++)
		weir_table_clear(real->table, set);
	mutex_unlock(&t.wn.lock);
	walk_forget(l, s);
	if (all)
		walk_learns(l, w.now);
}

static void step_reset(void)
{
	struct walk_limit *l = some_limit();

	if (!l)
		return;
	say("limit reset %s", l->asked.name);
	mutex_lock(&t.wn.lock);
	weir_limit_reset(real_of(l));
	mutex_unlock(&t.wn.lock);
}

/* As netlink_block.c does it. */
static void step_block(void)
{
	struct weir_net_prefix from = some_address();
	struct walk_limit *l = some_limit();
	bool release = !below(4);
	u64 ms = below(4) ? WEIR_BLOCK_MS_MIN * ends(WEIR_BLOCK_MS_MAX / WEIR_BLOCK_MS_MIN) : 0;
	u64 end = ms ? w.now + (ms * HZ + 999) / 1000 : WEIR_NEVER;
	struct weir_lookup lookup;
	const struct weir_limit *real;
	struct walk_source *s;
	int err;

	if (!l)
		return;
	s = walk_source(l, source_of(&from));
	real = real_of(l);
	if (!(s->key.scope & WEIR_SCOPE_IPV6 ? real->cfg.prefix.len6 : real->cfg.prefix.len4))
		return;
	lookup = (struct weir_lookup) {
		.source = &s->key, .tick = w.now, .budgets = real->room,
		.hash = weir_source_hash(&s->key, real->cfg.prefix, &t.wn.key),
	};
	if (release) {
		err = weir_table_release(real->table, &s->key, lookup.hash, w.now);
		say("source release %s limit %s: %d", text_of(&from), l->asked.name, err);
		expect(err || w.now >= s->blocked, "it is not blocked");
		s->blocked = 0;
		s->free = 0;
		return;
	}
	local_bh_disable();
	rcu_read_lock();
	err = weir_table_block(real->table, &lookup, end, below(2) ? WEIR_BLOCK_REPLACE : WEIR_BLOCK_ADD);
	rcu_read_unlock();
	local_bh_enable();
	say("source block %s limit %s for %llu ms: %d", text_of(&from), l->asked.name, ms, err);
	expect(err != -EEXIST || w.now < s->free, "it is blocked already");
	if (err < 0)
		return;
	s->blocked = end;
	s->free = walk_block_ends(end);
	if (!s->placed)
		s->first = w.now;
	if (!s->known)
		s->settled = U64_MAX;
	s->placed = true;
	walk_placed(l, w.now);
}

/* As netlink/ask.c does it. Returns the ticks to wait, or 0. */
static u64 request(struct walk_limit *l, struct walk_source *s, struct weir_take take)
{
	const struct weir_limit *real = real_of(l);
	struct weir_lookup lookup = {
		.source = &s->key, .tick = w.now,
		.hash = weir_source_hash(&s->key, real->cfg.prefix, &t.wn.key),
	};
	u64 cost[2] = { }, bound = walk_bound(l, s, 0, w.now);
	bool bytes = real->cfg.budget[0].unit;
	enum walk_verdict says;
	u16 result;

	lookup.budgets = weir_limit_room_masked(real, &s->key, lookup.own);
	if (take.due) {
		lookup.own[0] = 2 * take.due;
		lookup.budgets = lookup.own;
	}
	cost[bytes] = take.cost;
	says = walk_says(l, s, cost, w.now, w.now);
	shim_cpu = below(SHIM_CPUS);
	local_bh_disable();
	rcu_read_lock();
	result = weir_table_take(real->table, &lookup, &take);
	rcu_read_unlock();
	local_bh_enable();
	say("source charge %s limit %s %llu: %x, %llu, wait %lld", l->asked.name,
	    take.due ? "reserve" : take.drain ? "drain" : "all", cost[bytes], result, take.cost,
	    take.wait);
	expect(!(result & WEIR_AGAIN), "try again");
	expect(result & WEIR_CHARGED || says != WALK_ADMIT, "%s has %llu of %llu, no room for %llu",
	       l->asked.name, walk_most(l, s, 0, w.now), walk_room(l, s, 0), cost[bytes]);
	if (!(result & WEIR_CHARGED))
		return take.wait;
	if (says == WALK_ADMIT)
		expect(take.cost == cost[bytes], "%llu of %llu", take.cost, cost[bytes]);
	cost[bytes] = take.cost;
	if (take.due && take.wait) {
		walk_reserved(l, s, cost[0] + cost[1], w.now + take.wait);
		walk_placed(l, w.now);
		return 0;
	}
	expect(walk_says(l, s, cost, w.now, w.now) != WALK_REFUSE, "%s has %llu of %llu, and gets %llu",
	       l->asked.name, bound, walk_room(l, s, 0), take.cost);
	walk_admitted(l, s, cost, w.now, w.now);
	check_state(l, s, false);
	return 0;
}

/*
 * A cost at the ends of what there is room for. Who is told to wait gets it then, and none
 * before.
 */
static void step_request(void)
{
	struct weir_net_prefix from = some_address();
	struct walk_limit *l = some_limit();
	const struct weir_limit *real;
	struct weir_take take = { .wait = WEIR_NEVER };
	u64 room, used, wait;
	struct walk_source *s;
	bool reserve;

	if (!l)
		return;
	s = walk_source(l, source_of(&from));
	real = real_of(l);
	room = walk_room(l, s, 0);
	used = below(2) ? walk_bound(l, s, 0, w.now) : walk_most(l, s, 0, w.now);
	reserve = l->budgets == 1 && l->budget[0].mode == WEIR_MODE_BUCKET && below(2);
	take.cost = below(3) ? room - min(room, used) + below(3) - 1 : ends(room);
	take.cost = min(max(take.cost, 1ull), largest_of(l, s, real->cfg.budget[0].unit));
	take.due = reserve ? room : 0;
	take.drain = !reserve && below(2);
	take.permit.known_ticks = real->newcomers.known_ticks;
	say("from %s", text_of(&from));
	wait = request(l, s, take);
	if (!wait || wait > BIT_ULL(33) || w.failed || below(2))
		return;
	w.waits++;
	say("%llu ticks less one pass", wait);
	pass(wait - 1, false);
	if (wait > 1 && !weir_budgets_have(real->cfg.budget, l->budgets, WEIR_MODE_CALENDAR))
		expect(request(l, s, take), "%s lets wait longer than it must", l->asked.name);
	pass(1, false);
	expect(!request(l, s, take), "%s lets wait again", l->asked.name);
}

static const struct {
	void (*does)(void);
	unsigned int weight;
} kinds[] = {
	{ step_packets, 40 },
	{ step_flood, 6 },
	{ step_even, 2 },
	{ step_request, 8 },
	{ step_time, 24 },
	{ step_wall, 4 },
	{ step_set, 6 },
	{ step_replace, 1 },
	{ step_total, 1 },
	{ step_add, 2 },
	{ step_del, 1 },
	{ step_exempt, 3 },
	{ step_forget, 2 },
	{ step_reset, 1 },
	{ step_block, 4 },
	{ step_list, 3 },
};

static void step(void)
{
	unsigned int i, sum = 0, at;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		sum += kinds[i].weight;
	at = below(sum);
	for (i = 0; at >= kinds[i].weight; i++)
		at -= kinds[i].weight;
	kinds[i].does();
}

/* Returns the number of steps, fewer if one fails. */
static unsigned int walk(u64 run, unsigned int steps)
{
	unsigned int i;

	hook_begin(run);
	weir_config_init(&t.wn);
	t.pressure = true;
	w.failed = false;
	w.exempts = 0;
	w.members = 0;
	w.strangers = 0;
	w.tiny = below(2);
	w.now = BIT_ULL(below(37)) + below(1000);
	w.wall = 1600000000 + below(1000000000);
	w.step = 0;
	clock_run();
	limit_add(0);
	for (; w.step < steps && !w.failed; w.step++) {
		t.chance = chance_of(run << 16 | w.step);
		w.steps++;
		if (!w.skip[w.step])
			step();
	}
	for (i = 0; i < LIMITS; i++)
		walk_limit_free(&w.limit[i]);
	hook_end();
	return w.step;
}

/* Leave out steps for as long as the walk fails. */
static void shrink(u64 run, unsigned int steps)
{
	unsigned int size, at, i, tries = 0;
	bool was[STEPS];

	for (size = steps / 2; size; size /= 2)
		for (at = 0; at < steps && tries < TRIES_MAX; at += size, tries++) {
			memcpy(was, w.skip, sizeof(was));
			for (i = at; i < steps && i < at + size; i++)
				w.skip[i] = true;
			walk(run, steps);
			if (!w.failed)
				memcpy(w.skip, was, sizeof(was));
		}
}

static void test_walk(void **state)
{
	struct unit_runs runs = unit_runs(200);
	unsigned int steps;
	u64 run;

	for (run = runs.first; run < runs.end; run++) {
		memset(w.skip, 0, sizeof(w.skip));
		steps = walk(run, STEPS);
		if (!w.failed)
			continue;
		printf("# run %llu fails at step %u, %llu in all: %s\n", run, steps, w.steps, w.reason);
		shrink(run, steps);
		w.aloud = true;
		walk(run, steps);
		w.aloud = false;
		fail_msg("run %llu: %s", run, w.reason);
	}
	print_message("# %llu steps, %llu changes: %llu admitted, %llu refused; of these %llu had to be refused, %llu admitted\n",
		      w.steps, w.changes, w.admitted, w.refused, w.must_refuse, w.must_admit);
	print_message("# %llu refused early, %llu blocked by penalties, %llu waits, %llu answers to known sources\n",
		      w.early, w.blocks, w.waits, w.known);
}

UNIT_MAIN("hook_walk", T(test_walk))
