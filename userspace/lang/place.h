/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the lines of a configuration stand, which may come from several files. */
#ifndef WEIR_PLACE_H
#define WEIR_PLACE_H

#define WEIR_PLACE_SIZE	256	/* of a line's number and its file in a sentence */

/* A line, with those that continue it. */
struct weir_place {
	const char *file;
	unsigned int line;
	char *text;
};

struct weir_places {
	unsigned int file_count, count;
	char **files;
	struct weir_place *all;
};

/* Add a file; its name until the places are freed, or NULL: no memory. */
const char *weir_places_file(struct weir_places *places, const char *name);
/* Add a line, with a copy of its text; returns its number, from 1, or 0: no memory. */
unsigned int weir_places_add(struct weir_places *places, const char *file, unsigned int line,
			     const char *text);
void weir_places_free(struct weir_places *places);
/* "line 7", or of several files "line 7 of a.conf". */
const char *weir_place_text(const struct weir_places *places, unsigned int number,
			    char buf[WEIR_PLACE_SIZE]);

#endif
