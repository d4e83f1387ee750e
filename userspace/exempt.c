// SPDX-License-Identifier: GPL-2.0-or-later
/* weir exempt del and weir block del: what else there is of a prefix that they do not find. */

#include <stdio.h>
#include <string.h>

#include "config.h"
#include "tool.h"
#include "value.h"

const char *weir_exempt_words(const struct weir_exempt *exempt, char text[WEIR_EXEMPT_SIZE])
{
	char buf[WEIR_TEXT_SIZE];

	snprintf(text, WEIR_EXEMPT_SIZE, "%s%s%s%s%s",
		 weir_text_prefix(NULL, &exempt->prefix, buf), *exempt->dev ? " dev " : "",
		 exempt->dev, *exempt->limit ? " limit " : "", exempt->limit);
	return text;
}

/* An exemption, or a block, of the same prefix, of another device or limit; or NULL. */
static const struct weir_exempt *find_other(const struct weir_config *config,
					    const struct weir_exempt *wanted)
{
	const struct weir_exempt *at;
	unsigned int i;

	for (i = 0; i < config->exempt_count; i++) {
		at = &config->exempts[i];
		if (at->block == wanted->block && weir_config_compare(at, wanted) &&
		    !memcmp(&at->prefix, &wanted->prefix, sizeof(at->prefix)))
			return at;
	}
	return NULL;
}

int weir_exempt_del(struct weir_tool *tool, const struct weir_command *command,
		    union weir_model *model)
{
	const struct weir_exempt *wanted = &model->exempt, *other;
	int status = weir_run_plain(tool, command, model);
	const char *object = wanted->block ? "block" : "exempt";
	struct weir_err err = tool->err;
	static struct weir_config there;
	char words[WEIR_EXEMPT_SIZE];

	/* With -exist it is not known whether it was there. */
	if (status != WEIR_EXIT_REFUSED && (status || !tool->exist))
		return status;
	other = weir_get_config(tool, &there, true) ? NULL : find_other(&there, wanted);
	tool->err = err;
	if (!other || (*wanted->limit && !weir_config_find(&there, wanted->limit)))
		return status;
	weir_exempt_words(other, words);
	if (status)
		weir_err_set(&tool->err, "PREFIX: %s as %s; 'weir %s del %s' ends that",
			     wanted->block ? "blocked" : "exempt", words, object, words);
	else
		weir_note(tool, "note", "still %s as %s; 'weir %s del %s' ends that",
			  wanted->block ? "blocked" : "exempt", words, object, words);
	return status;
}
