// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A device has a number only within its network namespace, and the kernel does not tell on which
 * devices a dispatcher is. So each program has a devmap, from which the kernel removes the device
 * when that is gone. As it does so, too, when the device moves to another namespace, what seems
 * gone is looked for in all namespaces before its pins are removed. A device that is still in the
 * map is in the namespace where the program was attached, and is asked there.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/note.h"
#include "tool/spaces.h"
#include "xdp/ours.h"

#ifdef WEIR_XDP
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#define NAME	".rodata.of_weir"
#define WATCH	"weir_device"
#define MAPS	4	/* more than the program has */
#define PINS	"/sys/fs/bpf/xdp"	/* libxdp's */

bool weir_xdp_hidden;

/* What open_object() writes into the program; an older tool's ends with the name. */
struct of {
	char dev[WEIR_DEV_SIZE];
	uint64_t netns;		/* its inode */
};

struct home {
	bool ours, gone;
	uint32_t ifindex;	/* 0: gone, or not known */
	struct of of;
};

static uint64_t this_netns(void)
{
	struct stat is;

	return stat("/proc/self/ns/net", &is) ? 0 : is.st_ino;
}

bool weir_xdp_is_called(void)
{
	FILE *refs = fopen("/sys/module/weir/refcnt", "re");
	int first = refs ? fgetc(refs) : EOF;

	if (refs)
		fclose(refs);
	return first != '0' && !access(WEIR_XDP_BTF, F_OK);
}

static void read_map(uint32_t id, struct home *home)
{
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof(info), first = 0;
	int fd = bpf_map_get_fd_by_id(id);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size))
		goto out;
	if (!strcmp(info.name, NAME) && info.value_size >= sizeof(home->of.dev) &&
	    info.value_size <= sizeof(home->of))
		home->ours = !bpf_map_lookup_elem(fd, &first, &home->of);
	else if (!strcmp(info.name, WATCH) && info.type == BPF_MAP_TYPE_DEVMAP)
		home->gone = bpf_map_lookup_elem(fd, &first, &home->ifindex) && errno == ENOENT;
out:
	if (fd >= 0)
		close(fd);
}

/* Others may give their programs the same name: ours has its map, too. */
static bool read_home(uint32_t id, struct home *home)
{
	uint32_t maps[MAPS] = { 0 }, i;
	struct bpf_prog_info info = { .map_ids = (uintptr_t)maps, .nr_map_ids = MAPS };
	uint32_t size = sizeof(info);
	int fd = id ? bpf_prog_get_fd_by_id(id) : -1;
	bool named = fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size) &&
		     !strcmp(info.name, WEIR_XDP_PROGRAM);

	*home = (struct home){ .ours = false };
	for (i = 0; named && i < MAPS && i < info.nr_map_ids; i++)
		read_map(maps[i], home);

	if (fd >= 0)
		close(fd);
	else
		weir_xdp_hidden |= id && errno == EPERM;
	return home->ours;
}

bool weir_xdp_is_ours(uint32_t id)
{
	struct home home;

	return read_home(id, &home);
}

void weir_xdp_name(struct bpf_object *object, const char *dev)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, NAME);
	struct of of = { .netns = this_netns() };

	snprintf(of.dev, sizeof(of.dev), "%s", dev);
	bpf_map__set_initial_value(map, &of, sizeof(of));
}

int weir_xdp_watch(int ifindex)
{
	uint32_t first = 0;
	int fd = bpf_map_create(BPF_MAP_TYPE_DEVMAP, WATCH, sizeof(first), sizeof(ifindex), 1,
				NULL);

	if (fd >= 0)
		bpf_map_update_elem(fd, &first, &ifindex, 0);
	return fd;
}

void weir_xdp_watched(int watch, uint32_t program)
{
	int fd = program ? bpf_prog_get_fd_by_id(program) : -1;

	if (fd >= 0 && watch >= 0)
		bpf_prog_bind_map(fd, watch, NULL);
	if (fd >= 0)
		close(fd);
	if (watch >= 0)
		close(watch);
}

/* A program whose device seems gone, or is without it. */
struct left {
	char link[PATH_MAX];	/* the pin of its place in the dispatcher */
	uint32_t dispatcher;
	char dev[WEIR_DEV_SIZE];
	bool gone;
	bool attached;		/* all the same */
};

struct lefts {
	unsigned int count;
	struct left at[WEIR_EARLY_MAX];
};

/* A place in a dispatcher: which program is in which. */
struct place {
	uint32_t program, dispatcher;
};

static bool read_place(const char *path, struct place *place)
{
	struct bpf_link_info info = { 0 };
	uint32_t size = sizeof(info);
	int fd = bpf_obj_get(path);
	bool found = fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size) &&
		     info.type == BPF_LINK_TYPE_TRACING;

	if (fd >= 0)
		close(fd);
	*place = (struct place){ info.prog_id, info.tracing.target_obj_id };
	return found;
}

/* The next link of a folder, progN-link, in which @path is; false: there is none. */
static bool next_link(DIR *dir, const char *folder, char path[PATH_MAX])
{
	struct dirent *entry;
	const char *end;

	while (dir && (entry = readdir(dir))) {
		end = strrchr(entry->d_name, '-');
		if (!end || strcmp(end, "-link"))
			continue;
		snprintf(path, PATH_MAX, "%s/%s", folder, entry->d_name);
		return true;
	}
	return false;
}

/* Has a dispatcher the program? */
static bool dispatches(uint32_t ifindex, uint32_t dispatcher, uint32_t program)
{
	char folder[sizeof(PINS) + 64], path[PATH_MAX];
	struct place place = { 0 };
	bool found = false;
	DIR *dir;

	snprintf(folder, sizeof(folder), PINS "/dispatch-%u-%u", ifindex, dispatcher);
	dir = opendir(folder);
	while (!found && next_link(dir, folder, path))
		found = read_place(path, &place) && place.program == program;
	if (dir)
		closedir(dir);
	return found;
}

/*
 * Is the program on a device of this namespace? libxdp puts it into another dispatcher before that
 * replaces the one on the device, and takes it out of the first only then.
 */
static bool is_on(uint32_t ifindex, const struct place *place)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, query);

	return bpf_xdp_query(ifindex, 0, &query) ||
	       query.drv_prog_id == place->dispatcher || query.skb_prog_id == place->dispatcher ||
	       dispatches(ifindex, query.drv_prog_id, place->program) ||
	       dispatches(ifindex, query.skb_prog_id, place->program);
}

/* @netns: of the devices to ask, or 0: those that are gone */
static void take_link(struct lefts *lefts, const char *path, uint64_t netns)
{
	struct left *left = &lefts->at[lefts->count];
	struct place place;
	struct home home;

	if (!read_place(path, &place) || !read_home(place.program, &home))
		return;
	if (netns ? !home.ifindex || home.of.netns != netns || is_on(home.ifindex, &place) :
		    !home.gone)
		return;
	*left = (struct left){ .dispatcher = place.dispatcher, .gone = home.gone };
	snprintf(left->link, sizeof(left->link), "%s", path);
	snprintf(left->dev, sizeof(left->dev), "%s", home.of.dev);
	lefts->count++;
}

static void find_lefts(struct lefts *lefts, uint64_t netns)
{
	char folder[PATH_MAX / 2], path[PATH_MAX];
	DIR *pins = opendir(PINS), *dir;
	struct dirent *entry;

	while (pins && (entry = readdir(pins))) {
		if (strncmp(entry->d_name, "dispatch-", 9))
			continue;
		snprintf(folder, sizeof(folder), PINS "/%s", entry->d_name);
		dir = opendir(folder);
		while (lefts->count < WEIR_EARLY_MAX && next_link(dir, folder, path))
			take_link(lefts, path, netns);
		if (dir)
			closedir(dir);
	}
	if (pins)
		closedir(pins);
}

/* Those on a device of the namespace that was entered, and those that were taken off one. */
static int look_into(struct weir_tool *tool, struct weir_space *space, void *data)
{
	struct if_nameindex *devices = if_nameindex(), *device;
	struct lefts *lefts = data;
	struct left *left;

	for (device = devices; device && device->if_index; device++) {
		LIBBPF_OPTS(bpf_xdp_query_opts, query);

		if (bpf_xdp_query(device->if_index, 0, &query))
			continue;
		for (left = lefts->at; left < lefts->at + lefts->count; left++)
			left->attached |= left->gone &&
					  (left->dispatcher == query.drv_prog_id ||
					   left->dispatcher == query.skb_prog_id);
	}
	if (devices)
		if_freenameindex(devices);
	find_lefts(lefts, this_netns());
	return WEIR_EXIT_OK;
}

/* In all namespaces that can be found. */
static int look_everywhere(struct weir_tool *tool, struct lefts *lefts)
{
	struct weir_spaces spaces = { .look_into = look_into, .data = lefts, .told = UINT_MAX };
	bool reached = tool->reached;
	struct weir_err err = tool->err;
	int status;

	tool->reached = false;	/* the socket stays that of this namespace */
	status = weir_spaces_walk(tool, &spaces);
	tool->reached = reached;
	tool->err = err;
	weir_spaces_free(&spaces);
	return status;
}

/* Remove its pins, and the folder if there are none of other programs. */
static bool unpin(const struct left *left)
{
	char path[PATH_MAX];
	size_t length = strrchr(left->link, '-') - left->link;

	if (unlink(left->link))
		return false;
	snprintf(path, sizeof(path), "%.*s-prog", (int)length, left->link);
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	return true;
}

unsigned int weir_xdp_clean(struct weir_tool *tool, const char *dev, bool everywhere)
{
	DIR *pins = weir_xdp_is_called() ? opendir(PINS) : NULL;
	unsigned int removed, found = 0;
	static struct lefts lefts;
	struct left *left;

	if (!pins)
		return 0;
	flock(dirfd(pins), LOCK_EX);	/* as libxdp does, while it pins */
	do {
		removed = 0;
		lefts.count = 0;
		find_lefts(&lefts, 0);
		if (!lefts.count && !everywhere)
			find_lefts(&lefts, this_netns());
		else if (look_everywhere(tool, &lefts))
			break;
		for (left = lefts.at; left < lefts.at + lefts.count; left++) {
			if (left->attached || (!tool->check && !unpin(left)))
				continue;
			found += !dev || !strcmp(left->dev, dev);
			removed += !tool->check;
			weir_note(tool, "note", "the XDP program of '%s', a device %s, %s",
				  left->dev,
				  left->gone ? "that is gone" : "from which it was detached",
				  tool->check ? "would be removed" : "is removed");
		}
	} while (removed && lefts.count == WEIR_EARLY_MAX);
	closedir(pins);
	return found;
}

#endif
