// SPDX-License-Identifier: GPL-2.0-or-later
/* Run other programs. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "state/program.h"

/* Those of an administrator, whose PATH may lack their folders. */
#define PATHS	"/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin"

static void __attribute__((noreturn))
become(const char *const argv[], const int in[2], const int out[2])
{
	sigset_t none;

	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setenv("PATH", PATHS, 1);
	setenv("LC_ALL", "C", 1);
	if (dup2(in[0], STDIN_FILENO) >= 0 && dup2(out[1], STDOUT_FILENO) >= 0 &&
	    dup2(out[1], STDERR_FILENO) >= 0)
		execvp(*argv, (char *const *)argv);
	dprintf(STDERR_FILENO, "%s: %s", *argv, strerror(errno));
	_exit(127);
}

/* Shorter than a pipe's buffer, so that this does not wait. */
static void give(int fd, const char *input)
{
	size_t size = input ? strlen(input) : 0;
	ssize_t ret = size ? write(fd, input, size) : 0;

	(void)ret;	/* the program says what it misses */
	close(fd);
}

static void take(int fd, char *output, size_t size)
{
	char rest[512];
	size_t used = 0, room;
	ssize_t got;

	do {
		room = size - 1 - used;
		got = read(fd, room ? output + used : rest, room ? room : sizeof(rest));
		if (got > 0 && room)
			used += got;
	} while (got > 0 || (got < 0 && errno == EINTR));
	while (used && output[used - 1] == '\n')
		used--;
	output[used] = '\0';
	close(fd);
}

int weir_program_run(const char *const argv[], const char *input, char *output, size_t size)
{
	int in[2], out[2] = { -1, -1 }, status = -1, was;
	struct sigaction before, ignore = { .sa_handler = SIG_IGN };
	pid_t pid;

	*output = '\0';
	if (pipe2(in, O_CLOEXEC))
		return 127;
	pid = pipe2(out, O_CLOEXEC) ? -1 : fork();
	was = errno;
	if (!pid)
		become(argv, in, out);
	close(in[0]);
	close(out[1]);
	sigaction(SIGPIPE, &ignore, &before);
	give(in[1], pid > 0 ? input : NULL);
	sigaction(SIGPIPE, &before, NULL);
	take(out[0], output, size);
	if (pid < 0)
		snprintf(output, size, "%s: %s", *argv, strerror(was));
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}
