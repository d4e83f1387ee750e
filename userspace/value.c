// SPDX-License-Identifier: GPL-2.0-or-later
/* Values as an operator writes them: numbers, budgets, names. */

#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "value.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Fewer are written out, as 1000/s. */
#define K_FROM	100000

static const struct {
	const char *name;
	uint32_t ms;
} windows[] = {
	/* longest first: the largest that divides a window is how it is written */
	{ "d", 86400000 }, { "h", 3600000 }, { "m", 60000 }, { "s", 1000 },
	{ "ms", 1 },
	{ "day", 86400000 }, { "days", 86400000 },
	{ "hour", 3600000 }, { "hours", 3600000 },
	{ "min", 60000 }, { "minute", 60000 }, { "minutes", 60000 },
	{ "sec", 1000 }, { "second", 1000 }, { "seconds", 1000 },
	{ "millisecond", 1 }, { "milliseconds", 1 },
};

/* Digits of @base at *@text, moving it behind them; saturates. */
static bool take_digits(const char **text, unsigned int base, uint64_t *value)
{
	const char *at = *text;
	uint64_t sum = 0;

	for (; isxdigit((unsigned char)*at); at++) {
		unsigned int digit = isdigit((unsigned char)*at) ?
			*at - '0' : tolower((unsigned char)*at) - 'a' + 10;

		if (digit >= base)
			break;
		if (__builtin_mul_overflow(sum, (uint64_t)base, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)digit, &sum))
			sum = UINT64_MAX;
	}
	if (at == *text)
		return false;
	*text = at;
	*value = sum;
	return true;
}

static bool take_number(const char **text, uint64_t *value)
{
	if ((*text)[0] == '0' && tolower((unsigned char)(*text)[1]) == 'x' &&
	    isxdigit((unsigned char)(*text)[2])) {
		*text += 2;
		return take_digits(text, 16, value);
	}
	return take_digits(text, 10, value);
}

static bool take_count(const char **text, uint64_t *value)
{
	uint64_t scale = 1;

	if (!take_digits(text, 10, value))
		return false;
	switch (**text) {
	case 'k':
	case 'K':
		scale = 1000;
		break;
	case 'M':
		scale = 1000000;
		break;
	case 'G':
		scale = 1000000000;
		break;
	}
	if (scale > 1)
		(*text)++;
	if (__builtin_mul_overflow(*value, scale, value))
		*value = UINT64_MAX;
	return true;
}

static int check_range(const char *text, uint64_t value, uint64_t min,
		       uint64_t max, struct weir_err *err)
{
	if (value >= min && value <= max)
		return 0;
	return weir_err_set(err, "%s not in %" PRIu64 "..%" PRIu64, text, min,
			    max);
}

/**
 * weir_value_number - read a number, decimal or 0x
 * @text: what was written
 * @min: the least that is right
 * @max: the most that is right
 * @value: takes the number
 * @err: takes the sentence
 *
 * Return: 0 or -EINVAL.
 */
int weir_value_number(const char *text, uint64_t min, uint64_t max,
		      uint64_t *value, struct weir_err *err)
{
	const char *at = text;

	if (!take_number(&at, value) || *at)
		return weir_err_set(err, "'%.60s' is not a number", text);
	return check_range(text, *value, min, max, err);
}

/**
 * weir_value_count - read a decimal number that may end in k, M or G
 * @text: what was written
 * @min: the least that is right
 * @max: the most that is right
 * @value: takes the number; k is 1000
 * @err: takes the sentence
 *
 * Return: 0 or -EINVAL.
 */
int weir_value_count(const char *text, uint64_t min, uint64_t max,
		     uint64_t *value, struct weir_err *err)
{
	const char *at = text;

	if (!take_count(&at, value) || *at)
		return weir_err_set(err, "'%.60s' is not a number (with k, M or G)",
				    text);
	return check_range(text, *value, min, max, err);
}

/**
 * weir_value_budget - read COUNT[k|M|G]/[N]ms|s|m|h|d
 * @text: what was written
 * @max: the largest count that is right
 * @budget: takes the count
 * @window_ms: takes the window in milliseconds
 * @err: takes the sentence
 *
 * Return: 0 or -EINVAL.
 */
int weir_value_budget(const char *text, uint64_t max, uint64_t *budget,
		      uint32_t *window_ms, struct weir_err *err)
{
	const char *at = text, *unit;
	char count[WEIR_TEXT_SIZE];
	uint64_t window = 1;
	size_t i;

	if (!take_count(&at, budget) || (*at && *at != '/'))
		return weir_err_set(err, "'%.60s' is not COUNT[k|M|G]/TIME, like 1000/s",
				    text);
	if (!*at || !at[1])
		return weir_err_set(err, "'%.60s' has no time, like 1000/s or 20/10s",
				    text);
	snprintf(count, sizeof(count), "%.*s", (int)(at - text), text);
	unit = ++at;
	take_digits(&at, 10, &window);
	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		if (!strcmp(windows[i].name, at))
			break;
	}
	if (i == ARRAY_SIZE(windows))
		return weir_err_set(err, "'%.60s' is not a time ([N]ms, s, m, h or d)",
				    unit);
	if (__builtin_mul_overflow(window, (uint64_t)windows[i].ms, &window) ||
	    window < WEIR_WINDOW_MS_MIN || window > WEIR_WINDOW_MS_MAX)
		return weir_err_set(err, "window %s not in 10ms..30d", unit);
	*window_ms = window;
	return check_range(count, *budget, 1, max, err);
}

/**
 * weir_value_name - read the name of a limit
 * @text: what was written
 * @name: takes the name
 * @err: takes the sentence
 *
 * Return: 0 or -EINVAL.
 */
int weir_value_name(const char *text, char name[WEIR_NAME_SIZE],
		    struct weir_err *err)
{
	size_t len = strlen(text), i;

	if (!len)
		return weir_err_set(err, "the name of a limit is empty");
	if (len > WEIR_NAME_MAX)
		return weir_err_set(err, "name '%.40s' is longer than %d bytes",
				    text, WEIR_NAME_MAX);
	for (i = 0; i < len; i++) {
		unsigned char c = text[i];

		if (c == ' ')
			return weir_err_set(err, "name '%.60s' has a space", text);
		if (!isascii(c) || (!isalnum(c) && !strchr("_-.:+@", c)))
			return weir_err_set(err, "a name has letters, digits and _-.:+@ alone");
	}
	if (text[0] == '-')
		return weir_err_set(err, "name '%.60s' begins with -", text);
	memcpy(name, text, len + 1);
	return 0;
}

/**
 * weir_text_char - the character that a text begins with
 * @text: a text that is not empty
 *
 * Return: its length in bytes; 0 where it is not UTF-8.
 */
int weir_text_char(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	int len = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2, i;

	if (at[0] < 0x80)
		return 1;
	if (at[0] < 0xc2 || at[0] > 0xf4)
		return 0;
	for (i = 1; i < len; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	}
	if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
	    (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
		return 0;
	return len;
}

/**
 * weir_text_control - whether a terminal may take a character for an order
 * @text: a text that begins with it, in UTF-8
 */
bool weir_text_control(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	return *at < ' ' || *at == 0x7f ||
	       (at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0);
}

/**
 * weir_value_dev - read the name of a device
 * @text: what was written
 * @dev: takes the name
 * @err: takes the sentence
 *
 * Return: 0 or -EINVAL; whether there is such a device is not asked.
 */
int weir_value_dev(const char *text, char dev[WEIR_DEV_SIZE],
		   struct weir_err *err)
{
	size_t len = strlen(text), i;
	int size;

	if (!len || !strcmp(text, ".") || !strcmp(text, ".."))
		return weir_err_set(err, "'%.60s' cannot name a device", text);
	if (len > WEIR_DEV_MAX)
		return weir_err_set(err, "'%.40s' is longer than the %d bytes of a device's name",
				    text, WEIR_DEV_MAX);
	for (i = 0; i < len; i += size) {
		size = weir_text_char(text + i);
		if (text[i] == '/' || text[i] == ':' ||
		    isspace((unsigned char)text[i]))
			return weir_err_set(err, "'%.60s' cannot name a device",
					    text);
		/* what a file of commands could not say again, or a terminal show */
		if (text[i] == '#' || text[i] == '\\' || !size ||
		    weir_text_control(text + i))
			return weir_err_set(err, "'%.60s': a device with #, \\, control characters or what is not UTF-8 in its name is not supported; rename it",
					    text);
	}
	memcpy(dev, text, len + 1);
	return 0;
}

/**
 * weir_text_budget - write a budget as weir_value_budget() reads it
 * @budget: packets or bytes
 * @window_ms: window in milliseconds
 * @buf: takes the text
 *
 * Return: @buf.
 */
const char *weir_text_budget(uint64_t budget, uint32_t window_ms,
			     char buf[WEIR_TEXT_SIZE])
{
	const char *scale = "";
	uint32_t window;
	size_t i = 0;

	if (budget && budget % 1000000000 == 0) {
		budget /= 1000000000;
		scale = "G";
	} else if (budget && budget % 1000000 == 0) {
		budget /= 1000000;
		scale = "M";
	} else if (budget >= K_FROM && budget % 1000 == 0) {
		budget /= 1000;
		scale = "k";
	}
	while (windows[i].ms > 1 && (!window_ms || window_ms % windows[i].ms))
		i++;
	window = window_ms / windows[i].ms;
	if (window == 1)
		snprintf(buf, WEIR_TEXT_SIZE, "%" PRIu64 "%s/%s", budget, scale,
			 windows[i].name);
	else
		snprintf(buf, WEIR_TEXT_SIZE, "%" PRIu64 "%s/%" PRIu32 "%s",
			 budget, scale, window, windows[i].name);
	return buf;
}

/**
 * weir_text_time - write a time for people
 * @ns: nanoseconds
 * @buf: takes the text
 *
 * Return: @buf.
 */
const char *weir_text_time(uint64_t ns, char buf[WEIR_TEXT_SIZE])
{
	uint64_t s = ns / 1000000000;

	if (s < 1)
		snprintf(buf, WEIR_TEXT_SIZE, "%.4gms", ns / 1e6);
	else if (s < 600)
		snprintf(buf, WEIR_TEXT_SIZE, "%.4gs", ns / 1e9);
	else if (s < 36000)
		snprintf(buf, WEIR_TEXT_SIZE, "%" PRIu64 "m%" PRIu64 "s",
			 s / 60, s % 60);
	else
		snprintf(buf, WEIR_TEXT_SIZE, "%" PRIu64 "h%" PRIu64 "m",
			 s / 3600, s / 60 % 60);
	return buf;
}

/**
 * weir_text_size - write an amount of memory for people
 * @bytes: how much
 * @buf: takes the text
 *
 * Return: @buf.
 */
const char *weir_text_size(uint64_t bytes, char buf[WEIR_TEXT_SIZE])
{
	static const char units[][4] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double value = bytes;
	size_t i;

	for (i = 0; value >= 1024 && i < ARRAY_SIZE(units) - 1; i++)
		value /= 1024;
	snprintf(buf, WEIR_TEXT_SIZE, value < 10 && i ? "%.1f%s" : "%.0f%s",
		 value, units[i]);
	return buf;
}
