/* SPDX-License-Identifier: GPL-2.0-or-later */
/* weir top: what a screen shows, and the screen as cells, which a terminal or text has. */
#ifndef WEIR_TOP_H
#define WEIR_TOP_H

#include "tool/request.h"

#define WEIR_TOP_SOURCES	100
#define WEIR_TOP_ROWS		200
#define WEIR_TOP_COLUMNS	400
#define WEIR_TOP_LINE		160	/* a question, a message */

/* What the kernel answered. */
struct weir_top_data {
	uint64_t ns;			/* monotonic; 0: nothing yet */
	struct weir_stats stats;
	struct weir_config limits;	/* with their counters */
	unsigned int count;
	struct weir_source sources[WEIR_TOP_SOURCES];	/* in order */
	bool filled[WEIR_TOP_SOURCES];	/* their slots were asked for */
};

/* What the user does with it. */
struct weir_top_view {
	struct weir_top asked;
	bool keys;			/* a terminal: a source is chosen, keys are listed */
	bool paused, help;
	unsigned int chosen, first;	/* index of the chosen source; of the first shown one */
	const char *opened;		/* what is said of one source, in lines; or NULL */
	unsigned int scrolled;		/* lines of it */
	char question[WEIR_TOP_LINE];	/* or "" */
	char entry[64];			/* the answer so far */
	char message[WEIR_TOP_LINE];	/* or "" */
};

enum weir_style {
	WEIR_STYLE_PLAIN, WEIR_STYLE_NAME, WEIR_STYLE_ADDRESS, WEIR_STYLE_BAD, WEIR_STYLE_WARN,
	WEIR_STYLE_GOOD, WEIR_STYLES,
	WEIR_STYLE_REVERSE = 1 << 4	/* with any of these */
};

struct weir_cell {
	char text[5];			/* a character */
	uint8_t style;
};

struct weir_cells {
	unsigned int rows, columns;	/* at most WEIR_TOP_ROWS and _COLUMNS */
	bool utf8;			/* else only ASCII is drawn */
	struct weir_cell cell[WEIR_TOP_ROWS][WEIR_TOP_COLUMNS];
};

/* top.c: draw a screen; @before: the last one's data, for what came since. Pure. */
void weir_top_draw(const struct weir_top_data *now, const struct weir_top_data *before,
		   struct weir_top_view *view, struct weir_cells *cells);
/* How many sources the screen shows, from view->first on, which follows the chosen one. */
unsigned int weir_top_visible(const struct weir_top_data *now, struct weir_top_view *view,
			      const struct weir_cells *cells);
/* A source's packets or bytes a second in the first budget's window; 0: it has none. */
double weir_top_rate(const struct weir_top_data *data, const struct weir_source *source);
/* Sort the sources, the first in the order that is asked for. */
void weir_top_sort(struct weir_top_data *data, uint32_t by);
/* Choose the source that was chosen among @before, where it is now. */
void weir_top_follow(struct weir_top_view *view, const struct weir_top_data *before,
		     const struct weir_top_data *now);

/*
 * top_data.c: ask the kernel; an enum weir_exit with a sentence. WEIR_EXIT_REFUSED: the limit that
 * is asked for does not exist.
 */
int weir_top_ask(struct weir_tool *tool, const struct weir_top *asked, struct weir_top_data *data);
/* Ask for the slots of the sources that the screen shows. */
void weir_top_fill(struct weir_tool *tool, struct weir_top_data *data, struct weir_top_view *view,
		   const struct weir_cells *cells);
/* Run a command; what it prints is in *@text, which the caller frees. */
int weir_top_say(struct weir_tool *tool, char **words, int count, char **text);

/* top_run.c */
weir_run weir_top;
/* screen.c: show it on the terminal until the user quits. */
int weir_top_screen(struct weir_tool *tool, const struct weir_top *asked);

#endif
