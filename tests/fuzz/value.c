// SPDX-License-Identifier: GPL-2.0-or-later
/* Values are drawn so that operations and packets meet, and ranges end. */
#include <string.h>

#include "value.h"

/* Few names, so that operations meet. */
static void make_name(char *text, struct dice *dice,
		      const struct attr *attr, enum mood mood)
{
	static const char *const limits[] = { "a", "b", "c", "d", "default" };
	static const char *const devs[] = { "rx0", "lo", "eth9", "tx0" };
	static const char *const odd[] = {
		"", " ", "a b", "-a", ".", "..", "a/b", "\n", "\xff\xfe", "%s%n",
		"a:1", "0123456789012345678901234567890",
		"01234567890123456789012345678901", "\xc3\xa9",
	};
	bool dev = !strcmp(attr->name, "dev");

	if (mood != GOOD && dice_percent(dice, 20))
		strcpy(text, odd[dice_of(dice, sizeof(odd) / sizeof(*odd))]);
	else if (dev)
		strcpy(text, devs[dice_of(dice, 4)]);
	else
		strcpy(text, limits[dice_of(dice, 5)]);
}

/* Prefixes that the flood is in, and others. */
static size_t make_address(uint8_t *address, struct dice *dice, enum mood mood)
{
	static const uint8_t known[][16] = {
		{ 10, 0, 0, 0 }, { 198, 51, 100, 0 }, { 0 }, { 169, 254, 0, 1 },
		{ 0x20, 1, 0xd, 0xb8 }, { 0xfe, 0x80, [15] = 1 }, { 0 },
		{ 0x20, 1, 0xd, 0xb8, [15] = 1 },
	};
	unsigned int which = dice_of(dice, 8);
	unsigned int i, bits;

	memcpy(address, known[which], 16);
	if (dice_percent(dice, 20)) {
		address[which < 4 ? 3 : 15] = dice_of(dice, 4);
	} else if (dice_percent(dice, 10)) {
		bits = dice_of(dice, 17);
		for (i = 0; i < bits; i++)
			address[i] = dice_roll(dice);
	}
	if (mood != GOOD && dice_percent(dice, 10))
		return dice_of(dice, 20);
	return which < 4 ? 4 : 16;
}

/* A number: small, at an edge, or any. */
static uint64_t make_number(struct dice *dice, const struct attr *attr,
			    enum mood mood)
{
	static const uint8_t prefix_lens[] = { 0, 8, 24, 32, 32, 64, 128 };
	static const uint8_t protos[] = { 6, 17, 6, 17, 1, 58 };
	uint64_t span = attr->most - attr->least, value;

	/* Prefixes of the addresses that there are. */
	if (strstr(attr->name, "len") && dice_percent(dice, 80))
		return prefix_lens[dice_of(dice, sizeof(prefix_lens))];
	if (!strcmp(attr->name, "proto") && dice_percent(dice, 80))
		return protos[dice_of(dice, sizeof(protos))];
	if (!strcmp(attr->name, "family") && dice_percent(dice, 80))
		return dice_of(dice, 2) ? 2 : 10;
	/* What a table costs is time for the kernel to clear it. */
	if (!strcmp(attr->name, "sources"))
		span = dice_of(dice, 500) ? 4096 : span;
	if (!strcmp(attr->name, "window-ms") && dice_percent(dice, 70))
		span = 4000;
	if (!strcmp(attr->name, "budget") && dice_percent(dice, 80))
		span = UINT32_MAX - 1;
	switch (dice_of(dice, 6)) {
	case 0:
		value = attr->least;
		break;
	case 1:
		value = attr->least + span;
		break;
	default:
		value = dice_long(dice);
		if (span + 1)
			value %= span + 1;
		value += attr->least;
	}
	if (!dice_percent(dice, mood == ODD_VALUES ? 30 : 1))
		return value;
	switch (dice_of(dice, 4)) {
	case 0: return attr->least - 1;
	case 1: return attr->most + 1;
	case 2: return dice_roll(dice);
	default: return 1ull << dice_of(dice, 64);
	}
}

size_t value_make(uint8_t value[VALUE_MAX], struct dice *dice,
		  const struct attr *attr, enum mood mood)
{
	uint64_t number;

	switch (attr->kind) {
	case U8:
	case U16:
	case U32:
	case U64:
		number = make_number(dice, attr, mood);
		memcpy(value, &number, sizeof(number));
		return kind_bytes(attr->kind);
	case STRING:
		make_name((char *)value, dice, attr, mood);
		return strlen((char *)value) + 1;
	case BINARY:
		memset(value, 0, VALUE_MAX);
		return make_address(value, dice, mood);
	case NEST:
	case FLAG:
	case PAD:
		break;
	}
	return 0;
}
