// SPDX-License-Identifier: GPL-2.0-or-later
/* weir -file: a whole configuration, applied at once or not at all. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "config.h"
#include "define.h"
#include "tool.h"

/* Of the file that is read. */
static struct weir_defines defines;
static struct weir_places places;
static bool in_json;

/*
 * Seek back to an item and point at @word, of the @budget, by its number from 1, that @after
 * others follow, or at its name; in JSON, at @key.
 */
static void point_again(struct weir_tool *tool, struct weir_lines *lines, unsigned int line,
			unsigned int column, const char *word, const char *key,
			unsigned int budget, unsigned int after)
{
	struct weir_args args = { .words = lines->words };
	struct weir_err err;

	if (in_json)
		return weir_json_point(tool, lines->whole, line, column, key, budget);
	rewind(lines->file);
	lines->read = 0;
	/* invalid lines may precede it */
	while (weir_lines_next(lines, &err) && lines->line < line && !lines->failed)
		;
	weir_defines_expand(&defines, lines, &err);
	args.count = lines->count;
	args.fault = 2;
	if (word)
		weir_args_blame_in(&args, word, "budget", after);
	weir_lines_point(lines, args.fault, tool);
}

/* Check exemptions for duplicates and missing limits, which may be on invalid lines. */
static void check_items(struct weir_tool *tool, struct weir_lines *lines,
			struct weir_config *config)
{
	const struct weir_exempt *exempt;
	bool partly = lines->bad, absent;
	unsigned int i;
	int ret;

	weir_config_sort(config);
	for (i = 0; i < config->exempt_count; i++) {
		exempt = &config->exempts[i];
		ret = weir_config_check(config, exempt, &tool->err);
		absent = ret == -ENOENT;
		if (!ret || (absent && partly))
			continue;
		point_again(tool, lines, exempt->line, exempt->column,
			    absent ? exempt->limit : NULL, absent ? "limit" : "prefix", 0, 0);
		if (weir_count_bad(tool, lines))
			break;
	}
}

/* Read a line; @fault: index of the word at fault. */
static int read_line(struct weir_tool *tool, struct weir_lines *lines,
		     struct weir_config *config, int *fault)
{
	int number;

	if (weir_defines_take(&defines, lines, &number, &tool->err)) {
		*fault = number - 1;
		return number ? -EINVAL : 0;
	}
	if (lines->count == 1 && !strcmp(lines->words[0], "quiet")) {
		tool->quiet = true;
		return 0;
	}
	number = weir_defines_expand(&defines, lines, &tool->err);
	*fault = number - 1;
	return number ? -EINVAL :
	       weir_read_item(tool, lines->words, lines->count, config, fault);
}

static void read_lines(struct weir_tool *tool, const char *path, struct weir_lines *lines,
		       struct weir_config *config)
{
	int ret, fault = 0, said;

	while ((ret = weir_lines_next(lines, &tool->err))) {
		tool->line = lines->line;
		if (ret > 0 && strspn(lines->words[0], "{[") && !defines.open) {
			weir_err_set(&tool->err, "this is JSON; use 'weir -json -file %.200s'",
				     path);
			break;
		}
		said = ret < 0 ? ret : read_line(tool, lines, config, &fault);
		/* the missing limit may be on an invalid line */
		if (!said || (said == -ENOENT && lines->bad))
			continue;
		weir_lines_point(lines, ret > 0 ? fault : 0, tool);
		if (lines->count <= 0)
			break;
		if (weir_count_bad(tool, lines))
			return;
	}
	/* an empty file was probably truncated */
	if (!ret && !lines->bad && !lines->filled) {
		ret = weir_err_set(&tool->err, WEIR_EMPTY_FILE);
		tool->line = 0;
	}
	if (!ret && weir_defines_end(&defines, &tool->err)) {
		tool->line = defines.list[defines.count].line;
		ret = -EINVAL;
	}
	if (ret)
		weir_count_bad(tool, lines);
}

/* A line never begins with what JSON does. */
static bool looks_json(const struct weir_lines *lines)
{
	const char *at = lines->size > 0 ? lines->whole : "";

	at += strspn(at, WEIR_BLANKS);
	return *at == '{' || *at == '[';
}

/* Read the file and those that it includes, and report what keeps that from being done. */
static int open_files(struct weir_tool *tool, const char *path, struct weir_lines *lines,
		      bool either)
{
	int ret = weir_lines_open(lines, path, true, &tool->err);

	in_json = !ret && (either ? looks_json(lines) : tool->out.json);
	if (!ret && !in_json)
		ret = weir_include_all(tool, path, lines, &places);
	tool->line = 0;
	if (ret == -EINVAL)
		weir_count_bad(tool, lines);
	return ret;
}

/* Read the whole file, of @either format or of that of the output, and report its errors. */
static int read_config(struct weir_tool *tool, const char *path, struct weir_lines *lines,
		       struct weir_config *config, bool either)
{
	config->limit_count = 0;
	config->exempt_count = 0;
	config->list_count = 0;
	config->early_count = 0;
	if (open_files(tool, path, lines, either))
		return WEIR_EXIT_WORDS;
	tool->places = &places;
	config->places = &places;
	defines.places = &places;
	if (in_json)
		weir_read_json(tool, lines, config);
	else
		read_lines(tool, path, lines, config);
	tool->column = 0;
	if (lines->bad < WEIR_BAD_LINES)
		check_items(tool, lines, config);
	return lines->bad ? WEIR_EXIT_WORDS : WEIR_EXIT_OK;
}

/* Print warnings and notes on a valid configuration, before or after it is applied. */
static void note_items(struct weir_tool *tool, const struct weir_config *config, bool applied)
{
	unsigned int i;

	for (i = 0; i < config->limit_count; i++) {
		tool->line = config->limits[i].line;
		if (applied)
			weir_note_limit(tool, &config->limits[i]);
		else
			weir_note_ssh(tool, &config->limits[i], false);
	}
	for (i = 0; !applied && i < config->exempt_count; i++) {
		tool->line = config->exempts[i].line;
		if (config->exempts[i].block)
			weir_warn_block(tool, &config->exempts[i]);
		else
			weir_warn_exempt(tool, &config->exempts[i]);
	}
	for (i = 0; applied && i < config->exempt_count; i++) {
		tool->line = config->exempts[i].line;
		if (config->exempts[i].block)
			weir_note_block(tool, &config->exempts[i]);
		else
			weir_note_exempt(tool, &config->exempts[i]);
	}
	for (i = 0; applied && i < config->early_count; i++) {
		tool->line = config->early[i].line;
		weir_note_dev(tool, config->early[i].dev);
	}
}

/* Point at the item that the kernel refused. */
static void point_at_fault(struct weir_tool *tool, struct weir_lines *lines,
			   const struct weir_request *request, const struct weir_config *config)
{
	const struct weir_limit *limit = &config->limits[request->fault_item];
	const struct weir_exempt *exempt = &config->exempts[request->fault_item];
	const struct weir_field *field = request->fault;
	unsigned int budget = request->fault_budget;
	const char *word, *key;

	if (!field)
		return;
	word = field->flags & WEIR_FIRST ? NULL : budget && !field->word ? "budget" : field->word;
	key = weir_field_key(field);
	if (request->fault_type == WEIR_A_CONFIG_LIMIT)
		point_again(tool, lines, limit->line, limit->column, word, key, budget,
			    budget ? limit->budget_count - budget : 0);
	else if (request->fault_type == WEIR_A_CONFIG_PREFIX_LIST)
		point_again(tool, lines, config->lists[request->fault_item].line,
			    config->lists[request->fault_item].column, NULL, key, 0, 0);
	else
		point_again(tool, lines, exempt->line, exempt->column, word, key, 0, 0);
}

/* Does a limit keep its blocks in another configuration, which has it with the same sources? */
static bool has_heir(const struct weir_limit *limit, struct weir_config *config)
{
	static const uint8_t usual[2] = { 32, 64 };
	const struct weir_limit *heir = weir_config_find(config, limit->name);

	return heir && !memcmp(heir->has & WEIR_HAS(LIMIT_PREFIX4) ? heir->per : usual, limit->per,
			       sizeof(limit->per));
}

/* The next limit in force whose blocks another configuration would end, from @limit on; or NULL. */
static const struct weir_limit *next_to_end(const struct weir_config *there,
					    const struct weir_limit *limit,
					    struct weir_config *config)
{
	for (; limit < there->limits + there->limit_count; limit++)
		if (limit->stats.blocked_now && !has_heir(limit, config))
			return limit;
	return NULL;
}

/* The limits in force, with their counters; false: they cannot be had. The error stays. */
static bool get_counted(struct weir_tool *tool, struct weir_config *there)
{
	struct weir_err err = tool->err;
	bool stats = tool->stats;
	int status;

	tool->stats = true;
	status = weir_get_config(tool, there, false);
	tool->stats = stats;
	tool->err = err;
	return !status;
}

/* Say of which limits -force ends the blocks. */
static void warn_blocks(struct weir_tool *tool, struct weir_config *config)
{
	static struct weir_config there;
	const struct weir_limit *limit;

	if (!config->force || !get_counted(tool, &there))
		return;
	for (limit = next_to_end(&there, there.limits, config); limit;
	     limit = next_to_end(&there, limit + 1, config))
		weir_warn_blocked(tool, limit);
}

/* The kernel says how many blocks would be lost, but not of which limits. */
static void blame_blocks(struct weir_tool *tool, struct weir_config *config)
{
	static struct weir_config there;
	const struct weir_limit *limit, *first = NULL;
	unsigned int more = 0;
	char others[32] = "";

	if (get_counted(tool, &there))
		first = next_to_end(&there, there.limits, config);
	for (limit = first; limit; limit = next_to_end(&there, limit + 1, config))
		more += limit != first;
	if (more)
		snprintf(others, sizeof(others), " (and of %u more)", more);
	if (first)
		weir_err_set(&tool->err, "the %" PRIu64 " block%s of limit '%s'%s would end, as the file %s; 'weir -force -file %.200s' does it",
			     first->stats.blocked_now, first->stats.blocked_now == 1 ? "" : "s",
			     first->name, others,
			     weir_config_find(config, first->name) ? "has it with another 'per'" :
			     "does not have it", tool->file);
}

/* Replace what the module has; an error is printed. */
static int replace(struct weir_tool *tool, struct weir_lines *lines, struct weir_config *config)
{
	struct weir_request request = {
		.cmd = WEIR_CMD_CONFIG_REPLACE, .set = &weir_config_fields,
		.verb = WEIR_ON_ADD, .model = config,
	};
	int status;

	tool->line = 0;
	warn_blocks(tool, config);
	weir_nl_ask(&tool->nl, &request);
	point_at_fault(tool, lines, &request, config);
	status = weir_tool_settle(tool, &request, 0);
	if (request.ret == -EBUSY && request.fault)
		weir_err_set(&tool->err, "%.300s: weir -force -file %.150s", tool->nl.err.text,
			     tool->file);
	else if (request.ret == -EBUSY)
		blame_blocks(tool, config);
	if (status)
		weir_complain(tool, NULL);
	return status;
}

/* What applying it would refuse: of early drops, a device that does not exist. */
static int check(struct weir_tool *tool, struct weir_lines *lines, struct weir_config *config)
{
	const struct weir_xdp *early = config->early;

	for (; early < config->early + config->early_count; early++) {
		if (weir_dev_exists(early->dev))
			continue;
		weir_err_set(&tool->err, WEIR_NO_DEVICE, early->dev);
		point_again(tool, lines, early->line, early->column, early->dev, "dev", 0, 0);
		weir_complain(tool, "early");
		return WEIR_EXIT_REFUSED;
	}
	return replace(tool, lines, config);
}

/*
 * The programs that ask come before the limits and go after them: without limits they ask for
 * nothing, and what the module refuses leaves them as they were.
 */
static int apply(struct weir_tool *tool, struct weir_lines *lines, struct weir_config *config)
{
	unsigned int bad;
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
	if (tool->check)
		return check(tool, lines, config);
	status = weir_xdp_apply(tool, config, &bad);
	if (status) {
		point_again(tool, lines, config->early[bad].line, config->early[bad].column,
			    config->early[bad].dev, "dev", 0, 0);
		weir_complain(tool, "early");
		return status;
	}
	status = replace(tool, lines, config);
	tool->line = 0;
	if (status)
		weir_xdp_undo(config, config->early_count);
	else
		weir_xdp_prune(tool, config);
	return status;
}

static void close_files(struct weir_tool *tool, struct weir_lines *lines)
{
	tool->places = NULL;
	weir_lines_close(lines);
	weir_defines_free(&defines);
	weir_places_free(&places);
}

int weir_apply_file(struct weir_tool *tool, const char *path)
{
	static struct weir_config config;
	struct weir_lines lines;
	int status;

	weir_config_clear(&config);
	config.check = tool->check;
	config.force = tool->force;
	tool->file = path;
	status = read_config(tool, path, &lines, &config, false);
	tool->config = &config;
	if (!status)
		note_items(tool, &config, false);
	if (!status)
		status = apply(tool, &lines, &config);
	if (!status)
		note_items(tool, &config, true);
	tool->config = NULL;
	weir_notes_end(tool);
	close_files(tool, &lines);
	weir_config_clear(&config);
	return status;
}

int weir_read_file(struct weir_tool *tool, const char *path, struct weir_config *config)
{
	struct weir_site site = weir_site_enter(tool, path);
	struct weir_lines lines;
	int status;

	config->check = true;
	config->force = tool->force;
	status = read_config(tool, path, &lines, config, true);
	tool->config = config;
	if (!status && tool->reached)
		status = check(tool, &lines, config);
	tool->config = NULL;
	weir_notes_end(tool);
	close_files(tool, &lines);
	config->places = NULL;
	weir_site_leave(tool, site);
	if (status)
		weir_err_set(&tool->err, "nothing was compared: %.200s cannot be applied", path);
	return status;
}
