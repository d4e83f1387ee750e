// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations that block a source and release it, under one limit or under all.
 */
#include <linux/bottom_half.h>
#include <linux/slab.h>

#include "clock.h"
#include "limit/stats.h"
#include "netlink/message.h"
#include "path/events.h"

/* Room for the message of one limit. */
#define BLOCKED_ROOM 160

static const char already[] = "already blocked; replace it to prolong it";

struct block {
	struct weir_outline outline;	/* of packets of the source */
	u64 tick;			/* now */
	u64 end;			/* tick, or WEIR_NEVER */
	bool release;
	enum weir_block how;
	bool exempt;			/* from one of the limits at least */
	unsigned int count;
	const struct weir_limit *limit[WEIR_LIMITS_MAX];	/* that are asked for */
	u64 was[WEIR_LIMITS_MAX];	/* ends of the blocks that there were, or 0 */
};

static int block_parse(struct genl_info *info, const struct weir_net *wn, struct block *block)
{
	struct nlattr **attrs = info->attrs;
	u64 ms;
	int err;

	block->tick = weir_clock();
	block->release = info->genlhdr->cmd == WEIR_CMD_SOURCE_RELEASE;
	err = weir_nl_outline(attrs, wn, &block->outline, info->extack);
	if (err || block->release)
		return err;
	err = weir_nl_require(attrs, NULL, WEIR_A_SOURCE_FOR_MS,
			      "the time for which to block is missing; 0 is for ever",
			      info->extack);
	if (err)
		return err;
	ms = nla_get_u64(attrs[WEIR_A_SOURCE_FOR_MS]);
	block->end = ms ? block->tick + DIV_ROUND_UP_ULL(ms * HZ, MSEC_PER_SEC) : WEIR_NEVER;
	block->how = !attrs[WEIR_A_SOURCE_REPLACE] ? WEIR_BLOCK_ADD :
		     attrs[WEIR_A_SOURCE_FORCE] ? WEIR_BLOCK_REPLACE : WEIR_BLOCK_EXTEND;
	if (!ms || ms >= WEIR_BLOCK_MS_MIN)
		return 0;
	weir_nl_refuse(info->extack, attrs[WEIR_A_SOURCE_FOR_MS],
		       "a block lasts a second at least; 0 is for ever");
	return -ERANGE;
}

/* Prepare the lookup of the source under a limit. */
static struct weir_lookup block_lookup(const struct block *block, const struct weir_limit *limit,
				       struct weir_source *masked)
{
	*masked = block->outline.packet.source;
	weir_source_mask(masked, limit->cfg.prefix);
	return (struct weir_lookup) {
		.source = masked,
		.tick = block->tick,
		.budgets = limit->room,
		.hash = weir_source_hash(masked, limit->cfg.prefix, &limit->key),
	};
}

/* Block under a limit until @end, or with 0 release. Returns a negative errno. */
static int block_set(struct weir_net *wn, struct block *block, const struct weir_limit *limit,
		     u64 end)
{
	struct weir_source masked;
	struct weir_lookup lookup = block_lookup(block, limit, &masked);
	int ret;

	if (!end) {
		/* It may have ended by itself. */
		weir_table_release(limit->table, &masked, lookup.hash, block->tick);
		return 0;
	}
	local_bh_disable();
	rcu_read_lock();
	ret = weir_table_block(limit->table, &lookup, end, block->how);
	rcu_read_unlock();
	if (ret > 0) {
		weir_limit_count(limit, WEIR_COUNTER_OF(evictions), 1);
		weir_event_pressure(wn, limit, block->tick);
	}
	local_bh_enable();
	return ret == -EEXIST && block->how == WEIR_BLOCK_EXTEND ? 0 : min(ret, 0);
}

/* Does a limit count all addresses of the source's family as one? */
static bool block_all(const struct block *block, const struct weir_limit *limit)
{
	bool ipv6 = block->outline.packet.source.scope & WEIR_SCOPE_IPV6;

	return !(ipv6 ? limit->cfg.prefix.len6 : limit->cfg.prefix.len4);
}

/* Does the request mean a limit? It must be able to match the source, or to have it blocked. */
static bool block_means(struct block *block, const struct weir_limit *limit,
			const struct nlattr *name)
{
	if (name && nla_strcmp(name, limit->cfg.name))
		return false;
	return !block_all(block, limit) &&
	       (block->release ||
		weir_match_outline(&limit->cfg.match, &block->outline));
}

/* No limit is meant: say why. */
static int block_none(const struct block *block, const struct weir_config *config,
		      struct nlattr **attrs, struct netlink_ext_ack *extack)
{
	const struct nlattr *name = attrs[WEIR_A_SOURCE_LIMIT];
	const struct weir_limit *limit = name ? weir_limit_find(config, nla_data(name)) : NULL;

	if (limit && block_all(block, limit))
		return weir_nl_refuse(extack, name,
				      "the limit counts all addresses as one source; block under another");
	if (limit)
		return weir_nl_refuse(extack, name,
				      "the limit cannot match the address; block under another");
	if (name)
		return weir_nl_no_limit(name, extack);
	weir_nl_refuse(extack, attrs[WEIR_A_SOURCE_ADDRESS],
		       "no limit could block it; a source is blocked under a limit that matches it");
	return -ENOENT;
}

/* Find the limits that the request means, and how the source is blocked there. */
static int block_limits(const struct weir_net *wn, struct block *block, struct nlattr **attrs,
			struct netlink_ext_ack *extack)
{
	const struct weir_config *config = weir_config_get(wn);
	const struct weir_source *source = &block->outline.packet.source;
	struct weir_exception_place place = { };
	struct weir_source_state state;
	u64 slot[WEIR_SLOTS_MAX + 1];
	const struct weir_limit *limit;
	unsigned int i;

	if (config && !block->release)
		weir_exception_place(config->exceptions, source, block->outline.dev, &place);
	for (i = 0; config && i < config->count; i++) {
		limit = config->limit[i];
		if (!block_means(block, limit, attrs[WEIR_A_SOURCE_LIMIT]))
			continue;
		if (weir_exception_of(&place, block->outline.dev, limit->id, false))
			block->exempt = true;
		rcu_read_lock();
		weir_nl_peek(wn, limit, source, NULL, &state, slot);
		rcu_read_unlock();
		block->was[block->count] = state.blocked && state.blocked != WEIR_NEVER ?
					   block->tick + state.blocked : state.blocked;
		block->limit[block->count++] = limit;
	}
	return block->count ? 0 : block_none(block, config, attrs, extack);
}

static int block_refuse(struct genl_info *info, int err, const char *msg)
{
	weir_nl_refuse(info->extack, info->attrs[WEIR_A_SOURCE_ADDRESS], msg);
	return err;
}

/* The limit has no place for the block. */
static int block_full(struct genl_info *info, const struct weir_limit *limit)
{
	const struct weir_error error = {
		.msg = limit->cfg.budgets ?
		       "no place is left for the block; raise the limit's sources" :
		       "no place is left for the block; raise the limit's blocks",
		.value = limit->cfg.blocks ?: weir_table_blocks_most(limit->table),
	};

	weir_limit_count(limit, WEIR_COUNTER_OF(blocks_lost), 1);
	return weir_nl_error(&error, info->attrs[WEIR_A_SOURCE_ADDRESS], -ENOSPC, info->extack);
}

/* All or nothing, as far as penalties that come meanwhile let it. */
static int block_do(struct weir_net *wn, struct block *block, struct genl_info *info)
{
	const struct weir_limit *full;
	bool blocked = false;
	unsigned int i;
	int err = 0;

	for (i = 0; i < block->count; i++)
		blocked |= block->was[i];
	if (block->release && !blocked)
		return block_refuse(info, -ENOENT, info->attrs[WEIR_A_SOURCE_LIMIT] ?
				    "the source is not blocked under this limit; name no limit" :
				    "the source is not blocked; what it sent is counted until it is forgotten");
	if (blocked && !block->release && block->how == WEIR_BLOCK_ADD)
		return block_refuse(info, -EEXIST, already);
	for (i = 0; i < block->count && !err; i++)
		if (!block->release || block->was[i])
			err = block_set(wn, block, block->limit[i], block->end);
	if (!err) {
		if (block->exempt)
			weir_nl_refuse(info->extack, NULL,
				       "the source is exempt, which comes before blocks");
		return 0;
	}
	full = block->limit[i - 1];
	block->how = WEIR_BLOCK_REPLACE;
	for (i--; i--; )
		block_set(wn, block, block->limit[i], block->was[i]);
	return err == -ENOSPC ? block_full(info, full) : block_refuse(info, err, already);
}

/* Put each limit under which something changed into the reply, and tell listeners. */
static void block_tell(struct weir_net *wn, const struct block *block, struct genl_info *info,
		       struct sk_buff *reply)
{
	u32 what = block->release ? WEIR_SOURCE_EVENT_RELEASED : WEIR_SOURCE_EVENT_BLOCKED;
	struct weir_net_prefix prefix;
	struct weir_source masked;
	struct nlmsghdr *message;
	unsigned int i;
	void *header;
	u64 end;

	for (i = 0; i < block->count; i++) {
		if (block->release && !block->was[i])
			continue;
		end = block->how == WEIR_BLOCK_EXTEND ? max(block->end, block->was[i]) : block->end;
		block_lookup(block, block->limit[i], &masked);
		prefix = weir_nl_source_prefix(&masked, block->limit[i]->cfg.prefix);
		message = (struct nlmsghdr *)skb_tail_pointer(reply);
		header = genlmsg_put_reply(reply, info, &weir_nl_family, 0, info->genlhdr->cmd);
		/* There is room: see BLOCKED_ROOM. */
		if (WARN_ON_ONCE(!header ||
				 weir_nl_put_prefix(reply, WEIR_A_SOURCE_ADDRESS,
						    WEIR_A_SOURCE_PREFIX_LEN, &prefix) ||
				 weir_nl_put_dev(reply, WEIR_A_SOURCE_DEV, wn->net,
						 weir_source_ifindex(&masked)) ||
				 nla_put_string(reply, WEIR_A_SOURCE_LIMIT,
						block->limit[i]->cfg.name) ||
				 weir_nl_put_blocked(reply, !end || end == WEIR_NEVER ? end :
						     end - block->tick)))
			continue;
		genlmsg_end(reply, header);
		weir_nl_event_done(wn, what, message);
	}
}

int weir_nl_source_block_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	struct block *block = kzalloc(sizeof(*block), GFP_KERNEL);
	struct sk_buff *reply = NULL;
	int err;

	err = block ? block_parse(info, wn, block) : -ENOMEM;
	/* So that no table has a successor meanwhile. */
	mutex_lock(&wn->lock);
	err = err ?: weir_nl_restoring(wn, info) ?:
	      block_limits(wn, block, info->attrs, info->extack);
	if (!err) {
		/* Before anything changes. */
		reply = nlmsg_new(BLOCKED_ROOM * block->count, GFP_KERNEL);
		err = reply ? block_do(wn, block, info) : -ENOMEM;
	}
	if (!err)
		block_tell(wn, block, info, reply);
	mutex_unlock(&wn->lock);
	kfree(block);
	return weir_nl_replies_end(info, reply, err);
}

int weir_nl_source_release_doit(struct sk_buff *skb, struct genl_info *info)
	__alias(weir_nl_source_block_doit);
