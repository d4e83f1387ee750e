// SPDX-License-Identifier: GPL-2.0-or-later
/* Limits, exemptions and counters, for people and for programs. */

#include <inttypes.h>
#include <stdio.h>
#include <sys/socket.h>

#include "show.h"
#include "value.h"

static const struct {
	uint32_t cond;
	const char *word;
} conds[] = {
	{ WEIR_COND_FAMILY, "family" }, { WEIR_COND_DEV, "dev" },
	{ WEIR_COND_FROM, "from" }, { WEIR_COND_TO, "to" },
	{ WEIR_COND_PROTO, "proto" }, { WEIR_COND_SPORT, "sport" },
	{ WEIR_COND_DPORT, "dport" }, { WEIR_COND_SYN, "syn" },
	{ WEIR_COND_FRAG, "frag" }, { WEIR_COND_MARK, "mark" },
};

static void show_ports(const struct weir_match *match, uint32_t cond,
		       const char *min, const char *max, const char *word,
		       const uint16_t ports[2])
{
	char buf[WEIR_TEXT_SIZE];

	weir_out_u64(min, ports[0], "%s%s %s",
		     match->invert & cond ? " not " : " ", word,
		     weir_text_ports(ports, buf));
	weir_out_u64(max, ports[1], NULL);
}

static void show_mark(const struct weir_match *match, const char *not)
{
	if (match->mask == UINT32_MAX)
		weir_out_u64("mark", match->mark, "%smark 0x%" PRIx32, not,
			     match->mark);
	else
		weir_out_u64("mark", match->mark,
			     "%smark 0x%" PRIx32 "/0x%" PRIx32, not,
			     match->mark, match->mask);
	weir_out_u64("mark_mask", match->mask, NULL);
}

static void show_cond(const struct weir_match *match, uint32_t cond)
{
	const char *not = match->invert & cond ? " not " : " ", *text;
	char buf[WEIR_TEXT_SIZE];

	switch (cond) {
	case WEIR_COND_FAMILY:
		text = match->family == AF_INET ? "ipv4" : "ipv6";
		weir_out_str("family", text, "%sfamily %s", not, text);
		break;
	case WEIR_COND_DEV:
		weir_out_str("dev", match->dev, "%sdev %s", not, match->dev);
		break;
	case WEIR_COND_FROM:
		text = weir_text_prefix(&match->from, buf);
		weir_out_str("from", text, "%sfrom %s", not, text);
		break;
	case WEIR_COND_TO:
		text = weir_text_prefix(&match->to, buf);
		weir_out_str("to", text, "%sto %s", not, text);
		break;
	case WEIR_COND_PROTO:
		text = weir_text_proto(match->proto, buf);
		weir_out_str("proto", text, "%sproto %s", not, text);
		break;
	case WEIR_COND_SPORT:
		show_ports(match, cond, "sport_min", "sport_max", "sport",
			   match->sport);
		break;
	case WEIR_COND_DPORT:
		show_ports(match, cond, "dport_min", "dport_max", "dport",
			   match->dport);
		break;
	case WEIR_COND_SYN:
		weir_out_flag("syn", true, "%ssyn", not);
		break;
	case WEIR_COND_FRAG:
		weir_out_flag("frag", true, "%sfrag", not);
		break;
	case WEIR_COND_MARK:
		show_mark(match, not);
		break;
	}
}

static void show_match(const struct weir_match *match)
{
	size_t i;

	weir_out_object("match");
	for (i = 0; i < sizeof(conds) / sizeof(conds[0]); i++) {
		if (match->conds & conds[i].cond)
			show_cond(match, conds[i].cond);
	}
	if (match->invert) {
		weir_out_array("not");
		for (i = 0; i < sizeof(conds) / sizeof(conds[0]); i++) {
			if (match->invert & conds[i].cond)
				weir_out_str(NULL, conds[i].word, NULL);
		}
		weir_out_array_end();
	}
	weir_out_object_end();
}

/**
 * weir_show_limit_words - the words that make a limit, without a line's end
 * @limit: the limit, complete
 */
void weir_show_limit_words(const struct weir_limit *limit)
{
	bool bytes = limit->unit == WEIR_UNIT_BYTES;
	char buf[WEIR_TEXT_SIZE];

	weir_out_color(WEIR_COLOR_NAME);
	weir_out_str("name", limit->name, "%s", limit->name);
	weir_out_u64("budget", limit->budget, " budget %s%s",
		     weir_text_budget(limit->budget, limit->window_ms, buf),
		     bytes ? " bytes" : "");
	weir_out_u64("window_ms", limit->window_ms, NULL);
	weir_out_str("unit", bytes ? "bytes" : "packets", NULL);
	show_match(&limit->match);
	if (limit->prefix4 == WEIR_PREFIX4_USUAL &&
	    limit->prefix6 == WEIR_PREFIX6_USUAL)
		weir_out_u64("prefix4", limit->prefix4, NULL);
	else
		weir_out_u64("prefix4", limit->prefix4, " per %u,%u",
			     limit->prefix4, limit->prefix6);
	weir_out_u64("prefix6", limit->prefix6, NULL);
	weir_out_u64("slots", limit->slots, " slots %" PRIu32, limit->slots);
	weir_out_u64("sources", limit->sources, " sources %" PRIu32,
		     limit->sources);
	if (limit->mode == WEIR_MODE_LENIENT)
		weir_out_str("mode", "lenient", " lenient");
	else
		weir_out_str("mode", "strict", NULL);
	if (limit->action == WEIR_ACTION_OBSERVE)
		weir_out_str("action", "observe", " action observe");
	else
		weir_out_str("action", "drop", NULL);
}

static void show_result(const struct weir_limit *limit)
{
	bool rounded = limit->window_ns != limit->window_ms * 1000000ULL;
	char slot[WEIR_TEXT_SIZE], window[WEIR_TEXT_SIZE], size[WEIR_TEXT_SIZE];

	weir_text_time(limit->slot_ns, slot);
	weir_out_u64("slot_ns", limit->slot_ns, "    slot %s", slot);
	weir_text_time(limit->window_ns, window);
	if (rounded)
		weir_out_u64("window_ns", limit->window_ns, " window %s",
			     window);
	else
		weir_out_u64("window_ns", limit->window_ns, NULL);
	weir_out_u64("memory", limit->memory, " memory %s",
		     weir_text_size(limit->memory, size));
	weir_out_u64("ways", limit->ways, " ways %" PRIu32 "\n", limit->ways);
}

static void show_counter(const char *key, const char *text,
			 const struct weir_counter *counter)
{
	weir_out_object(key);
	weir_out_u64("packets", counter->packets, "    %-17s %12" PRIu64 " packets",
		     text, counter->packets);
	weir_out_u64("bytes", counter->bytes, " %15" PRIu64 " bytes\n",
		     counter->bytes);
	weir_out_object_end();
}

static void show_limit_stats(const struct weir_limit_stats *stats)
{
	weir_out_object("stats");
	show_counter("matched", "matched", &stats->matched);
	show_counter("admitted", "admitted", &stats->admitted);
	show_counter("dropped", "dropped", &stats->dropped);
	show_counter("would_drop", "would drop", &stats->would_drop);
	show_counter("elsewhere", "dropped elsewhere", &stats->elsewhere);
	show_counter("floor_refused", "refused by floors",
		     &stats->floor_refused);
	show_counter("too_large", "too large to fit", &stats->too_large);
	if (stats->has_sources_now)
		weir_out_u64("sources_now", stats->sources_now,
			     "    sources now       %12" PRIu64 " evictions ",
			     stats->sources_now);
	else
		weir_out_text("    evictions         ");
	weir_out_u64("evictions", stats->evictions, "%" PRIu64 "\n",
		     stats->evictions);
	if (stats->sources_wanted) {
		weir_out_color(WEIR_COLOR_BAD);
		weir_out_u64("sources_wanted", stats->sources_wanted,
			     "    pressure: sources %" PRIu64 " would end it",
			     stats->sources_wanted);
		weir_out_text("\n");
	}
	weir_out_object_end();
}

/**
 * weir_show_limit - a limit: its words, what resulted, its counters if told
 * @limit: the limit
 */
void weir_show_limit(const struct weir_limit *limit)
{
	weir_out_object(NULL);
	weir_show_limit_words(limit);
	weir_out_text("\n");
	if (limit->has & WEIR_HAS_RESULT)
		show_result(limit);
	if (limit->has & WEIR_HAS_STATS)
		show_limit_stats(&limit->stats);
	weir_out_object_end();
}

/**
 * weir_show_exempt_words - the words of an exemption, without a line's end
 * @exempt: the exemption
 */
void weir_show_exempt_words(const struct weir_exempt *exempt)
{
	char buf[WEIR_TEXT_SIZE];
	const char *text = weir_text_prefix(&exempt->prefix, buf);

	weir_out_color(WEIR_COLOR_ADDRESS);
	weir_out_str("prefix", text, "%s", text);
	if (*exempt->dev)
		weir_out_str("dev", exempt->dev, " dev %s", exempt->dev);
	if (*exempt->limit)
		weir_out_str("limit", exempt->limit, " limit %s",
			     exempt->limit);
}

#define STAT(field, fmt)	\
	weir_out_u64(#field, (uint64_t)stats->field, fmt, (uint64_t)stats->field)

/**
 * weir_show_stats - the counters of a namespace
 * @stats: the counters
 */
void weir_show_stats(const struct weir_stats *stats)
{
	char buf[WEIR_TEXT_SIZE];

	weir_out_object(NULL);
	STAT(seen, "seen       %12" PRIu64 " packets\n");
	STAT(exempt, "exempt     %12" PRIu64 "\n");
	STAT(unmatched, "unmatched  %12" PRIu64 "\n");
	STAT(admitted, "admitted   %12" PRIu64 "\n");
	STAT(dropped, "dropped    %12" PRIu64 "\n");
	STAT(unparsable, "unparsable %12" PRIu64 "\n");
	STAT(events_lost, "events lost%12" PRIu64 "\n");
	STAT(limits, "limits %" PRIu64);
	STAT(exempts, " exempts %" PRIu64);
	weir_out_u64("memory", stats->memory, " memory %s",
		     weir_text_size(stats->memory, buf));
	weir_out_u64("tick_ns", stats->tick_ns, " tick %s\n",
		     weir_text_time(stats->tick_ns, buf));
	weir_out_object_end();
}
