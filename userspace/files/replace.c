// SPDX-License-Identifier: GPL-2.0-or-later
/* Replace a file by a whole one. */

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/files.h"

/* Of the file that is written before it is renamed. */
#define SUFFIX	".weir-new"

/* What is written, and how. */
struct content {
	weir_put_file *put;
	void *data;
	unsigned int mode;	/* or 0: as it was */
};

static int fail(struct weir_tool *tool, const char *path)
{
	weir_err_set(&tool->err, "cannot write %.200s: %s", path, strerror(errno));
	return WEIR_EXIT_OUTPUT;
}

/* Write and fsync(), and close @fd. */
static int write_out(struct weir_tool *tool, const char *path, int fd,
		     const struct content *content)
{
	struct weir_out out = { .json = tool->out.json, .pretty = tool->out.pretty,
				.to = fdopen(fd, "w") };
	int status, ret;

	if (!out.to) {
		close(fd);
		return fail(tool, path);
	}
	status = content->put(&out, content->data);
	ret = weir_out_flush(&out);
	if (!ret && fsync(fd) && errno != EINVAL && errno != EROFS)	/* a pipe */
		ret = -errno;
	fclose(out.to);
	errno = -ret;
	return status ? status : ret ? fail(tool, path) : WEIR_EXIT_OK;
}

/* The rename, too, has to survive a loss of power. */
static void sync_folder(const char *path)
{
	char dir[PATH_MAX];
	int fd;

	snprintf(dir, sizeof(dir), "%s", path);
	fd = open(dirname(dir), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

/* Is it still the file of that name? */
static bool is_there(int fd, const char *path)
{
	struct stat is, there;

	return !fstat(fd, &is) && !lstat(path, &there) && is.st_dev == there.st_dev &&
	       is.st_ino == there.st_ino;
}

/* Wait until nobody else writes a file that exists, and remove it; false: that cannot be done. */
static bool remove_left(const char *temp, uid_t owner)
{
	int fd = open(temp, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), was = errno;
	struct stat is;
	bool done;

	if (fd < 0) {
		errno = was == ELOOP ? EEXIST : was;
		return was == ENOENT;
	}
	if (fstat(fd, &is) || !S_ISREG(is.st_mode) ||
	    (is.st_uid != geteuid() && is.st_uid != owner)) {
		close(fd);
		errno = EEXIST;
		return false;
	}
	done = !flock(fd, LOCK_EX) && (!is_there(fd, temp) || !unlink(temp));
	was = errno;
	close(fd);
	errno = was;
	return done;
}

/*
 * Create the new file. Its lock says that it is being written: one without was left by a process
 * that was killed, and is removed, so that such files do not fill the disk.
 */
static int create(const char *temp, uid_t owner)
{
	int fd;

	for (;;) {
		fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0 && (errno != EEXIST || !remove_left(temp, owner)))
			return -1;
		if (fd < 0)
			continue;
		if (flock(fd, LOCK_EX)) {
			close(fd);
			return -1;
		}
		if (is_there(fd, temp))
			return fd;
		close(fd);
	}
}

/* Write a new file and rename it over the old one: never a partial file. */
static int replace(struct weir_tool *tool, const char *path, const struct stat *was,
		   const struct content *content)
{
	char temp[PATH_MAX + sizeof(SUFFIX)];
	int fd, lock, ret;

	snprintf(temp, sizeof(temp), "%s" SUFFIX, path);
	fd = create(temp, was->st_uid);
	if (fd < 0)
		return fail(tool, errno == EEXIST ? temp : path);
	lock = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	ret = content->mode ? fchmod(fd, content->mode) :
	      fchown(fd, was->st_uid, was->st_gid) || fchmod(fd, was->st_mode & 0777);
	if (lock < 0 || ret) {
		ret = fail(tool, path);
		close(fd);
	} else {
		ret = write_out(tool, path, fd, content);
	}
	if (!ret && rename(temp, path))
		ret = fail(tool, path);
	if (ret)
		unlink(temp);
	else
		sync_folder(path);
	if (lock >= 0)
		close(lock);
	return ret;
}

/* The target of a link that does not exist yet, which opening the link makes. */
static int make_target(const char *path, struct stat *was)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666), ret;

	ret = fd < 0 ? -1 : fstat(fd, was);
	if (fd >= 0)
		close(fd);
	return ret;
}

/* A device, a pipe or a deleted file cannot be replaced: write into it. */
int weir_replace_file(struct weir_tool *tool, const char *path, unsigned int mode,
		      weir_put_file *put, void *data)
{
	const struct content content = { put, data, mode };
	struct stat was = { .st_uid = -1, .st_gid = -1 };
	char target[PATH_MAX];	/* with links resolved */
	bool made = stat(path, &was);
	struct stat link;
	mode_t mask;
	int fd, ret;

	if (made && lstat(path, &link) && errno == ENOENT) {
		mask = umask(0);
		umask(mask);
		was.st_mode = 0666 & ~mask;
		return replace(tool, path, &was, &content);
	}
	if (made && make_target(path, &was))
		return fail(tool, path);
	if (S_ISREG(was.st_mode) && was.st_nlink) {
		if (!realpath(path, target))
			return fail(tool, path);
		ret = replace(tool, target, &was, &content);
		if (ret && made)
			unlink(target);
		return ret;
	}
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	return fd < 0 ? fail(tool, path) : write_out(tool, path, fd, &content);
}
