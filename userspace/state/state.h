/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of all sources: saved, restored, and kept over a change or another module. */
#ifndef WEIR_STATE_H
#define WEIR_STATE_H

#include "files/files.h"

struct weir_saved_head;
/* state_head.c: what the clocks show; the second asks the module, too: an enum weir_exit. */
void weir_saved_clocks(struct weir_saved_head *head);
int weir_saved_now(struct weir_tool *tool, struct weir_saved_head *head);
/* A configuration that is in force, as weir save writes it, from malloc(); likewise. */
int weir_config_text(struct weir_tool *tool, struct weir_config *config, char **text, size_t *size);
/* state_save.c: save the configuration with the state of all sources; an enum weir_exit. */
int weir_save_state(struct weir_tool *tool, const char *path);
/*
 * restore.c: if nothing is in force, restore a state, if there is one. One that cannot be is set
 * aside, with a warning.
 */
void weir_resume(struct weir_tool *tool, const char *path);
/*
 * Restore a state that was saved a moment ago, of which nothing need be said, with its XDP programs
 * if @early; an enum weir_exit with a sentence.
 */
int weir_restore_again(struct weir_tool *tool, const char *path, bool early);
/* Could it be? Its time zones may be unknown by now. Changes nothing; likewise. */
int weir_restore_check(struct weir_tool *tool, const char *path);
/*
 * confirm.c: with -confirm, begin before a change, given its words, and end after it, given its
 * status; @partly: something may have changed although it failed. The first returns an enum
 * weir_exit with a sentence.
 */
int weir_confirm_begin(struct weir_tool *tool, char **words, int count);
int weir_confirm_end(struct weir_tool *tool, int status, bool partly);
/*
 * Note that a change waits to be confirmed; warn that what is done now goes with it, or if that
 * @drops packets and comes over ssh, note how to make it a change that waits.
 */
weir_tell weir_note_pending;
void weir_warn_pending(struct weir_tool *tool, bool drops);

struct weir_spaces;
/*
 * in_force.c: find the namespaces with limits, from within the initial one; an enum weir_exit with
 * a sentence. Some may not be found: compare told and found.
 */
int weir_spaces_find(struct weir_tool *tool, struct weir_spaces *spaces);

/* The commands */
weir_run weir_save, weir_restore, weir_upgrade, weir_confirm, weir_confirm_show;

#endif
