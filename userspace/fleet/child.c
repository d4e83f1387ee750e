// SPDX-License-Identifier: GPL-2.0-or-later
/* Run the weir command. Files in memory are its input and output: neither side waits. */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files/lines.h"
#include "child.h"
#include "kept.h"

#define WORDS_MOST	16
#define TIMEOUT_MS	60000	/* a large table takes a second */

enum { IN, OUT, ERR, FILES };

static int open_memory(const char *name, const char *content, size_t size)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd >= 0 && !fleet_write_all(fd, content, size) && !lseek(fd, 0, SEEK_SET))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static char *read_memory(int fd, size_t most)
{
	struct stat is;
	size_t size;
	char *text;

	if (fstat(fd, &is))
		return NULL;
	size = (size_t)is.st_size < most ? (size_t)is.st_size : most;
	text = malloc(size + 1);
	if (!text || pread(fd, text, size, 0) != (ssize_t)size) {
		free(text);
		return NULL;
	}
	text[size] = '\0';
	return text;
}

static void __attribute__((noreturn)) become(const char *const words[], const int files[FILES])
{
	const char *argv[WORDS_MOST] = { "weir" };
	sigset_t none;
	int i;

	for (i = 0; i < WORDS_MOST - 2 && words[i]; i++)
		argv[i + 1] = words[i];
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (i = 0; i < FILES; i++)
		if (dup2(files[i], i) < 0)
			_exit(127);
	execvp(*argv, (char *const *)argv);
	_exit(127);
}

/* Its exit status, or -1; one that takes too long is killed. */
static int await(pid_t pid)
{
	struct pollfd ended = { .fd = syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	int status, ret;

	do
		ret = poll(&ended, 1, TIMEOUT_MS);
	while (ret < 0 && errno == EINTR);
	if (!ret)
		kill(pid, SIGKILL);
	if (ended.fd >= 0)
		close(ended.fd);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The message of weir without its name, on one line: "-:3:2: unknown word". */
static void set_error(int fd, int status, struct weir_err *err)
{
	char *text = read_memory(fd, sizeof(err->text) - 1);
	const char *at = text ? text : "", *next;

	while (!strncmp(at, "weir: warning: ", 15) || !strncmp(at, "weir: note: ", 12)) {
		next = strchr(at, '\n');
		if (!next)
			break;
		at = next + 1;
	}
	if (!strncmp(at, "weir: ", 6))
		at += 6;
	if (*at)
		weir_err_set(err, "%.*s", (int)strcspn(at, "\n"), at);
	else if (status == 127)
		weir_err_set(err, "the command weir is not installed");
	else
		weir_err_set(err, "the command weir ended with status %d", status);
	free(text);
}

/* Run weir, with files for its input and what it prints; its exit status, or -1. */
static int run(const char *const words[], const char *input, size_t size, int files[FILES])
{
	pid_t pid;

	files[IN] = open_memory("in", input, input ? size : 0);
	files[OUT] = open_memory("out", "", 0);
	files[ERR] = open_memory("err", "", 0);
	if (files[IN] < 0 || files[OUT] < 0 || files[ERR] < 0)
		return -1;
	pid = fork();
	if (!pid)
		become(words, files);
	return pid < 0 ? -1 : await(pid);
}

static void close_all(const int files[FILES])
{
	int i;

	for (i = 0; i < FILES; i++)
		if (files[i] >= 0)
			close(files[i]);
}

int fleet_weir(const char *const words[], const char *input, size_t size, char **output,
	       struct weir_err *err)
{
	int files[FILES], status = run(words, input, size, files);

	if (!status && output) {
		*output = read_memory(files[OUT], SIZE_MAX);
		status = *output ? 0 : -1;
	}
	if (status)
		set_error(files[ERR], status, err);
	close_all(files);
	return status < 0 ? -EIO : status;
}

char *fleet_batch(const char *lines, size_t size)
{
	const char *const words[] = { "-quiet", "-exist", "-force", "-batch", "-", NULL };
	int files[FILES];
	char *messages;

	run(words, lines, size, files);
	messages = read_memory(files[ERR], SIZE_MAX);
	close_all(files);
	return messages;
}

json_t *fleet_weir_json(const char *const words[])
{
	struct weir_err unused;
	json_t *json;
	char *text;

	if (fleet_weir(words, NULL, 0, &text, &unused))
		return NULL;
	json = json_loads(text, 0, NULL);
	free(text);
	return json;
}

/*
 * Who pushes a configuration shall not have a host read, and quote, its other files. Other errors
 * are for weir to find.
 */
static int check_alone(const char *config, size_t size, struct weir_err *err)
{
	struct weir_lines lines = { 0 };
	bool includes = false;
	struct weir_err other;
	char *copy;

	if (!size)
		return 0;
	copy = malloc(size + 1);
	if (!copy)
		return weir_err_set(err, WEIR_NO_MEMORY);
	memcpy(copy, config, size);
	copy[size] = '\0';
	if (!weir_lines_text(&lines, copy, size, &other))
		while (!includes && weir_lines_next(&lines, &other) > 0)
			includes = !strcmp(lines.words[0], "include");
	if (includes)
		weir_err_set(err, "-:%u: 'include' names files of one host; what is pushed has to stand alone",
			     lines.line);
	weir_lines_close(&lines);
	return includes ? -EINVAL : 0;
}

static int run_file(const char *const words[], const char *config, size_t size,
		    struct weir_err *err)
{
	return check_alone(config, size, err) ?: fleet_weir(words, config, size, NULL, err);
}

int fleet_check(const char *file, const char *config, size_t size, struct weir_err *err)
{
	const char *const words[] = { "-quiet", "-check", "-file", "-", NULL };
	struct weir_err said;
	int ret = run_file(words, config, size, &said);

	/* weir has read it from its standard input */
	if (ret && !strncmp(said.text, "-:", 2))
		weir_err_set(err, "%.200s%s", file, said.text + 1);
	else if (ret)
		*err = said;
	return ret;
}

int fleet_apply(const char *config, size_t size, struct weir_err *err)
{
	const char *const words[] = { "-quiet", "-file", "-", NULL };

	return run_file(words, config, size, err);
}
