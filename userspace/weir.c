// SPDX-License-Identifier: GPL-2.0-or-later
/* weir: limits how many packets each source address may send. */

#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

/* What options choose beside what the run keeps. */
struct choice {
	struct weir_out_opts out;
	const char *batch, *file;
	bool version, help;
};

static int choose_color(struct weir_tool *tool, const char *when, bool *color)
{
	if (!when || !strcmp(when, "always"))
		*color = true;
	else if (!strcmp(when, "auto"))
		*color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
	else if (!strcmp(when, "never"))
		*color = false;
	else
		return weir_err_set(&tool->err, "-color: '%.60s' is not always, auto or never",
				    when);
	return 0;
}

static int take_option(struct weir_tool *tool, struct choice *choice,
		       const struct weir_given *given)
{
	switch (given->option->id) {
	case 'j':
		choice->out.json = true;
		break;
	case 'p':
		choice->out.pretty = true;
		break;
	case 's':
		tool->stats = true;
		break;
	case 'n':
		tool->netns = given->value;
		break;
	case 'b':
		choice->batch = given->value;
		break;
	case 'f':
		choice->file = given->value;
		break;
	case 't':
		tool->timestamp = true;
		break;
	case 'c':
		return choose_color(tool, given->value, &choice->out.color);
	case 'V':
		choice->version = true;
		break;
	case 'h':
		choice->help = true;
		break;
	case WEIR_OPT_CHECK:
		tool->check = true;
		break;
	case WEIR_OPT_FORCE:
		tool->force = true;
		break;
	case WEIR_OPT_EXIST:
		tool->exist = true;
		break;
	}
	return 0;
}

/* Read what stands in front of the command. */
static int take_options(struct weir_tool *tool, struct choice *choice,
			struct weir_args *args)
{
	struct weir_given given = { 0 };
	int ret;

	while ((ret = weir_option_take(args, &given)) > 0) {
		ret = take_option(tool, choice, &given);
		if (ret)
			break;
	}
	if (ret)
		return WEIR_EXIT_WORDS;
	if (choice->batch && choice->file)
		weir_err_set(&tool->err, "-batch and -file exclude each other");
	else if ((choice->batch || choice->file) && weir_args_peek(args))
		weir_err_set(&tool->err, "'%.60s': no command goes with -batch or -file",
			     weir_args_peek(args));
	else
		return WEIR_EXIT_OK;
	return WEIR_EXIT_WORDS;
}

static void show_version(void)
{
	weir_out_array(NULL);
	weir_out_object(NULL);
	weir_out_str("version", WEIR_VERSION, "weir %s\n", WEIR_VERSION);
	weir_out_object_end();
	weir_out_array_end();
}

static int run(struct weir_tool *tool, const struct choice *choice,
	       const struct weir_args *args)
{
	char **words = args->words + args->at;
	int count = args->count - args->at, status;

	if (choice->version || (count == 1 && !strcmp(*words, "version"))) {
		show_version();
		return WEIR_EXIT_OK;
	}
	if (choice->help) {
		weir_help(stdout);
		return WEIR_EXIT_OK;
	}
	if (!choice->batch && !choice->file && !count) {
		weir_help(stderr);
		return WEIR_EXIT_WORDS;
	}
	if (tool->netns && !tool->check) {
		status = weir_enter_netns(tool);
		if (status) {
			weir_complain(tool, NULL);
			return status;
		}
	}
	if (choice->file)
		return weir_apply_file(tool, choice->file);
	if (choice->batch)
		return weir_run_batch(tool, choice->batch);
	return weir_run_words(tool, words, count, false);
}

/*
 * A socket must not become what is written to because nothing else was open;
 * and who is to be told something is told that there was no place to write it.
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

/* What was done is done, whether or not it could be told. */
static int finish(int status)
{
	int ret = weir_out_flush();

	if (!ret)
		return status;
	fprintf(stderr, "weir: write error: %s\n", strerror(-ret));
	return status ? status : WEIR_EXIT_OUTPUT;
}

/* A list of a million goes into a file or a pipe in large pieces. */
static void keep_output(void)
{
	static char room[1 << 16];

	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, room, _IOFBF, sizeof(room));
}

int main(int argc, char **argv)
{
	struct weir_tool tool = { 0 };
	struct weir_args args = { .words = argv, .count = argc, .at = argc > 0,
				  .err = &tool.err };
	struct choice choice = { 0 };
	int status;

	fill_standard_files();
	keep_output();
	setlocale(LC_CTYPE, "");
	if (argc > 1 && !strcmp(argv[1], "-complete")) {
		weir_complete(&tool, argc - 2, argv + 2);
		weir_nl_close(tool.nl);
		return WEIR_EXIT_OK;
	}
	status = take_options(&tool, &choice, &args);
	weir_out_init(&choice.out);
	if (status)
		weir_complain(&tool, NULL);
	else
		status = run(&tool, &choice, &args);
	weir_nl_close(tool.nl);
	return finish(status);
}
