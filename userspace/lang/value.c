// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse and format numbers, budgets and times. */

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/param.h>

#include "lang/field.h"
#include "lang/value.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define WEEK_MS		(7u * 86400000)
#define MONTH_MS	(30u * 86400000)
/* Digits on each side of a point, for which a whole number is suggested. */
#define FRACTION_MAX	4
/* From here on a time is read best in several units. */
#define LONG_MS		600000

/* The names used in output come first, longest unit first. */
static const struct {
	const char *name;
	uint32_t ms;
} windows[] = {
	{ "d", 86400000 }, { "h", 3600000 }, { "m", 60000 }, { "s", 1000 },
	{ "ms", 1 },
	{ "w", WEEK_MS },
	/* these may end in "s" */
	{ "month", MONTH_MS }, { "week", WEEK_MS }, { "day", 86400000 },
	{ "hour", 3600000 }, { "hr", 3600000 }, { "minute", 60000 }, { "min", 60000 },
	{ "second", 1000 }, { "sec", 1000 }, { "millisecond", 1 }, { "msec", 1 },
};

/* In place of a window. */
#define TOTAL	"total"

#define SECOND	3	/* its index; longer units precede */
#define MONTH	6	/* the first with a plural */

/* Each is a thousand times the previous one. */
static const char scales[] = "kMGTPE";

/* Offset of the low @len bytes of a uint64_t. */
static size_t low_bytes(size_t len)
{
	const uint16_t one = 1;

	return *(const uint8_t *)&one ? 0 : sizeof(uint64_t) - len;
}

uint64_t weir_uint_get(const void *data, size_t len)
{
	uint64_t value = 0;

	if (len == 1 || len == 2 || len == 4 || len == 8)
		memcpy((char *)&value + low_bytes(len), data, len);
	return value;
}

void weir_uint_set(void *data, size_t len, uint64_t value)
{
	if (len <= sizeof(value))
		memcpy(data, (char *)&value + low_bytes(len), len);
}

/* Parse digits and advance *@text; saturates. */
static bool take_digits(const char **text, int base, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	*value = strtoull(*text, &end, base);
	*text = end;
	return true;
}

/* A whole number, perhaps as a fraction of k, M or G (1.5k). */
static bool take_count(const char **text, uint64_t *value)
{
	uint64_t part = 0, unit = 1, factor = 1;
	const char *scale, *at;

	if (!take_digits(text, 10, value))
		return false;
	if (**text == '.') {
		at = ++*text;
		if (!take_digits(text, 10, &part) || *text - at > 9)
			return false;
		for (; at < *text; at++)
			unit *= 10;
	}
	scale = **text ? strchr(scales, **text == 'K' ? 'k' : **text) : NULL;
	if (scale && scale <= strchr(scales, 'G')) {
		for (++*text; scale >= scales; scale--)
			factor *= 1000;
	}
	if (part * factor % unit)
		return false;
	if (__builtin_mul_overflow(*value, factor, value) ||
	    __builtin_add_overflow(*value, part * factor / unit, value))
		*value = UINT64_MAX;
	return true;
}

int weir_value_range(const char *text, uint64_t value, uint64_t min,
		     uint64_t max, struct weir_err *err)
{
	if (value >= min && value <= max)
		return 0;
	return weir_err_set(err, "%s is out of range %" PRIu64 "..%" PRIu64, text, min, max);
}

static int bad_number(const char *text, struct weir_err *err)
{
	return weir_err_set(err, "invalid number '%.60s'", text);
}

int weir_value_number(const char *text, uint64_t min, uint64_t max,
		      uint64_t *value, struct weir_err *err)
{
	const char *at = text;

	if (!take_digits(&at, text[0] == '0' && strchr("xX", text[1]) ? 16 : 10, value) || *at)
		return bad_number(text, err);
	return weir_value_range(text, *value, min, max, err);
}

int weir_value_count(const char *text, uint64_t min, uint64_t max,
		     uint64_t *value, struct weir_err *err)
{
	const char *at = text;
	bool valid = take_count(&at, value);

	if (valid && !strcmp(at, "B"))
		return weir_err_set(err, "write '%.*s' for %.60s", (int)(at - text), text, text);
	if (!valid || *at)
		return bad_number(text, err);
	return weir_value_range(text, *value, min, max, err);
}

/* For a rate in the syntax of tc(8) or switches, suggest the budget. */
static bool blame_rate(const char *text, struct weir_err *err)
{
	static const struct {
		const char *name, *unit;	/* NULL: bits or bytes */
		unsigned int bits;
	} rates[] = {
		{ "bit", " bytes", 8 }, { "bit/s", " bytes", 8 }, { "bits/s", " bytes", 8 },
		{ "B/s", " bytes", 1 }, { "byte/s", " bytes", 1 }, { "bytes/s", " bytes", 1 },
		{ "bytes/second", " bytes", 1 }, { "bps", NULL, 8 }, { "b/s", NULL, 8 },
		{ "pps", "", 1 },
	};
	struct weir_amount budget = { .window_ms = 1000 }, bytes;
	char upper[WEIR_TEXT_SIZE], buf[WEIR_TEXT_SIZE], other[WEIR_TEXT_SIZE];
	const char *end = upper;
	size_t i;

	for (i = 0; text[i] && i < sizeof(upper) - 1; i++)
		upper[i] = toupper((unsigned char)text[i]);
	upper[i] = '\0';
	if (!take_count(&end, &budget.count))
		return false;
	end = text + (end - upper);
	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		if (strcasecmp(rates[i].name, end) ||
		    (!strncasecmp(end, "b/", 2) && *end != *rates[i].name))
			continue;
		bytes = budget;
		budget.count /= rates[i].bits;
		weir_text_budget(NULL, &budget, buf);
		weir_text_budget(NULL, &bytes, other);
		if (!rates[i].unit)
			weir_err_set(err, "a budget counts packets or bytes; write '%s bytes' for %.*sbit/s, '%s bytes' for %.*sB/s",
				     buf, (int)(end - text), text, other, (int)(end - text), text);
		else
			weir_err_set(err, "a budget counts packets or bytes; write '%s%s' for %.40s",
				     buf, rates[i].unit, text);
		return true;
	}
	return false;
}

/* The length of a unit at the start of @text, in ms; 0: none. */
static uint32_t unit_ms(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		if (len - (i >= MONTH && len && text[len - 1] == 's') == strlen(windows[i].name) &&
		    !strncmp(windows[i].name, text, strlen(windows[i].name)))
			return windows[i].ms;
	}
	return 0;
}

/* A part of a time: 1.5h, 30m, day. A fraction of a millisecond counts as one. */
static bool take_time(const char **text, uint32_t *unit, uint64_t *ms)
{
	uint64_t part = 0, scale = 1;
	const char *at;
	size_t len;

	*ms = 1;
	if (take_digits(text, 10, ms) && **text == '.') {
		at = ++*text;
		if (!take_digits(text, 10, &part) || *text - at > 9)
			return false;
		for (; at < *text; at++)
			scale *= 10;
	}
	len = strspn(*text, "abcdefghijklmnopqrstuvwxyz");
	*unit = unit_ms(*text, len);
	*text += len;
	if (__builtin_mul_overflow(*ms, (uint64_t)*unit, ms) ||
	    __builtin_add_overflow(*ms, (part * *unit + scale - 1) / scale, ms))
		*ms = UINT64_MAX;
	return *unit;
}

int weir_value_time(const char *text, uint64_t *ms, struct weir_err *err)
{
	const char *at = text;
	uint32_t unit, before;
	uint64_t part;
	bool valid;

	valid = take_time(&at, &before, ms);
	/* 1h30m: each unit is shorter than the one before */
	for (; valid && isdigit((unsigned char)*at); before = unit) {
		valid = take_time(&at, &unit, &part) && unit < before;
		if (__builtin_add_overflow(*ms, part, ms))
			*ms = UINT64_MAX;
	}
	if (valid && !*at)
		return 0;
	if (*text && strspn(text, "0123456789.") == strlen(text))
		return weir_err_set(err, "time '%.60s' has no unit; write %.60ss", text, text);
	return weir_err_set(err, "invalid time '%.60s'; expected numbers (1 if left out) and ms, s, m, h, d, w or month: 1h30m",
			    text);
}

/* In the longest unit of which it is a multiple; with @brief a 1 is left out. */
static void put_time(uint64_t ms, bool brief, char *buf)
{
	size_t i = 0;

	if (brief && (ms == WEEK_MS || ms == MONTH_MS)) {
		strcpy(buf, ms == WEEK_MS ? "week" : "month");
		return;
	}
	while (windows[i].ms > 1 && (!ms || ms % windows[i].ms))
		i++;
	if (!brief || ms != windows[i].ms)
		buf += sprintf(buf, "%" PRIu64, ms / windows[i].ms);
	strcpy(buf, windows[i].name);
}

/* In several units, the longest first: 1h30m5s. */
static void put_parts(uint64_t ms, char *buf)
{
	size_t i;

	for (i = 0; ms; ms %= windows[i++].ms)
		if (ms >= windows[i].ms)
			buf += sprintf(buf, "%" PRIu64 "%s", ms / windows[i].ms, windows[i].name);
}

/* The word that stands for 0, and its length: in none|TIME, or TIME|ever. */
static const char *zero_word(const struct weir_field *field, int *length)
{
	const char *word = field->value ? field->value : "";

	if (isupper((unsigned char)*word))
		word += strcspn(word, "|") + !!strchr(word, '|');
	*length = strcspn(word, "|");
	return word;
}

/* At least a second, or where 0 is allowed its word. */
int weir_parse_ms(const struct weir_field *field, struct weir_args *args,
		  const char *text, void *at)
{
	int length;
	const char *word = zero_word(field, &length), *next = weir_args_peek(args);
	bool zero = length && ((!strncmp(text, word, length) && !text[length]) ||
		    (!strncmp(word, "ever", length) && !strcmp(text, "forever")));
	char most[WEIR_TEXT_SIZE], joined[WEIR_TEXT_SIZE];
	uint64_t ms = 0;

	if (length && weir_word_among("0 off", text))
		return weir_err_set(args->err, "%s is not a time; write '%.*s'", text, length,
				    word);
	if (next && *text && strspn(text, "0123456789.") == strlen(text) &&
	    unit_ms(next, strlen(next))) {	/* 1 hour */
		snprintf(joined, sizeof(joined), "%s%s", text, weir_args_next(args));
		text = joined;
	}
	put_time(field->spec->max, false, most);
	if (!zero && weir_word_among("ever forever", text))
		return weir_err_set(args->err, "'%s' is no time here; the longest is %s", text,
				    most);
	if (!zero && weir_value_time(text, &ms, args->err))
		return -EINVAL;
	if (!zero && (ms < 1000 || ms > field->spec->max))
		return weir_err_set(args->err, "%.60s is out of range 1s..%s", text, most);
	weir_uint_set(at, field->size, ms);
	return 0;
}

/* Per second, and so may end in "/s". */
int weir_parse_rate(const struct weir_field *field, struct weir_args *args,
		    const char *text, void *at)
{
	const char *end = text;
	uint64_t value;

	if (!take_count(&end, &value) || (*end && strcmp(end, "/s")))
		return weir_err_set(args->err, "invalid rate '%.60s'; expected COUNT[k|M|G]/s, for example 1M/s",
				    text);
	*(uint32_t *)at = value;
	return weir_value_range(text, value, field->spec->min, field->spec->max, args->err);
}

int weir_parse_group(const struct weir_field *field, struct weir_args *args,
		     const char *text, void *at)
{
	uint64_t group = 0;

	if (weir_word_among("group off prefix level", text))
		return weir_err_set(args->err, "write 'log NUMBER', or 'log none'");
	if (strcmp(text, "none") &&
	    weir_value_number(text, 1, UINT16_MAX, &group, args->err))
		return -EINVAL;
	weir_uint_set(at, field->size, group);
	return 0;
}

int weir_parse_newcomers(const struct weir_field *field, struct weir_args *args,
			 const char *text, void *at)
{
	const struct weir_amount *budget = at;

	if (weir_word_among("0 0/s off", text))
		return weir_err_set(args->err, "write 'none'");
	if (strcmp(text, "none"))
		return weir_parse_budget(field, args, text, at) ?:
		       budget->window_ms ? 0 : weir_err_set(args->err, "a total is a budget of sources; newcomers need a time");
	*(struct weir_amount *)at = (struct weir_amount) { .window_ms = 1000 };
	return 0;
}

/* For several budgets in one word, such as 5/s,20/m, suggest as many words. */
static bool blame_several(const char *text, struct weir_err *err)
{
	const char *second = strchr(text, ',') ? strchr(text, ',') + 1 : "";
	int len = strcspn(second, ",");

	if (!isdigit((unsigned char)*text) || !isdigit((unsigned char)*second))
		return false;
	if (strspn(second, "0123456789") == 3 && !memchr(text, '/', second - text))
		return weir_err_set(err, "leave the commas out of '%.60s'", text);
	weir_err_set(err, "repeat the word for each budget: 'budget %.*s budget %.*s%s'",
		     (int)MIN(second - text - 1, 60), text, MIN(len, 60), second,
		     second[len] ? " ..." : "");
	return true;
}

/* For 1.5/s, suggest 15/10s. */
static int blame_fraction(const char *text, struct weir_err *err)
{
	static const char digits[] = "0123456789";
	const size_t whole = strspn(text, digits), point = text[whole] == '.';
	const size_t part = point ? strspn(text + whole + 1, digits) : 0;
	const char *unit = text + whole + point + part;
	unsigned int scale = 1;
	uint32_t ms = 0;
	size_t i;

	for (i = 0; i < part && i < FRACTION_MAX; i++)
		scale *= 10;
	if (*unit == '/')
		ms = unit_ms(unit + 1, strlen(unit + 1));
	if (ms && ms <= WEIR_WINDOW_MS_MAX / scale && whole && whole <= FRACTION_MAX && part &&
	    part <= FRACTION_MAX)
		return weir_err_set(err, "a count is a whole number: write %lu/%u%s",
				    strtoul(text, NULL, 10) * scale +
				    strtoul(text + whole + 1, NULL, 10), scale, unit + 1);
	return weir_err_set(err, "invalid budget '%.60s'; expected COUNT[k|M|G]/TIME, for example 1000/s",
			    text);
}

/* The word that follows gives the unit, which bounds the count. */
int weir_parse_budget(const struct weir_field *field, struct weir_args *args,
		      const char *text, void *at)
{
	const char *next = weir_args_peek(args), *end = text, *unit;
	bool bytes = next && *next &&
		     !strncmp(next, weir_unit_names[WEIR_UNIT_BYTES], strlen(next));
	struct weir_amount *budget = at;
	char count[WEIR_TEXT_SIZE];
	uint64_t window;
	int ret;

	if (blame_rate(text, args->err) || blame_several(text, args->err))
		return -EINVAL;
	if (weir_word_among("none 0 off", text))
		return weir_err_set(args->err, "to remove a budget, give the others, with 'only'; "
				    WEIR_BLOCKS);
	if (weir_word_among("over above until", text))
		return weir_err_set(args->err, "a limit drops what exceeds its budget: leave '%s' out",
				    text);
	if (!take_count(&end, &budget->count))
		return blame_fraction(text, args->err);
	unit = text + strspn(text, "0123456789.");
	if (!strncmp(end, "B/", 2))
		return weir_err_set(args->err, "write '%.*s%.60s bytes'", (int)(end - text), text,
				    end + 1);
	if (*end && *end != '/')
		return weir_err_set(args->err, "invalid suffix '%.*s' in '%.60s'; k, M and G are powers of 1000, and 1T is 1000G",
				    (int)MIN(strcspn(unit, "/"), 60), unit, text);
	snprintf(count, sizeof(count), "%.*s", (int)(end - text), text);
	if (!*end || !end[1])
		return weir_err_set(args->err, "'%.60s' has no time; for example %.60s/s or %.60s/10s",
				    text, count, count);
	unit = ++end;
	if (!strcmp(unit, TOTAL))
		window = 0;
	else if (weir_value_time(unit, &window, args->err))
		return -EINVAL;
	else if (window < WEIR_WINDOW_MS_MIN || window > WEIR_WINDOW_MS_MAX)
		return weir_err_set(args->err, "a window of %s is out of range 10ms..30d", unit);
	budget->window_ms = window;
	ret = weir_value_range(count, budget->count, 1, bytes ? WEIR_BYTES_MAX :
			       WEIR_PACKETS_MAX, args->err);
	if (ret && (!budget->count || !bytes))
		weir_err_set(args->err, "%s; %s", args->err->text, budget->count ?
			     "for bytes, put 'bytes' behind it" : WEIR_BLOCKS);
	return ret;
}

/* Returns the length. */
static int put_count(uint64_t count, char *buf)
{
	char unit[2] = "";
	size_t scale = 0;

	for (; scale < 3 && count >= (scale ? 1 : WEIR_K_FROM) && count % 1000 == 0; scale++) {
		count /= 1000;
		unit[0] = scales[scale];
	}
	return sprintf(buf, "%" PRIu64 "%s", count, unit);
}

const char *weir_text_budget(const struct weir_field *field, const void *at, char *buf)
{
	const struct weir_amount *budget = at;
	int len = put_count(budget->count, buf);

	buf[len++] = '/';
	if (budget->window_ms)
		put_time(budget->window_ms, true, buf + len);
	else
		strcpy(buf + len, TOTAL);
	return buf;
}

const char *weir_text_newcomers(const struct weir_field *field, const void *at, char *buf)
{
	return ((const struct weir_amount *)at)->count ? weir_text_budget(field, at, buf) : "none";
}

const char *weir_text_rate_of(const struct weir_field *field, const void *at, char *buf)
{
	strcpy(buf + put_count(*(const uint32_t *)at, buf), "/s");
	return buf;
}

const char *weir_text_ms(const struct weir_field *field, const void *at, char *buf)
{
	uint64_t ms = weir_uint_get(at, field->size);
	int length;
	const char *word = zero_word(field, &length);

	if (!ms)
		snprintf(buf, WEIR_TEXT_SIZE, "%.*s", length, word);
	else if (ms < LONG_MS)
		put_time(ms, false, buf);
	else
		put_parts(ms, buf);
	return buf;
}

const char *weir_text_group(const struct weir_field *field, const void *at, char *buf)
{
	uint64_t group = weir_uint_get(at, field->size);

	snprintf(buf, WEIR_TEXT_SIZE, group ? "%" PRIu64 : "none", group);
	return buf;
}

const char *weir_text_amount(uint64_t amount, int digits, char *buf)
{
	int len = sprintf(buf, "%" PRIu64, amount), i = (len - 1) / 3, point = len - 3 * i;

	if (amount < WEIR_K_FROM)
		return buf;
	memmove(buf + point + 1, buf + point, 3 * i);
	buf[point] = '.';
	/* truncate, do not round up */
	for (len = MIN(len, digits) + 1; buf[len - 1] == '0'; len--)
		;
	len -= buf[len - 1] == '.';
	sprintf(buf + len, "%c", scales[i - 1]);
	return buf;
}

const char *weir_text_rate(double count, uint32_t window_ms, char *buf)
{
	size_t i = SECOND;
	double rate;

	if (!count)
		return strcpy(buf, "0");
	while ((rate = count * windows[i].ms / window_ms) < 1 && i)
		i--;
	if (rate < 100)
		sprintf(buf, "%.3g", rate);
	else
		weir_text_amount(MIN(rate, 1e18), 5, buf);
	sprintf(strchr(buf, '\0'), "/%s", windows[i].name);
	return buf;
}

/* One unit below ten minutes, else two; a zero second unit is omitted. */
const char *weir_text_time(uint64_t ns, char *buf)
{
	uint64_t ms = ns / 1000000, rest;
	size_t i = 0;
	int len;

	if (ns && ns < 1000)
		ns = 1000;	/* without an exponent */
	if (ms < LONG_MS) {
		sprintf(buf, ms < 1000 ? "%.4gms" : "%.4gs", ns / (ms < 1000 ? 1e6 : 1e9));
		return buf;
	}
	while (ms < windows[i].ms)
		i++;
	len = sprintf(buf, "%" PRIu64 "%s", ms / windows[i].ms, windows[i].name);
	rest = ms % windows[i].ms / windows[i + 1].ms;
	if (rest)
		sprintf(buf + len, "%" PRIu64 "%s", rest, windows[i + 1].name);
	return buf;
}

const char *weir_text_size(uint64_t bytes, char *buf)
{
	static const char units[][4] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double value = bytes;
	size_t i;

	for (i = 0; value >= 1024 && i < ARRAY_SIZE(units) - 1; i++)
		value /= 1024;
	snprintf(buf, WEIR_TEXT_SIZE, value < 10 && i ? "%.1f%s" : "%.0f%s", value, units[i]);
	return buf;
}

uint64_t weir_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * WEIR_NS_PER_S + now.tv_nsec;
}
