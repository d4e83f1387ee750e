// SPDX-License-Identifier: GPL-2.0-or-later
/* weir: limits how many packets each source address may send. */

#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "commands/commands.h"
#include "tool/spaces.h"

static void show_version(struct weir_out *out)
{
	weir_out_begin(out, NULL, '[');
	weir_out_begin(out, NULL, '{');
	weir_out_str(out, "version", WEIR_VERSION);
	weir_out_u64(out, "schema_version", WEIR_SCHEMA_VERSION);
	weir_out_text(out, "weir %s\n", WEIR_VERSION);
	weir_out_end(out, '}');
	weir_out_end(out, ']');
}

/* Run a file or a batch, as a change that waits to be confirmed if that is wanted. */
static int run_file(struct weir_tool *tool)
{
	const char *path = tool->batch ? tool->batch : tool->config_file;
	char *words[2] = { tool->batch ? "-batch" : "-file", (char *)path };
	bool confirm = tool->confirm && !tool->check;
	int status = confirm ? weir_confirm_begin(tool, words, 2) : WEIR_EXIT_OK;

	if (status) {
		weir_complain(tool, NULL);
		return status;
	}
	weir_warn_pending(tool, true);
	status = tool->batch ? weir_run_batch(tool, path) : weir_apply_file(tool, path);
	tool->spared |= tool->batch && !tool->changed;
	if (confirm)
		return weir_confirm_end(tool, status, tool->changed);
	if (!status && !tool->batch && !tool->check)
		weir_mark_clear(tool, path);
	return status;
}

/* What there is, without any words: what has happened, the limits, and who was dropped most. */
static int overview(struct weir_tool *tool)
{
	char *limits[2] = { "limit", "show" }, *sources[4] = { "source", "show", "top", "5" };
	char *counters[2] = { "stats", "show" };
	int status;

	status = weir_tool_reach(tool);
	if (status) {
		weir_complain(tool, NULL);
		weir_help(stderr);
		return status;
	}
	status = weir_run_words(tool, counters, 2, NULL);
	if (status || tool->out.json)
		return status;
	weir_run_words(tool, limits, 2, NULL);
	status = weir_run_words(tool, sources, 4, NULL);
	weir_out_text(&tool->out, "'weir help' lists the commands\n");
	return status;
}

static int run(struct weir_tool *tool, int count, char **words)
{
	int status;

	if (tool->version || (count == 1 && !strcmp(*words, "version"))) {
		show_version(&tool->out);
		return WEIR_EXIT_OK;
	}
	if (tool->schema) {
		weir_schema(&tool->out);
		return WEIR_EXIT_OK;
	}
	if (tool->help)
		return weir_run_words(tool, words, count, NULL);
	if (tool->netns) {
		status = weir_enter_netns(tool);
		tool->outside = tool->check && status == WEIR_EXIT_REFUSED;
		if (status && !tool->outside) {
			weir_complain(tool, NULL);
			return status;
		}
	}
	if (tool->resume && !tool->check)
		weir_resume(tool, tool->resume);
	if (tool->config_file && tool->fallback)
		return weir_apply_or_fall_back(tool, tool->config_file, tool->fallback);
	if (tool->batch || tool->config_file)
		return run_file(tool);
	if (!count)
		return overview(tool);
	return weir_run_words(tool, words, count, NULL);
}

/* Parse the options and check their combination; returns an enum weir_exit. */
static int choose(struct weir_tool *tool, int argc, char **argv, int *at)
{
	*at = weir_take_options(tool, argc, argv);
	if (*at < 0)
		return WEIR_EXIT_WORDS;
	if (tool->batch && tool->config_file)
		weir_err_set(&tool->err, WEIR_COMBINED, "-batch", "-file");
	else if ((tool->batch || tool->config_file) && *at < argc)
		weir_err_set(&tool->err, WEIR_UNEXPECTED ": '-batch' and '-file' take no command",
			     argv[*at]);
	else if (tool->fallback && !tool->config_file &&
		 (*at == argc || strcmp(argv[*at], "monitor")))
		weir_err_set(&tool->err, "'-fallback' requires '-file' or 'monitor'");
	else if (tool->resume && !tool->config_file)
		weir_err_set(&tool->err, "'-resume' requires '-file'");
	else if (tool->confirm && (tool->fallback || tool->resume))
		weir_err_set(&tool->err, WEIR_COMBINED, "-confirm",
			     tool->fallback ? "-fallback" : "-resume");
	else if (tool->confirm && !tool->batch && !tool->config_file && *at == argc)
		weir_err_set(&tool->err, "'-confirm' requires a command; to keep what was changed: weir confirm");
	else if (tool->schema && (tool->batch || tool->config_file || *at < argc))
		weir_err_set(&tool->err, "'-schema' takes no command");
	else if (tool->bare_color && (tool->batch || tool->config_file))
		/* -c is the check of nft(8), which changes nothing */
		weir_err_set(&tool->err, "'-c' is -color, as in ip: to check a file write -check; to colour write -color=always");
	else if (tool->timestamp && tool->config_file)
		weir_err_set(&tool->err, "'-t' is -timestamp, for events: to check a file write -check");
	else
		return WEIR_EXIT_OK;
	return WEIR_EXIT_WORDS;
}

/*
 * Open closed descriptors 0 to 2, so that no socket becomes stdout and writing to a
 * closed stdout fails.
 */
static void fill_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* Report output errors, but keep the status of a failed command. */
static int finish(struct weir_tool *tool, int status)
{
	int ret = weir_out_flush(&tool->out);

	if (tool->reached)
		weir_nl_close(&tool->nl);
	if (!ret)
		return status;
	fprintf(stderr, "weir: " WEIR_CANNOT_WRITE "\n", strerror(-ret));
	return status ? status : WEIR_EXIT_OUTPUT;
}

/* Use a large buffer for files and pipes: a dump may have a million lines. */
static void keep_output(void)
{
	static char room[1 << 16];

	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, room, _IOFBF, sizeof(room));
}

int main(int argc, char **argv)
{
	struct weir_tool tool = { .out.to = stdout, .read = weir_read };
	struct winsize size;
	int status, at;

	/* programs that are run are waited for */
	signal(SIGCHLD, SIG_DFL);
	fill_standard_files();
	keep_output();
	setlocale(LC_CTYPE, "");
	if (argc > 1 && !strcmp(argv[1], "-complete")) {
		weir_complete(&tool, argc - 1, argv + 1);
		return finish(&tool, WEIR_EXIT_OK);
	}
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		tool.out.width = size.ws_col;
	status = choose(&tool, argc, argv, &at);
	if (status)
		weir_complain(&tool, NULL);
	else
		status = run(&tool, argc - at, argv + at);
	return finish(&tool, status);
}
