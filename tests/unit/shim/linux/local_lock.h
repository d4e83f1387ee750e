/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread is a CPU that nothing preempts: there is nothing to lock. */
#ifndef SHIM_LOCAL_LOCK_H
#define SHIM_LOCAL_LOCK_H

typedef struct {
	int none;
} local_lock_t;

#define INIT_LOCAL_LOCK(name)	{ }

#endif
