// SPDX-License-Identifier: GPL-2.0-or-later
/* The rows of save, diff, restore and confirm. */

#include "lang/row.h"

#define FILE_ROW(verb, text)	\
	{ "FILE", &weir_type_file, WEIR_FIRST | (verb), AT(path, file), .help = (text) }

static const struct weir_field path_rows[] = {
	FILE_ROW(WEIR_ON_ADD, "file to replace (default: standard output)"),
	{ "-state", &weir_type_file, WEIR_ON_ADD, AT(path, state),
	  .help = "file to replace with the counts and blocks of all sources, too" },
	FILE_ROW(WEIR_ON_SHOW, "a configuration file (default: /etc/weir.conf)"),
	{ "FILE", &weir_type_file, WEIR_FIRST | WEIR_ON_SET, .needed = WEIR_ON_SET,
	  AT(path, file), .help = "file of 'weir save -state'" },
	END
};

const struct weir_set weir_path_fields = { SET("file", path), .fields = path_rows };

#define MERGED(NAME, member)	ATTR(state, STATE_##NAME), AT(merged, member)

static const struct weir_field merged_rows[] = {
	{ NULL, &weir_type_uint, 0, MERGED(MERGED, merged) },
	{ NULL, &weir_type_uint, 0, MERGED(EVICTED, evicted) },
	{ NULL, &weir_type_uint, 0, MERGED(BLOCKS_LOST, blocks_lost) },
	{ NULL, &weir_type_uint, 0, MERGED(SKIPPED, skipped) },
	END
};

const struct weir_set weir_merged_fields = { SET("merged", merged), .fields = merged_rows };

#define RESTORED(member)	AT(restored, member)

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
	END
};

const struct weir_set weir_restored_fields = { SET("restored", restored), .fields = restored_rows };

#define PENDING(member)	AT(pending, member)

static const struct weir_field pending_rows[] = {
	{ "command", &weir_type_name, WEIR_RESULT, PENDING(command), .key = "command",
	  .label = "" },
	{ "left", &weir_type_ns, WEIR_RESULT, PENDING(left_ns), .key = "left_ms" },
	{ "until", &weir_type_date, WEIR_RESULT, PENDING(until), .key = "until" },
	END
};

const struct weir_set weir_pending_fields = { SET("pending", pending), .fields = pending_rows };
