// SPDX-License-Identifier: GPL-2.0-or-later
/* What may follow source and exempt, and the values that rows share. */

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "parse.h"
#include "rows.h"

/* By number, as the specification lists them. */
const char *const weir_actions[] = { "drop", "observe", NULL };
const char *const weir_modes[] = { "strict", "lenient", NULL };
const char *const weir_charge_modes[] = { "all", "drain", NULL };
const char *const weir_ranks[] = { "dropped", "count", NULL };
const char *const weir_units[] = { "packets", "bytes", NULL };

/* Read the name of a limit into the model at the row's offset. */
int weir_row_name(const struct weir_word *word, struct weir_args *args,
		  const char *value, void *model)
{
	return weir_value_name(value, weir_row_at(word, model), args->err);
}

/* Read the name of a device into the model at the row's offset. */
int weir_row_dev(const struct weir_word *word, struct weir_args *args,
		 const char *value, void *model)
{
	return weir_value_dev(value, weir_row_at(word, model), args->err);
}

/* Read a prefix into the model at the row's offset. */
int weir_row_prefix(const struct weir_word *word, struct weir_args *args,
		    const char *value, void *model)
{
	return weir_value_prefix(value, weir_row_at(word, model), args->err);
}

/* Read an address into the model at the row's offset. */
int weir_row_address(const struct weir_word *word, struct weir_args *args,
		     const char *value, void *model)
{
	return weir_value_address(value, weir_row_at(word, model), args->err);
}

/* Find which of the names @text is. */
int weir_row_choose(const char *const *names, const char *text,
		    struct weir_args *args, uint32_t *number)
{
	const char *const *name = weir_pick(names, sizeof(*names), text,
					    args->exact, NULL, args->err);

	if (!name)
		return -EINVAL;
	*number = name - names;
	return 0;
}

static int row_flag(const struct weir_word *word, struct weir_args *args,
		    const char *value, void *model)
{
	(void)args;
	(void)value;
	*(bool *)weir_row_at(word, model) = true;
	return 0;
}

static int row_prefix_or_all(const struct weir_word *word,
			     struct weir_args *args, const char *value,
			     void *model)
{
	if (!strcmp(value, "all"))
		return 0;
	return weir_row_prefix(word, args, value, model);
}

static int row_top(const struct weir_word *word, struct weir_args *args,
		   const char *value, void *model)
{
	struct weir_query *query = model;
	const char *by = weir_args_peek(args);
	uint64_t top;

	if (weir_value_number(value, word->min, word->max, &top, args->err))
		return -EINVAL;
	query->top = top;
	query->rank = WEIR_RANK_DROPPED;
	if (!by || strcmp(by, "by"))
		return 0;
	weir_args_next(args);
	by = weir_args_next(args);
	if (!by)
		return weir_err_set(args->err, "by what? (dropped, count)");
	return weir_row_choose(weir_ranks, by, args, &query->rank);
}

static int row_cost(const struct weir_word *word, struct weir_args *args,
		    const char *value, void *model)
{
	struct weir_query *query = model;

	query->has_unit = true;
	query->unit = word->number;
	return weir_value_count(value, word->min, word->max, &query->cost,
				args->err);
}

static int row_charge_mode(const struct weir_word *word,
			   struct weir_args *args, const char *value,
			   void *model)
{
	return weir_row_choose(weir_charge_modes, value, args,
			       weir_row_at(word, model));
}

#define QUERY(field)	.offset = offsetof(struct weir_query, field)
#define EXEMPT(field)	.offset = offsetof(struct weir_exempt, field)
#define GROUP_IDLE	1
#define GROUP_COST	2

#define QUERY_ADDRESS	{ "ADDR", "ADDR", NULL, .parse = weir_row_address, \
	.flags = WEIR_WORD_FIRST | WEIR_WORD_NEEDED, QUERY(prefix) }
#define QUERY_LIMIT	{ "limit", "NAME", "under this limit alone", \
	.parse = weir_row_name, QUERY(limit) }
#define QUERY_DEV	{ "dev", "IFACE", "of this device (link-local sources)", \
	.parse = weir_row_dev, QUERY(dev) }

const struct weir_word weir_words_source_show[] = {
	{ "PREFIX", "PREFIX", "only those that share addresses with ADDR[/LENGTH]",
	  .parse = weir_row_prefix, .flags = WEIR_WORD_BARE, QUERY(prefix) },
	QUERY_LIMIT,
	QUERY_DEV,
	{ "limited", NULL, "only those that are limited now", .parse = row_flag,
	  QUERY(limited) },
	{ "idle", NULL, "those without a count in the window too", .parse = row_flag,
	  .group = GROUP_IDLE, QUERY(idle) },
	{ "all", NULL, "the same as idle", .parse = row_flag,
	  .group = GROUP_IDLE, QUERY(idle) },
	{ "top", "N [ by dropped|count ]", "only the worst, the worst first",
	  .parse = row_top, .min = 1, .max = WEIR_TOP_MAX },
	{ 0 }
};

const struct weir_word weir_words_source_get[] = {
	QUERY_ADDRESS,
	QUERY_DEV,
	QUERY_LIMIT,
	{ 0 }
};

const struct weir_word weir_words_source_charge[] = {
	QUERY_ADDRESS,
	{ "limit", "NAME", "under which limit", .parse = weir_row_name,
	  .flags = WEIR_WORD_NEEDED, QUERY(limit) },
	QUERY_DEV,
	{ "packets", "N", "how many; 1 where it is left out", .parse = row_cost,
	  .group = GROUP_COST, .number = WEIR_UNIT_PACKETS,
	  .min = 1, .max = WEIR_PACKETS_MAX },
	{ "bytes", "N", "how many, of a limit that counts bytes", .parse = row_cost,
	  .group = GROUP_COST, .number = WEIR_UNIT_BYTES,
	  .min = 1, .max = WEIR_BYTES_MAX },
	{ "mode", "all|drain", "all or nothing (default), or what there is",
	  .parse = row_charge_mode, QUERY(charge_mode) },
	{ 0 }
};

const struct weir_word weir_words_source_forget[] = {
	{ "PREFIX", "PREFIX|all", "those that lie in ADDR[/LENGTH], or all",
	  .parse = row_prefix_or_all,
	  .flags = WEIR_WORD_FIRST | WEIR_WORD_NEEDED, QUERY(prefix) },
	QUERY_DEV,
	QUERY_LIMIT,
	{ 0 }
};

const struct weir_word weir_words_exempt[] = {
	{ "PREFIX", "PREFIX", "whom: ADDR[/LENGTH]", .parse = weir_row_prefix,
	  .flags = WEIR_WORD_FIRST | WEIR_WORD_NEEDED, EXEMPT(prefix) },
	{ "dev", "IFACE", "only what arrives on this device", .parse = weir_row_dev,
	  EXEMPT(dev) },
	{ "limit", "NAME", "only from this limit", .parse = weir_row_name,
	  EXEMPT(limit) },
	{ 0 }
};

const struct weir_word weir_words_exempt_get[] = {
	{ "ADDR", "ADDR", NULL, .parse = weir_row_address,
	  .flags = WEIR_WORD_FIRST | WEIR_WORD_NEEDED, EXEMPT(prefix) },
	{ "dev", "IFACE", "where it arrives on this device", .parse = weir_row_dev,
	  EXEMPT(dev) },
	{ "limit", "NAME", "where this limit would be asked", .parse = weir_row_name,
	  EXEMPT(limit) },
	{ 0 }
};

const struct weir_word weir_words_none[] = { { 0 } };

/**
 * weir_parse_query - read what is asked of sources
 * @args: the words; all are taken
 * @words: the rows of the command
 * @query: takes the meaning
 *
 * Return: 0, or -EINVAL with the sentence in the words' err.
 */
int weir_parse_query(struct weir_args *args, const struct weir_word *words,
		     struct weir_query *query)
{
	memset(query, 0, sizeof(*query));
	return weir_words_parse(words, args, query);
}

/**
 * weir_parse_exempt - read an exemption
 * @args: the words; all are taken
 * @words: the rows of the command
 * @exempt: takes the meaning
 *
 * Return: 0, or -EINVAL with the sentence in the words' err.
 */
int weir_parse_exempt(struct weir_args *args, const struct weir_word *words,
		      struct weir_exempt *exempt)
{
	memset(exempt, 0, sizeof(*exempt));
	return weir_words_parse(words, args, exempt);
}
