// SPDX-License-Identifier: GPL-2.0-or-later
/* weir top: from what the kernel answered to a screen of cells. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "show/show.h"
#include "top/top.h"

#define BAR		16	/* columns of a bar with its percentage */
#define FULL		80	/* percent from which a bar warns */
#define FOOT		2	/* rows at the bottom of a terminal */
#define LIMITS_ROW	1	/* behind the head */

/* The columns, of which the first two grow with the screen. */
enum { SOURCE = 16, LIMIT = 8, RATE = 7, COUNT = 9, DROPPED = 6, STATE = 12 };

#define NARROW		80	/* what they take with the window */
#define SOURCE_MOST	43	/* an IPv6 prefix */

/* Write text into a row from @column on, at most @width columns; "~" says that it goes on. */
static void put(struct weir_cells *cells, unsigned int row, unsigned int column,
		unsigned int width, unsigned int style, const char *text)
{
	unsigned int end = MIN(column + width, cells->columns);
	struct weir_cell *cell;
	int len;

	for (; row < cells->rows && *text && column < end; text += len ? len : 1, column++) {
		cell = &cells->cell[row][column];
		len = weir_out_safe(text);
		cell->style = style;
		if (column + 1 == end && text[len ? len : 1])
			strcpy(cell->text, "~");
		else if (!len || (len > 1 && !cells->utf8))
			strcpy(cell->text, "?");
		else
			snprintf(cell->text, sizeof(cell->text), "%.*s", len, text);
	}
}

static WEIR_PRINTF(6) void put_format(struct weir_cells *cells, unsigned int row,
				      unsigned int column, unsigned int width, unsigned int style,
				      const char *fmt, ...)
{
	char text[WEIR_TEXT_SIZE];

	WEIR_FORMAT(text, fmt);
	put(cells, row, column, width, style, text);
}

static void put_right(struct weir_cells *cells, unsigned int row, unsigned int column,
		      unsigned int width, unsigned int style, const char *text)
{
	unsigned int len = strlen(text);

	put(cells, row, column + (len < width ? width - len : 0), width, style, text);
}

/* Give a whole row the style. */
static void mark_row(struct weir_cells *cells, unsigned int row, unsigned int style)
{
	unsigned int column;

	for (column = 0; row < cells->rows && column < cells->columns; column++)
		cells->cell[row][column].style |= style;
}

/* [||||||    ] 45%; "!" in front of the percentage where there is pressure. */
static void put_bar(struct weir_cells *cells, unsigned int row, unsigned int column,
		    double part, bool pressure)
{
	unsigned int percent = MIN(part, 9.99) * 100 + 0.5, room = BAR - 7, i;
	unsigned int filled = MIN(percent, 100) * room / 100;
	unsigned int style = pressure ? WEIR_STYLE_BAD : percent >= FULL ? WEIR_STYLE_WARN :
			     WEIR_STYLE_GOOD;
	char bar[BAR];

	for (i = 0; i < room; i++)
		bar[i] = i < filled || (!i && percent) ? '|' : ' ';
	bar[i] = '\0';
	put(cells, row, column, 1, WEIR_STYLE_PLAIN, "[");
	put(cells, row, column + 1, room, style, bar);
	put(cells, row, column + 1 + room, 1, WEIR_STYLE_PLAIN, "]");
	put_format(cells, row, column + 2 + room, 5, style, "%s%*u%%", pressure ? "!" : "",
		   pressure ? 3 : 4, percent);
}

/* What came in a second since the last screen, as text; "" without one. */
static const char *since(uint64_t now, uint64_t before, double seconds, char buf[WEIR_TEXT_SIZE])
{
	char *end;

	if (seconds <= 0)
		return "";
	weir_text_amount(weir_since(before, now) / seconds + 0.5, 3, buf);
	end = buf + strlen(buf);
	strcpy(end, "/s");
	return buf;
}

static const struct weir_limit *find_limit(const struct weir_top_data *data, const char *name)
{
	unsigned int i;

	for (i = 0; i < data->limits.limit_count; i++)
		if (!strcmp(data->limits.limits[i].name, name))
			return &data->limits.limits[i];
	return NULL;
}

/* The largest part of a budget that a source has used. */
static double part_used(const struct weir_source *source)
{
	const struct weir_source_budget *is = source->budgets;
	double part = 0;

	for (; is < source->budgets + source->budget_count; is++)
		if (is->budget)
			part = MAX(part, (double)is->count / is->budget);
	return part;
}

static bool is_bucket(const struct weir_limit *limit)
{
	return limit->budgets[0].mode == WEIR_MODE_BUCKET;
}

double weir_top_rate(const struct weir_top_data *data, const struct weir_source *source)
{
	const struct weir_limit *limit = find_limit(data, source->limit);
	const struct weir_source_budget *first = &source->budgets[0];
	const struct weir_amount *budget = limit ? &limit->budgets[0].amount : NULL;

	if (!budget || !budget->window_ms || !first->budget)
		return 0;
	/* A full bucket leaks at its rate. */
	return first->count * 1000.0 / budget->window_ms *
	       (is_bucket(limit) ? (double)budget->count / first->budget : 1);
}

struct ranked {
	struct weir_source source;
	double value;
};

static double rank(const struct weir_top_data *data, const struct weir_source *source, uint32_t by)
{
	if (by == WEIR_BY_RATE)
		return weir_top_rate(data, source);
	return by == WEIR_BY_COUNT ? source->budgets[0].count :
	       source->dropped + source->would_drop;
}

/* Equal ones by their names, or they would change places with every screen. */
static int compare(const void *a, const void *b)
{
	const struct ranked *one = a, *two = b;

	if (one->value != two->value)
		return one->value < two->value ? 1 : -1;
	return strcmp(one->source.limit, two->source.limit) ?:
	       memcmp(&one->source.prefix, &two->source.prefix, sizeof(one->source.prefix));
}

void weir_top_sort(struct weir_top_data *data, uint32_t by)
{
	static struct ranked ranked[WEIR_TOP_SOURCES];
	unsigned int i;

	for (i = 0; i < data->count; i++) {
		ranked[i].source = data->sources[i];
		ranked[i].value = rank(data, &data->sources[i], by);
	}
	qsort(ranked, data->count, sizeof(*ranked), compare);
	for (i = 0; i < data->count; i++)
		data->sources[i] = ranked[i].source;
}

void weir_top_follow(struct weir_top_view *view, const struct weir_top_data *before,
		     const struct weir_top_data *now)
{
	const struct weir_source *was = &before->sources[view->chosen], *is = now->sources;
	unsigned int i;

	for (i = 0; view->chosen < before->count && i < now->count; i++, is++)
		if (!strcmp(is->limit, was->limit) && !strcmp(is->dev, was->dev) &&
		    !memcmp(&is->prefix, &was->prefix, sizeof(is->prefix))) {
			view->chosen = i;
			return;
		}
	view->chosen = now->count ? MIN(view->chosen, now->count - 1) : 0;
}

static void draw_head(const struct weir_top_data *now, const struct weir_top_data *before,
		      const struct weir_top_view *view, double seconds, struct weir_cells *cells)
{
	char prefix[WEIR_TEXT_SIZE] = "", rate[WEIR_TEXT_SIZE];
	const struct weir_top *asked = &view->asked;

	if (asked->prefix.family) {
		strcpy(prefix, "  in ");
		weir_text_prefix(NULL, &asked->prefix, prefix + strlen(prefix));
	}
	put_format(cells, 0, 0, cells->columns, WEIR_STYLE_PLAIN,
		   "weir top  limits %u  dropped %" PRIu64 " %s  by %s%s%s%s%s",
		   now->stats.limits, now->stats.dropped,
		   since(now->stats.dropped, before->stats.dropped, seconds, rate),
		   weir_order_names[asked->by], *asked->limit ? "  limit " : "", asked->limit,
		   prefix, view->paused ? "  PAUSED" : "");
}

/* What found no room in the table, so far. */
static uint64_t found_no_room(const struct weir_limit_stats *stats)
{
	return stats->evictions + stats->floor_refused.packets + stats->blocks_lost;
}

static void draw_limit(const struct weir_top_data *now, const struct weir_top_data *before,
		       const struct weir_limit *limit, double seconds, struct weir_cells *cells,
		       unsigned int row, unsigned int width)
{
	const struct weir_limit *was = find_limit(before, limit->name);
	const struct weir_limit_stats *stats = &limit->stats;
	unsigned int at = width + 1, i;
	uint64_t drops = stats->dropped.packets + stats->would_drop.packets;
	char buf[WEIR_TEXT_SIZE];
	bool limited = false;
	double most = 0;

	for (i = 0; i < now->count; i++) {
		if (strcmp(now->sources[i].limit, limit->name))
			continue;
		most = MAX(most, part_used(&now->sources[i]));
		limited |= now->sources[i].limited;
	}
	put(cells, row, 0, width, WEIR_STYLE_NAME, limit->name);
	put_bar(cells, row, at, limit->blocks_only ?
		(double)stats->blocked_now / limit->blocks_only :
		limit->entries ? (double)stats->sources_now / limit->entries : 0,
		was ? found_no_room(stats) != found_no_room(&was->stats) :
		      stats->sources_wanted || stats->blocks_lost);
	put_bar(cells, row, at += BAR + 1, most, limited);
	at += BAR + 1;
	if (limit->newcomers.count)
		put_bar(cells, row, at, (double)stats->newcomers_now / limit->newcomers.count,
			stats->newcomers_now >= limit->newcomers.count);
	/* Those of all time, until there is another screen to compare with */
	put_right(cells, row, at += BAR + 1, 9, WEIR_STYLE_PLAIN,
		  seconds <= 0 ? weir_text_amount(drops, 3, buf) :
		  since(drops, was ? was->stats.dropped.packets + was->stats.would_drop.packets :
			drops, seconds, buf));
	put_right(cells, row, at + 10, 7, stats->limited_now ? WEIR_STYLE_BAD : WEIR_STYLE_PLAIN,
		  weir_text_amount(stats->limited_now, 3, buf));
}

static bool wants_limit(const struct weir_top_view *view, const struct weir_limit *limit)
{
	return !*view->asked.limit || !strcmp(view->asked.limit, limit->name);
}

/* As many limits are drawn as leave half of the screen. */
static unsigned int limits_room(const struct weir_cells *cells)
{
	return MAX(cells->rows, 8) / 2 - 2;
}

/* The row behind those of the limits, with their head and how many more there are. */
static unsigned int limits_end(const struct weir_top_data *now, const struct weir_top_view *view,
			       const struct weir_cells *cells)
{
	unsigned int room = limits_room(cells), count = 0, i;

	for (i = 0; i < now->limits.limit_count; i++)
		count += wants_limit(view, &now->limits.limits[i]);
	return LIMITS_ROW + 1 + (count > room ? room + 1 : count);
}

static void draw_limits(const struct weir_top_data *now, const struct weir_top_data *before,
			const struct weir_top_view *view, double seconds,
			struct weir_cells *cells)
{
	unsigned int width = LIMIT + 3 + MIN(MAX(cells->columns, NARROW) - NARROW, 20);
	unsigned int row = LIMITS_ROW, at = width + 1, shown = 0, more = 0, i;
	const struct weir_limit *limit;

	put(cells, row, 0, width, WEIR_STYLE_PLAIN, "LIMIT");
	put(cells, row, at, BAR, WEIR_STYLE_PLAIN, "TABLE");
	put(cells, row, at += BAR + 1, BAR, WEIR_STYLE_PLAIN, "FULLEST BUDGET");
	put(cells, row, at += BAR + 1, BAR, WEIR_STYLE_PLAIN, "NEWCOMERS");
	put_right(cells, row, at += BAR + 1, 9, WEIR_STYLE_PLAIN, "DROPS");
	put_right(cells, row, at + 10, 7, WEIR_STYLE_PLAIN, "LIMITED");
	mark_row(cells, row++, WEIR_STYLE_REVERSE);
	for (i = 0; i < now->limits.limit_count; i++) {
		limit = &now->limits.limits[i];
		if (!wants_limit(view, limit))
			continue;
		if (shown++ < limits_room(cells))
			draw_limit(now, before, limit, seconds, cells, row++, width);
		else
			more++;
	}
	if (more)
		put_format(cells, row, 0, cells->columns, WEIR_STYLE_PLAIN,
			   "and %u more limits", more);
}

static void draw_source(const struct weir_top_data *now, const struct weir_source *source,
			struct weir_cells *cells, unsigned int row, unsigned int width,
			unsigned int limit_width)
{
	const struct weir_source_budget *first = &source->budgets[0];
	const struct weir_limit *limit = find_limit(now, source->limit);
	char text[WEIR_TEXT_SIZE], buf[WEIR_TEXT_SIZE], spark[WEIR_SPARK_SIZE];
	unsigned int at = width + 1;

	weir_text_prefix(NULL, &source->prefix, text);
	put_format(cells, row, 0, width, WEIR_STYLE_ADDRESS, "%s%s%s",
		   source->prefix.family ? text : "all", *source->dev ? "%" : "", source->dev);
	put(cells, row, at, limit_width, WEIR_STYLE_NAME, source->limit);
	at += limit_width + 1;
	if (limit && limit->budgets[0].amount.window_ms && !is_bucket(limit))
		put_right(cells, row, at, RATE, WEIR_STYLE_PLAIN,
			  weir_text_rate(first->count, limit->budgets[0].amount.window_ms, text));
	at += RATE + 1;
	put_right(cells, row, at, COUNT, WEIR_STYLE_PLAIN, weir_row_count(source, text));
	put_right(cells, row, at += COUNT + 1, DROPPED, WEIR_STYLE_PLAIN,
		  weir_text_amount(source->dropped + source->would_drop, 3, buf));
	put(cells, row, at += DROPPED + 1, STATE, source->action != WEIR_ACTION_OBSERVE &&
	    (source->blocked || source->limited) ? WEIR_STYLE_BAD :
	    source->limited ? WEIR_STYLE_WARN : WEIR_STYLE_PLAIN, weir_row_state(source, text));
	weir_show_spark(first, spark);
	put(cells, row, at + STATE + 1, WEIR_WHEEL_MAX, WEIR_STYLE_PLAIN, spark);
}

/* Room for @rows sources: scroll so far that the chosen one is among them. */
static void scroll(struct weir_top_view *view, unsigned int count, unsigned int rows)
{
	if (!rows || !view->keys)
		return;
	view->first = MIN(view->first, view->chosen);
	if (view->chosen >= view->first + rows)
		view->first = view->chosen - rows + 1;
	view->first = MIN(view->first, count > rows ? count - rows : 0);
}

/* The row behind those of the sources. */
static unsigned int sources_end(const struct weir_top_view *view, const struct weir_cells *cells)
{
	return cells->rows > FOOT && view->keys ? cells->rows - FOOT : cells->rows;
}

unsigned int weir_top_visible(const struct weir_top_data *now, struct weir_top_view *view,
			      const struct weir_cells *cells)
{
	unsigned int row = limits_end(now, view, cells) + 1, end = sources_end(view, cells);
	unsigned int rows = end > row ? end - row : 0;

	if (view->help || view->opened)
		return 0;
	scroll(view, now->count, rows);
	return view->first < now->count ? MIN(rows, now->count - view->first) : 0;
}

static void draw_sources(const struct weir_top_data *now, struct weir_top_view *view,
			 struct weir_cells *cells)
{
	unsigned int row = limits_end(now, view, cells), i;
	unsigned int count = weir_top_visible(now, view, cells);
	unsigned int spare = MAX(cells->columns, NARROW) - NARROW, width, limit_width, at;

	width = SOURCE + MIN(spare, SOURCE_MOST - SOURCE);
	limit_width = LIMIT + MIN(spare - (width - SOURCE), WEIR_NAME_SIZE);
	at = width + 1 + limit_width + 1;
	put(cells, row, 0, width, WEIR_STYLE_PLAIN, "SOURCE");
	put(cells, row, width + 1, limit_width, WEIR_STYLE_PLAIN, "LIMIT");
	put_right(cells, row, at, RATE, WEIR_STYLE_PLAIN, "RATE");
	put_right(cells, row, at += RATE + 1, COUNT, WEIR_STYLE_PLAIN, "COUNT");
	put_right(cells, row, at += COUNT + 1, DROPPED, WEIR_STYLE_PLAIN, "DROPS");
	put(cells, row, at += DROPPED + 1, STATE, WEIR_STYLE_PLAIN, "STATE");
	put(cells, row, at + STATE + 1, WEIR_WHEEL_MAX, WEIR_STYLE_PLAIN, "WINDOW");
	mark_row(cells, row++, WEIR_STYLE_REVERSE);
	for (i = view->first; i < view->first + count; i++, row++) {
		draw_source(now, &now->sources[i], cells, row, width, limit_width);
		if (view->keys && i == view->chosen)
			mark_row(cells, row, WEIR_STYLE_REVERSE);
	}
	if (!now->count)
		put(cells, row, 0, cells->columns, WEIR_STYLE_PLAIN, "no sources");
}

static const char help[] =
	"Up, Down, PgUp, PgDn, Home, End   choose a source\n"
	"Enter   open it: each limit that meets it, until when, its slots; Esc: back\n"
	"e       exempt it from the limit\n"
	"b       block it under the limit\n"
	"r       release it\n"
	"f       forget it: its counts, drops and block\n"
	"s       sort by drops, counts or rates\n"
	"/       show only the sources that overlap a prefix\n"
	"l       show only one limit\n"
	"p       pause, and go on\n"
	"q       quit\n"
	"\n"
	"TABLE: used part of the table; ! and red: it is too small for its sources.\n"
	"FULLEST BUDGET: of the sources that are shown; ! and red: one is limited.\n"
	"NEWCOMERS: used part of their budget; ! and red: all of it.\n"
	"RATE and WINDOW are of the first budget, COUNT of the fullest, as 2:5/9.\n";

/* Text of several lines, between two rows. */
static void draw_lines(struct weir_cells *cells, unsigned int row, unsigned int end,
		       const char *text, unsigned int skip)
{
	char line[WEIR_TOP_COLUMNS * 4 + 1];
	size_t len;

	for (; *text && row < end; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		if (skip) {
			skip--;
			continue;
		}
		snprintf(line, sizeof(line), "%.*s", (int)len, text);
		put(cells, row++, 0, cells->columns, WEIR_STYLE_PLAIN, line);
	}
}

#define KEYS	"e exempt  b block  r release  f forget"

static void draw_foot(const struct weir_top_data *now, const struct weir_top_view *view,
		      struct weir_cells *cells)
{
	const struct weir_source *source = &now->sources[view->chosen];
	unsigned int row = cells->rows - FOOT;
	char buf[WEIR_TEXT_SIZE];

	if (*view->message)
		put(cells, row, 0, cells->columns, WEIR_STYLE_WARN, view->message);
	else if (view->chosen < now->count && !view->opened)
		put_format(cells, row, 0, cells->columns, WEIR_STYLE_PLAIN, "%s%s%s limit %s",
			   weir_text_prefix(NULL, &source->prefix, buf), *source->dev ? " dev " : "",
			   source->dev, source->limit);
	row++;
	if (*view->question)
		put_format(cells, row, 0, cells->columns, WEIR_STYLE_WARN, "%s %s_",
			   view->question, view->entry);
	else
		put(cells, row, 0, cells->columns, WEIR_STYLE_PLAIN,
		    view->help || view->opened ? "Esc back  " KEYS "  q quit" :
		    "Enter open  " KEYS "  s sort  / filter  ? help  q");
}

void weir_top_draw(const struct weir_top_data *now, const struct weir_top_data *before,
		   struct weir_top_view *view, struct weir_cells *cells)
{
	unsigned int row, column, end = sources_end(view, cells);
	double seconds = 0;

	if (before->ns && now->ns > before->ns)
		seconds = (double)(now->ns - before->ns) / WEIR_NS_PER_S;
	for (row = 0; row < cells->rows; row++)
		for (column = 0; column < cells->columns; column++)
			cells->cell[row][column] = (struct weir_cell){ " ", WEIR_STYLE_PLAIN };
	draw_head(now, before, view, seconds, cells);
	if (view->help || view->opened) {
		draw_lines(cells, 2, end, view->help ? help : view->opened,
			   view->help ? 0 : view->scrolled);
	} else {
		draw_limits(now, before, view, seconds, cells);
		draw_sources(now, view, cells);
	}
	if (end < cells->rows)
		draw_foot(now, view, cells);
}
