/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Other network namespaces, and which of them have limits. */
#ifndef WEIR_SPACES_H
#define WEIR_SPACES_H

#include "tool/tool.h"

/* Enter that of -netns; an enum weir_exit with a sentence. */
int weir_enter_netns(struct weir_tool *tool);

struct weir_spaces {
	struct weir_space *list;	/* those with limits, exemptions or lists */
	unsigned int count, room;
	uint32_t told;			/* how many have limits, as the module says */
	uint32_t found;			/* how many of those are in the list */
	uint64_t *seen;			/* inodes of all that were looked at */
	unsigned int seen_count, seen_room;
	/* Look into one that was entered, which may get has: then it is added to the list. */
	int (*look_into)(struct weir_tool *tool, struct weir_space *space, void *data);
	void *data;
};

/*
 * From within any, look into each until as many as told were found with limits; an enum weir_exit
 * of look_into, or of weir_space_enter() for the way back.
 */
int weir_spaces_walk(struct weir_tool *tool, struct weir_spaces *spaces);
/* Go there, to ask the module anew: an enum weir_exit with a sentence. */
int weir_space_enter(struct weir_tool *tool, const struct weir_space *space);
void weir_spaces_free(struct weir_spaces *spaces);

#endif
