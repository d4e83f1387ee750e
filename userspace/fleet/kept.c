// SPDX-License-Identifier: GPL-2.0-or-later
/* Files that are replaced as a whole. */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kept.h"

int fleet_kept_name(struct fleet_kept *kept, const char *folder, const char *group)
{
	int room = sizeof(kept->before) - sizeof(".new");

	snprintf(kept->config, sizeof(kept->config), "%s/%s.conf", folder, group);
	return snprintf(kept->before, sizeof(kept->before), "%s/%s.before", folder, group) < room ?
	       0 : -ENAMETOOLONG;
}

char *fleet_kept_read(const char *path, size_t *size)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;
	ssize_t got;

	if (!file)
		return NULL;
	got = getdelim(&text, &room, '\0', file);
	*size = got > 0 ? got : 0;
	if (got < 0 && text)
		*text = '\0';
	fclose(file);
	return text;
}

int fleet_write_all(int fd, const char *text, size_t size)
{
	ssize_t done;

	for (; size; text += done, size -= done) {
		done = write(fd, text, size);
		if (done <= 0)
			return done ? -errno : -EIO;
	}
	return 0;
}

static int write_file(const char *path, const char *text, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), ret;

	if (fd < 0)
		return -errno;
	ret = fleet_write_all(fd, text, size);
	if (!ret && fsync(fd))
		ret = -errno;
	close(fd);
	return ret;
}

int fleet_kept_write(const char *path, const char *text, size_t size, struct weir_err *err)
{
	char new[sizeof(((struct fleet_kept *)0)->before)];
	int ret;

	snprintf(new, sizeof(new), "%s.new", path);
	ret = write_file(new, text, size);
	if (!ret && rename(new, path))
		ret = -errno;
	if (!ret)
		return 0;
	weir_err_set(err, "%.300s: " WEIR_CANNOT_WRITE, path, strerror(-ret));
	return -EIO;
}
