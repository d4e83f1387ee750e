// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Advice from what sources sent. A budget is to refuse sources that stand out, and nobody else: so
 * it is put above what others sent, and below those, if there are any. By how much a source may
 * exceed what it sent while it was watched is not known; twice as much is assumed.
 */

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "advice/advice.h"
#include "lang/config.h"
#include "lang/value.h"

/* Who sends so many times as much as the next one stands out, if that is no small number. */
#define GAP		4
#define GAP_FROM	10
#define SPARE		2	/* times what was seen */
#define WHOLE		0.9	/* so much of a window is taken for one */
/* A longer budget is proposed if it is less than this part of what a shorter one admits. */
#define LONGER_PART	4
#define SOURCES_LEAST	1024
/* A peak of newcomers above so many times their mean is taken for a flood. */
#define FLOOD_TIMES	10
#define NEWCOMERS_LEAST	10
#define SECOND_MS	1000
#define MS		1000000ull	/* in ns */

struct advising {
	const struct weir_demand *demand;
	const struct weir_limit *limit;
	struct weir_advice *advice;
	struct weir_demand_facts facts;
	uint64_t tick_ns;
	const struct weir_sender **by_peak;	/* all, the largest first */
	unsigned int outliers;			/* of these, from the first on */
	uint64_t normal;			/* the largest peak of the others */
	unsigned int rung;			/* that is proposed */
};

static void add_why(struct weir_why *list, unsigned int *count, const char *word, const char *fmt,
		    va_list ap)
{
	struct weir_why *why;

	if (*count == WEIR_ADVICE_WHYS)
		return;
	why = &list[(*count)++];
	snprintf(why->word, sizeof(why->word), "%s", word);
	vsnprintf(why->why, sizeof(why->why), fmt, ap);
}

static void __attribute__((format(printf, 3, 4)))
say(struct advising *to, const char *word, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_why(to->advice->whys, &to->advice->why_count, word, fmt, ap);
	va_end(ap);
}

void weir_advice_unknown(struct weir_advice *advice, const char *word, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_why(advice->unknown, &advice->unknown_count, word, fmt, ap);
	va_end(ap);
}

static int by_peak(const void *a, const void *b)
{
	const struct weir_sender *left = *(const struct weir_sender *const *)a;
	const struct weir_sender *right = *(const struct weir_sender *const *)b;

	if (left->peak[0] != right->peak[0])
		return left->peak[0] < right->peak[0] ? 1 : -1;
	if (left->packets != right->packets)
		return left->packets < right->packets ? 1 : -1;
	return memcmp(&left->prefix, &right->prefix, sizeof(left->prefix));
}

static bool sort_senders(struct advising *to)
{
	const struct weir_sender *sender;
	unsigned int i, count = 0;

	to->by_peak = calloc(MAX(to->facts.sources, 1), sizeof(*to->by_peak));
	if (!to->by_peak)
		return false;
	for (i = 0; (sender = weir_demand_sender(to->demand, i)); i++)
		if (sender->packets)
			to->by_peak[count++] = sender;
	qsort(to->by_peak, to->facts.sources, sizeof(*to->by_peak), by_peak);
	return true;
}

/* A budget of the limit's first kind. */
static struct weir_budget budget_of(const struct advising *to, uint64_t count, uint32_t window_ms)
{
	const struct weir_budget *first = &to->limit->budgets[0];
	bool kept = window_ms == to->facts.window_ms[0] && first->mode != WEIR_MODE_BUCKET &&
		    first->mode != WEIR_MODE_EXACT && first->mode != WEIR_MODE_CALENDAR;

	return (struct weir_budget){
		.has = WEIR_HAS(BUDGET_BUDGET) | WEIR_HAS(BUDGET_UNIT) | WEIR_HAS(BUDGET_MODE) |
		       (kept ? first->has & WEIR_HAS(BUDGET_SLOTS) : 0),
		.amount = { count, window_ms }, .unit = first->unit,
		.slots = kept ? first->slots : 0, .mode = kept ? first->mode : WEIR_MODE_STRICT,
	};
}

static void put_losses(struct advising *to)
{
	struct weir_advice *advice = to->advice;
	struct weir_loss *loss;
	unsigned int i, rungs = weir_demand_rungs(to->demand);

	for (i = 0; i < rungs && advice->loss_count < WEIR_ADVICE_BUDGETS; i++) {
		loss = &advice->losses[advice->loss_count++];
		weir_demand_lost(to->demand, i, loss);
		loss->budgets[0] = budget_of(to, weir_demand_rung(to->demand, i),
					     to->facts.window_ms[0]);
		loss->budget_count = 1;
		if (!loss->packets)
			break;
	}
	if (!to->limit->budget_count)
		return;
	advice->has |= WEIR_ADVICE_JUDGED;
	weir_demand_judged(to->demand, &advice->judged);
	memcpy(advice->judged.budgets, to->limit->budgets, sizeof(advice->judged.budgets));
	advice->judged.budget_count = to->limit->budget_count;
	for (i = 0; i < to->limit->budget_count; i++)
		advice->judged.budgets[i].has |= WEIR_HAS(BUDGET_UNIT) | WEIR_HAS(BUDGET_MODE);
}

/* Round up as the budgets that are looked at are. */
static uint64_t round_up(uint64_t least)
{
	static const unsigned int steps[] = { 1, 2, 3, 5, 7 };
	uint64_t unit = 1;
	unsigned int i = 0;

	while (steps[i] * unit < least && unit < UINT64_MAX / 100) {
		i = (i + 1) % (sizeof(steps) / sizeof(steps[0]));
		unit *= i ? 1 : 10;
	}
	return steps[i] * unit;
}

static unsigned int rung_from(const struct advising *to, uint64_t least)
{
	unsigned int i = 0;

	while (i + 1 < weir_demand_rungs(to->demand) && weir_demand_rung(to->demand, i) < least)
		i++;
	return i;
}

/* Was a source there for longer than newcomers are? */
static bool stayed(const struct advising *to, const struct weir_sender *sender)
{
	return (sender->last - sender->first) * to->tick_ns > to->facts.known_ms * MS;
}

/*
 * Find those that stand out: all before the largest gap, so that nobody else comes near them. No
 * more than half of the sources that stayed are before it, or if these are few, of all that sent
 * more than a packet, and no more than that if none of them is: addresses that send once tell
 * nothing of others. Returns how many are compared.
 */
static unsigned int find_outliers(struct advising *to)
{
	const struct weir_sender **at = to->by_peak;
	unsigned int i, count = 0, many = 0, seen = 0;
	uint64_t gap = GAP, least = GAP_FROM * weir_demand_rung(to->demand, 0), low;
	bool only_stayed;

	for (i = 0; i < to->facts.sources; i++) {
		count += stayed(to, at[i]);
		many += at[i]->packets > 1;
	}
	only_stayed = count > 1;
	count = only_stayed ? count : many;
	for (i = 1; i < to->facts.sources && at[i - 1]->peak[0] >= least; i++) {
		seen += only_stayed ? stayed(to, at[i - 1]) : at[i - 1]->packets > 1;
		low = MAX(at[i]->peak[0], 1);
		if ((seen ?: i) > count / 2 || at[i - 1]->peak[0] < gap * low)
			continue;
		gap = at[i - 1]->peak[0] / low + 1;
		to->outliers = i;
	}
	to->normal = to->facts.sources ? at[to->outliers]->peak[0] : 0;
	return count;
}

static const char *unit_of(const struct advising *to)
{
	return to->limit->budgets[0].unit == WEIR_UNIT_BYTES ? "bytes" : "packets";
}

static void add_budget(struct advising *to, uint64_t count, uint32_t window_ms)
{
	struct weir_limit *proposal = &to->advice->proposal;

	proposal->budgets[proposal->budget_count++] = budget_of(to, count, window_ms);
	proposal->has |= WEIR_HAS(LIMIT_BUDGET);
}

/* The largest budget that there is. */
static uint64_t most_of(const struct advising *to)
{
	return to->limit->budgets[0].unit == WEIR_UNIT_BYTES ? WEIR_BYTES_MAX : WEIR_PACKETS_MAX;
}

/* A moment tells nothing of a window. */
static uint64_t seen_ns(const struct advising *to)
{
	return MAX(to->advice->for_ns, SECOND_MS * MS);
}

/* How many times as much as was seen a window may have, if none was seen whole; or 1. */
static double unseen_times(const struct advising *to)
{
	double seen = seen_ns(to), window = to->facts.window_ms[0] * (double)MS;

	return seen >= WHOLE * window ? 1 : window / seen;
}

static void propose_budget(struct advising *to, unsigned int count)
{
	char window[WEIR_TEXT_SIZE], is[WEIR_TEXT_SIZE], least[WEIR_TEXT_SIZE];
	uint64_t outlier = to->outliers ? to->by_peak[to->outliers - 1]->peak[0] : 0;
	uint64_t window_ns = to->facts.window_ms[0] * MS;
	double times = unseen_times(to);
	uint64_t spared = SPARE * to->normal * times, budget;

	to->rung = rung_from(to, spared);
	budget = weir_demand_rung(to->demand, to->rung);
	if (times > 1)
		budget = MAX(budget, round_up(spared));
	add_budget(to, MIN(budget, most_of(to)), to->facts.window_ms[0]);
	weir_text_time(times > 1 ? seen_ns(to) : window_ns, window);
	weir_text_amount(to->normal, 20, is);
	if (to->outliers)
		say(to, "budget", "%u of %u sources stand out, with %s %s or more in %s; the others sent %s at most, and get twice that, rounded up",
		    to->outliers, to->facts.sources, weir_text_amount(outlier, 20, least),
		    unit_of(to), window, is);
	else if (count > 1)
		say(to, "budget", "nobody stands out: the most that one source sent in %s is %s %s; each gets twice that, rounded up",
		    window, is, unit_of(to));
	else
		say(to, "budget", "there are too few sources to compare; the most in %s is %s %s, and this is twice that, rounded up",
		    window, is, unit_of(to));
	if (times == 1)
		return;
	weir_text_time(window_ns, least);
	say(to, "budget", "... and %.1f times as much in %s, of which no more than %s were seen",
	    times, least, window);
	weir_advice_unknown(to->advice, "window", "how much a source sends in %s, and how many sources there are then: only %s were seen",
			    least, window);
}

/* The most that others than those who stand out sent in a longer window. */
static uint64_t normal_in(const struct advising *to, unsigned int window)
{
	uint64_t most = 0;
	unsigned int i;

	for (i = to->outliers; i < to->facts.sources; i++)
		most = MAX(most, to->by_peak[i]->peak[window]);
	return most;
}

/* Budgets with longer windows stop those who send the whole shorter budget all the time. */
static void propose_longer(struct advising *to)
{
	const struct weir_limit *proposal = &to->advice->proposal;
	char window[WEIR_TEXT_SIZE], is[WEIR_TEXT_SIZE], budget[WEIR_TEXT_SIZE];
	const struct weir_amount *last;
	struct weir_amount longer;
	unsigned int i;
	uint64_t most;
	double admits;

	for (i = 1; i < WEIR_DEMAND_WINDOWS; i++) {
		last = &proposal->budgets[proposal->budget_count - 1].amount;
		longer = (struct weir_amount){ .window_ms = to->facts.window_ms[i] };
		if (longer.window_ms <= last->window_ms ||
		    to->advice->for_ns < 2 * MS * longer.window_ms)
			continue;
		most = normal_in(to, i);
		longer.count = MIN(weir_demand_rung(to->demand, rung_from(to, SPARE * most)),
				   most_of(to));
		admits = (double)last->count * longer.window_ms / last->window_ms;
		if (admits < LONGER_PART * (double)longer.count)
			continue;
		add_budget(to, longer.count, longer.window_ms);
		say(to, "budget", "%s: in %s others sent %s %s at most, far below the %.0f that the budget before it admits to who never pauses",
		    weir_text_budget(NULL, &longer, budget),
		    weir_text_time(longer.window_ms * MS, window),
		    weir_text_amount(most, 20, is), unit_of(to), admits);
	}
}

static void propose_burst(struct advising *to)
{
	const struct weir_budget *first = to->advice->proposal.budgets;
	char burst[WEIR_TEXT_SIZE], budget[WEIR_TEXT_SIZE];
	uint64_t size = first->amount.count;

	weir_text_amount(size, 20, burst);
	if (to->advice->proposal.budget_count < 2)
		say(to, "burst", "none: a source may send the whole budget, %s, at once", burst);
	else if (first[1].amount.count * 4096 >= size)
		say(to, "burst", "one bucket instead of the first two budgets would admit the same at once, and drain steadily: budget %s%s bucket burst %s",
		    weir_text_budget(NULL, &first[1].amount, budget),
		    first->unit == WEIR_UNIT_BYTES ? " bytes" : "", burst);
}

static void propose_sources(struct advising *to)
{
	struct weir_limit *proposal = &to->advice->proposal;
	uint64_t window_ns = to->facts.window_ms[0] * MS;
	char window[WEIR_TEXT_SIZE];
	uint64_t sources = SOURCES_LEAST;

	if (!proposal->per[0] && !proposal->per[1]) {
		proposal->has &= ~WEIR_HAS(LIMIT_SOURCES);
		return;
	}
	while (sources < SPARE * to->facts.live && sources < WEIR_SOURCES_MAX)
		sources *= 2;
	proposal->sources = sources;
	proposal->has |= WEIR_HAS(LIMIT_SOURCES);
	say(to, "sources", "at most %" PRIu64 " sources were there within %s and a slot; twice that, rounded up, and %u at least",
	    to->facts.live,
	    weir_text_time(MIN(window_ns, seen_ns(to)), window),
	    SOURCES_LEAST);
}

/* What newcomers may send, in ordinary times: if there are several sources. */
static void propose_newcomers(struct advising *to)
{
	const struct weir_demand_facts *facts = &to->facts;
	struct weir_limit *proposal = &to->advice->proposal;
	double seconds = facts->newcomer_ticks * (to->tick_ns / 1e9), mean;
	char known[WEIR_TEXT_SIZE];
	uint64_t least;
	bool flood;

	if (!proposal->per[0] || !proposal->per[1])
		return;
	weir_text_time(facts->known_ms * MS, known);
	if (seconds < facts->known_ms / 1e3) {
		say(to, "newcomers", "%s: to tell newcomers from others takes at least twice %s",
		    proposal->newcomers.count ? "as it is" : "none", known);
		return;
	}
	mean = facts->newcomer_packets / seconds;
	flood = facts->newcomer_peak > FLOOD_TIMES * MAX(mean, NEWCOMERS_LEAST);
	least = flood ? SPARE * mean : SPARE * facts->newcomer_peak;
	proposal->newcomers = (struct weir_amount){
		round_up(MAX(least, NEWCOMERS_LEAST)), SECOND_MS,
	};
	proposal->has |= WEIR_HAS(LIMIT_NEWCOMERS);
	say(to, "newcomers", "sources not yet known sent %.1f packets a second, and %" PRIu64 " at most%s; twice that, and %u at least",
	    mean, facts->newcomer_peak, flood ? ", which is taken for a flood" : "",
	    NEWCOMERS_LEAST);
	say(to, "known", "%s, as usual: newcomers were counted by it; a shorter time needs a smaller budget for them, and spoofed addresses that repeat get known sooner",
	    known);
}

/* The limit that was looked at, with all that its words leave out. */
static void put_limit(struct advising *to)
{
	struct weir_limit *proposal = &to->advice->proposal;

	*proposal = *to->limit;
	proposal->budget_count = 0;
	memcpy(proposal->per, weir_limit_per(to->limit), sizeof(proposal->per));
	proposal->has |= WEIR_HAS(LIMIT_PREFIX4) | WEIR_HAS(LIMIT_MATCH) | WEIR_HAS(LIMIT_ACTION);
}

static void put_heavy(struct advising *to)
{
	const struct weir_sender *sender;
	struct weir_heavy *heavy;
	unsigned int i;

	for (i = 0; i < WEIR_ADVICE_HEAVY && i < to->facts.sources; i++) {
		sender = to->by_peak[i];
		heavy = &to->advice->heavy[to->advice->heavy_count++];
		heavy->prefix = sender->prefix;
		heavy->packets = sender->packets;
		heavy->bytes = sender->bytes;
		heavy->peak = sender->peak[0];
		heavy->lost = to->limit->budget_count ? sender->lost.packets :
			      weir_demand_lost_by(to->demand, sender, to->rung);
	}
}

int weir_advise(const struct weir_demand *demand, const struct weir_limit *limit, uint64_t tick_ns,
		struct weir_advice *advice)
{
	struct advising to = {
		.demand = demand, .limit = limit, .advice = advice, .tick_ns = tick_ns,
	};
	unsigned int compared;

	weir_demand_facts(demand, &to.facts);
	if (!sort_senders(&to))
		return -ENOMEM;
	snprintf(advice->limit, sizeof(advice->limit), "%s", limit->name);
	advice->packets = to.facts.packets;
	advice->bytes = to.facts.bytes;
	advice->sources = to.facts.sources;
	if (!advice->for_ns)
		advice->for_ns = to.facts.ticks * tick_ns;
	put_losses(&to);
	put_limit(&to);
	compared = find_outliers(&to);
	propose_budget(&to, compared);
	propose_longer(&to);
	propose_burst(&to);
	propose_sources(&to);
	propose_newcomers(&to);
	if (limit->action == WEIR_ACTION_OBSERVE)
		say(&to, "action", "the limit still only observes; to enforce it: weir limit set %s action drop",
		    limit->name);
	put_heavy(&to);
	free(to.by_peak);
	return 0;
}
