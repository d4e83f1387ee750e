// SPDX-License-Identifier: GPL-2.0-or-later
/* Show a configuration as the file that -file reads. */

#include <time.h>

#include "show.h"

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
		if (exempt.for_ms)
			exempt.until = now.tv_sec +
				       (now.tv_nsec / 1000000 + exempt.for_ms + 500) / 1000;
		exempt.for_ms = 0;
		weir_show_exempt(out, &exempt);
	}
	weir_out_end(out, ']');
}

void weir_show_config(struct weir_out *out, const void *model)
{
	const struct weir_config *config = model;
	unsigned int i;

	weir_out_begin(out, NULL, '[');
	weir_out_begin(out, NULL, '{');
	weir_out_text(out, "#!%s -file\n", WEIR_PATH);
	weir_out_begin(out, "prefix_lists", '[');
	for (i = 0; i < config->list_count; i++) {
		weir_out_text(out, "prefix-list add ");
		weir_show_list(out, &config->lists[i]);
	}
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
	weir_out_end(out, '}');
	weir_out_end(out, ']');
}
