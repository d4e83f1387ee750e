// SPDX-License-Identifier: GPL-2.0-or-later
/* Sources and events, for people and for programs. */

#include <inttypes.h>
#include <langinfo.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "show.h"
#include "value.h"

#define LEVELS	8

/* The wheel as eight heights, the highest being its fullest slot. */
static void spark(const struct weir_source *source,
		  char text[WEIR_WHEEL_MAX * 3 + 1])
{
	static const char ramp[LEVELS + 1] = "_.:-=+*#";
	bool utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	uint64_t most = 0;
	unsigned int i, level;

	for (i = 0; i < source->slots; i++)
		most = source->slot[i] > most ? source->slot[i] : most;
	for (i = 0; i < source->slots; i++) {
		level = source->slot[i] ? 1 + (unsigned int)
			((double)source->slot[i] / most * (LEVELS - 2) + 0.5) : 0;
		if (utf8)
			text += sprintf(text, "\xe2\x96%c", 0x81 + level);
		else
			*text++ = ramp[level];
	}
	*text = '\0';
}

static void show_slots(const struct weir_source *source)
{
	char text[WEIR_WHEEL_MAX * 3 + 1], slot[WEIR_TEXT_SIZE];
	unsigned int i;

	if (!source->slots)
		return;
	spark(source, text);
	weir_text_time(source->slot_ns, slot);
	weir_out_u64("slot_ns", source->slot_ns,
		     "    %s %u slots of %s, oldest first\n", text,
		     source->slots, slot);
	weir_out_array("slots");
	for (i = 0; i < source->slots; i++)
		weir_out_u64(NULL, source->slot[i], NULL);
	weir_out_array_end();
}

static void show_who(const struct weir_source *source)
{
	char buf[WEIR_TEXT_SIZE];
	const char *text = weir_text_prefix(&source->prefix, buf);

	weir_out_color(WEIR_COLOR_ADDRESS);
	weir_out_str("source", text, "%s", text);
	if (*source->dev)
		weir_out_str("dev", source->dev, " dev %s", source->dev);
	if (*source->limit)
		weir_out_str("limit", source->limit, " limit %s",
			     source->limit);
}

static void show_count(const struct weir_source *source)
{
	bool bytes = source->unit == WEIR_UNIT_BYTES;
	char buf[WEIR_TEXT_SIZE];

	weir_out_u64("count", source->count, " count %" PRIu64, source->count);
	weir_out_u64("budget", source->budget, " of %" PRIu64 "%s",
		     source->budget, bytes ? " bytes" : "");
	weir_out_str("unit", bytes ? "bytes" : "packets", NULL);
	weir_out_u64("left", source->left, " left %" PRIu64, source->left);
	weir_out_color(WEIR_COLOR_BAD);
	weir_out_flag("limited", source->limited, " limited");
	if (source->limited)
		weir_out_u64("next_ns", source->next_ns, " next %s",
			     weir_text_time(source->next_ns, buf));
}

/**
 * weir_show_source - how a source stands under a limit
 * @source: the source
 * @slots: whether its wheel is shown too
 */
void weir_show_source(const struct weir_source *source, bool slots)
{
	bool observe = source->action == WEIR_ACTION_OBSERVE;

	weir_out_object(NULL);
	show_who(source);
	if (source->is_exempt) {
		weir_out_text(" exempt by ");
		weir_out_object("exempt");
		weir_show_exempt_words(&source->exempt);
		weir_out_object_end();
		weir_out_text("\n");
		weir_out_object_end();
		return;
	}
	show_count(source);
	weir_out_u64("dropped", source->dropped, " %s %" PRIu64,
		     observe ? "would-drop" : "dropped", source->dropped);
	weir_out_flag("idle", source->idle, " idle");
	weir_out_flag("floor", source->floor, source->count ? " floor" : "");
	weir_out_str("action", observe ? "observe" : "drop", NULL);
	weir_out_text("\n");
	if (slots)
		show_slots(source);
	weir_out_object_end();
}

/**
 * weir_show_charge - what a charge has taken
 * @source: the source after it
 */
void weir_show_charge(const struct weir_source *source)
{
	weir_out_object(NULL);
	show_who(source);
	weir_out_u64("taken", source->taken, " taken %" PRIu64, source->taken);
	show_count(source);
	weir_out_text("\n");
	weir_out_object_end();
}

static void now_text(uint64_t ahead_ns, char buf[WEIR_TEXT_SIZE])
{
	struct timespec now;
	struct tm tm;
	uint64_t ns;
	size_t len;
	time_t s;

	clock_gettime(CLOCK_REALTIME, &now);
	ns = now.tv_nsec + ahead_ns % 1000000000;
	s = now.tv_sec + ahead_ns / 1000000000 + ns / 1000000000;
	localtime_r(&s, &tm);
	len = strftime(buf, WEIR_TEXT_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
	len += snprintf(buf + len, WEIR_TEXT_SIZE - len, ".%06" PRIu64,
			ns % 1000000000 / 1000);
	strftime(buf + len, WEIR_TEXT_SIZE - len, "%z", &tm);
}

/**
 * weir_show_timestamp - the time, at the beginning of an event
 */
void weir_show_timestamp(void)
{
	char buf[WEIR_TEXT_SIZE];

	now_text(0, buf);
	weir_out_str("timestamp", buf, "[%s] ", buf);
}

/**
 * weir_show_limit_notice - that a limit is there, came, changed or went
 * @change: which of these
 * @limit: the limit, perhaps without all its words
 */
void weir_show_limit_notice(const char *change, const struct weir_limit *limit)
{
	bool bytes = limit->unit == WEIR_UNIT_BYTES;
	char buf[WEIR_TEXT_SIZE];

	weir_out_str("event", "limit", "limit ");
	weir_out_str("change", change, "%s ", change);
	weir_out_color(WEIR_COLOR_NAME);
	weir_out_str("limit", limit->name, "%s", limit->name);
	if (!(limit->has & WEIR_HAS_BUDGET))
		return;
	weir_out_u64("budget", limit->budget, " budget %s%s",
		     weir_text_budget(limit->budget, limit->window_ms, buf),
		     bytes ? " bytes" : "");
	weir_out_u64("window_ms", limit->window_ms, NULL);
	weir_out_str("unit", bytes ? "bytes" : "packets", NULL);
	weir_out_str("action", limit->action ? "observe" : "drop", " action %s",
		     limit->action ? "observe" : "drop");
}

/**
 * weir_show_source_notice - that a source became limited
 * @source: the source
 * @window_ms: window of its limit; 0 where it is unknown
 */
void weir_show_source_notice(const struct weir_source *source,
			     uint32_t window_ms)
{
	bool observe = source->action == WEIR_ACTION_OBSERVE;
	bool bytes = source->unit == WEIR_UNIT_BYTES;
	char buf[WEIR_TEXT_SIZE];
	uint64_t rate;

	weir_out_color(WEIR_COLOR_BAD);
	weir_out_str("event", "source", observe ? "would-limit " : "limited ");
	show_who(source);
	if (window_ms) {
		rate = source->count * 1000.0 / window_ms;
		weir_out_u64("budget", source->budget, " budget %s%s",
			     weir_text_budget(source->budget, window_ms, buf),
			     bytes ? " bytes" : "");
		weir_out_u64("window_ms", window_ms, NULL);
		weir_out_u64("rate", rate, " rate %" PRIu64 "/s", rate);
	} else {
		weir_out_u64("budget", source->budget, " budget %" PRIu64 "%s",
			     source->budget, bytes ? " bytes" : "");
	}
	weir_out_str("unit", bytes ? "bytes" : "packets", NULL);
	weir_out_u64("count", source->count, " count %" PRIu64, source->count);
	now_text(source->next_ns, buf);
	weir_out_str("until", buf, " until %s", buf);
	weir_out_u64("next_ns", source->next_ns, NULL);
	weir_out_str("action", observe ? "observe" : "drop", NULL);
}

/**
 * weir_show_pressure_notice - that a table is too small
 * @limit: its limit, with name and counters alone
 */
void weir_show_pressure_notice(const struct weir_limit *limit)
{
	const struct weir_limit_stats *stats = &limit->stats;

	weir_out_color(WEIR_COLOR_BAD);
	weir_out_str("event", "pressure", "pressure");
	weir_out_str("limit", limit->name, " limit %s", limit->name);
	weir_out_u64("evictions", stats->evictions, " evictions %" PRIu64,
		     stats->evictions);
	weir_out_u64("floor_refused", stats->floor_refused.packets,
		     " floor-refused %" PRIu64, stats->floor_refused.packets);
	if (stats->sources_wanted)
		weir_out_u64("sources_wanted", stats->sources_wanted,
			     " sources-wanted %" PRIu64, stats->sources_wanted);
}
