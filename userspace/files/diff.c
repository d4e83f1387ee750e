// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * weir diff: diff -u of the configuration in force and of that of a file, both as save writes them,
 * but for lists, of which each prefix has a line.
 */

#include <linux/netlink.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files/files.h"

#define DEFAULT_FILE	"/etc/weir.conf"
#define DIFF_FAILED	2	/* an exit status of diff(1) */
#define CONDITIONS_OF_LISTS	((uint64_t)(WEIR_COND_FROM_LIST | WEIR_COND_TO_LIST))

/* Are there words of which the module chooses the values? */
static bool is_partial(const struct weir_limit *limit)
{
	const struct weir_budget *is = limit->budgets;

	for (; is < limit->budgets + limit->budget_count; is++)
		if (!(is->has & WEIR_HAS(BUDGET_SLOTS)))
			return true;
	return !(limit->has & (WEIR_HAS(LIMIT_SOURCES) | WEIR_HAS(LIMIT_BLOCKS_ONLY)));
}

/* Fill in what the module chooses for a limit of the file: it is asked for one of another name. */
static int complete(struct weir_tool *tool, struct weir_limit *limit, struct weir_config *there)
{
	static struct weir_limit words, made;
	struct weir_request request = {
		.cmd = WEIR_CMD_LIMIT_ADD, .flags = NLM_F_ECHO, .set = &weir_limit_fields,
		.verb = WEIR_ON_ADD, .model = &words, .reply_set = &weir_limit_fields,
		.into = &made,
	};
	unsigned int i = 0;

	words = *limit;
	words.check = true;
	/* Lists may not be there yet, and do not matter. */
	words.match.has &= ~CONDITIONS_OF_LISTS;
	words.match.invert &= ~CONDITIONS_OF_LISTS;
	*words.budgets_by = '\0';
	words.has &= ~(WEIR_HAS(LIMIT_BUDGETS_BY) | WEIR_HAS(LIMIT_BEFORE));
	do
		snprintf(words.name, sizeof(words.name), "diff%u", i++);
	while (weir_config_find(there, words.name));
	if (weir_nl_ask(&tool->nl, &request)) {
		weir_err_set(&tool->err, "limit '%s': give slots and sources, as the module cannot be asked what it would choose: %.300s",
			     limit->name, tool->nl.err.text);
		return WEIR_EXIT_REFUSED;
	}
	if (!(limit->has & WEIR_HAS(LIMIT_SOURCES)))
		limit->sources = made.sources;
	limit->has |= WEIR_HAS(LIMIT_SOURCES);
	for (i = 0; i < limit->budget_count; i++) {
		limit->budgets[i].slots = made.budgets[i].slots;
		limit->budgets[i].has |= made.budgets[i].has & WEIR_HAS(BUDGET_SLOTS);
	}
	return WEIR_EXIT_OK;
}

static int compare_types(const void *a, const void *b)
{
	return *(const uint8_t *)a - *(const uint8_t *)b;
}

static void sort_types(uint8_t *type, unsigned int *count)
{
	unsigned int i, used = 0;

	qsort(type, *count, 1, compare_types);
	for (i = 0; i < *count; i++)
		if (!i || type[i] != type[i - 1])
			type[used++] = type[i];
	*count = used;
}

/* What means the same is written in the same way: as the module does. */
static void unify(struct weir_limit *limit)
{
	struct weir_match *match = &limit->match;
	struct weir_budget *is = limit->budgets;
	bool calendar = false;

	for (; is < limit->budgets + limit->budget_count; is++) {
		calendar |= is->mode == WEIR_MODE_CALENDAR;
		if (is->mode == WEIR_MODE_BUCKET && !(is->has & WEIR_HAS(BUDGET_BURST)))
			is->burst = is->amount.count;
		if (is->mode == WEIR_MODE_BUCKET)
			is->has |= WEIR_HAS(BUDGET_BURST);
	}
	if (!calendar || !strcmp(limit->zone.name, "UTC")) {
		*limit->zone.name = '\0';
		limit->has &= ~WEIR_HAS(LIMIT_ZONE);
	}
	sort_types(match->proto, &match->proto_count);
	sort_types(match->icmp, &match->icmp_count);
	sort_types(match->icmpv6, &match->icmpv6_count);
}

/* The end that an exemption or a block would have: the nearer, unless the file says when. */
static void settle(struct weir_exempt *is, const struct weir_exempt *was)
{
	if (weir_config_stays(was, is) ||
	    (!is->until && was->for_ms && was->for_ms < is->for_ms)) {
		is->until = was->until;
		is->for_ms = was->for_ms;
	}
}

static void settle_ends(struct weir_config *file, struct weir_config *there)
{
	const struct weir_exempt *was;
	struct timespec now;
	unsigned int i;

	for (i = 0; i < file->exempt_count; i++) {
		was = weir_exempt_find(there, &file->exempts[i]);
		if (was)
			settle(&file->exempts[i], was);
	}
	clock_gettime(CLOCK_REALTIME, &now);
	for (i = 0; i < there->exempt_count; i++)
		weir_exempt_until(&there->exempts[i], &now);
	for (i = 0; i < file->exempt_count; i++)
		weir_exempt_until(&file->exempts[i], &now);
}

static int compare_devices(const void *a, const void *b)
{
	return strcmp(((const struct weir_xdp *)a)->dev, ((const struct weir_xdp *)b)->dev);
}

static void sort_devices(struct weir_config *config)
{
	struct weir_xdp *is = config->early;

	for (; is < config->early + config->early_count; is++)
		is->mode = is->mode ? is->mode : WEIR_XDP_NATIVE;
	qsort(config->early, config->early_count, sizeof(*config->early), compare_devices);
}

/* Write a configuration into memory; its descriptor, or -1. */
static int write_down(const struct weir_config *config)
{
	int fd = memfd_create("weir", 0);
	FILE *file = fd < 0 ? NULL : fdopen(dup(fd), "w");
	struct weir_out out = { .to = file };

	if (!file)
		return -1;
	weir_show_lines(&out, config, true);
	return fclose(file) ? -1 : fd;
}

/* Run diff on two descriptors; its status, or -1. If a signal ends diff, it ends this process. */
static int run_diff(struct weir_out *out, const char *path, const int fd[2])
{
	char file[2][32];
	int status;
	pid_t pid;

	snprintf(file[0], sizeof(file[0]), "/proc/self/fd/%d", fd[0]);
	snprintf(file[1], sizeof(file[1]), "/proc/self/fd/%d", fd[1]);
	if (fflush(out->to))
		return -1;
	pid = fork();
	if (!pid) {
		dup2(fileno(out->to), STDOUT_FILENO);
		execlp("diff", "diff", "-u", "--label", "in force", "--label", path, file[0],
		       file[1], NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	if (WIFSIGNALED(status))
		raise(WTERMSIG(status));
	return WIFEXITED(status) ? WEXITSTATUS(status) : DIFF_FAILED;
}

static int show(struct weir_tool *tool, const char *path, struct weir_config *there,
		struct weir_config *file)
{
	int fd[2] = { write_down(there), write_down(file) };
	int status = fd[0] < 0 || fd[1] < 0 ? -1 : run_diff(&tool->out, path, fd);

	close(fd[0]);
	close(fd[1]);
	if (status == 0 || status == 1)
		return status ? WEIR_EXIT_DIFFERS : WEIR_EXIT_OK;
	/* what diff cannot write it says itself */
	weir_err_set(&tool->err, "diff, of diffutils, %s",
		     status == DIFF_FAILED ? "failed" : "cannot be run");
	return status == DIFF_FAILED ? WEIR_EXIT_OUTPUT : WEIR_EXIT_REFUSED;
}

static int compare(struct weir_tool *tool, const char *path, struct weir_config *there,
		   struct weir_config *file)
{
	int status = tool->reached ? weir_get_config(tool, there, WEIR_GET_ALL) : WEIR_EXIT_OK;
	unsigned int i;

	if (!status && tool->reached)
		there->early_count = weir_xdp_list(tool, there->early);
	if (!status) {
		status = weir_read_file(tool, path, tool->reached, file);
		if (status)
			weir_err_set(&tool->err, "nothing was compared: %.200s cannot be applied",
				     path);
	}
	for (i = 0; !status && i < file->limit_count; i++)
		if (tool->reached && is_partial(&file->limits[i]))
			status = complete(tool, &file->limits[i], there);
	if (status)
		return status;
	for (i = 0; i < file->limit_count; i++)
		unify(&file->limits[i]);
	for (i = 0; i < there->limit_count; i++)
		unify(&there->limits[i]);
	weir_config_sort(there);
	weir_config_sort(file);
	settle_ends(file, there);
	sort_devices(there);
	sort_devices(file);
	return show(tool, path, there, file);
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
