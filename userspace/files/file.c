// SPDX-License-Identifier: GPL-2.0-or-later
/* weir -file: a whole configuration, applied at once or not at all. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "files/files.h"

/* Print warnings and notes on a configuration that is applied, or checked. */
static void note_items(struct weir_tool *tool, const struct weir_config *config)
{
	unsigned int i;

	for (i = 0; i < config->limit_count; i++) {
		tool->line = config->limits[i].line;
		weir_note_limit(tool, &config->limits[i]);
		weir_note_lists(tool, config, &config->limits[i]);
	}
	for (i = 0; i < config->exempt_count; i++) {
		tool->line = config->exempts[i].line;
		if (config->exempts[i].block)
			weir_note_block(tool, &config->exempts[i]);
		else
			weir_note_exempt(tool, &config->exempts[i]);
	}
	if (config->limit_count)
		weir_warn_unblocked(tool, config, config->exempts, config->exempt_count);
	weir_note_unused(tool, config);
	for (i = 0; tool->check && i < config->early_count; i++) {
		tool->line = config->early[i].line;
		weir_note_dev(tool, config->early[i].dev);
	}
}

/* Point at the item that the kernel refused. */
static void point_at_fault(struct weir_tool *tool, const struct weir_request *request,
			   const struct weir_config *config)
{
	const struct weir_limit *limit = &config->limits[request->fault_item];
	const struct weir_exempt *exempt = &config->exempts[request->fault_item];
	const struct weir_field *field = request->fault;
	unsigned int budget = request->fault_budget;
	const char *word;

	if (!field)
		return;
	word = field->flags & WEIR_FIRST ? NULL : budget && !field->word ? "budget" : field->word;
	if (request->fault_type == WEIR_A_CONFIG_LIMIT)
		weir_config_point(tool, limit->line, word,
				  budget ? limit->budget_count - budget : 0);
	else if (request->fault_type == WEIR_A_CONFIG_PREFIX_LIST)
		weir_config_point(tool, config->lists[request->fault_item].line, NULL, 0);
	else
		weir_config_point(tool, exempt->line, word, 0);
}

/* What is in force before it is replaced; nothing if that cannot be known. */
static struct weir_config was;

static void get_was(struct weir_tool *tool)
{
	struct weir_err err = tool->err;

	if (weir_get_config(tool, &was, WEIR_GET_ALL | WEIR_GET_STATS))
		weir_config_clear(&was);
	weir_config_sort(&was);
	tool->err = err;
}

/* Say what limits that stay lose, and who is known. */
static void note_kept(struct weir_tool *tool, struct weir_config *config)
{
	const struct weir_limit *limit, *old;

	for (old = was.limits; old < was.limits + was.limit_count; old++) {
		limit = weir_limit_heir(old, config);
		if (!limit)
			continue;
		tool->line = limit->line;
		weir_note_changed(tool, limit, old);
		weir_note_known(tool, limit, old);
		weir_note_penalty(tool, limit, old);
		weir_note_zone(tool, limit, old);
		weir_note_scale(tool, config, limit, old);
	}
	tool->line = 0;
}

/* Say which counts go, with limits that a configuration lacks, or has of other sources. */
static void note_counts_gone(struct weir_tool *tool, struct weir_config *config, bool lacks)
{
	const struct weir_limit *old, *first = NULL;
	char buf[32], forgotten[WEIR_TEXT_SIZE], blocked[64] = "", of[64] = "";
	uint64_t known = 0, blocks = 0, sources = 0;
	unsigned int more = 0;

	for (old = was.limits; old < was.limits + was.limit_count; old++) {
		if (weir_limit_heir(old, config) || !weir_config_find(config, old->name) != lacks)
			continue;
		more += !!first;
		known += old->stats.known_now;
		blocks += old->stats.blocked_now;
		sources += old->stats.sources_now;
		first = first ? first : old;
	}
	snprintf(buf, sizeof(buf), " (and of %u more)", more);
	if (sources)
		snprintf(of, sizeof(of), ", of %" PRIu64 " source%s,", sources,
			 sources == 1 ? "" : "s");
	if (blocks)
		snprintf(blocked, sizeof(blocked), " with %" PRIu64 " block%s", blocks,
			 blocks == 1 ? "" : "s");
	if (first)
		weir_note(tool, blocks ? "warning" : "note",
			  "the counts of limit '%s'%s%s go%s, as the file %s%s", first->name,
			  more ? buf : "", of, blocked, lacks ? "does not have it" :
			  "has it with another 'per'",
			  weir_forgotten_text(known, ", and ", forgotten));
}

/*
 * Say what was in force that another configuration does not go on with; if not @all, only what
 * commands that lead to it do not name. A saved state has its own blocks.
 */
static void note_gone(struct weir_tool *tool, struct weir_config *config, bool all,
		      const struct weir_saved *saved)
{
	note_counts_gone(tool, config, true);
	note_counts_gone(tool, config, false);
	weir_note_gone(tool, config, &was, all);
	weir_note_lost(tool, &was, config);
	if (!saved)
		weir_warn_freed(tool, &was, config);
	weir_config_clear(&was);
}

/* Replace what the module has; an error is printed, and a warning unless @again. */
static int replace(struct weir_tool *tool, struct weir_config *config, bool again)
{
	struct weir_request request = {
		.cmd = WEIR_CMD_CONFIG_REPLACE, .set = &weir_config_fields,
		.verb = WEIR_ON_ADD, .model = config,
	};
	int status;

	tool->line = 0;
	get_was(tool);
	weir_note_ends(tool, config, &was);
	weir_nl_ask(&tool->nl, &request);
	if (again)
		request.warning[0] = '\0';
	point_at_fault(tool, &request, config);
	status = weir_tool_settle(tool, &request, 0);
	if (status)
		weir_complain(tool, NULL);
	else
		note_kept(tool, config);
	return status;
}

/* Replace what the module has, and go on with what belongs to it; an error is printed. */
static int replace_with(struct weir_tool *tool, struct weir_config *config,
			const struct weir_saved *saved)
{
	int status = replace(tool, config, saved && saved->again);

	if (status || !saved || !saved->after)
		return status;
	tool->line = 0;
	status = saved->after(tool, config, saved->data);
	if (status)
		weir_complain(tool, NULL);
	return status;
}

/* Limits are in force also where nothing can be dropped early. */
static void apply_early(struct weir_tool *tool, struct weir_config *config)
{
	struct weir_xdp *at;

	for (at = config->early; at < config->early + config->early_count; at++) {
		tool->line = at->line;
		if (weir_xdp_apply(tool, at))
			weir_note(tool, "warning", "early: %s", tool->err.text);
	}
	tool->line = 0;
}

/*
 * The programs that ask come before the limits and go after them: without limits they ask for
 * nothing, and what the module refuses leaves them as they were.
 */
static int apply(struct weir_tool *tool, struct weir_config *config, const struct weir_saved *saved)
{
	int status;

	tool->line = 0;
	tool->loads = true;
	status = weir_tool_reach(tool);
	if (status && tool->check) {
		weir_note_unasked(tool, tool->err.text);
		return WEIR_EXIT_OK;
	}
	if (status) {
		weir_complain(tool, NULL);
		return status;
	}
	if (!tool->check)
		apply_early(tool, config);
	status = tool->check ? replace(tool, config, false) : replace_with(tool, config, saved);
	tool->line = 0;
	if (status && !tool->check)
		weir_xdp_undo(config);
	if (status)
		return status;
	note_gone(tool, config, true, saved);
	weir_xdp_prune(tool, config);
	return WEIR_EXIT_OK;
}

/* Keep what is in force, with all lines "early", for a host that boots with an invalid file. */
static void keep(struct weir_tool *tool)
{
	tool->line = 0;
	if (weir_save_config(tool, tool->fallback))
		weir_note(tool, "warning", "applied, but not kept for the next boot: %s",
			  tool->err.text);
}

/*
 * A service does not apply a file that was to be taken back: at boot it would begin with it, and a
 * restart, which may be systemd's, would keep it for the next boot.
 */
static int check_mark(struct weir_tool *tool, const char *path, uint32_t sum)
{
	if (tool->check || !tool->fallback || path == tool->fallback || !weir_mark_holds(path, sum))
		return WEIR_EXIT_OK;
	weir_err_set(&tool->err, "applied with -confirm before, and never confirmed; to apply it: weir -file %.200s",
		     path);
	weir_complain(tool, NULL);
	return WEIR_EXIT_REFUSED;
}

/* Mark a file while the change waits to be confirmed. */
static int apply_marked(struct weir_tool *tool, const char *path, struct weir_config *config)
{
	bool new = tool->confirm && !tool->check && weir_mark_set(tool, path, config->sum);
	int status = apply(tool, config, NULL);

	if (new && (status == WEIR_EXIT_WORDS || status == WEIR_EXIT_REFUSED))
		weir_mark_clear(tool, path);
	return status;
}

int weir_apply_file(struct weir_tool *tool, const char *path)
{
	static struct weir_config config;
	int status;

	config.check = tool->check;
	tool->file = path;
	status = weir_config_read(tool, path, &config) ?: check_mark(tool, path, config.sum);
	tool->config = &config;
	if (!status)
		status = apply_marked(tool, path, &config);
	if (!status)
		note_items(tool, &config);
	if (!status && !tool->check && tool->fallback && path != tool->fallback)
		keep(tool);
	tool->config = NULL;
	weir_notes_end(tool);
	weir_config_close(tool);
	weir_config_clear(&config);
	return status;
}

int weir_read_file(struct weir_tool *tool, const char *path, bool asks, struct weir_config *config)
{
	struct weir_site site = weir_site_enter(tool, path);
	unsigned int i;
	int status;

	config->check = true;
	status = weir_config_read(tool, path, config);
	tool->config = config;
	if (!status && asks)
		status = replace(tool, config, false);
	for (i = 0; !status && asks && i < config->limit_count; i++) {
		tool->line = config->limits[i].line;
		weir_note_lists(tool, config, &config->limits[i]);
	}
	tool->line = 0;
	if (!status && asks)
		note_gone(tool, config, false, NULL);
	tool->config = NULL;
	weir_notes_end(tool);
	weir_config_close(tool);
	config->places = NULL;
	weir_site_leave(tool, site);
	return status;
}

int weir_apply_saved(struct weir_tool *tool, const struct weir_saved *saved)
{
	struct weir_site site = weir_site_enter(tool, saved->file);
	static struct weir_config config;
	int status;

	config.check = false;
	status = weir_config_read_text(tool, saved->text, saved->size, &config);
	tool->config = &config;
	tool->line = 0;
	if (!status && saved->before) {
		status = saved->before(tool, &config, saved->data);
		if (status)
			weir_complain(tool, NULL);
	}
	if (!status && !tool->check)
		status = apply(tool, &config, saved);
	tool->config = NULL;
	weir_notes_end(tool);
	weir_config_close(tool);
	weir_config_clear(&config);
	weir_site_leave(tool, site);
	return status;
}
