// SPDX-License-Identifier: GPL-2.0-or-later
/* Run weir monitor, and cut what it prints into lines. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "monitor.h"

static void __attribute__((noreturn)) become(int fd, const char *kind)
{
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(null, STDERR_FILENO) >= 0 &&
	    dup2(fd, STDOUT_FILENO) >= 0)
		execlp("weir", "weir", "-json", "monitor", kind, NULL);
	_exit(127);
}

int fleet_monitor_start(struct fleet_monitor *monitor, const char *kind)
{
	int pipes[2];

	monitor->used = 0;
	if (pipe2(pipes, O_CLOEXEC))
		return -errno;
	monitor->pid = fork();
	if (!monitor->pid)
		become(pipes[1], kind);
	close(pipes[1]);
	if (monitor->pid < 0) {
		close(pipes[0]);
		monitor->pid = 0;
		return -EAGAIN;
	}
	monitor->fd = pipes[0];
	fcntl(monitor->fd, F_SETFL, O_NONBLOCK);
	return 0;
}

bool fleet_monitor_read(struct fleet_monitor *monitor)
{
	size_t room = sizeof(monitor->text) - monitor->used;
	ssize_t got;

	/* a line that is longer than any event is none */
	if (!room)
		monitor->used = 0;
	got = read(monitor->fd, monitor->text + monitor->used,
		   sizeof(monitor->text) - monitor->used);
	if (got > 0)
		monitor->used += got;
	else if (!got || (errno != EAGAIN && errno != EINTR))
		fleet_monitor_stop(monitor);
	return monitor->pid;
}

char *fleet_monitor_line(struct fleet_monitor *monitor, size_t *at)
{
	char *line = monitor->text + *at, *end = memchr(line, '\n', monitor->used - *at);

	if (!end)
		return NULL;
	*end = '\0';
	*at = end + 1 - monitor->text;
	return line;
}

void fleet_monitor_drop(struct fleet_monitor *monitor, size_t at)
{
	monitor->used -= at;
	memmove(monitor->text, monitor->text + at, monitor->used);
}

void fleet_monitor_stop(struct fleet_monitor *monitor)
{
	if (!monitor->pid)
		return;
	kill(monitor->pid, SIGTERM);
	while (waitpid(monitor->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(monitor->fd);
	monitor->pid = 0;
	monitor->fd = -1;
}
