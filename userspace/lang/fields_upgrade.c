// SPDX-License-Identifier: GPL-2.0-or-later
/* The rows of upgrade. */

#include "lang/row.h"

/* Not sent, but of one number they would exclude each other. */
#define WORD(number, member)	.attr = number, AT(upgrade, member)

static const struct weir_field upgrade_rows[] = {
	{ "FILE", &weir_type_file, WEIR_FIRST | WEIR_ON_SET, WORD(1, file),
	  .help = "module (default: the one that is installed)" },
	{ "-old", &weir_type_file, WEIR_ON_SET, WORD(2, old),
	  .help = "the file of the module that is loaded, to put it back" },
	{ "-closed", &weir_type_flag, WEIR_ON_SET, WORD(3, closed),
	  .help = "let no packet arrive meanwhile" },
	END
};

const struct weir_set weir_upgrade_fields = { SET("upgrade", upgrade), .fields = upgrade_rows };

#define SPACE(member)	AT(space, member)

static const struct weir_field space_rows[] = {
	{ "netns", &weir_type_name, WEIR_RESULT | WEIR_SOME, SPACE(name), .key = "netns" },
	{ "limits", &weir_type_uint, WEIR_RESULT, SPACE(limits), .key = "limit_count" },
	{ "exempts", &weir_type_uint, WEIR_RESULT, SPACE(exempts), .key = "exempt_count" },
	{ "blocked prefixes", &weir_type_uint, WEIR_RESULT, SPACE(blocked_prefixes),
	  .key = "blocked_prefix_count" },
	{ "sources", &weir_type_uint, WEIR_RESULT, SPACE(sources), .key = "source_count" },
	{ "early", &weir_type_uint, WEIR_RESULT, SPACE(early_count), .key = "early_count" },
	END
};

const struct weir_set weir_space_fields = { SET("space", space), .fields = space_rows };

#define UPGRADED(member)	AT(upgraded, member)

static const struct weir_field upgraded_rows[] = {
	{ "from", &weir_type_name, WEIR_RESULT, UPGRADED(from), .key = "from_version" },
	{ "to", &weir_type_name, WEIR_RESULT, UPGRADED(to), .key = "to_version" },
	{ "module", &weir_type_name, WEIR_RESULT, UPGRADED(module), .key = "module" },
	{ "old", &weir_type_name, WEIR_RESULT | WEIR_SOME, UPGRADED(old), .key = "old_module" },
	/* shown by hand */
	{ "namespaces", &weir_type_nest, 0, .offset = offsetof(struct weir_upgraded, spaces),
	  .size = sizeof(struct weir_space), .apart = true, .many = UINT16_MAX,
	  .count = offsetof(struct weir_upgraded, space_count), .nest = &weir_space_fields,
	  .key = "namespaces" },
	{ "unlimited", &weir_type_ns, WEIR_EVENT | WEIR_SOME, UPGRADED(unlimited_ns),
	  .key = "unlimited_ms" },
	{ "uncounted", &weir_type_ns, WEIR_EVENT | WEIR_SOME, UPGRADED(uncounted_ns),
	  .key = "uncounted_ms" },
	{ "closed", &weir_type_ns, WEIR_EVENT | WEIR_SOME, UPGRADED(closed_ns),
	  .key = "closed_ms" },
	END
};

const struct weir_set weir_upgraded_fields = { SET("upgraded", upgraded), .fields = upgraded_rows };
