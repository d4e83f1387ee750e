// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What sources sent. Of each source there is a count that refuses nothing, for each window, and
 * from it the most in any window. A budget that has refused nothing of a source within the window
 * counts the same. So a budget of the ladder has a count of its own only from when the source
 * exceeds it, which begins as a copy, until a window without a refusal has passed; most sources
 * have none. One that sent a single packet has no count at all yet.
 */

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "advice/demand.h"
#include "count/window.h"

/* 1, 2, 3, 5, 7 and their decimal multiples; of bytes a thousand times that. */
#define RUNGS		60
#define BYTES_STEP	1000
#define CHUNK		1024	/* sources that are allocated at once */
#define CHUNKS_MAX	(1 << 14)
#define SOURCES_MAX	(CHUNK * CHUNKS_MAX)
#define MINUTES		60	/* the last hour is as many minutes */
#define MINUTE_MS	60000u
#define HOUR_MS		3600000u
#define SECOND_MS	1000u
#define NS_PER_MS	1000000ull
#define KNOWN_MS	10000u	/* as usual */
/* Packets that wait, and of these those behind which the next step of one is begun. */
#define QUEUE		16
#define QUEUE_SOURCE	4
#define QUEUE_WHEELS	8
#define QUEUE_COUNT	12

unsigned int weir_hz = 250;

/* A count, and where its wheel is behind the first one of a source. */
struct clocked {
	struct weir_meter is;
	uint64_t budget;
	uint32_t slot;		/* that of the present tick */
};

/* What one budget refused of a source, with its count. */
struct rung {
	uint64_t packets, bytes;
	uint64_t minute;	/* of the last refusal */
	uint64_t full;		/* what did not fit in @slot, nor will before it ends; or 0 */
	uint32_t slot, refused;	/* that of the last refusal */
	uint64_t wheel[];
};

struct source {
	struct weir_sender is;
	uint64_t slot;		/* of the last packet, of the first window */
	uint64_t apart;		/* the rungs that have a count of their own, a bit each */
	unsigned int rungs;	/* that were ever exceeded */
	char *ladder;		/* these rungs, or NULL */
	uint64_t *wheels;	/* of the windows, then of what is judged; or NULL */
	/* of a longer window, what is not in its wheel yet, all of one slot */
	struct {
		uint64_t count;
		uint32_t slot;
	} late[WEIR_DEMAND_WINDOWS];
	uint64_t minute;	/* of the last refusal by what is judged */
};

/* A packet, or several, that waits until what it needs has come from memory. */
struct waiting {
	struct weir_prefix prefix;
	uint32_t tag;
	uint64_t ns;
	struct weir_counter cost;
};

/* Refusals of all sources, by the minute. */
struct minutes {
	uint64_t packets, bytes;
	struct weir_counter minute[MINUTES];
};

struct weir_demand {
	struct clocked window[WEIR_DEMAND_WINDOWS], judged[WEIR_BUDGETS_MAX], second;
	unsigned int judged_count;
	uint32_t window_ms[WEIR_DEMAND_WINDOWS];
	size_t wheel_bytes;	/* of a source */
	size_t rung_bytes;
	uint64_t step;		/* the lowest rung */
	uint64_t rung[RUNGS];
	struct minutes lost[RUNGS + 1];	/* the last one is of what is judged */
	uint64_t tick_ns;
	uint64_t first, now, tick;	/* ticks: the newest, and that of the slots */
	uint64_t known_ticks, minute_ticks;
	uint64_t minute;	/* the present one, from the first packet on */
	uint64_t packets, bytes;

	uint64_t newcomers[16], newcomer_packets, newcomer_peak;	/* a wheel of a second */

	uint64_t slot;		/* of the first window, the newest */
	/* Sources by the slot of their last packet, and together */
	uint32_t live[WEIR_WHEEL_MAX], live_now, live_peak;

	uint64_t key;
	struct {
		uint32_t tag, index;	/* index: from 1; 0: none */
	} *hash;
	uint32_t mask;
	unsigned int sources;
	struct source *chunk[CHUNKS_MAX];

	struct waiting queue[QUEUE];
	uint64_t queued, counted;	/* ever */
};

static struct source *source_at(const struct weir_demand *demand, unsigned int i)
{
	return &demand->chunk[i / CHUNK][i % CHUNK];
}

static struct weir_count *wheel_of(uint64_t *wheels, const struct clocked *of)
{
	return (struct weir_count *)((char *)wheels + of->is.off);
}

/* Lay the wheel of a count behind those that a source has; width: for what it may count. */
static void clocked_init(struct weir_demand *demand, struct clocked *to, struct weir_shape shape,
			 uint32_t ticks, bool bytes)
{
	to->is.shape = shape;
	to->is.bytes = bytes;
	to->is.slot_ticks = ticks;
	to->is.off = demand->wheel_bytes;
	if (ticks)
		weir_meter_divide(&to->is, ticks);
	demand->wheel_bytes += (shape.size + 7) / 8 * 8;
}

/* A count that refuses nothing. */
static void window_init(struct weir_demand *demand, unsigned int i, uint32_t window_ms,
			unsigned int slots, bool lenient, bool bytes)
{
	uint32_t ticks;

	slots = weir_slots_fit(window_ms, slots, &ticks) ?: weir_slots_fit(window_ms, 0, &ticks);
	demand->window_ms[i] = window_ms;
	clocked_init(demand, &demand->window[i], weir_ring_shape(slots, lenient, bytes ? 8 : 4),
		     ticks, bytes);
}

/* A budget, which has no calendar, as the module would count it. -EINVAL with a sentence. */
static int judged_init(struct weir_demand *demand, const struct weir_budget *budget,
		       struct weir_err *err)
{
	struct clocked *to = &demand->judged[demand->judged_count++];
	bool bytes = budget->unit == WEIR_UNIT_BYTES;
	uint32_t window_ms = budget->amount.window_ms, ticks = 0, slots = 1;
	struct weir_shape shape;

	to->budget = budget->amount.count;
	if (budget->mode == WEIR_MODE_BUCKET) {
		slots = weir_slots_most(window_ms, WEIR_PARTS_MAX, &ticks);
		shape = weir_leak_shape(slots, budget->amount.count);
		to->budget = budget->burst ? budget->burst : budget->amount.count;
	} else if (budget->mode == WEIR_MODE_EXACT) {
		slots = weir_slots_most(window_ms, WEIR_LOG_SLOTS, &ticks);
		shape = weir_log_shape(slots, budget->amount.count);
	} else {
		if (budget->mode != WEIR_MODE_FIXED && window_ms)
			slots = weir_slots_fit(window_ms, budget->slots, &ticks);
		else if (window_ms)
			slots = weir_slots_fit(window_ms, 1, &ticks) ?:
				weir_slots_fit(window_ms, 0, &ticks);
		if (!slots)
			return weir_err_set(err, "slots would be shorter than a clock tick; use fewer");
		shape = weir_ring_shape(slots, budget->mode != WEIR_MODE_STRICT || !window_ms,
					weir_width_of(to->budget));
	}
	clocked_init(demand, to, shape, ticks, bytes);
	return 0;
}

static void ladder_init(struct weir_demand *demand)
{
	static const unsigned int steps[] = { 1, 2, 3, 5, 7 };
	const unsigned int count = sizeof(steps) / sizeof(steps[0]);
	uint64_t unit = demand->window[0].is.bytes ? BYTES_STEP : 1;
	unsigned int i;

	for (i = 0; i < RUNGS; i++) {
		demand->rung[i] = unit * steps[i % count];
		unit *= i % count == count - 1 ? 10 : 1;
	}
	demand->rung_bytes = sizeof(struct rung) + (demand->window[0].is.shape.size + 7) / 8 * 8;
}

static int init(struct weir_demand *demand, const struct weir_limit *limit, bool judge,
		struct weir_err *err)
{
	const struct weir_budget *first = &limit->budgets[0];
	uint32_t window_ms = first->amount.window_ms ? first->amount.window_ms : HOUR_MS, ticks;
	unsigned int slots;
	int ret = 0;

	slots = first->mode == WEIR_MODE_FIXED ? 1 :
		first->mode == WEIR_MODE_STRICT || first->mode == WEIR_MODE_LENIENT ?
		first->slots : 0;
	window_init(demand, 0, window_ms, slots,
		    first->mode == WEIR_MODE_FIXED || first->mode == WEIR_MODE_LENIENT,
		    first->unit == WEIR_UNIT_BYTES);
	window_init(demand, 1, MINUTE_MS, 0, false, first->unit == WEIR_UNIT_BYTES);
	window_init(demand, 2, HOUR_MS, 0, false, first->unit == WEIR_UNIT_BYTES);
	while (judge && !ret && demand->judged_count < limit->budget_count)
		ret = judged_init(demand, &limit->budgets[demand->judged_count], err);
	slots = weir_slots_fit(SECOND_MS, 0, &ticks);
	demand->second.is.shape = weir_ring_shape(slots, false, 4);
	weir_meter_divide(&demand->second.is, ticks);
	demand->known_ticks = weir_slot_ticks(KNOWN_MS, 1);
	demand->minute_ticks = weir_slot_ticks(MINUTE_MS, 1);
	ladder_init(demand);
	return ret;
}

struct weir_demand *weir_demand_new(const struct weir_limit *limit, bool judge, uint64_t tick_ns,
				    struct weir_err *err)
{
	struct weir_demand *demand = calloc(1, sizeof(*demand));

	weir_hz = (SECOND_MS * NS_PER_MS + tick_ns / 2) / tick_ns;
	if (demand) {
		demand->tick_ns = tick_ns;
		demand->first = UINT64_MAX;
		demand->tick = UINT64_MAX;
		demand->mask = CHUNK - 1;
		demand->hash = calloc(demand->mask + 1, sizeof(*demand->hash));
	}
	if (!demand || !demand->hash) {
		weir_err_set(err, WEIR_NO_MEMORY);
	} else if (!init(demand, limit, judge, err)) {
		/* Whoever chose the addresses did not know it. */
		if (getrandom(&demand->key, sizeof(demand->key), GRND_NONBLOCK) < 0)
			demand->key = (uintptr_t)demand;
		return demand;
	}
	weir_demand_free(demand);
	return NULL;
}

void weir_demand_free(struct weir_demand *demand)
{
	unsigned int i;

	if (!demand)
		return;
	for (i = 0; i < demand->sources; i++) {
		free(source_at(demand, i)->ladder);
		free(source_at(demand, i)->wheels);
	}
	for (i = 0; i < CHUNKS_MAX; i++)
		free(demand->chunk[i]);
	free(demand->hash);
	free(demand);
}

static uint64_t mix(uint64_t a)
{
	a = (a ^ a >> 32) * 0xd6e8feb86659fd93ull;
	a = (a ^ a >> 32) * 0xd6e8feb86659fd93ull;
	return a ^ a >> 32;
}

static uint32_t hash_of(const struct weir_demand *demand, const struct weir_prefix *prefix)
{
	uint64_t half[2];

	memcpy(half, prefix->addr, sizeof(half));
	return mix(mix(half[0] ^ demand->key) + half[1]);
}

static bool hash_grow(struct weir_demand *demand)
{
	uint32_t mask = 2 * demand->mask + 1, at, i;
	__typeof__(demand->hash) hash = calloc(mask + 1ull, sizeof(*hash));

	if (!hash)
		return false;
	for (i = 0; i <= demand->mask; i++) {
		if (!demand->hash[i].index)
			continue;
		for (at = demand->hash[i].tag & mask; hash[at].index; at = (at + 1) & mask)
			;
		hash[at] = demand->hash[i];
	}
	free(demand->hash);
	demand->hash = hash;
	demand->mask = mask;
	return true;
}

static struct source *source_new(struct weir_demand *demand, const struct weir_prefix *prefix)
{
	struct source **chunk = &demand->chunk[demand->sources / CHUNK], *source;

	if (demand->sources == SOURCES_MAX)
		return NULL;
	if (!*chunk)
		*chunk = calloc(CHUNK, sizeof(**chunk));
	if (!*chunk)
		return NULL;
	source = source_at(demand, demand->sources++);
	source->is.prefix = *prefix;
	return source;
}

/* Where in the hash a source is, or would be. */
static uint32_t hash_find(const struct weir_demand *demand, const struct weir_prefix *prefix,
			  uint32_t tag)
{
	uint32_t at = tag & demand->mask;

	while (demand->hash[at].index &&
	       (demand->hash[at].tag != tag ||
		memcmp(&source_at(demand, demand->hash[at].index - 1)->is.prefix, prefix,
		       sizeof(*prefix))))
		at = (at + 1) & demand->mask;
	return at;
}

/* The source of an address; a new one has sent nothing. NULL: no memory. */
static struct source *source_get(struct weir_demand *demand, const struct weir_prefix *prefix,
				 uint32_t tag)
{
	uint32_t at = hash_find(demand, prefix, tag);
	struct source *source;

	if (demand->hash[at].index)
		return source_at(demand, demand->hash[at].index - 1);
	source = source_new(demand, prefix);
	if (!source)
		return NULL;
	demand->hash[at].tag = tag;
	demand->hash[at].index = demand->sources;
	return demand->sources * 2ull <= demand->mask || hash_grow(demand) ? source : NULL;
}

static uint64_t cost_of(const struct clocked *of, const struct weir_counter *cost)
{
	return of->is.bytes ? cost->bytes : cost->packets;
}

static void wheel_begin(const struct source *source, const struct clocked *of)
{
	const struct weir_counter was = {
		.packets = source->is.packets, .bytes = source->is.bytes,
	};
	struct weir_count *wheel = wheel_of(source->wheels, of);

	weir_count_init(&of->is.shape, wheel, weir_meter_slot(&of->is, source->is.first));
	if (was.packets)
		weir_count_add(&of->is.shape, wheel, cost_of(of, &was));
}

/*
 * Begin the counts of a source with its first packet, if it was not counted yet; nothing has
 * refused it.
 */
static bool wheels_begin(struct weir_demand *demand, struct source *source)
{
	unsigned int i;

	source->wheels = calloc(1, demand->wheel_bytes);
	if (!source->wheels)
		return false;
	for (i = 0; i < WEIR_DEMAND_WINDOWS; i++) {
		wheel_begin(source, &demand->window[i]);
		source->late[i].slot = wheel_of(source->wheels, &demand->window[i])->at;
	}
	for (i = 0; i < demand->judged_count; i++)
		wheel_begin(source, &demand->judged[i]);
	return true;
}

static struct rung *rung_of(const struct weir_demand *demand, const struct source *source,
			    unsigned int i)
{
	return (struct rung *)(source->ladder + i * demand->rung_bytes);
}

/* Make room for so many rungs, in powers of two. */
static bool ladder_grow(struct weir_demand *demand, struct source *source, unsigned int rungs)
{
	unsigned int was = source->rungs ? 1u << order_base_2(source->rungs) : 0, room;
	char *ladder;

	room = 1u << order_base_2(rungs);
	if (room > was) {
		ladder = realloc(source->ladder, room * demand->rung_bytes);
		if (!ladder)
			return false;
		source->ladder = ladder;
	}
	memset(rung_of(demand, source, source->rungs), 0,
	       (rungs - source->rungs) * demand->rung_bytes);
	source->rungs = rungs;
	return true;
}

static void lose(struct weir_demand *demand, struct minutes *to, const struct weir_counter *lost)
{
	struct weir_counter *minute = &to->minute[demand->minute % MINUTES];

	to->packets += lost->packets;
	to->bytes += lost->bytes;
	minute->packets += lost->packets;
	minute->bytes += lost->bytes;
}

/* What does not fit of packets of one size. */
static struct weir_counter rest_of(const struct weir_counter *cost, uint64_t need, uint64_t room)
{
	struct weir_counter lost = { 0 };
	uint64_t fit;

	if (need <= room)
		fit = cost->packets;
	else if (__builtin_mul_overflow(room, cost->packets, &fit))
		fit = (double)room / need * cost->packets;
	else
		fit /= need;
	lost.packets = cost->packets - fit;
	lost.bytes = cost->bytes / cost->packets * lost.packets;
	return lost;
}

/* Charge one budget. Returns what it refuses. */
static inline struct weir_counter rung_charge(struct weir_demand *demand, struct rung *rung,
					      uint64_t budget, const struct weir_counter *cost)
{
	const struct clocked *of = &demand->window[0];
	struct weir_count *wheel = (struct weir_count *)rung->wheel;
	const struct weir_shape *shape = &of->is.shape;
	uint64_t need = cost_of(of, cost);
	struct weir_counter lost;

	/* The sum does not fall within a slot. */
	if (rung->full && rung->slot == of->slot && cost->packets == 1 && need >= rung->full)
		return *cost;
	weir_count_advance(shape, wheel, of->slot);
	lost = rest_of(cost, need, budget - weir_count_sum(shape, wheel, of->slot));
	weir_count_add(shape, wheel, need - (of->is.bytes ? lost.bytes : lost.packets));
	rung->full = cost->packets == 1 && lost.packets ? need : 0;
	rung->slot = of->slot;
	return lost;
}

/* Charge the budgets of the ladder that the source exceeds, or whose counts are apart. */
static bool ladder_charge(struct weir_demand *demand, struct source *source,
			  const struct weir_counter *cost)
{
	const struct clocked *of = &demand->window[0];
	const struct weir_shape *shape = &of->is.shape;
	struct weir_count *wheel = wheel_of(source->wheels, of);
	unsigned int exceeded = 0, i;
	struct weir_counter lost;
	struct rung *rung;
	uint64_t sum, left;

	weir_count_advance(shape, wheel, of->slot);
	sum = weir_count_sum(shape, wheel, of->slot) + cost_of(of, cost);
	while (exceeded < RUNGS && sum > demand->rung[exceeded])
		exceeded++;
	if (exceeded > source->rungs && !ladder_grow(demand, source, exceeded))
		return false;
	for (left = source->apart | (BIT_ULL(exceeded) - 1); left; left &= left - 1) {
		i = __builtin_ctzll(left);
		rung = rung_of(demand, source, i);
		if (!(source->apart & BIT_ULL(i))) {
			memcpy(rung->wheel, wheel, shape->size);
			source->apart |= BIT_ULL(i);
		}
		lost = rung_charge(demand, rung, demand->rung[i], cost);
		if (lost.packets) {
			rung->packets += lost.packets;
			rung->bytes += lost.bytes;
			rung->minute = demand->minute;
			rung->refused = wheel->at;
			lose(demand, &demand->lost[i], &lost);
		} else if (wheel->at - rung->refused > shape->reach) {
			source->apart &= ~BIT_ULL(i);
		}
	}
	return true;
}

/* Of equal packets, how many fit into a budget in this slot; what follows them does not fit. */
static uint64_t count_fitting(const struct source *source, const struct clocked *of,
			      uint64_t need, uint64_t packets)
{
	const struct weir_count *wheel = wheel_of(source->wheels, of);
	uint64_t least = 0, most = packets, middle;

	while (least < most) {
		middle = most - (most - least) / 2;
		if (middle * need > of->budget ||
		    weir_count_full(&of->is.shape, wheel, of->slot, middle * need, of->budget))
			most = middle - 1;
		else
			least = middle;
	}
	return least;
}

/* Charge what is judged: a packet all budgets or none. */
static void judged_charge(struct weir_demand *demand, struct source *source,
			  const struct weir_counter *cost)
{
	struct clocked *of, *end = demand->judged + demand->judged_count;
	uint64_t fit = cost->packets;
	struct weir_counter lost;

	for (of = demand->judged; of < end; of++) {
		weir_count_advance(&of->is.shape, wheel_of(source->wheels, of), of->slot);
		fit = count_fitting(source, of, cost_of(of, cost) / cost->packets, fit);
	}
	for (of = demand->judged; fit && of < end; of++)
		weir_count_add(&of->is.shape, wheel_of(source->wheels, of),
			       cost_of(of, cost) / cost->packets * fit);
	if (fit == cost->packets)
		return;
	lost.packets = cost->packets - fit;
	lost.bytes = cost->bytes / cost->packets * lost.packets;
	source->is.lost.packets += lost.packets;
	source->is.lost.bytes += lost.bytes;
	source->minute = demand->minute;
	lose(demand, &demand->lost[RUNGS], &lost);
}

static void window_add(struct source *source, const struct clocked *of, unsigned int i,
		       uint32_t slot, uint64_t count)
{
	struct weir_count *wheel = wheel_of(source->wheels, of);
	uint64_t sum;

	weir_count_advance(&of->is.shape, wheel, slot);
	weir_count_add(&of->is.shape, wheel, count);
	sum = weir_count_sum(&of->is.shape, wheel, slot);
	if (sum > source->is.peak[i])
		source->is.peak[i] = sum;
}

/*
 * Count in all windows. A sum grows until its slot ends, so that longer windows can wait for that.
 */
static void windows_charge(struct weir_demand *demand, struct source *source,
			   const struct weir_counter *cost)
{
	struct clocked *of = &demand->window[0];
	unsigned int i;

	window_add(source, of, 0, of->slot, cost_of(of, cost));
	for (i = 1; i < WEIR_DEMAND_WINDOWS; i++) {
		of = &demand->window[i];
		if ((int32_t)(of->slot - source->late[i].slot) > 0) {
			window_add(source, of, i, source->late[i].slot, source->late[i].count);
			source->late[i].slot = of->slot;
			source->late[i].count = 0;
		}
		source->late[i].count += cost_of(of, cost);
	}
}

/* Does a packet that is the first of its source need no count yet? */
static bool stays_lean(const struct weir_demand *demand, const struct weir_counter *cost)
{
	unsigned int i;

	if (cost->packets > 1 || cost_of(&demand->window[0], cost) > demand->rung[0])
		return false;
	for (i = 0; i < demand->judged_count; i++)
		if (cost_of(&demand->judged[i], cost) > demand->judged[i].budget)
			return false;
	return true;
}

/*
 * As the module does, a source is a newcomer until a packet that comes so long after its first.
 * Those that come while the module learns are none.
 */
static void newcomer_count(struct weir_demand *demand, const struct source *source,
			   const struct weir_counter *cost)
{
	struct weir_count *wheel = (struct weir_count *)demand->newcomers;
	const struct clocked *of = &demand->second;
	uint64_t sum;

	if (source->is.first - demand->first <= demand->known_ticks ||
	    demand->now - source->is.first > demand->known_ticks)
		return;
	weir_count_advance(&of->is.shape, wheel, of->slot);
	weir_count_add(&of->is.shape, wheel, cost->packets);
	sum = weir_count_sum(&of->is.shape, wheel, of->slot);
	demand->newcomer_packets += cost->packets;
	if (sum > demand->newcomer_peak)
		demand->newcomer_peak = sum;
}

/* Slots for which a source is live after its last packet. */
static unsigned int live_slots(const struct weir_demand *demand)
{
	return demand->window[0].is.shape.reach + 1u;
}

static void live_count(struct weir_demand *demand, struct source *source, bool first)
{
	const unsigned int slots = live_slots(demand);

	if (!first && source->slot + slots > demand->slot) {
		demand->live[source->slot % slots]--;
		demand->live_now--;
	}
	source->slot = demand->slot;
	demand->live[source->slot % slots]++;
	if (++demand->live_now > demand->live_peak)
		demand->live_peak = demand->live_now;
}

/* Turn what is of all sources to the present tick. */
static void turn(struct weir_demand *demand, uint64_t now)
{
	const struct clocked *window = &demand->window[0];
	const unsigned int slots = live_slots(demand);
	uint64_t slot = weir_slot_of(now, window->is.slot_inverse, window->is.slot_shift);
	uint64_t minute = (now - demand->first) / demand->minute_ticks;
	unsigned int i;

	for (i = 0; demand->slot < slot && i < slots; i++) {
		demand->slot = demand->slot + slots < slot ? slot - slots + 1 : demand->slot + 1;
		demand->live_now -= demand->live[demand->slot % slots];
		demand->live[demand->slot % slots] = 0;
	}
	if (minute >= demand->minute + MINUTES)
		demand->minute = minute - MINUTES;
	while (demand->minute < minute) {
		demand->minute++;
		for (i = 0; i <= RUNGS; i++)
			demand->lost[i].minute[demand->minute % MINUTES] =
				(struct weir_counter){ 0 };
	}
	demand->now = now;
}

/* The slots of a tick. Captures of several devices may be out of order by a little. */
static void set_slots(struct weir_demand *demand, uint64_t tick)
{
	struct clocked *of;

	for (of = demand->window; of < demand->window + WEIR_DEMAND_WINDOWS; of++)
		of->slot = weir_meter_slot(&of->is, tick);
	for (of = demand->judged; of < demand->judged + demand->judged_count; of++)
		of->slot = weir_meter_slot(&of->is, tick);
	demand->second.slot = weir_meter_slot(&demand->second.is, tick);
	if (tick > demand->now)
		turn(demand, tick);
}

static void begin(struct weir_demand *demand, uint64_t tick)
{
	const struct clocked *of = &demand->second;

	demand->first = tick;
	weir_count_init(&of->is.shape, (struct weir_count *)demand->newcomers,
			weir_meter_slot(&of->is, tick));
}

static int count(struct weir_demand *demand, const struct waiting *packet)
{
	struct source *source = source_get(demand, &packet->prefix, packet->tag);
	uint64_t tick = packet->ns / demand->tick_ns;
	const struct weir_counter *cost = &packet->cost;
	unsigned int i;
	bool first;

	if (!source)
		return -ENOMEM;
	if (demand->first == UINT64_MAX)
		begin(demand, tick);
	if (tick < demand->first)
		tick = demand->first;
	if (tick != demand->tick) {
		demand->tick = tick;
		set_slots(demand, tick);
	}
	first = !source->is.packets;
	if (first)
		source->is.first = tick;
	live_count(demand, source, first);
	newcomer_count(demand, source, cost);
	if (first && stays_lean(demand, cost)) {
		for (i = 0; i < WEIR_DEMAND_WINDOWS; i++)
			source->is.peak[i] = cost_of(&demand->window[i], cost);
	} else {
		if (!source->wheels && !wheels_begin(demand, source))
			return -ENOMEM;
		if (!ladder_charge(demand, source, cost))
			return -ENOMEM;
		judged_charge(demand, source, cost);
		windows_charge(demand, source, cost);
	}
	source->is.packets += cost->packets;
	source->is.bytes += cost->bytes;
	source->is.last = demand->now;
	demand->packets += cost->packets;
	demand->bytes += cost->bytes;
	return 0;
}

/* The packet that came so many before the last one; or NULL. */
static struct waiting *waiting_at(struct weir_demand *demand, unsigned int before)
{
	return demand->queued > before ? &demand->queue[(demand->queued - 1 - before) % QUEUE] :
					 NULL;
}

/*
 * Sources come in any order, and each step of the way to one waits for memory: hash, source,
 * counts. So several packets are on their way.
 */
static void look_ahead(struct weir_demand *demand)
{
	struct waiting *packet = waiting_at(demand, QUEUE_SOURCE);
	const struct source *source;
	uint32_t at;

	if (packet) {
		at = packet->tag & demand->mask;
		if (demand->hash[at].index)
			__builtin_prefetch(source_at(demand, demand->hash[at].index - 1));
	}
	packet = waiting_at(demand, QUEUE_WHEELS);
	if (!packet)
		return;
	at = hash_find(demand, &packet->prefix, packet->tag);
	if (!demand->hash[at].index)
		return;
	source = source_at(demand, demand->hash[at].index - 1);
	__builtin_prefetch((const char *)source + 128);
	if (!source->wheels)
		return;
	__builtin_prefetch(source->wheels);
	__builtin_prefetch((const char *)source->wheels + 64);
	__builtin_prefetch(source->ladder);
}

/* Packets of one size. */
static int add_equal(struct weir_demand *demand, const struct weir_prefix *prefix, uint64_t ns,
		     uint64_t packets, uint64_t bytes)
{
	struct waiting *packet = &demand->queue[demand->queued++ % QUEUE];

	*packet = (struct waiting){
		.prefix = *prefix, .tag = hash_of(demand, prefix), .ns = ns,
		.cost = { .packets = packets, .bytes = bytes },
	};
	__builtin_prefetch(&demand->hash[packet->tag & demand->mask]);
	look_ahead(demand);
	packet = waiting_at(demand, QUEUE_COUNT);
	if (!packet)
		return 0;
	demand->counted++;
	return count(demand, packet);
}

int weir_demand_add(struct weir_demand *demand, const struct weir_prefix *prefix, uint64_t ns,
		    uint64_t packets, uint64_t bytes)
{
	uint64_t larger = packets > 1 ? bytes % packets : 0, each;

	if (!larger)
		return add_equal(demand, prefix, ns, packets, bytes);
	each = bytes / packets;
	packets -= larger;
	return add_equal(demand, prefix, ns, packets, each * packets) ?:
	       add_equal(demand, prefix, ns, larger, (each + 1) * larger);
}

struct weir_sender *weir_demand_find(struct weir_demand *demand, const struct weir_prefix *prefix)
{
	struct source *source = source_get(demand, prefix, hash_of(demand, prefix));

	return source ? &source->is : NULL;
}

int weir_demand_end(struct weir_demand *demand)
{
	struct source *source;
	unsigned int i, j;

	for (; demand->counted < demand->queued; demand->counted++)
		if (count(demand, &demand->queue[demand->counted % QUEUE]))
			return -ENOMEM;
	for (i = 0; i < demand->sources; i++) {
		source = source_at(demand, i);
		for (j = 1; source->wheels && j < WEIR_DEMAND_WINDOWS; j++) {
			window_add(source, &demand->window[j], j, source->late[j].slot,
				   source->late[j].count);
			source->late[j].count = 0;
		}
	}
	return 0;
}

void weir_demand_facts(const struct weir_demand *demand, struct weir_demand_facts *facts)
{
	unsigned int i;

	*facts = (struct weir_demand_facts){
		.packets = demand->packets, .bytes = demand->bytes,
		.live = demand->live_peak, .known_ms = KNOWN_MS,
		.newcomer_packets = demand->newcomer_packets,
		.newcomer_peak = demand->newcomer_peak,
	};
	memcpy(facts->window_ms, demand->window_ms, sizeof(facts->window_ms));
	for (i = 0; i < demand->sources; i++)
		facts->sources += !!source_at(demand, i)->is.packets;
	if (!facts->sources)
		return;
	facts->ticks = demand->now - demand->first;
	if (facts->ticks > demand->known_ticks)
		facts->newcomer_ticks = facts->ticks - demand->known_ticks;
}

const struct weir_sender *weir_demand_sender(const struct weir_demand *demand, unsigned int i)
{
	return i < demand->sources ? &source_at(demand, i)->is : NULL;
}

unsigned int weir_demand_rungs(const struct weir_demand *demand)
{
	return RUNGS;
}

uint64_t weir_demand_rung(const struct weir_demand *demand, unsigned int rung)
{
	return demand->rung[rung];
}

static void sum_minutes(const struct minutes *of, struct weir_loss *loss)
{
	unsigned int i;

	*loss = (struct weir_loss){ .packets = of->packets, .bytes = of->bytes };
	for (i = 0; i < MINUTES; i++) {
		loss->hour_packets += of->minute[i].packets;
		loss->hour_bytes += of->minute[i].bytes;
	}
}

static bool within_hour(const struct weir_demand *demand, uint64_t minute)
{
	return minute + MINUTES > demand->minute;
}

void weir_demand_lost(const struct weir_demand *demand, unsigned int rung, struct weir_loss *loss)
{
	const struct source *source;
	const struct rung *at;
	unsigned int i;

	sum_minutes(&demand->lost[rung], loss);
	for (i = 0; i < demand->sources; i++) {
		source = source_at(demand, i);
		if (source->rungs <= rung)
			continue;
		at = rung_of(demand, source, rung);
		loss->sources += !!at->packets;
		loss->hour_sources += at->packets && within_hour(demand, at->minute);
	}
}

void weir_demand_judged(const struct weir_demand *demand, struct weir_loss *loss)
{
	const struct source *source;
	unsigned int i;

	sum_minutes(&demand->lost[RUNGS], loss);
	for (i = 0; i < demand->sources; i++) {
		source = source_at(demand, i);
		loss->sources += !!source->is.lost.packets;
		loss->hour_sources += source->is.lost.packets &&
				      within_hour(demand, source->minute);
	}
}

uint64_t weir_demand_lost_by(const struct weir_demand *demand, const struct weir_sender *sender,
			     unsigned int rung)
{
	/* It is the first member. */
	const struct source *source = (const struct source *)sender;

	return source->rungs > rung ? rung_of(demand, source, rung)->packets : 0;
}
