// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A saved state as a file: a prefix, which says that it is one, and records with their type,
 * length and checksum. All numbers are those of the host. The last record counts the others and
 * has a checksum of their headers, so that none can be missing.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "state/state_file.h"

/* No text, and changed by who takes it for one, as the magic of PNG. */
#define MAGIC		"\211WEIR\r\n\032"
#define MAGIC_SIZE	8
#define ORDER		0x01020304
#define OTHER_ORDER	0x04030201

/* The kernel's messages are shorter. */
#define LONGEST_MESSAGE	(1 << 16)

struct prefix {
	char magic[MAGIC_SIZE];
	uint32_t order, version;
};

struct record {
	uint32_t type, length;
	uint32_t crc;		/* of type, length and data */
};

struct end {
	uint64_t records;	/* without this one */
	uint32_t crc;		/* of the prefix and of the headers of these records */
	uint32_t zero;
};

static uint32_t crc_of(uint32_t crc, const void *data, size_t length)
{
	return crc32(crc, data, length);
}

static uint32_t crc_of_record(const struct record *record, const void *data)
{
	return crc_of(crc_of(0, record, offsetof(struct record, crc)), data, record->length);
}

static void put(struct weir_saved_writer *writer, const void *data, size_t size)
{
	if (fwrite(data, 1, size, writer->to) != size && !writer->error)
		writer->error = errno;
}

void weir_saved_begin(struct weir_saved_writer *writer, FILE *to)
{
	struct prefix prefix = { .order = ORDER, .version = WEIR_SAVED_VERSION };

	memcpy(prefix.magic, MAGIC, MAGIC_SIZE);
	*writer = (struct weir_saved_writer){ .to = to,
					      .crc = crc_of(0, &prefix, sizeof(prefix)) };
	put(writer, &prefix, sizeof(prefix));
}

void weir_saved_put(struct weir_saved_writer *writer, enum weir_saved_type type,
		    const void *data, size_t length)
{
	struct record record = { .type = type, .length = length };

	record.crc = crc_of_record(&record, data);
	put(writer, &record, sizeof(record));
	put(writer, data, length);
	writer->crc = crc_of(writer->crc, &record, sizeof(record));
	writer->records++;
}

void weir_saved_end(struct weir_saved_writer *writer)
{
	const struct end end = { .records = writer->records, .crc = writer->crc };

	weir_saved_put(writer, WEIR_SAVED_END, &end, sizeof(end));
}

static int fail(const struct weir_saved_reader *reader, const char *what, struct weir_err *err)
{
	return weir_err_set(err, "%.200s: %s", reader->path, what);
}

static int fail_at(const struct weir_saved_reader *reader, uint64_t at, const char *what,
		   struct weir_err *err)
{
	return weir_err_set(err, "%.200s: %s at offset %" PRIu64, reader->path, what, at);
}

/* The key of the hash is in it: who knows that, or sets it, chooses who loses room. */
static int check_owner(const struct weir_saved_reader *reader, const struct stat *is,
		       struct weir_err *err)
{
	if (is->st_uid && is->st_uid != geteuid())
		return weir_err_set(err, "%.200s: owned by neither root nor the caller, but uid %u",
				    reader->path, (unsigned int)is->st_uid);
	if (!(is->st_mode & 077))
		return 0;
	return weir_err_set(err, "%.200s: others may %s it (mode %03o): it has a secret key; chmod 600 if you trust it still",
			    reader->path, is->st_mode & 022 ? "change" : "read",
			    is->st_mode & 0777);
}

int weir_saved_open(struct weir_saved_reader *reader, const char *path, struct weir_err *err)
{
	/* do not wait for the writer of a pipe */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat is;

	*reader = (struct weir_saved_reader){ .path = path };
	if (fd < 0)
		return weir_err_set(err, "%.200s: cannot open: %s", path, strerror(errno));
	reader->from = fdopen(fd, "r");
	if (!reader->from || fstat(fd, &is)) {
		weir_err_set(err, "%.200s: " WEIR_CANNOT_READ, path, strerror(errno));
		if (!reader->from)
			close(fd);
		return -EINVAL;
	}
	if (!S_ISREG(is.st_mode))
		return fail(reader, S_ISDIR(is.st_mode) ? "a directory" : "no regular file", err);
	reader->size = is.st_size;
	return weir_saved_rewind(reader, err) ?: check_owner(reader, &is, err);
}

void weir_saved_close(struct weir_saved_reader *reader)
{
	if (reader->from)
		fclose(reader->from);
	free(reader->data);
	reader->from = NULL;
	reader->data = NULL;
	reader->room = 0;
}

static int take(struct weir_saved_reader *reader, void *to, size_t size, struct weir_err *err)
{
	size_t got = fread(to, 1, size, reader->from);

	reader->at += got;
	if (got == size)
		return 0;
	if (ferror(reader->from))
		return weir_err_set(err, "%.200s: " WEIR_CANNOT_READ, reader->path,
				    strerror(errno));
	return fail_at(reader, reader->at, "truncated", err);
}

int weir_saved_rewind(struct weir_saved_reader *reader, struct weir_err *err)
{
	struct prefix prefix;

	rewind(reader->from);
	reader->at = 0;
	reader->records = 0;
	if (take(reader, prefix.magic, sizeof(prefix.magic), err))
		return -EINVAL;
	if (memcmp(prefix.magic, MAGIC, MAGIC_SIZE))
		return fail_at(reader, 0, "not what 'weir save -state' writes (for a configuration use -file): no magic number",
			       err);
	if (take(reader, &prefix.order, sizeof(prefix) - sizeof(prefix.magic), err))
		return -EINVAL;
	if (prefix.order != ORDER)
		return fail_at(reader, offsetof(struct prefix, order), prefix.order == OTHER_ORDER ?
			       "saved on a host with another byte order, as said" :
			       "damaged: no byte order", err);
	if (prefix.version != WEIR_SAVED_VERSION)
		return weir_err_set(err, "%.200s: format version %u at offset %zu, but this weir reads only %d",
				    reader->path, prefix.version, offsetof(struct prefix, version),
				    WEIR_SAVED_VERSION);
	reader->crc = crc_of(0, &prefix, sizeof(prefix));
	return 0;
}

static bool may_come(const struct weir_saved_reader *reader, uint32_t type)
{
	if (reader->records < 2)
		return type == reader->records + WEIR_SAVED_HEAD;
	return type == WEIR_SAVED_MESSAGE || type == WEIR_SAVED_END;
}

/* Enlarge the buffer, with a NUL byte behind it. */
static int make_room(struct weir_saved_reader *reader, size_t size, struct weir_err *err)
{
	char *more;

	if (size < reader->room)
		return 0;
	more = realloc(reader->data, size + 1);
	if (!more)
		return weir_err_set(err, WEIR_NO_MEMORY);
	reader->data = more;
	reader->room = size + 1;
	return 0;
}

static int take_head(struct weir_saved_reader *reader, struct weir_err *err)
{
	struct weir_saved_head *head = &reader->head;

	if (reader->length != sizeof(*head))
		return fail_at(reader, reader->offset, "a head of another length", err);
	memcpy(head, reader->data, sizeof(*head));
	if (head->boot_id[sizeof(head->boot_id) - 1] || !head->tick_ns)
		return fail_at(reader, reader->offset, "an invalid head", err);
	return 0;
}

static int check_end(struct weir_saved_reader *reader, struct weir_err *err)
{
	struct end end;

	if (reader->length != sizeof(end))
		return fail_at(reader, reader->offset, "an end of another length", err);
	memcpy(&end, reader->data, sizeof(end));
	if (end.records != reader->records || end.crc != reader->crc)
		return fail_at(reader, reader->offset,
			       "records are missing, or were added, before the end", err);
	if (fgetc(reader->from) != EOF)
		return fail_at(reader, reader->at, "more data behind the end", err);
	return 0;
}

static int check_record(struct weir_saved_reader *reader, struct weir_err *err)
{
	switch (reader->type) {
	case WEIR_SAVED_HEAD:
		return take_head(reader, err);
	case WEIR_SAVED_CONFIG:
		if (!reader->length || memchr(reader->data, '\0', reader->length))
			return fail_at(reader, reader->offset, "a configuration that is no text",
				       err);
		return 0;
	case WEIR_SAVED_MESSAGE:
		return 0;
	default:
		return check_end(reader, err);
	}
}

int weir_saved_next(struct weir_saved_reader *reader, struct weir_err *err)
{
	struct record record;

	reader->offset = reader->at;
	if (take(reader, &record, sizeof(record), err))
		return -EINVAL;
	if (!may_come(reader, record.type))
		return fail_at(reader, reader->offset, "damaged: a record of another type than expected",
			       err);
	/* a damaged length must not take all memory */
	if (record.length > reader->size - reader->at)
		return fail_at(reader, reader->size, "truncated", err);
	if (record.type == WEIR_SAVED_MESSAGE && record.length > LONGEST_MESSAGE)
		return fail_at(reader, reader->offset, "damaged: a record that is too long", err);
	if (make_room(reader, record.length, err) ||
	    take(reader, reader->data, record.length, err))
		return -EINVAL;
	reader->data[record.length] = '\0';
	if (crc_of_record(&record, reader->data) != record.crc)
		return fail_at(reader, reader->offset,
			       "damaged: the checksum does not match that of the record", err);
	reader->type = record.type;
	reader->length = record.length;
	if (check_record(reader, err))
		return -EINVAL;
	reader->crc = crc_of(reader->crc, &record, sizeof(record));
	reader->records++;
	return record.type != WEIR_SAVED_END;
}
