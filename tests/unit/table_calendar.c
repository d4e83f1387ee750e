// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calendar periods against the C library's calendar, minute by minute, and the clock that
 * counts them against a wall clock that is set forward and back.
 */
#include <time.h>

#include "table_ways.h"

static const u32 windows[] = {
	WEIR_MINUTE_MS, WEIR_HOUR_MS, WEIR_DAY_MS, WEIR_WEEK_MS, WEIR_MONTH_MS,
};

/* What a calendar on the wall shows at a time. */
static void label(char text[32], u32 window_ms, const struct weir_zone *zone, time_t at)
{
	const char *format = window_ms == WEIR_MINUTE_MS ? "%F %H:%M" :
			     window_ms == WEIR_HOUR_MS ? "%F %H" :
			     window_ms == WEIR_DAY_MS ? "%F" :
			     window_ms == WEIR_WEEK_MS ? "%G-%V" : "%Y-%m";
	struct tm tm;

	at += at < zone->change ? zone->offset : zone->next_offset;
	gmtime_r(&at, &tm);
	strftime(text, 32, format, &tm);
}

/* The first minute that shows something else. */
static time_t end_of(u32 window_ms, const struct weir_zone *zone, time_t now)
{
	char is[32], was[32];
	time_t at = now - now % 60;

	label(was, window_ms, zone, now);
	do
		label(is, window_ms, zone, at += 60);
	while (!strcmp(is, was));
	return at;
}

static void test_ends(void **state)
{
	u64 run, runs = unit_rounds(4000);
	struct weir_zone zone;
	struct chance c;
	time_t now, end;
	unsigned int i;
	u32 window;

	for (run = 0; run < runs; run++) {
		c = chance_of(run);
		i = chance_below(&c, 20);
		window = windows[i < 4 ? i : i % 2 + (i % 10 == 4 ? 3 : 0)];
		/* 1970 to 2105, at whole minutes to meet the ends of months and leap days. */
		now = chance_below(&c, 71000000) * 60 + chance_below(&c, 60) * chance_below(&c, 2);
		zone.offset = ((int)chance_below(&c, 105) - 48) * 900;
		zone.next_offset = zone.offset + ((int)chance_below(&c, 5) - 2) * 1800;
		zone.change = now - now % 900 + ((int)chance_below(&c, 400) - 100) * 900;
		end = weir_calendar_end(window, &zone, now);
		if (end != end_of(window, &zone, now))
			fail_msg("run %llu: the window of %u ms at %lld ends at %lld, not %lld",
				 (unsigned long long)run, window, (long long)now,
				 (long long)end_of(window, &zone, now), (long long)end);
	}
}

/* 1970 to 2105 in UTC: every end begins another period, of the length that it has. */
static void test_lengths(void **state)
{
	struct weir_zone zone = { .change = S64_MAX };
	time64_t now = 0, end;
	unsigned int months = 0, days;

	for (; months < 135 * 12; months++, now = end) {
		end = weir_calendar_end(WEIR_MONTH_MS, &zone, now);
		days = (end - now) / 86400;
		assert_true(days >= 28 && days <= 31);
		assert_int_equal(weir_calendar_end(WEIR_MONTH_MS, &zone, end - 1), end);
		assert_true((weir_calendar_end(WEIR_WEEK_MS, &zone, now) / 86400 + 3) % 7 == 0);
	}
	/* 2105-01-01 */
	assert_int_equal(now, 4260211200);
}

/* Midnights that daylight saving leaves out or repeats; an hour that it repeats. */
static void test_changes(void **state)
{
	/* Havana, 2026-03-08: 00:00 becomes 01:00. 2026-11-01: 01:00 becomes 00:00. */
	const struct weir_zone spring = { -5 * 3600, -4 * 3600, 1772946000 };
	const struct weir_zone autumn = { -4 * 3600, -5 * 3600, 1793509200 };

	assert_int_equal(weir_calendar_end(WEIR_DAY_MS, &spring, spring.change - 1), spring.change);
	assert_int_equal(weir_calendar_end(WEIR_DAY_MS, &spring, spring.change),
			 spring.change + 23 * 3600);
	assert_int_equal(weir_calendar_end(WEIR_DAY_MS, &autumn, autumn.change - 1),
			 autumn.change + 24 * 3600);
	assert_int_equal(weir_calendar_end(WEIR_HOUR_MS, &autumn, autumn.change - 3600),
			 autumn.change + 3600);
	assert_int_equal(weir_calendar_end(WEIR_MINUTE_MS, &autumn, autumn.change - 60),
			 autumn.change);
}

/* Is a period shorter than its window, if and only if the most says so? */
static void test_shortens(void **state)
{
	static const int shifts[] = { 0, 1800, 3600, 7200 };
	struct weir_zone zone = { .offset = 3600, .change = 2000000100 / 3600 * 3600 };
	unsigned int i, j;
	time64_t end, next;
	bool shorter;

	for (i = 0; i < ARRAY_SIZE(windows) * ARRAY_SIZE(shifts); i++) {
		zone.next_offset = zone.offset + shifts[i / ARRAY_SIZE(windows)];
		j = i % ARRAY_SIZE(windows);
		end = zone.change - (windows[j] < WEIR_DAY_MS ? 3600 : 7 * 86400);
		end = weir_calendar_end(windows[j], &zone, end);
		for (shorter = false; end < zone.change + 86400; end = next) {
			next = weir_calendar_end(windows[j], &zone, end);
			shorter |= next - end < windows[j] / 1000;
		}
		assert_int_equal(weir_calendar_shortens(windows[j], &zone),
				 shorter || windows[j] == WEIR_MONTH_MS);
	}
}

static const struct weir_zone utc = { .change = S64_MAX };

/* Fire each timer for as long as the wall clock has passed its time. */
static void clock_set(struct weir_table *table, time64_t now)
{
	struct hrtimer *timer;
	unsigned int i;

	shim_real_seconds = now;
	for (i = 0; i <= table->more; i++) {
		timer = &table->calendar[i].timer;
		while (timer->expires <= now)
			timer->function(timer);
	}
}

/* A table with a calendar for each of the budgets. */
static struct weir_table *table_of(u32 window_ms, const struct way_budget *budget, unsigned int n)
{
	struct weir_table_spec spec = { .sources = 4, .prefix = { 32, 64 } };
	struct way_budget of[WEIR_BUDGETS_MAX];
	unsigned int i;

	for (i = 0; i < n; i++) {
		of[i] = budget[i];
		of[i].spec.calendar_ms = window_ms;
		of[i].spec.slot_ticks = window_ms / MSEC_PER_SEC * HZ;
	}
	return way_table(&spec, of, n, shim_jiffies);
}

static u64 clock_now(void)
{
	return shim_jiffies;
}

/* Another table takes over; the time when all is pulled, before a timer of the old one fires. */
static struct weir_table *succeeded(struct weir_table *old, struct weir_table *next,
				    const struct weir_zone *zone, time64_t drained)
{
	static const u64 budget[WEIR_BUDGETS_MAX] = { 10, 10, 10, 10 };

	shim_clock = clock_now;
	weir_table_succeed(next, old, budget, budget, &twin_key);
	weir_table_anchor(next, zone);
	clock_set(next, drained);
	weir_table_drain(next);
	clock_set(old, drained);
	synchronize_rcu();
	weir_table_free(old);
	return next;
}

static void test_clock(void **state)
{
	const struct way_budget budget = way_budget(CALENDAR, 10, 10, 1, 1, false);
	struct weir_table *table = table_of(WEIR_DAY_MS, &budget, 1);
	time64_t day = 86400, noon = 20000 * day + day / 2;
	struct weir_calendar *calendar = table->calendar;
	const u32 *slot = &table->meter[0].base;

	shim_real_seconds = noon;
	weir_table_anchor(table, &utc);
	assert_int_equal(weir_calendar_wait(calendar), day / 2 * HZ);
	clock_set(table, noon + day / 2 - 1);
	assert_int_equal(*slot, 0);
	clock_set(table, noon + day / 2);
	assert_int_equal(*slot, 1);
	/* Four years on, and back, whatever is changed. */
	clock_set(table, noon + 1461 * day);
	assert_int_equal(*slot, 2);
	clock_set(table, noon + 2 * day);
	weir_table_anchor(table, &utc);
	clock_set(table, noon + 1461 * day + day / 4);
	assert_int_equal(*slot, 2);
	/* A change before the timer fires */
	shim_real_seconds += day / 4;
	weir_table_anchor(table, &utc);
	clock_set(table, shim_real_seconds);
	assert_int_equal(*slot, 3);
	/* The coarse clock is a second late when the timer fires. */
	shim_real_seconds = calendar->timer.expires - 1;
	calendar->timer.function(&calendar->timer);
	weir_table_anchor(table, &utc);
	clock_set(table, shim_real_seconds);
	assert_int_equal(*slot, 4);
	assert_int_equal(calendar->timer.expires, shim_real_seconds + 1 + day);
	weir_table_free(table);
}

/* What a calendar shows: the time up to which all ends are crossed, and how often one was. */
struct shown {
	struct weir_zone zone;
	u32 window, number;
	time64_t begun;
};

static time64_t shown_end(const struct shown *shown)
{
	return weir_calendar_end(shown->window, &shown->zone, shown->begun);
}

static void shown_at(struct shown *shown, time64_t now)
{
	if (now < shown_end(shown))
		return;
	shown->number++;
	shown->begun = now;
}

static void shown_in(struct shown *shown, const struct weir_zone *zone, time64_t now)
{
	if (!memcmp(&shown->zone, zone, sizeof(*zone)))
		return;
	shown_at(shown, now);
	shown->zone = *zone;
	shown->begun = max(shown->begun, now);
}

/*
 * The clock is set at random, and limits are changed before the timer fires and after: each
 * end behind the latest one crossed is crossed once, and no other.
 */
static void test_anchor(void **state)
{
	const struct way_budget budget = way_budget(CALENDAR, 10, 10, 1, 1, false);
	const struct weir_zone *to;
	u64 run, runs = unit_rounds(4000), crossed = 0;
	struct weir_zone zone[2];
	struct weir_calendar *is;
	struct weir_table *table;
	struct shown shown;
	struct chance c;
	time64_t now;
	unsigned int n;

	for (run = 0; run < runs; run++) {
		c = chance_of(run);
		now = 1800000000 + chance_below(&c, 86400 * 400);
		for (n = 0; n < 2; n++) {
			zone[n].offset = ((int)chance_below(&c, 105) - 48) * 900;
			zone[n].next_offset = zone[n].offset + ((int)chance_below(&c, 3) - 1) * 3600;
			zone[n].change = (now / 900 + chance_below(&c, 2000) - 500) * 900;
		}
		shown = (struct shown) { zone[0], windows[chance_below(&c, 5)], 0, now };
		shim_real_seconds = now;
		table = table_of(shown.window, &budget, 1);
		weir_table_anchor(table, &zone[0]);
		for (n = 0; n < 40; n++) {
			now += (s64)chance_below(&c, 3 * (shown.window / 1000)) - shown.window / 1000;
			if (chance_one_in(&c, 3))
				now = shown_end(&shown) - chance_below(&c, 2);
			shim_real_seconds = now;
			is = table->calendar;
			to = chance_one_in(&c, 2) ? &shown.zone : &zone[chance_below(&c, 2)];
			switch (chance_below(&c, 4)) {
			case 0:
				clock_set(table, now);
				shown_at(&shown, now);
				break;
			case 1:
				/* The coarse clock is late. */
				if (is->timer.expires != now + 1)
					break;
				is->timer.function(&is->timer);
				shown_at(&shown, now + 1);
				break;
			case 2:
				weir_table_anchor(table, to);
				shown_in(&shown, to, now);
				break;
			default:
				table = succeeded(table, table_of(shown.window, &budget, 1), to, now);
				shown_in(&shown, to, now);
				shown_at(&shown, now);
			}
			is = table->calendar;
			check(table->meter[0].base == shown.number && is->end == shown_end(&shown) &&
			      is->timer.expires == is->end,
			      "run %llu, step %u: period %u, not %u, to %lld, not %lld",
			      (unsigned long long)run, n, table->meter[0].base, shown.number,
			      (long long)is->end, (long long)shown_end(&shown));
		}
		crossed += shown.number;
		weir_table_free(table);
	}
	assert_true(crossed > runs);
}

/* What a packet of the source gets. */
static u16 sends(struct weir_table *table, u64 packets)
{
	static const u64 budget[WEIR_BUDGETS_MAX] = { 10, 10, 10, 10 };
	struct weir_source source;
	struct weir_lookup lookup = {
		.source = &source,
		.tick = shim_jiffies,
		.budgets = budget,
		.amount = { packets, packets },
	};
	u16 result;

	source = twin_source_in(table, 1, &lookup.hash);
	twin_enter();
	result = weir_table_charge(table, &lookup);
	twin_leave();
	return result;
}

/*
 * Another table takes over, of the same calendars or not, and an end comes to pass before
 * the source is pulled, or after, or not: it has its budget once for the end.
 */
static void test_pulled(void **state)
{
	static const struct {
		u8 old, next;	/* budgets; in bytes, which of them */
		u8 old_bytes, next_bytes;
	} rows[] = {
		{ 1, 1, 0, 0 }, { 1, 1, 0, 1 }, { 1, 2, 0, 2 }, { 2, 1, 2, 0 }, { 2, 1, 2, 1 }, { 2, 3, 1, 6 },
	};
	const time64_t end = 20001 * 86400;
	struct weir_table *table, *next;
	struct way_budget of[2][3];
	unsigned int i, when;

	for (i = 0; i < 3 * ARRAY_SIZE(rows); i++) {
		for (when = 0; when < 3; when++) {
			of[0][when] = way_budget(CALENDAR, 10, 10, 1, 1,
						 rows[i / 3].old_bytes >> when & 1);
			of[1][when] = way_budget(CALENDAR, 10, 10, 1, 1,
						 rows[i / 3].next_bytes >> when & 1);
		}
		when = i % 3;
		shim_real_seconds = end - 1000;
		table = table_of(WEIR_DAY_MS, of[0], rows[i / 3].old);
		weir_table_anchor(table, &utc);
		/* Numbers differ from those of a new table. */
		clock_set(table, end);
		shim_real_seconds = end + 80000;
		assert_int_equal(sends(table, 10), WEIR_CHARGED);
		assert_true(sends(table, 1) & WEIR_REFUSED);
		next = table_of(WEIR_DAY_MS, of[1], rows[i / 3].next);
		next = succeeded(table, next, &utc, when == 1 ? end + 86400 : shim_real_seconds);
		assert_true(when == 1 || sends(next, 1) & WEIR_REFUSED);
		if (when == 2)
			clock_set(next, end + 86400);
		if (when)
			assert_int_equal(sends(next, 10), WEIR_CHARGED);
		assert_true(sends(next, 1) & WEIR_REFUSED);
		weir_table_free(next);
	}
}

UNIT_MAIN("table_calendar", T(test_ends), T(test_lengths), T(test_changes), T(test_shortens), T(test_clock),
	  T(test_anchor), T(test_pulled))
