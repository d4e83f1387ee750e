// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Act in another network namespace, as weir -netns, and go through all: by name, by the processes
 * in them, and if those were not enough, by descriptors and mounts of processes. What only a
 * socket keeps is not found.
 */

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lang/config.h"
#include "tool/spaces.h"

#define OWN	"/proc/self/ns/net"

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

int weir_enter_netns(struct weir_tool *tool)
{
	int fd = open_netns(tool->netns), status = WEIR_EXIT_OK;
	struct stat own, other;

	if (fd < 0) {
		if (errno == ENOENT && is_number(tool->netns))
			weir_err_set(&tool->err, "no network namespace or process '%s'",
				     tool->netns);
		else
			weir_err_set(&tool->err, "no network namespace '%s': %s",
				     tool->netns, strerror(errno));
		return WEIR_EXIT_WORDS;
	}
	tool->elsewhere = stat(OWN, &own) || fstat(fd, &other) || own.st_dev != other.st_dev ||
			  own.st_ino != other.st_ino;
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

int weir_space_enter(struct weir_tool *tool, const struct weir_space *space)
{
	if (tool->reached)
		weir_nl_close(&tool->nl);
	tool->reached = false;
	tool->limits_asked = false;
	tool->spare_asked = false;
	if (!setns(space->fd, CLONE_NEWNET))
		return WEIR_EXIT_OK;
	weir_err_set(&tool->err, "cannot enter network namespace '%.200s': %s", space->name,
		     strerror(errno));
	return WEIR_EXIT_REFUSED;
}

static bool was_seen(const struct weir_spaces *spaces, uint64_t inode)
{
	unsigned int i;

	for (i = 0; i < spaces->seen_count; i++)
		if (spaces->seen[i] == inode)
			return true;
	return false;
}

/* Look at one that may have been seen, and add it if it has something. */
static int look(struct weir_tool *tool, struct weir_spaces *spaces, const char *path,
		const char *name)
{
	struct weir_space space = { .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) };
	struct stat is;
	int status = WEIR_EXIT_OK;

	if (space.fd < 0)
		return WEIR_EXIT_OK;
	if (fstat(space.fd, &is) || was_seen(spaces, is.st_ino))
		goto out;
	if (!weir_grow(&spaces->seen, &spaces->seen_room, spaces->seen_count,
		       sizeof(*spaces->seen), &tool->err) ||
	    !weir_grow(&spaces->list, &spaces->room, spaces->count, sizeof(*spaces->list),
		       &tool->err)) {
		status = WEIR_EXIT_OUTPUT;
		goto out;
	}
	snprintf(space.name, sizeof(space.name), "%s", name);
	space.inode = is.st_ino;
	/* the module counts those that it cannot enter, or that are no network namespaces */
	if (weir_space_enter(tool, &space))
		goto out;
	spaces->seen[spaces->seen_count++] = is.st_ino;
	status = spaces->look_into(tool, &space, spaces->data);
	if (!status && space.has) {
		spaces->list[spaces->count++] = space;
		spaces->found += !!space.limits;
		return WEIR_EXIT_OK;
	}
	free(space.early);
out:
	close(space.fd);
	return status;
}

/* Those of ip-netns(8), also those without limits, as they may have exemptions. */
static int look_at_names(struct weir_tool *tool, struct weir_spaces *spaces)
{
	DIR *dir = opendir(WEIR_NETNS_DIR);
	struct dirent *entry;
	char path[PATH_MAX];
	int status = WEIR_EXIT_OK;

	while (dir && !status && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), WEIR_NETNS_DIR "/%s", entry->d_name);
		status = look(tool, spaces, path, entry->d_name);
	}
	if (dir)
		closedir(dir);
	return status;
}

static int look_at_process(struct weir_tool *tool, struct weir_spaces *spaces, const char *pid)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/proc/%s/ns/net", pid);
	return look(tool, spaces, path, pid);
}

static int look_at_descriptors(struct weir_tool *tool, struct weir_spaces *spaces, const char *pid)
{
	char path[PATH_MAX], to[64];
	int status = WEIR_EXIT_OK;
	struct dirent *entry;
	ssize_t length;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	dir = opendir(path);
	while (dir && !status && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%s/fd/%s", pid, entry->d_name);
		length = readlink(path, to, sizeof(to));
		if (length > 4 && !strncmp(to, "net:", 4))
			status = look(tool, spaces, path, path);
	}
	if (dir)
		closedir(dir);
	return status;
}

static int look_at_mounts(struct weir_tool *tool, struct weir_spaces *spaces, const char *pid)
{
	char path[PATH_MAX], at[PATH_MAX - 64], *line = NULL;
	int status = WEIR_EXIT_OK;
	size_t room = 0;
	FILE *mounts;

	snprintf(path, sizeof(path), "/proc/%s/mountinfo", pid);
	mounts = fopen(path, "re");
	/* ID, parent, device, root, mount point: see proc(5) */
	while (mounts && !status && getline(&line, &room, mounts) > 0) {
		if (sscanf(line, "%*s %*s %*s net:%*s %4000s", at) != 1)
			continue;
		snprintf(path, sizeof(path), "/proc/%s/root%s", pid, at);
		status = look(tool, spaces, path, path);
	}
	free(line);
	if (mounts)
		fclose(mounts);
	return status;
}

typedef int look_at(struct weir_tool *tool, struct weir_spaces *spaces, const char *pid);

static int look_at_processes(struct weir_tool *tool, struct weir_spaces *spaces, look_at *what,
			     bool all)
{
	DIR *dir = opendir("/proc");
	int status = WEIR_EXIT_OK;
	struct dirent *entry;

	while (dir && !status && (all || spaces->found < spaces->told)) {
		entry = readdir(dir);
		if (!entry)
			break;
		if (isdigit((unsigned char)entry->d_name[0]))
			status = what(tool, spaces, entry->d_name);
	}
	if (dir)
		closedir(dir);
	return status;
}

int weir_spaces_walk(struct weir_tool *tool, struct weir_spaces *spaces)
{
	/* the others take longer */
	static look_at *const ways[] = { look_at_process, look_at_mounts, look_at_descriptors };
	struct weir_space home = { .fd = open(OWN, O_RDONLY | O_CLOEXEC) };
	int status = look(tool, spaces, OWN, ""), ret;
	size_t i;

	if (!status)
		status = look_at_names(tool, spaces);
	for (i = 0; !status && i < sizeof(ways) / sizeof(ways[0]); i++)
		status = look_at_processes(tool, spaces, ways[i], !i);
	ret = weir_space_enter(tool, &home);
	close(home.fd);
	return status ? status : ret;
}

void weir_spaces_free(struct weir_spaces *spaces)
{
	unsigned int i;

	for (i = 0; i < spaces->count; i++) {
		free(spaces->list[i].early);
		close(spaces->list[i].fd);
	}
	free(spaces->list);
	free(spaces->seen);
	*spaces = (struct weir_spaces){ .count = 0 };
}
