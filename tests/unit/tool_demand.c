// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What budgets would have refused, against lists of what each admitted: random packets of some
 * sources, one budget after the other, in every way to count that has slots. A slot of a second is
 * 17 ticks of 4 ms, of a minute 1000, of an hour 60000.
 */
#include <sys/socket.h>

#include "advice/demand.h"
#include "unit.h"

#define TICK_NS		4000000ull
#define PACKETS		1500
#define SOURCES		7
#define HOUR_TICKS	900000u
#define MINUTE_TICKS	15000u

struct packet {
	uint64_t tick;
	unsigned int source, bytes;
	bool lost;
};

static struct packet packets[PACKETS];
static unsigned int count;

/* Times that leave windows of each length half full, full, or behind. */
static uint64_t step(struct chance *c)
{
	switch (chance_below(c, 40)) {
	case 0:
		return chance_below(c, 2 * MINUTE_TICKS);
	case 1:
		return chance_below(c, 300);
	case 2:
		return chance_below(c, 100) ? 0 : chance_below(c, 2 * HOUR_TICKS);
	}
	return chance_below(c, 4);
}

static void make_packets(struct chance *c)
{
	uint64_t tick = 1 + chance_below(c, 1000000);
	unsigned int i;

	count = 1 + chance_below(c, PACKETS);
	for (i = 0; i < count; i++) {
		tick += step(c);
		packets[i] = (struct packet){
			.tick = tick,
			.source = chance_below(c, 1 + chance_below(c, 1 + i * SOURCES / count)),
			.bytes = 40 + chance_below(c, 1461),
		};
	}
}

/* What a source was admitted, or if @all sent, in the slot of packet @last and @reach before it. */
static uint64_t sum_of(unsigned int last, uint32_t slot_ticks, uint32_t reach, bool bytes, bool all)
{
	uint64_t slot = packets[last].tick / slot_ticks, sum = 0;
	unsigned int i;

	for (i = 0; i < last; i++)
		if (packets[i].source == packets[last].source && (all || !packets[i].lost) &&
		    packets[i].tick / slot_ticks + reach >= slot)
			sum += bytes ? packets[i].bytes : 1;
	return sum;
}

struct ring {
	uint64_t budget;
	uint32_t slot_ticks, reach;
	bool bytes;
};

static uint64_t cost_of(const struct packet *packet, const struct ring *ring)
{
	return ring->bytes ? packet->bytes : 1;
}

/* Which packets do budgets refuse together? */
static void refuse(const struct ring *rings, unsigned int n)
{
	unsigned int i, j;

	for (i = 0; i < count; i++) {
		packets[i].lost = false;
		for (j = 0; j < n; j++)
			packets[i].lost |= sum_of(i, rings[j].slot_ticks, rings[j].reach,
						  rings[j].bytes, false) +
					   cost_of(&packets[i], &rings[j]) > rings[j].budget;
	}
}

static void lost_of(struct weir_loss *loss)
{
	uint64_t minutes = 0, minute;
	bool lost[SOURCES] = { 0 }, late[SOURCES] = { 0 };
	unsigned int i;

	*loss = (struct weir_loss){ 0 };
	minutes = (packets[count - 1].tick - packets[0].tick) / MINUTE_TICKS;
	for (i = 0; i < count; i++) {
		if (!packets[i].lost)
			continue;
		minute = (packets[i].tick - packets[0].tick) / MINUTE_TICKS;
		loss->packets++;
		loss->bytes += packets[i].bytes;
		lost[packets[i].source] = true;
		if (minute + 60 <= minutes)
			continue;
		loss->hour_packets++;
		loss->hour_bytes += packets[i].bytes;
		late[packets[i].source] = true;
	}
	for (i = 0; i < SOURCES; i++) {
		loss->sources += lost[i];
		loss->hour_sources += late[i];
	}
}

static void compare(uint64_t run, const char *of, uint64_t budget, const struct weir_loss *is)
{
	struct weir_loss loss;

	lost_of(&loss);
	check(is->packets == loss.packets && is->bytes == loss.bytes &&
	      is->sources == loss.sources && is->hour_packets == loss.hour_packets &&
	      is->hour_bytes == loss.hour_bytes && is->hour_sources == loss.hour_sources,
	      "run %llu, %s %llu: %llu packets, %llu bytes, %llu sources, not %llu, %llu, %llu; %llu of the last hour, not %llu",
	      (unsigned long long)run, of, (unsigned long long)budget,
	      (unsigned long long)is->packets, (unsigned long long)is->bytes,
	      (unsigned long long)is->sources, (unsigned long long)loss.packets,
	      (unsigned long long)loss.bytes, (unsigned long long)loss.sources,
	      (unsigned long long)is->hour_packets, (unsigned long long)loss.hour_packets);
}

static struct weir_prefix prefix_of(unsigned int source)
{
	return (struct weir_prefix){ AF_INET, 32, { 10, 0, source } };
}

static struct weir_demand *feed(const struct weir_limit *limit)
{
	struct weir_err err = { 0 };
	struct weir_demand *demand = weir_demand_new(limit, limit->budget_count, TICK_NS, &err);
	struct weir_prefix prefix;
	unsigned int i;

	check(demand, "%s", err.text);
	for (i = 0; i < count; i++) {
		prefix = prefix_of(packets[i].source);
		check(!weir_demand_add(demand, &prefix, packets[i].tick * TICK_NS, 1,
				       packets[i].bytes), "no memory");
	}
	check(!weir_demand_end(demand), "no memory");
	return demand;
}

static void check_peaks(uint64_t run, const struct weir_demand *demand, uint32_t reach)
{
	static const uint32_t slot_ticks[] = { 17, 1000, 60000 };
	struct weir_demand_facts facts;
	const struct weir_sender *sender;
	struct weir_prefix prefix;
	uint64_t peak, sum;
	unsigned int i, j, window;

	weir_demand_facts(demand, &facts);
	for (i = 0; i < facts.sources; i++) {
		sender = weir_demand_sender(demand, i);
		for (window = 0; window < WEIR_DEMAND_WINDOWS; window++) {
			for (j = 0, peak = 0; j < count; j++) {
				prefix = prefix_of(packets[j].source);
				if (memcmp(&sender->prefix, &prefix, sizeof(prefix)))
					continue;
				sum = 1 + sum_of(j, slot_ticks[window], window ? 15 : reach, false,
						 true);
				peak = sum > peak ? sum : peak;
			}
			check(sender->peak[window] == peak, "run %llu, window %u: %llu, not %llu",
			      (unsigned long long)run, window,
			      (unsigned long long)sender->peak[window], (unsigned long long)peak);
		}
	}
}

/* The most sources that were there in a slot of a second and those before it. */
static void check_live(uint64_t run, const struct weir_demand *demand, uint32_t reach)
{
	struct weir_demand_facts facts;
	uint64_t most = 0, live;
	bool there[SOURCES];
	unsigned int i, j;

	for (i = 0; i < count; i++) {
		memset(there, 0, sizeof(there));
		for (j = 0, live = 0; j <= i; j++)
			if (packets[j].tick / 17 + reach >= packets[i].tick / 17 &&
			    !there[packets[j].source]) {
				there[packets[j].source] = true;
				live++;
			}
		most = live > most ? live : most;
	}
	weir_demand_facts(demand, &facts);
	check(facts.live == most, "run %llu: %llu sources at once, not %llu",
	      (unsigned long long)run, (unsigned long long)facts.live, (unsigned long long)most);
}

/*
 * The most that newcomers sent in a second: who came ten seconds after the first packet or later.
 */
static void check_newcomers(uint64_t run, const struct weir_demand *demand)
{
	const uint64_t known = 2500;
	struct weir_demand_facts facts;
	uint64_t first[SOURCES] = { 0 }, all = 0, most = 0, sum;
	bool is[PACKETS];
	unsigned int i, j;

	for (i = 0; i < count; i++) {
		if (!first[packets[i].source])
			first[packets[i].source] = packets[i].tick;
		is[i] = first[packets[i].source] - packets[0].tick > known &&
			packets[i].tick - first[packets[i].source] <= known;
		all += is[i];
		for (j = 0, sum = 0; j <= i; j++)
			sum += is[j] && packets[j].tick / 17 + 15 >= packets[i].tick / 17;
		most = is[i] && sum > most ? sum : most;
	}
	weir_demand_facts(demand, &facts);
	check(facts.newcomer_packets == all && facts.newcomer_peak == most,
	      "run %llu: newcomers sent %llu and %llu at most, not %llu and %llu",
	      (unsigned long long)run, (unsigned long long)facts.newcomer_packets,
	      (unsigned long long)facts.newcomer_peak, (unsigned long long)all,
	      (unsigned long long)most);
}

static void test_ladder(void **state)
{
	struct unit_runs runs = unit_runs(60);
	struct weir_limit limit;
	struct weir_demand *demand;
	struct weir_loss loss;
	struct chance c;
	struct ring ring;
	unsigned int i;
	uint64_t run;

	for (run = runs.first; run < runs.end; run++) {
		c = chance_of(run);
		make_packets(&c);
		limit = (struct weir_limit){ .budgets = { { .amount = { 0, 1000 } } } };
		limit.budgets[0].mode = chance_below(&c, 2) ? WEIR_MODE_STRICT : WEIR_MODE_LENIENT;
		limit.budgets[0].unit = chance_below(&c, 2) ? WEIR_UNIT_PACKETS : WEIR_UNIT_BYTES;
		ring = (struct ring){
			.slot_ticks = 17, .bytes = limit.budgets[0].unit == WEIR_UNIT_BYTES,
			.reach = limit.budgets[0].mode == WEIR_MODE_LENIENT ? 14 : 15,
		};
		demand = feed(&limit);
		for (i = 0; i < weir_demand_rungs(demand); i++) {
			ring.budget = weir_demand_rung(demand, i);
			refuse(&ring, 1);
			weir_demand_lost(demand, i, &loss);
			compare(run, "ladder", ring.budget, &loss);
			if (!loss.packets)
				break;
		}
		check(i < weir_demand_rungs(demand), "run %llu: there is no end",
		      (unsigned long long)run);
		if (!ring.bytes)
			check_peaks(run, demand, ring.reach);
		check_live(run, demand, ring.reach);
		check_newcomers(run, demand);
		weir_demand_free(demand);
	}
}

/* Some budgets together, of any kind of ring. */
static void test_judged(void **state)
{
	static const struct {
		struct weir_budget is;
		uint32_t slot_ticks, reach;
	} kinds[] = {
		{ { .amount = { .window_ms = 1000 } }, 17, 15 },
		{ { .amount = { .window_ms = 1000 }, .mode = WEIR_MODE_LENIENT }, 17, 14 },
		{ { .amount = { .window_ms = 1000 }, .mode = WEIR_MODE_FIXED }, 250, 0 },
		{ { .amount = { .window_ms = 1000 }, .slots = 5 }, 50, 5 },
		{ { .amount = { .window_ms = 60000 } }, 1000, 15 },
		{ { .amount = { .window_ms = 0 } }, UINT32_MAX, 0 },
		{ { .amount = { .window_ms = 1000 }, .mode = WEIR_MODE_EXACT }, 1, 250 },
	};
	struct unit_runs runs = unit_runs(200);
	struct ring rings[WEIR_BUDGETS_MAX];
	struct weir_demand *demand;
	struct weir_limit limit;
	struct weir_loss loss;
	struct chance c;
	unsigned int i, kind;
	uint64_t run;

	for (run = runs.first; run < runs.end; run++) {
		c = chance_of(run);
		make_packets(&c);
		limit = (struct weir_limit){
			.budget_count = 1 + chance_below(&c, WEIR_BUDGETS_MAX),
		};
		for (i = 0; i < limit.budget_count; i++) {
			kind = chance_below(&c, sizeof(kinds) / sizeof(kinds[0]));
			limit.budgets[i] = kinds[kind].is;
			rings[i] = (struct ring){
				.budget = 1 + chance_below(&c, 50),
				.slot_ticks = kinds[kind].slot_ticks, .reach = kinds[kind].reach,
				.bytes = kinds[kind].is.mode != WEIR_MODE_EXACT &&
					 chance_below(&c, 3) == 0,
			};
			rings[i].budget *= rings[i].bytes ? 800 : 1;
			limit.budgets[i].amount.count = rings[i].budget;
			limit.budgets[i].unit = rings[i].bytes;
		}
		demand = feed(&limit);
		refuse(rings, limit.budget_count);
		weir_demand_judged(demand, &loss);
		compare(run, "judged", rings[0].budget, &loss);
		weir_demand_free(demand);
	}
}

/*
 * Packets that are told of together count as one after the other, however many they are. Where
 * their bytes cannot be divided among them, the last ones have one more.
 */
static void test_together(void **state)
{
	static const struct weir_budget kinds[] = {
		{ .amount = { 0, 1000 } },
		{ .amount = { 0, 1000 }, .mode = WEIR_MODE_FIXED },
		{ .amount = { 0, 60000 } },
		{ .amount = { 0, 1000 }, .mode = WEIR_MODE_BUCKET },
		{ .amount = { 0, 1000 }, .mode = WEIR_MODE_EXACT },
	};
	const struct weir_prefix prefix = prefix_of(1);
	struct unit_runs runs = unit_runs(200);
	unsigned int i, j, kind, many, bytes, larger;
	struct weir_demand *demand[2];
	struct weir_loss loss[2];
	struct weir_limit limit;
	struct weir_err err;
	struct chance c;
	uint64_t run, ns;

	for (run = runs.first; run < runs.end; run++) {
		c = chance_of(run);
		limit = (struct weir_limit){
			.budget_count = 1 + chance_below(&c, WEIR_BUDGETS_MAX),
		};
		for (i = 0; i < limit.budget_count; i++) {
			kind = chance_below(&c, sizeof(kinds) / sizeof(kinds[0]));
			limit.budgets[i] = kinds[kind];
			limit.budgets[i].unit = kinds[kind].mode != WEIR_MODE_EXACT &&
						chance_below(&c, 3) == 0;
			limit.budgets[i].amount.count = (1 + chance_below(&c, 50)) *
							(limit.budgets[i].unit ? 800 : 1);
		}
		for (j = 0; j < 2; j++) {
			demand[j] = weir_demand_new(&limit, true, TICK_NS, &err);
			check(demand[j], "%s", err.text);
		}
		ns = 1000000000000;
		for (i = 0; i < 100; i++) {
			ns += TICK_NS * step(&c);
			many = 1 + chance_below(&c, 80);
			bytes = 40 + chance_below(&c, 1461);
			larger = chance_below(&c, 2) ? chance_below(&c, many) : 0;
			check(!weir_demand_add(demand[0], &prefix, ns, many, many * bytes + larger),
			      "memory");
			for (j = 0; j < many; j++)
				check(!weir_demand_add(demand[1], &prefix, ns, 1,
						       bytes + (j >= many - larger)), "memory");
		}
		for (j = 0; j < 2; j++)
			check(!weir_demand_end(demand[j]), "memory");
		for (i = 0; i <= weir_demand_rungs(demand[0]); i++) {
			for (j = 0; j < 2; j++) {
				if (i < weir_demand_rungs(demand[j]))
					weir_demand_lost(demand[j], i, &loss[j]);
				else
					weir_demand_judged(demand[j], &loss[j]);
			}
			check(!memcmp(&loss[0], &loss[1], sizeof(loss[0])),
			      "run %llu, budget %u: %llu packets, %llu bytes, not %llu, %llu",
			      (unsigned long long)run, i, (unsigned long long)loss[0].packets,
			      (unsigned long long)loss[0].bytes,
			      (unsigned long long)loss[1].packets,
			      (unsigned long long)loss[1].bytes);
		}
		for (j = 0; j < 2; j++)
			weir_demand_free(demand[j]);
	}
	/* So many that one after the other would take years */
	limit = (struct weir_limit){
		.budget_count = 1, .budgets = { { .amount = { 4000000000, 86400000 } } },
	};
	demand[0] = weir_demand_new(&limit, true, TICK_NS, &err);
	check(!weir_demand_add(demand[0], &prefix, 1000000000000, 1ull << 60, 1ull << 61) &&
	      !weir_demand_end(demand[0]), "memory");
	weir_demand_judged(demand[0], &loss[0]);
	check(loss[0].packets == (1ull << 60) - 4000000000, "%llu",
	      (unsigned long long)loss[0].packets);
	weir_demand_free(demand[0]);
}

/* A bucket admits its burst, and then as fast as it drains. */
static void test_bucket(void **state)
{
	struct weir_limit limit = {
		.budget_count = 1,
		.budgets = { { .amount = { 250, 1000 }, .mode = WEIR_MODE_BUCKET, .burst = 20 } },
	};
	struct weir_demand *demand;
	struct weir_loss loss;
	unsigned int i;

	/* Two a tick for a second, which drains one a tick */
	count = 500;
	for (i = 0; i < count; i++)
		packets[i] = (struct packet){ .tick = 1000 + i / 2, .bytes = 100 };
	demand = feed(&limit);
	weir_demand_judged(demand, &loss);
	check(loss.packets == 500 - 20 - 249, "%llu", (unsigned long long)loss.packets);
	weir_demand_free(demand);
}

/* So many packets at once that their number times a budget does not fit 64 bits. */
static void test_huge(void **state)
{
	struct weir_limit limit = { .budgets = { { .amount = { 0, 1000 } } } };
	const struct weir_prefix prefix = prefix_of(1);
	const uint64_t all = 1ull << 40;
	struct weir_err err = { 0 };
	struct weir_demand *demand;
	unsigned int i, wide = 0;
	struct weir_loss loss;
	uint64_t budget;

	demand = weir_demand_new(&limit, false, TICK_NS, &err);
	check(demand, "%s", err.text);
	check(!weir_demand_add(demand, &prefix, 1000 * TICK_NS, all, all * 64), "no memory");
	check(!weir_demand_end(demand), "no memory");
	for (i = 0; i < weir_demand_rungs(demand) && weir_demand_rung(demand, i) < all; i++) {
		budget = weir_demand_rung(demand, i);
		wide += budget > UINT64_MAX / all;
		weir_demand_lost(demand, i, &loss);
		check(loss.packets == all - budget && loss.bytes == 64 * loss.packets,
		      "budget %llu: %llu packets", (unsigned long long)budget,
		      (unsigned long long)loss.packets);
	}
	check(wide, "no budget is large enough");
	weir_demand_free(demand);
}

UNIT_MAIN("tool_demand", T(test_ladder), T(test_judged), T(test_together),
	  T(test_bucket), T(test_huge))
