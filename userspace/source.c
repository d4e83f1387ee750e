// SPDX-License-Identifier: GPL-2.0-or-later
/* weir source: get and charge. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "tool.h"
#include "value.h"

#define NOTHING_LEFT	"not charged: nothing is left"

int weir_source_get(struct weir_tool *tool, const struct weir_command *command,
		    union weir_model *model)
{
	char buf[WEIR_TEXT_SIZE];
	int status = weir_run_show(tool, command, model);

	if (!status && !tool->answers)
		weir_out_text(&tool->out, "no limit applies to %s\n",
			      weir_text_prefix(NULL, &model->query.prefix, buf));
	return status;
}

/* An explicit cost must be in the limit's unit. */
static int check_unit(struct weir_tool *tool, const struct weir_query *query)
{
	struct weir_request request;
	struct weir_limit limit = { 0 };

	if (!query->packets && !query->bytes)
		return WEIR_EXIT_OK;
	if (weir_get_limit(tool, query->limit, &limit, &request) == -ENOENT)
		return WEIR_EXIT_OK;	/* the charge itself reports it better */
	if (request.ret || !query->bytes == !limit.unit)
		return weir_tool_settle(tool, &request, 0);
	weir_err_set(&tool->err, "limit '%s' counts %s; use '%s N'",
		     query->limit, weir_unit_names[limit.unit],
		     weir_unit_names[limit.unit]);
	return WEIR_EXIT_WORDS;
}

int weir_source_charge(struct weir_tool *tool, const struct weir_command *command,
		       union weir_model *model)
{
	uint64_t cost = model->query.packets + model->query.bytes;
	const struct weir_source *source = &tool->answer.source;
	int status = check_unit(tool, &model->query);

	if (!status)
		status = weir_run_show(tool, command, model);
	if (status || source->taken)
		return status;
	if (model->query.mode == WEIR_CHARGE_MODE_DRAIN) {
		weir_note(tool, "note", NOTHING_LEFT);
		return status;
	}
	if (source->left)
		weir_err_set(&tool->err, "not charged: %" PRIu64 " exceeds the remaining %" PRIu64 "; 'mode drain' takes what is left",
			     cost ? cost : 1, source->left);
	else
		weir_err_set(&tool->err, NOTHING_LEFT);
	return WEIR_EXIT_REFUSED;
}
