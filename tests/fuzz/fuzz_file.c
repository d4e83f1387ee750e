// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer on a file of a whole configuration: what is read is written as
 * weir save does and reads again as the same; what is not is refused with a
 * sentence for each bad line.
 */
#include "file.c"

#include "tool_fuzz.h"

/* What the kernel would have put in where words are left out. */
static void complete(struct weir_limit *limit)
{
	if (!(limit->has & WEIR_HAS_PER)) {
		limit->prefix4 = 32;
		limit->prefix6 = 64;
	}
	if (!(limit->has & WEIR_HAS_SLOTS))
		limit->slots = 10;
	if (!(limit->has & WEIR_HAS_SOURCES))
		limit->sources = 65536;
	limit->has |= WEIR_HAS_BUDGET | WEIR_HAS_UNIT | WEIR_HAS_SLOTS |
		      WEIR_HAS_MODE | WEIR_HAS_PER | WEIR_HAS_SOURCES |
		      WEIR_HAS_ACTION | WEIR_HAS_MATCH;
	limit->has &= ~WEIR_HAS_BEFORE;
	memset(limit->before, 0, sizeof(limit->before));
	limit->line = 0;
	if (!(limit->match.conds & WEIR_COND_MARK))
		limit->match.mask = UINT32_MAX;
}

static void complete_all(struct weir_config *config)
{
	unsigned int i;

	for (i = 0; i < config->limit_count; i++)
		complete(&config->limits[i]);
	for (i = 0; i < config->exempt_count; i++)
		config->exempts[i].line = 0;
}

/* As weir save writes it. */
static void save(const struct weir_config *config)
{
	unsigned int i;

	weir_out_text("#!/usr/sbin/weir -file\n");
	for (i = 0; i < config->limit_count; i++) {
		weir_out_text("limit add ");
		weir_show_limit_words(&config->limits[i]);
		weir_out_text("\n");
	}
	for (i = 0; i < config->exempt_count; i++) {
		weir_out_text("exempt add ");
		weir_show_exempt_words(&config->exempts[i]);
		weir_out_text("\n");
	}
}

static bool same(const struct weir_config *a, const struct weir_config *b)
{
	return a->limit_count == b->limit_count &&
	       a->exempt_count == b->exempt_count &&
	       (!a->limit_count || !memcmp(a->limits, b->limits, a->limit_count * sizeof(*a->limits))) &&
	       (!a->exempt_count || !memcmp(a->exempts, b->exempts, a->exempt_count * sizeof(*a->exempts)));
}

static void again(struct weir_config *config)
{
	struct weir_config read = { 0 };
	struct weir_tool tool = { .check = true };
	const struct said *said;

	complete_all(config);
	said_begin();
	save(config);
	said = said_end();
	tool_input((const uint8_t *)said->out, strlen(said->out));
	if (read_config(&tool, "-", &read))
		tool_fail("what was saved cannot be read", said->out, tool.err.text);
	complete_all(&read);
	if (!same(config, &read))
		tool_fail("what was saved reads as something else", said->out, "");
	weir_config_free(&read);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weir_tool tool = { .check = true };
	struct weir_config config = { 0 };
	const struct said *said;
	int status;

	tool_input(data, size);
	said_begin();
	status = weir_apply_file(&tool, "-");
	said = said_end();
	if (*said->out)
		tool_fail("a file says something on stdout", said->out, "");
	if (status)
		tool_sentences(said->err, BAD_LINES + 1);
	else
		tool_notes(said->err);
	if (status)
		return 0;
	tool.line = 0;
	tool_input(data, size);
	if (read_config(&tool, "-", &config))
		tool_fail("a file is good once only", tool.err.text, "");
	again(&config);
	weir_config_free(&config);
	return 0;
}
