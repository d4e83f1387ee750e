// SPDX-License-Identifier: GPL-2.0-or-later
/* What the commands share. */

#include <string.h>
#include <time.h>

#include "canary.h"
#include "fleet.h"

#define ROOM_MS	60000

void fleet_say(const char *fmt, ...)
{
	char text[1024];

	WEIR_FORMAT(text, fmt);
	fputs("weir-fleet: ", stderr);
	weir_out_escape(stderr, text, strlen(text));
	fputc('\n', stderr);
}

bool fleet_room(struct fleet_room *room, uint64_t missed, const char *what, const char *of)
{
	bool misses = missed > room->missed, begins = misses && !room->missed_ms;
	int64_t now_ms = fleet_now_ms();

	room->missed = missed;
	if (begins)
		fleet_say("no room for %s%s", what, of);
	if (misses) {
		room->missed_ms = now_ms;
	} else if (room->missed_ms && now_ms - room->missed_ms > ROOM_MS) {
		fleet_say("room for %s%s again", what, of);
		room->missed_ms = 0;
	}
	return begins;
}

const char *fleet_group(struct fleet *fleet)
{
	const char *group = fleet->group ? fleet->group : fleet->settings.group;

	if (!group)
		weir_err_set(&fleet->err, "which group? say 'group GROUP', here or in the settings");
	return group;
}

void fleet_show_time(struct weir_out *out, const char *key, int64_t ns)
{
	time_t second = ns / 1000000000;
	char text[32];
	struct tm when;

	if (!gmtime_r(&second, &when) ||
	    !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &when))
		*text = '\0';
	weir_out_str(out, key, text);
	weir_out_word(out, WEIR_COLOR_NONE, "%s", text);
}
