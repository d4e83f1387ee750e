/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of a configuration, and what becomes of the one that they replace. */
#ifndef WEIR_FILES_H
#define WEIR_FILES_H

#include "files/lines.h"
#include "xdp/xdp.h"

/* Invalid items to report before giving up. */
#define WEIR_BAD_LINES	16

/*
 * read_config.c: read a file and those that it includes, or a text from malloc(), in place of
 * what the configuration has; errors are printed; an enum weir_exit. Until it is closed, messages
 * name its lines.
 */
int weir_config_read(struct weir_tool *tool, const char *path, struct weir_config *config);
int weir_config_read_text(struct weir_tool *tool, char *text, size_t size,
			  struct weir_config *config);
void weir_config_close(struct weir_tool *tool);
/* Make the next error point at a line's @word, or name, in the budget that @after others follow. */
void weir_config_point(struct weir_tool *tool, unsigned int line, const char *word,
		       unsigned int after);

/* file.c: apply a file, or with -check only check it; an enum weir_exit. */
int weir_apply_file(struct weir_tool *tool, const char *path);
/* Read a file, and if wanted ask the module to check it; errors are printed. */
int weir_read_file(struct weir_tool *tool, const char *path, bool asks, struct weir_config *config);
/*
 * A configuration that weir save has written, as a part of something else. Both functions return
 * an enum weir_exit with a sentence.
 */
struct weir_saved {
	const char *file;
	char *text;			/* from malloc(), which is freed */
	size_t size;
	/* or NULL: before it is applied, also with -check */
	int (*before)(struct weir_tool *tool, struct weir_config *config, void *data);
	/* or NULL: after it was; if that fails, it has to take it back */
	int (*after)(struct weir_tool *tool, struct weir_config *config, void *data);
	void *data;
	bool again;			/* it was in force, so nothing need be said of it */
};

/* Apply it, or with -check only read it; errors are printed. */
int weir_apply_saved(struct weir_tool *tool, const struct weir_saved *saved);

/*
 * mark.c: mark a file that is not confirmed, and return whether it had no mark; say that the mark
 * stays; does it hold for a host that boots? @sum: of what the configuration was read from.
 */
bool weir_mark_set(struct weir_tool *tool, const char *file, uint32_t sum);
void weir_mark_clear(struct weir_tool *tool, const char *file);
void weir_mark_note(struct weir_tool *tool, const char *file);
bool weir_mark_holds(const char *file, uint32_t sum);
/* fallback.c; the status is that of @path. */
int weir_apply_or_fall_back(struct weir_tool *tool, const char *path, const char *fallback);
/*
 * early.c: have the program on devices of the fallback's "early" lines that appeared since the last
 * call. The file descriptor has something to read when one may have.
 */
void weir_early_see(struct weir_tool *tool);
int weir_early_subscribe(void);
/*
 * replace.c: write a file with what @put writes, beside it, and rename it: nobody reads a part.
 * A device or a pipe is written to. An enum weir_exit with a sentence, which @put may return,
 * too. @mode: of the file, which is then the caller's; 0: mode and owner stay.
 */
typedef int weir_put_file(struct weir_out *out, void *data);
int weir_replace_file(struct weir_tool *tool, const char *path, unsigned int mode,
		      weir_put_file *put, void *data);

/* save.c: note how many single sources are blocked, if any are, with a sentence on these. */
void weir_note_blocks(struct weir_tool *tool, const char *sentence);
/* Write the configuration that is in force to a file, or with NULL to the output. */
int weir_save_config(struct weir_tool *tool, const char *path);
/* diff.c */
weir_run weir_diff_run;

/*
 * list_notes.c: warn of prefixes that a limit leaves out and no other one limits, and note budgets
 * of its list that are for nobody, or for each of several sources.
 */
void weir_note_lists(struct weir_tool *tool, const struct weir_config *config,
		     const struct weir_limit *limit);
/* Likewise, of a limit that is in force, since these words made or changed it. */
void weir_note_listed(struct weir_tool *tool, const struct weir_limit *words);
/* Which sources of the prefix does the limit match by family and from? */
enum weir_taken { WEIR_TAKES_NONE, WEIR_TAKES_PART, WEIR_TAKES_ALL };
enum weir_taken weir_takes_from(const struct weir_limit *limit, const struct weir_prefix *prefix);
/* ... and by its list, whose prefixes do not hold each other? */
enum weir_taken weir_takes_source(const struct weir_limit *limit, const struct weir_members *list,
				  const struct weir_prefix *prefix);
/* Does a limit match all packets that another one matches, but for their sources? */
bool weir_limit_covers(const struct weir_limit *limit, const struct weir_limit *other);
/* Note lists and budgets of a file that no limit uses. */
void weir_note_unused(struct weir_tool *tool, const struct weir_config *config);
/* After a change, note prefixes that limits do not match any more, or without own budgets. */
void weir_note_lost(struct weir_tool *tool, struct weir_config *was, const struct weir_config *now);
/* Likewise, of a limit that has another list for budgets, or none. */
void weir_note_unlisted(struct weir_tool *tool, const struct weir_config *config,
			const struct weir_limit *limit, const struct weir_limit *was);
/* Note how many prefixes of a list a change would add, remove, or give another budget. */
void weir_note_list(struct weir_tool *tool, const struct weir_config *was,
		    const struct weir_config *now, const char *name);

/* exempt.c: the words that name an exemption, or a blocked prefix. */
#define WEIR_EXEMPT_SIZE	(WEIR_TEXT_SIZE + WEIR_DEV_SIZE + WEIR_NAME_SIZE + 16)
const char *weir_exempt_words(const struct weir_exempt *exempt, char text[WEIR_EXEMPT_SIZE]);
/* Warn of an unknown device, and of a block of everybody, or of nobody. */
weir_tell weir_note_block;
/* Warn of the blocks among some whose packets limits do not drop, or in part. */
void weir_warn_unblocked(struct weir_tool *tool, const struct weir_config *config,
			 const struct weir_exempt *exempts, unsigned int count);
/* Likewise, of a block that was made just now. */
void weir_warn_unblocked_now(struct weir_tool *tool, const struct weir_exempt *block);
/* That of the same prefix, device and limit in a configuration that is sorted; or NULL. */
const struct weir_exempt *weir_exempt_find(const struct weir_config *there,
					   const struct weir_exempt *exempt);
/*
 * The longest exemption, or block, that holds a prefix, on its device and under its limit, or on
 * any and under any if none is named; with @other any but the exact one; or NULL.
 */
const struct weir_exempt *weir_exempt_holding(const struct weir_config *config,
					      const struct weir_exempt *wanted, bool other);
/* Say by what a prefix is exempt or blocked, with @other by what else; of an error with @word. */
int weir_exempt_tell(struct weir_tool *tool, const struct weir_exempt *wanted, bool other,
		     const char *word, int status);
/*
 * Say of how many exemptions and blocks of a file the end in force stays, as it is nearer, and
 * how many would begin again. Both configurations are sorted.
 */
void weir_note_ends(struct weir_tool *tool, const struct weir_config *file,
		    const struct weir_config *there);
weir_run weir_exempt_del;

/*
 * freed.c: warn of the sources and prefixes, blocked under limits that both configurations have,
 * from which these drop nothing any more. Both are sorted; @was is in force, with its counters.
 */
void weir_warn_freed(struct weir_tool *tool, const struct weir_config *was,
		     struct weir_config *now);

/*
 * gone.c: say how many exemptions, blocked prefixes and lists another configuration, which is
 * sorted, does not have; if not @all, only what goes with its limit.
 */
void weir_note_gone(struct weir_tool *tool, struct weir_config *file,
		    const struct weir_config *there, bool all);

/*
 * budgets.c: say which budgets a limit loses by the words of set, and which start from the count of
 * a longer window; or by what it becomes, with all its budgets.
 */
void weir_note_budgets(struct weir_tool *tool, const struct weir_limit *limit);
void weir_note_changed(struct weir_tool *tool, const struct weir_limit *limit,
		       const struct weir_limit *was);
/* Say that the budgets of its list, in that configuration, are of another window or unit. */
void weir_note_scale(struct weir_tool *tool, const struct weir_config *config,
		     const struct weir_limit *limit, const struct weir_limit *was);
/* Say that counts of calendars go on if a limit becomes one of another zone. */
void weir_note_zone(struct weir_tool *tool, const struct weir_limit *limit,
		    const struct weir_limit *was);
/* Say which sources are known then, or stay blocked, if a limit becomes another. */
void weir_note_penalty(struct weir_tool *tool, const struct weir_limit *limit,
		       const struct weir_limit *was);
void weir_note_known(struct weir_tool *tool, const struct weir_limit *limit,
		     const struct weir_limit *was);
/* The limit that takes over its counts and blocks, as it has the same sources; or NULL. */
const struct weir_limit *weir_limit_heir(const struct weir_limit *limit,
					 struct weir_config *config);
/* "3 known sources are forgotten", after @before; "" for 0. Returns @buf. */
const char *weir_forgotten_text(uint64_t known, const char *before, char buf[WEIR_TEXT_SIZE]);

#endif
