/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A saved state as a file. design.rst, Saved states, describes the format. */
#ifndef WEIR_STATE_FILE_H
#define WEIR_STATE_FILE_H

#include "err.h"
#include "model.h"

#define WEIR_SAVED_VERSION	2

enum weir_saved_type {
	WEIR_SAVED_HEAD = 1,
	WEIR_SAVED_CONFIG,
	WEIR_SAVED_MESSAGE,
	WEIR_SAVED_END,
};

#define WEIR_BOOT_ID_SIZE	40

/* When and where it was saved. */
struct weir_saved_head {
	char boot_id[WEIR_BOOT_ID_SIZE];	/* of the kernel, padded with NUL bytes */
	uint64_t wall_ns;			/* since 1970 UTC */
	uint64_t boot_ns;			/* CLOCK_BOOTTIME */
	uint64_t clock_ns, tick_ns;		/* of the module */
	uint8_t hash_key[WEIR_HASH_KEY_SIZE];	/* all zero if there were no counts */
};

/* Private but for the error. */
struct weir_saved_writer {
	FILE *to;
	int error;		/* of the first failed write: an errno, or 0 */
	uint64_t records;
	uint32_t crc;		/* of what precedes the records, and of their headers */
};

/* Write the beginning, a record, and the end. */
void weir_saved_begin(struct weir_saved_writer *writer, FILE *to);
void weir_saved_put(struct weir_saved_writer *writer, enum weir_saved_type type,
		    const void *data, size_t length);
void weir_saved_end(struct weir_saved_writer *writer);

struct weir_saved_reader {
	FILE *from;
	const char *path;
	struct weir_saved_head head;	/* once it has been read */
	/* the present record */
	enum weir_saved_type type;
	uint32_t length;
	char *data;			/* and a NUL byte; aligned for any type */
	/* private */
	uint64_t at, offset, size;	/* of the next byte, of the record, and of the file's end */
	uint64_t records;
	uint32_t crc;
	size_t room;
};

/*
 * Open a file that nobody else can read or write; -EINVAL with a sentence, which names the path.
 * Close it even then.
 */
int weir_saved_open(struct weir_saved_reader *reader, const char *path, struct weir_err *err);
/* Read from the start, again. */
int weir_saved_rewind(struct weir_saved_reader *reader, struct weir_err *err);
/*
 * Read a record and check it: 1, 0 at the end, or -EINVAL with a sentence and the offset of what
 * is wrong. The head comes first, then the configuration, then the messages.
 */
int weir_saved_next(struct weir_saved_reader *reader, struct weir_err *err);
void weir_saved_close(struct weir_saved_reader *reader);

#endif
