// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timer of a calendar ends a period and begins the next at that boundary of the wall
 * clock. A clock that is set forward, over however many boundaries, crosses one; a clock
 * that is set back has the current period last until its end is reached after all. So
 * nobody who can set the clock gets more than a budget for each end that comes to pass.
 *
 * A period is what local time shows, say 02:00 to 03:00: if daylight saving repeats that
 * hour, it is one hour of two; if it leaves out midnight, the day begins at the change.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#include "compat.h"
#include "count/calendar.h"

#define DAY 86400

/*
 * May a period be shorter than the window, so that an interval as long touches three? A
 * February is, and a day or a week of which daylight saving skips an hour, once a year.
 */
bool weir_calendar_shortens(u32 window_ms, const struct weir_zone *zone)
{
	return window_ms == WEIR_MONTH_MS ||
	       (zone->next_offset - zone->offset) % (s32)(window_ms / MSEC_PER_SEC);
}

/* The end of the period that a local time is in, as local time. */
static time64_t local_end(u32 window_ms, time64_t local)
{
	u32 length = window_ms / MSEC_PER_SEC, passed;
	struct tm tm;

	if (window_ms == WEIR_MONTH_MS) {
		time64_to_tm(local, 0, &tm);
		if (tm.tm_mon == 11)
			return mktime64(tm.tm_year + 1901, 1, 1, 0, 0, 0);
		return mktime64(tm.tm_year + 1900, tm.tm_mon + 2, 1, 0, 0, 0);
	}
	/* Weeks begin with a Monday, and 1970 began with a Thursday; west of UTC, before that. */
	div_u64_rem(local + (window_ms == WEIR_WEEK_MS ? 10 : 7) * DAY, length, &passed);
	return local - passed + length;
}

/* When the period ends that @now is in: seconds since 1970 UTC, above @now. */
time64_t weir_calendar_end(u32 window_ms, const struct weir_zone *zone, time64_t now)
{
	s32 offset = now < zone->change ? zone->offset : zone->next_offset;
	time64_t local = local_end(window_ms, now + offset);

	if (now >= zone->change || local - offset < zone->change)
		return local - offset;
	/* The same period may go on after the change. */
	if (local_end(window_ms, zone->change + zone->next_offset) == local)
		return local - zone->next_offset;
	return zone->change;
}

/* The period ends at the first end after @now, and no other. The timer is stopped, or runs this. */
static void ends_after(struct weir_calendar *calendar, time64_t now)
{
	calendar->crossed = now;
	/* Pairs with weir_calendar_wait(). */
	WRITE_ONCE(calendar->end, weir_calendar_end(calendar->window_ms, &calendar->zone, now));
}

/* Cross the end of a period, and all ends up to now. */
static void end_cross(struct weir_calendar *calendar)
{
	/* Pairs with weir_meter_slot(). */
	WRITE_ONCE(*calendar->slot, *calendar->slot + 1);
	/* The coarse clock may be late. */
	ends_after(calendar, max(ktime_get_real_seconds(), calendar->end));
}

static enum hrtimer_restart period_end(struct hrtimer *timer)
{
	struct weir_calendar *calendar = container_of(timer, struct weir_calendar, timer);

	end_cross(calendar);
	hrtimer_set_expires(timer, ktime_set(calendar->end, 0));
	return HRTIMER_RESTART;
}

/* Thousands of timers may be due at one midnight: not in a hard interrupt. */
static void timer_start(struct weir_calendar *calendar)
{
	weir_hrtimer_setup(&calendar->timer, period_end, CLOCK_REALTIME, HRTIMER_MODE_ABS_SOFT);
	hrtimer_start(&calendar->timer, ktime_set(calendar->end, 0), HRTIMER_MODE_ABS_SOFT);
}

/*
 * Begin the first period of a calendar, or have one that has begun follow another zone. A
 * calendar with the same zone goes on. An end that has come to pass is crossed first; the next
 * one is behind all that were crossed, even if the clock was set back since.
 */
void weir_calendar_anchor(struct weir_calendar *calendar, u32 window_ms,
			  const struct weir_zone *zone, u32 *slot)
{
	time64_t now = ktime_get_real_seconds();

	if (!calendar->window_ms) {
		calendar->window_ms = window_ms;
		calendar->slot = slot;
	} else if (memcmp(&calendar->zone, zone, sizeof(*zone))) {
		hrtimer_cancel(&calendar->timer);
		if (now >= calendar->end)
			end_cross(calendar);
	} else {
		return;
	}
	calendar->zone = *zone;
	ends_after(calendar, max(now, calendar->crossed));
	timer_start(calendar);
}

/* Go on with the period of @was, which is stopped and has the number in @slot. */
void weir_calendar_succeed(struct weir_calendar *calendar, const struct weir_calendar *was,
			   u32 *slot)
{
	if (!was->window_ms)
		return;
	calendar->window_ms = was->window_ms;
	calendar->zone = was->zone;
	calendar->crossed = was->crossed;
	calendar->end = was->end;
	calendar->slot = slot;
	timer_start(calendar);
}

void weir_calendar_stop(struct weir_calendar *calendar)
{
	if (calendar->window_ms)
		hrtimer_cancel(&calendar->timer);
}

u64 weir_calendar_wait(const struct weir_calendar *calendar)
{
	/* Pairs with ends_after(). On 32 bit it is torn in 2106 at most. */
	time64_t left = READ_ONCE(calendar->end) - ktime_get_real_seconds();

	return max_t(time64_t, left, 1) * HZ;
}

bool weir_calendar_ended(time64_t end)
{
	return end <= ktime_get_real_seconds();
}
