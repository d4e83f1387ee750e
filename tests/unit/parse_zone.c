// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of time zones against what is known of them, and names that are none. */
#include <stdlib.h>
#include <time.h>

#include "unit.h"
#include "lang/value.h"

/* 2026-01-15 12:00:00 UTC */
#define JANUARY	1768478400

static void test_zones(void **state)
{
	static const struct {
		const char *name;
		int offset, next_offset;
		long change;
	} zones[] = {
		{ "UTC", 0, 0, INT64_MAX },
		{ "+02:00", 7200, 7200, INT64_MAX },
		{ "-03:30", -12600, -12600, INT64_MAX },
		{ "+00:00", 0, 0, INT64_MAX },
		{ "Asia/Kolkata", 19800, 19800, INT64_MAX },
		{ "Europe/Berlin", 3600, 7200, 1774746000 },
		{ "Australia/Lord_Howe", 39600, 37800, 1775314800 },
		{ "America/Havana", -18000, -14400, 1772946000 },
	};
	struct weir_zone zone;
	struct weir_err err;
	unsigned int i;

	setenv("TZ", "Asia/Tokyo", 1);
	for (i = 0; i < sizeof(zones) / sizeof(zones[0]); i++) {
		assert_int_equal(weir_zone_find(zones[i].name, JANUARY, &zone, &err), 0);
		assert_string_equal(zone.name, zones[i].name);
		assert_int_equal(zone.offset, zones[i].offset);
		assert_int_equal(zone.next_offset, zones[i].next_offset);
		assert_int_equal(zone.change, zones[i].change);
	}
	assert_string_equal(getenv("TZ"), "Asia/Tokyo");
	/* The day before, the day of, and the day after a change. */
	for (i = 0; i < 3; i++) {
		assert_int_equal(weir_zone_find("Europe/Berlin", 1774746000 - 1 + i, &zone, &err), 0);
		assert_int_equal(zone.offset, i ? 7200 : 3600);
		assert_int_equal(zone.change, i ? 1792890000 : 1774746000);
	}
	/* Beyond the transitions that the file lists one by one. */
	assert_int_equal(weir_zone_find("Europe/Berlin", 1856347200, &zone, &err), 0);
	assert_int_equal(zone.offset, 7200);
	assert_int_equal(zone.change, 1856394000);
	assert_int_equal(zone.next_offset, 3600);
}

static void test_bad(void **state)
{
	static const char *const bad[] = {
		"", "Berlin", "Europe", "Europe/", "+2:00", "+02:60", "+14:01", "02:00", "+02:00x", "+-2:00", "++2:00",
		"../../etc/passwd", "./UTC", "/etc/localtime", "Europe/../UTC", "+02:0",
		"+ 2:00", "+02: 0", "-\t2:00", "+0x:00", "+02:0 ", "tzdata.zi", "zone1970.tab", "zone.tab",
		"iso3166.tab", "leapseconds", "leap-seconds.list", "Europe//Berlin", "Europe/Ber lin",
		"a-name-of-far-more-than-forty-characters-is-none",
	};
	struct weir_zone zone;
	struct weir_err err;
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (weir_zone_find(bad[i], JANUARY, &zone, &err) != -EINVAL)
			fail_msg("'%s' is a time zone", bad[i]);
}

UNIT_MAIN("parse_zone", T(test_zones), T(test_bad))
