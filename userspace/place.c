// SPDX-License-Identifier: GPL-2.0-or-later
/* Lines of several files that are read as one text: which file has a line, and where. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "place.h"

/* Lines of the text that follow each other in a file, too. */
struct weir_part {
	unsigned int at;	/* the first, in the text */
	unsigned int file, line;
};

/* Room for one more of @count elements; the arrays have a power of two. */
static void *grow(void *array, unsigned int count, size_t size)
{
	if (count & (count - 1))
		return array;
	return realloc(array, (count ? 2 * count : 1) * size);
}

int weir_places_file(struct weir_places *places, const char *name)
{
	char **files = grow(places->files, places->file_count, sizeof(*files));

	if (!files)
		return -ENOMEM;
	places->files = files;
	files[places->file_count] = strdup(name);
	return files[places->file_count] ? (int)places->file_count++ : -ENOMEM;
}

int weir_places_part(struct weir_places *places, unsigned int at, unsigned int file,
		     unsigned int line)
{
	struct weir_part *parts = grow(places->parts, places->part_count, sizeof(*parts));

	if (!parts)
		return -ENOMEM;
	places->parts = parts;
	parts[places->part_count++] = (struct weir_part){ at, file, line };
	return 0;
}

void weir_places_free(struct weir_places *places)
{
	while (places->file_count)
		free(places->files[--places->file_count]);
	free(places->files);
	free(places->parts);
	*places = (struct weir_places){ 0 };
}

const char *weir_places_find(const struct weir_places *places, unsigned int *line)
{
	unsigned int low = 0, high = places ? places->part_count : 0, middle;
	const struct weir_part *part;

	if (!high)
		return NULL;
	/* the last part that begins on this line or before it */
	while (high - low > 1) {
		middle = (low + high) / 2;
		if (places->parts[middle].at <= *line)
			low = middle;
		else
			high = middle;
	}
	part = &places->parts[low];
	*line = part->line + (*line - part->at);
	return places->files[part->file];
}

const char *weir_place_text(const struct weir_places *places, unsigned int line,
			    char buf[WEIR_PLACE_SIZE])
{
	const char *file = weir_places_find(places, &line);

	snprintf(buf, WEIR_PLACE_SIZE, "line %u%s%.200s", line, file ? " of " : "",
		 file ? file : "");
	return buf;
}
