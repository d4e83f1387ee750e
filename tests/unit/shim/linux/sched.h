/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_SCHED_H
#define SHIM_SCHED_H

/* Runs what a test has put there, as if others got the CPU. */
extern void (*shim_resched)(void);

void cond_resched(void);

#endif
