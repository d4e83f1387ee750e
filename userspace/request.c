// SPDX-License-Identifier: GPL-2.0-or-later
/* Commands that ask the module and show its answers, and what their end means. */

#include <errno.h>
#include <linux/netlink.h>
#include <string.h>

#include "tool.h"

#define SIGNED	\
	" (this kernel loads only signed modules: where Secure Boot refuses the key, enrol it with 'mokutil --import')"

/* Whether this kernel takes modules only with a signature that it knows. */
static bool wants_signature(void)
{
	char text[8] = "";
	FILE *file = fopen("/sys/module/module/parameters/sig_enforce", "re");

	if (file) {
		if (!fgets(text, sizeof(text), file))
			text[0] = '\0';
		fclose(file);
	}
	return text[0] == 'Y';
}

int weir_tool_reach(struct weir_tool *tool)
{
	int ret;

	if (tool->reached)
		return WEIR_EXIT_OK;
	tool->nl.warn = weir_note_kernel;
	tool->nl.warn_data = tool;
	ret = weir_nl_open(&tool->nl);
	tool->reached = !ret;
	if (!ret)
		return WEIR_EXIT_OK;
	if (ret == -ENOENT)
		weir_err_set(&tool->err, "kernel module not loaded; run 'modprobe weir' to see why%s",
			     wants_signature() ? SIGNED : "");
	else
		weir_err_set(&tool->err, "cannot reach the kernel module: %.400s",
			     tool->nl.err.text);
	return WEIR_EXIT_UNREACHABLE;
}

int weir_tool_settle(struct weir_tool *tool, const struct weir_request *request, int allowed)
{
	int ret = request->ret;

	if (ret == -ECANCELED || (tool->exist && ret && ret == allowed))
		return WEIR_EXIT_OK;
	if (!ret && !request->interrupted)
		return WEIR_EXIT_OK;
	if (!ret) {
		weir_note(tool, "warning", "changed while it was being read; the output may be incomplete");
		return WEIR_EXIT_INTERRUPTED;
	}
	tool->err = tool->nl.err;
	return request->refused ? WEIR_EXIT_REFUSED : WEIR_EXIT_UNREACHABLE;
}

struct weir_request weir_request_of(const struct weir_command *command, const void *model)
{
	return (struct weir_request){
		.cmd = command->cmd, .flags = command->flags, .set = command->set,
		.verb = command->verb, .model = command->set ? model : NULL,
		.told = command->told,
	};
}

int weir_run_plain(struct weir_tool *tool, const struct weir_command *command,
		   union weir_model *model)
{
	struct weir_request request = weir_request_of(command, model);

	weir_nl_ask(&tool->nl, &request);
	return weir_tool_settle(tool, &request, command->allowed);
}

struct showing {
	struct weir_tool *tool;
	const struct weir_command *command;
};

/* A dump ends where its output cannot be written. */
static int show_answer(const void *model, void *data)
{
	const struct showing *showing = data;

	showing->command->show(&showing->tool->out, model);
	showing->tool->answers++;
	return ferror(showing->tool->out.to) ? -ECANCELED : 0;
}

int weir_run_show(struct weir_tool *tool, const struct weir_command *command,
		  union weir_model *model)
{
	struct showing showing = { tool, command };
	struct weir_request request = weir_request_of(command, model);

	request.reply = show_answer;
	request.data = &showing;
	tool->answers = 0;
	weir_out_begin(&tool->out, NULL, '[');
	weir_nl_ask(&tool->nl, &request);
	weir_out_end(&tool->out, ']');
	return weir_tool_settle(tool, &request, command->allowed);
}

int weir_get_limit(struct weir_tool *tool, const char *name,
		   struct weir_limit *limit, struct weir_request *request)
{
	struct weir_limit asked = { 0 };

	snprintf(asked.name, sizeof(asked.name), "%s", name);
	*request = (struct weir_request){
		.cmd = WEIR_CMD_LIMIT_GET, .set = &weir_limit_fields,
		.verb = WEIR_ON_SHOW, .model = &asked,
		.told = &weir_limit_fields, .into = limit,
	};
	return weir_nl_ask(&tool->nl, request);
}
