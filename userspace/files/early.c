// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Attach the XDP program to devices of "early" lines that appear after these were applied, as at
 * boot, under their name: once, as a command may detach it.
 */

#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/files.h"

/* Of the file as it was read last, */
static struct weir_config config;
static struct stat was;
/* and the number that each device had; 0: it was not there. */
static unsigned int seen[WEIR_EARLY_MAX];

/*
 * Read the file, if it is another one; false: it is the same, or not there any more, as with a /var
 * that was mounted over it.
 */
static bool read_again(struct weir_tool *tool)
{
	unsigned int count = 0;
	struct stat is;

	if (stat(tool->fallback, &is))
		return false;
	if (is.st_ino == was.st_ino && is.st_ctim.tv_sec == was.st_ctim.tv_sec &&
	    is.st_ctim.tv_nsec == was.st_ctim.tv_nsec)
		return false;
	was = is;
	memset(seen, 0, sizeof(seen));
	if (!weir_read_file(tool, tool->fallback, false, &config))
		count = config.early_count;
	weir_config_clear(&config);
	config.early_count = count;
	return true;
}

/* Of what is there as the file is read, its application has said what failed. */
static void attach(struct weir_tool *tool, struct weir_xdp *at, bool told)
{
	struct weir_space one = { .early = at, .early_count = 1 };

	if (weir_space_attach(tool, &one) && !told)
		weir_note(tool, "warning", "early: %s", tool->err.text);
}

void weir_early_see(struct weir_tool *tool)
{
	bool told = read_again(tool);
	struct if_nameindex *devices = config.early_count ? if_nameindex() : NULL, *device;
	unsigned int i;

	for (i = 0; devices && i < config.early_count; i++) {
		for (device = devices; device->if_index &&
		     strcmp(device->if_name, config.early[i].dev); device++)
			;
		if (device->if_index && device->if_index != seen[i])
			attach(tool, &config.early[i], told);
		seen[i] = device->if_index;
	}
	if (devices)
		if_freenameindex(devices);
}

int weir_early_subscribe(void)
{
	struct sockaddr_nl links = { .nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);

	if (fd >= 0)
		bind(fd, (struct sockaddr *)&links, sizeof(links));
	return fd;
}
