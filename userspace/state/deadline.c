// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The deadline of a change: a timer of systemd, which no end of a session, and no kill of all of
 * weir's processes, takes along; without systemd, or in a network namespace without a name that
 * it could be given, a process that belongs to no session.
 */

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "state/pending.h"
#include "state/program.h"

#define NS_PER_MS	1000000ULL

static bool has_systemd(void)
{
	return !access("/run/systemd/system", F_OK);
}

static bool is_here(const char *path)
{
	struct stat own, other;

	return !stat("/proc/self/ns/net", &own) && !stat(path, &other) &&
	       own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

/* The -netns of this network namespace for a service: "": none is needed; false: unknown. */
static bool name_space(char name[NAME_MAX + 1])
{
	glob_t names = { 0 };
	bool found = is_here("/proc/1/ns/net");
	size_t i;

	*name = '\0';
	if (!found)
		glob(WEIR_NETNS_DIR "/*", 0, NULL, &names);
	for (i = 0; !found && i < names.gl_pathc; i++) {
		found = is_here(names.gl_pathv[i]);
		snprintf(name, NAME_MAX + 1, "%s", names.gl_pathv[i] + sizeof(WEIR_NETNS_DIR));
	}
	globfree(&names);
	return found;
}

static bool start_timer(const struct weir_tool *tool, const struct weir_brake *brake)
{
	char unit[80], after[48], path[PATH_MAX], name[NAME_MAX + 1], netns[NAME_MAX + 16];
	char there[NAME_MAX + 64];
	const char *own = program_invocation_name;	/* as a service finds it */
	char text[200];
	const char *const argv[] = {
		"systemd-run", "--quiet", "--collect", unit, after,
		"--timer-property=AccuracySec=1s", "--property=Restart=on-failure",
		"--property=RestartSec=1s", "--property=StartLimitIntervalSec=0", there,
		"--description=Take back a change of weir that was not confirmed",
		"--", strchr(own, '/') && realpath(own, path) ? path : "weir", netns,
		"-exist", "confirm", "revert", NULL,
	};

	if (!has_systemd() || !name_space(name))
		return false;
	/* without a name, what it does anyway */
	snprintf(netns, sizeof(netns), "%s%s", *name ? "-netns=" : "-force", name);
	/* a name that is gone stays so */
	snprintf(there, sizeof(there), "--property=AssertPathExists=%s/%s",
		 *name ? WEIR_NETNS_DIR : "", name);
	snprintf(unit, sizeof(unit), "--unit=%s", brake->unit);
	snprintf(after, sizeof(after), "--on-active=%" PRIu64 "ms", tool->confirm_ms);
	return !weir_program_run(argv, NULL, text, sizeof(text));
}

/* Keep nothing of the caller's that it may wait for, but for one descriptor. */
static void detach(int keep)
{
	int null = open("/dev/null", O_RDWR);

	setsid();
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	if (chdir("/"))
		return;
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	close_range(STDERR_FILENO + 1, keep - 1, 0);
	close_range(keep + 1, UINT_MAX, 0);
}

/* Take the change back, and log that; false: it still waits, and nobody else keeps its deadline. */
static bool take_back(const struct weir_tool *parent, struct weir_brake *own,
		      int (*undo)(struct weir_tool *tool))
{
	struct weir_tool tool = { .out.to = stdout, .read = parent->read };
	int status;

	weir_brake_read(own);
	status = undo(&tool);
	if (tool.reached)
		weir_nl_close(&tool.nl);
	if (!status)
		syslog(LOG_WARNING, "taken back, as it was not confirmed: '%s'",
		       own->change.command);
	else
		syslog(LOG_ERR, "not confirmed, but not taken back either: '%s': %s",
		       own->change.command, tool.err.text);
	/* @undo closed a descriptor of the file */
	return !status || !weir_brake_lock(own, WEIR_BRAKE_DEADLINE, false) ||
	       weir_brake_read(own) == 0;
}

static void __attribute__((noreturn))
wait_for_it(const struct weir_tool *parent, const struct weir_brake *brake,
	    int (*undo)(struct weir_tool *tool), int ready)
{
	uint64_t deadline = brake->change.deadline_ns;
	const struct timespec again = { .tv_sec = 1 };
	const struct timespec until = { .tv_sec = deadline / WEIR_NS_PER_S,
					.tv_nsec = deadline % WEIR_NS_PER_S };
	struct weir_tool tool = { .out.to = stdout };
	struct weir_brake own;

	detach(ready);
	/* a descriptor of its own, as a lock ends with any of a process that is closed */
	if (weir_brake_open(&tool, &own, false) ||
	    !weir_brake_lock(&own, WEIR_BRAKE_DEADLINE, false) || write(ready, "", 1) != 1)
		_exit(WEIR_EXIT_REFUSED);
	close(ready);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
	openlog("weir", LOG_PID, LOG_DAEMON);
	/* as systemd does */
	while (!take_back(parent, &own, undo))
		nanosleep(&again, NULL);
	_exit(WEIR_EXIT_OK);
}

static bool start_process(const struct weir_tool *tool, const struct weir_brake *brake,
			  int (*undo)(struct weir_tool *tool))
{
	int ready[2];
	ssize_t got;
	pid_t pid;
	char byte;

	if (pipe2(ready, O_CLOEXEC))
		return false;
	pid = fork();
	if (!pid)
		wait_for_it(tool, brake, undo, ready[1]);
	close(ready[1]);
	do
		got = read(ready[0], &byte, 1);
	while (got < 0 && errno == EINTR);
	close(ready[0]);
	return pid > 0 && got == 1;
}

int weir_deadline_start(struct weir_tool *tool, const struct weir_brake *brake,
			int (*undo)(struct weir_tool *tool))
{
	if (start_timer(tool, brake) || start_process(tool, brake, undo))
		return WEIR_EXIT_OK;
	weir_err_set(&tool->err, "neither systemd-run nor a process of its own keeps the deadline");
	return WEIR_EXIT_REFUSED;
}

void weir_deadline_stop(const struct weir_brake *brake)
{
	const struct timespec pause = { .tv_nsec = NS_PER_MS };
	char unit[80], text[200];
	const char *const argv[] = { "systemctl", "--quiet", "stop", unit, NULL };
	pid_t pid = weir_brake_holder(brake, WEIR_BRAKE_DEADLINE);

	if (pid > 0)
		kill(pid, SIGKILL);
	while (pid > 0 && weir_brake_holder(brake, WEIR_BRAKE_DEADLINE) == pid)
		nanosleep(&pause, NULL);
	snprintf(unit, sizeof(unit), "%s.timer", brake->unit);
	if (has_systemd())
		weir_program_run(argv, NULL, text, sizeof(text));
}
