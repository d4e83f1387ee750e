/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What happens on this host: weir monitor, which runs for as long as the module is there. */
#ifndef FLEET_MONITOR_H
#define FLEET_MONITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FLEET_MONITOR_LINE	4096

struct fleet_monitor {
	pid_t pid;	/* 0: it does not run */
	int fd;		/* its events, a line each; or -1 */
	size_t used;
	char text[2 * FLEET_MONITOR_LINE];
};

/* Start it for a kind of events, a word of weir monitor; 0 or -errno. */
int fleet_monitor_start(struct fleet_monitor *monitor, const char *kind);
/* Read what is there; false: it has ended, and was waited for. */
bool fleet_monitor_read(struct fleet_monitor *monitor);
/* The next whole line, which is overwritten later; NULL: none. */
char *fleet_monitor_line(struct fleet_monitor *monitor, size_t *at);
/* Drop the lines up to @at. */
void fleet_monitor_drop(struct fleet_monitor *monitor, size_t at);
void fleet_monitor_stop(struct fleet_monitor *monitor);

#endif
