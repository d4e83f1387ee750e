/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of several files that are read as one text: which file has a line, and where. */
#ifndef WEIR_PLACE_H
#define WEIR_PLACE_H

#include <stddef.h>

#define WEIR_PLACE_SIZE	256	/* of a line's number and its file in a sentence */

struct weir_places {
	unsigned int file_count, part_count;
	char **files;
	struct weir_part *parts;	/* by their first lines */
};

/* Add a file; returns its index, or -ENOMEM. */
int weir_places_file(struct weir_places *places, const char *name);
/* From line @at of the text on, its lines are those of a file from @line on; 0 or -ENOMEM. */
int weir_places_part(struct weir_places *places, unsigned int at, unsigned int file,
		     unsigned int line);
void weir_places_free(struct weir_places *places);
/* Turn a line of the text into that of a file, and return the file's name; NULL: it is its own. */
const char *weir_places_find(const struct weir_places *places, unsigned int *line);
/* "line 7", or of several files "line 7 of a.conf". */
const char *weir_place_text(const struct weir_places *places, unsigned int line,
			    char buf[WEIR_PLACE_SIZE]);

#endif
