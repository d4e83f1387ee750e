// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether the words of a limit fit each other. */

#include <netinet/in.h>
#include <string.h>

#include "field.h"
#include "value.h"

static const char *family_name(uint8_t family)
{
	return family == AF_INET ? "IPv4" : "IPv6";
}

/* All conditions that name a family, and hold uninverted, name the same. */
static int check_family(const struct weir_match *match, struct weir_args *args)
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
	uint32_t plain = match->has & ~match->invert;
	int first = -1, i;

	for (i = 0; i < 3; i++) {
		if (!(plain & say[i].cond))
			continue;
		if (first < 0)
			first = i;
		else if (say[i].family != say[first].family)
			break;
	}
	if (i < 3) {
		weir_err_set(args->err, "%s is %s but %s is %s: no packet can match both",
			     say[first].word, family_name(say[first].family),
			     say[i].word, family_name(say[i].family));
		return weir_args_blame(args, say[i].word);
	}
	return 0;
}

/* @some: beside conditions that are not known */
static int check_proto(const struct weir_match *match, bool some, struct weir_args *args)
{
	uint32_t ports = match->has & (WEIR_COND_SPORT | WEIR_COND_DPORT);
	uint32_t plain = match->has & ~match->invert;
	const char *word = match->has & WEIR_COND_DPORT ? "dport" : "sport";

	if (ports && !(some && !(match->has & WEIR_COND_PROTO)) &&
	    !(plain & WEIR_COND_PROTO && weir_proto_has_ports(match->proto)))
		weir_err_set(args->err, "%s requires a protocol with ports: proto tcp, udp, sctp, dccp or udplite",
			     word);
	else if (match->has & WEIR_COND_SYN && match->has & WEIR_COND_PROTO &&
		 !(plain & WEIR_COND_PROTO && match->proto == IPPROTO_TCP))
		weir_err_set(args->err, "%s requires proto tcp, or no proto", word = "syn");
	else if (plain & WEIR_COND_FRAG && (ports || match->has & WEIR_COND_SYN))
		weir_err_set(args->err, WEIR_COMBINED ": later fragments have no transport header",
			     word = ports ? word : "syn", "frag");
	else
		return 0;
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

static int check_slots(const struct weir_limit *limit, struct weir_args *args)
{
	char buf[WEIR_TEXT_SIZE];

	if (!(limit->has & WEIR_HAS(LIMIT_SLOTS)) || !(limit->has & WEIR_HAS(LIMIT_BUDGET)) ||
	    limit->slots <= limit->budget.window_ms)
		return 0;
	weir_err_set(args->err, "slots: %u do not fit a window of %s; at most %u do", limit->slots,
		     weir_text_time(limit->budget.window_ms * 1000000ULL, buf),
		     limit->budget.window_ms);
	return weir_args_blame(args, "slots");
}

int weir_check_limit(struct weir_args *args, unsigned int verb, void *model)
{
	const struct weir_limit *limit = model;

	if (verb == WEIR_ON_SET && !limit->has)
		return weir_err_set(args->err, "nothing to change in '%s'", limit->name);
	/* typed, help is what is wanted; in a file it may be a name */
	if (verb == WEIR_ON_ADD && !args->exact && !strcmp(limit->name, "help"))
		return weir_err_set(args->err, "'help' cannot name a limit: commands would take it as a request for help");
	if (limit->has & WEIR_HAS(LIMIT_BEFORE) && !strcmp(limit->before, limit->name))
		return weir_err_set(args->err, "before: a limit cannot be placed before itself");
	if (check_any(&limit->match, args) || check_family(&limit->match, args) ||
	    check_proto(&limit->match, verb == WEIR_ON_SET && !limit->match.any, args))
		return -EINVAL;
	return check_slots(limit, args);
}
