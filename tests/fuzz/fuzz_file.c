// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer on a whole configuration file. A valid one must survive netlink messages, and being
 * saved and parsed again, without change; an invalid one must be refused with a sentence for each
 * bad line.
 */
#include <linux/genetlink.h>

#include "tool_fuzz.h"

/* Set the defaults that the kernel would fill in. */
static void complete(struct weir_limit *limit)
{
	struct weir_budget *is;

	if (!(limit->has & WEIR_HAS(LIMIT_PREFIX4))) {
		limit->per[0] = 32;
		limit->per[1] = 64;
	}
	if (!(limit->has & WEIR_HAS(LIMIT_SOURCES)))
		limit->sources = 65536;
	limit->has |= WEIR_HAS(LIMIT_PREFIX4) | WEIR_HAS(LIMIT_SOURCES) | WEIR_HAS(LIMIT_ACTION) |
		      WEIR_HAS(LIMIT_MATCH);
	limit->has &= ~WEIR_HAS(LIMIT_BEFORE);
	memset(limit->before, 0, sizeof(limit->before));
	for (is = limit->budgets; is < limit->budgets + limit->budget_count; is++) {
		if (!(is->has & WEIR_HAS(BUDGET_SLOTS)))
			is->slots = is->mode > WEIR_MODE_LENIENT || !is->amount.window_ms ? 1 : 10;
		is->has |= WEIR_HAS(BUDGET_UNIT) | WEIR_HAS(BUDGET_SLOTS) | WEIR_HAS(BUDGET_MODE);
		if (is->mode != WEIR_MODE_BUCKET && is->mode != WEIR_MODE_EXACT)
			continue;
		is->has &= ~WEIR_HAS(BUDGET_SLOTS);
		is->slots = 0;
	}
	limit->match.any = 0;	/* notation without effect */
	limit->line = 0;
}

/* Put one item of a configuration into a message and parse it back. */
static void through_netlink(const struct weir_set *set, const void *item, size_t size)
{
	static union weir_model told;
	static char room[WEIR_MSG_ROOM] __attribute__((aligned(8)));
	struct nlmsghdr *msg = weir_msg_begin(room, 0x20, 0, 1);

	weir_set_put(set, WEIR_ON_ADD, msg, item);
	weir_set_get(set, (char *)msg + NLMSG_HDRLEN + GENL_HDRLEN,
		     msg->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN, &told);
	if (memcmp(item, &told, size))
		tool_fail("a message says something else", "", "");
}

static void complete_all(struct weir_config *config)
{
	unsigned int i;

	for (i = 0; i < config->limit_count; i++)
		complete(&config->limits[i]);
	for (i = 0; i < config->exempt_count; i++)
		config->exempts[i].line = 0;
	for (i = 0; i < config->list_count; i++)
		config->lists[i].line = 0;
}

/* Write it like weir save, but for ends, which are times there. */
static void save(const struct weir_config *config)
{
	struct weir_out out = { .to = stdout };
	unsigned int i;

	for (i = 0; i < config->list_count; i++) {
		weir_out_text(&out, "prefix-list add ");
		weir_show_list(&out, &config->lists[i]);
	}
	weir_out_text(&out, "# limits\n");
	for (i = 0; i < config->limit_count; i++) {
		weir_out_text(&out, "limit add ");
		weir_set_show(&weir_limit_fields, WEIR_WORDS, &out, &config->limits[i]);
		weir_out_text(&out, "\n");
	}
	for (i = 0; i < config->exempt_count; i++) {
		weir_out_text(&out, "exempt add ");
		weir_show_exempt(&out, &config->exempts[i]);
	}
	weir_out_flush(&out);
}

static bool same_lists(const struct weir_config *a, const struct weir_config *b)
{
	const struct weir_list *one, *other;
	unsigned int i;

	for (i = 0; a->list_count == b->list_count && i < a->list_count; i++) {
		one = &a->lists[i];
		other = &b->lists[i];
		if (strcmp(one->name, other->name) || one->member_count != other->member_count ||
		    memcmp(one->member, other->member, one->member_count * sizeof(*one->member)))
			return false;
	}
	return a->list_count == b->list_count;
}

static bool same(const struct weir_config *a, const struct weir_config *b)
{
	return same_lists(a, b) && a->limit_count == b->limit_count &&
	       a->exempt_count == b->exempt_count &&
	       (!a->limit_count || !memcmp(a->limits, b->limits, a->limit_count * sizeof(*a->limits))) &&
	       (!a->exempt_count || !memcmp(a->exempts, b->exempts, a->exempt_count * sizeof(*a->exempts)));
}

static int read_again(struct weir_tool *tool, struct weir_config *config)
{
	int status = weir_config_read(tool, "-", config);

	weir_config_close(tool);
	return status;
}

static void again(const struct weir_config *config)
{
	static struct weir_config read;
	struct weir_tool tool = {
		.check = true, .read = weir_read, .out.to = stdout,
	};
	const struct said *said;

	weir_config_clear(&read);
	said_begin();
	save(config);
	said = said_end();
	tool_input((const uint8_t *)said->out, strlen(said->out));
	if (read_again(&tool, &read))
		tool_fail("what was saved cannot be read", said->out, tool.err.text);
	complete_all(&read);
	if (!same(config, &read))
		tool_fail("what was saved reads as something else", said->out, "");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weir_tool tool = {
		.check = true, .read = weir_read,
	};
	static struct weir_config config;
	const struct said *said;
	unsigned int i;
	int status;

	/* it must not read what else there is on the machine */
	if (memmem(data, size, "include", 7))
		return 0;
	weir_config_clear(&config);
	tool_input(data, size);
	said_begin();
	tool.out.to = stdout;
	status = weir_apply_file(&tool, "-");
	said = said_end();
	if (*said->out)
		tool_fail("a file says something on stdout", said->out, "");
	if (status)
		tool_sentences(said->err, WEIR_BAD_LINES + 1);
	else
		tool_notes(said->err);
	if (status)
		return 0;
	tool.line = 0;
	tool.out.to = stdout;
	tool_input(data, size);
	if (read_again(&tool, &config))
		tool_fail("a file is good once only", tool.err.text, "");
	complete_all(&config);
	for (i = 0; i < config.limit_count; i++)
		through_netlink(&weir_limit_fields, &config.limits[i], sizeof(config.limits[i]));
	for (i = 0; i < config.exempt_count; i++)
		through_netlink(&weir_exempt_fields, &config.exempts[i], sizeof(config.exempts[i]));
	again(&config);
	return 0;
}
