// SPDX-License-Identifier: GPL-2.0-or-later
/* Messages of counts. */

#include <string.h>
#include <sys/socket.h>

#include "announce.h"

#define HEAD_BYTES	19
#define GROUP_BYTES	9	/* of 64 bits less the highest */
#define RECORD_BYTES	(2 + 16 + GROUP_BYTES * WEIR_BUDGETS_MAX)

static void put(struct fleet_writer *writer, uint64_t value, unsigned int bytes)
{
	while (bytes--)
		writer->data[writer->size++] = value >> 8 * bytes;
}

static void put_group(struct fleet_writer *writer, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		writer->data[writer->size++] = 0x80 | (value & 0x7f);
	writer->data[writer->size++] = value;
}

void fleet_announce_begin(struct fleet_writer *writer, const struct fleet_head *head)
{
	size_t length = strlen(head->host);

	writer->size = 0;
	writer->budgets = head->budgets;
	put(writer, FLEET_ANNOUNCE_VERSION, 1);
	put(writer, head->run, 8);
	put(writer, head->number, 4);
	put(writer, head->interval_ms, 2);
	put(writer, head->age_ms, 2);
	put(writer, head->budgets, 1);
	put(writer, length, 1);
	memcpy(writer->data + writer->size, head->host, length);
	writer->size += length;
}

bool fleet_announce_put(struct fleet_writer *writer, const struct fleet_record *record)
{
	const struct weir_prefix *source = &record->source;
	unsigned int bytes = (source->len + 7) / 8, i;

	if (writer->size + RECORD_BYTES > sizeof(writer->data))
		return false;
	put(writer, !source->family ? 0 : source->family == AF_INET ? 4 : 6, 1);
	put(writer, source->len, 1);
	memcpy(writer->data + writer->size, source->addr, bytes);
	writer->size += bytes;
	for (i = 0; i < writer->budgets; i++)
		put_group(writer, record->admitted[i]);
	return true;
}

static size_t left(const struct fleet_reader *reader)
{
	return reader->end - reader->at;
}

static uint64_t take(struct fleet_reader *reader, unsigned int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | *reader->at++;
	return value;
}

static bool take_group(struct fleet_reader *reader, uint64_t *value)
{
	unsigned int i;
	uint8_t byte;

	*value = 0;
	for (i = 0; i < GROUP_BYTES && reader->at < reader->end; i++) {
		byte = *reader->at++;
		*value |= (uint64_t)(byte & 0x7f) << 7 * i;
		if (!(byte & 0x80))
			return *value <= FLEET_ADMITTED_MAX && (byte || !i);
	}
	return false;
}

static bool take_source(struct fleet_reader *reader, struct weir_prefix *source)
{
	static const struct {
		uint8_t kind, family, most;
	} kinds[] = { { 0, 0, 0 }, { 4, AF_INET, 32 }, { 6, AF_INET6, 128 } };
	unsigned int i, bytes;
	uint8_t kind;

	memset(source, 0, sizeof(*source));
	if (left(reader) < 2)
		return false;
	kind = *reader->at++;
	source->len = *reader->at++;
	bytes = (source->len + 7) / 8;
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].kind == kind)
			break;
	if (i == sizeof(kinds) / sizeof(*kinds) || source->len > kinds[i].most ||
	    left(reader) < bytes)
		return false;
	source->family = kinds[i].family;
	memcpy(source->addr, reader->at, bytes);
	reader->at += bytes;
	return !(source->len % 8) || !(uint8_t)(source->addr[bytes - 1] << source->len % 8);
}

static bool take_record(struct fleet_reader *reader, struct fleet_record *record)
{
	unsigned int i;

	memset(record->admitted, 0, sizeof(record->admitted));
	if (!take_source(reader, &record->source))
		return false;
	for (i = 0; i < reader->head.budgets; i++)
		if (!take_group(reader, &record->admitted[i]))
			return false;
	return true;
}

static bool take_head(struct fleet_reader *reader, struct fleet_head *head)
{
	size_t length;

	if (left(reader) < HEAD_BYTES || take(reader, 1) != FLEET_ANNOUNCE_VERSION)
		return false;
	head->run = take(reader, 8);
	head->number = take(reader, 4);
	head->interval_ms = take(reader, 2);
	head->age_ms = take(reader, 2);
	head->budgets = take(reader, 1);
	length = take(reader, 1);
	if (length >= sizeof(head->host) || left(reader) < length)
		return false;
	memcpy(head->host, reader->at, length);
	head->host[length] = '\0';
	reader->at += length;
	return head->number && head->budgets && head->budgets <= WEIR_BUDGETS_MAX &&
	       head->interval_ms >= FLEET_INTERVAL_MIN_MS &&
	       head->interval_ms <= FLEET_INTERVAL_MAX_MS && strlen(head->host) == length &&
	       fleet_is_host(head->host);
}

int fleet_announce_read(struct fleet_reader *reader, const void *data, size_t size)
{
	struct fleet_record record;
	const uint8_t *first;

	memset(reader, 0, sizeof(*reader));
	reader->at = data;
	reader->end = reader->at + size;
	if (size > FLEET_ANNOUNCE_SIZE || !take_head(reader, &reader->head))
		return -EINVAL;
	first = reader->at;
	while (reader->at < reader->end)
		if (!take_record(reader, &record))
			return -EINVAL;
	reader->at = first;
	return 0;
}

bool fleet_announce_next(struct fleet_reader *reader, struct fleet_record *record)
{
	return reader->at < reader->end && take_record(reader, record);
}
