// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The files of a change that is taken back unless it is confirmed. Network namespaces are told
 * apart by their cookies, which the kernel does not use again before a reboot.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state/pending.h"

static uint64_t cookie(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	uint64_t value = 0;
	socklen_t size = sizeof(value);

	if (fd < 0)
		return 0;
	getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &value, &size);
	close(fd);
	return value;
}

/* Make a folder that nobody else can write to, or take the one that is there. */
static int make_dir(const char *path)
{
	struct stat is;

	if (mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	if (lstat(path, &is))
		return -errno;
	return S_ISDIR(is.st_mode) && is.st_uid == geteuid() && !(is.st_mode & 022) ? 0 : -EPERM;
}

void weir_brake_name(struct weir_brake *brake)
{
	uint64_t space = cookie();

	memset(brake, 0, sizeof(*brake));
	brake->lock = -1;
	snprintf(brake->dir, sizeof(brake->dir), WEIR_CONFIRM_DIR "/%" PRIu64, space);
	snprintf(brake->state, sizeof(brake->state), "%s/state", brake->dir);
	snprintf(brake->record, sizeof(brake->record), "%s/change", brake->dir);
	snprintf(brake->unit, sizeof(brake->unit), "weir-confirm-%" PRIu64, space);
}

int weir_brake_open(struct weir_tool *tool, struct weir_brake *brake, bool make)
{
	char path[80];
	int ret;

	weir_brake_name(brake);
	snprintf(path, sizeof(path), "%s/lock", brake->dir);
	ret = make ? make_dir(WEIR_CONFIRM_DIR) ?: make_dir(brake->dir) : 0;
	brake->lock = ret ? -1 : open(path, O_RDWR | O_CLOEXEC | (make ? O_CREAT : 0), 0600);
	ret = ret ?: brake->lock < 0 ? -errno : 0;
	if (ret)
		weir_err_set(&tool->err, "cannot use %s: %s", brake->dir,
			     strerror(-ret));
	return ret;
}

void weir_brake_close(struct weir_brake *brake)
{
	if (brake->lock >= 0)
		close(brake->lock);
	brake->lock = -1;
}

static struct flock part_of(enum weir_brake_part part)
{
	return (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = part,
			       .l_len = 1 };
}

bool weir_brake_lock(const struct weir_brake *brake, enum weir_brake_part part, bool wait)
{
	struct flock lock = part_of(part);
	int ret;

	do
		ret = fcntl(brake->lock, wait ? F_SETLKW : F_SETLK, &lock);
	while (ret && errno == EINTR);
	return !ret;
}

pid_t weir_brake_holder(const struct weir_brake *brake, enum weir_brake_part part)
{
	struct flock lock = part_of(part);

	return fcntl(brake->lock, F_GETLK, &lock) || lock.l_type == F_UNLCK ? 0 : lock.l_pid;
}

/* Read a text that ends with a NUL. */
static void take_text(FILE *from, char *text, size_t size)
{
	size_t length = 0;
	int c;

	while ((c = getc(from)) > 0)
		if (length + 1 < size)
			text[length++] = c;
	text[length] = '\0';
}

int weir_brake_read(struct weir_brake *brake)
{
	struct weir_pending *change = &brake->change;
	FILE *from = fopen(brake->record, "re");
	uint64_t now = weir_clock_ns(CLOCK_MONOTONIC);

	memset(change, 0, sizeof(*change));
	if (!from)
		return errno == ENOENT ? 0 : -errno;
	if (fscanf(from, "%" SCNu64 " %" SCNu64 " %d ", &change->deadline_ns, &change->until,
		   &change->tool) == 3) {
		take_text(from, change->command, sizeof(change->command));
		take_text(from, change->file, sizeof(change->file));
	}
	fclose(from);
	change->left_ns = change->deadline_ns > now ? change->deadline_ns - now : 0;
	return 1;
}

static int put_record(struct weir_out *out, void *data)
{
	const struct weir_pending *change = data;

	fprintf(out->to, "%" PRIu64 " %" PRIu64 " %d %s%c%s%c", change->deadline_ns,
		change->until, change->tool, change->command, '\0', change->file, '\0');
	return WEIR_EXIT_OK;
}

int weir_brake_write(struct weir_tool *tool, struct weir_brake *brake)
{
	return weir_replace_file(tool, brake->record, 0600, put_record, &brake->change);
}

const char *weir_state_before(struct weir_tool *tool)
{
	static struct weir_brake found;

	weir_brake_name(&found);
	/* nobody may have taken it back */
	if (weir_brake_read(&found) <= 0 || !found.change.left_ns)
		return NULL;
	weir_note(tool, "note", "'%.200s' waits for 'weir confirm': the state before it is saved",
		  found.change.command);
	return found.state;
}
