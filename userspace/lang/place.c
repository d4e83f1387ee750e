// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the lines of a configuration stand, which may come from several files. */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/place.h"

/* Room for one more of @count elements; the arrays have a power of two. */
static void *grow(void *array, unsigned int count, size_t size)
{
	if (count & (count - 1))
		return array;
	return realloc(array, (count ? 2 * count : 1) * size);
}

const char *weir_places_file(struct weir_places *places, const char *name)
{
	char **files = grow(places->files, places->file_count, sizeof(*files));

	if (!files)
		return NULL;
	places->files = files;
	files[places->file_count] = strdup(name);
	return files[places->file_count] ? files[places->file_count++] : NULL;
}

unsigned int weir_places_add(struct weir_places *places, const char *file, unsigned int line,
			     const char *text)
{
	struct weir_place *all = grow(places->all, places->count, sizeof(*all));

	if (!all)
		return 0;
	places->all = all;
	all[places->count] = (struct weir_place){ file, line, strdup(text) };
	return all[places->count].text ? ++places->count : 0;
}

void weir_places_free(struct weir_places *places)
{
	while (places->count)
		free(places->all[--places->count].text);
	while (places->file_count)
		free(places->files[--places->file_count]);
	free(places->files);
	free(places->all);
	*places = (struct weir_places){ 0 };
}

const char *weir_place_text(const struct weir_places *places, unsigned int number,
			    char buf[WEIR_PLACE_SIZE])
{
	const struct weir_place *place = places ? &places->all[number - 1] : NULL;
	bool several = places && places->file_count > 1;

	snprintf(buf, WEIR_PLACE_SIZE, "line %u%s%.200s", place ? place->line : number,
		 several ? " of " : "", several ? place->file : "");
	return buf;
}
