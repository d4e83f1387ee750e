/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A change that is taken back unless it is confirmed: what /run knows of it. */
#ifndef WEIR_PENDING_H
#define WEIR_PENDING_H

#include "state/state.h"

#define WEIR_CONFIRM_DIR	"/run/weir-confirm"

/* Of a network namespace, which has one such change at most. */
struct weir_brake {
	char dir[64];
	char state[80];			/* what was in force before */
	char record[80];		/* of the change, which waits as long as this exists */
	char unit[64];			/* of systemd, if that keeps the deadline */
	int lock;			/* a descriptor, or -1 */
	struct weir_pending change;	/* once it has been read */
};

/* Bytes of the file that is locked. */
enum weir_brake_part {
	WEIR_BRAKE_CHANGE,	/* by who makes the change, confirms it or takes it back */
	WEIR_BRAKE_DEADLINE,	/* by the process that waits for the deadline, if there is one */
};

/* Name the files of this network namespace. */
void weir_brake_name(struct weir_brake *brake);
/* Open the one that is locked, too; -errno with a sentence. @make: make the folder. */
int weir_brake_open(struct weir_tool *tool, struct weir_brake *brake, bool make);
void weir_brake_close(struct weir_brake *brake);
/* Lock a part, and if wanted wait for that. */
bool weir_brake_lock(const struct weir_brake *brake, enum weir_brake_part part, bool wait);
/* The process that has locked it, but for this one; 0: none. */
pid_t weir_brake_holder(const struct weir_brake *brake, enum weir_brake_part part);
/* Is there a change? 1, 0, or -errno: that cannot be known. */
int weir_brake_read(struct weir_brake *brake);
/* Write the record of a change; an enum weir_exit with a sentence. */
int weir_brake_write(struct weir_tool *tool, struct weir_brake *brake);
/* The file of the state before a change that waits, which a note names, or NULL. */
const char *weir_state_before(struct weir_tool *tool);

/*
 * deadline.c: have "weir confirm revert" run in this network namespace after tool->confirm_ms, or
 * @undo in a process of its own, which does the same; both return an enum weir_exit with a
 * sentence. And stop that, if it is going on.
 */
int weir_deadline_start(struct weir_tool *tool, const struct weir_brake *brake,
			int (*undo)(struct weir_tool *tool));
void weir_deadline_stop(const struct weir_brake *brake);

#endif
