// SPDX-License-Identifier: GPL-2.0-or-later
/* Sources, counters and events as text and JSON. */

#include <inttypes.h>
#include <langinfo.h>
#include <string.h>
#include <sys/param.h>
#include <time.h>

#include "lang/value.h"
#include "show/reasons.h"
#include "show/show.h"

#define LEVELS		8
#define ROW		"%-39s %15s %8s%s"	/* of a table of sources */

static void show(struct weir_out *out, uint16_t attr, const struct weir_source *source)
{
	weir_field_show(&weir_source_fields, weir_field_find(&weir_source_fields, 0, attr),
			out, source);
}

static void show_count(struct weir_out *out, uint16_t attr, const struct weir_source_budget *is)
{
	weir_field_show(&weir_source_budget_fields,
			weir_field_find(&weir_source_budget_fields, 0, attr), out, is);
}

void weir_show_item(struct weir_out *out, const struct weir_set *set, unsigned int flags,
		    const void *model)
{
	weir_out_begin(out, NULL, '{');
	weir_set_show(set, flags, out, model);
	weir_out_text(out, "\n");
	weir_out_end(out, '}');
}

void weir_show_exempt(struct weir_out *out, const void *model)
{
	weir_show_item(out, &weir_exempt_fields, WEIR_WORDS | WEIR_RESULT, model);
}

void weir_show_list(struct weir_out *out, const void *model)
{
	weir_show_item(out, &weir_list_fields, WEIR_WORDS, model);
}

void weir_show_xdp(struct weir_out *out, const void *model)
{
	weir_show_item(out, &weir_xdp_fields, WEIR_WORDS | WEIR_RESULT, model);
}

void weir_show_spark(const struct weir_source_budget *source, char text[WEIR_SPARK_SIZE])
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

/* Those of the first budget; of others the kernel tells none. */
static void show_slots(struct weir_out *out, const struct weir_source *source)
{
	const struct weir_source_budget *is = &source->budgets[0];
	char text[WEIR_SPARK_SIZE], slot[WEIR_TEXT_SIZE];

	weir_show_spark(is, text);
	weir_out_text(out, "    %s %u slot%s of %s%s%s\n", text, is->slots,
		      is->slots == 1 ? "" : "s", weir_text_time(is->slot_ns, slot),
		      is->slots == 1 ? "" : ", oldest first",
		      source->budget_count == 1 ? "" : ", of the first budget");
}

static void show_newcomer(struct weir_out *out, const struct weir_source *source)
{
	char buf[WEIR_TEXT_SIZE];

	if (out->json) {
		show(out, WEIR_A_SOURCE_UNKNOWN, source);
		if (source->newcomers_next_ns)
			show(out, WEIR_A_SOURCE_NEWCOMERS_NEXT_NS, source);
	} else if (source->newcomers_next_ns) {
		weir_out_word(out, WEIR_COLOR_BAD, "not known yet: the newcomers' budget is used up, next in %s",
			      weir_text_time(source->newcomers_next_ns, buf));
	} else if (source->unknown) {
		weir_out_word(out, WEIR_COLOR_NONE, "not known yet");
	}
}

/* When a charge is due, or would be granted. */
static void show_wait(struct weir_out *out, const struct weir_source *source)
{
	char buf[WEIR_TEXT_SIZE];

	if (out->json && source->has & WEIR_HAS(SOURCE_WAIT_NS))
		show(out, WEIR_A_SOURCE_WAIT_NS, source);
	else if (source->wait_ns)
		weir_out_word(out, WEIR_COLOR_NONE, "%s in %s", source->taken ? "due" : "granted",
			      weir_text_time(source->wait_ns, buf));
}

/* The counts for several budgets, a line each; briefly, they have been beside the source's name. */
static void show_budgets(struct weir_out *out, const struct weir_source *source)
{
	unsigned int i;

	for (i = 0; source->budget_count > 1 && i < source->budget_count; i++) {
		weir_out_text(out, "    budget %u:", i + 1);
		weir_set_show(&weir_source_budget_fields, WEIR_WORDS, out, &source->budgets[i]);
		weir_out_text(out, "\n");
	}
}

/* What was charged, and the counts, if they have no lines of their own; @line: they have not. */
static void show_counts(struct weir_out *out, const struct weir_source *source, bool line)
{
	unsigned int i;

	if (source->has & WEIR_HAS(SOURCE_TAKEN))
		show(out, WEIR_A_SOURCE_TAKEN, source);
	line |= out->brief || source->budget_count == 1;
	for (i = 0; !out->json && line && i < source->budget_count; i++)
		weir_set_show(&weir_source_budget_fields, WEIR_RESULT, out, &source->budgets[i]);
}

static void show_blocked(struct weir_out *out, const struct weir_source *source)
{
	show(out, WEIR_A_SOURCE_BLOCKED, source);
	if (source->blocked_ns)
		show(out, WEIR_A_SOURCE_BLOCKED_NS, source);
	else if (source->blocked)
		weir_out_word(out, WEIR_COLOR_NONE, "for ever");
}

/* A charge's answer ends after the WEIR_RESULT fields; a query's has more. */
static void show_standing(struct weir_out *out, const struct weir_source *source)
{
	bool observe = source->action == WEIR_ACTION_OBSERVE;
	char buf[WEIR_TEXT_SIZE];
	struct weir_source free;

	show_counts(out, source, false);
	/* in text, a block says more than that the source is limited */
	if (source->blocked && !out->json) {
		free = *source;
		free.limited = false;
		free.has &= ~WEIR_HAS(SOURCE_NEXT_NS);
		weir_set_show(&weir_source_fields, WEIR_RESULT, out, &free);
	} else {
		weir_set_show(&weir_source_fields, WEIR_RESULT, out, source);
	}
	show_blocked(out, source);
	if (source->has & WEIR_HAS(SOURCE_TAKEN)) {
		show_wait(out, source);
		return;
	}
	if (out->json || !observe)
		show(out, WEIR_A_SOURCE_DROPPED, source);
	if (out->json || observe || source->would_drop)
		show(out, WEIR_A_SOURCE_WOULD_DROP, source);
	if (source->budget_count)
		show(out, WEIR_A_SOURCE_IDLE, source);
	if (out->json || source->budgets[0].count)
		show(out, WEIR_A_SOURCE_FLOOR, source);
	show_newcomer(out, source);
	show(out, WEIR_A_SOURCE_ACTION, source);
	if (source->asked.len)
		weir_out_bool(out, "never_fits", weir_source_never_fits(source));
	if (out->json && source->undecided)
		show(out, WEIR_A_SOURCE_UNDECIDED, source);
	if (out->json && source->unmatched)
		show(out, WEIR_A_SOURCE_UNMATCHED, source);
	if (out->json && source->asked.by.family)
		weir_out_str(out, "budget_by", weir_text_prefix(NULL, &source->asked.by, buf));
}

/* In JSON, a source whose prefix is blocked is blocked, for as long as the later end says. */
static void show_prefix_block(struct weir_out *out, const struct weir_source *source)
{
	uint64_t ns = source->exempt.for_ms * 1000000;
	struct weir_source is = *source;

	if (!ns || (source->blocked && !source->blocked_ns))
		is.blocked_ns = 0;
	else if (ns > source->blocked_ns)
		is.blocked_ns = ns;
	is.blocked = true;
	show_blocked(out, &is);
}

void weir_show_source(struct weir_out *out, const void *model)
{
	const struct weir_source *source = model;
	/* A limit that observes blocks nobody. */
	bool by_prefix = source->has & WEIR_HAS(SOURCE_EXEMPT) && source->exempt.block &&
			 source->action != WEIR_ACTION_OBSERVE, standing = false;

	weir_out_begin(out, NULL, '{');
	weir_set_show(&weir_source_fields, WEIR_WORDS, out, source);
	if (source->has & WEIR_HAS(SOURCE_FORGOTTEN)) {
		show(out, WEIR_A_SOURCE_FORGOTTEN, source);
		/* Of all, who was idle and not known is not counted. */
		if (!source->forgotten && source->prefix.family)
			weir_out_word(out, WEIR_COLOR_NONE, "(nothing to forget)");
	} else if (by_prefix || (source->has & WEIR_HAS(SOURCE_EXEMPT) && !source->exempt.block)) {
		weir_out_word(out, source->exempt.block ? WEIR_COLOR_BAD : WEIR_COLOR_NONE,
			      source->exempt.block ? "blocked by" : "exempt by");
		/* Its row is followed by that of blocks. */
		weir_field_show(&weir_source_fields,
				weir_field_find(&weir_source_fields, 0, WEIR_A_SOURCE_EXEMPT) +
				source->exempt.block, out, source);
		if (by_prefix && out->json)
			show_prefix_block(out, source);
		else if (source->blocked)
			show_blocked(out, source);
	} else if (!source->budget_count && !(source->has & WEIR_HAS(SOURCE_ACTION))) {
		show_blocked(out, source);
		if (!source->blocked)
			weir_out_word(out, WEIR_COLOR_NONE, "released");
	} else {
		show_standing(out, source);
		standing = true;
	}
	weir_out_text(out, "\n");
	if (standing && !out->json && !out->brief) {
		show_budgets(out, source);
		if (source->budgets[0].slots)
			show_slots(out, source);
		weir_show_reasons(out, source);
	}
	weir_out_end(out, '}');
}

/* Up to whole seconds: more would flicker. */
static const char *until_text(uint64_t ns, char *buf)
{
	return weir_text_time(ns > WEIR_NS_PER_S ? roundup(ns, WEIR_NS_PER_S) : ns, buf);
}

const char *weir_row_state(const struct weir_source *source, char text[WEIR_TEXT_SIZE])
{
	bool observed = source->action == WEIR_ACTION_OBSERVE;
	bool exempt = source->has & WEIR_HAS(SOURCE_EXEMPT) && !source->exempt.block;
	char buf[WEIR_TEXT_SIZE];

	*text = '\0';
	if (exempt && !source->blocked)
		strcpy(text, "exempt");
	else if (source->blocked && !source->blocked_ns)
		strcpy(text, exempt ? "exempt, blocked" : observed ? "observed" : "blocked");
	else if (source->blocked)
		snprintf(text, WEIR_TEXT_SIZE, "%s%s %.700s", exempt ? "exempt, " : "",
			 observed ? "over" : "block", until_text(source->blocked_ns, buf));
	else if (source->limited && !source->next_ns)
		strcpy(text, observed ? "observed" : "limited");
	else if (source->limited)
		snprintf(text, WEIR_TEXT_SIZE, "%s %.700s", observed ? "over" : "limit",
			 until_text(source->next_ns, buf));
	else if (source->idle)
		strcpy(text, "idle");
	else if (source->unknown)
		strcpy(text, "not known");
	return text;
}

/* The budget that limits a source, or else that of which it has used the largest part. */
static unsigned int fullest(const struct weir_source *source)
{
	const struct weir_source_budget *is = source->budgets;
	unsigned int i, most = 0;

	if (source->limited_by && source->limited_by <= source->budget_count)
		return source->limited_by - 1;
	for (i = 1; i < source->budget_count; i++)
		if ((double)is[i].count * is[most].budget > (double)is[most].count * is[i].budget)
			most = i;
	return most;
}

const char *weir_row_count(const struct weir_source *source, char text[WEIR_TEXT_SIZE])
{
	const struct weir_source_budget *is = &source->budgets[fullest(source)];
	char buf[WEIR_TEXT_SIZE];

	*text = '\0';
	if (source->budget_count > 1)
		sprintf(text, "%u:", fullest(source) + 1);
	if (source->budget_count) {
		strcat(strcat(text, weir_text_amount(is->count, 3, buf)), "/");
		strcat(text, weir_text_amount(is->budget, 3, buf));
	}
	return text;
}

void weir_show_row(struct weir_out *out, const struct weir_source *source, bool head)
{
	bool bad = (source->blocked || source->limited) && source->action != WEIR_ACTION_OBSERVE;
	char who[WEIR_TEXT_SIZE], text[WEIR_TEXT_SIZE] = "", buf[WEIR_TEXT_SIZE];

	if (head)
		weir_out_text(out, ROW, "SOURCE                  LIMIT", "COUNT", "DROPPED",
			      "  STATE\n");
	weir_text_prefix(NULL, &source->prefix, buf);
	snprintf(text, sizeof(text), "%.400s%s%.60s", source->prefix.family ? buf : "all",
		 *source->dev ? " dev " : "", source->dev);
	snprintf(who, sizeof(who), "%-23.700s %s", text, source->limit);
	weir_out_text(out, ROW, who, weir_row_count(source, text),
		      weir_text_amount(source->dropped + source->would_drop, 3, buf), "");
	if (*weir_row_state(source, text)) {
		weir_out_text(out, "  ");
		weir_out_put(out, bad ? WEIR_COLOR_BAD : WEIR_COLOR_NONE, text);
	}
	weir_out_text(out, "\n");
}

void weir_show_stats(struct weir_out *out, const void *model)
{
	weir_out_begin(out, NULL, '{');
	weir_set_show(&weir_stats_fields, WEIR_LINE, out, model);
	weir_set_show(&weir_stats_fields, WEIR_RESULT, out, model);
	weir_out_text(out, "\n");
	weir_out_end(out, '}');
}

/* As in RFC 3339, with a colon in the offset; 2^64 ns ahead are still a year of four digits. */
static void time_text(uint64_t ahead_ns, int digits, char buf[WEIR_TEXT_SIZE])
{
	struct timespec now;
	char offset[8];
	struct tm tm;
	uint64_t ns;
	size_t len;
	time_t s;

	clock_gettime(CLOCK_REALTIME, &now);
	ns = now.tv_nsec + ahead_ns % 1000000000;
	s = now.tv_sec + ahead_ns / 1000000000 + ns / 1000000000;
	localtime_r(&s, &tm);
	len = strftime(buf, WEIR_TEXT_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
	len += snprintf(buf + len, WEIR_TEXT_SIZE - len, ".%0*" PRIu64, digits,
			ns % 1000000000 / (digits == 3 ? 1000000 : 1000));
	strftime(offset, sizeof(offset), "%z", &tm);
	snprintf(buf + len, WEIR_TEXT_SIZE - len, "%.3s:%s", offset, offset + 3);
}

void weir_show_timestamp(struct weir_out *out)
{
	char buf[WEIR_TEXT_SIZE];

	time_text(0, 6, buf);
	weir_out_str(out, "timestamp", buf);
	weir_out_word(out, WEIR_COLOR_NONE, "[%s]", buf);
}

static void begin_event(struct weir_out *out, const char *event, const char *change)
{
	weir_out_str(out, "event", event);
	if (change)
		weir_out_str(out, "change", change);
	weir_out_word(out, WEIR_COLOR_NONE, "%s%s%s", event, change ? " " : "",
		      change ? change : "");
}

static const char *change_name(uint32_t event)
{
	return event <= WEIR_LIMIT_EVENT_JOINED ? weir_limit_event_names[event] : "unknown";
}

static void show_limit_event(struct weir_out *out, const struct weir_limit *limit)
{
	begin_event(out, "limit", limit->has & WEIR_HAS(LIMIT_EVENT) ?
		    change_name(limit->event) : "present");
	weir_out_str(out, "limit", limit->name);
	weir_out_word(out, WEIR_COLOR_NAME, "%s", limit->name);
	weir_set_show(&weir_limit_fields, WEIR_EVENT, out, limit);
}

/* @is: the limit's budget that limits the source; NULL: unknown. A bucket's level is no rate. */
static void show_limited(struct weir_out *out, const struct weir_source *source,
			 const struct weir_budget *is)
{
	bool observe = source->action == WEIR_ACTION_OBSERVE;
	unsigned int number = source->limited_by ? source->limited_by - 1 : 0;
	const struct weir_source_budget *by = &source->budgets[number % WEIR_BUDGETS_MAX];
	bool bucket = is && is->mode == WEIR_MODE_BUCKET;
	uint32_t window_ms = is ? is->amount.window_ms : 0;
	struct weir_amount whole = { bucket ? is->amount.count : by->budget, window_ms };
	const struct weir_set *set = &weir_source_fields;
	char buf[WEIR_TEXT_SIZE], until[WEIR_TEXT_SIZE];
	uint64_t ns = source->blocked_ns ? source->blocked_ns : source->next_ns;
	bool ends = source->has & WEIR_HAS(SOURCE_NEXT_NS) || !source->limited ||
		    source->blocked_ns;

	if (ends)
		time_text(ns, 3, until);	/* it is no more precise */
	else
		strcpy(until, "forgotten");
	if (out->json) {
		weir_out_str(out, "event", "source");
		weir_set_show(set, WEIR_EVENT, out, source);
	}
	if (out->json && ends)
		weir_out_str(out, "until", until);
	if (out->json && window_ms)
		weir_out_u64(out, "window_ms", window_ms);
	if (out->json && window_ms && !bucket)
		weir_out_number(out, "rate", by->count * 1000.0 / window_ms);
	if (out->json)
		return;
	weir_out_word(out, WEIR_COLOR_BAD, source->blocked ? "blocked" :
		      observe ? "would-limit" : "limited");
	weir_set_show(set, WEIR_WORDS, out, source);
	if (window_ms)
		weir_out_word(out, WEIR_COLOR_NONE, "budget %s",
			      weir_text_budget(NULL, &whole, buf));
	show_count(out, WEIR_A_SOURCE_BUDGET_UNIT, by);
	if (bucket)
		weir_out_word(out, WEIR_COLOR_NONE, "burst %s",
			      weir_text_amount(by->budget, 3, buf));
	else if (window_ms)
		weir_out_word(out, WEIR_COLOR_NONE, "rate %s",
			      weir_text_rate(by->count, window_ms, buf));
	show_count(out, WEIR_A_SOURCE_BUDGET_COUNT, by);
	weir_out_word(out, WEIR_COLOR_NONE, "until %s", until);
}

static void show_source_event(struct weir_out *out, const struct weir_source *source)
{
	bool charged = source->event == WEIR_SOURCE_EVENT_CHARGED;

	begin_event(out, charged ? "charge" :
		    source->event == WEIR_SOURCE_EVENT_BLOCKED ? "block" :
		    source->event == WEIR_SOURCE_EVENT_RELEASED ? "release" : "forget", NULL);
	weir_set_show(&weir_source_fields, WEIR_WORDS, out, source);
	if (charged) {
		show_counts(out, source, true);
		weir_set_show(&weir_source_fields, WEIR_RESULT, out, source);
		show_wait(out, source);
	}
	if (source->event == WEIR_SOURCE_EVENT_BLOCKED)
		show_blocked(out, source);
	if (source->event == WEIR_SOURCE_EVENT_FORGOTTEN)
		show(out, WEIR_A_SOURCE_FORGOTTEN, source);
}

bool weir_event_limits(const struct weir_source *source)
{
	return source->event == WEIR_SOURCE_EVENT_LIMITED ||
	       (source->event == WEIR_SOURCE_EVENT_BLOCKED && source->budget_count);
}

void weir_show_event(struct weir_out *out, uint8_t cmd, const union weir_model *model,
		     const struct weir_budget *budget)
{
	if (cmd == WEIR_CMD_LIMIT_NTF) {
		show_limit_event(out, &model->limit);
	} else if (cmd == WEIR_CMD_EXEMPT_NTF) {
		begin_event(out, model->exempt.block ? "block-prefix" : "exempt",
			    change_name(model->exempt.event));
		weir_set_show(&weir_exempt_fields, WEIR_EVENT, out, model);
	} else if (cmd == WEIR_CMD_PRESSURE_NTF) {
		begin_event(out, "pressure", NULL);
		weir_set_show(&weir_pressure_fields, WEIR_EVENT, out, model);
	} else if (cmd == WEIR_CMD_NEWCOMERS_NTF) {
		begin_event(out, "newcomers", NULL);
		weir_set_show(&weir_newcomers_fields, WEIR_EVENT, out, model);
	} else if (weir_event_limits(&model->source)) {
		show_limited(out, &model->source, budget);
	} else {
		show_source_event(out, &model->source);
	}
}
