// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * weir diff: the commands that turn the configuration in force into that of a file. Their order is
 * such that each can be run: what is named is there, and no limit of a number is passed.
 */

#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "diff.h"

#define DEFAULT_FILE	"/etc/weir.conf"

/* A limit of the file. */
struct plan {
	const struct weir_limit *was;	/* that it replaces; or NULL: it is added */
	bool stays;			/* in its place, between others that do */
};

static void put_dev(struct weir_diff *diff, const char *command, const struct weir_xdp *xdp,
		    unsigned int flags)
{
	weir_diff_begin(diff, command);
	weir_set_show(&weir_xdp_fields, flags, &diff->words, xdp);
	weir_diff_end(diff);
}

static const struct weir_xdp *find_dev(const struct weir_config *config, const char *dev)
{
	unsigned int i;

	for (i = 0; i < config->early_count; i++)
		if (!strcmp(config->early[i].dev, dev))
			return &config->early[i];
	return NULL;
}

/* The programs come before the limits, and go after them, as with -file. */
static void attach(struct weir_diff *diff, const struct weir_config *there,
		   const struct weir_config *file)
{
	const struct weir_xdp *is, *was;
	uint32_t mode;

	for (is = file->early; is < file->early + file->early_count; is++) {
		was = find_dev(there, is->dev);
		mode = is->mode ? is->mode : WEIR_XDP_NATIVE;
		if (was && was->mode == mode)
			continue;
		if (was)
			put_dev(diff, "xdp detach", was, WEIR_ON_DEL);
		put_dev(diff, "early", is, WEIR_WORDS);
	}
}

static void detach(struct weir_diff *diff, const struct weir_config *there,
		   const struct weir_config *file)
{
	const struct weir_xdp *was;

	for (was = there->early; was < there->early + there->early_count; was++) {
		if (!find_dev(file, was->dev))
			put_dev(diff, "xdp detach", was, WEIR_ON_DEL);
	}
}

/* The limit of the file that replaces one that is in force; or NULL: that is removed, or gone. */
static const struct weir_limit *find_heir(const struct weir_limit *was, struct weir_config *file)
{
	const struct weir_limit *heir = was ? weir_config_find(file, was->name) : NULL;

	return heir && weir_diff_sets(heir, was) ? heir : NULL;
}

static void put_exempt(struct weir_diff *diff, const struct weir_exempt *exempt,
		       const char *exempts, const char *blocks, unsigned int flags)
{
	weir_diff_begin(diff, exempt->block ? blocks : exempts);
	weir_set_show(&weir_exempt_fields, flags, &diff->words, exempt);
	weir_diff_end(diff);
}

/*
 * Can it be given its end and comment in one step, so that it holds all the time? That keeps a
 * comment in whose place there is none.
 */
static bool replaces(const struct weir_exempt *is, const struct weir_exempt *was)
{
	return *is->comment || !*was->comment;
}

/*
 * The order spares whom the configuration spares before and after: exemptions come before limits
 * and blocks, and go after them.
 */
enum step { EXEMPT_FROM_ALL, EXEMPT_FROM_LIMIT, BLOCK, UNBLOCK, UNEXEMPT };

static bool adds_in(const struct weir_exempt *exempt, enum step step)
{
	return step == (exempt->block ? BLOCK :
			*exempt->limit ? EXEMPT_FROM_LIMIT : EXEMPT_FROM_ALL);
}

/* As with -file, an end that is nearer stays, unless the file says when. */
static void add_exempt(struct weir_diff *diff, const struct weir_exempt *is,
		       const struct weir_exempt *was, bool replaced)
{
	struct weir_exempt exempt = *is;

	if (is->until)
		exempt.for_ms = 0;
	else if (was && was->for_ms && was->for_ms < is->for_ms)
		exempt.for_ms = was->for_ms;
	put_exempt(diff, &exempt, replaced ? "-exist -force exempt add" : "exempt add",
		   replaced ? "-exist -force block add" : "block add", WEIR_WORDS);
}

/* Exemptions and blocks of a limit go with it. */
static void put_exempts(struct weir_diff *diff, struct weir_config *there,
			struct weir_config *file, enum step step)
{
	bool has_was, has_is, gone, same, replaced, adds, removes;
	const struct weir_exempt *was, *is;
	unsigned int i = 0, j = 0;
	int order;

	for (; i < there->exempt_count || j < file->exempt_count; i += has_was, j += has_is) {
		was = i < there->exempt_count ? &there->exempts[i] : NULL;
		is = j < file->exempt_count ? &file->exempts[j] : NULL;
		order = !was ? 1 : !is ? -1 : weir_config_compare(was, is);
		has_was = order <= 0;
		has_is = order >= 0;
		gone = has_was && *was->limit &&
		       !find_heir(weir_config_find(there, was->limit), file);
		same = has_was && has_is && !gone && weir_config_stays(was, is);
		replaced = has_was && has_is && !gone && !same && replaces(is, was);
		adds = has_is && !same && adds_in(is, step);
		removes = has_is ? adds && !replaced : step == (was->block ? UNBLOCK : UNEXEMPT);
		if (has_was && !gone && removes)
			put_exempt(diff, was, "exempt del", "block del", WEIR_ON_DEL);
		if (adds)
			add_exempt(diff, is, has_was ? was : NULL, replaced);
	}
}

static void remove_limits(struct weir_diff *diff, const struct weir_config *there,
			  struct weir_config *file)
{
	const struct weir_limit *was;

	for (was = there->limits; was < there->limits + there->limit_count; was++) {
		if (find_heir(was, file))
			continue;
		weir_diff_begin(diff, "limit del");
		weir_out_put(&diff->words, WEIR_COLOR_NONE, was->name);
		weir_diff_end(diff);
	}
}

/*
 * Choose as many limits as possible that can stay in their places: the longest sequence that has
 * the same order in the file and in force, and ends with the file's last limit that is in force,
 * since no command places a limit behind all others.
 */
static void choose_staying(struct plan *plan, unsigned int count)
{
	unsigned int length[WEIR_LIMITS_MAX], i, j;
	int before[WEIR_LIMITS_MAX], last = -1;

	for (i = 0; i < count; i++) {
		if (!plan[i].was)
			continue;
		length[i] = 1;
		before[i] = -1;
		for (j = 0; j < i; j++) {
			if (!plan[j].was || plan[j].was > plan[i].was || length[j] < length[i])
				continue;
			length[i] = length[j] + 1;
			before[i] = j;
		}
		last = i;
	}
	for (; last >= 0; last = before[last])
		plan[last].stays = true;
}

/* The limit that the one at @i is placed before; or NULL: it is new, and last. */
static const struct weir_limit *find_next(const struct weir_config *file, const struct plan *plan,
					  unsigned int i)
{
	for (i++; i < file->limit_count; i++)
		if (plan[i].stays)
			return &file->limits[i];
	return NULL;
}

static void put_limits(struct weir_diff *diff, struct weir_config *there,
		       struct weir_config *file)
{
	struct plan plan[WEIR_LIMITS_MAX] = {};
	const struct weir_limit *limit, *next;
	bool differs;
	unsigned int i;

	for (i = 0; i < file->limit_count; i++) {
		limit = &file->limits[i];
		plan[i].was = weir_config_find(there, limit->name);
		if (plan[i].was && !weir_diff_sets(limit, plan[i].was))
			plan[i].was = NULL;
	}
	choose_staying(plan, file->limit_count);
	for (i = 0; i < file->limit_count; i++) {
		limit = &file->limits[i];
		next = plan[i].stays ? NULL : find_next(file, plan, i);
		weir_diff_begin(diff, plan[i].was ? "limit set" : "limit add");
		differs = !plan[i].was || next;
		if (plan[i].was)
			weir_out_put(&diff->words, WEIR_COLOR_NONE, limit->name);
		if (plan[i].was)
			differs |= weir_diff_words(&diff->words, limit, plan[i].was);
		else
			weir_set_show(&weir_limit_fields, WEIR_WORDS, &diff->words, limit);
		if (next)
			weir_out_word(&diff->words, WEIR_COLOR_NONE, "before %s", next->name);
		if (differs)
			weir_diff_end(diff);
		else
			weir_diff_cancel(diff);
	}
}

static void remove_exempts(struct weir_diff *diff, struct weir_config *there,
			   struct weir_config *file)
{
	put_exempts(diff, there, file, UNBLOCK);
	put_exempts(diff, there, file, UNEXEMPT);
}

static void put_all(struct weir_diff *diff, struct weir_config *there, struct weir_config *file)
{
	bool room = there->exempt_count + file->exempt_count <= WEIR_EXEMPTS_MAX;

	weir_out_begin(&diff->tool->out, NULL, '[');
	attach(diff, there, file);
	if (!room)
		remove_exempts(diff, there, file);
	put_exempts(diff, there, file, EXEMPT_FROM_ALL);
	weir_diff_lists_leave(diff, there, file);
	remove_limits(diff, there, file);
	weir_diff_lists(diff, there, file);
	put_limits(diff, there, file);
	put_exempts(diff, there, file, EXEMPT_FROM_LIMIT);
	weir_diff_lists_join(diff, there, file);
	put_exempts(diff, there, file, BLOCK);
	if (room)
		remove_exempts(diff, there, file);
	weir_diff_lists_gone(diff, there, file);
	detach(diff, there, file);
	weir_out_end(&diff->tool->out, ']');
}

static int compare(struct weir_tool *tool, const char *path, struct weir_config *there,
		   struct weir_config *file)
{
	struct weir_diff diff = { .tool = tool };
	bool force = tool->force;
	unsigned int i;
	int status;

	status = tool->reached ? weir_get_config(tool, there, true) : WEIR_EXIT_OK;
	if (!status && tool->reached)
		there->early_count = weir_xdp_list(tool, there->early);
	if (!status) {
		/* What only -force does is a difference, and has its warning. */
		tool->force = true;
		status = weir_read_file(tool, path, tool->reached, file);
		tool->force = force;
		if (status)
			weir_err_set(&tool->err, "nothing was compared: %.200s cannot be applied",
				     path);
	}
	for (i = 0; !status && i < file->limit_count; i++)
		if (weir_config_find(there, file->limits[i].name))
			status = weir_diff_complete(tool, &file->limits[i], there);
	if (status)
		return status;
	weir_config_sort(there);
	put_all(&diff, there, file);
	return diff.count ? WEIR_EXIT_DIFFERS : WEIR_EXIT_OK;
}

int weir_diff_run(struct weir_tool *tool, const struct weir_command *command,
		  union weir_model *model)
{
	const char *path = model->path.file ? model->path.file : DEFAULT_FILE;
	struct weir_config *configs = calloc(2, sizeof(*configs));
	int status;

	if (!configs) {
		weir_err_set(&tool->err, WEIR_NO_MEMORY);
		return WEIR_EXIT_REFUSED;
	}
	if (!tool->reached)
		weir_note(tool, "note", "the module is not loaded: nothing is in force");
	status = compare(tool, path, &configs[0], &configs[1]);
	weir_config_clear(&configs[0]);
	weir_config_clear(&configs[1]);
	free(configs);
	return status;
}
