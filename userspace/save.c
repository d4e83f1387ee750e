// SPDX-License-Identifier: GPL-2.0-or-later
/* weir save: what -file reads, in the order that it was in. */

#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>

#include "config.h"
#include "tool.h"

/* How often it is read anew because it changed meanwhile. */
#define TRIES	8

struct saving {
	struct weir_config config;
	struct weir_err err;
	bool whole;		/* nothing changed while it was read */
};

static int save_limit(const void *model, void *data)
{
	struct saving *saving = data;

	return weir_config_add_limit(&saving->config, model, &saving->err) ? -ESTALE : 0;
}

static int save_exempt(const void *model, void *data)
{
	struct saving *saving = data;

	return weir_config_add_exempt(&saving->config, model, &saving->err) ? -ESTALE : 0;
}

/* Read limits and exemptions once; the worse of what became of the two. */
static int gather(struct weir_tool *tool, struct saving *saving)
{
	struct weir_request limits = {
		.cmd = WEIR_CMD_LIMIT_GET, .flags = NLM_F_DUMP,
		.told = &weir_limit_fields, .reply = save_limit, .data = saving,
	}, exempts = {
		.cmd = WEIR_CMD_EXEMPT_GET, .flags = NLM_F_DUMP,
		.told = &weir_exempt_fields, .reply = save_exempt, .data = saving,
	}, *request = &limits;

	saving->config.limit_count = 0;
	saving->config.exempt_count = 0;
	if (!weir_nl_ask(&tool->nl, &limits)) {
		request = &exempts;
		weir_nl_ask(&tool->nl, &exempts);
		exempts.interrupted |= limits.interrupted;
	}
	/* what is told twice has moved meanwhile */
	saving->whole = !request->interrupted && request->ret != -ESTALE;
	if (!request->ret || !saving->whole)
		return WEIR_EXIT_OK;
	return weir_tool_settle(tool, request, 0);
}

static void put_config(struct weir_out *out, const struct weir_config *config)
{
	unsigned int i;

	weir_out_begin(out, NULL, '[');
	weir_out_begin(out, NULL, '{');
	weir_out_text(out, "#!%s -file\n", WEIR_PATH);
	weir_out_begin(out, "limits", '[');
	for (i = 0; i < config->limit_count; i++) {
		weir_out_begin(out, NULL, '{');
		weir_out_text(out, "limit add ");
		weir_set_show(&weir_limit_fields, WEIR_WORDS, out, &config->limits[i]);
		weir_out_text(out, "\n");
		weir_out_end(out, '}');
	}
	weir_out_end(out, ']');
	weir_out_begin(out, "exempts", '[');
	for (i = 0; i < config->exempt_count; i++) {
		weir_out_text(out, "exempt add ");
		weir_show_exempt(out, &config->exempts[i]);
	}
	weir_out_end(out, ']');
	weir_out_end(out, '}');
	weir_out_end(out, ']');
}

int weir_save(struct weir_tool *tool, const struct weir_command *command, union weir_model *model)
{
	static struct saving saving;
	int status = WEIR_EXIT_OK, i;

	saving.whole = false;
	for (i = 0; i < TRIES && !status && !saving.whole; i++)
		status = gather(tool, &saving);
	if (!status && saving.whole) {
		qsort(saving.config.exempts, saving.config.exempt_count,
		      sizeof(*saving.config.exempts), weir_exempt_compare);
		put_config(&tool->out, &saving.config);
	}
	if (status || saving.whole)
		return status;
	weir_err_set(&tool->err, "the configuration keeps changing; nothing was saved");
	return WEIR_EXIT_INTERRUPTED;
}
