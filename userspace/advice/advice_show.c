// SPDX-License-Identifier: GPL-2.0-or-later
/* Advice on a limit as text and JSON. */

#include <inttypes.h>
#include <sys/param.h>

#include "advice/advise.h"

#define ROWS	12	/* of budgets that would refuse something */
#define HOUR_NS	3600000000000ull

static double percent(uint64_t part, uint64_t of)
{
	return of ? 100.0 * part / of : 0;
}

static void show_head(struct weir_out *out, const struct weir_advice *is)
{
	char bytes[WEIR_TEXT_SIZE], time[WEIR_TEXT_SIZE];

	weir_out_text(out, "%s: %" PRIu64 " packet%s (%s) of %" PRIu64 " source%s in %s",
		      is->limit, is->packets, is->packets == 1 ? "" : "s",
		      weir_text_size(is->bytes, bytes), is->sources, is->sources == 1 ? "" : "s",
		      weir_text_time(is->for_ns, time));
	if (is->unmatched)
		weir_out_text(out, "; %" PRIu64 " more do not match", is->unmatched);
	if (is->unread)
		weir_out_text(out, "; %" PRIu64 " more are not of IP", is->unread);
	weir_out_text(out, "\n");
}

static void show_loss(struct weir_out *out, const struct weir_advice *is,
		      const struct weir_loss *loss)
{
	char words[WEIR_TEXT_SIZE], all[WEIR_TEXT_SIZE] = "";
	const struct weir_budget *budget = loss->budgets;

	for (; budget < loss->budgets + loss->budget_count; budget++) {
		weir_append(all, sizeof(all), ", ", weir_text_budget(NULL, &budget->amount, words));
		if (budget->unit == WEIR_UNIT_BYTES)
			weir_append(all, sizeof(all), " ", "bytes");
		if (budget->mode)
			weir_append(all, sizeof(all), " ", weir_mode_names[budget->mode]);
	}
	weir_out_text(out, "    %-20s %9" PRIu64 " %5.1f%% %14" PRIu64 " %5.1f%%", all,
		      loss->sources, percent(loss->sources, is->sources), loss->packets,
		      percent(loss->packets, is->packets));
	if (is->for_ns > HOUR_NS)
		weir_out_text(out, " %9" PRIu64 " %14" PRIu64, loss->hour_sources,
			      loss->hour_packets);
	weir_out_text(out, "\n");
}

/* Of budgets that refuse something 1, 2 and 5 and their multiples; and what is proposed. */
static bool shows(const struct weir_advice *is, const struct weir_loss *loss)
{
	uint64_t count = loss->budgets[0].amount.count, first;

	for (first = count; first >= 10; first /= 10)
		;
	return !loss->packets || count == is->proposal.budgets[0].amount.count ||
	       first == 1 || first == 2 || first == 5;
}

static void show_losses(struct weir_out *out, const struct weir_advice *is)
{
	const struct weir_loss *at, *end = is->losses + is->loss_count, *first = end;
	unsigned int rows = 0;

	while (first > is->losses && rows < ROWS)
		rows += shows(is, --first);
	weir_out_text(out, "what would be dropped, by budget%s\n",
		      is->for_ns > HOUR_NS ? ", and of that in the last hour" : "");
	weir_out_text(out, "    %-20s %9s %6s %14s %6s", "budget", "sources", "", "packets", "");
	if (is->for_ns > HOUR_NS)
		weir_out_text(out, " %9s %14s", "sources", "packets");
	weir_out_text(out, "\n");
	for (at = is->losses; at < end; at++)
		if (shows(is, at) && (at >= first || at->budgets[0].amount.count ==
				      is->proposal.budgets[0].amount.count))
			show_loss(out, is, at);
	if (!(is->has & WEIR_ADVICE_JUDGED))
		return;
	weir_out_text(out, "by what is given%s\n",
		      is->judged.budget_count > 1 ? ", together" : "");
	show_loss(out, is, &is->judged);
}

static void show_heavy(struct weir_out *out, const struct weir_advice *is)
{
	const struct weir_budget *budget = &is->losses[0].budgets[0];
	const struct weir_heavy *at = is->heavy, *end = at + is->heavy_count;
	char prefix[WEIR_TEXT_SIZE], time[WEIR_TEXT_SIZE], peak[WEIR_TEXT_SIZE];
	uint64_t window_ns = budget->amount.window_ms * 1000000ull;

	weir_text_time(MIN(window_ns, is->for_ns), time);
	weir_out_text(out, "the largest sources, and what %s drops\n",
		      is->has & WEIR_ADVICE_JUDGED ? "that which is given" :
						     "the first budget of the proposal");
	for (; at < end; at++) {
		weir_out_put(out, WEIR_COLOR_NONE, "   ");
		weir_out_put(out, WEIR_COLOR_ADDRESS, weir_text_prefix(NULL, &at->prefix, prefix));
		weir_out_text(out, " sent %" PRIu64 " packets, at most %s%s in %s, dropped %"
			      PRIu64 "\n", at->packets, weir_text_amount(at->peak, 20, peak),
			      budget->unit == WEIR_UNIT_BYTES ? " bytes" : "", time, at->lost);
	}
}

/* The command that adds the limit, or sets what is proposed of one that there is. */
static void show_words(struct weir_out *out, const struct weir_advice *is)
{
	struct weir_limit limit = is->proposal;

	if (is->has & WEIR_ADVICE_WATCHED) {
		limit.has &= WEIR_HAS(LIMIT_BUDGET) | WEIR_HAS(LIMIT_SOURCES) |
			     WEIR_HAS(LIMIT_NEWCOMERS);
		limit.match = (struct weir_match){ 0 };
		limit.penalty_ms = 0;
		*limit.comment = '\0';
	}
	weir_out_text(out, is->has & WEIR_ADVICE_WATCHED ? "weir limit set " : "weir limit add ");
	weir_set_show(&weir_limit_fields, WEIR_WORDS, out, &limit);
	weir_out_text(out, is->has & WEIR_ADVICE_WATCHED ? " only\n" : "\n");
}

static void show_proposal(struct weir_out *out, const struct weir_advice *is)
{
	unsigned int i;

	weir_out_text(out, "proposal\n    ");
	show_words(out, is);
	for (i = 0; i < is->why_count; i++)
		weir_out_text(out, "    %s: %s\n", is->whys[i].word, is->whys[i].why);
	if (is->unknown_count)
		weir_out_text(out, "not known\n");
	for (i = 0; i < is->unknown_count; i++)
		weir_out_text(out, "    %s: %s\n", is->unknown[i].word, is->unknown[i].why);
}

void weir_show_advice(struct weir_out *out, const void *model)
{
	const struct weir_advice *is = model;

	weir_out_begin(out, NULL, '{');
	if (out->json) {
		weir_set_show(&weir_advice_fields, WEIR_WORDS, out, is);
	} else {
		show_head(out, is);
		show_losses(out, is);
		show_heavy(out, is);
		show_proposal(out, is);
	}
	weir_out_end(out, '}');
}
