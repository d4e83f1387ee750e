// SPDX-License-Identifier: GPL-2.0-or-later
/* One function for each operation of the specification. */

#include <string.h>

#include "nl_priv.h"

/* Who asked, and for what: the answers go through it. */
struct ask {
	void *model;			/* takes one answer, or */
	weir_nl_limit_told *limit;	/* one of these is told each */
	weir_nl_source_told *source;
	weir_nl_exempt_told *exempt;
	void *data;
};

/* Room for any request but a whole configuration. */
union request {
	struct nlmsghdr nlh;
	char room[1024];
};

static void limit_reply(const struct nlmsghdr *nlh, void *data)
{
	struct weir_limit *limit, told;
	struct ask *ask = data;

	limit = ask->model ? ask->model : &told;
	weir_nl_get_limit(nlh, limit);
	if (ask->limit)
		ask->limit(limit, ask->data);
}

static void source_reply(const struct nlmsghdr *nlh, void *data)
{
	struct weir_source *source, told;
	struct ask *ask = data;

	source = ask->model ? ask->model : &told;
	weir_nl_get_source(nlh, source);
	if (ask->source)
		ask->source(source, ask->data);
}

static void exempt_reply(const struct nlmsghdr *nlh, void *data)
{
	struct weir_exempt *exempt, told;
	struct ask *ask = data;

	exempt = ask->model ? ask->model : &told;
	weir_nl_get_exempt(nlh, exempt);
	if (ask->exempt)
		ask->exempt(exempt, ask->data);
}

static void stats_reply(const struct nlmsghdr *nlh, void *data)
{
	weir_nl_get_stats(nlh, data);
}

static void forgotten_reply(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, GENL_HDRLEN) {
		if (mnl_attr_get_type(attr) == WEIR_A_SOURCE_FORGOTTEN)
			*(uint64_t *)data = weir_nl_uint(attr);
	}
}

static int limit_put(struct weir_nl *nl, uint8_t cmd,
		     const struct weir_limit *limit, struct weir_limit *made)
{
	struct ask ask = { .model = made };
	struct nlmsghdr *nlh;
	union request buf;

	nlh = weir_nl_begin(nl, &buf, cmd, made ? NLM_F_ECHO : 0);
	weir_nl_put_limit(nlh, limit);
	return weir_nl_talk(nl, nlh, limit_reply, &ask);
}

/* A request that is a command alone. */
static int command(struct weir_nl *nl, uint8_t cmd)
{
	union request buf;

	return weir_nl_talk(nl, weir_nl_begin(nl, &buf, cmd, 0), NULL, NULL);
}

/**
 * weir_nl_limit_add - make a limit
 * @nl: connection
 * @limit: its words
 * @made: takes what was made; or NULL
 *
 * Return: 0 or a negative errno, -EEXIST where there is one of its name.
 */
int weir_nl_limit_add(struct weir_nl *nl, const struct weir_limit *limit,
		      struct weir_limit *made)
{
	return limit_put(nl, WEIR_CMD_LIMIT_ADD, limit, made);
}

/**
 * weir_nl_limit_set - change what is given of a limit
 * @nl: connection
 * @limit: the words
 * @made: takes what resulted; or NULL
 *
 * Return: 0 or a negative errno, -ENOENT where there is no such limit.
 */
int weir_nl_limit_set(struct weir_nl *nl, const struct weir_limit *limit,
		      struct weir_limit *made)
{
	return limit_put(nl, WEIR_CMD_LIMIT_SET, limit, made);
}

/**
 * weir_nl_limit_del - remove a limit
 * @nl: connection
 * @name: which one
 *
 * Return: 0 or a negative errno, -ENOENT where there is no such limit.
 */
int weir_nl_limit_del(struct weir_nl *nl, const char *name)
{
	struct nlmsghdr *nlh;
	union request buf;

	nlh = weir_nl_begin(nl, &buf, WEIR_CMD_LIMIT_DEL, 0);
	mnl_attr_put_strz(nlh, WEIR_A_LIMIT_NAME, name);
	return weir_nl_talk(nl, nlh, NULL, NULL);
}

/**
 * weir_nl_limit_flush - remove all limits
 * @nl: connection
 *
 * Return: 0 or a negative errno.
 */
int weir_nl_limit_flush(struct weir_nl *nl)
{
	return command(nl, WEIR_CMD_LIMIT_FLUSH);
}

/**
 * weir_nl_limit_get - look at one limit
 * @nl: connection
 * @name: which one
 * @stats: whether counters are wanted
 * @limit: takes it
 *
 * Return: 0 or a negative errno, -ENOENT where there is no such limit.
 */
int weir_nl_limit_get(struct weir_nl *nl, const char *name, bool stats,
		      struct weir_limit *limit)
{
	struct ask ask = { .model = limit };
	struct nlmsghdr *nlh;
	union request buf;

	nlh = weir_nl_begin(nl, &buf, WEIR_CMD_LIMIT_GET, 0);
	mnl_attr_put_strz(nlh, WEIR_A_LIMIT_NAME, name);
	if (stats)
		mnl_attr_put(nlh, WEIR_A_LIMIT_WANT_STATS, 0, NULL);
	return weir_nl_talk(nl, nlh, limit_reply, &ask);
}

/**
 * weir_nl_limit_walk - look at all limits in their order
 * @nl: connection
 * @stats: whether counters are wanted
 * @told: is given each
 * @data: for @told
 *
 * Return: 0 or a negative errno.
 */
int weir_nl_limit_walk(struct weir_nl *nl, bool stats,
		       weir_nl_limit_told *told, void *data)
{
	struct ask ask = { .limit = told, .data = data };
	struct nlmsghdr *nlh;
	union request buf;

	nlh = weir_nl_begin(nl, &buf, WEIR_CMD_LIMIT_GET, NLM_F_DUMP);
	if (stats)
		mnl_attr_put(nlh, WEIR_A_LIMIT_WANT_STATS, 0, NULL);
	return weir_nl_talk(nl, nlh, limit_reply, &ask);
}

static int source_dump(struct weir_nl *nl, uint8_t cmd,
		       const struct weir_query *query,
		       weir_nl_source_told *told, void *data)
{
	struct ask ask = { .source = told, .data = data };
	struct nlmsghdr *nlh;
	union request buf;

	nlh = weir_nl_begin(nl, &buf, cmd, NLM_F_DUMP);
	weir_nl_put_query(nlh, query);
	return weir_nl_talk(nl, nlh, source_reply, &ask);
}

/**
 * weir_nl_source_show - look at the sources of limits
 * @nl: connection
 * @query: which ones
 * @told: is given each
 * @data: for @told
 *
 * Return: 0 or a negative errno.
 */
int weir_nl_source_show(struct weir_nl *nl, const struct weir_query *query,
			weir_nl_source_told *told, void *data)
{
	return source_dump(nl, WEIR_CMD_SOURCE_SHOW, query, told, data);
}

/**
 * weir_nl_source_get - look how an address stands under each limit
 * @nl: connection
 * @query: the address
 * @told: is given each
 * @data: for @told
 *
 * Return: 0 or a negative errno.
 */
int weir_nl_source_get(struct weir_nl *nl, const struct weir_query *query,
		       weir_nl_source_told *told, void *data)
{
	return source_dump(nl, WEIR_CMD_SOURCE_GET, query, told, data);
}

/**
 * weir_nl_source_charge - charge a source
 * @nl: connection
 * @query: address, limit and cost
 * @source: takes how it stands then
 *
 * Return: 0 or a negative errno.
 */
int weir_nl_source_charge(struct weir_nl *nl, const struct weir_query *query,
			  struct weir_source *source)
{
	struct ask ask = { .model = source };
	struct nlmsghdr *nlh;
	union request buf;

	memset(source, 0, sizeof(*source));
	nlh = weir_nl_begin(nl, &buf, WEIR_CMD_SOURCE_CHARGE, 0);
	weir_nl_put_query(nlh, query);
	return weir_nl_talk(nl, nlh, source_reply, &ask);
}

/**
 * weir_nl_source_forget - forget what sources have sent
 * @nl: connection
 * @query: which ones
 * @forgotten: takes how many
 *
 * Return: 0 or a negative errno.
 */
int weir_nl_source_forget(struct weir_nl *nl, const struct weir_query *query,
			  uint64_t *forgotten)
{
	struct nlmsghdr *nlh;
	union request buf;

	*forgotten = 0;
	nlh = weir_nl_begin(nl, &buf, WEIR_CMD_SOURCE_FORGET, 0);
	weir_nl_put_query(nlh, query);
	return weir_nl_talk(nl, nlh, forgotten_reply, forgotten);
}

static int exempt_put(struct weir_nl *nl, uint8_t cmd,
		      const struct weir_exempt *exempt,
		      struct weir_exempt *told)
{
	struct ask ask = { .model = told };
	struct nlmsghdr *nlh;
	union request buf;

	nlh = weir_nl_begin(nl, &buf, cmd, 0);
	weir_nl_put_exempt(nlh, exempt);
	return weir_nl_talk(nl, nlh, exempt_reply, &ask);
}

/**
 * weir_nl_exempt_add - exempt a prefix
 * @nl: connection
 * @exempt: the exemption
 *
 * Return: 0 or a negative errno, -EEXIST where it is exempt.
 */
int weir_nl_exempt_add(struct weir_nl *nl, const struct weir_exempt *exempt)
{
	return exempt_put(nl, WEIR_CMD_EXEMPT_ADD, exempt, NULL);
}

/**
 * weir_nl_exempt_del - remove an exemption
 * @nl: connection
 * @exempt: the exemption
 *
 * Return: 0 or a negative errno, -ENOENT where there is none.
 */
int weir_nl_exempt_del(struct weir_nl *nl, const struct weir_exempt *exempt)
{
	return exempt_put(nl, WEIR_CMD_EXEMPT_DEL, exempt, NULL);
}

/**
 * weir_nl_exempt_get - find why an address is exempt
 * @nl: connection
 * @asked: the address, with device and limit where they are known
 * @exempt: takes the exemption
 *
 * Return: 0 or a negative errno, -ENOENT where it is not exempt.
 */
int weir_nl_exempt_get(struct weir_nl *nl, const struct weir_exempt *asked,
		       struct weir_exempt *exempt)
{
	return exempt_put(nl, WEIR_CMD_EXEMPT_GET, asked, exempt);
}

/**
 * weir_nl_exempt_walk - look at all exemptions
 * @nl: connection
 * @told: is given each
 * @data: for @told
 *
 * Return: 0 or a negative errno.
 */
int weir_nl_exempt_walk(struct weir_nl *nl, weir_nl_exempt_told *told,
			void *data)
{
	struct ask ask = { .exempt = told, .data = data };
	struct nlmsghdr *nlh;
	union request buf;

	nlh = weir_nl_begin(nl, &buf, WEIR_CMD_EXEMPT_GET, NLM_F_DUMP);
	return weir_nl_talk(nl, nlh, exempt_reply, &ask);
}

/**
 * weir_nl_exempt_flush - remove all exemptions
 * @nl: connection
 *
 * Return: 0 or a negative errno.
 */
int weir_nl_exempt_flush(struct weir_nl *nl)
{
	return command(nl, WEIR_CMD_EXEMPT_FLUSH);
}

/**
 * weir_nl_stats - read the counters of the namespace
 * @nl: connection
 * @stats: takes them
 *
 * Return: 0 or a negative errno.
 */
int weir_nl_stats(struct weir_nl *nl, struct weir_stats *stats)
{
	struct nlmsghdr *nlh;
	union request buf;

	memset(stats, 0, sizeof(*stats));
	nlh = weir_nl_begin(nl, &buf, WEIR_CMD_STATS_GET, 0);
	return weir_nl_talk(nl, nlh, stats_reply, stats);
}
