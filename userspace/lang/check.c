// SPDX-License-Identifier: GPL-2.0-or-later
/* Check the words of a limit, or of a request on sources, against each other. */

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/param.h>

#include "lang/config.h"
#include "lang/field.h"
#include "lang/value.h"

#include "limit/rules.h"	/* behind linux/weir.h, of model.h */

enum { IPV4 = 1, IPV6 = 2 };

static const char *family_name(unsigned int family)
{
	return family == IPV4 ? "IPv4" : "IPv6";
}

static unsigned int families_of(const struct weir_prefix *prefix, unsigned int count)
{
	unsigned int families = 0;

	while (count--)
		families |= prefix[count].family == AF_INET ? IPV4 : IPV6;
	return families;
}

/* Conditions without "not" that imply an address family must agree. */
static int check_family(const struct weir_match *match, struct weir_args *args)
{
	const struct {
		const char *word;
		uint32_t cond;
		unsigned int families;
	} say[] = {
		{ "family", WEIR_COND_FAMILY, match->family == AF_INET ? IPV4 : IPV6 },
		{ "from", WEIR_COND_FROM, families_of(match->from, match->from_count) },
		{ "to", WEIR_COND_TO, families_of(match->to, match->to_count) },
	}, *first = NULL;
	uint32_t plain = match->has & ~match->invert;
	unsigned int differ, odd, i;

	for (i = 0; i < 3; i++) {
		if (!(plain & say[i].cond))
			continue;
		first = first ? first : &say[i];
		differ = first->families ^ say[i].families;
		if (!differ)
			continue;
		/* the family that only one of them allows */
		odd = differ & first->families ? differ & first->families : differ ^ (IPV4 | IPV6);
		weir_err_set(args->err, "%s is %s but %s is %s: no packet can match both",
			     first->word, family_name(odd), say[i].word,
			     family_name(odd ^ (IPV4 | IPV6)));
		return weir_args_blame(args, say[i].word);
	}
	return 0;
}

/* Conditions that only packets of one protocol meet. */
static const struct of_proto {
	const char *word, *name;
	uint32_t cond;
	uint8_t proto;
} of_protos[] = {
	{ "syn", "tcp", WEIR_COND_SYN, IPPROTO_TCP },
	{ "icmp-type", "icmp", WEIR_COND_ICMP_TYPE, IPPROTO_ICMP },
	{ "icmpv6-type", "icmpv6", WEIR_COND_ICMPV6_TYPE, IPPROTO_ICMPV6 },
	{ 0 }
};

/* @some: the limit has further conditions, unknown here */
static int check_proto(const struct weir_match *match, bool some, struct weir_args *args)
{
	uint32_t ports = match->has & (WEIR_COND_SPORT | WEIR_COND_DPORT);
	uint32_t plain = match->has & ~match->invert;
	const char *word = match->has & WEIR_COND_DPORT ? "dport" : "sport";
	const struct of_proto *of = of_protos, *first = NULL;
	bool ported = plain & WEIR_COND_PROTO, other;
	unsigned int i;

	for (i = 0; i < match->proto_count; i++)
		ported = ported && weir_proto_has_ports(match->proto[i]);
	if (ports && !(some && !(match->has & WEIR_COND_PROTO)) && !ported) {
		weir_err_set(args->err, WEIR_NEEDS_PORTS, word);
		return weir_args_blame(args, word);
	}
	for (; of->word; of++) {
		if (!(match->has & of->cond))
			continue;
		other = !(plain & WEIR_COND_PROTO) || match->proto_count != 1 ||
			match->proto[0] != of->proto;
		if (match->has & WEIR_COND_PROTO && other) {
			weir_err_set(args->err, WEIR_NEEDS_PROTO, of->word, of->name);
			return weir_args_blame(args, of->word);
		}
		if (first) {
			weir_err_set(args->err, WEIR_COMBINED ": make a limit of each", first->word,
				     of->word);
			return weir_args_blame(args, of->word);
		}
		first = of;
	}
	if (!(plain & WEIR_COND_FRAG && (ports || first)))
		return 0;
	word = ports ? word : first->word;
	weir_err_set(args->err, WEIR_COMBINED ": later fragments have no transport header",
		     word, "frag");
	return weir_args_blame(args, word);
}

static int check_any(const struct weir_match *match, struct weir_args *args)
{
	const struct weir_field *field = weir_match_fields.fields;

	if (match->any != WEIR_MATCH_ANY || !match->has)
		return 0;
	while (!(match->has & field->bit))
		field++;
	weir_err_set(args->err, WEIR_COMBINED, "match any", field->word);
	return weir_args_blame(args, field->word);
}

/* The kernel's ticks are of a millisecond or longer. */
static int check_slots(const struct weir_limit *limit, unsigned int budget, struct weir_args *args)
{
	const struct weir_budget *is = &limit->budgets[budget];
	const uint32_t window_ms = is->amount.window_ms;
	char buf[WEIR_TEXT_SIZE];

	if (!window_ms || is->slots <= window_ms)
		return 0;
	weir_err_set(args->err, "slots: %u do not fit a window of %s; at most %u do", is->slots,
		     weir_text_time(window_ms * 1000000ULL, buf), window_ms);
	return weir_args_blame_in(args, "slots", "budget", limit->budget_count - budget - 1);
}

/* Report a rule that a limit, or that budget of it by its number, breaks, as the kernel would. */
static int blame_rule(const struct weir_limit *limit, unsigned int budget,
		      const struct weir_error *rule, struct weir_args *args)
{
	const struct weir_set *set = budget ? &weir_budget_fields : &weir_limit_fields;
	const struct weir_field *field = weir_field_find(set, 0, rule->attr);
	char name[WEIR_TEXT_SIZE], which[24] = "";

	if (budget > 1)
		snprintf(which, sizeof(which), "budget %u ", budget);
	weir_err_set(args->err, "%s%s: %s", which, weir_field_name(field, name), rule->msg);
	if (!budget)
		return weir_args_blame(args, field->word);
	return weir_args_blame_in(args, rule->attr == WEIR_A_BUDGET_UNIT ?
				  weir_unit_names[WEIR_UNIT_BYTES] : field->word, "budget",
				  limit->budget_count - budget);
}

/*
 * The rules of one budget. What set does not name is unknown without the kernel: then the way to
 * count is all that can break a rule, by itself or with another word.
 */
static int check_rules(const struct weir_limit *limit, unsigned int budget, bool set,
		       struct weir_args *args)
{
	const struct weir_budget *is = &limit->budgets[budget];
	bool shared = limit->sharing || (set && !(limit->has & WEIR_HAS(LIMIT_SHARING)));
	uint8_t len6 = limit->has & WEIR_HAS(LIMIT_PREFIX4) ? limit->per[1] : 0;
	struct weir_budget_config rules = {
		.amount = is->amount.count, .burst = is->burst, .alone = is->alone,
		.window_ms = is->amount.window_ms, .mode = is->mode, .unit = is->unit,
		.slots = is->slots,
	};
	struct weir_error rule;

	if (set && !(is->has & WEIR_HAS(BUDGET_MODE)) && (!is->alone || shared))
		return 0;
	if (set && !(is->has & WEIR_HAS(BUDGET_UNIT)))
		rules.unit = is->mode == WEIR_MODE_BUCKET ? WEIR_UNIT_BYTES : WEIR_UNIT_PACKETS;
	if (!(is->has & WEIR_HAS(BUDGET_BUDGET))) {
		rules.amount = is->burst ? is->burst : 1;
		rules.window_ms = 60000;
		rules.alone = !!is->alone;
	}
	return weir_budget_rules(&rules, shared, len6, &rule) ?
	       blame_rule(limit, budget + 1, &rule, args) : 0;
}

static int check_budgets(const struct weir_limit *limit, unsigned int verb, struct weir_args *args)
{
	unsigned int i;

	for (i = 0; i < limit->budget_count; i++) {
		if (check_slots(limit, i, args) ||
		    check_rules(limit, i, verb == WEIR_ON_SET, args))
			return -EINVAL;
	}
	return 0;
}

static bool only_ipv6(const struct weir_match *match)
{
	uint64_t plain = match->has & ~match->invert;

	return (plain & WEIR_COND_FAMILY && match->family == AF_INET6) ||
	       (match->has & match->invert & WEIR_COND_FAMILY && match->family == AF_INET) ||
	       (plain & WEIR_COND_FROM && families_of(match->from, match->from_count) == IPV6) ||
	       (plain & WEIR_COND_TO && families_of(match->to, match->to_count) == IPV6) ||
	       (plain & WEIR_COND_PROTO && match->proto_count == 1 &&
		match->proto[0] == IPPROTO_ICMPV6);
}

/* One length is IPv4's: who limits IPv6 alone means another one. */
static int check_per(const struct weir_limit *limit, struct weir_args *args)
{
	const char *len;

	weir_args_blame(args, "per");
	len = args->fault >= 0 && ++args->fault < args->count ? args->words[args->fault] : "0";
	if (!limit->per[0] || strchr(len, ',') || !only_ipv6(&limit->match)) {
		args->fault = -1;
		return 0;
	}
	return weir_err_set(args->err, "per: a single length is for IPv4, which the limit does not match; for IPv6 write 32,%.3s",
			    len);
}

/*
 * The rules of all words but those of budgets; per cannot be set. A limit may have calendars that
 * set does not name.
 */
static int check_words(const struct weir_limit *limit, unsigned int verb, struct weir_args *args)
{
	bool set = verb == WEIR_ON_SET;
	struct weir_budget_config budget[WEIR_BUDGETS_MAX];
	const struct weir_limit_rules rules = {
		.budget = budget, .budgets = limit->budget_count, .blocks = !!limit->blocks_only,
		.penalty_ms = limit->penalty_ms, .renew = limit->renew,
		.newcomers = !!limit->newcomers.count, .known_ms = limit->known_ms,
		.zone = *limit->zone.name && (!set || limit->only),
		.budgets_by = !!*limit->budgets_by,
		.shared = limit->sharing == WEIR_SHARING_SHARED,
		.len4 = weir_limit_per(limit)[0], .len6 = weir_limit_per(limit)[1],
	};
	struct weir_error rule;
	const char *word;
	unsigned int i;

	for (i = 0; i < limit->budget_count; i++)
		budget[i] = (struct weir_budget_config){
			.alone = limit->budgets[i].alone,
			.mode = set && *limit->zone.name &&
				!(limit->budgets[i].has & WEIR_HAS(BUDGET_MODE)) ?
				WEIR_MODE_CALENDAR : limit->budgets[i].mode,
		};
	if (weir_limit_rules(&rules, &rule))
		return blame_rule(limit, 0, &rule, args);
	if (limit->has & WEIR_HAS(LIMIT_PREFIX4) && check_per(limit, args))
		return -EINVAL;
	word = limit->has & WEIR_HAS(LIMIT_FLOOD) ? "flood" :
	       limit->has & WEIR_HAS(LIMIT_KNOWN_MS) ? "known" : NULL;
	if (set || !word || limit->has & WEIR_HAS(LIMIT_NEWCOMERS))
		return 0;
	weir_err_set(args->err, "%s requires newcomers", word);
	return weir_args_blame(args, word);
}

static int check_limit(struct weir_args *args, unsigned int verb, struct weir_limit *limit)
{
	unsigned int i;

	if (verb == WEIR_ON_ADD && !*limit->comment)
		limit->has &= ~WEIR_HAS(LIMIT_COMMENT);
	if (verb == WEIR_ON_ADD && !limit->newcomers.count)
		limit->has &= ~WEIR_HAS(LIMIT_NEWCOMERS);
	if (verb == WEIR_ON_ADD && !limit->penalty_ms)
		limit->has &= ~WEIR_HAS(LIMIT_PENALTY_MS);
	if (verb == WEIR_ON_ADD && !limit->log)
		limit->has &= ~WEIR_HAS(LIMIT_LOG);
	if (verb == WEIR_ON_ADD && !*limit->budgets_by)
		limit->has &= ~WEIR_HAS(LIMIT_BUDGETS_BY);
	if (verb == WEIR_ON_ADD && !limit->sharing)
		limit->has &= ~WEIR_HAS(LIMIT_SHARING);
	for (i = 0; verb == WEIR_ON_ADD && i < limit->budget_count; i++)
		if (!limit->budgets[i].alone)
			limit->budgets[i].has &= ~WEIR_HAS(BUDGET_ALONE);
	if (limit->only && !(limit->budgets[0].has & WEIR_HAS(BUDGET_BUDGET))) {
		weir_err_set(args->err, "only: give the budgets that the limit shall have, too");
		return weir_args_blame(args, "only");
	}
	if (limit->blocks_only && limit->has & (WEIR_HAS(LIMIT_BUDGET) | WEIR_HAS(LIMIT_SOURCES))) {
		weir_err_set(args->err, "blocks: a limit that only blocks has no budget and no sources; leave the one or the other out");
		return weir_args_blame(args, "blocks");
	}
	if (verb == WEIR_ON_SET && !limit->has)
		return weir_err_set(args->err, "nothing to change in '%s'", limit->name);
	/* on the command line "help" asks for help; in a file it may be a name */
	if (verb == WEIR_ON_ADD && !args->exact && !strcmp(limit->name, "help"))
		return weir_err_set(args->err, "'help' cannot name a limit: commands would take it as a request for help");
	if (limit->has & WEIR_HAS(LIMIT_BEFORE) && !strcmp(limit->before, limit->name))
		return weir_err_set(args->err, "before: a limit cannot be placed before itself");
	if (check_any(&limit->match, args) || check_family(&limit->match, args) ||
	    check_proto(&limit->match, verb == WEIR_ON_SET && !limit->match.any, args))
		return -EINVAL;
	return check_budgets(limit, verb, args) ?: check_words(limit, verb, args);
}

static int check_query(struct weir_args *args, unsigned int verb, struct weir_query *query)
{
	bool all = verb & (WEIR_ON_GET | WEIR_ON_CHARGE | WEIR_ON_ADD | WEIR_ON_DEL) &&
		   !query->prefix.family;

	if (all && !*query->limit)
		return weir_err_set(args->err,
				    "'all' is the source of a limit with 'per 0': add 'limit NAME'");
	if (all && query->packet.has)
		return weir_err_set(args->err,
				    "ADDR all: words of a packet need the address that it comes from");
	query->idle |= query->top && query->rank == WEIR_RANK_DROPPED;
	if (!query->wait || query->mode == WEIR_CHARGE_MODE_ALL)
		return 0;
	weir_err_set(args->err, "wait: only mode all waits; drain and reserve answer at once");
	return weir_args_blame(args, "wait");
}

static int check_list(struct weir_args *args, unsigned int verb, const struct weir_list *list)
{
	if (list->member_count && list->file) {
		weir_err_set(args->err, "file: give prefixes or a file of them, not both");
		return weir_args_blame(args, "file");
	}
	return list->member_count || list->file || verb & (WEIR_ON_DEL | WEIR_ON_SHOW) ? 0 :
	       weir_err_set(args->err, "required: PREFIX[,...] or file FILE");
}

/* What advise is asked: budgets, and the conditions of a limit that need not exist. */
static int check_advising(struct weir_args *args, const struct weir_advising *asked)
{
	const struct weir_limit *limit = &asked->limit;
	const struct weir_match *match = &limit->match;
	const char *list = match->has & WEIR_COND_FROM_LIST ? "from-list" :
			   match->has & WEIR_COND_TO_LIST ? "to-list" : NULL;
	unsigned int i;

	if (!asked->capture && (match->has || limit->has & WEIR_HAS(LIMIT_PREFIX4))) {
		weir_err_set(args->err, "conditions and per are those of the limit; others can be given with -pcap");
		return -EINVAL;
	}
	if (asked->capture && asked->for_ms) {
		weir_err_set(args->err, WEIR_COMBINED, "-pcap", "for");
		return weir_args_blame(args, "for");
	}
	for (i = 0; i < limit->budget_count; i++) {
		if (limit->budgets[i].mode == WEIR_MODE_CALENDAR) {
			weir_err_set(args->err, "a calendar is not judged; give the same budget without it");
			return weir_args_blame(args, weir_mode_names[WEIR_MODE_CALENDAR]);
		}
	}
	if (list) {
		weir_err_set(args->err, "%s: lists are in the module; give their prefixes", list);
		return weir_args_blame(args, list);
	}
	if (check_any(match, args) || check_family(match, args) || check_proto(match, false, args))
		return -EINVAL;
	return check_budgets(limit, WEIR_ON_ADD, args);
}

/* A point in time also replaces the end of what is in force. */
static int check_end(struct weir_args *args, struct weir_exempt *exempt)
{
	int64_t left;

	if (!exempt->until)
		return 0;
	if (exempt->for_ms) {
		weir_err_set(args->err, WEIR_COMBINED, "for", "until");
		return weir_args_blame(args, "until");
	}
	left = (int64_t)exempt->until * 1000 -
	       (int64_t)(weir_clock_ns(CLOCK_REALTIME) / 1000000) + args->ahead_ms;
	exempt->for_ms = MIN(MAX(left, WEIR_BLOCK_MS_MIN), WEIR_BLOCK_MS_MAX);
	exempt->replace = true;
	/* A file that was saved may be read while the clock is not set yet. */
	if (left > 0 && (args->exact || left <= WEIR_BLOCK_MS_MAX))
		return 0;
	weir_err_set(args->err, left > 0 ? "until: that is more than ten years away" :
					   "until: that has passed");
	weir_args_blame(args, "until");
	return left > 0 ? -EINVAL : -ETIME;
}

int weir_check(struct weir_args *args, const struct weir_set *set, unsigned int verb, void *model)
{
	if (set == &weir_block_fields)
		((struct weir_exempt *)model)->block = true;
	if (set == &weir_block_fields || set == &weir_exempt_fields)
		return check_end(args, model);
	if (set == &weir_list_fields)
		return check_list(args, verb, model);
	if (set == &weir_advising_fields)
		return check_advising(args, model);
	return set == &weir_limit_fields ? check_limit(args, verb, model) :
	       set == &weir_query_fields ? check_query(args, verb, model) : 0;
}

bool weir_limit_has_bytes(const struct weir_limit *limit)
{
	unsigned int i;

	for (i = 0; i < limit->budget_count; i++)
		if (limit->budgets[i].unit == WEIR_UNIT_BYTES)
			return true;
	return false;
}

const uint8_t *weir_limit_per(const struct weir_limit *limit)
{
	static const uint8_t usual[2] = { 32, 64 };

	return limit->has & WEIR_HAS(LIMIT_PREFIX4) ? limit->per : usual;
}
