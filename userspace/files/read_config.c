// SPDX-License-Identifier: GPL-2.0-or-later
/* Read a configuration: the items of a file, and of those that it includes. */

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "files/files.h"
#include "files/include.h"

/* Of the configuration that is read, and until it is closed. */
static struct weir_places places;

void weir_config_point(struct weir_tool *tool, unsigned int line, const char *word,
		       unsigned int after)
{
	const char *source = places.all[line - 1].text, *at;
	char *words[WEIR_LINE_WORDS], *text = strdup(source);
	struct weir_args args = { .words = words, .fault = 2 };

	tool->line = line;
	args.count = text ? weir_split(text, words, WEIR_LINE_WORDS) : 0;
	if (word)
		weir_args_blame_in(&args, word, "budget", after);
	if (args.fault >= 0 && args.fault < args.count) {
		at = source + (words[args.fault] - text);
		weir_point(tool, source, at, weir_word_length(at));
	}
	free(text);
}

/* Print an error; whether the limit of reported errors is reached. */
static bool count_bad(struct weir_tool *tool, struct weir_config *config)
{
	weir_complain(tool, NULL);
	if (++config->bad < WEIR_BAD_LINES)
		return false;
	tool->line = 0;
	weir_err_set(&tool->err, "%d invalid lines; the rest was not checked", WEIR_BAD_LINES);
	weir_complain(tool, NULL);
	return true;
}

/* Point at a prefix of a list, as a line has it, and begin the sentence as others do. */
static void point_at_member(struct weir_tool *tool, const struct weir_member *member)
{
	char text[WEIR_TEXT_SIZE];
	const char *at;

	weir_err_set(&tool->err, "prefix-list add: %.400s", tool->err.text);
	weir_config_point(tool, member->line, NULL, 0);
	weir_text_prefix(NULL, &member->prefix, text);
	/* behind the name */
	at = tool->column ? strstr(tool->source + tool->column - 1 + tool->length, text) : NULL;
	if (at)
		weir_point(tool, places.all[member->line - 1].text, at, strlen(text));
}

/* Check the lists, and the limits' use of them, unless some may be on invalid lines. */
static void check_lists(struct weir_tool *tool, struct weir_config *config)
{
	const struct weir_field *field;
	const struct weir_member *member;
	const struct weir_limit *limit;
	unsigned int i, number;

	if (config->bad)
		return;
	for (i = 0; i < config->list_count; i++) {
		if (i && !strcmp(config->lists[i].name, config->lists[i - 1].name))
			continue;
		for (number = 0; (member = weir_lists_check(config, config->lists[i].name, number,
							    &tool->err)); number++) {
			point_at_member(tool, member);
			if (count_bad(tool, config))
				return;
		}
	}
	for (limit = config->limits; limit < config->limits + config->limit_count; limit++) {
		number = 0;
		while (weir_lists_check_limit(config, limit, &number, &field, &member,
					      &tool->err)) {
			if (member)
				point_at_member(tool, member);
			else
				weir_config_point(tool, limit->line, field->word, 0);
			if (count_bad(tool, config))
				return;
		}
	}
}

/* Check exemptions for duplicates and missing limits, which may be on invalid lines. */
static void check_items(struct weir_tool *tool, struct weir_config *config)
{
	const struct weir_exempt *exempt;
	bool partly = config->bad, absent;
	unsigned int i;
	int ret;

	weir_config_sort(config);
	for (i = 0; i < config->exempt_count; i++) {
		exempt = &config->exempts[i];
		ret = weir_config_check(config, exempt, &tool->err);
		absent = ret == -ENOENT;
		if (!ret || (absent && partly))
			continue;
		weir_config_point(tool, exempt->line, absent ? exempt->limit : NULL, 0);
		if (count_bad(tool, config))
			break;
	}
}

/* Report a command that a configuration cannot contain. */
static int blame_line(struct weir_tool *tool, char **words, int count)
{
	const char *verb = count > 1 ? words[1] : "";

	if (!strcmp(words[0], "define"))
		return weir_err_set(&tool->err, "files have no variables; to name prefixes: prefix-list add NAME PREFIX,..., which limits use with from-list NAME");
	if (!strcmp(verb, "a") || !strcmp(verb, "ad"))
		return weir_err_set(&tool->err, WEIR_ABBREVIATES, verb, "add");
	return weir_err_set(&tool->err, "'%.60s%s%.40s' cannot be used here; expected 'limit add', 'exempt add', 'block add', 'prefix-list add', 'early dev' or 'include'; for words of other tools see weir-limit(8)",
			    words[0], *verb ? " " : "", verb);
}

/* Add an item; args->fault is the word at fault. */
static int add_item(struct weir_tool *tool, struct weir_reading *reading,
		    struct weir_config *config, struct weir_args *args)
{
	union weir_model *model = &reading->model;
	int ret;

	args->fault = 2;
	if (reading->command->set == &weir_limit_fields) {
		model->limit.line = tool->line;
		ret = weir_config_add_limit(config, &model->limit, &tool->err);
		if (ret == -ENOENT)
			weir_args_blame(args, model->limit.before);
		return ret;
	}
	if (weir_command_exempts(reading->command)) {
		model->exempt.line = tool->line;
		return weir_config_add_exempt(config, &model->exempt, &tool->err);
	}
	if (reading->command->set == &weir_list_fields) {
		model->list.line = tool->line;
		if (!model->list.file)
			return weir_config_add_list(config, &model->list, &tool->err);
		weir_args_blame(args, "file");
		return weir_err_set(&tool->err,
				    "file: a file has no other file; of one to include: "
				    WEIR_SED_PREFIXES
				    "s/^/prefix-list add %s /' >/etc/weir.d/%s.conf",
				    model->list.file, model->list.name, model->list.name);
	}
	model->xdp.line = tool->line;
	weir_args_blame(args, model->xdp.dev);
	return weir_config_add_early(config, &model->xdp, &tool->err);
}

/* A configuration consists of commands that add a limit, an exemption, a list or a device. */
static bool is_item(const struct weir_command *command)
{
	return command && command->verb == WEIR_ON_ADD &&
	       (command->set == &weir_limit_fields || weir_command_exempts(command) ||
		command->set == &weir_list_fields || command->set == &weir_xdp_fields);
}

/*
 * Add the item on a line; @fault: index of the word at fault. -ENOENT: the limit named by
 * "before" does not exist.
 */
static int read_item(struct weir_tool *tool, struct weir_lines *lines,
		     struct weir_config *config, int *fault)
{
	char **words = lines->words;
	int count = lines->count;
	struct weir_args args = { .words = words, .count = count,
				  .exact = true, .ahead_ms = tool->ahead_ms, .err = &tool->err };
	struct weir_reading reading;
	bool alone;
	int ret;

	ret = tool->read(&args, &reading);
	*fault = args.fault;
	config->ended += ret == -ETIME;
	if (ret == -ETIME)
		return 0;
	/* do not suggest objects that a file cannot contain */
	if (!reading.object)
		return tool->err.unknown ? blame_line(tool, words, 1) : -EINVAL;
	alone = reading.object->alone;
	if (!is_item(reading.command) || (!alone && count < 2)) {
		*fault = count > 1 && !alone;
		return blame_line(tool, words, alone ? 1 : count);
	}
	if (!ret) {
		ret = add_item(tool, &reading, config, &args);
		*fault = args.fault;
	}
	if (!ret)
		return 0;
	weir_err_set(&tool->err, "%s%s%s: %.400s", words[0], alone ? "" : " ",
		     alone ? "" : words[1], tool->err.text);
	return ret;
}

/* Files that are open at a time, and all files. */
#define DEPTH_MAX	16
#define FILES_MAX	4096

struct reading {
	struct weir_tool *tool;
	struct weir_config *config;
	bool text;		/* not a file: it includes none */
	size_t bytes;		/* of all files so far */
	unsigned int depth;
	struct stat open[DEPTH_MAX];	/* the files that include the present one, and it */
};

static int read_lines(struct reading *to, struct weir_lines *lines, const char *name);

/* Refuse a file that is being read, in other words one that includes itself. */
static int enter(struct reading *to, const char *name)
{
	struct weir_err *err = &to->tool->err;
	struct stat *at = &to->open[to->depth];
	unsigned int i;

	if (places.file_count == FILES_MAX)
		return weir_err_set(err, "more than %d files", FILES_MAX);
	if (to->depth == DEPTH_MAX)
		return weir_err_set(err, "more than %d files include each other", DEPTH_MAX);
	if (stat(name, at))
		return weir_err_set(err, "cannot open: %s", strerror(errno));
	for (i = 0; i < to->depth; i++) {
		if (at->st_dev == to->open[i].st_dev && at->st_ino == to->open[i].st_ino)
			return weir_err_set(err, "the file includes itself");
	}
	to->depth++;
	return 0;
}

/* -ECANCELED: the error has been printed, and it was the last one. */
static int include_file(void *data, const char *name)
{
	struct weir_lines lines = { 0 };
	struct reading *to = data;
	uint32_t outer = to->config->sum;
	int ret = enter(to, name);

	if (!ret) {
		to->config->sum = 0;
		ret = weir_lines_open(&lines, name, &to->tool->err) ?: read_lines(to, &lines, name);
		if (!ret && !lines.filled)
			ret = weir_err_set(&to->tool->err, WEIR_EMPTY_FILE);
		if (!ret && to->tool->fallback && !to->tool->check &&
		    weir_mark_holds(name, to->config->sum))
			ret = weir_err_set(&to->tool->err, "applied with -confirm before, and never confirmed; to boot with it, remove %.200s.unconfirmed",
					   name);
		to->config->sum = crc32(outer, (const void *)&to->config->sum, sizeof(outer));
		to->depth--;
	}
	weir_lines_close(&lines);
	if (ret == -EINVAL)
		weir_err_set(&to->tool->err, "%.200s: %.200s", name, to->tool->err.text);
	return ret;
}

/* Read a line; @fault: index of the word at fault. */
static int read_line(struct reading *to, struct weir_lines *lines, const char *name, int *fault)
{
	struct weir_err *err = &to->tool->err;
	unsigned int line = to->tool->line;
	int ret;

	*fault = 0;
	if (strspn(lines->words[0], "{[") && !isalpha((unsigned char)lines->words[0][1])) {
		weir_err_set(err, "this is JSON, which -json prints; a file has commands, as 'weir save' writes them");
		count_bad(to->tool, to->config);
		return -ECANCELED;
	}
	if (strcmp(lines->words[0], "include") || to->text)
		return read_item(to->tool, lines, to->config, fault);
	*fault = lines->count > 1;
	ret = weir_include(name, lines->count == 2 ? lines->words[1] : "", include_file, to, err);
	to->tool->line = line;
	if (ret == -EINVAL)
		weir_err_set(err, "include: %.400s", err->text);
	return ret;
}

/* Read the lines of a file; -EINVAL with a sentence: it cannot be read. */
static int read_lines(struct reading *to, struct weir_lines *lines, const char *name)
{
	const char *file = weir_places_file(&places, name);
	struct weir_tool *tool = to->tool;
	int ret, fault;

	to->bytes += lines->size;
	to->config->sum = crc32(to->config->sum, (const void *)lines->whole, lines->size);
	if (to->bytes > WEIR_FILE_BYTES)
		return weir_err_set(&tool->err, "with all included files larger than %d MiB",
				    WEIR_FILE_BYTES >> 20);
	while ((ret = weir_lines_next(lines, &tool->err)) && !lines->failed) {
		if (ret > 0 && lines->count == 1 && !strcmp(lines->words[0], "quiet")) {
			tool->quiet = true;
			continue;
		}
		tool->line = file ? weir_places_add(&places, file, lines->line,
						    lines->source ?: "") : 0;
		if (!tool->line)
			return weir_err_set(&tool->err, WEIR_NO_MEMORY);
		fault = 0;
		if (ret > 0)
			ret = read_line(to, lines, name, &fault);
		if (ret == -ECANCELED)
			return ret;
		/* the missing limit may be on an invalid line */
		if (!ret || (ret == -ENOENT && to->config->bad))
			continue;
		weir_lines_point(lines, fault, tool);
		if (count_bad(tool, to->config) || lines->count <= 0)
			return -ECANCELED;
	}
	return ret;
}

/* Check what has been read, and say what is wrong with the whole. */
static int end(struct reading *to, int ret)
{
	struct weir_config *config = to->config;
	struct weir_tool *tool = to->tool;

	tool->line = 0;
	if (ret == -EINVAL)
		count_bad(tool, config);
	if (config->bad < WEIR_BAD_LINES)
		check_items(tool, config);
	check_lists(tool, config);
	tool->line = 0;
	if (config->ended)
		weir_note(tool, "note", "exemptions and blocks that have ended are left out (%u)",
			  config->ended);
	return config->bad ? WEIR_EXIT_WORDS : WEIR_EXIT_OK;
}

static struct reading begin(struct weir_tool *tool, struct weir_config *config)
{
	weir_config_clear(config);
	config->places = &places;
	tool->places = &places;
	tool->line = 0;
	return (struct reading){ .tool = tool, .config = config, .depth = 1 };
}

int weir_config_read(struct weir_tool *tool, const char *path, struct weir_config *config)
{
	struct reading to = begin(tool, config);
	struct weir_lines lines;
	int ret;

	if (strcmp(path, "-"))
		stat(path, &to.open[0]);
	ret = weir_lines_open(&lines, path, &tool->err) ?: read_lines(&to, &lines, path);
	/* an empty file was probably truncated */
	if (!ret && !config->bad && !lines.filled && strcmp(path, "/dev/null"))
		ret = weir_err_set(&tool->err, WEIR_EMPTY_FILE);
	weir_lines_close(&lines);
	return end(&to, ret);
}

int weir_config_read_text(struct weir_tool *tool, char *text, size_t size,
			  struct weir_config *config)
{
	struct reading to = begin(tool, config);
	struct weir_lines lines;
	int ret;

	to.text = true;
	ret = weir_lines_text(&lines, text, size, &tool->err) ?:
	      read_lines(&to, &lines, tool->file);
	weir_lines_close(&lines);
	return end(&to, ret);
}

void weir_config_close(struct weir_tool *tool)
{
	tool->places = NULL;
	weir_places_free(&places);
}
