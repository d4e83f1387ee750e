// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer on the words of every command: as a file for -batch or, after a first line that begins
 * with "#argv", as arguments, one per line. Either they are valid, or one sentence says why not.
 */
#include "tool_fuzz.h"

#define WORDS 64

static int run_argv(struct weir_tool *tool, char *text)
{
	char *words[WORDS + 1], *word;
	size_t len = strlen(text);
	int count = 0;

	if (len && text[len - 1] == '\n')
		text[len - 1] = '\0';
	strsep(&text, "\n");
	while ((word = strsep(&text, "\n")) && count < WORDS)
		words[count++] = word;
	words[count] = NULL;
	return count ? weir_run_words(tool, words, count, NULL) : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weir_tool tool = { .check = true };
	bool argv = size > 5 && !memcmp(data, "#argv", 5);
	const struct said *said;
	char *text = NULL;
	int status;

	said_begin();
	tool.out.to = stdout;
	if (argv) {
		text = strndup((const char *)data, size);
		status = run_argv(&tool, text);
	} else {
		tool_input(data, size);
		status = weir_run_batch(&tool, "-");
	}
	if (tool.reached)
		weir_nl_close(&tool.nl);
	said = said_end();
	free(text);
	/* What reads a file says, after why it cannot be applied, what was not done. */
	if (status)
		tool_sentences(said->err, strstr(said->err, ": nothing was compared: ") ? 2 : 1);
	else
		tool_notes(said->err);
	return 0;
}
