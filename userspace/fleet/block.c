// SPDX-License-Identifier: GPL-2.0-or-later
/* A block on the wire: "1 block 600000 web1", "1 release 599000 web2", "1 block ever web1". */

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "lang/value.h"
#include "prefix.h"

#define PARTS	4	/* of a value */

/* Letters, digits, - and _ stand for themselves, all others but @also are =XX. */
bool fleet_escape(char *key, size_t size, const char *text, const char *also)
{
	size_t used = strlen(key);

	for (; *text; text++) {
		if (used + 4 > size)
			return false;
		if (isalnum((unsigned char)*text) || strchr("-_", *text) || strchr(also, *text))
			key[used++] = *text;
		else
			used += sprintf(key + used, "=%02X", (unsigned char)*text);
		key[used] = '\0';
	}
	return true;
}

static int hex_of(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* false: too long or malformed */
static bool take_escaped(char *text, size_t size, const char *key, const char *end)
{
	int c;

	while (key < end) {
		c = (unsigned char)*key++;
		if (c == '=') {
			if (end - key < 2 || hex_of(key[0]) < 0 || hex_of(key[1]) < 0)
				return false;
			c = hex_of(key[0]) << 4 | hex_of(key[1]);
			key += 2;
		}
		if (!c || --size == 0)
			return false;
		*text++ = c;
	}
	*text = '\0';
	return true;
}

/* As the tool's names, so that one is a word of a command wherever it stands. */
static bool is_limit(const char *name)
{
	size_t length = strspn(name, FLEET_LETTERS ".:+@");

	return length && !name[length] && *name != '-' && strcmp(name, "all");
}

static bool is_source(const char *source)
{
	struct weir_prefix prefix;
	char text[WEIR_TEXT_SIZE];

	return !strcmp(source, "all") ||
	       (fleet_prefix_read(&prefix, source) &&
		!strcmp(source, weir_text_prefix(NULL, &prefix, text)));
}

int fleet_block_key(const struct fleet_block *block, char key[FLEET_KEY_SIZE])
{
	*key = '\0';
	if (!is_limit(block->limit) || !is_source(block->source) ||
	    !fleet_escape(key, FLEET_KEY_SIZE, block->limit, "") ||
	    strlen(key) + 2 > FLEET_KEY_SIZE)
		return -EINVAL;
	strcat(key, ".");
	return fleet_escape(key, FLEET_KEY_SIZE, block->source, "./") ? 0 : -EINVAL;
}

size_t fleet_block_encode(const struct fleet_block *block, char value[FLEET_BLOCK_SIZE])
{
	char for_ms[32] = "ever";

	if (block->for_ms != FLEET_EVER)
		sprintf(for_ms, "%" PRIi64, block->for_ms);
	return snprintf(value, FLEET_BLOCK_SIZE, "%d %s %s %s", FLEET_BLOCK_VERSION,
			block->released ? "release" : "block", for_ms, block->by);
}

static bool read_time(int64_t *ms, const char *text)
{
	char *end;

	if (!strcmp(text, "ever")) {
		*ms = FLEET_EVER;
		return true;
	}
	errno = 0;
	*ms = strtoll(text, &end, 10);
	return isdigit((unsigned char)*text) && !*end && !errno && *ms <= FLEET_BLOCK_MS_MAX;
}

static bool read_value(struct fleet_block *block, const char *value, size_t size)
{
	char text[FLEET_BLOCK_SIZE], *rest = text, *parts[PARTS];
	int i;

	if (size >= sizeof(text) || memchr(value, '\0', size))
		return false;
	memcpy(text, value, size);
	text[size] = '\0';
	for (i = 0; i < PARTS; i++) {
		parts[i] = strsep(&rest, " ");
		if (!parts[i])
			return false;
	}
	block->released = !strcmp(parts[1], "release");
	if (rest || strcmp(parts[0], "1") || (!block->released && strcmp(parts[1], "block")) ||
	    !read_time(&block->for_ms, parts[2]) || !fleet_is_host(parts[3]))
		return false;
	strcpy(block->by, parts[3]);
	return true;
}

int fleet_block_decode(struct fleet_block *block, const char *key, const char *value, size_t size)
{
	const char *dot = strchr(key, '.');
	char again[FLEET_KEY_SIZE];

	memset(block, 0, sizeof(*block));
	if (!dot || !take_escaped(block->limit, sizeof(block->limit), key, dot) ||
	    !take_escaped(block->source, sizeof(block->source), dot + 1, key + strlen(key)) ||
	    !read_value(block, value, size))
		return -EINVAL;
	/* A block has one key. */
	return fleet_block_key(block, again) || strcmp(key, again) ? -EINVAL : 0;
}
