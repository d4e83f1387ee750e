// SPDX-License-Identifier: GPL-2.0-or-later
/* What may follow limit: budget, match, table. */

#include <inttypes.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "parse.h"
#include "rows.h"

static const char *const families[] = { "ipv4", "ipv6", NULL };

/* A budget may be followed by what it counts. */
static int row_budget(const struct weir_word *word, struct weir_args *args,
		      const char *value, void *model)
{
	const char *unit = weir_args_peek(args);
	struct weir_limit *limit = model;
	uint64_t max = word->max;
	uint32_t i;

	for (i = 0; unit && weir_units[i]; i++) {
		if (strcmp(unit, weir_units[i]))
			continue;
		weir_args_next(args);
		limit->unit = i;
		limit->has |= WEIR_HAS_UNIT;
	}
	if (unit && !(limit->has & WEIR_HAS_UNIT)) {
		unit = weir_nearest(weir_units, sizeof(*weir_units), unit);
		if (unit)
			return weir_err_set(args->err, "unknown word '%.60s'; the nearest is '%s'",
					    weir_args_peek(args), unit);
	}
	if (limit->has & WEIR_HAS_UNIT)
		max = limit->unit == WEIR_UNIT_BYTES ? WEIR_BYTES_MAX :
						       WEIR_PACKETS_MAX;
	limit->has |= WEIR_HAS_BUDGET;
	return weir_value_budget(value, max, &limit->budget,
				 &limit->window_ms, args->err);
}

static int row_before(const struct weir_word *word, struct weir_args *args,
		      const char *value, void *model)
{
	struct weir_limit *limit = model;

	limit->has |= WEIR_HAS_BEFORE;
	return weir_row_name(word, args, value, model);
}

static int row_mode(const struct weir_word *word, struct weir_args *args,
		    const char *value, void *model)
{
	struct weir_limit *limit = model;

	(void)args;
	(void)value;
	limit->has |= WEIR_HAS_MODE;
	limit->mode = word->number;
	return 0;
}

static int row_per(const struct weir_word *word, struct weir_args *args,
		   const char *value, void *model)
{
	struct weir_limit *limit = model;

	(void)word;
	limit->has |= WEIR_HAS_PER;
	return weir_value_per(value, &limit->prefix4, &limit->prefix6,
			      args->err);
}

/* A number of the table; the row's number says which word it is. */
static int row_table(const struct weir_word *word, struct weir_args *args,
		     const char *value, void *model)
{
	struct weir_limit *limit = model;
	uint64_t number;

	if (weir_value_count(value, word->min, word->max, &number, args->err))
		return -EINVAL;
	limit->has |= word->number;
	*(uint32_t *)weir_row_at(word, model) = number;
	return 0;
}

static int row_action(const struct weir_word *word, struct weir_args *args,
		      const char *value, void *model)
{
	struct weir_limit *limit = model;

	(void)word;
	limit->has |= WEIR_HAS_ACTION;
	return weir_row_choose(weir_actions, value, args, &limit->action);
}

static int row_any(const struct weir_word *word, struct weir_args *args,
		   const char *value, void *model)
{
	struct weir_limit *limit = model;

	(void)word;
	if (strcmp(value, "any"))
		return weir_err_set(args->err, "'%.60s' is not any; conditions are words of their own",
				    value);
	if (limit->match.conds)
		return weir_err_set(args->err, "any excludes every condition");
	limit->has |= WEIR_HAS_MATCH;
	return 0;
}

/* Note the condition of a row. */
static int add_cond(const struct weir_word *word, struct weir_args *args,
		    struct weir_limit *limit)
{
	if (limit->has & WEIR_HAS_MATCH && !limit->match.conds)
		return weir_err_set(args->err, "match any excludes it");
	limit->has |= WEIR_HAS_MATCH;
	limit->match.conds |= word->number;
	if (args->negate)
		limit->match.invert |= word->number;
	return 0;
}

static int cond_flag(const struct weir_word *word, struct weir_args *args,
		     const char *value, void *model)
{
	(void)value;
	return add_cond(word, args, model);
}

static int cond_family(const struct weir_word *word, struct weir_args *args,
		       const char *value, void *model)
{
	struct weir_limit *limit = model;
	uint32_t which;

	if (weir_row_choose(families, value, args, &which))
		return -EINVAL;
	limit->match.family = which ? AF_INET6 : AF_INET;
	return add_cond(word, args, limit);
}

static int cond_dev(const struct weir_word *word, struct weir_args *args,
		    const char *value, void *model)
{
	if (weir_row_dev(word, args, value, model))
		return -EINVAL;
	return add_cond(word, args, model);
}

static int cond_prefix(const struct weir_word *word, struct weir_args *args,
		       const char *value, void *model)
{
	if (weir_row_prefix(word, args, value, model))
		return -EINVAL;
	return add_cond(word, args, model);
}

static int cond_proto(const struct weir_word *word, struct weir_args *args,
		      const char *value, void *model)
{
	if (weir_value_proto(value, weir_row_at(word, model), args->err))
		return -EINVAL;
	return add_cond(word, args, model);
}

static int cond_ports(const struct weir_word *word, struct weir_args *args,
		      const char *value, void *model)
{
	if (weir_value_ports(value, weir_row_at(word, model), args->err))
		return -EINVAL;
	return add_cond(word, args, model);
}

static int cond_mark(const struct weir_word *word, struct weir_args *args,
		     const char *value, void *model)
{
	struct weir_limit *limit = model;

	if (weir_value_mark(value, &limit->match.mark, &limit->match.mask,
			    args->err))
		return -EINVAL;
	return add_cond(word, args, limit);
}

#define LIMIT(field)	.offset = offsetof(struct weir_limit, field)
#define COND(cond)	.flags = WEIR_WORD_NOT, .number = WEIR_COND_##cond
#define GROUP_MODE	1

#define NAME_ROW	{ "NAME", "NAME", NULL, .parse = weir_row_name, \
	.flags = WEIR_WORD_FIRST | WEIR_WORD_NEEDED, LIMIT(name) }
#define BUDGET_ROW(needed)	{ "budget", "COUNT[k|M|G]/TIME [ packets|bytes ]", \
	"of one source; TIME is [N]ms, s, m, h or d", \
	.parse = row_budget, .flags = (needed), .max = WEIR_PACKETS_MAX }
#define LIMIT_ROWS \
	{ "family", "ipv4|ipv6", "only this family", .parse = cond_family, COND(FAMILY) }, \
	{ "dev", "IFACE", "only what arrives on this device", .parse = cond_dev, \
	  COND(DEV), LIMIT(match.dev) }, \
	{ "from", "PREFIX", "only from this prefix", .parse = cond_prefix, \
	  COND(FROM), LIMIT(match.from) }, \
	{ "to", "PREFIX", "only to this prefix", .parse = cond_prefix, \
	  COND(TO), LIMIT(match.to) }, \
	{ "proto", "PROTO", "only this protocol", .parse = cond_proto, \
	  COND(PROTO), LIMIT(match.proto) }, \
	{ "sport", "PORT[-PORT]", "only from these ports", .parse = cond_ports, \
	  COND(SPORT), LIMIT(match.sport) }, \
	{ "dport", "PORT[-PORT]", "only to these ports", .parse = cond_ports, \
	  COND(DPORT), LIMIT(match.dport) }, \
	{ "syn", NULL, "only TCP with SYN set; ACK, RST, FIN clear", .parse = cond_flag, \
	  COND(SYN) }, \
	{ "frag", NULL, "only fragments behind the first", .parse = cond_flag, \
	  COND(FRAG) }, \
	{ "mark", "VALUE[/MASK]", "only with this mark", .parse = cond_mark, COND(MARK) }, \
	{ "match", "any", "no condition: every packet", .parse = row_any }, \
	{ "per", "V4[,V6]", "bits that make a source (32,64); 0: everybody", \
	  .parse = row_per }, \
	{ "slots", "N", "parts of the window", .parse = row_table, \
	  .number = WEIR_HAS_SLOTS, LIMIT(slots), .min = 1, .max = WEIR_SLOTS_MAX }, \
	{ "strict", NULL, "never more than the budget in any window (default)", \
	  .parse = row_mode, .group = GROUP_MODE, .number = WEIR_MODE_STRICT }, \
	{ "lenient", NULL, "never refuse who is under the budget", \
	  .parse = row_mode, .group = GROUP_MODE, .number = WEIR_MODE_LENIENT }, \
	{ "sources", "N", "live sources that the table is to hold", .parse = row_table, \
	  .number = WEIR_HAS_SOURCES, LIMIT(sources), \
	  .min = WEIR_SOURCES_MIN, .max = WEIR_SOURCES_MAX }, \
	{ "action", "drop|observe", "drop (default), or count and drop nothing", \
	  .parse = row_action }, \
	{ "before", "NAME", "in front of this limit; behind all where left out", \
	  .parse = row_before, LIMIT(before) }, \
	{ 0 }

const struct weir_word weir_words_limit_add[] = {
	NAME_ROW, BUDGET_ROW(WEIR_WORD_NEEDED), LIMIT_ROWS
};

const struct weir_word weir_words_limit_set[] = {
	NAME_ROW, BUDGET_ROW(0), LIMIT_ROWS
};

const struct weir_word weir_words_limit_name[] = { NAME_ROW, { 0 } };

const struct weir_word weir_words_limit_show[] = {
	{ "NAME", "NAME", NULL, .parse = weir_row_name, .flags = WEIR_WORD_FIRST,
	  LIMIT(name) },
	{ 0 }
};

static const char *family_name(uint8_t family)
{
	return family == AF_INET ? "IPv4" : "IPv6";
}

/* All conditions that name a family, and hold uninverted, name the same. */
static int check_family(const struct weir_match *match, struct weir_err *err)
{
	const struct {
		const char *word;
		uint32_t cond;
		uint8_t family;
	} say[] = {
		{ "family", WEIR_COND_FAMILY, match->family },
		{ "from", WEIR_COND_FROM, match->from.family },
		{ "to", WEIR_COND_TO, match->to.family },
	};
	uint32_t plain = match->conds & ~match->invert;
	int first = -1, i;

	for (i = 0; i < 3; i++) {
		if (!(plain & say[i].cond))
			continue;
		if (first < 0)
			first = i;
		else if (say[i].family != say[first].family)
			return weir_err_set(err, "%s is %s but %s is %s: no packet is both",
					    say[first].word,
					    family_name(say[first].family),
					    say[i].word,
					    family_name(say[i].family));
	}
	return 0;
}

static int check_proto(const struct weir_match *match, struct weir_err *err)
{
	uint32_t ports = match->conds & (WEIR_COND_SPORT | WEIR_COND_DPORT);
	uint32_t plain = match->conds & ~match->invert;
	const char *word = match->conds & WEIR_COND_DPORT ? "dport" : "sport";

	if (ports && !(plain & WEIR_COND_PROTO && weir_proto_has_ports(match->proto)))
		return weir_err_set(err, "%s needs a proto that has ports: tcp, udp, sctp, dccp or udplite",
				    word);
	if (match->conds & WEIR_COND_SYN && match->conds & WEIR_COND_PROTO &&
	    !(plain & WEIR_COND_PROTO && match->proto == IPPROTO_TCP))
		return weir_err_set(err, "syn is of tcp; say proto tcp or no proto");
	if (plain & WEIR_COND_FRAG && (ports || match->conds & WEIR_COND_SYN))
		return weir_err_set(err, "%s: a fragment behind the first has no such header",
				    ports ? word : "syn");
	return 0;
}

/* Where help is typed, help is what is wanted; in a file it may be a name. */
static int check_help(const struct weir_limit *limit,
		      const struct weir_args *args)
{
	if (args->exact || strcmp(limit->name, "help"))
		return 0;
	return weir_err_set(args->err, "a limit called help could not be shown or deleted; give it another name");
}

static int check_limit(struct weir_limit *limit, struct weir_err *err)
{
	char buf[WEIR_TEXT_SIZE];

	if (check_family(&limit->match, err) || check_proto(&limit->match, err))
		return -EINVAL;
	if (limit->has & WEIR_HAS_SLOTS && limit->has & WEIR_HAS_BUDGET &&
	    limit->slots > limit->window_ms)
		return weir_err_set(err, "slots: %u do not fit a window of %s; at most %u do",
				    limit->slots,
				    weir_text_time(limit->window_ms * 1000000ULL, buf),
				    limit->window_ms);
	if (limit->has & WEIR_HAS_BEFORE && !strcmp(limit->before, limit->name))
		return weir_err_set(err, "before: a limit cannot stand before itself");
	return 0;
}

/**
 * weir_parse_limit - read a limit
 * @args: the words; all are taken
 * @words: the rows of the command
 * @limit: takes the meaning: what is left out is not in its has
 *
 * Return: 0, or -EINVAL with the sentence in the words' err.
 */
int weir_parse_limit(struct weir_args *args, const struct weir_word *words,
		     struct weir_limit *limit)
{
	memset(limit, 0, sizeof(*limit));
	if (weir_words_parse(words, args, limit))
		return -EINVAL;
	if (words == weir_words_limit_set && !limit->has)
		return weir_err_set(args->err, "nothing to change in '%s'",
				    limit->name);
	if (words == weir_words_limit_add && check_help(limit, args))
		return -EINVAL;
	return check_limit(limit, args->err);
}
