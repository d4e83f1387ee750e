// SPDX-License-Identifier: GPL-2.0-or-later
/* The rows of save, diff and restore. */

#include <stddef.h>

#include "lang/field.h"

#define FILE_ROW(verb, text)						\
	{ "FILE", &weir_type_file, WEIR_FIRST | (verb),			\
	  .offset = offsetof(struct weir_path, file),			\
	  .size = sizeof(((struct weir_path *)0)->file), .help = (text) }

static const struct weir_field path_rows[] = {
	FILE_ROW(WEIR_ON_ADD, "file to replace (default: standard output)"),
	{ "-state", &weir_type_file, WEIR_ON_ADD, .offset = offsetof(struct weir_path, state),
	  .size = sizeof(((struct weir_path *)0)->state),
	  .help = "file to replace with the counts and blocks of all sources, too" },
	FILE_ROW(WEIR_ON_SHOW, "a configuration file (default: /etc/weir.conf)"),
	{ "FILE", &weir_type_file, WEIR_FIRST | WEIR_ON_SET, .needed = WEIR_ON_SET,
	  .offset = offsetof(struct weir_path, file),
	  .size = sizeof(((struct weir_path *)0)->file), .help = "file of 'weir save -state'" },
	{ 0 }
};

const struct weir_set weir_path_fields = {
	.name = "file", .fields = path_rows, .size = sizeof(struct weir_path),
};

#define MERGED(NAME, member)	.attr = WEIR_A_STATE_##NAME, \
	.spec = &weir_state_attrs[WEIR_A_STATE_##NAME], \
	.offset = offsetof(struct weir_merged, member), \
	.size = sizeof(((struct weir_merged *)0)->member)

static const struct weir_field merged_rows[] = {
	{ NULL, &weir_type_uint, 0, MERGED(MERGED, merged) },
	{ NULL, &weir_type_uint, 0, MERGED(EVICTED, evicted) },
	{ NULL, &weir_type_uint, 0, MERGED(BLOCKS_LOST, blocks_lost) },
	{ NULL, &weir_type_uint, 0, MERGED(SKIPPED, skipped) },
	{ 0 }
};

const struct weir_set weir_merged_fields = {
	.name = "merged", .fields = merged_rows, .size = sizeof(struct weir_merged),
};

#define RESTORED(member)	.offset = offsetof(struct weir_restored, member), \
	.size = sizeof(((struct weir_restored *)0)->member)

static const struct weir_field restored_rows[] = {
	{ "saved", &weir_type_date, WEIR_RESULT, RESTORED(saved), .key = "saved" },
	{ "age", &weir_type_ns, WEIR_RESULT, RESTORED(age_ns), .key = "age_ms" },
	{ "limits", &weir_type_uint, WEIR_RESULT, RESTORED(limits), .key = "limit_count" },
	{ "exempts", &weir_type_uint, WEIR_RESULT, RESTORED(exempts), .key = "exempt_count" },
	{ "blocked prefixes", &weir_type_uint, WEIR_RESULT, RESTORED(blocked_prefixes),
	  .key = "blocked_prefix_count" },
	{ "sources", &weir_type_uint, WEIR_RESULT, RESTORED(sources), .key = "source_count" },
	{ "merged", &weir_type_uint, WEIR_EVENT, RESTORED(merged), .key = "merged" },
	{ "evicted", &weir_type_uint, WEIR_EVENT, RESTORED(evicted), .key = "evicted" },
	{ "blocks lost", &weir_type_uint, WEIR_EVENT, RESTORED(blocks_lost), .key = "blocks_lost" },
	{ "skipped", &weir_type_uint, WEIR_EVENT, RESTORED(skipped), .key = "skipped" },
	{ 0 }
};

const struct weir_set weir_restored_fields = {
	.name = "restored", .fields = restored_rows, .size = sizeof(struct weir_restored),
};
