// SPDX-License-Identifier: GPL-2.0-or-later
/* Models into attributes. */

#include <netinet/in.h>
#include <sys/socket.h>

#include "nl_priv.h"

static void put_prefix(struct nlmsghdr *nlh, uint16_t type, uint16_t len_type,
		       const struct weir_prefix *prefix)
{
	mnl_attr_put(nlh, type, prefix->family == AF_INET ? 4 : 16,
		     prefix->addr);
	mnl_attr_put_u8(nlh, len_type, prefix->len);
}

static void put_name(struct nlmsghdr *nlh, uint16_t type, const char *name)
{
	if (*name)
		mnl_attr_put_strz(nlh, type, name);
}

static void put_ports(struct nlmsghdr *nlh, uint16_t min, uint16_t max,
		      const uint16_t ports[2])
{
	mnl_attr_put_u16(nlh, min, ports[0]);
	mnl_attr_put_u16(nlh, max, ports[1]);
}

static void put_match(struct nlmsghdr *nlh, const struct weir_match *match)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, WEIR_A_LIMIT_MATCH);

	if (match->invert)
		mnl_attr_put_u32(nlh, WEIR_A_MATCH_INVERT, match->invert);
	if (match->conds & WEIR_COND_FAMILY)
		mnl_attr_put_u8(nlh, WEIR_A_MATCH_FAMILY, match->family);
	if (match->conds & WEIR_COND_DEV)
		mnl_attr_put_strz(nlh, WEIR_A_MATCH_DEV, match->dev);
	if (match->conds & WEIR_COND_FROM)
		put_prefix(nlh, WEIR_A_MATCH_FROM, WEIR_A_MATCH_FROM_LEN,
			   &match->from);
	if (match->conds & WEIR_COND_TO)
		put_prefix(nlh, WEIR_A_MATCH_TO, WEIR_A_MATCH_TO_LEN,
			   &match->to);
	if (match->conds & WEIR_COND_PROTO)
		mnl_attr_put_u8(nlh, WEIR_A_MATCH_PROTO, match->proto);
	if (match->conds & WEIR_COND_SPORT)
		put_ports(nlh, WEIR_A_MATCH_SPORT_MIN, WEIR_A_MATCH_SPORT_MAX,
			  match->sport);
	if (match->conds & WEIR_COND_DPORT)
		put_ports(nlh, WEIR_A_MATCH_DPORT_MIN, WEIR_A_MATCH_DPORT_MAX,
			  match->dport);
	if (match->conds & WEIR_COND_SYN)
		mnl_attr_put(nlh, WEIR_A_MATCH_SYN, 0, NULL);
	if (match->conds & WEIR_COND_FRAG)
		mnl_attr_put(nlh, WEIR_A_MATCH_FRAG, 0, NULL);
	if (match->conds & WEIR_COND_MARK) {
		mnl_attr_put_u32(nlh, WEIR_A_MATCH_MARK, match->mark);
		mnl_attr_put_u32(nlh, WEIR_A_MATCH_MARK_MASK, match->mask);
	}
	mnl_attr_nest_end(nlh, nest);
}

void weir_nl_put_limit(struct nlmsghdr *nlh, const struct weir_limit *limit)
{
	put_name(nlh, WEIR_A_LIMIT_NAME, limit->name);
	put_name(nlh, WEIR_A_LIMIT_BEFORE, limit->before);
	if (limit->has & WEIR_HAS_BUDGET) {
		mnl_attr_put_u64(nlh, WEIR_A_LIMIT_BUDGET, limit->budget);
		mnl_attr_put_u32(nlh, WEIR_A_LIMIT_WINDOW_MS, limit->window_ms);
	}
	if (limit->has & WEIR_HAS_UNIT)
		mnl_attr_put_u32(nlh, WEIR_A_LIMIT_UNIT, limit->unit);
	if (limit->has & WEIR_HAS_SLOTS)
		mnl_attr_put_u32(nlh, WEIR_A_LIMIT_SLOTS, limit->slots);
	if (limit->has & WEIR_HAS_MODE)
		mnl_attr_put_u32(nlh, WEIR_A_LIMIT_MODE, limit->mode);
	if (limit->has & WEIR_HAS_PER) {
		mnl_attr_put_u8(nlh, WEIR_A_LIMIT_PREFIX4, limit->prefix4);
		mnl_attr_put_u8(nlh, WEIR_A_LIMIT_PREFIX6, limit->prefix6);
	}
	if (limit->has & WEIR_HAS_SOURCES)
		mnl_attr_put_u32(nlh, WEIR_A_LIMIT_SOURCES, limit->sources);
	if (limit->has & WEIR_HAS_ACTION)
		mnl_attr_put_u32(nlh, WEIR_A_LIMIT_ACTION, limit->action);
	if (limit->has & WEIR_HAS_MATCH)
		put_match(nlh, &limit->match);
}

void weir_nl_put_exempt(struct nlmsghdr *nlh, const struct weir_exempt *exempt)
{
	put_prefix(nlh, WEIR_A_EXEMPT_ADDRESS, WEIR_A_EXEMPT_PREFIX_LEN,
		   &exempt->prefix);
	put_name(nlh, WEIR_A_EXEMPT_DEV, exempt->dev);
	put_name(nlh, WEIR_A_EXEMPT_LIMIT, exempt->limit);
}

/* What each command takes of it is in the specification. */
void weir_nl_put_query(struct nlmsghdr *nlh, const struct weir_query *query)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);
	const struct weir_prefix *prefix = &query->prefix;

	put_name(nlh, WEIR_A_SOURCE_LIMIT, query->limit);
	put_name(nlh, WEIR_A_SOURCE_DEV, query->dev);
	if (prefix->family)
		mnl_attr_put(nlh, WEIR_A_SOURCE_ADDRESS,
			     prefix->family == AF_INET ? 4 : 16, prefix->addr);
	if (prefix->family && (genl->cmd == WEIR_CMD_SOURCE_SHOW ||
			       genl->cmd == WEIR_CMD_SOURCE_FORGET))
		mnl_attr_put_u8(nlh, WEIR_A_SOURCE_PREFIX_LEN, prefix->len);
	if (query->limited)
		mnl_attr_put(nlh, WEIR_A_SOURCE_FILTER_LIMITED, 0, NULL);
	if (query->idle)
		mnl_attr_put(nlh, WEIR_A_SOURCE_IDLE, 0, NULL);
	if (query->top) {
		mnl_attr_put_u32(nlh, WEIR_A_SOURCE_TOP, query->top);
		mnl_attr_put_u32(nlh, WEIR_A_SOURCE_RANK, query->rank);
	}
	if (query->cost)
		mnl_attr_put_u64(nlh, WEIR_A_SOURCE_COST, query->cost);
	if (genl->cmd == WEIR_CMD_SOURCE_CHARGE)
		mnl_attr_put_u32(nlh, WEIR_A_SOURCE_CHARGE_MODE,
				 query->charge_mode);
}
