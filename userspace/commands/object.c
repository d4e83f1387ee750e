// SPDX-License-Identifier: GPL-2.0-or-later
/* The objects and their commands. */

#include <errno.h>
#include <linux/netlink.h>
#include <string.h>

#include "advice/advise.h"
#include "commands/commands.h"
#include "top/top.h"

/* Judge the conditions only if "match" replaced them; else they are incomplete. */
static void note_set(struct weir_tool *tool, const void *model)
{
	const struct weir_limit *limit = model;

	if (limit->match.any)
		weir_note_limit(tool, limit);
	else
		weir_note_dev(tool, limit->match.dev);
}

static void note_query(struct weir_tool *tool, const void *model)
{
	const struct weir_query *query = model;

	weir_note_dev(tool, query->dev);
}

/* Newcomers that are refused take no place, so that no limit knows of them as sources. */
static void note_newcomers(struct weir_tool *tool, const struct weir_query *query)
{
	const struct weir_config *there = tool->quiet ? NULL : weir_there(tool, WEIR_GET_STATS);
	const struct weir_limit *limit = there ? there->limits : NULL;

	for (; there && limit < there->limits + there->limit_count; limit++)
		if (limit->stats.newcomers_refused.packets &&
		    (!*query->limit || !strcmp(query->limit, limit->name)))
			weir_note_of(tool, "note", limit->name,
				     " has refused newcomers, which are not among its sources: 'log' samples them");
}

/* Blocked prefixes are no sources. */
static void note_blocked(struct weir_tool *tool, const struct weir_query *query)
{
	struct weir_stats stats = { 0 };

	if (query->blocked && !weir_get_stats(tool, &stats) && stats.blocked_prefixes)
		weir_note(tool, "note", "prefixes are blocked, too (%u): see 'block show'",
			  stats.blocked_prefixes);
}

static void note_blocked_sources(struct weir_tool *tool, const void *model)
{
	weir_note_blocks(tool, "see 'source show blocked'");
}

static void note_sources(struct weir_tool *tool, const void *model)
{
	const struct weir_query *query = model;

	note_blocked(tool, query);
	if (query->limited || (query->top && query->rank == WEIR_RANK_DROPPED))
		note_newcomers(tool, query);
}

static void warn_wanted(struct weir_tool *tool, const void *model)
{
	const char *name = ((const struct weir_wanted *)model)->limit;
	struct weir_request get;
	struct weir_limit limit;

	if (*name && tool->reached && weir_get_limit(tool, name, false, &limit, &get) == -ENOENT)
		weir_note(tool, "note", "there is no limit '%s' yet", name);
}

#define LIMIT	.set = &weir_limit_fields, .reply_set = &weir_limit_fields, .show = weir_show_limit
#define SOURCE	.set = &weir_query_fields, .reply_set = &weir_source_fields, \
	.show = weir_show_source
#define EXEMPT	.set = &weir_exempt_fields, .reply_set = &weir_exempt_fields, \
	.show = weir_show_exempt

static const struct weir_command limit_commands[] = {
	{ "show", "list", "show limits in order; with NAME or -stats, all about them", LIMIT,
	  .verb = WEIR_ON_SHOW, .cmd = WEIR_CMD_LIMIT_GET, .run = weir_run_show,
	  .warn = weir_note_pending, .prints = "limit" },
	{ "add", NULL, "add a limit, for example: weir limit add ssh budget 5/1m tcp dport 22 syn",
	  LIMIT, .verb = WEIR_ON_ADD,
	  .cmd = WEIR_CMD_LIMIT_ADD, .loads = true, .allowed = -EEXIST, .checks = true,
	  .run = weir_limit_change, .note = weir_note_limit, .changes = true, .drops = true,
	  .prints = "limit" },
	{ "set", NULL, "change the given settings and conditions; all others and the counts are kept",
	  LIMIT, .verb = WEIR_ON_SET, .cmd = WEIR_CMD_LIMIT_SET, .loads = true, .checks = true,
	  .warn = weir_warn_set, .run = weir_limit_change, .note = note_set, .changes = true,
	  .drops = true,
	  .prints = "limit" },
	{ "del", "delete", "delete a limit", LIMIT, .verb = WEIR_ON_DEL,
	  .cmd = WEIR_CMD_LIMIT_DEL, .loads = true, .run = weir_run_plain, .allowed = -ENOENT,
	  .checks = true, .warn = weir_warn_limit_del, .changes = true },
	{ "rename", NULL, "give a limit another name; its counts, blocks and exemptions stay",
	  LIMIT, .verb = WEIR_ON_RENAME, .cmd = WEIR_CMD_LIMIT_RENAME, .loads = true,
	  .run = weir_limit_rename, .checks = true, .changes = true },
	{ "reset", NULL, "set the counters of a limit, or of all, to zero", LIMIT,
	  .verb = WEIR_ON_SHOW, .cmd = WEIR_CMD_LIMIT_RESET, .run = weir_run_plain },
	{ "rezone", NULL, "look up time zones again, to follow changes of daylight saving",
	  .reply_set = &weir_limit_fields, .show = weir_show_limit, .cmd = WEIR_CMD_LIMIT_SET,
	  .loads = true, .checks = true, .run = weir_limit_rezone, .changes = true,
	  .prints = "limit" },
	{ "advise", NULL, "say what budgets would drop of what sources send, and propose some",
	  .set = &weir_advising_fields, .verb = WEIR_ON_SET, .show = weir_show_advice,
	  .reaches = true, .run = weir_limit_advise,
	  .prints = "advice", .single = true },
	{ "flush", NULL, "delete all limits", .cmd = WEIR_CMD_LIMIT_FLUSH, .loads = true,
	  .run = weir_run_plain, .warn = weir_warn_limit_flush, .changes = true },
	{ 0 }
};

static const struct weir_command source_commands[] = {
	{ "show", "list", "show sources as a table; with -brief or -oneline in words", SOURCE,
	  .verb = WEIR_ON_SHOW,
	  .cmd = WEIR_CMD_SOURCE_SHOW, .flags = NLM_F_DUMP, .run = weir_source_show,
	  .note = note_sources, .prints = "source" },
	{ "get", NULL, "show the state of an address, and what becomes of a packet of it", SOURCE,
	  .verb = WEIR_ON_GET,
	  .cmd = WEIR_CMD_SOURCE_GET, .flags = NLM_F_DUMP, .run = weir_source_get,
	  .note = note_query, .prints = "source" },
	{ "charge", NULL, "charge a source on behalf of another program", SOURCE,
	  .verb = WEIR_ON_CHARGE,
	  .cmd = WEIR_CMD_SOURCE_CHARGE, .run = weir_source_charge, .prints = "source" },
	{ "forget", NULL, "reset the counts and drops of sources, and release them", SOURCE,
	  .verb = WEIR_ON_FORGET,
	  .cmd = WEIR_CMD_SOURCE_FORGET, .run = weir_run_show, .warn = weir_warn_forget,
	  .changes = true, .prints = "source" },
	{ "block", NULL, "refuse all packets of a source or prefix; with -exist, prolong its block",
	  SOURCE,
	  .verb = WEIR_ON_ADD, .cmd = WEIR_CMD_SOURCE_BLOCK, .loads = true,
	  .run = weir_source_block, .warn = weir_warn_source_block, .changes = true,
	  .drops = true, .prints = "source" },
	{ "release", NULL, "end the block of a source", SOURCE, .verb = WEIR_ON_DEL,
	  .cmd = WEIR_CMD_SOURCE_RELEASE, .allowed = -ENOENT, .run = weir_source_release,
	  .changes = true, .prints = "source" },
	{ 0 }
};

static const struct weir_command exempt_commands[] = {
	{ "show", "list", "show all exemptions; with -stats, what they exempted as well", EXEMPT,
	  .verb = WEIR_ON_SHOW, .cmd = WEIR_CMD_EXEMPT_GET, .flags = NLM_F_DUMP,
	  .run = weir_run_show, .prints = "exempt" },
	{ "add", NULL, "exempt a prefix from limits; with -exist, prolong it", EXEMPT,
	  .verb = WEIR_ON_ADD, .cmd = WEIR_CMD_EXEMPT_ADD, .loads = true, .checks = true,
	  .run = weir_run_plain, .warn = weir_warn_exempt, .note = weir_note_exempt,
	  .changes = true },
	{ "del", "delete", "delete an exemption", EXEMPT, .verb = WEIR_ON_DEL,
	  .cmd = WEIR_CMD_EXEMPT_DEL, .loads = true, .run = weir_exempt_del, .allowed = -ENOENT,
	  .checks = true, .changes = true, .drops = true },
	{ "get", NULL, "show which exemption covers an address", EXEMPT, .verb = WEIR_ON_GET,
	  .cmd = WEIR_CMD_EXEMPT_GET, .run = weir_run_show, .note = weir_note_exempt,
	  .prints = "exempt" },
	{ "flush", NULL, "delete all exemptions", .cmd = WEIR_CMD_EXEMPT_FLUSH, .loads = true,
	  .run = weir_run_plain, .warn = weir_warn_exempt_flush, .changes = true, .drops = true },
	{ 0 }
};

#define BLOCK	.set = &weir_block_fields, .reply_set = &weir_block_fields, .show = weir_show_exempt

static const struct weir_command block_commands[] = {
	{ "show", "list", "show the prefixes that are blocked; with -stats, what was dropped as well",
	  BLOCK, .verb = WEIR_ON_SHOW, .cmd = WEIR_CMD_EXEMPT_GET, .flags = NLM_F_DUMP,
	  .run = weir_run_show, .note = note_blocked_sources, .prints = "blocked" },
	{ "add", NULL, "block all sources of a prefix; with -exist, prolong the block",
	  BLOCK, .verb = WEIR_ON_ADD, .cmd = WEIR_CMD_EXEMPT_ADD, .loads = true, .checks = true,
	  .run = weir_run_plain, .note = weir_note_block, .changes = true, .drops = true },
	{ "del", "delete", "end the block of a prefix", BLOCK, .verb = WEIR_ON_DEL,
	  .cmd = WEIR_CMD_EXEMPT_DEL, .loads = true, .run = weir_exempt_del, .allowed = -ENOENT,
	  .checks = true, .changes = true },
	{ "flush", NULL, "end the blocks of all prefixes", .set = &weir_block_fields,
	  .verb = WEIR_ON_FLUSH, .cmd = WEIR_CMD_EXEMPT_FLUSH, .loads = true,
	  .run = weir_run_plain, .warn = weir_warn_block_flush, .changes = true },
	{ 0 }
};

#define LIST	.set = &weir_list_fields, .reply_set = &weir_list_fields, .show = weir_show_list

static const struct weir_command list_commands[] = {
	{ "show", "list", "show the prefixes of a list, or of all; with -brief, how many", LIST,
	  .verb = WEIR_ON_SHOW,
	  .cmd = WEIR_CMD_PREFIX_LIST_GET, .flags = NLM_F_DUMP, .run = weir_list_show,
	  .prints = "list" },
	{ "add", NULL, "add prefixes to a list, or make a new one", LIST, .verb = WEIR_ON_ADD,
	  .cmd = WEIR_CMD_PREFIX_LIST_ADD, .loads = true, .checks = true, .run = weir_list_run,
	  .changes = true, .drops = true },
	{ "set", NULL, "replace the prefixes of a list at once, or make a new one", LIST,
	  .verb = WEIR_ON_SET, .cmd = WEIR_CMD_PREFIX_LIST_SET, .loads = true, .checks = true,
	  .run = weir_list_run, .changes = true, .drops = true },
	{ "del", "delete", "remove prefixes from a list; without any, delete the list", LIST,
	  .verb = WEIR_ON_DEL, .cmd = WEIR_CMD_PREFIX_LIST_DEL, .loads = true, .allowed = -ENOENT,
	  .checks = true, .run = weir_list_run, .changes = true, .drops = true },
	{ 0 }
};

static const struct weir_command stats_commands[] = {
	{ "show", "list", "show the counters of the network namespace",
	  .reply_set = &weir_stats_fields, .show = weir_show_stats,
	  .cmd = WEIR_CMD_STATS_GET, .run = weir_run_show, .warn = weir_note_pending,
	  .prints = "stats" },
	{ 0 }
};

static const struct weir_command monitor_commands[] = {
	{ "monitor", NULL, "show events as they happen: all, or only the kinds that are named",
	  .set = &weir_wanted_fields, .verb = WEIR_ON_SHOW, .run = weir_monitor,
	  .warn = warn_wanted, .prints = "event", .single = true },
	{ 0 }
};

static const struct weir_command top_commands[] = {
	{ "top", NULL, "show limits and the busiest sources on a screen, live",
	  .set = &weir_top_fields, .verb = WEIR_ON_SHOW, .run = weir_top },
	{ 0 }
};

/* A state is that of before, which it says itself. */
static void note_saved(struct weir_tool *tool, const void *model)
{
	const struct weir_path *path = model;

	if (path->file)
		weir_note_pending(tool, NULL);
}

static const struct weir_command save_commands[] = {
	{ "save", NULL, "write the configuration in the format that -file reads, or the state that restore reads",
	  .set = &weir_path_fields, .verb = WEIR_ON_ADD, .run = weir_save, .warn = note_saved,
	  .prints = "config" },
	{ 0 }
};

static const struct weir_command restore_commands[] = {
	{ "restore", NULL, "go on with a configuration, counts and blocks that save -state has written",
	  .set = &weir_path_fields, .verb = WEIR_ON_SET, .reaches = true, .run = weir_restore,
	  .changes = true, .drops = true, .prints = "restored" },
	{ 0 }
};

static const struct weir_command upgrade_commands[] = {
	{ "upgrade", NULL, "replace the module by another one, which goes on with limits, counts and blocks",
	  .set = &weir_upgrade_fields, .verb = WEIR_ON_SET, .reaches = true, .run = weir_upgrade,
	  .prints = "upgraded" },
	{ 0 }
};

static const struct weir_command diff_commands[] = {
	{ "diff", NULL, "show by diff -u in what the configuration of a file differs from that in force",
	  .set = &weir_path_fields, .verb = WEIR_ON_SHOW, .run = weir_diff_run, .absent = true,
	  .compares = true },
	{ 0 }
};

static const struct weir_command metrics_commands[] = {
	{ "metrics", NULL, "print all counters in the text format of Prometheus",
	  .set = &weir_metering_fields, .verb = WEIR_ON_SHOW, .run = weir_metrics, .absent = true },
	{ 0 }
};

#define XDP	.set = &weir_xdp_fields, .reply_set = &weir_xdp_fields, .show = weir_show_xdp

static const struct weir_command xdp_commands[] = {
	{ "show", "list", "show the devices that the XDP program is attached to",
	  .reply_set = &weir_xdp_fields,
	  .show = weir_show_xdp, .run = weir_xdp_show, .prints = "xdp" },
	{ "attach", NULL, "let an XDP program drop early what the limits refuse", XDP,
	  .verb = WEIR_ON_ADD, .run = weir_xdp_attach, .changes = true },
	{ "detach", NULL, "remove the XDP program from a device", XDP,
	  .verb = WEIR_ON_DEL, .run = weir_xdp_detach, .changes = true },
	{ 0 }
};

/* What a file says of a device is also a command. */
static const struct weir_command early_commands[] = {
	{ "early", NULL, "the same as xdp attach", XDP, .verb = WEIR_ON_ADD,
	  .run = weir_xdp_attach, .changes = true },
	{ 0 }
};

static const struct weir_command confirm_commands[] = {
	{ "keep", NULL, "confirm the change that was made with -confirm, which then stays",
	  .verb = WEIR_ON_ADD, .reaches = true, .run = weir_confirm },
	{ "revert", NULL, "take it back now, with everything as it was", .verb = WEIR_ON_DEL,
	  .reaches = true, .run = weir_confirm },
	{ "show", NULL, "show the change that waits to be confirmed",
	  .reply_set = &weir_pending_fields, .reaches = true, .run = weir_confirm_show,
	  .prints = "pending" },
	{ 0 }
};

#define PREFIX	\
	"PREFIX := ADDR[/LENGTH], as 192.0.2.0/24, 2001:db8::/32 or 192.0.2.1"

const struct weir_object weir_objects[] = {
	{ "limit", "how much each source may send",
	  limit_commands, false, "TIME := [N]{ ms | s | m | h | d | week | month } | total\n"
	  "'weir limit add help' explains each word" },
	{ "source", "what sources sent, and whether they are limited",
	  source_commands, false, PREFIX "\n"
	  "'weir source show help' explains each word" },
	{ "exempt", "prefixes exempt from limits",
	  exempt_commands, false, PREFIX "\n"
	  "'weir exempt add help' explains each word" },
	{ "block", "prefixes that are blocked as a whole",
	  block_commands, false, PREFIX "\n"
	  "'weir block add help' explains each word" },
	{ "prefix-list", "named lists of prefixes, for limits",
	  list_commands, false, "PREFIX := ADDR[/LENGTH]\n"
	  "'weir prefix-list add help' explains each word" },
	{ "xdp", "early drops by an XDP program", xdp_commands, false, NULL },
	{ "early", "the same as xdp attach, for configuration files", early_commands, true, NULL },
	{ "stats", "counters of the network namespace", stats_commands, false, NULL },
	{ "monitor", "show events as they happen", monitor_commands, true, NULL },
	{ "top", "limits and the busiest sources, live", top_commands, true, NULL },
	{ "save", "write the configuration in the format that -file reads",
	  save_commands, true, NULL },
	{ "restore", "go on with what save -state has written", restore_commands, true, NULL },
	{ "confirm", "keep what was changed with -confirm, or take it back", confirm_commands,
	  false, NULL },
	{ "upgrade", "replace the module, and keep limits, counts and blocks", upgrade_commands,
	  true, NULL },
	{ "diff", "print what applying a file would change", diff_commands, true, NULL },
	{ "metrics", "counters in the text format of Prometheus", metrics_commands, true, NULL },
	{ 0 }
};
