// SPDX-License-Identifier: GPL-2.0-or-later
/* Show a configuration as the file that -file reads. */

#include <string.h>

#include "lang/config.h"
#include "show/show.h"

void weir_exempt_until(struct weir_exempt *exempt, const struct timespec *now)
{
	if (exempt->for_ms)
		exempt->until = now->tv_sec +
				(now->tv_nsec / 1000000 + exempt->for_ms + 500) / 1000;
	exempt->for_ms = 0;
}

/* An end is a point in time: a time that is left would begin anew whenever the file is applied. */
static void put_exempts(struct weir_out *out, const struct weir_config *config, bool block)
{
	struct weir_exempt exempt;
	struct timespec now;
	unsigned int i;

	clock_gettime(CLOCK_REALTIME, &now);

	weir_out_begin(out, block ? "blocked_prefixes" : "exempts", '[');
	for (i = 0; i < config->exempt_count; i++) {
		if (config->exempts[i].block != block)
			continue;
		weir_out_text(out, block ? "block add " : "exempt add ");
		exempt = config->exempts[i];
		weir_exempt_until(&exempt, &now);
		weir_show_exempt(out, &exempt);
	}
	weir_out_end(out, ']');
}

static void put_list(struct weir_out *out, const struct weir_list *list)
{
	weir_out_text(out, "prefix-list add ");
	weir_show_list(out, list);
}

/* In order, each prefix once, and on a line of its own. */
static void put_members(struct weir_out *out, const struct weir_config *config)
{
	static struct weir_members members;
	struct weir_list line = { .member_count = 1 };
	unsigned int i, j;

	for (i = 0; i < config->list_count; i++) {
		if (!strcmp(line.name, config->lists[i].name))
			continue;
		memcpy(line.name, config->lists[i].name, sizeof(line.name));
		weir_members_gather(config, line.name, &members);
		for (j = 0; j < members.count; j++) {
			line.member[0] = *members.at[j];
			put_list(out, &line);
		}
	}
}

void weir_show_lines(struct weir_out *out, const struct weir_config *config, bool apart)
{
	unsigned int i;

	weir_out_begin(out, "prefix_lists", '[');
	if (apart)
		put_members(out, config);
	for (i = 0; !apart && i < config->list_count; i++)
		put_list(out, &config->lists[i]);
	weir_out_end(out, ']');
	weir_out_begin(out, "limits", '[');
	for (i = 0; i < config->limit_count; i++) {
		weir_out_begin(out, NULL, '{');
		weir_out_text(out, "limit add ");
		weir_set_show(&weir_limit_fields, WEIR_WORDS, out, &config->limits[i]);
		weir_out_text(out, "\n");
		weir_out_end(out, '}');
	}
	weir_out_end(out, ']');
	put_exempts(out, config, false);
	put_exempts(out, config, true);
	weir_out_begin(out, "early", '[');
	for (i = 0; i < config->early_count; i++) {
		weir_out_begin(out, NULL, '{');
		weir_out_text(out, "early ");
		weir_set_show(&weir_xdp_fields, WEIR_WORDS, out, &config->early[i]);
		weir_out_text(out, "\n");
		weir_out_end(out, '}');
	}
	weir_out_end(out, ']');
}

void weir_show_config(struct weir_out *out, const void *model)
{
	weir_out_begin(out, NULL, '[');
	weir_out_begin(out, NULL, '{');
	weir_out_text(out, "#!%s -file\n", WEIR_PATH);
	weir_show_lines(out, model, false);
	weir_out_end(out, '}');
	weir_out_end(out, ']');
}
