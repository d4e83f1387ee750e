/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The messages of a saved state: those of state-get, as they came. */
#ifndef WEIR_STATE_MESSAGE_H
#define WEIR_STATE_MESSAGE_H

#include <stddef.h>

#include "model.h"

/* What the tool has to know of a message, of which these are parts. */
struct weir_saved_message {
	const char *limit;
	void *clock_ns;			/* a uint64_t, maybe unaligned */
	const uint8_t *hash_key;	/* of WEIR_HASH_KEY_SIZE bytes, or NULL */
	unsigned int sources, floors;
	const void *attrs;		/* all its attributes */
	size_t attrs_len;
};

/* Find them; false: it is no message of state-get. */
bool weir_saved_message(void *data, size_t length, struct weir_saved_message *message);

/* How the counts of the first budget are to be read. */
struct weir_saved_clock {
	uint64_t has;
	uint64_t slot_ns, phase_ns;	/* phase: how long the current slot has lasted */
	uint32_t slots, unit, mode, width;	/* width: bytes of a number */
};

/* A source: its address, what it was admitted by the first budget, and its drops. */
struct weir_saved_source {
	struct weir_prefix prefix;	/* family 0: all sources */
	const void *numbers;
	unsigned int bytes;		/* of the numbers */
	uint32_t dropped;
	void *blocked_ns;		/* for how long: a uint64_t, maybe unaligned; or NULL */
};

/* False: they are not there. */
bool weir_saved_clock(const struct weir_saved_message *message, struct weir_saved_clock *clock);
/* Call a function for each source, until it returns nonzero, which is the result. */
int weir_saved_sources(const struct weir_saved_message *message,
		       int (*source)(const struct weir_saved_source *source, void *data),
		       void *data);

#endif
