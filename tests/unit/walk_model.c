// SPDX-License-Identifier: GPL-2.0-or-later
/* See walk_model.h. */
#include <linux/jiffies.h>
#include <time.h>

#include "table/set.h"
#include "walk_model.h"

#define u128 unsigned __int128

static void list_add(struct walk_list *list, u64 tick, u64 amount, u64 ends)
{
	unsigned int i;

	for (i = list->len; i && list->event[i - 1].tick > tick; i--)
		;
	if (i && list->event[i - 1].tick == tick && list->event[i - 1].ends == ends) {
		list->event[i - 1].amount += min(amount, U64_MAX - list->event[i - 1].amount);
		return;
	}
	if (list->len == list->room) {
		list->room = list->room ? 2 * list->room : 8;
		list->event = realloc(list->event, list->room * sizeof(*list->event));
		assert_non_null(list->event);
	}
	memmove(&list->event[i + 1], &list->event[i], (list->len++ - i) * sizeof(*list->event));
	list->event[i] = (struct walk_event) { tick, amount, ends, false };
}

static void list_copy(struct walk_list *to, const struct walk_list *from)
{
	unsigned int i;

	for (i = 0; i < from->len; i++) {
		list_add(to, from->event[i].tick, from->event[i].amount, from->event[i].ends);
		to->event[to->len - 1].stays |= from->event[i].stays;
	}
}

static void list_free(struct walk_list *list)
{
	free(list->event);
	*list = (struct walk_list) { };
}

static u64 slot_of(const struct walk_budget *b, u64 tick)
{
	return tick / b->slot_ticks;
}

static bool is_total(const struct walk_budget *b)
{
	return !b->window_ms;
}

/* Does a ring of slots count? */
static bool is_ring(const struct walk_budget *b)
{
	return !is_total(b) && b->mode != WEIR_MODE_BUCKET && b->mode != WEIR_MODE_EXACT &&
	       b->mode != WEIR_MODE_CALENDAR;
}

/* Slots that may count besides the current one */
static u64 reach(const struct walk_budget *b)
{
	return b->mode == WEIR_MODE_STRICT || b->mode == WEIR_MODE_EXACT ? b->slots : b->slots - 1;
}

static u64 length(const struct walk_budget *b)
{
	return is_total(b) ? U64_MAX : b->slots * b->slot_ticks;
}

/* The window that was asked for, of which the slots may be longer. */
static u64 asked(const struct walk_budget *b)
{
	return is_total(b) ? U64_MAX : b->window;
}

/*
 * Does an event count now? @bound: in any case, because the window that ends now has it; else it
 * may, because the slots that the window touches have it.
 */
static bool counts(const struct walk_budget *b, const struct walk_event *e, u64 now, bool bound)
{
	/* Who has no entry may be forgotten when a floor ends. */
	if (bound && e->ends <= now)
		return false;
	/* The end of a period clears the lists. */
	if (is_total(b) || b->mode == WEIR_MODE_CALENDAR)
		return true;
	if (bound && (b->mode == WEIR_MODE_STRICT || b->mode == WEIR_MODE_EXACT))
		return e->tick + b->window >= now;
	return slot_of(b, e->tick) + reach(b) >= slot_of(b, now);
}

/* The level of a bucket, in packets or bytes, rounded up. */
static u128 level(const struct walk_budget *b, const struct walk_list *list, u64 now, bool bound)
{
	u64 last = 0, slot;
	u128 level = 0;
	unsigned int i;

	for (i = 0; i < list->len && !(bound && list->event[i].tick > now); i++) {
		/* A clock that is late has not seen what leaks until then. */
		slot = slot_of(b, min(list->event[i].tick, now));
		level -= min(level, (u128)(slot - last) * b->amount);
		level += (u128)list->event[i].amount * b->slots;
		last = slot;
	}
	level -= min(level, (u128)(slot_of(b, now) - last) * b->amount);
	return (level + b->slots - 1) / b->slots;
}

static u128 held(const struct walk_budget *b, const struct walk_list *list, u64 now, bool bound)
{
	unsigned int i;
	u128 sum = 0;

	if (b->mode == WEIR_MODE_BUCKET)
		return level(b, list, now, bound);
	for (i = 0; i < list->len; i++)
		if (counts(b, &list->event[i], now, bound))
			sum += list->event[i].amount;
	return sum;
}

/* Had the source sent nothing before the last change? */
static bool is_stranger(const struct walk_source *s, unsigned int i)
{
	unsigned int n;

	for (n = 0; n < s->most[i].len; n++)
		if (s->most[i].event[n].ends != U64_MAX)
			return false;
	return !s->inherits;
}

/*
 * In a crowded table, where a source may start from what others sent, as if one source had sent
 * what all did.
 */
static u128 most(const struct walk_limit *l, const struct walk_source *s, unsigned int i, u64 now)
{
	const struct walk_source *of;
	const struct walk_event *e;
	struct walk_list all = { };
	bool stranger = is_stranger(s, i);
	unsigned int n;
	u128 sum;

	if (!l->crowded)
		return held(&l->budget[i], &s->most[i], now, false);
	for (of = l->source; of < l->source + l->sources; of++)
		for (n = 0; n < of->most[i].len; n++) {
			e = &of->most[i].event[n];
			if (of == s || !stranger || e->stays || e->ends > now)
				list_add(&all, e->tick, e->amount, 0);
		}
	sum = held(&l->budget[i], &all, now, false);
	list_free(&all);
	return sum;
}

u64 walk_bound(const struct walk_limit *l, const struct walk_source *s, unsigned int i, u64 now)
{
	return min(held(&l->budget[i], &s->bound[i], now, true), (u128)U64_MAX);
}

/* What CPUs have taken in advance counts in the slots of what they charged. */
static u64 in_advance(const struct walk_limit *l, const struct walk_source *s, unsigned int i)
{
	/* In a crowded table a floor may have them. */
	bool some = l->crowded && (l->shared[0] || l->shared[1]);
	bool shared = (some || l->shared[s->key.scope & 1]) && l->budgets == 1 &&
		      l->budget[i].mode != WEIR_MODE_EXACT && !is_total(&l->budget[i]) &&
		      l->budget[i].mode != WEIR_MODE_CALENDAR;

	/* A bucket is not given back what has drained, so one batch may follow the other. */
	return !shared ? 0 : l->budget[i].mode == WEIR_MODE_BUCKET ? l->budget[i].room :
	       l->batch * (1 + l->batches);
}

/* May what a CPU took with a charge, perhaps one that was given back, count? */
static bool was_charged(const struct walk_budget *b, const struct walk_list *list, u64 now)
{
	unsigned int i;

	for (i = 0; i < list->len; i++)
		if (b->mode == WEIR_MODE_BUCKET ?
		    list->event[i].tick + (b->room / b->amount + 2) * length(b) >= now :
		    counts(b, &list->event[i], now, false))
			return true;
	return false;
}

u64 walk_most(const struct walk_limit *l, const struct walk_source *s, unsigned int i, u64 now)
{
	u128 sum = most(l, s, i, now);

	if (l->crowded || was_charged(&l->budget[i], &s->most[i], now))
		sum += in_advance(l, s, i);
	return min(sum, (u128)U64_MAX);
}

/* As if one source had sent what all did. */
static u128 held_by_all(const struct walk_limit *l, unsigned int i, u64 now)
{
	const struct walk_source *s;
	struct walk_list all = { };
	unsigned int n;
	u128 sum;

	for (s = l->source; s < l->source + l->sources; s++)
		for (n = 0; n < s->most[i].len; n++)
			list_add(&all, s->most[i].event[n].tick, s->most[i].event[n].amount, 0);
	sum = held(&l->budget[i], &all, now, false);
	list_free(&all);
	return sum;
}

/*
 * Are all that were placed surely idle? Then floors are, too, and no CPU's batch counts. A bucket
 * that started from what another one held leaks longer than each of them.
 */
static bool is_idle(const struct walk_limit *l, u64 now)
{
	const struct walk_source *s;
	unsigned int i;

	for (i = 0; i < l->budgets; i++)
		if (l->crowded && l->budget[i].mode == WEIR_MODE_BUCKET &&
		    held_by_all(l, i, now))
			return false;
	for (s = l->source; s < l->source + l->sources; s++)
		for (i = 0; i < l->budgets; i++)
			if (now < s->free || s->due ||
			    held(&l->budget[i], &s->most[i], now, false) ||
			    (in_advance(l, s, i) &&
			     was_charged(&l->budget[i], &s->most[i], now)))
				return false;
	return true;
}

static unsigned int placed_of(const struct walk_limit *l)
{
	const struct walk_source *s;
	unsigned int placed = 0;

	for (s = l->source; s < l->source + l->sources; s++)
		placed += s->placed;
	return placed;
}

static void all_uncertain(struct walk_limit *l)
{
	struct walk_source *s;

	for (s = l->source; s < l->source + l->sources; s++) {
		s->known = false;
		s->settled = U64_MAX;
	}
}

void walk_aged(struct walk_limit *l)
{
	struct walk_source *s;

	l->batches++;
	l->lost++;
	/* An idle newcomer loses its entry. */
	for (s = l->source; s < l->source + l->sources; s++)
		if (!s->known)
			s->settled = U64_MAX;
}

static bool surely_new(const struct walk_limit *l, const struct walk_source *s, u64 now)
{
	return l->newcomers.amount && now >= l->learns && !s->may_be_known &&
	       (!s->placed || now < s->first + l->known_ticks);
}

/*
 * It was admitted, and so is known if it has had its entry for long. Times have 16 bits, and what is
 * left of an older time may be up to the time that makes known.
 */
static void meets(struct walk_limit *l, struct walk_source *s, u64 now)
{
	const u64 unit = HZ / 4;

	s->may_be_known |= !surely_new(l, s, now);
	if (!s->placed)
		s->first = now;
	if (!s->placed || s->settled == U64_MAX || l->crowded)
		s->settled = now;
	s->known |= l->newcomers.amount && now > s->settled + l->known_ticks + 2 * unit &&
		    now + l->known_ticks < s->settled + 65000 * unit && !l->crowded;
}

bool walk_welcomes(struct walk_limit *l, const struct walk_source *s, u64 packets, u64 clock,
		   u64 now)
{
	const struct walk_budget *b = &l->newcomers;
	u64 lost = SHIM_CPUS * min(l->fresh_most / 4 / SHIM_CPUS, 64ull);

	if (!b->amount || s->known || clock < l->learns)
		return true;
	if (!held(b, &l->others, clock, false))
		l->lost = 0;
	return held(b, &l->others, clock, false) + packets + lost * (1 + l->lost) <= b->amount;
}

bool walk_entered(struct walk_limit *l, struct walk_source *s, u64 packets, u64 clock, u64 now,
		  bool admitted)
{
	const struct walk_budget *b = &l->newcomers;

	if (!b->amount)
		return true;
	if (!s->known)
		list_add(&l->others, now, packets, U64_MAX);
	if (!admitted || !surely_new(l, s, clock))
		return true;
	list_add(&l->fresh, clock, packets, U64_MAX);
	/* First and second tries */
	return held(b, &l->fresh, now, true) <= 2 * l->fresh_most;
}

void walk_placed(struct walk_limit *l, u64 now)
{
	if (placed_of(l) > l->entries) {
		l->crowded = true;
		l->mixed = true;
		all_uncertain(l);
	} else if (l->crowded && is_idle(l, now)) {
		l->crowded = false;
	}
	if (l->batches && is_idle(l, now))
		l->batches = 0;
}

/* Sources that keep their entries: blocked ones, and in a total all that were admitted. */
static bool is_full(const struct walk_limit *l, u64 now)
{
	const struct walk_source *s;
	unsigned int stay = 0, i;
	bool stays;

	for (s = l->source; s < l->source + l->sources; s++) {
		stays = now < s->free;
		for (i = 0; i < l->budgets; i++)
			stays |= is_total(&l->budget[i]) &&
				 (l->crowded ? s->placed : !!held(&l->budget[i], &s->most[i], now, false));
		stay += stays;
	}
	return stay >= l->entries;
}

/* May a floor of a total refuse whoever has no entry, until it ends? */
static bool floor_ends(const struct walk_limit *l, u64 now)
{
	const struct walk_source *s;
	const struct walk_event *e;
	unsigned int i, n;

	for (s = l->source; l->crowded && s < l->source + l->sources; s++)
		for (i = 0; i < l->budgets; i++)
			for (n = 0; is_total(&l->budget[i]) && n < s->most[i].len; n++) {
				e = &s->most[i].event[n];
				if (e->ends != U64_MAX && now < e->ends)
					return true;
			}
	return false;
}

/* Has it reserved what is not due yet, or may it have started from one that has? */
static bool is_due_later(const struct walk_limit *l, const struct walk_source *s, u64 now)
{
	const struct walk_source *of;

	for (of = l->source; l->crowded && of < l->source + l->sources; of++)
		if (of->due > now)
			return true;
	return s->due > now;
}

u64 walk_told(const struct walk_limit *l, const struct walk_source *s, unsigned int i, u64 now)
{
	u64 most = walk_most(l, s, i, now);

	return is_due_later(l, s, now) ? U64_MAX :
	       is_full(l, now) || floor_ends(l, now) ? max(most, walk_room(l, s, i)) : most;
}

bool walk_blocked(struct walk_limit *l, struct walk_source *s, u64 end, u64 now)
{
	bool possible = end <= s->free && (end >= s->blocked || s->blocked <= now);

	s->blocked = end;
	if (end)
		s->ends = end;
	return possible;
}

/* An end beyond 32 bits of quarters of a second is for ever. */
u64 walk_block_ends(u64 end)
{
	return end > (u64)(U32_MAX - 2) * (HZ / 4) ? U64_MAX : end + HZ / 4 + 1;
}

void walk_punished(struct walk_source *s, u64 penalty, u64 clock)
{
	/* A newcomer's time begins again when its block ends. */
	if (penalty && !s->known)
		s->settled = U64_MAX;
	if (penalty)
		s->free = max(s->free, walk_block_ends(clock + penalty));
}

bool walk_punishes(const struct walk_limit *l, const struct walk_source *s, u64 now)
{
	const struct walk_source *of;
	unsigned int others = 0;

	for (of = l->source; of < l->source + l->sources; of++)
		others += of != s && now < of->free;
	/* A CPU that is a tick late may have refused for a block that has just ended. */
	return others < l->entries / 2 && now >= s->unpunished && now != s->ends;
}

enum walk_verdict walk_says(const struct walk_limit *l, const struct walk_source *s,
			    const u64 cost[2], u64 clock, u64 now)
{
	enum walk_verdict verdict = WALK_ADMIT;
	const struct walk_budget *b;
	unsigned int i;

	/* A block that has ended is cleared, also for a clock that is late. */
	if (now < s->blocked)
		return WALK_REFUSE;
	if (clock < s->free || clock < s->due ||
	    (!s->stays && (is_full(l, now) || floor_ends(l, clock))))
		verdict = WALK_EITHER;
	for (i = 0; i < l->budgets; i++) {
		b = &l->budget[i];
		if (!cost[b->bytes])
			continue;
		/* A late CPU may spend what it took in the slot before. */
		if ((u128)walk_bound(l, s, i, now) + cost[b->bytes] > walk_room(l, s, i))
			return clock < now && in_advance(l, s, i) ? WALK_EITHER : WALK_REFUSE;
		/* Until then a refusal may be cached. */
		if (b->mode == WEIR_MODE_CALENDAR && l->ended && now < l->ended + HZ)
			verdict = WALK_EITHER;
		if ((u128)walk_most(l, s, i, clock) + cost[b->bytes] > walk_room(l, s, i))
			verdict = WALK_EITHER;
	}
	return verdict;
}

void walk_admitted(struct walk_limit *l, struct walk_source *s, const u64 cost[2], u64 clock,
		   u64 now)
{
	unsigned int i;

	for (i = 0; i < l->budgets; i++)
		if (cost[l->budget[i].bytes]) {
			list_add(&s->bound[i], clock, cost[l->budget[i].bytes], U64_MAX);
			list_add(&s->most[i], now, cost[l->budget[i].bytes], U64_MAX);
			s->stays |= is_total(&l->budget[i]);
		}
	meets(l, s, now);
	s->placed = true;
	walk_placed(l, now);
}

void walk_given_back(struct walk_limit *l, struct walk_source *s, u64 now)
{
	unsigned int i;

	for (i = 0; i < l->budgets; i++)
		list_add(&s->most[i], now, 0, U64_MAX);
	if (!s->placed) {
		s->first = now;
		s->settled = U64_MAX;
	}
	s->placed = true;
	walk_placed(l, now);
}

void walk_reserved(struct walk_limit *l, struct walk_source *s, u64 amount, u64 due)
{
	list_add(&s->bound[0], due, amount, U64_MAX);
	/* When it is due, the bucket is full at most. */
	list_free(&s->most[0]);
	list_add(&s->most[0], due, l->budget[0].room, U64_MAX);
	s->due = due;
	s->may_be_known = true;
	s->settled = U64_MAX;
	s->placed = true;
	l->batches++;
}

/* The period that local time shows, as text. */
static void label(char text[32], const struct walk_budget *b, const struct weir_zone *zone,
		  time_t at)
{
	const char *format = b->window_ms == WEIR_MINUTE_MS ? "%F %H:%M" :
			     b->window_ms == WEIR_HOUR_MS ? "%F %H" :
			     b->window_ms == WEIR_DAY_MS ? "%F" :
			     b->window_ms == WEIR_WEEK_MS ? "%G-%V" : "%Y-%m";
	struct tm tm;

	at += at < zone->change ? zone->offset : zone->next_offset;
	gmtime_r(&at, &tm);
	strftime(text, 32, format, &tm);
}

/*
 * The first time that shows another period; zones and their changes are whole quarters of hours.
 * A day that shows the same at its ends, in one zone, does so all along.
 */
static time64_t period_end(const struct walk_budget *b, const struct weir_zone *zone, time64_t wall)
{
	unsigned int step = b->window_ms == WEIR_MINUTE_MS ? 60 : 900;
	time64_t at = wall - wall % step;
	char was[32], is[32];

	label(was, b, zone, wall);
	for (;;) {
		label(is, b, zone, at + 86400);
		if ((at < zone->change && zone->change <= at + 86400) || strcmp(is, was))
			break;
		at += 86400;
	}
	do
		label(is, b, zone, at += step);
	while (!strcmp(is, was));
	return at;
}

static void ends_after(struct walk_budget *b, const struct weir_zone *zone, time64_t wall)
{
	b->crossed = wall;
	b->end = period_end(b, zone, wall);
}

void walk_wall(struct walk_limit *l, u64 now, time64_t wall)
{
	struct walk_budget *b;
	struct walk_source *s;
	unsigned int i;

	for (i = 0; i < l->budgets; i++) {
		b = &l->budget[i];
		if (b->mode != WEIR_MODE_CALENDAR || wall < b->end)
			continue;
		ends_after(b, &l->asked.zone, max(wall, b->end));
		l->ended = now;
		for (s = l->source; s < l->source + l->sources; s++) {
			list_free(&s->bound[i]);
			list_free(&s->most[i]);
		}
	}
}

/* The newcomers' budget. Who is there before newcomers are distinguished is known. */
static void newcomers_fill(struct walk_limit *l, const struct weir_limit *real, u64 now)
{
	const struct weir_newcomers_config *is = &real->cfg.newcomers;
	struct walk_budget was = l->newcomers;
	u64 sum = was.amount ? held(&was, &l->others, now, false) : 0;
	struct walk_source *s;

	l->newcomers = (struct walk_budget) {
		.mode = WEIR_MODE_STRICT, .window_ms = is->window_ms, .amount = is->budget,
		.room = is->budget, .window = ((u64)is->window_ms * HZ + 999) / 1000,
		.slots = real->newcomers.slots, .slot_ticks = real->newcomers.slot_ticks,
	};
	if (!is->budget)
		l->newcomers = (struct walk_budget) { };
	l->known_ticks = real->newcomers.known_ticks;
	l->lost += was.amount != is->budget || was.window_ms != is->window_ms;
	/* What has left the old window is unknown to a new one. */
	if (!was.amount || !is->budget || was.window_ms != is->window_ms)
		list_free(&l->fresh);
	if (!was.amount || !is->budget) {
		list_free(&l->others);
		l->fresh_most = 0;
	} else if (was.window_ms != is->window_ms) {
		list_free(&l->others);
		list_add(&l->others, now, sum, U64_MAX);
	}
	l->fresh_most = max(l->fresh_most, l->newcomers.amount);
	if (was.amount && is->budget)
		return;
	l->learns = 0;
	all_uncertain(l);
	for (s = l->source; s < l->source + l->sources; s++)
		s->may_be_known |= s->placed;
}

static struct walk_budget budget_of(const struct weir_limit *real, unsigned int i)
{
	const struct weir_budget_config *is = &real->cfg.budget[i];

	return (struct walk_budget) {
		.mode = is->mode, .window_ms = is->window_ms, .bytes = is->unit,
		.amount = is->amount, .room = real->room[i],
		.window = ((u64)is->window_ms * HZ + 999) / 1000,
		.slots = real->meter[i].slots, .slot_ticks = real->meter[i].slot_ticks,
		.holds = weir_shape_max(&real->table->meter[i].shape),
	};
}

static void limit_fill(struct walk_limit *l, const struct weir_limit *real)
{
	unsigned int i;

	l->budgets = real->cfg.budgets;
	for (i = 0; i < l->budgets; i++)
		l->budget[i] = budget_of(real, i);
	l->entries = weir_table_entries(real->table) / weir_table_sets(real->table);
	l->shared[0] = !real->cfg.prefix.len4;
	l->shared[1] = !real->cfg.prefix.len6;
	l->batch = max(l->batch, SHIM_CPUS * min(real->room[0] / 4 / SHIM_CPUS,
						 real->cfg.budget[0].unit ? 64ull << 10 : 64ull));
}

void walk_limit_make(struct walk_limit *l, const struct weir_limit *real, u64 now, time64_t wall)
{
	unsigned int i;

	limit_fill(l, real);
	newcomers_fill(l, real, now);
	walk_learns(l, now);
	for (i = 0; i < l->budgets; i++)
		if (l->budget[i].mode == WEIR_MODE_CALENDAR)
			ends_after(&l->budget[i], &real->cfg.zone, wall);
}

/* Do two budgets number their slots alike, whatever their units are? */
static bool same_way(const struct walk_budget *a, const struct walk_budget *b, bool kept)
{
	if (is_total(a) || is_total(b))
		return is_total(a) && is_total(b);
	if (a->mode == WEIR_MODE_BUCKET || a->mode == WEIR_MODE_EXACT || a->mode == WEIR_MODE_CALENDAR)
		return a->mode == b->mode &&
		       (a->mode == WEIR_MODE_CALENDAR ? a->window_ms == b->window_ms :
			(a->slot_ticks == b->slot_ticks &&
			 (a->mode == WEIR_MODE_EXACT || (kept && a->amount == b->amount))));
	return is_ring(b) && a->slot_ticks == b->slot_ticks && reach(a) == reach(b);
}

/* Does a change move counts as they are? */
static bool alike(const struct walk_budget *a, const struct walk_budget *b, bool kept)
{
	return a->bytes == b->bytes && same_way(a, b, kept);
}

/*
 * The old budget from which a new one starts: of the shortest window that is no shorter, in the
 * same unit if there is one; or else of the longest. Of equal ones that which counts alike, and
 * then in the same unit that which can hold most.
 */
static unsigned int before(const struct walk_budget *old, unsigned int n,
			   const struct walk_budget *b)
{
	u64 far, least = U64_MAX;
	unsigned int i, best = 0;

	for (i = 0; i < n; i++) {
		far = asked(&old[i]) >= asked(b) ? min(asked(&old[i]) - asked(b), BIT_ULL(58)) :
		      BIT_ULL(61) | (BIT_ULL(59) - asked(&old[i]));
		if (old[i].bytes != b->bytes)
			far |= BIT_ULL(60);
		far = 2 * far + !(same_way(&old[i], b, true) && old[i].slots == b->slots);
		if (far < least || (far == least && old[i].bytes == b->bytes &&
				    old[i].holds > old[best].holds)) {
			least = far;
			best = i;
		}
	}
	return best;
}

/* An amount in another unit: the same part of its budget. */
static u128 part(u128 amount, const struct walk_budget *from, const struct walk_budget *to, bool up)
{
	/* Of what was cut off, the part is not known. */
	if (from->bytes == to->bytes || !amount || (up && amount >= U64_MAX / 2))
		return amount;
	return (amount * to->room + (up ? from->room : from->room - 1)) / from->room;
}

/* Keep the newest, so that they are no more than @most. */
static void newest(struct walk_list *list, u64 most)
{
	unsigned int i;
	u64 left = most;

	for (i = list->len; i--; ) {
		list->event[i].amount = min(list->event[i].amount, left);
		left -= list->event[i].amount;
	}
}

/*
 * Have a calendar go on with the period of an old one of the same window, rather of that from
 * which its count starts, and follow the zone.
 */
static void calendar_move(struct walk_budget *b, const struct walk_budget *old, unsigned int n,
			  unsigned int before, const struct weir_zone *was,
			  const struct weir_zone *zone, time64_t wall)
{
	unsigned int i, from = n;

	for (i = 0; i < n; i++)
		if (old[i].mode == WEIR_MODE_CALENDAR && old[i].window_ms == b->window_ms &&
		    (i == before || from == n))
			from = i;
	if (from == n) {
		ends_after(b, zone, wall);
		return;
	}
	b->crossed = old[from].crossed;
	b->end = old[from].end;
	if (memcmp(was, zone, sizeof(*zone)))
		ends_after(b, zone, max(wall, b->crossed));
}

/*
 * What a new budget is bound to count of what the old one did. In a total, a floor holds it for
 * an old window and a slot, @forgets: if it is left to a floor.
 */
static void bound_move(struct walk_list *to, const struct walk_list *from,
		       const struct walk_budget *old, const struct walk_budget *new, u64 now,
		       bool forgets)
{
	u64 ends = is_total(new) && !is_total(old) && forgets ?
		   now + (old->slots + 1) * old->slot_ticks : U64_MAX;

	bool exact = old->bytes == new->bytes && old->mode != WEIR_MODE_BUCKET &&
		     new->mode != WEIR_MODE_BUCKET;
	u128 sum = held(old, from, now, true);
	unsigned int i;

	for (i = 0; !exact && is_total(old) && is_total(new) && i < from->len; i++)
		if (now < from->event[i].ends)
			ends = min(ends, from->event[i].ends);
	if (exact)
		for (i = 0; i < from->len; i++)
			if (counts(old, &from->event[i], now, true))
				list_add(to, from->event[i].tick, from->event[i].amount,
					 is_total(old) ? from->event[i].ends : ends);
	sum = part(sum, old, new, false);
	if (!exact && sum)
		list_add(to, now, min(sum, (u128)new->room), ends);
	if (new->mode == WEIR_MODE_EXACT && old->mode != WEIR_MODE_EXACT)
		newest(to, new->amount);
}

/* What it may count: all that the old one held, now. */
static void most_move(struct walk_limit *l, struct walk_source *s, struct walk_list *to,
		      unsigned int i, const struct walk_budget *old,
		      const struct walk_budget *new, u64 more, u64 now)
{
	u128 sum = s->due > now ? 2 * (u128)old->room + old->amount :
		   held(old, &s->most[i], now, false);
	const struct walk_event *e;
	u64 ends = U64_MAX;
	unsigned int n;

	for (n = 0; is_total(new) && is_total(old) && n < s->most[i].len; n++) {
		e = &s->most[i].event[n];
		list_add(to, e->tick, min(part(e->amount, old, new, true), (u128)U64_MAX / 2),
			 e->ends);
		to->event[to->len - 1].stays |= e->stays;
	}
	if (is_total(new) && is_total(old))
		return;
	sum += more;
	if (was_charged(old, &s->most[i], now))
		sum += in_advance(l, s, i);
	sum = part(sum, old, new, true);
	/* More than the largest burst twice has no effect. */
	if (new->mode == WEIR_MODE_BUCKET)
		sum = min(sum, (u128)8192 * new->amount);
	if (is_total(new) && !is_total(old))
		ends = now + (old->slots + 1) * old->slot_ticks + HZ / 4;
	if (sum)
		list_add(to, now, min(sum, (u128)U64_MAX / 2), ends);
}

/* A smaller table may have no room for all blocks. */
static void blocks_lost(struct walk_limit *l, u64 now)
{
	unsigned int blocked = 0, placed = 0;
	struct walk_source *s;

	for (s = l->source; s < l->source + l->sources; s++) {
		blocked += now < s->free;
		placed += s->placed;
	}
	for (s = l->source; s < l->source + l->sources; s++)
		if (blocked > l->entries / 2 || placed > l->entries)
			s->blocked = 0;
}

/* What a floor holds that ends, and what stays there: the larger of both stays. */
static void floors_meet(struct walk_list *list)
{
	unsigned int n;

	for (n = 0; n < list->len; n++)
		list->event[n].stays = true;
}

/*
 * Sources of a crowded table started from what others sent, and so what leaks from each by itself
 * is more than what leaks from all: the difference.
 */
static u64 leaked_twice(const struct walk_limit *l, unsigned int i, u64 now)
{
	const struct walk_source *s;
	u128 sum = 0, level;

	if (!l->crowded || l->budget[i].mode != WEIR_MODE_BUCKET)
		return 0;
	for (s = l->source; s < l->source + l->sources; s++)
		sum += held(&l->budget[i], &s->most[i], now, false);
	level = held_by_all(l, i, now);
	return level > sum ? min(level - sum, (u128)U64_MAX / 2) : 0;
}

/*
 * A source's lists under the new budgets, each of which starts from one of the old. @more: in
 * these; @anew: the first starts from 0, if that has another unit.
 */
static void source_move(struct walk_limit *was, const struct walk_limit *l,
			struct walk_source *s, const unsigned int from[WEIR_BUDGETS_MAX],
			const u64 more[WEIR_BUDGETS_MAX], bool kept, bool anew, u64 now)
{
	struct walk_list bound[WEIR_BUDGETS_MAX] = { }, most[WEIR_BUDGETS_MAX] = { };
	bool crowded = was->crowded || placed_of(l) > l->entries;
	unsigned int i, k;

	for (i = 0; i < l->budgets; i++) {
		const struct walk_budget *b = &l->budget[i], *of = &was->budget[from[i]];

		if (kept)
			list_copy(&bound[i], &s->bound[i]);
		else if (i || !anew || of->bytes == b->bytes)
			bound_move(&bound[i], &s->bound[from[i]], of, b, now, crowded);
		if (alike(of, b, kept))
			list_copy(&most[i], &s->most[from[i]]);
		else
			most_move(was, s, &most[i], from[i], of, b, more[from[i]], now);
		/* Or what shorter ones of its unit hold, if that is more */
		for (k = 0; of->bytes != b->bytes && k < was->budgets; k++)
			if (was->budget[k].bytes == b->bytes)
				most_move(was, s, &most[i], k, &was->budget[k], b, more[k], now);
		/* What CPUs have taken, and will not give back */
		if (!kept && alike(of, b, kept) && !in_advance(l, s, i) &&
		    was_charged(of, &s->most[from[i]], now))
			list_add(&most[i], now, in_advance(was, s, from[i]), U64_MAX);
		if (!kept && crowded && is_total(b) && is_total(of))
			floors_meet(&most[i]);
	}
	for (i = 0; i < WEIR_BUDGETS_MAX; i++) {
		list_free(&s->bound[i]);
		list_free(&s->most[i]);
		s->bound[i] = bound[i];
		s->most[i] = most[i];
	}
	if (s->due > now && !kept)
		s->due = 0;
}

/* @kept: the table is the same. @l->asked is what was asked for before. */
void walk_limit_set(struct walk_limit *l, const struct weir_limit *real, bool kept, u64 now,
		    time64_t wall)
{
	unsigned int i, from[WEIR_BUDGETS_MAX];
	u64 more[WEIR_BUDGETS_MAX] = { };
	struct walk_limit was = *l;
	struct walk_source *s;

	for (i = 0; i < l->budgets; i++)
		more[i] = leaked_twice(l, i, now);
	limit_fill(l, real);
	for (i = 0; i < l->budgets; i++) {
		from[i] = kept ? i : before(was.budget, was.budgets, &l->budget[i]);
		if (l->budget[i].mode == WEIR_MODE_CALENDAR)
			calendar_move(&l->budget[i], was.budget, was.budgets, from[i],
				      &l->asked.zone, &real->cfg.zone, wall);
	}
	for (s = l->source; s < l->source + l->sources; s++) {
		source_move(&was, l, s, from, more, kept,
			    l->asked.budgets_by || real->cfg.budgets_by, now);
		memset(more, 0, sizeof(more));
		s->stays &= kept;
		s->inherits |= !kept && was.crowded && s->placed;
		if (!kept && !s->known)
			s->settled = U64_MAX;
	}
	for (i = 0; i < l->budgets; i++)
		if (l->budget[i].mode == WEIR_MODE_EXACT &&
		    was.budget[from[i]].mode == WEIR_MODE_EXACT &&
		    l->budget[i].window > was.budget[from[i]].window)
			l->crowded |= l->mixed;
	newcomers_fill(l, real, now);
	l->batches += !kept || l->budget[0].room != was.budget[0].room;
	if (!kept)
		blocks_lost(l, now);
	walk_placed(l, now);
}

/* Of the longest prefixes that contain a source the last has its budget. */
static u64 own_of(const struct walk_limit *l, const struct weir_source *source)
{
	const struct weir_member *m, *found = NULL;
	struct in6_addr addr;
	u8 len, family = weir_source_address(source, l->asked.prefix, &addr, &len);
	unsigned int bit;

	for (m = l->member; m < l->member + l->members; m++) {
		for (bit = 0; bit < m->prefix.len; bit++)
			if ((ntohl(m->prefix.word[bit / 32]) ^ ntohl(addr.s6_addr32[bit / 32])) >>
			    (31 - bit % 32) & 1)
				break;
		if (m->prefix.family == family && bit == m->prefix.len &&
		    (!found || m->prefix.len >= found->prefix.len))
			found = m;
	}
	return found ? found->budget : 0;
}

void walk_members(struct walk_limit *l, const struct weir_member *member, unsigned int members)
{
	struct walk_source *s;

	l->member = member;
	l->members = members;
	for (s = l->source; s < l->source + l->sources; s++)
		s->own = own_of(l, &s->key);
}

u64 walk_room(const struct walk_limit *l, const struct walk_source *s, unsigned int i)
{
	return !i && s->own ? s->own : l->budget[i].room;
}

struct walk_source *walk_source(struct walk_limit *l, struct weir_source whole)
{
	struct walk_source *s;

	weir_source_mask(&whole, l->asked.prefix);
	for (s = l->source; s < l->source + l->sources; s++)
		if (!memcmp(&s->key, &whole, sizeof(whole)))
			return s;
	assert_true(l->sources < WALK_SOURCES);
	l->sources++;
	*s = (struct walk_source) { .key = whole, .own = own_of(l, &whole) };
	return s;
}

void walk_forget(struct walk_limit *l, struct walk_source *s)
{
	struct walk_source *of;
	unsigned int i;

	for (of = l->source; of < l->source + l->sources; of++) {
		if (s && of != s)
			continue;
		for (i = 0; i < WEIR_BUDGETS_MAX; i++) {
			list_free(&of->bound[i]);
			/* Others may have started from what it sent. */
			if (!s || !l->crowded)
				list_free(&of->most[i]);
		}
		of->blocked = 0;
		of->free = 0;
		of->due = 0;
		of->placed &= !!s;
		of->stays = false;
		of->inherits = false;
		of->known &= !!s;
		of->may_be_known &= !!s;
		if (!of->known)
			of->settled = U64_MAX;
	}
	l->batches++;
	if (!s) {
		l->crowded = false;
		l->mixed = false;
		l->batches = 0;
	}
}

void walk_learns(struct walk_limit *l, u64 now)
{
	l->learns = l->newcomers.amount ? now + l->known_ticks : 0;
}

void walk_limit_free(struct walk_limit *l)
{
	list_free(&l->fresh);
	list_free(&l->others);
	walk_forget(l, NULL);
	*l = (struct walk_limit) { };
}
