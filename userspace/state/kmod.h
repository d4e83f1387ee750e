/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The module's file, and the one that is loaded. */
#ifndef WEIR_KMOD_H
#define WEIR_KMOD_H

#include "err.h"
#include "model.h"

/* What a module says of itself. */
struct weir_kmod {
	char path[WEIR_KMOD_PATH];		/* or "": its file is unknown */
	char version[WEIR_KMOD_SIZE];
	char srcversion[WEIR_KMOD_SIZE];	/* a checksum of its source */
	char vermagic[WEIR_KMOD_SIZE];		/* of its kernel; "": unknown */
	bool installed;				/* modprobe finds it, and its parameters */
};

struct weir_kmod_params {
	char userns[16], frozen[48];	/* "name=value" */
};

/* Is it loaded? */
bool weir_kmod_is_loaded(void);
/* The one that is loaded, without its file; -EINVAL with a sentence. */
int weir_kmod_running(struct weir_kmod *running, struct weir_err *err);
/* A file, NULL: the one that modprobe loads; -EINVAL with a sentence. */
int weir_kmod_read(struct weir_kmod *kmod, const char *path, struct weir_err *err);
/* Can this kernel load it? -EINVAL with a sentence. */
int weir_kmod_check(const struct weir_kmod *kmod, const struct weir_kmod *running,
		    struct weir_err *err);
/* Is a file that of the one that is loaded? */
bool weir_kmod_is(const struct weir_kmod *file, const struct weir_kmod *running);
/*
 * Find the file of the one that is loaded: @path, or NULL: where it may be. -ENOENT if there is
 * none, -EINVAL if @path is another one, with a sentence.
 */
int weir_kmod_find(struct weir_kmod *running, const char *path, struct weir_err *err);
/* The number of those that use it. */
unsigned int weir_kmod_users(void);
/* Remove it; -EINVAL with a sentence. */
int weir_kmod_unload(struct weir_err *err);
/* Load it, with the parameters that were changed at runtime; likewise. */
int weir_kmod_load(const struct weir_kmod *kmod, const struct weir_kmod_params *params,
		   struct weir_err *err);
/* The parameters that can be changed at runtime, as they are. */
void weir_kmod_params(struct weir_kmod_params *params);
/*
 * Have the loaded module, if it can, and any that is loaded with @params, let only a restore
 * change anything for so long; 0: let others change it again.
 */
void weir_kmod_freeze(struct weir_kmod_params *params, unsigned int seconds);

#endif
