/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A whole configuration: lists, limits in order, exemptions, and devices that drop early. */
#ifndef WEIR_CONFIG_H
#define WEIR_CONFIG_H

#include "lang/field.h"

/* Room for all words of a limit. */
#define WEIR_DIFFERS_SIZE	160

/* Make room for an element of @size behind @count in the array at @array; false: no memory. */
bool weir_grow(void *array, unsigned int *room, unsigned int count, size_t size,
	       struct weir_err *err);
/* Empty it, and free its lists and exemptions. */
void weir_config_clear(struct weir_config *config);
/* Is there nothing in it that the module would have? */
bool weir_config_is_empty(const struct weir_config *config);
struct weir_limit *weir_config_find(const struct weir_config *config, const char *name);
/* Insert a limit before limit->before, or at the end; -ENOENT: no such limit. */
int weir_config_add_limit(struct weir_config *config,
			  const struct weir_limit *limit, struct weir_err *err);
int weir_config_add_exempt(struct weir_config *config, const struct weir_exempt *exempt,
			   struct weir_err *err);
/* Fills the last part of that list up before it adds another one. */
int weir_config_add_list(struct weir_config *config, const struct weir_list *list,
			 struct weir_err *err);
/*
 * The exemption, or the block, from a limit alone, or with "" from all, that the module would find
 * for a source on a device, or with "" on one that no exemption names; with NULL, one that does.
 */
const struct weir_exempt *weir_config_exempt(const struct weir_config *config,
					     const struct weir_prefix *source, const char *dev,
					     const char *limit, bool block);
/* By the list of a limit, the prefix that a source has its first budget from; or NULL. */
const struct weir_member *weir_config_budget(const struct weir_config *config,
					     const struct weir_limit *limit,
					     const struct weir_prefix *source);
int weir_config_add_early(struct weir_config *config, const struct weir_xdp *xdp,
			  struct weir_err *err);
/* 0: the same prefix, device and limit; else their order. */
int weir_config_compare(const struct weir_exempt *a, const struct weir_exempt *b);
/* Ends that are no farther apart are the same. */
#define WEIR_NEARLY_MS	2000
/*
 * Does an exemption or block that is in force stay as it is if a file has it in these words? Of
 * an end in force and a time of the file, the nearer stays.
 */
bool weir_config_stays(const struct weir_exempt *there, const struct weir_exempt *file);
/* Sort the exemptions and the lists, for weir_config_check() and for saving. */
void weir_config_sort(struct weir_config *config);
/* Check an exemption of a sorted configuration for duplicates; -ENOENT: no such limit. */
int weir_config_check(struct weir_config *config, const struct weir_exempt *exempt,
		      struct weir_err *err);

#define WEIR_TWICE_MAX	16

/* lists.c: the prefixes of a list, in order, each once. */
struct weir_members {
	unsigned int count, twice_count;
	const struct weir_member *at[WEIR_LIST_PREFIXES_MAX];
	struct weir_twice {	/* those that it has with two budgets */
		const struct weir_member *first, *again;
	} twice[WEIR_TWICE_MAX];
};

void weir_members_gather(const struct weir_config *config, const char *name,
			 struct weir_members *members);
/* Put what is in @at so in order. */
void weir_members_sort(struct weir_members *members);
/* Leave out the prefixes that others hold, so that they are in order of their ends, too. */
void weir_members_drop_held(struct weir_members *members);
/* The prefixes of the list by which a limit matches sources, without those that others hold. */
void weir_members_sources(struct weir_members *members, const struct weir_config *config,
			  const struct weir_limit *limit);
/* Of prefixes that do not hold each other, does one hold @prefix, or have a common address? */
bool weir_members_hold(const struct weir_members *members, const struct weir_prefix *prefix);
bool weir_members_overlap(const struct weir_members *members, const struct weir_prefix *prefix);
const struct weir_member *weir_members_find(const struct weir_members *members,
					    const struct weir_prefix *prefix);
/* Is there a list of that name? */
bool weir_lists_have(const struct weir_config *config, const char *name);
/* For a name that is none of a list: the lists that are near, or else all that fit. */
#define WEIR_NEAR_SIZE	256
const char *weir_lists_near(const struct weir_config *config, const char *name,
			    char text[WEIR_NEAR_SIZE]);
/*
 * The prefix of that number, from 0, that a list has with two budgets, with a sentence; or NULL.
 * They are to be asked for in order.
 */
const struct weir_member *weir_lists_check(const struct weir_config *config, const char *name,
					   unsigned int number, struct weir_err *err);
/*
 * Check that the lists of a limit are there, and that it can go by the budgets of one: 0, or
 * -EINVAL with a sentence, and the prefix at fault, or with @member NULL the word. @next: 0 at
 * first; what follows a fault is checked by another call.
 */
int weir_lists_check_limit(const struct weir_config *config, const struct weir_limit *limit,
			   unsigned int *next, const struct weir_field **field,
			   const struct weir_member **member, struct weir_err *err);
/* Add to a list, set it or remove from it, by the verb of prefix-list; -EINVAL with a sentence. */
int weir_lists_change(struct weir_config *config, const struct weir_list_change *change,
		      unsigned int verb, struct weir_err *err);
/* List the words in which a limit differs from the existing one; false: none. */
bool weir_limit_differs(const struct weir_limit *words, const struct weir_limit *there,
			char text[WEIR_DIFFERS_SIZE]);
/* Does it count bytes, perhaps beside packets? */
bool weir_limit_has_bytes(const struct weir_limit *limit);
/* Its prefix lengths for IPv4 and IPv6, or the usual ones. */
const uint8_t *weir_limit_per(const struct weir_limit *limit);

#endif
