// SPDX-License-Identifier: GPL-2.0-or-later
/* weir -netns: act in another network namespace. */

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool.h"

static bool is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

/* An ip-netns(8) name, a path, or a PID. */
static int open_netns(const char *which)
{
	char path[256];
	int fd;

	if (strchr(which, '/'))
		return open(which, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), WEIR_NETNS_DIR "/%s", which);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 || errno != ENOENT || !is_number(which))
		return fd;
	snprintf(path, sizeof(path), "/proc/%s/ns/net", which);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static bool is_own(int fd)
{
	struct stat own, other;

	return !stat("/proc/self/ns/net", &own) && !fstat(fd, &other) &&
	       own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

int weir_enter_netns(struct weir_tool *tool)
{
	int fd = open_netns(tool->netns), status = WEIR_EXIT_OK;

	if (fd < 0) {
		if (errno == ENOENT && is_number(tool->netns))
			weir_err_set(&tool->err, "no network namespace or process '%s'",
				     tool->netns);
		else
			weir_err_set(&tool->err, "no network namespace '%s': %s",
				     tool->netns, strerror(errno));
		return WEIR_EXIT_WORDS;
	}
	tool->elsewhere = !is_own(fd);
	if (tool->elsewhere && setns(fd, CLONE_NEWNET)) {
		status = errno == EINVAL ? WEIR_EXIT_WORDS : WEIR_EXIT_REFUSED;
		if (errno == EINVAL)
			weir_err_set(&tool->err, "'%s' is not a network namespace", tool->netns);
		else
			weir_err_set(&tool->err, "cannot enter network namespace '%s': %s",
				     tool->netns, strerror(errno));
	}
	close(fd);
	return status;
}
