// SPDX-License-Identifier: GPL-2.0-or-later
/* Limits as text and JSON. */

#include <inttypes.h>
#include <sys/param.h>

#include "lang/value.h"
#include "show/show.h"

#define HOUR_MS	3600000u
/* Packets of a larger flood are nobody's concern. */
#define FLOOD_MAX	1000000000000ull

/*
 * For how long idle sources keep their entries at the present rate of newcomers, of whom
 * each has a way for a window and a slot; and a size for all that the budgets admit.
 */
static void show_memory(struct weir_out *out, const struct weir_limit *limit)
{
	const struct weir_limit_stats *stats = &limit->stats;
	double span_ns = (double)limit->budgets[0].window_ns + limit->budgets[0].slot_ns, idle_ns;
	double part = span_ns / 1e6 / limit->newcomers.window_ms;
	double known = stats->known_now, spare = limit->entries - known;
	double now = stats->newcomers_now * part, most = 2.0 * limit->newcomers.count * part;
	char advice[WEIR_TEXT_SIZE] = "", buf[WEIR_TEXT_SIZE];
	uint64_t sources = stats->sources_wanted;

	while (sources < known + most && sources < WEIR_SOURCES_MAX)
		sources = sources ? 2 * sources : WEIR_SOURCES_MIN;
	if (stats->sources_wanted || (most > spare && sources > limit->sources))
		snprintf(advice, sizeof(advice), "; newcomers may take more: try sources %" PRIu64,
			 sources);
	idle_ns = known / (now - spare) * span_ns;
	if (now <= spare)
		weir_out_word(out, *advice ? WEIR_COLOR_BAD : WEIR_COLOR_NONE,
			      "    known sources are remembered while idle%s", advice);
	else
		weir_out_word(out, WEIR_COLOR_BAD,
			      "    known sources are remembered for %s while idle%s",
			      weir_text_time(MIN(idle_ns, 1e18), buf), advice);
	weir_out_text(out, "\n");
}

/*
 * How many packets, each from another address, leave newcomers no room under a budget, and
 * for how long, if that is a nuisance.
 */
static void show_flood(struct weir_out *out, const struct weir_limit *limit,
		       const struct weir_budget *is)
{
	const struct weir_amount *budget = &is->amount;
	char count[WEIR_TEXT_SIZE], time[WEIR_TEXT_SIZE], by[WEIR_TEXT_SIZE];
	uint64_t packets = limit->entries;

	if (is->unit || limit->newcomers.count ||
	    (budget->window_ms && budget->window_ms < HOUR_MS))
		return;
	if (budget->window_ms && __builtin_mul_overflow(packets, budget->count, &packets))
		return;
	if (packets > FLOOD_MAX)
		return;
	weir_text_amount(packets, 2, count);
	weir_text_time(is->window_ns + is->slot_ns, time);
	weir_text_budget(NULL, budget, by);
	weir_out_text(out, "    %s packets from spoofed addresses would fill the table: new sources refused %s%s%s%s\n",
		      count, budget->window_ms ? "for " : "until they are forgotten",
		      budget->window_ms ? time : "", limit->budget_count > 1 ? " by budget " : "",
		      limit->budget_count > 1 ? by : "");
}

/* What the kernel made of the budgets: of several, a line each. */
static void show_budgets(struct weir_out *out, struct weir_limit *limit)
{
	struct weir_budget *is = limit->budgets;
	char budget[WEIR_TEXT_SIZE];

	for (; is < limit->budgets + limit->budget_count; is++) {
		/* the effective window and the most in one only if they differ */
		if (is->window_ns == is->amount.window_ms * 1000000ULL)
			is->has &= ~WEIR_HAS(BUDGET_WINDOW_NS);
		if (is->most == is->amount.count)
			is->has &= ~WEIR_HAS(BUDGET_MOST);
		if (limit->budget_count > 1)
			weir_out_text(out, "    %s:", weir_text_budget(NULL, &is->amount, budget));
		weir_set_show(&weir_budget_fields, WEIR_RESULT, out, is);
		if (limit->budget_count == 1)
			return;
		if (is->refused.packets)
			weir_out_word(out, WEIR_COLOR_NONE, "refused %" PRIu64 " packets %" PRIu64 " bytes",
				      is->refused.packets, is->refused.bytes);
		weir_out_text(out, "\n");
	}
}

void weir_show_limit(struct weir_out *out, const void *model)
{
	struct weir_limit limit = *(const struct weir_limit *)model;
	const struct weir_limit_stats *stats = &limit.stats;
	unsigned int i;

	weir_out_begin(out, NULL, '{');
	out->results = true;
	weir_set_show(&weir_limit_fields, WEIR_WORDS, out, &limit);
	out->results = false;
	weir_out_text(out, "\n");
	if (!out->json && !out->brief) {
		if (limit.budget_count <= 1)
			weir_out_text(out, "    ");
		show_budgets(out, &limit);
		if (limit.budget_count > 1)
			weir_out_text(out, "    ");
	}
	if (out->json || !out->brief)
		weir_set_show(&weir_limit_fields, WEIR_RESULT, out, &limit);
	if (!out->brief)
		weir_out_text(out, "\n");
	if (!out->json && limit.has & WEIR_HAS(LIMIT_STATS))
		weir_set_show(&weir_limit_stats_fields, WEIR_WORDS, out, stats);
	if (!out->json && stats->has & WEIR_HAS(LIMIT_STATS_KNOWN_NOW) &&
	    limit.newcomers.window_ms)
		show_memory(out, &limit);
	for (i = 0; !out->json && limit.has & WEIR_HAS(LIMIT_STATS) && i < limit.budget_count; i++)
		show_flood(out, &limit, &limit.budgets[i]);
	if (stats->sources_wanted && !limit.newcomers.count)
		weir_out_word(out, WEIR_COLOR_BAD, limit.budgets[0].amount.window_ms ?
			      "    pressure: try sources %" PRIu64 :
			      "    full, refuses newcomers: forget some, or try sources %" PRIu64,
			      stats->sources_wanted);
	if (stats->sources_wanted && !limit.newcomers.count)
		weir_out_text(out, "\n");
	if (stats->blocks_lost) {
		weir_out_word(out, WEIR_COLOR_BAD, limit.blocks_only ?
			      "    no room was left for a block: try blocks %u" :
			      "    half of the places of a set are blocked, no room for more: try sources %u",
			      limit.blocks_only ? MIN(2 * limit.blocks_only, WEIR_BLOCKS_MAX) :
			      MIN(2 * limit.sources, WEIR_SOURCES_MAX));
		weir_out_text(out, "\n");
	}
	weir_out_end(out, '}');
}
