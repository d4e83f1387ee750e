// SPDX-License-Identifier: GPL-2.0-or-later
/* Generic commands: send a request, show the answers, map the result to an exit status. */

#include <errno.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/request.h"

/* PROC_USER_INIT_INO of the kernel */
#define INITIAL_USER_NS	"user:[4026531837]"

/* Attempts to dump a configuration that changes during the dump. */
#define TRIES	8

#define SIGNED	\
	" (this kernel loads only signed modules: where Secure Boot refuses the key, enrol it with 'mokutil --import')"

/* Whether this kernel loads only signed modules. */
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

/*
 * The kernel cannot tell whether a lookup of the family comes from one who may load modules, so
 * the module has no alias for it. Others than the host's root would be refused.
 */
static void load_module(void)
{
	static char *const words[] = { "modprobe", "-q", "weir", NULL };
	char space[64] = "";
	pid_t pid;

	if (geteuid() || readlink("/proc/self/ns/user", space, sizeof(space) - 1) < 0 ||
	    strcmp(space, INITIAL_USER_NS))
		return;
	if (!posix_spawn(&pid, "/sbin/modprobe", NULL, NULL, words, environ))
		waitpid(pid, NULL, 0);
}

int weir_tool_reach(struct weir_tool *tool)
{
	int ret;

	if (tool->reached)
		return WEIR_EXIT_OK;
	if (tool->outside)	/* its sentence is there */
		return WEIR_EXIT_UNREACHABLE;
	if (!weir_nl_await_upgrade(&tool->nl)) {
		weir_err_set(&tool->err, "'weir upgrade' is replacing the module, and takes long; try again after that");
		return WEIR_EXIT_UNREACHABLE;
	}
	ret = weir_nl_open(&tool->nl);
	if (ret == -ENOENT && tool->loads && !tool->check) {
		weir_nl_close(&tool->nl);
		load_module();
		ret = weir_nl_open(&tool->nl);
	}
	tool->reached = !ret;
	tool->missing = ret == -ENOENT;
	if (!ret)
		return WEIR_EXIT_OK;
	if (ret == -ENOENT && tool->check)
		weir_err_set(&tool->err, "the module is not loaded");
	else if (ret == -ENOENT && !tool->loads)
		weir_err_set(&tool->err, "the kernel module is not loaded: modprobe weir, in a container on its host");
	else if (ret == -ENOENT)
		weir_err_set(&tool->err, "the kernel module cannot be loaded; run 'modprobe weir', in a container on its host, to see why%s",
			     wants_signature() ? SIGNED : "");
	else
		weir_err_set(&tool->err, "cannot reach the kernel module: %.400s",
			     tool->nl.err.text);
	return WEIR_EXIT_UNREACHABLE;
}

/*
 * Print the kernel's warning. For a configuration, it reports the first limit and how many others,
 * and the sum of what they lose.
 */
static void note_kernel(struct weir_tool *tool, const struct weir_request *request)
{
	const char *limit = tool->limit;
	char text[160], others[32] = "";
	unsigned int i;

	if (tool->config && request->place && request->place <= tool->config->limit_count) {
		limit = tool->config->limits[request->place - 1].name;
		tool->line = tool->config->limits[request->place - 1].line;
	}
	snprintf(text, sizeof(text), ": %s", request->warning);
	if (request->more)
		snprintf(others, sizeof(others), limit ? " and %u more" : " (and %u more)",
			 request->more);
	if (!limit)
		weir_note(tool, "warning", "%s%s", request->warning, others);
	else if (request->lost)
		weir_note(tool, "warning", "limit '%s'%s%s (%" PRIu64 " of them)", limit, others,
			  text, request->lost);
	for (i = 0; limit && !request->lost && i <= request->more; i++)
		weir_note_of(tool, "warning", i ? "" : limit, text);
}

int weir_tool_settle(struct weir_tool *tool, const struct weir_request *request, int allowed)
{
	int ret = request->ret;

	if (*request->warning)
		note_kernel(tool, request);
	if (tool->check && ret == -EPERM) {
		weir_note_unasked(tool, tool->nl.err.text);
		return WEIR_EXIT_OK;
	}
	tool->spared = tool->exist && ret && ret == allowed;
	if (ret == -ECANCELED || tool->spared)
		return WEIR_EXIT_OK;
	if (!ret && !request->interrupted)
		return WEIR_EXIT_OK;
	if (!ret) {
		weir_err_set(&tool->err, "changed while it was being read; the output may be incomplete");
		return WEIR_EXIT_INTERRUPTED;
	}
	tool->err = tool->nl.err;
	if (ret == -EEXIST && request->verb == WEIR_ON_ADD && request->set != &weir_limit_fields)
		weir_append(tool->err.text, sizeof(tool->err.text), " ",
			    tool->force ? "(-exist -force)" : "(-exist)");
	return request->refused ? WEIR_EXIT_REFUSED : WEIR_EXIT_UNREACHABLE;
}

struct weir_request weir_request_of(const struct weir_command *command, const void *model)
{
	return (struct weir_request){
		.cmd = command->cmd, .flags = command->flags, .set = command->set,
		.verb = command->verb, .model = command->set ? model : NULL,
		.reply_set = command->reply_set,
	};
}

struct weir_request weir_request_sources(const struct weir_query *query,
					 int (*take)(const void *model, void *data), void *data)
{
	return (struct weir_request){
		.cmd = WEIR_CMD_SOURCE_SHOW, .flags = NLM_F_DUMP, .set = &weir_query_fields,
		.verb = WEIR_ON_SHOW, .model = query, .reply_set = &weir_source_fields,
		.reply = take, .data = data,
	};
}

bool weir_command_exempts(const struct weir_command *command)
{
	return command->set == &weir_exempt_fields || command->set == &weir_block_fields;
}

int weir_run_plain(struct weir_tool *tool, const struct weir_command *command,
		   union weir_model *model)
{
	struct weir_request request = weir_request_of(command, model);

	if (command->set == &weir_limit_fields) {
		model->limit.check = tool->check;
	} else if (weir_command_exempts(command)) {
		model->exempt.check = tool->check;
		model->exempt.replace = tool->exist;
		model->exempt.force = tool->force;
	}
	weir_nl_ask(&tool->nl, &request);
	return weir_tool_settle(tool, &request, command->allowed);
}

int weir_tool_list(struct weir_tool *tool, struct weir_request *request, int allowed)
{
	request->into = &tool->answer;
	tool->answers = 0;
	weir_out_begin(&tool->out, NULL, '[');
	weir_nl_ask(&tool->nl, request);
	weir_out_end(&tool->out, ']');
	return weir_tool_settle(tool, request, allowed);
}

struct showing {
	struct weir_tool *tool;
	const struct weir_command *command;
};

/* Abort a dump once output fails. */
static int show_answer(const void *model, void *data)
{
	const struct showing *showing = data;
	const struct weir_exempt *exempt = model;
	bool blocks = showing->command->set == &weir_block_fields;

	if (weir_command_exempts(showing->command) && exempt->block != blocks)
		return 0;
	showing->command->show(&showing->tool->out, model);
	showing->tool->answers++;
	return ferror(showing->tool->out.to) ? -ECANCELED : 0;
}

int weir_run_show(struct weir_tool *tool, const struct weir_command *command,
		  union weir_model *model)
{
	struct showing showing = { tool, command };
	struct weir_request request = weir_request_of(command, model);
	bool brief = tool->out.brief;
	int status;

	if (command->set == &weir_limit_fields) {
		model->limit.want_stats = tool->stats;
		request.flags = *model->limit.name ? 0 : NLM_F_DUMP;
		tool->out.brief |= !*model->limit.name && !tool->stats;
	} else if (weir_command_exempts(command)) {
		model->exempt.want_stats = tool->stats;
	}
	request.reply = show_answer;
	request.data = &showing;
	status = weir_tool_list(tool, &request, command->allowed);
	tool->out.brief = brief;
	return status;
}

int weir_get_limit(struct weir_tool *tool, const char *name, bool stats,
		   struct weir_limit *limit, struct weir_request *request)
{
	struct weir_limit asked = { .want_stats = stats };

	snprintf(asked.name, sizeof(asked.name), "%s", name);
	*request = (struct weir_request){
		.cmd = WEIR_CMD_LIMIT_GET, .set = &weir_limit_fields,
		.verb = WEIR_ON_SHOW, .model = &asked,
		.reply_set = &weir_limit_fields, .into = limit,
	};
	return weir_nl_ask(&tool->nl, request);
}

int weir_get_stats(struct weir_tool *tool, struct weir_stats *stats)
{
	struct weir_request request = {
		.cmd = WEIR_CMD_STATS_GET, .reply_set = &weir_stats_fields, .into = stats,
	};

	weir_nl_ask(&tool->nl, &request);
	return weir_tool_settle(tool, &request, 0);
}

int weir_check_names(struct weir_tool *tool, const struct weir_command *command,
		     const union weir_model *model)
{
	const struct weir_field *field = command->set ? command->set->fields : NULL;
	char word[WEIR_TEXT_SIZE];
	struct weir_limit limit;
	struct weir_request get;
	const char *name;
	int ret;

	for (; command->reply_set && field && field->type; field++) {
		name = weir_field_at(field, model);
		if (field->type != &weir_type_name || !(field->flags & command->verb) || !*name)
			continue;
		ret = weir_get_limit(tool, name, false, &limit, &get);
		if (ret != -ENOENT && !weir_tool_settle(tool, &get, 0))
			continue;
		if (ret != -ENOENT)
			return WEIR_EXIT_UNREACHABLE;
		weir_err_set(&tool->err, "%s '%s': no limit of that name; limit show lists them",
			     weir_field_name(field, word), name);
		return WEIR_EXIT_REFUSED;
	}
	return WEIR_EXIT_OK;
}

struct gathering {
	struct weir_config *config;
	struct weir_err err;
};

static int take_limit(const void *model, void *data)
{
	struct gathering *to = data;

	return weir_config_add_limit(to->config, model, &to->err) ? -ESTALE : 0;
}

static int take_exempt(const void *model, void *data)
{
	struct gathering *to = data;

	return weir_config_add_exempt(to->config, model, &to->err) ? -ESTALE : 0;
}

static int take_list(const void *model, void *data)
{
	struct gathering *to = data;

	return weir_config_add_list(to->config, model, &to->err) ? -ESTALE : 0;
}

int weir_get_config(struct weir_tool *tool, struct weir_config *config, unsigned int what)
{
	const struct weir_limit asked = { .want_stats = what & WEIR_GET_STATS };
	struct gathering to = { .config = config };
	struct weir_request lists[] = {
		{ .cmd = WEIR_CMD_LIMIT_GET, .flags = NLM_F_DUMP, .set = &weir_limit_fields,
		  .verb = WEIR_ON_SHOW, .model = &asked, .reply_set = &weir_limit_fields,
		  .reply = take_limit, .data = &to },
		{ .cmd = WEIR_CMD_EXEMPT_GET, .flags = NLM_F_DUMP, .reply_set = &weir_exempt_fields,
		  .reply = take_exempt, .data = &to },
		{ .cmd = WEIR_CMD_PREFIX_LIST_GET, .flags = NLM_F_DUMP,
		  .reply_set = &weir_list_fields, .reply = take_list, .data = &to },
	}, *end = lists + (what & WEIR_GET_ALL ? 3 : 1), *list;
	int tries;

	for (tries = 0; tries < TRIES; tries++) {
		weir_config_clear(config);
		for (list = lists; list < end; list++) {
			weir_nl_ask(&tool->nl, list);
			if (list->ret && list->ret != -ESTALE && !list->interrupted)
				return weir_tool_settle(tool, list, 0);
			/* a duplicate means that the list changed during the dump */
			if (list->ret || list->interrupted)
				break;
		}
		if (list == end)
			return WEIR_EXIT_OK;
	}
	weir_err_set(&tool->err, WEIR_KEEPS_CHANGING);
	return WEIR_EXIT_INTERRUPTED;
}

struct weir_config *weir_there(struct weir_tool *tool, unsigned int what)
{
	static struct weir_config there;
	struct weir_err err = tool->err;
	bool got = tool->reached && !weir_get_config(tool, &there, what);

	tool->err = err;
	return got ? &there : NULL;
}

bool weir_without_limits(struct weir_tool *tool)
{
	struct weir_stats stats;

	if (tool->config)
		return !tool->config->limit_count;
	if (!tool->limits_asked) {
		tool->limits_none = tool->reached && !weir_get_stats(tool, &stats) && !stats.limits;
		tool->limits_asked = true;
	}
	return tool->limits_none;
}
