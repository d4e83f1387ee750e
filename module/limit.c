// SPDX-License-Identifier: GPL-2.0-only
/*
 * A limit is made from a checked configuration and never changes. A changed limit is
 * a copy that takes over the identity and the counters of the one it replaces, and
 * its table or a successor of it; so no count is lost.
 */
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#include "hook.h"
#include "limit.h"
#include "weir.h"

#define SLOTS_DEFAULT_MAX	15
#define PREFIX4_DEFAULT		32
#define PREFIX6_DEFAULT		64
#define SOURCES_DEFAULT		65536
#define FLOOD_DEFAULT		100000
#define KNOWN_MS_DEFAULT	10000

/* A window may grow by 1 / ROUND_PART when its slots are rounded up to ticks. */
#define ROUND_PART		16

/* Ticks of a slot, rounded up; 0 if a slot would be shorter than a tick. */
static u32 slot_ticks_of(u32 window_ms, unsigned int slots)
{
	u64 part = (u64)MSEC_PER_SEC * slots;
	u64 ticks = (u64)window_ms * HZ;

	return ticks < part ? 0 : div64_u64(ticks + part - 1, part);
}

/*
 * The number of slots of a window, and their length: @slots, or for 0 the largest
 * number up to 15 that rounds little. Returns 0 if @slots do not fit.
 */
unsigned int weir_slots_fit(u32 window_ms, unsigned int slots, u32 *slot_ticks)
{
	u64 excess, least = U64_MAX;
	unsigned int n, best = 0;
	u32 ticks;

	if (slots) {
		*slot_ticks = slot_ticks_of(window_ms, slots);
		return *slot_ticks ? slots : 0;
	}
	for (n = SLOTS_DEFAULT_MAX; n; n--) {
		ticks = slot_ticks_of(window_ms, n);
		if (!ticks)
			continue;
		excess = (u64)ticks * n * MSEC_PER_SEC - (u64)window_ms * HZ;
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
		if (!isascii(*name) || (!isalnum(*name) && !strchr("_-.:+@", *name)))
			return false;
	return true;
}

/* The default configuration of a limit. */
void weir_limit_init(struct weir_limit *limit, const char *name)
{
	memset(limit, 0, sizeof(*limit));
	limit->budgets = 1;
	limit->prefix.len4 = PREFIX4_DEFAULT;
	limit->prefix.len6 = PREFIX6_DEFAULT;
	limit->sources = SOURCES_DEFAULT;
	limit->newcomers.flood = FLOOD_DEFAULT;
	limit->newcomers.known_ms = KNOWN_MS_DEFAULT;
	strscpy_pad(limit->name, name, sizeof(limit->name));
}

static int newcomers_check(struct weir_limit *limit, struct weir_error *error)
{
	struct weir_newcomers *newcomers = &limit->newcomers;

	if (!newcomers->budget)
		return 0;
	if (!limit->prefix.len4 || !limit->prefix.len6)
		return weir_refuse(error, -EINVAL, WEIR_A_LIMIT_NEWCOMERS,
				   "a prefix length of 0 makes one source of all; newcomers need their own");
	newcomers->slots = weir_slots_fit(newcomers->window_ms, 0, &newcomers->slot_ticks);
	newcomers->span_ticks = min_t(u64, (newcomers->slots + 1ull) * newcomers->slot_ticks,
				      U32_MAX);
	newcomers->known_ticks = slot_ticks_of(newcomers->known_ms, 1);
	return 0;
}

/* Divide the window of a bucket into slots so short that it seems to drain steadily. */
static int bucket_check(struct weir_limit *limit, unsigned int i, struct weir_error *error)
{
	struct weir_budget *budget = &limit->budget[i];
	u64 ticks = slot_ticks_of(budget->window_ms, 1) ?: 1, span;

	if (!budget->window_ms)
		return weir_refuse(error, -EINVAL, WEIR_A_LIMIT_WINDOW_MS,
				   "a bucket drains by its budget in a window; a total has none");
	if (limit->slots_given & BIT(i))
		return weir_refuse(error, -EINVAL, WEIR_A_LIMIT_SLOTS,
				   "a bucket has no slots; leave slots out");
	if (budget->burst)
		limit->room[i] = budget->burst;
	if (limit->room[i] > (limit->bytes & BIT(i) ? WEIR_BURST_MAX : WEIR_PACKETS_MAX))
		return weir_refuse(error, -ERANGE, WEIR_A_LIMIT_BURST,
				   "a bucket holds at most 4294967295 packets or 2^46 bytes");
	if (div64_u64(limit->room[i] - 1, budget->amount) >= WEIR_BURST_BUDGETS)
		return weir_refuse(error, -ERANGE, WEIR_A_LIMIT_BURST,
				   "a burst is at most 4096 times the budget; try a smaller one");
	budget->slot_ticks = DIV_ROUND_UP_ULL(ticks, WEIR_PARTS_MAX);
	budget->slots = DIV_ROUND_UP_ULL(ticks, budget->slot_ticks);
	span = (div64_u64(limit->room[i] - 1, budget->amount) + 1) * ticks;
	limit->span_ticks = max_t(u64, limit->span_ticks, min(span, U32_MAX));
	return 0;
}

/* Check a budget, and divide its window. */
static int budget_check(struct weir_limit *limit, unsigned int i, struct weir_error *error)
{
	struct weir_budget *budget = &limit->budget[i];
	unsigned int slots = limit->slots_given & BIT(i) ? budget->slots : 0;
	/* Only the current slot is summed. */
	bool one_slot = budget->mode == WEIR_MODE_FIXED || !budget->window_ms;
	u64 span;

	error->budget = i;
	if (!(limit->bytes & BIT(i)) && budget->amount > WEIR_PACKETS_MAX)
		return weir_refuse(error, -ERANGE, WEIR_A_LIMIT_BUDGET,
				   "a budget of packets is at most 4294967295 a window");
	if (budget->window_ms && budget->window_ms < WEIR_WINDOW_MS_MIN)
		return weir_refuse(error, -ERANGE, WEIR_A_LIMIT_WINDOW_MS,
				   "a window has at least 10 ms; 0 is the total, without a window");
	limit->room[i] = budget->amount;
	if (budget->burst && budget->mode != WEIR_MODE_BUCKET)
		return weir_refuse(error, -EINVAL, WEIR_A_LIMIT_BURST,
				   "a burst is what a bucket holds; say bucket, too, or no burst");
	if (budget->mode == WEIR_MODE_BUCKET)
		return bucket_check(limit, i, error);
	if (one_slot && slots > 1)
		return weir_refuse(error, -EINVAL, WEIR_A_LIMIT_SLOTS,
				   "a fixed window or a total is a single slot; leave slots out");
	if (one_slot)
		slots = 1;
	budget->slot_ticks = 0;
	if (budget->window_ms)
		slots = weir_slots_fit(budget->window_ms, slots, &budget->slot_ticks);
	if (!slots) {
		error->value = max_t(u64, 1, div_u64((u64)budget->window_ms * HZ, MSEC_PER_SEC));
		return weir_refuse(error, -EINVAL, WEIR_A_LIMIT_SLOTS,
				   "slots would be shorter than a clock tick; use fewer");
	}
	budget->slots = slots;
	span = (slots + 1ull) * budget->slot_ticks ?: U32_MAX;
	limit->span_ticks = max_t(u64, limit->span_ticks, min(span, U32_MAX));
	return 0;
}

/* Check what the range of a single attribute cannot, and divide the windows. */
int weir_limit_check(struct weir_limit *limit, struct weir_error *error)
{
	unsigned int i;
	u64 *largest;
	int err;

	if (!name_good(limit->name))
		return weir_refuse(error, -EINVAL, WEIR_A_LIMIT_NAME,
				   "a name may have letters, digits and _-.:+@, and not begin with a dash");
	if (!strcmp(limit->name, "all"))
		return weir_refuse(error, -EINVAL, WEIR_A_LIMIT_NAME,
				   "'all' means every limit; choose another name");
	limit->span_ticks = 0;
	limit->largest[false] = U64_MAX;
	limit->largest[true] = U64_MAX;
	for (i = 0; i < limit->budgets; i++) {
		err = budget_check(limit, i, error);
		if (err)
			return err;
		largest = &limit->largest[!!(limit->bytes & BIT(i))];
		*largest = min(*largest, limit->room[i]);
	}
	error->budget = 0;
	return newcomers_check(limit, error);
}

/* The most that any interval as long as the window of a budget admits of one source. */
u64 weir_limit_most(const struct weir_limit *limit, unsigned int i)
{
	const struct weir_budget *budget = &limit->budget[i];

	if (budget->mode == WEIR_MODE_BUCKET)
		return limit->room[i] + budget->amount;
	return budget->mode == WEIR_MODE_STRICT || !budget->window_ms ? budget->amount :
	       2 * budget->amount;
}

/* Refuse a packet that exceeds one of several budgets. */
u16 weir_limit_too_large(const struct weir_limit *limit, const struct weir_lookup *lookup)
{
	unsigned int i = 0;

	while (lookup->amount[!!(limit->bytes & BIT(i))] <= limit->room[i])
		i++;
	return WEIR_REFUSED | WEIR_TOO_LARGE | i << WEIR_BUDGET_SHIFT;
}

/* The constants of a budget's count. */
static struct weir_count_spec count_spec(const struct weir_limit *limit, unsigned int i)
{
	const struct weir_budget *budget = &limit->budget[i];

	return (struct weir_count_spec) {
		.budget = budget->most,
		.rate = budget->mode == WEIR_MODE_BUCKET ? budget->amount : 0,
		.slot_ticks = budget->slot_ticks,
		.slots = budget->slots,
		.lenient = budget->mode != WEIR_MODE_STRICT || !budget->window_ms,
		.bytes = limit->bytes & BIT(i),
	};
}

/* Does a count serve a budget? */
static bool count_serves(const struct weir_limit *was, const struct weir_limit *limit,
			 unsigned int i)
{
	struct weir_count_spec a = count_spec(was, i), b = count_spec(limit, i);

	return a.slot_ticks == b.slot_ticks && a.slots == b.slots && a.lenient == b.lenient &&
	       a.rate == b.rate && a.bytes == b.bytes &&
	       weir_table_holds(was->table, i, limit->room[i]);
}

static bool table_serves(const struct weir_limit *was, const struct weir_limit *limit)
{
	unsigned int i;

	for (i = 0; i < limit->budgets; i++)
		if (was->budgets != limit->budgets || !count_serves(was, limit, i))
			return false;
	return was->sources == limit->sources &&
	       !was->newcomers.budget == !limit->newcomers.budget;
}

/*
 * Counts are wide enough for what sources may have sent under @was. Otherwise
 * sources would get part of a budget again when it grows back.
 */
static u64 budget_most(const struct weir_limit *limit, unsigned int i,
		       const struct weir_limit *was)
{
	/* The count starts from that of the same window, or from another one. */
	bool same = was && i < was->budgets &&
		    was->budget[i].window_ms == limit->budget[i].window_ms;
	u64 most = limit->room[i], before;
	unsigned int j;

	for (j = 0; was && j < was->budgets; j++) {
		before = was->budget[j].most;
		if (!(was->bytes & BIT(j)) != !(limit->bytes & BIT(i)))
			before = weir_budget_part(before, limit->room[i], was->room[j]);
		if (!same || j == i)
			most = max(most, before);
	}
	return most;
}

static int limit_table(struct weir_net *wn, struct weir_limit *limit, struct weir_error *error)
{
	const struct weir_count_spec first = count_spec(limit, 0);
	struct weir_table_spec spec = {
		.budget = first.budget,
		.slot_ticks = first.slot_ticks,
		.sources = limit->sources,
		.slots = first.slots,
		.rate = first.rate,
		.lenient = first.lenient,
		.bytes = first.bytes,
		.newcomers = limit->newcomers.budget,
		.prefix = limit->prefix,
	};
	struct weir_table *table;
	unsigned int i;
	u64 bytes;

	for (i = 1; i < limit->budgets; i++)
		spec.more[i - 1] = count_spec(limit, i);
	bytes = weir_table_need(&spec);
	error->value = bytes;
	if (!weir_net_affords(wn, bytes))
		return weir_refuse(error, -EDQUOT, WEIR_A_LIMIT_SOURCES,
				   "tables of a user's namespace hold 64 MiB; fewer sources may fit");
	table = weir_table_alloc(&spec, weir_hook_clock());
	if (IS_ERR(table))
		return weir_refuse(error, PTR_ERR(table), WEIR_A_LIMIT_SOURCES,
				   "not enough memory for a table of so many sources; try fewer");
	error->value = 0;
	weir_table_account(table, &wn->bytes);
	limit->table = table;
	return 0;
}

/*
 * Make a limit from a checked configuration. It takes table and counters from @was,
 * which it will replace, if they can be kept. Under the namespace's mutex.
 */
struct weir_limit *weir_limit_make(struct weir_net *wn, struct weir_limit *limit,
				   const struct weir_limit *was, struct weir_error *error)
{
	struct weir_limit *copy;
	unsigned int i;
	int err = 0;

	lockdep_assert_held(&wn->lock);
	copy = kmemdup(limit, sizeof(*limit), GFP_KERNEL_ACCOUNT);
	if (!copy)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < copy->budgets; i++)
		copy->budget[i].most = budget_most(copy, i, was);
	copy->table = NULL;
	copy->newcomers.table = NULL;
	copy->newcomers.tries = NULL;
	if (was) {
		copy->id = was->id;
		copy->stats = was->stats;
		copy->pressure = was->pressure;
		if (table_serves(was, copy))
			copy->table = was->table;
	} else {
		copy->id = ++wn->next_id;
		err = weir_limit_account(copy);
	}
	if (!err && !copy->table)
		err = limit_table(wn, copy, error);
	if (!err)
		err = weir_newcomers_make(wn, &copy->newcomers, was ? &was->newcomers : NULL,
					  error);
	if (!err)
		return copy;
	weir_limit_free(copy, was);
	return ERR_PTR(err);
}

/*
 * Free a limit that was never published, or was a grace period ago, except what
 * @heir has taken over: its counters, and perhaps its table.
 */
void weir_limit_free(struct weir_limit *limit, const struct weir_limit *heir)
{
	if (!heir || heir->table != limit->table)
		weir_table_free(limit->table);
	weir_newcomers_free(&limit->newcomers, heir ? &heir->newcomers : NULL);
	if (!heir) {
		free_percpu(limit->stats);
		kfree(limit->pressure);
	}
	kfree(limit);
}

struct weir_limit *weir_limit_find(const struct weir_config *config, const char *name)
{
	unsigned int i;

	for (i = 0; config && i < config->count; i++)
		if (!strcmp(config->limit[i]->name, name))
			return config->limit[i];
	return NULL;
}

struct weir_limit *weir_limit_by_id(const struct weir_config *config, u32 id)
{
	unsigned int i;

	for (i = 0; config && i < config->count; i++)
		if (config->limit[i]->id == id)
			return config->limit[i];
	return NULL;
}
