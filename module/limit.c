// SPDX-License-Identifier: GPL-2.0-only
/*
 * A limit is made from words and never changes. A changed limit is a copy
 * that takes over table, counters and identity of the one it replaces, or has
 * a successor of its table; so no count is lost.
 */
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "hook.h"
#include "limit_priv.h"
#include "weir.h"

#define SLOTS_DEFAULT_MAX	15
#define PREFIX4_DEFAULT		32
#define PREFIX6_DEFAULT		64
#define SOURCES_DEFAULT		65536

/* A window may grow by this part when its slots are rounded up to ticks. */
#define ROUND_PART		16

/* Outside of the initial user namespace: what all tables may hold together. */
#define BYTES_UNPRIVILEGED	(64ull << 20)

/* No packet is larger, reassembled from segments or not, but by BIG TCP. */
#define LARGE_BYTES		(64u << 10)
#define LARGE_PACKETS		64u

/**
 * weir_refuse - fill a fault
 * @fault: filled
 * @err: negative errno
 * @word: at fault
 * @msg: constant sentence
 *
 * Return: @err.
 */
int weir_refuse(struct weir_fault *fault, int err, enum weir_word word,
		const char *msg)
{
	fault->msg = msg;
	fault->word = word;
	return err;
}

/* Ticks of a slot, rounded up; 0 where a slot would be shorter than a tick. */
static u64 slot_ticks_of(u32 window_ms, unsigned int slots)
{
	u64 part = (u64)MSEC_PER_SEC * slots;
	u64 ticks = (u64)window_ms * HZ;

	return ticks < part ? 0 : div64_u64(ticks + part - 1, part);
}

/* By how many tick-milliseconds slots of whole ticks exceed the window. */
static u64 slot_excess(u32 window_ms, unsigned int slots, u64 ticks)
{
	return ticks * slots * MSEC_PER_SEC - (u64)window_ms * HZ;
}

/**
 * weir_slots_fit - the slots of a window
 * @window_ms: length of the window
 * @slots: asked for, or 0 for the largest number up to 16 that rounds little
 * @slot_ticks: filled with the length of a slot
 *
 * Return: the number of slots, or 0 if so many do not fit.
 */
unsigned int weir_slots_fit(u32 window_ms, unsigned int slots, u32 *slot_ticks)
{
	u64 excess, least = U64_MAX, ticks;
	unsigned int n, best = 0;

	if (slots) {
		ticks = slot_ticks_of(window_ms, slots);
		*slot_ticks = ticks;
		return ticks && ticks <= U32_MAX ? slots : 0;
	}
	for (n = SLOTS_DEFAULT_MAX; n; n--) {
		ticks = slot_ticks_of(window_ms, n);
		if (!ticks || ticks > U32_MAX)
			continue;
		excess = slot_excess(window_ms, n, ticks);
		if (excess >= least)
			continue;
		least = excess;
		best = n;
		*slot_ticks = ticks;
		if (excess * ROUND_PART <= (u64)window_ms * HZ)
			break;
	}
	/* A window of less than a tick has one slot of one tick. */
	if (!best) {
		best = 1;
		*slot_ticks = 1;
	}
	return best;
}

static bool name_good(const char *name)
{
	if (!*name || *name == '-')
		return false;
	for (; *name; name++)
		if (!isascii(*name) ||
		    (!isalnum(*name) && !strchr("_-.:+@", *name)))
			return false;
	return true;
}

/* Words that are given, checked one by one, into a limit. */
static int limit_take_words(struct weir_limit *limit,
			    const struct weir_words *words,
			    struct weir_fault *fault)
{
	u16 given = words->given, cond;
	const char *msg;

	if (given & BIT(WEIR_WORD_BUDGET))
		limit->budget = words->budget;
	if (given & BIT(WEIR_WORD_WINDOW))
		limit->window_ms = words->window_ms;
	if (given & BIT(WEIR_WORD_UNIT))
		limit->bytes = words->bytes;
	if (given & BIT(WEIR_WORD_SLOTS)) {
		limit->slots = words->slots;
		limit->slots_given = true;
	}
	if (given & BIT(WEIR_WORD_MODE))
		limit->lenient = words->lenient;
	if (given & BIT(WEIR_WORD_PREFIX4))
		limit->prefix.len4 = words->prefix.len4;
	if (given & BIT(WEIR_WORD_PREFIX6))
		limit->prefix.len6 = words->prefix.len6;
	if (given & BIT(WEIR_WORD_SOURCES))
		limit->sources = words->sources;
	if (given & BIT(WEIR_WORD_ACTION))
		limit->observe = words->observe;
	if (given & BIT(WEIR_WORD_MATCH)) {
		msg = weir_match_check(&words->match, &cond);
		if (msg) {
			fault->cond = cond;
			return weir_refuse(fault, -EINVAL, WEIR_WORD_MATCH, msg);
		}
		limit->match = words->match;
	}
	return 0;
}

static int limit_check(struct weir_limit *limit, struct weir_fault *fault)
{
	unsigned int slots = limit->slots_given ? limit->slots : 0;

	if (!limit->budget)
		return weir_refuse(fault, -EINVAL, WEIR_WORD_BUDGET,
				   "a budget is at least 1");
	if (!limit->bytes && limit->budget > WEIR_PACKETS_MAX)
		return weir_refuse(fault, -ERANGE, WEIR_WORD_BUDGET,
				   "a budget of packets is at most 4294967295 a window");
	if (limit->budget > WEIR_BYTES_MAX)
		return weir_refuse(fault, -ERANGE, WEIR_WORD_BUDGET,
				   "a budget of bytes is at most 2^56 a window");
	if (limit->window_ms < WEIR_WINDOW_MS_MIN ||
	    limit->window_ms > WEIR_WINDOW_MS_MAX)
		return weir_refuse(fault, -ERANGE, WEIR_WORD_WINDOW,
				   "a window is 10 ms to 30 d long");
	if (slots > WEIR_SLOTS_MAX)
		return weir_refuse(fault, -ERANGE, WEIR_WORD_SLOTS,
				   "a window has 1 to 64 slots");
	if (limit->prefix.len4 > 32)
		return weir_refuse(fault, -ERANGE, WEIR_WORD_PREFIX4,
				   "an IPv4 prefix has 0 to 32 bits");
	if (limit->prefix.len6 > 128)
		return weir_refuse(fault, -ERANGE, WEIR_WORD_PREFIX6,
				   "an IPv6 prefix has 0 to 128 bits");
	if (limit->sources < WEIR_SOURCES_MIN ||
	    limit->sources > WEIR_SOURCES_MAX)
		return weir_refuse(fault, -ERANGE, WEIR_WORD_SOURCES,
				   "a table is for 64 to 16777216 sources");
	slots = weir_slots_fit(limit->window_ms, slots, &limit->slot_ticks);
	if (!slots) {
		fault->value = max_t(u64, 1, div_u64((u64)limit->window_ms * HZ,
						     MSEC_PER_SEC));
		return weir_refuse(fault, -EINVAL, WEIR_WORD_SLOTS,
				   "slots shorter than a clock tick; fewer would fit the window");
	}
	limit->slots = slots;
	limit->span_ticks = min_t(u64, (slots + 1ull) * limit->slot_ticks,
				  U32_MAX);
	return 0;
}

/* What a limit that is made may still not do as it was meant. */
static void limit_warn(const struct weir_limit *limit,
		       struct weir_fault *fault)
{
	if (limit->bytes && limit->budget < LARGE_BYTES)
		weir_refuse(fault, 0, WEIR_WORD_BUDGET,
			    "packets larger than the budget (up to 64k bytes) will never fit");
	else if (!limit->bytes && limit->budget < LARGE_PACKETS &&
		 !(limit->match.conds & ~limit->match.invert & WEIR_IF_SYN))
		weir_refuse(fault, 0, WEIR_WORD_BUDGET,
			    "packets joined (GRO) from more segments than the budget will never fit");
}

static bool table_serves(const struct weir_limit *was,
			 const struct weir_limit *limit)
{
	return was->slot_ticks == limit->slot_ticks &&
	       was->slots == limit->slots &&
	       was->lenient == limit->lenient &&
	       was->bytes == limit->bytes &&
	       was->sources == limit->sources &&
	       weir_table_holds(was->table, limit->budget);
}

/*
 * A table for a limit. Its counts are as wide as those of @was, or a source that
 * has sent more than narrow ones hold would have the rest of its budget again
 * when that grows once more.
 */
static int limit_table(struct weir_net *wn, struct weir_limit *limit,
		       const struct weir_limit *was, struct weir_fault *fault)
{
	struct weir_table_spec spec = {
		.budget = limit->budget,
		.slot_ticks = limit->slot_ticks,
		.sources = limit->sources,
		.slots = limit->slots,
		.lenient = limit->lenient,
		.bytes = limit->bytes,
		.prefix = limit->prefix,
	};
	struct weir_table *table;
	u64 bytes, held;

	if (was) {
		held = weir_table_spec(was->table)->budget;
		if (was->bytes != limit->bytes)
			held = weir_budget_part(held, limit->budget,
						was->budget);
		spec.budget = max(spec.budget, held);
	}
	bytes = weir_table_need(&spec);
	fault->value = bytes;
	if (wn->net->user_ns != &init_user_ns &&
	    wn->bytes + bytes > BYTES_UNPRIVILEGED)
		return weir_refuse(fault, -EDQUOT, WEIR_WORD_SOURCES,
				   "tables of a user's namespace hold 64 MiB; fewer sources may fit");
	table = weir_table_alloc(&spec, weir_hook_clock());
	if (IS_ERR(table))
		return weir_refuse(fault, PTR_ERR(table), WEIR_WORD_SOURCES,
				   "no memory for a table of so many sources; fewer may fit");
	fault->value = 0;
	wn->bytes += bytes;
	limit->table = table;
	return 0;
}

static void limit_defaults(struct weir_limit *limit)
{
	limit->prefix.len4 = PREFIX4_DEFAULT;
	limit->prefix.len6 = PREFIX6_DEFAULT;
	limit->sources = SOURCES_DEFAULT;
}

/**
 * weir_limit_same - do words speak of the limit, or of another of its name?
 * @limit: limit
 * @words: of the same name
 */
bool weir_limit_same(const struct weir_limit *limit,
		     const struct weir_words *words)
{
	struct weir_limit other = { };

	limit_defaults(&other);
	if (words->given & BIT(WEIR_WORD_PREFIX4))
		other.prefix.len4 = words->prefix.len4;
	if (words->given & BIT(WEIR_WORD_PREFIX6))
		other.prefix.len6 = words->prefix.len6;
	return limit->prefix.len4 == other.prefix.len4 &&
	       limit->prefix.len6 == other.prefix.len6;
}

/* Give a limit its table and counters, those of @was where they serve. */
static int limit_equip(struct weir_net *wn, struct weir_limit *limit,
		       const struct weir_limit *was, struct weir_fault *fault)
{
	int err;

	if (was) {
		limit->id = was->id;
		limit->stats = was->stats;
		limit->pressure = was->pressure;
		if (table_serves(was, limit)) {
			limit->table = was->table;
			return 0;
		}
		return limit_table(wn, limit, was, fault);
	}
	limit->id = ++wn->next_id;
	err = weir_limit_account(limit);
	return err ?: limit_table(wn, limit, NULL, fault);
}

/**
 * weir_limit_make - a limit from words
 * @wn: namespace, locked
 * @words: what is asked for
 * @was: the limit that it will replace, or NULL
 * @fresh: what is not said is as by default, and not as it was
 * @fault: filled where it is refused, or with a warning
 *
 * Shares with @was the table, if that serves, and the counters.
 *
 * Context: process, may sleep.
 * Return: the limit or ERR_PTR.
 */
struct weir_limit *weir_limit_make(struct weir_net *wn,
				   const struct weir_words *words,
				   const struct weir_limit *was, bool fresh,
				   struct weir_fault *fault)
{
	struct weir_limit *limit;
	int err;

	lockdep_assert_held(&wn->lock);
	if (!name_good(words->name)) {
		weir_refuse(fault, -EINVAL, WEIR_WORD_NAME,
			    "a name is letters, digits and any of _-.:+@, no dash in front");
		return ERR_PTR(-EINVAL);
	}
	limit = kzalloc(sizeof(*limit), GFP_KERNEL_ACCOUNT);
	if (!limit)
		return ERR_PTR(-ENOMEM);
	if (was && !fresh) {
		*limit = *was;
		limit->table = NULL;
	} else {
		limit_defaults(limit);
		strscpy_pad(limit->name, words->name, sizeof(limit->name));
	}
	err = limit_take_words(limit, words, fault);
	if (!err)
		err = limit_check(limit, fault);
	if (!err)
		err = limit_equip(wn, limit, was, fault);
	if (err) {
		weir_limit_shell_free(limit, was);
		return ERR_PTR(err);
	}
	limit_warn(limit, fault);
	return limit;
}

/**
 * weir_limit_shell_free - free a limit but what another one goes on using
 * @limit: limit that is not published, after a grace period if it was
 * @other: the one that shares its counters and perhaps its table, or NULL
 */
void weir_limit_shell_free(struct weir_limit *limit,
			   const struct weir_limit *other)
{
	if (!other || other->table != limit->table)
		weir_table_put(limit->table);
	if (!other) {
		free_percpu(limit->stats);
		kfree(limit->pressure);
	}
	kfree(limit);
}
