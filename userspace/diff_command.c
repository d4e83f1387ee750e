// SPDX-License-Identifier: GPL-2.0-or-later
/* weir diff: a command, as text or JSON. */

#include <stdlib.h>

#include "diff.h"

void weir_diff_begin(struct weir_diff *diff, const char *words)
{
	diff->words = (struct weir_out){ .to = open_memstream(&diff->text, &diff->size) };
	/* the output is then incomplete, and says so */
	if (!diff->words.to)
		diff->words.to = diff->tool->out.to;
	weir_out_put(&diff->words, WEIR_COLOR_NONE, words);
}

void weir_diff_cancel(struct weir_diff *diff)
{
	if (diff->words.to == diff->tool->out.to)
		return;
	fclose(diff->words.to);
	free(diff->text);
}

void weir_diff_end(struct weir_diff *diff)
{
	struct weir_out *out = &diff->tool->out;

	diff->count++;
	if (diff->words.to == out->to) {
		out->error = -ENOMEM;
		return;
	}
	fclose(diff->words.to);
	weir_out_begin(out, NULL, '{');
	weir_out_str(out, "command", diff->text);
	weir_out_put(out, WEIR_COLOR_NONE, diff->text);
	weir_out_text(out, "\n");
	weir_out_end(out, '}');
	free(diff->text);
}
