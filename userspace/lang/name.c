// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse names and comments. */

#include <ctype.h>
#include <string.h>

#include "lang/field.h"
#include "lang/value.h"

/* @all: what to write instead of "all". */
static int parse_name(const char *text, void *at, struct weir_err *err, const char *what,
		      const char *all)
{
	size_t len = strlen(text), i;

	if (!len)
		return weir_err_set(err, "a %s's name cannot be empty", what);
	if (!strcmp(text, "all"))
		return weir_err_set(err, "'all' cannot name a %s; %s", what, all);
	if (len > WEIR_NAME_MAX)
		return weir_err_set(err, "name '%.40s' is longer than %d bytes",
				    text, WEIR_NAME_MAX);
	for (i = 0; i < len; i++) {
		unsigned char c = text[i];

		if (c == ' ')
			return weir_err_set(err, "name '%.60s' contains a space", text);
		if (!isascii(c) || (!isalnum(c) && !strchr("_-.:+@", c)))
			return weir_err_set(err, "a name may contain only letters, digits and _-.:+@");
	}
	if (text[0] == '-')
		return weir_err_set(err, "name '%.60s' begins with '-'", text);
	memcpy(at, text, len + 1);
	return 0;
}

int weir_parse_name(const struct weir_field *field, struct weir_args *args,
		    const char *text, void *at)
{
	return parse_name(text, at, args->err, "limit",
			  "'limit show' shows every limit, 'limit flush' deletes them");
}

int weir_parse_list(const struct weir_field *field, struct weir_args *args,
		    const char *text, void *at)
{
	if (!parse_name(text, at, args->err, "list", "'prefix-list show' shows every list"))
		return 0;
	/* prefixes, or a file of them, in the place of their list */
	if (field && !(field->flags & WEIR_FIRST) && strpbrk(text, "/=,"))
		return weir_err_set(args->err, "'%.100s' is not the name of a list; make one of it first: prefix-list add NAME %s%.100s",
				    text, isxdigit((unsigned char)*text) && strpbrk(text, ".:=") ?
				    "" : "file ", text);
	return -EINVAL;
}

int weir_parse_lookup(const struct weir_field *field, struct weir_args *args,
		      const char *text, void *at)
{
	if (strcmp(text, "none"))
		return weir_parse_list(field, args, text, at);
	*(char *)at = '\0';
	return 0;
}

const char *weir_text_lookup(const struct weir_field *field, const void *at, char *buf)
{
	return *(const char *)at ? at : "none";
}

static int bad_dev(const char *text, struct weir_err *err)
{
	return weir_err_set(err, "invalid device name '%.60s'", text);
}

int weir_parse_dev(const struct weir_field *field, struct weir_args *args,
		   const char *text, void *at)
{
	struct weir_err *err = args->err;
	size_t len = strlen(text), i;
	int size;

	if (!len || !strcmp(text, ".") || !strcmp(text, ".."))
		return bad_dev(text, err);
	if (len > WEIR_DEV_MAX)
		return weir_err_set(err, "device name '%.40s' is longer than %d bytes",
				    text, WEIR_DEV_MAX);
	if (strpbrk(text, ",*+"))
		return weir_err_set(err, "'%.60s' is not one device: make a limit for each, or leave 'dev' out for all",
				    text);
	for (i = 0; i < len; i += size) {
		size = weir_out_safe(text + i);
		if (text[i] == '/' || text[i] == ':' || isspace((unsigned char)text[i]))
			return bad_dev(text, err);
		if (!size)
			return weir_err_set(err, "'%.60s': device names with control characters or invalid UTF-8 are not supported; rename the device",
					    text);
	}
	memcpy(at, text, len + 1);
	return 0;
}

int weir_parse_comment(const struct weir_field *field, struct weir_args *args,
		       const char *text, void *at)
{
	size_t len, size;

	for (len = 0; text[len]; len += size) {
		size = weir_out_safe(text + len);
		if (!size)
			return weir_err_set(args->err, "control character or invalid UTF-8 at byte %zu; a comment is printable text on one line",
					    len + 1);
	}
	if (len > WEIR_COMMENT_MAX)
		return weir_err_set(args->err, "at most %d bytes, not %zu", WEIR_COMMENT_MAX, len);
	memcpy(at, text, len + 1);
	return 0;
}
