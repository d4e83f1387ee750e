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
	if (!when || !strcmp(when, "auto"))
		*color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
	else if (!strcmp(when, "always"))
		*color = true;
	else if (!strcmp(when, "never"))
		*color = false;
	else
		return weir_err_set(&tool->err, "-color: '%s' is not always, auto or never",
				    when);
	return 0;
}

static int unknown_option(struct weir_tool *tool, const char *word)
{
	struct weir_err inner;

	while (*word == '-')
		word++;
	weir_pick(weir_options, sizeof(*weir_options), word, false, &inner);
	return weir_err_set(&tool->err, "option: %.400s", inner.text);
}

static int take_option(struct weir_tool *tool, struct choice *choice, int opt,
		       const char *word)
{
	switch (opt) {
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
		tool->netns = optarg;
		break;
	case 'b':
		choice->batch = optarg;
		break;
	case 'f':
		choice->file = optarg;
		break;
	case 't':
		tool->timestamp = true;
		break;
	case 'c':
		return choose_color(tool, optarg, &choice->out.color);
	case 'V':
		choice->version = true;
		break;
	case 'h':
		choice->help = true;
		break;
	case OPT_CHECK:
		tool->check = true;
		break;
	case OPT_FORCE:
		tool->force = true;
		break;
	case OPT_EXIST:
		tool->exist = true;
		break;
	case ':':
		return weir_err_set(&tool->err, "option %s: value missing",
				    word);
	default:
		return unknown_option(tool, word);
	}
	return 0;
}

static int take_options(struct weir_tool *tool, struct choice *choice,
			int argc, char **argv)
{
	static const char letters[] = "+:jpsn:b:f:tcVh";
	int opt, at;

	opterr = 0;
	for (;;) {
		at = optind;
		opt = getopt_long_only(argc, argv, letters, weir_options, NULL);
		if (opt == -1)
			break;
		if (take_option(tool, choice, opt, argv[at]))
			return WEIR_EXIT_WORDS;
	}
	if (choice->batch && choice->file)
		weir_err_set(&tool->err, "-batch and -file exclude each other");
	else if ((choice->batch || choice->file) && optind < argc)
		weir_err_set(&tool->err, "'%s': no command goes with -batch or -file",
			     argv[optind]);
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

static int run(struct weir_tool *tool, const struct choice *choice, int argc,
	       char **argv)
{
	int status;

	if (choice->version ||
	    (argc - optind == 1 && !strcmp(argv[optind], "version"))) {
		show_version();
		return WEIR_EXIT_OK;
	}
	if (choice->help) {
		weir_help(stdout);
		return WEIR_EXIT_OK;
	}
	if (!choice->batch && !choice->file && optind == argc) {
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
	return weir_run_words(tool, argv + optind, argc - optind, false);
}

/* A socket must not become what is written to because nothing else was open. */
static void fill_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	struct weir_tool tool = { 0 };
	struct choice choice = { 0 };
	int status;

	fill_standard_files();
	setlocale(LC_CTYPE, "");
	if (argc > 1 && !strcmp(argv[1], "-complete")) {
		weir_complete(&tool, argc - 2, argv + 2);
		weir_nl_close(tool.nl);
		return WEIR_EXIT_OK;
	}
	status = take_options(&tool, &choice, argc, argv);
	weir_out_init(&choice.out);
	if (status)
		weir_complain(&tool, NULL);
	else
		status = run(&tool, &choice, argc, argv);
	weir_nl_close(tool.nl);
	if (weir_out_flush()) {
		fprintf(stderr, "weir: cannot write what was to be shown\n");
		status = status ? status : WEIR_EXIT_REFUSED;
	}
	return status;
}
