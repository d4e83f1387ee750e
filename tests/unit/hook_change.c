// SPDX-License-Identifier: GPL-2.0-or-later
/* Random changes. Each fails at every allocation first, and must then change nothing. */
#include <linux/jiffies.h>

#include "hook_twin.h"

static void random_prefixes(struct weir_prefix_list *list)
{
	unsigned int i;

	list->count = 1 + below(2) * below(3);
	for (i = 0; i < list->count; i++) {
		list->prefix[i] = said_address(below(2), below(SOURCES / 2));
		if (below(2))
			prefix_widen(&list->prefix[i]);
	}
}

/* A range, or several ports from @first on. */
static void random_ports(struct weir_port_list *list, u16 first)
{
	unsigned int i;

	list->count = 1 + below(2) * below(3);
	for (i = 0; i < list->count; i++)
		list->range[i] = (struct weir_port_range) {
			first + 2 * i, first + 2 * i + below(2)
		};
	if (!below(3))
		list->range[0].min = 0;
}

/* Retry until valid: values of a list may overlap. */
static void random_match(struct weir_match *match)
{
	u16 cond;

	do {
		*match = (struct weir_match) {
			.conds = below(3) ? 1 << below(10) | 1 << below(10) : 0,
			.family = below(2) ? AF_INET : AF_INET6,
			.mark_mask = 1 + below(3),
		};
		__set_bit(IPPROTO_TCP, match->proto);
		if (below(2))
			__set_bit(IPPROTO_UDP, match->proto);
		if (below(2))
			__clear_bit(IPPROTO_TCP, match->proto);
		__set_bit(IPPROTO_ICMP, match->icmp);
		match->mark = below(4) & match->mark_mask;
		if (match->conds & WEIR_COND_FROM)
			random_prefixes(&match->from);
		if (match->conds & WEIR_COND_TO)
			random_prefixes(&match->to);
		if (match->conds & WEIR_COND_TO && !below(8)) {
			match->to.count = 1;
			match->to.prefix[0] = (struct weir_net_prefix) {
				.family = below(2) ? AF_INET : AF_INET6,
			};
		}
		if (match->conds & WEIR_COND_SPORT)
			random_ports(&match->sport, 997 + below(4));
		if (match->conds & WEIR_COND_DPORT)
			random_ports(&match->dport, below(4));
		strcpy(match->dev, said_dev[below(2)]);
		if (match->conds & (WEIR_COND_SPORT | WEIR_COND_DPORT))
			match->conds |= WEIR_COND_PROTO;
		if (below(3) == 0)
			match->invert = match->conds & ~WEIR_COND_PROTO & chance(&t.chance);
	} while (weir_match_check(match, &cond));
}

static struct weir_limit_config random_words(void)
{
	static const struct weir_prefix prefix[] = {
		{ 32, 64 }, { 32, 128 }, { 24, 48 }, { 20, 40 },
	};
	static const u32 window_ms[] = { 40, 400, 1000 };
	struct weir_limit_config words = {
		.budgets = 1,
		.budget[0] = {
			.window_ms = window_ms[below(3)],
			.mode = below(4) ? WEIR_MODE_STRICT : 1 + below(2),
			.unit = below(3) ? WEIR_UNIT_PACKETS : WEIR_UNIT_BYTES,
		},
		.prefix = prefix[below(4)],
		.sources = 64,
		.observe = below(3) == 0,
	};

	random_match(&words.match);
	if (t.plain && below(4)) {
		words.budget[0].unit = WEIR_UNIT_PACKETS;
		words.observe = false;
		words.match = (struct weir_match) { };
	}
	words.budget[0].amount = words.budget[0].unit ? 100 + below(3000) : 1 + below(20);
	if (words.budget[0].mode != WEIR_MODE_FIXED && !below(2))
		words.budget[0].slots = 1 + below(4);
	/* They always have room, so that nothing else is different. */
	if (below(2))
		words.newcomers = (struct weir_newcomers_config) {
			.budget = WEIR_PACKETS_MAX, .window_ms = 100 << below(3),
			.flood = 1 + below(2000), .known_ms = 1000,
		};
	snprintf(words.name, sizeof(words.name), "l%u", t.names++);
	return words;
}

/* Make a change: fail each allocation in turn, then expect @err. */
static void change(int (*does)(const void *words, struct weir_error *error),
		   const void *words, int err)
{
	const struct weir_config *config = weir_config_get(&t.wn);
	unsigned int allocations = shim_allocations;
	u64 bytes = atomic64_read(&t.wn.bytes);
	int i, result;

	for (i = 0; ; i++) {
		struct weir_error error = { };

		shim_fail_after = below(4) ? -1 : i;
		result = does(words, &error);
		shim_fail_after = -1;
		if (!err && result != -ENOMEM)
			break;
		t.failures++;
		check(weir_config_get(&t.wn) == config &&
		      shim_allocations == allocations && (u64)atomic64_read(&t.wn.bytes) == bytes,
		      "run %llu: %d, and something changed", t.run, result);
		if (err && result != -ENOMEM)
			break;
	}
	check(result == err, "run %llu: %d for %d", t.run, result, err);
}

/* Name of the limit to insert before, or NULL. */
static const char *before;

#define DOES(name, call)						\
static int does_##name(const void *words, struct weir_error *error)	\
{									\
	return call;							\
}
DOES(add, edit_add(&t.wn, words, before, error))
DOES(set, edit_set(&t.wn, words, error))
DOES(del, edit_del(&t.wn, words, error))
DOES(exempt_add, edit_exempt(&t.wn, words, true, error))
DOES(exempt_del, edit_exempt(&t.wn, words, false, error))

static int does_replace(const void *words, struct weir_error *error)
{
	struct weir_edit *edit = weir_edit_begin(&t.wn, true, t.exempts);
	const struct weir_limit_config *all = words;
	struct weir_limit_config limit;
	struct weir_exception exempt;
	unsigned int i;
	int err = 0;

	if (!edit)
		return -ENOMEM;
	for (i = 0; !err && i < t.limits; i++) {
		limit = all[i];
		strcpy(limit.comment, below(2) ? "" : "changed");
		err = weir_edit_limit_add(edit, &limit, NULL, error);
	}
	for (i = 0; !err && i < t.exempts; i++) {
		exempt = t.exempt[i].exempt;
		exempt.comment = below(2) ? "" : "changed";
		err = weir_edit_exception_add(edit, &exempt, t.exempt[i].limit, WEIR_BLOCK_ADD,
					      error);
	}
	return weir_edit_end(edit, err, WEIR_EDIT_PUBLISH, error);
}

void hook_add(void)
{
	struct twin_limit limit = { .words = random_words() };
	unsigned int place = t.limits;

	if (t.limits == LIMITS_MAX)
		return;
	before = NULL;
	if (t.limits && below(2)) {
		place = below(t.limits);
		before = t.limit[place].words.name;
	}
	change(does_add, &limit.words, 0);
	change(does_add, &limit.words, -EEXIST);
	memmove(t.limit + place + 1, t.limit + place, (t.limits++ - place) * sizeof(limit));
	t.limit[place] = limit;
}

/* Copy the new table's counts to the twin; their sums must not have changed. */
static void follow(struct twin_limit *limit, u64 sum[])
{
	const struct weir_limit *real = hook_real(limit);
	u64 slot[WEIR_SLOTS_MAX + 1], count;
	struct twin_source *s;
	unsigned int age;

	for (s = limit->source; s < limit->source + limit->sources; s++, sum++) {
		count = hook_peek(real, s, slot);
		check(count == *sum, "run %llu: %llu moved to %llu", t.run, *sum, count);
		/* An idle source is not moved, even with pending refusals. */
		if (!count)
			s->dropped = min(s->dropped, hook_dropped(real, s));
		s->count.at = shim_jiffies / real->meter[0].slot_ticks;
		for (age = 0; age <= WEIR_SLOTS_MAX; age++)
			s->count.count[age] = slot[WEIR_SLOTS_MAX - age];
	}
}

void hook_set(void)
{
	struct twin_limit *limit = &t.limit[below(t.limits)];
	struct weir_limit_config words = limit->words, random = random_words(), other;
	u64 sum[SOURCES];
	unsigned int i;

	words.budget[0].amount = random.budget[0].amount;
	words.observe = random.observe;
	if (below(2))
		words.match = random.match;
	if (below(4) == 0)
		words.sources = 64 << below(3);
	if (below(4) == 0)
		words.newcomers = random.newcomers;
	/* Requested slots may not fit a shorter window. */
	if (below(4) == 0)
		words.budget[0].window_ms = max(words.budget[0].window_ms,
						random.budget[0].window_ms);
	if (limit->words.budget[0].unit != random.budget[0].unit)
		words.budget[0].amount = limit->words.budget[0].unit ? 1000 : 7;
	other = words;
	other.prefix.len4 ^= 1;
	change(does_set, &other, -EINVAL);
	hook_check(limit);
	for (i = 0; i < limit->sources; i++)
		sum[i] = hook_sum(hook_real(limit), &limit->source[i]);
	change(does_set, &words, 0);
	limit->words = words;
	follow(limit, sum);
}

static void gone(unsigned int place)
{
	unsigned int i, n = 0;

	for (i = 0; i < t.exempts; i++)
		if (strcmp(t.exempt[i].limit, t.limit[place].words.name))
			t.exempt[n++] = t.exempt[i];
	t.exempts = n;
	memmove(t.limit + place, t.limit + place + 1, (--t.limits - place) * sizeof(t.limit[0]));
}

void hook_del(void)
{
	unsigned int place = below(t.limits);

	if (t.limits < 2)
		return;
	change(does_del, "none", -ENOENT);
	change(does_del, t.limit[place].words.name, 0);
	gone(place);
}

void hook_add_exempt(void)
{
	struct said_exempt words = { .exempt.prefix = said_address(below(2), below(SOURCES / 2)) };

	if (t.exempts == EXEMPTS_MAX)
		return;
	if (below(2))
		prefix_widen(&words.exempt.prefix);
	if (below(2))
		strcpy(words.exempt.dev, said_dev[below(2)]);
	words.exempt.block = below(2);
	if (below(2))
		strcpy(words.limit, t.limit[below(t.limits)].words.name);
	if (does_exempt_add(&words, &(struct weir_error) { }))
		return; /* it existed */
	change(does_exempt_add, &words, -EEXIST);
	t.exempt[t.exempts++] = words;
}

void hook_del_exempt(void)
{
	unsigned int i = below(EXEMPTS_MAX);

	if (i >= t.exempts)
		return;
	change(does_exempt_del, &t.exempt[i], 0);
	change(does_exempt_del, &t.exempt[i], -ENOENT);
	t.exempt[i] = t.exempt[--t.exempts];
}

/* Packets that all exemptions have counted. */
static u64 exempted(void)
{
	const struct weir_exceptions *exempts = weir_config_get(&t.wn)->exceptions;
	unsigned int i;
	u64 sum = 0;
	int cpu;

	for (i = 0; i < weir_exceptions_count(exempts); i++)
		for_each_possible_cpu(cpu)
			sum += u64_stats_read(&per_cpu_ptr(weir_exceptions_at(exempts, i)->count,
							   cpu)->packets);
	return sum;
}

/* Replace by another order and action: limits keep their tables, ids and counts. */
void hook_replace(void)
{
	struct weir_limit_config words[LIMITS_MAX];
	struct twin_limit first = t.limit[0];
	const struct weir_table *table[LIMITS_MAX];
	u64 packets = exempted();
	u32 id[LIMITS_MAX];
	unsigned int i;

	memmove(t.limit, t.limit + 1, (t.limits - 1) * sizeof(first));
	t.limit[t.limits - 1] = first;
	t.limit[0].words.observe ^= below(2);
	for (i = 0; i < t.limits; i++) {
		words[i] = t.limit[i].words;
		table[i] = hook_real(&t.limit[i])->table;
		id[i] = hook_real(&t.limit[i])->id;
	}
	change(does_replace, words, 0);
	for (i = 0; i < t.limits; i++) {
		check(hook_real(&t.limit[i])->table == table[i] && hook_real(&t.limit[i])->id == id[i],
		      "run %llu: another table or id", t.run);
		hook_check(&t.limit[i]);
	}
	check(exempted() == packets, "run %llu: exemptions lost their counters", t.run);
}
