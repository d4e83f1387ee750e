// SPDX-License-Identifier: GPL-2.0-or-later
/* weir top: the command, and screens as text. */

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <time.h>
#include <unistd.h>

#include "top/top.h"

#define EVERY_MS	1000		/* unless it is given */

/* A size as of top(1) -b: the variable's, or the usual terminal's. */
static unsigned int size_of(const char *variable, unsigned int usual, unsigned int most)
{
	const char *text = getenv(variable);
	unsigned long size = text ? strtoul(text, NULL, 10) : 0;

	return size ? MIN(size, most) : usual;
}

static void print(struct weir_out *out, const struct weir_cells *cells)
{
	unsigned int row, column, width, rows = 0;

	for (row = 0; row < cells->rows; row++)
		for (column = 0; column < cells->columns; column++)
			if (strcmp(cells->cell[row][column].text, " "))
				rows = row + 1;
	for (row = 0; row < rows; row++) {
		for (width = cells->columns; width; width--)
			if (strcmp(cells->cell[row][width - 1].text, " "))
				break;
		for (column = 0; column < width; column++)
			fputs(cells->cell[row][column].text, out->to);
		fputc('\n', out->to);
	}
}

/* Print screens as text, with an empty line between two. */
static int print_screens(struct weir_tool *tool, const struct weir_top *asked)
{
	static struct weir_top_data data[2];
	static struct weir_cells cells;
	struct weir_top_view view = { .asked = *asked };
	struct timespec rest = { asked->every_ms / 1000, asked->every_ms % 1000 * 1000000 };
	unsigned int i;
	int status;

	cells.rows = size_of("LINES", 24, WEIR_TOP_ROWS);
	cells.columns = size_of("COLUMNS", 80, WEIR_TOP_COLUMNS);
	cells.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	for (i = 0; i < asked->count; i++) {
		if (i)
			nanosleep(&rest, NULL);
		status = weir_top_ask(tool, asked, &data[i % 2]);
		if (status)
			return status;
		weir_top_fill(tool, &data[i % 2], &view, &cells);
		weir_top_draw(&data[i % 2], &data[!(i % 2)], &view, &cells);
		if (i)
			fputc('\n', tool->out.to);
		print(&tool->out, &cells);
		if (weir_out_flush(&tool->out))
			break;		/* main reports it */
	}
	return WEIR_EXIT_OK;
}

int weir_top(struct weir_tool *tool, const struct weir_command *command, union weir_model *model)
{
	struct weir_top *asked = &model->top;

	asked->every_ms = asked->every_ms ?: EVERY_MS;
	if (tool->out.json) {
		weir_err_set(&tool->err, "a screen is no JSON: use 'weir -json source show top N'");
		return WEIR_EXIT_WORDS;
	}
	if (asked->count)
		return print_screens(tool, asked);
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		weir_err_set(&tool->err, "this is no terminal: 'weir top count N' prints N screens as text");
		return WEIR_EXIT_WORDS;
	}
#ifdef WEIR_NCURSES
	return weir_top_screen(tool, asked);
#else
	weir_err_set(&tool->err, "this weir was built without ncurses: 'weir top count N' prints N screens as text");
	return WEIR_EXIT_REFUSED;
#endif
}
