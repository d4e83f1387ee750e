// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer on what weir-fleet reads from other hosts. The first byte of a line says what the rest
 * is: a block (key, blank, value), a status, or a canary. What is a block must be the same when it
 * is written and read again, and be safe as words of a command; a status or a canary must be read
 * again when it is written. What follows a line "n" is a message of counts: it must be the same
 * when it is written again, and no more than two budgets may be charged for it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../userspace/fleet/block.h"
#include "../../userspace/fleet/books.h"
#include "../../userspace/fleet/canary.h"
#include "../../userspace/fleet/host.h"

static void check_word(const char *word)
{
	if (!*word || *word == '-' || word[strcspn(word, " \t\r\n\"'#$\\;{}")])
		abort();
}

static void read_block(char *text, size_t size)
{
	char *end = memchr(text, ' ', size);
	char key[FLEET_KEY_SIZE], value[FLEET_BLOCK_SIZE];
	struct fleet_block block, again;
	size_t length;

	if (!end)
		return;
	*end = '\0';
	if (fleet_block_decode(&block, text, end + 1, text + size - end - 1))
		return;
	check_word(block.limit);
	check_word(block.source);
	length = fleet_block_encode(&block, value);
	if (block.for_ms < 0 || length >= sizeof(value) || fleet_block_key(&block, key) ||
	    strcmp(key, text) || fleet_block_decode(&again, key, value, length) ||
	    memcmp(&block, &again, sizeof(block)))
		abort();
}

static void read_status(const char *text, size_t size)
{
	struct fleet_host host, again;
	char *value;

	if (fleet_host_decode(&host, "web1", text, size))
		return;
	value = fleet_host_encode(&host, &size);
	if (!value || fleet_host_decode(&again, "web1", value, size))
		abort();
	free(value);
}

static void read_canary(const char *text, size_t size)
{
	struct fleet_canary canary, again;
	char *value;

	if (fleet_canary_decode(&canary, text, size))
		return;
	value = fleet_canary_encode(&canary, &size);
	if (!value || fleet_canary_decode(&again, value, size) || again.size != canary.size ||
	    memcmp(again.config, canary.config, canary.size) || again.count != canary.count)
		abort();
	free(value);
	fleet_canary_free(&again);
	fleet_canary_free(&canary);
}

static void check_charge(const struct weir_prefix *source, const uint64_t amount[], void *data)
{
	const struct fleet_shape *shape = data;
	unsigned int i;

	for (i = 0; i < shape->budgets; i++)
		if (amount[i] > 2 * shape->ring[i].budget)
			abort();
}

/* Two hosts have sent it. */
static void charge(const uint8_t *data, size_t size, const struct fleet_head *head)
{
	struct fleet_clock clock[WEIR_BUDGETS_MAX] = { { .slot = 100 } };
	struct fleet_shape shape = { .budgets = head->budgets };
	struct fleet_books *books;
	unsigned int i;

	for (i = 0; i < shape.budgets; i++)
		shape.ring[i] = (struct fleet_ring){ 1000ull << 9 * i, 1000000, 16 };
	books = fleet_books_new("web1", 1, &shape, 10);
	if (!books)
		abort();
	fleet_books_clock(books, clock, 1000);
	fleet_books_hear(books, data, size, 1000);
	fleet_books_charge(books, 1000, check_charge, &shape);
	clock[0].slot++;
	fleet_books_clock(books, clock, 1010);
	fleet_books_hear(books, data, size, 1010);
	fleet_books_charge(books, 1010, check_charge, &shape);
	if (fleet_books_counts(books)->malformed || fleet_books_counts(books)->babbled)
		abort();
	fleet_books_free(books);
}

/* In an allocation of its own, too. */
static void read_counts(const uint8_t *data, size_t size)
{
	static struct fleet_writer writer;
	struct fleet_record record;
	struct fleet_reader reader;
	uint8_t *copy = malloc(size + !size);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	if (!fleet_announce_read(&reader, copy, size)) {
		fleet_announce_begin(&writer, &reader.head);
		charge(copy, size, &reader.head);
		while (fleet_announce_next(&reader, &record))
			if (!fleet_announce_put(&writer, &record))
				abort();
		if (writer.size != size || memcmp(writer.data, data, size))
			abort();
	}
	free(copy);
}

/* A line, in an allocation of its own, so that a read behind it is found. */
static void read_line(const uint8_t *data, size_t size)
{
	char *text = malloc(size);

	if (!text)
		abort();
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	if (*data == 'b')
		read_block(text, size - 1);
	else if (*data == 's')
		read_status(text, size - 1);
	else if (*data == 'c')
		read_canary(text, size - 1);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end;
	size_t length;

	for (; size; data += length, size -= length) {
		end = memchr(data, '\n', size);
		length = end ? (size_t)(end - data) : size;
		if (length == 1 && end && *data == 'n') {
			read_counts(data + 2, size - 2);
			break;
		}
		if (length)
			read_line(data, length);
		if (end)
			length++;
	}
	return 0;
}
