// SPDX-License-Identifier: GPL-2.0-or-later
/* Replace a file by a whole one. */

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool.h"

/* What is written, and how. */
struct content {
	weir_put_file *put;
	const void *data;
};

static int fail(struct weir_tool *tool, const char *path)
{
	weir_err_set(&tool->err, "cannot write %.200s: %s", path, strerror(errno));
	return WEIR_EXIT_OUTPUT;
}

/* Write and fsync(); 0, or -1 with errno. */
static int write_out(const struct weir_tool *tool, int fd, const struct content *content)
{
	struct weir_out out = { .json = tool->out.json, .pretty = tool->out.pretty,
				.to = fdopen(fd, "w") };
	int ret;

	if (!out.to) {
		close(fd);
		return -1;
	}
	content->put(&out, content->data);
	ret = weir_out_flush(&out);
	if (!ret && fsync(fd) && errno != EINVAL && errno != EROFS)	/* a pipe */
		ret = -errno;
	fclose(out.to);
	errno = -ret;
	return ret ? -1 : 0;
}

/* Write a new file and rename it over the old one: never a partial file. */
static int replace(struct weir_tool *tool, const char *path, const struct stat *was,
		   const struct content *content)
{
	char temp[PATH_MAX + 8], dir[PATH_MAX];
	int fd, ret;

	snprintf(temp, sizeof(temp), "%s.XXXXXX", path);
	fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0)
		return fail(tool, path);
	ret = fchown(fd, was->st_uid, was->st_gid) || fchmod(fd, was->st_mode & 0777);
	if (ret)
		close(fd);
	if (ret || write_out(tool, fd, content) || rename(temp, path)) {
		ret = fail(tool, path);
		unlink(temp);
		return ret;
	}
	snprintf(dir, sizeof(dir), "%s", path);
	fd = open(dirname(dir), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	return WEIR_EXIT_OK;
}

/* A device, a pipe or a deleted file cannot be replaced: write into it. */
int weir_replace_file(struct weir_tool *tool, const char *path, weir_put_file *put,
		      const void *data)
{
	const struct content content = { put, data };
	char target[PATH_MAX];	/* with links resolved */
	struct stat was;
	bool made = stat(path, &was);
	int fd, ret;

	if (made) {	/* also creates a link's target */
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
		if (fd < 0 || fstat(fd, &was))
			return fail(tool, path);
		close(fd);
	}
	if (S_ISREG(was.st_mode) && was.st_nlink) {
		if (!realpath(path, target))
			return fail(tool, path);
		ret = replace(tool, target, &was, &content);
		if (ret && made)
			unlink(target);
		return ret;
	}
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	return fd < 0 || write_out(tool, fd, &content) ? fail(tool, path) : WEIR_EXIT_OK;
}
