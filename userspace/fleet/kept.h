/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of the agent's folder: what survives it. */
#ifndef FLEET_KEPT_H
#define FLEET_KEPT_H

#include <stddef.h>

#include "err.h"

/*
 * FOLDER/GROUP.conf is the configuration that was accepted last, and FOLDER/GROUP.before what was
 * in force before a canary that has not ended.
 */
struct fleet_kept {
	char config[512], before[512];
};

/* 0, or -ENAMETOOLONG. */
int fleet_kept_name(struct fleet_kept *kept, const char *folder, const char *group);
/* The caller frees it; NULL: there is none. */
char *fleet_kept_read(const char *path, size_t *size);
/* 0, or -errno. */
int fleet_write_all(int fd, const char *text, size_t size);
/* Replace a file once the new one is on the disk; 0, or -EIO with a sentence. */
int fleet_kept_write(const char *path, const char *text, size_t size, struct weir_err *err);

#endif
