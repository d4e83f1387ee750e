// SPDX-License-Identifier: GPL-2.0-or-later
/* Time zones, resolved with the C library's: the offset from UTC now, and its next change. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lang/value.h"

#define ZONES	"/usr/share/zoneinfo/"
#define ZONE_LETTERS	\
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/"
#define DAY	86400
/* RFC 3339 has years of four digits. */
#define LAST_SECOND	253402300799

/* "+02:00", at most 14 hours from UTC as all zones are. */
static bool parse_offset(const char *text, int32_t *offset)
{
	unsigned int hours, minutes;
	size_t i;

	for (i = 0; i < 6; i++) {
		if (!strchr(i == 0 ? "+-" : i == 3 ? ":" : "0123456789", text[i]) || !text[i])
			return false;
	}
	hours = (text[1] - '0') * 10 + text[2] - '0';
	minutes = (text[4] - '0') * 10 + text[5] - '0';
	if (text[6] || minutes > 59 || hours * 60 + minutes > 14 * 60)
		return false;
	*offset = (int32_t)(hours * 60 + minutes) * (*text == '-' ? -60 : 60);
	return true;
}

/*
 * localtime() takes any other name for UTC. The folder has tables and lists beside the files
 * that tzfile(5) describes; a name is one word of a configuration file.
 */
static bool zone_exists(const char *name)
{
	static const char versions[] = { '\0', '2', '3', '4' };
	char path[sizeof(ZONES) + WEIR_ZONE_SIZE], head[5];
	bool found = false;
	struct stat is;
	int fd;

	if (strspn(name, "/") || strstr(name, "//") || name[strspn(name, ZONE_LETTERS)])
		return false;
	snprintf(path, sizeof(path), ZONES "%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	if (!fstat(fd, &is) && S_ISREG(is.st_mode) && read(fd, head, 5) == 5)
		found = !memcmp(head, "TZif", 4) && memchr(versions, head[4], sizeof(versions));
	close(fd);
	return found;
}

static int32_t offset_at(time_t at)
{
	struct tm tm;

	return localtime_r(&at, &tm) ? tm.tm_gmtoff : 0;
}

/* Of the zone in TZ: the second within a year from which on its offset is another one. */
static void find_change(struct weir_zone *zone, time_t now)
{
	time_t from = now, to = now, middle;

	while (to - now <= 366 * DAY && offset_at(to) == zone->offset) {
		from = to;
		to += DAY;
	}
	zone->next_offset = offset_at(to);
	if (zone->next_offset == zone->offset)
		return;
	while (to - from > 1) {
		middle = from + (to - from) / 2;
		if (offset_at(middle) == zone->offset)
			from = middle;
		else
			to = middle;
	}
	zone->next_offset = offset_at(to);
	zone->change = to;
}

int weir_zone_find(const char *name, time_t now, struct weir_zone *zone, struct weir_err *err)
{
	char *tz, *was;

	*zone = (struct weir_zone) {
		.has = WEIR_HAS(ZONE_NAME) | WEIR_HAS(ZONE_OFFSET) | WEIR_HAS(ZONE_NEXT_OFFSET) |
		       WEIR_HAS(ZONE_CHANGE),
		.change = INT64_MAX,
	};
	if (strlen(name) >= sizeof(zone->name)) {
		weir_err_set(err, "a time zone has at most %zu characters",
			     sizeof(zone->name) - 1);
		return -EINVAL;
	}
	strcpy(zone->name, name);
	if (parse_offset(name, &zone->offset)) {
		zone->next_offset = zone->offset;
		return 0;
	}
	if (!zone_exists(name)) {
		weir_err_set(err, "unknown time zone '%s'; write +02:00, or a name as in "
			     ZONES ": Europe/Berlin", name);
		return -EINVAL;
	}
	tz = getenv("TZ");
	was = tz ? strdup(tz) : NULL;
	setenv("TZ", name, 1);
	tzset();
	zone->offset = offset_at(now);
	find_change(zone, now);
	if (was)
		setenv("TZ", was, 1);
	else
		unsetenv("TZ");
	tzset();
	free(was);
	return 0;
}

int weir_parse_zone(const struct weir_field *field, struct weir_args *args,
		    const char *text, void *at)
{
	return weir_zone_find(text, time(NULL), at, args->err);
}

/* Its name tells a reader all. */
const char *weir_text_zone(const struct weir_field *field, const void *at, char *buf)
{
	return ((const struct weir_zone *)at)->name;
}

const char *weir_text_date(const struct weir_field *field, const void *at, char *buf)
{
	uint64_t s = weir_uint_get(at, sizeof(s));
	time_t shown = s < LAST_SECOND ? s : LAST_SECOND;
	struct tm tm;

	strftime(buf, WEIR_TEXT_SIZE, "%FT%TZ", gmtime_r(&shown, &tm));
	return buf;
}

int weir_parse_date(const struct weir_field *field, struct weir_args *args,
		    const char *text, void *at)
{
	char same[WEIR_TEXT_SIZE];
	struct tm tm = { 0 };
	uint64_t s = strptime(text, "%FT%TZ", &tm) ? timegm(&tm) : 0;

	if (!s || strcmp(weir_text_date(field, &s, same), text))
		return weir_err_set(args->err, "invalid date '%.60s'; expected one in UTC, as 2030-01-31T12:00:00Z; for a time write 'for TIME'",
				    text);
	weir_uint_set(at, sizeof(s), s);
	return 0;
}
