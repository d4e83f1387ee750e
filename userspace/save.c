// SPDX-License-Identifier: GPL-2.0-or-later
/* weir save: write the configuration, in order, as -file reads it. */

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "tool.h"

static void put_config(struct weir_out *out, const struct weir_config *config)
{
	unsigned int i;

	weir_out_begin(out, NULL, '[');
	weir_out_begin(out, NULL, '{');
	weir_out_text(out, "#!%s -file\n", WEIR_PATH);
	weir_out_begin(out, "limits", '[');
	for (i = 0; i < config->limit_count; i++) {
		weir_out_begin(out, NULL, '{');
		weir_out_text(out, "limit add ");
		weir_set_show(&weir_limit_fields, WEIR_WORDS, out, &config->limits[i]);
		weir_out_text(out, "\n");
		weir_out_end(out, '}');
	}
	weir_out_end(out, ']');
	weir_out_begin(out, "exempts", '[');
	for (i = 0; i < config->exempt_count; i++) {
		weir_out_text(out, "exempt add ");
		weir_show_exempt(out, &config->exempts[i]);
	}
	weir_out_end(out, ']');
	weir_out_begin(out, "early", '[');
	for (i = 0; i < config->early_count; i++) {
		weir_out_begin(out, NULL, '{');
		weir_out_text(out, "early ");
		weir_set_show(&weir_xdp_fields, WEIR_WORDS, out, &config->early[i]);
		weir_out_text(out, "\n");
		weir_out_end(out, '}');
	}
	weir_out_end(out, ']');
	weir_out_end(out, '}');
	weir_out_end(out, ']');
}

static int fail(struct weir_tool *tool, const char *path)
{
	weir_err_set(&tool->err, "cannot write %.200s: %s", path, strerror(errno));
	return WEIR_EXIT_OUTPUT;
}

/* Write and fsync(); 0, or -1 with errno. */
static int write_out(const struct weir_tool *tool, int fd, const struct weir_config *config)
{
	struct weir_out out = { .json = tool->out.json, .pretty = tool->out.pretty,
				.to = fdopen(fd, "w") };
	int ret;

	if (!out.to) {
		close(fd);
		return -1;
	}
	put_config(&out, config);
	ret = weir_out_flush(&out);
	if (!ret && fsync(fd) && errno != EINVAL && errno != EROFS)	/* a pipe */
		ret = -errno;
	fclose(out.to);
	errno = -ret;
	return ret ? -1 : 0;
}

/* Write a new file and rename it over the old one: never a partial file. */
static int replace(struct weir_tool *tool, const char *path, const struct stat *was,
		   const struct weir_config *config)
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
	if (ret || write_out(tool, fd, config) || rename(temp, path)) {
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
static int save_to(struct weir_tool *tool, const char *path, const struct weir_config *config)
{
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
		ret = replace(tool, target, &was, config);
		if (ret && made)
			unlink(target);
		return ret;
	}
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	return fd < 0 || write_out(tool, fd, config) ? fail(tool, path) : WEIR_EXIT_OK;
}

int weir_save(struct weir_tool *tool, const struct weir_command *command, union weir_model *model)
{
	const char *path = model->saving.file;
	static struct weir_config config;
	int status = weir_get_config(tool, &config, true);

	if (status)
		return status;
	weir_config_sort(&config);
	config.early_count = weir_xdp_list(tool, config.early);
	if (path && strcmp(path, "-"))
		return save_to(tool, path, &config);
	put_config(&tool->out, &config);
	return WEIR_EXIT_OK;
}
