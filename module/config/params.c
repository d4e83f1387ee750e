// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's parameters, which make a limit of the initial namespace without the tool.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "config/edit.h"
#include "config/make.h"
#include "limit/net.h"

/* Constant once the module is loaded. */
struct param {
	const char *name;
	const char *range;	/* of a value, in words */
	const char * const *words;	/* for the numbers up to max, or NULL */
	s64 min;
	s64 max;
	s64 value[WEIR_BUDGETS_MAX];	/* the default until given */
	u16 attr;		/* WEIR_A_LIMIT_* */
	bool list;		/* of one value for each budget */
	u8 given;		/* how many values */
};

static bool params_given; /* any */

static const char * const modes[] = {
	[WEIR_MODE_STRICT]	= "strict",
	[WEIR_MODE_LENIENT]	= "lenient",
	[WEIR_MODE_FIXED]	= "fixed",
	[WEIR_MODE_BUCKET]	= "bucket",
	[WEIR_MODE_EXACT]		= "exact",
	[WEIR_MODE_CALENDAR]	= "calendar",
};

/* Which of several values is at fault. */
static const char * const place[WEIR_BUDGETS_MAX + 1] = {
	"", " (value 1)", " (value 2)", " (value 3)", " (value 4)",
};

/* Among several values 0 leaves that of its budget out. */
static int param_set(const char *text, const struct kernel_param *kp)
{
	struct param *param = kp->arg;
	const unsigned int most = param->list ? WEIR_BUDGETS_MAX : 1;
	char *next = (char *)text, *word;	/* split in place, as by param_array_ops */
	unsigned int n = 0;
	bool several;
	s64 value;

	while ((word = strsep(&next, ","))) {
		several = n || next;
		if (n == most) {
			pr_err("%s has more values than %u\n", param->name, most);
			return -EINVAL;
		}
		if (param->words)
			value = match_string(param->words, param->max + 1, word);
		else if (kstrtoll(word, 10, &value))
			value = S64_MIN;
		if (value > param->max || (value < param->min && (value || !several))) {
			/* A line of the log ends after some 1,000 characters. */
			pr_err("%s=%.100s%s is not %s\n", param->name, word,
			       place[several ? n + 1 : 0], param->range);
			return -EINVAL;
		}
		param->value[n++] = value;
	}
	param->given = n;
	params_given = true;
	return 0;
}

static int param_get(char *buffer, const struct kernel_param *kp)
{
	const struct param *param = kp->arg;
	int i = 0, len = 0;

	do {
		if (param->words)
			len += sysfs_emit_at(buffer, len, "%s,", param->words[param->value[i]]);
		else
			len += sysfs_emit_at(buffer, len, "%lld,", param->value[i]);
	} while (++i < param->given);
	buffer[len - 1] = '\n';
	return len;
}

static const struct kernel_param_ops param_ops = {
	.set = param_set,
	.get = param_get,
};

#define NUMBER(least, greatest, usual) \
	.min = least, .max = greatest, .value = { usual }, \
	.range = "in " __stringify(least) ".." __stringify(greatest)
#define LIST(least, greatest)	.list = true, NUMBER(least, greatest, 0)
#define MODES \
	.list = true, .words = modes, .max = ARRAY_SIZE(modes) - 1, \
	.range = "strict, lenient, fixed, bucket, exact or calendar"

#define PARAMETER(_name, ATTR, init, type, what) \
	static struct param param_##_name = { \
		.name = #_name, .attr = WEIR_A_##ATTR, init \
	}; \
	module_param_cb(_name, &param_ops, &param_##_name, 0444); \
	MODULE_INFO(parmtype, #_name ":" type); \
	MODULE_INFO(parm, #_name ":" what)

PARAMETER(packets, BUDGET_BUDGET, LIST(0, WEIR_PACKETS_MAX), "array of uint",
	  "Budgets of the limit \"default\", up to 4, in packets: 1 to 4294967295, 0 if in bytes (no default)");
PARAMETER(bytes, BUDGET_UNIT, LIST(0, WEIR_BYTES_MAX), "array of ullong",
	  "Budgets in bytes: 1 to 72057594037927936, 0 if in packets (default 0)");
PARAMETER(window_ms, BUDGET_WINDOW_MS, LIST(0, WEIR_WINDOW_MS_MAX), "array of uint",
	  "Windows of the budgets in milliseconds: 10 to 2592000000, 0 for a total (no default)");
PARAMETER(slots, BUDGET_SLOTS, LIST(1, WEIR_SLOTS_MAX), "array of uint",
	  "Slots of the windows: 1 to 64 (default: up to 15, as they fit the window)");
PARAMETER(mode, BUDGET_MODE, MODES, "array of charp",
	  "Ways to count: strict, lenient, fixed, bucket, exact or calendar (default strict)");
PARAMETER(burst, BUDGET_BURST, LIST(0, WEIR_BURST_MAX), "array of ullong",
	  "What buckets hold: 1 to 70368744177664, 0 for the budget (default 0)");
PARAMETER(tz_offset, LIMIT_ZONE, NUMBER(-WEIR_ZONE_OFFSET_MAX, WEIR_ZONE_OFFSET_MAX, 0), "int",
	  "Seconds by which calendars are ahead of UTC: -50400 to 50400, whole minutes (default 0)");
PARAMETER(penalty_ms, LIMIT_PENALTY_MS, NUMBER(0, WEIR_BLOCK_MS_MAX, 0), "ullong",
	  "Milliseconds for which a source that exceeds is blocked: 1000 to 315360000000 (default 0: not at all)");
PARAMETER(renew, LIMIT_RENEW, NUMBER(0, 1, 0), "uint",
	  "1 to have refusals prolong the penalty (default 0)");
PARAMETER(prefix4, LIMIT_PREFIX4, NUMBER(0, 32, 32), "uint",
	  "Length of the IPv4 prefix that is one source: 0 to 32 (default 32)");
PARAMETER(prefix6, LIMIT_PREFIX6, NUMBER(0, 128, 64), "uint",
	  "Length of the IPv6 prefix that is one source: 0 to 128 (default 64)");
PARAMETER(sources, LIMIT_SOURCES, NUMBER(WEIR_SOURCES_MIN, WEIR_SOURCES_MAX, 65536), "uint",
	  "Live sources that the table is made for: 64 to 16777216 (default 65536)");
PARAMETER(observe, LIMIT_ACTION, NUMBER(0, 1, 0), "uint",
	  "1 to count what would be dropped, but drop nothing (default 0)");

static const struct param *const params[] = {
	&param_packets, &param_bytes, &param_window_ms, &param_slots, &param_mode, &param_burst,
	&param_tz_offset, &param_penalty_ms, &param_renew, &param_prefix4, &param_prefix6,
	&param_sources, &param_observe,
};

/* Fill in the budgets. */
static int __init params_budgets(struct weir_limit_config *cfg)
{
	struct weir_budget_config *budget;
	const struct param *param;
	s64 packets, bytes;
	unsigned int i;

	cfg->budgets = max3(param_packets.given, param_bytes.given, (u8)1);
	for (i = 0; i < cfg->budgets; i++) {
		packets = param_packets.value[i];
		bytes = param_bytes.value[i];
		if (!packets == !bytes) {
			pr_err("budget %u needs either packets, in 1..%lld, or bytes, in 1..%lld\n",
			       i + 1, param_packets.max, param_bytes.max);
			return -EINVAL;
		}
		budget = &cfg->budget[i];
		budget->amount = packets ?: bytes;
		budget->window_ms = param_window_ms.value[i];
		budget->slots = param_slots.value[i];
		budget->mode = param_mode.value[i];
		budget->burst = param_burst.value[i];
		budget->unit = bytes ? WEIR_UNIT_BYTES : WEIR_UNIT_PACKETS;
	}
	for (i = 0; i < ARRAY_SIZE(params); i++) {
		param = params[i];
		if (!param->list || param->given == cfg->budgets ||
		    (!param->given && param != &param_window_ms))
			continue;
		pr_err("%s needs as many values as there are budgets, %u, and has %u\n",
		       param->name, cfg->budgets, param->given);
		return -EINVAL;
	}
	return 0;
}

/* Fill in the time zone, by the name that the tool has for it. */
static int __init params_zone(struct weir_limit_config *cfg)
{
	const s32 offset = param_tz_offset.value[0];
	const u32 minutes = abs(offset) / 60;

	if (offset % 60) {
		pr_err("tz_offset=%d is not in whole minutes, of 60 seconds\n", offset);
		return -EINVAL;
	}
	if (!param_tz_offset.given)
		return 0;
	cfg->zone.offset = offset;
	cfg->zone.next_offset = offset;
	snprintf(cfg->zone_name, sizeof(cfg->zone_name), "%c%02u:%02u",
		 offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
	return 0;
}

/* Say which parameter is at fault. */
static void __init params_refuse(const struct weir_limit_config *cfg,
				 const struct weir_error *error, int err)
{
	const struct param *param = NULL;
	unsigned int i, at = error->budget ? error->budget - 1 : 0;
	u16 attr = error->attr;
	const char *which;

	if (error->budget && attr == WEIR_A_BUDGET_BUDGET && cfg->budget[at].unit)
		attr = param_bytes.attr;
	for (i = 0; i < ARRAY_SIZE(params); i++)
		if (params[i]->attr == attr && params[i]->list == !!error->budget)
			param = params[i];
	which = place[param && param->given > 1 ? at + 1 : 0];
	if (!param)
		pr_err("cannot make the limit \"default\": %d\n", err);
	else if (param == &param_sources)
		pr_err("sources=%lld takes %llu bytes: %s\n", param->value[0], error->value,
		       error->msg);
	else if (error->value)
		pr_err("%s=%lld%s is not in 1..%llu: %s\n", param->name, param->value[at], which,
		       error->value, error->msg);
	else
		pr_err("%s=%lld%s: %s\n", param->name, param->value[at], which, error->msg);
}

/* Add the limit "default" to the initial namespace if any parameter is given. */
int __init weir_params_limit(void)
{
	struct weir_error error = { };
	struct weir_limit_config cfg;
	struct weir_edit *edit;
	int err;

	if (!params_given)
		return 0;
	weir_limit_init(&cfg, "default");
	err = params_budgets(&cfg) ?: params_zone(&cfg);
	if (err)
		return err;
	cfg.penalty_ms = param_penalty_ms.value[0];
	cfg.renew = param_renew.value[0];
	cfg.prefix.len4 = param_prefix4.value[0];
	cfg.prefix.len6 = param_prefix6.value[0];
	cfg.sources = param_sources.value[0];
	cfg.observe = param_observe.value[0];
	err = -ENOMEM;
	edit = weir_edit_begin(weir_net(&init_net), false, 0);
	if (edit) {
		err = weir_edit_limit_add(edit, &cfg, NULL, &error);
		err = weir_edit_end(edit, err, WEIR_EDIT_PUBLISH, &error);
	}
	if (err)
		params_refuse(&cfg, &error, err);
	return err == -ERANGE ? -EINVAL : err;
}
