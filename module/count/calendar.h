/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slots that end with the minute, hour, day, week or month of a time zone.
 */
#ifndef WEIR_CALENDAR_H
#define WEIR_CALENDAR_H

#include <linux/hrtimer.h>
#include <linux/time64.h>
#include <linux/types.h>

/* Windows that name calendar periods. */
#define WEIR_MINUTE_MS	60000u
#define WEIR_HOUR_MS	3600000u
#define WEIR_DAY_MS	86400000u
#define WEIR_WEEK_MS	604800000u
#define WEIR_MONTH_MS	2592000000u

/* Offsets of local time from UTC, in seconds; less than a day. */
struct weir_zone {
	s32 offset;		/* before @change */
	s32 next_offset;	/* from then on */
	time64_t change;	/* in seconds since 1970 UTC */
};

/* A clock of one table. Its timer writes it, and while that is stopped the functions below. */
struct weir_calendar {
	u32 *slot;		/* number of the current period */
	u32 window_ms;		/* WEIR_*_MS; 0 until it is anchored */
	time64_t crossed;	/* no end up to then is to come; in seconds since 1970 UTC */
	time64_t end;		/* of the current period, likewise */
	struct weir_zone zone;
	struct hrtimer timer;
};

bool weir_calendar_shortens(u32 window_ms, const struct weir_zone *zone);
time64_t weir_calendar_end(u32 window_ms, const struct weir_zone *zone, time64_t now);

/* Process context, one at a time. A calendar begins as zeroes, which may be stopped. */
void weir_calendar_anchor(struct weir_calendar *calendar, u32 window_ms,
			  const struct weir_zone *zone, u32 *slot);
void weir_calendar_succeed(struct weir_calendar *calendar, const struct weir_calendar *was,
			   u32 *slot);
void weir_calendar_stop(struct weir_calendar *calendar);

/* Has a period come to its end, in seconds since 1970, by now? */
bool weir_calendar_ended(time64_t end);

/* Ticks until the current period ends, at least 1. */
u64 weir_calendar_wait(const struct weir_calendar *calendar);

#endif /* WEIR_CALENDAR_H */
