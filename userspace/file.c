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

/* Seek back to an item and point at @word, of the budget that @after others follow, or its name. */
static void point_again(struct weir_tool *tool, struct weir_lines *lines, unsigned int line,
			const char *word, unsigned int after)
{
	struct weir_args args = { .words = lines->words };
	struct weir_err err;

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

/* Point at a prefix of a list, as the user wrote it, and begin the sentence as others do. */
static void point_at_member(struct weir_tool *tool, struct weir_lines *lines,
			    const struct weir_member *member)
{
	char text[WEIR_TEXT_SIZE];
	const char *at;
	int i;

	weir_err_set(&tool->err, "prefix-list add: %.400s", tool->err.text);
	point_again(tool, lines, member->line, NULL, 0);
	weir_text_prefix(NULL, &member->prefix, text);
	for (i = 3; i < lines->count; i++) {
		at = strstr(lines->words[i], text);
		if (!at)
			continue;
		weir_lines_point(lines, i, tool);
		tool->column += at - lines->words[i];
		tool->length = strlen(text);
		return;
	}
}

/* Check the lists, and the limits' use of them, unless some may be on invalid lines. */
static void check_lists(struct weir_tool *tool, struct weir_lines *lines,
			struct weir_config *config)
{
	const struct weir_field *field;
	const struct weir_member *member;
	const struct weir_limit *limit;
	unsigned int i, number;

	if (lines->bad)
		return;
	for (i = 0; i < config->list_count; i++) {
		if (i && !strcmp(config->lists[i].name, config->lists[i - 1].name))
			continue;
		for (number = 0; (member = weir_lists_check(config, config->lists[i].name, number,
							    &tool->err)); number++) {
			point_at_member(tool, lines, member);
			if (weir_count_bad(tool, lines))
				return;
		}
	}
	for (limit = config->limits; limit < config->limits + config->limit_count; limit++) {
		number = 0;
		while (weir_lists_check_limit(config, limit, &number, &field, &member,
					      &tool->err)) {
			if (member)
				point_at_member(tool, lines, member);
			else
				point_again(tool, lines, limit->line, field->word, 0);
			if (weir_count_bad(tool, lines))
				return;
		}
	}
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
		point_again(tool, lines, exempt->line, absent ? exempt->limit : NULL, 0);
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
			weir_err_set(&tool->err, "this is JSON, which -json prints; a file has commands, as 'weir save' writes them");
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
	if (!ret && !lines->bad && !lines->filled && strcmp(path, "/dev/null")) {
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

/* Read the file and those that it includes, and report what keeps that from being done. */
static int open_files(struct weir_tool *tool, const char *path, struct weir_lines *lines)
{
	int ret = weir_lines_open(lines, path, true, &tool->err);

	if (!ret)
		ret = weir_include_all(tool, path, lines, &places);
	tool->line = 0;
	if (ret == -EINVAL)
		weir_count_bad(tool, lines);
	return ret;
}

/* Read an open file whole, and report its errors. */
static int read_opened(struct weir_tool *tool, const char *path, struct weir_lines *lines,
		       struct weir_config *config)
{
	tool->places = &places;
	config->places = &places;
	defines.places = &places;
	read_lines(tool, path, lines, config);
	tool->column = 0;
	if (lines->bad < WEIR_BAD_LINES)
		check_items(tool, lines, config);
	check_lists(tool, lines, config);
	tool->line = 0;
	if (config->ended)
		weir_note(tool, "note", "exemptions and blocks that have ended are left out (%u)",
			  config->ended);
	config->ended = 0;
	return lines->bad ? WEIR_EXIT_WORDS : WEIR_EXIT_OK;
}

/* Read the whole file, and report its errors. */
static int read_config(struct weir_tool *tool, const char *path, struct weir_lines *lines,
		       struct weir_config *config)
{
	config->limit_count = 0;
	config->exempt_count = 0;
	config->block_count = 0;
	config->list_count = 0;
	config->lists_named = 0;
	config->member_count = 0;
	config->early_count = 0;
	if (open_files(tool, path, lines))
		return WEIR_EXIT_WORDS;
	return read_opened(tool, path, lines, config);
}

/* Likewise, what weir save would write, from malloc(). */
static int read_saved(struct weir_tool *tool, char *text, size_t size, struct weir_lines *lines,
		      struct weir_config *config)
{
	memset(lines, 0, sizeof(*lines));
	tool->line = 0;
	if (weir_lines_replace(lines, text, size, &tool->err)) {
		weir_count_bad(tool, lines);
		return WEIR_EXIT_WORDS;
	}
	return read_opened(tool, tool->file, lines, config);
}

/* Print warnings and notes on a valid configuration, before or after it is applied. */
static void note_items(struct weir_tool *tool, const struct weir_config *config, bool applied)
{
	unsigned int i;

	for (i = 0; i < config->limit_count; i++) {
		tool->line = config->limits[i].line;
		if (applied) {
			weir_note_limit(tool, &config->limits[i]);
			weir_note_lists(tool, config, &config->limits[i]);
		} else {
			weir_note_ssh(tool, &config->limits[i]);
		}
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
	if (applied)
		weir_note_unused(tool, config);
	for (i = 0; applied && tool->check && i < config->early_count; i++) {
		tool->line = config->early[i].line;
		weir_note_dev(tool, config->early[i].dev);
	}
}

/* Warn of what a valid configuration would do; an enum weir_exit: an error is printed. */
static int judge_items(struct weir_tool *tool, const struct weir_config *config)
{
	int status;

	tool->meets_own = false;
	note_items(tool, config, false);
	tool->line = 0;
	status = weir_own_allowed(tool);
	if (status)
		weir_complain(tool, NULL);
	return status;
}

/* Point at the item that the kernel refused. */
static void point_at_fault(struct weir_tool *tool, struct weir_lines *lines,
			   const struct weir_request *request, const struct weir_config *config)
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
		point_again(tool, lines, limit->line, word,
			    budget ? limit->budget_count - budget : 0);
	else if (request->fault_type == WEIR_A_CONFIG_PREFIX_LIST)
		point_again(tool, lines, config->lists[request->fault_item].line, NULL, 0);
	else
		point_again(tool, lines, exempt->line, word, 0);
}

/* Does a limit keep its blocks in another configuration, which has it with the same sources? */
static bool has_heir(const struct weir_limit *limit, struct weir_config *config)
{
	static const uint8_t usual[2] = { 32, 64 };
	const struct weir_limit *heir = weir_config_find(config, limit->name);

	return heir && !weir_limit_restarts(heir, limit) &&
	       !memcmp(heir->has & WEIR_HAS(LIMIT_PREFIX4) ? heir->per : usual, limit->per,
		       sizeof(limit->per));
}

/* Why it has none. */
static const char *lacks_text(const struct weir_limit *limit, struct weir_config *config)
{
	const struct weir_limit *other = weir_config_find(config, limit->name);

	return !other ? "does not have it" : weir_limit_restarts(other, limit) ?
	       "has it with budgets of another unit" : "has it with another 'per'";
}

static const char *others_text(unsigned int more, char buf[32])
{
	snprintf(buf, 32, " (and of %u more)", more);
	return more ? buf : "";
}

/* What is in force before it is replaced; nothing if that cannot be known. */
static struct weir_config was;

static void get_was(struct weir_tool *tool)
{
	struct weir_err err = tool->err;
	bool stats = tool->stats;

	tool->stats = true;
	if (weir_get_config(tool, &was, true))
		weir_config_clear(&was);
	weir_config_sort(&was);
	tool->stats = stats;
	tool->err = err;
}

/* Say what limits that stay lose, and who is known. */
static void note_kept(struct weir_tool *tool, struct weir_config *config)
{
	const struct weir_limit *limit, *old;

	for (old = was.limits; old < was.limits + was.limit_count; old++) {
		if (!has_heir(old, config))
			continue;
		limit = weir_config_find(config, old->name);
		tool->line = limit->line;
		weir_note_changed(tool, limit, old);
		weir_note_known(tool, limit, old);
		weir_note_scale(tool, config, limit, old);
	}
	tool->line = 0;
}

/*
 * Say what was in force that another configuration does not go on with; if not @all, only what
 * commands that lead to it do not name.
 */
static void note_gone(struct weir_tool *tool, struct weir_config *config, bool all)
{
	const struct weir_limit *old, *first = NULL;
	char buf[32], forgotten[WEIR_TEXT_SIZE], blocked[64] = "";
	uint64_t known = 0, blocks = 0;
	unsigned int more = 0;

	for (old = was.limits; old < was.limits + was.limit_count; old++) {
		if (has_heir(old, config))
			continue;
		more += !!first;
		known += old->stats.known_now;
		blocks += old->stats.blocked_now;
		first = first ? first : old;
	}
	if (blocks)
		snprintf(blocked, sizeof(blocked), " with %" PRIu64 " block%s", blocks,
			 blocks == 1 ? "" : "s");
	if (first)
		weir_note(tool, blocks ? "warning" : "note",
			  "the counts of limit '%s'%s go%s, as the file %s%s", first->name,
			  others_text(more, buf), blocked, lacks_text(first, config),
			  weir_forgotten_text(known, ", and ", forgotten));
	weir_note_gone(tool, config, &was, all);
	weir_note_lost(tool, &was, config);
	weir_config_clear(&was);
}

/* Say what the module refuses without -force. */
static void warn_forced(struct weir_tool *tool, struct weir_config *config)
{
	struct weir_request request = {
		.cmd = WEIR_CMD_CONFIG_REPLACE, .set = &weir_config_fields,
		.verb = WEIR_ON_ADD, .model = config,
	};
	bool check = config->check;
	const struct weir_limit *limit;

	if (!config->force)
		return;
	config->force = false;
	config->check = true;
	weir_nl_ask(&tool->nl, &request);
	config->force = true;
	config->check = check;
	if (request.ret != -EBUSY || request.fault_type != WEIR_A_CONFIG_LIMIT)
		return;
	limit = &config->limits[request.fault_item];
	tool->line = limit->line;
	weir_warn_forced(tool, limit->name);
	tool->line = 0;
}

/* Replace what the module has; an error is printed, and a warning unless @again. */
static int replace(struct weir_tool *tool, struct weir_lines *lines, struct weir_config *config,
		   bool again)
{
	struct weir_request request = {
		.cmd = WEIR_CMD_CONFIG_REPLACE, .set = &weir_config_fields,
		.verb = WEIR_ON_ADD, .model = config,
	};
	char forced[WEIR_FORCED_SIZE];
	int status;

	tool->line = 0;
	if (!again)
		warn_forced(tool, config);
	get_was(tool);
	weir_note_ends(tool, config, &was);
	weir_nl_ask(&tool->nl, &request);
	if (again)
		request.warning[0] = '\0';
	point_at_fault(tool, lines, &request, config);
	status = weir_tool_settle(tool, &request, 0);
	if (request.ret == -EBUSY)
		weir_err_set(&tool->err, "%.300s" WEIR_FORCED, tool->err.text,
			     weir_forced(tool, forced));
	if (status)
		weir_complain(tool, NULL);
	else
		note_kept(tool, config);
	return status;
}

/* Replace what the module has, and go on with what belongs to it; an error is printed. */
static int replace_with(struct weir_tool *tool, struct weir_lines *lines,
			struct weir_config *config, const struct weir_saved *saved)
{
	int status = replace(tool, lines, config, saved && saved->again);

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
static int apply(struct weir_tool *tool, struct weir_lines *lines, struct weir_config *config,
		 const struct weir_saved *saved)
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
	if (tool->check) {
		status = replace(tool, lines, config, false);
		if (status)
			return status;
		note_gone(tool, config, true);
		weir_xdp_prune(tool, config);
		return WEIR_EXIT_OK;
	}
	apply_early(tool, config);
	status = replace_with(tool, lines, config, saved);
	tool->line = 0;
	if (status) {
		weir_xdp_undo(config);
		return status;
	}
	note_gone(tool, config, true);
	weir_xdp_prune(tool, config);
	return WEIR_EXIT_OK;
}

static void close_files(struct weir_tool *tool, struct weir_lines *lines)
{
	tool->places = NULL;
	weir_lines_close(lines);
	weir_defines_free(&defines);
	weir_places_free(&places);
}

/* Keep what is in force, with all lines "early", for a host that boots with an invalid file. */
static void keep(struct weir_tool *tool)
{
	union weir_model model = { .path.file = tool->fallback };

	tool->line = 0;
	if (weir_save(tool, NULL, &model))
		weir_note(tool, "warning", "applied, but not kept for the next boot: %s",
			  tool->err.text);
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
	status = read_config(tool, path, &lines, &config);
	tool->config = &config;
	if (!status)
		status = judge_items(tool, &config);
	if (!status)
		status = apply(tool, &lines, &config, NULL);
	if (!status)
		note_items(tool, &config, true);
	if (!status && !tool->check && tool->fallback && path != tool->fallback)
		keep(tool);
	tool->config = NULL;
	weir_notes_end(tool);
	close_files(tool, &lines);
	weir_config_clear(&config);
	return status;
}

int weir_read_file(struct weir_tool *tool, const char *path, bool asks,
		   struct weir_config *config)
{
	struct weir_site site = weir_site_enter(tool, path);
	struct weir_lines lines;
	unsigned int i;
	int status;

	config->check = true;
	config->force = tool->force;
	status = read_config(tool, path, &lines, config);
	tool->config = config;
	if (!status && asks)
		status = replace(tool, &lines, config, false);
	for (i = 0; !status && asks && i < config->limit_count; i++) {
		tool->line = config->limits[i].line;
		weir_note_lists(tool, config, &config->limits[i]);
	}
	tool->line = 0;
	if (!status && asks)
		note_gone(tool, config, false);
	tool->config = NULL;
	weir_notes_end(tool);
	close_files(tool, &lines);
	config->places = NULL;
	weir_site_leave(tool, site);
	return status;
}

int weir_apply_saved(struct weir_tool *tool, const struct weir_saved *saved)
{
	struct weir_site site = weir_site_enter(tool, saved->file);
	static struct weir_config config;
	struct weir_lines lines;
	int status;

	weir_config_clear(&config);
	config.check = false;
	config.force = tool->force;
	status = read_saved(tool, saved->text, saved->size, &lines, &config);
	tool->config = &config;
	tool->line = 0;
	if (!status && saved->before) {
		status = saved->before(tool, &config, saved->data);
		if (status)
			weir_complain(tool, NULL);
	}
	if (!status && !tool->check) {
		tool->saved = true;
		if (!saved->again)
			status = judge_items(tool, &config);
		tool->saved = false;
		if (!status)
			status = apply(tool, &lines, &config, saved);
	}
	tool->config = NULL;
	weir_notes_end(tool);
	close_files(tool, &lines);
	weir_config_clear(&config);
	weir_site_leave(tool, site);
	return status;
}
