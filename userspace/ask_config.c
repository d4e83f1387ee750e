// SPDX-License-Identifier: GPL-2.0-or-later
/* A whole configuration as one message. */

#include <errno.h>
#include <stdlib.h>

#include "nl_priv.h"

/* What an item of a configuration takes at most, in attributes. */
#define LIMIT_ROOM	512
#define EXEMPT_ROOM	128

static void put_config(struct nlmsghdr *nlh, const struct weir_config *config)
{
	struct nlattr *nest;
	unsigned int i;

	for (i = 0; i < config->limit_count; i++) {
		nest = mnl_attr_nest_start(nlh, WEIR_A_CONFIG_LIMIT);
		weir_nl_put_limit(nlh, &config->limits[i]);
		mnl_attr_nest_end(nlh, nest);
	}
	for (i = 0; i < config->exempt_count; i++) {
		nest = mnl_attr_nest_start(nlh, WEIR_A_CONFIG_EXEMPT);
		weir_nl_put_exempt(nlh, &config->exempts[i]);
		mnl_attr_nest_end(nlh, nest);
	}
}

/* The line of the item that the kernel refused; 0 where that is unknown. */
static unsigned int fault_line(const struct weir_nl *nl,
			       const struct weir_config *config)
{
	if (nl->fault_type == WEIR_A_CONFIG_LIMIT &&
	    nl->fault_item < config->limit_count)
		return config->limits[nl->fault_item].line;
	if (nl->fault_type == WEIR_A_CONFIG_EXEMPT &&
	    nl->fault_item < config->exempt_count)
		return config->exempts[nl->fault_item].line;
	return 0;
}

/**
 * weir_nl_replace - replace all limits and exemptions, or nothing
 * @nl: connection
 * @config: what is to be
 * @line: takes the line of what was refused, or 0
 *
 * Return: 0 or a negative errno.
 */
int weir_nl_replace(struct weir_nl *nl, const struct weir_config *config,
		    unsigned int *line)
{
	size_t size = 1024 + (size_t)config->limit_count * LIMIT_ROOM +
		      (size_t)config->exempt_count * EXEMPT_ROOM;
	struct nlmsghdr *nlh;
	void *buf;
	int ret;

	*line = 0;
	buf = malloc(size);
	if (!buf) {
		weir_err_set(&nl->err, "no memory for a message of %zu bytes",
			     size);
		return -ENOMEM;
	}
	nlh = weir_nl_begin(nl, buf, WEIR_CMD_CONFIG_REPLACE, 0);
	put_config(nlh, config);
	ret = weir_nl_talk(nl, nlh, NULL, NULL);
	if (ret)
		*line = fault_line(nl, config);
	free(buf);
	return ret;
}
