// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calendar periods against the C library's calendar, minute by minute, and the clock that
 * counts them against a wall clock that is set forward and back.
 */
#include <time.h>

#include "count/calendar.h"
#include "unit.h"

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

/* Fire the timer for as long as the wall clock has passed its time. */
static void clock_set(struct weir_calendar *calendar, time64_t now)
{
	shim_real_seconds = now;
	while (calendar->timer.expires <= now)
		calendar->timer.function(&calendar->timer);
}

static void test_clock(void **state)
{
	const struct weir_zone utc = { .change = S64_MAX };
	struct weir_calendar calendar = { };
	time64_t day = 86400, noon = 20000 * day + day / 2;
	u32 slot = 0;

	shim_real_seconds = noon;
	weir_calendar_start(&calendar, WEIR_DAY_MS, &utc, &slot);
	assert_int_equal(weir_calendar_wait(&calendar), day / 2 * HZ);
	clock_set(&calendar, noon + day / 2 - 1);
	assert_int_equal(slot, 0);
	clock_set(&calendar, noon + day / 2);
	assert_int_equal(slot, 1);
	/* Four years on, and back. */
	clock_set(&calendar, noon + 1461 * day);
	assert_int_equal(slot, 2);
	clock_set(&calendar, noon + 2 * day);
	clock_set(&calendar, noon + 1461 * day + day / 4);
	assert_int_equal(slot, 2);
	clock_set(&calendar, noon + 2 * day);
	/* Started anew, it does not renew. */
	weir_calendar_start(&calendar, WEIR_DAY_MS, &utc, &slot);
	assert_int_equal(slot, 2);
	clock_set(&calendar, noon + 2 * day + day / 2);
	assert_int_equal(slot, 3);
	/* The coarse clock is a second late when the timer fires. */
	shim_real_seconds = calendar.timer.expires - 1;
	calendar.timer.function(&calendar.timer);
	assert_int_equal(slot, 4);
	assert_int_equal(calendar.timer.expires, shim_real_seconds + 1 + day);
}

UNIT_MAIN("table_calendar", T(test_ends), T(test_lengths), T(test_changes), T(test_shortens), T(test_clock))
