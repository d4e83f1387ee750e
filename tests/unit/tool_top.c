// SPDX-License-Identifier: GPL-2.0-or-later
/* The screens of weir top as rows of text, for data that are given. */
#include <locale.h>
#include <sys/socket.h>

#include "top/top.h"
#include "unit.h"

static struct weir_top_data now, before;
static struct weir_top_view view;
static struct weir_cells cells;

static struct weir_source *add_source(const char *limit, uint8_t host, uint64_t count,
				      uint64_t dropped)
{
	struct weir_source *source = &now.sources[now.count++];

	*source = (struct weir_source){
		.prefix = { AF_INET, 32, { 192, 0, 2, host } }, .dropped = dropped,
		.budget_count = 1, .budgets = { { .count = count, .budget = 100 } },
	};
	strcpy(source->limit, limit);
	return source;
}

static struct weir_limit *add_limit(const char *name, uint32_t window_ms)
{
	struct weir_limit *limit = &now.limits.limits[now.limits.limit_count++];

	*limit = (struct weir_limit){
		.budget_count = 1, .entries = 1000, .budgets = { { .amount = { 100, window_ms } } },
	};
	strcpy(limit->name, name);
	return limit;
}

static void begin(void)
{
	memset(&now, 0, sizeof(now));
	memset(&before, 0, sizeof(before));
	view = (struct weir_top_view){ .keys = true };
	cells.rows = 24;
	cells.columns = 80;
	cells.utf8 = false;
	now.ns = 3000000000;
}

/* A row without the blanks at its end. */
static const char *row_text(unsigned int row)
{
	static char text[WEIR_TOP_COLUMNS * 4 + 1];
	unsigned int column;
	size_t len = 0;

	for (column = 0; column < cells.columns; column++)
		len += sprintf(text + len, "%s", cells.cell[row][column].text);
	while (len && text[len - 1] == ' ')
		len--;
	text[len] = '\0';
	return text;
}

static void row_is(unsigned int row, const char *expected)
{
	check(!strcmp(row_text(row), expected), "row %u:\n%s| instead of\n%s|", row,
	      row_text(row), expected);
}

static void draw(void)
{
	weir_top_draw(&now, &before, &view, &cells);
}

/* Parts of a table at and around the ends of what a bar shows. */
static void test_bars(void **state)
{
	static const struct {
		uint64_t sources;
		const char *row;
	} rows[] = {
		{ 0,	"web         [         ]   0%" }, { 4, "web         [         ]   0%" },
		{ 10,	"web         [|        ]   1%" }, { 500, "web         [||||     ]  50%" },
		{ 999,	"web         [|||||||||] 100%" }, { 1000, "web         [|||||||||] 100%" },
		{ 5000,	"web         [|||||||||] 500%" },
		{ UINT64_MAX, "web         [|||||||||] 999%" },
	};
	struct weir_limit *limit;
	unsigned int i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin();
		limit = add_limit("web", 1000);
		limit->stats.sources_now = rows[i].sources;
		draw();
		check(!strncmp(row_text(2), rows[i].row, strlen(rows[i].row)), "%s instead of %s",
		      row_text(2), rows[i].row);
	}
	limit->stats.sources_wanted = 2048;
	draw();
	check(strstr(row_text(2), "!999%"), "pressure is not told without colours: %s", row_text(2));
	check(cells.cell[2][14].style == WEIR_STYLE_BAD, "pressure has no colour");
	before = now;
	draw();
	check(!strstr(row_text(2), "!999%"), "pressure that is over is told: %s", row_text(2));
	limit->stats.evictions++;
	draw();
	check(strstr(row_text(2), "!999%"), "pressure that goes on is not told: %s", row_text(2));
}

static void test_rows(void **state)
{
	struct weir_limit *limit;

	begin();
	limit = add_limit("web", 1000);
	limit->stats.dropped.packets = 500;
	limit->stats.limited_now = 1;
	add_source("web", 1, 100, 30)->limited = true;
	now.sources[0].next_ns = 1500000000;
	add_source("web", 2, 5, 40);
	now.stats = (struct weir_stats){ .limits = 1, .dropped = 500 };
	weir_top_sort(&now, WEIR_BY_DROPPED);
	before = now;
	before.ns = 1000000000;
	before.stats.dropped = 300;
	before.limits.limits[0].stats.dropped.packets = 300;
	draw();
	row_is(0, "weir top  limits 1  dropped 500 100/s  by dropped");
	row_is(2, "web         [         ]   0% [|||||||||]!100%                      100/s       1");
	row_is(3, "SOURCE           LIMIT       RATE     COUNT  DROPS STATE        WINDOW");
	row_is(4, "192.0.2.2        web          5/s     5/100     40");
	row_is(5, "192.0.2.1        web        100/s   100/100     30 limit 2s");
	row_is(22, "192.0.2.2 limit web");
	check(cells.cell[4][0].style & WEIR_STYLE_REVERSE, "the chosen source is not marked");
	check(!(cells.cell[5][0].style & WEIR_STYLE_REVERSE), "another source is marked");
	/* it moves, and what is chosen with it */
	now.sources[1].dropped = 50;
	weir_top_sort(&now, WEIR_BY_DROPPED);
	weir_top_follow(&view, &before, &now);
	draw();
	row_is(22, "192.0.2.2 limit web");
	check(cells.cell[5][0].style & WEIR_STYLE_REVERSE, "the choice does not follow");
	/* it goes away */
	before = now;
	now.count = 1;
	weir_top_follow(&view, &before, &now);
	check(view.chosen == 0, "%u is chosen of one source", view.chosen);
	now.count = 0;
	weir_top_follow(&view, &before, &now);
	draw();
	row_is(4, "no sources");
	row_is(22, "");
	/* counters that were reset come from zero */
	now.stats.dropped = 10;
	before.ns = 1000000000;
	draw();
	row_is(0, "weir top  limits 1  dropped 10 5/s  by dropped");
}

/* A rate is that of a window: the same count in a shorter one comes first. */
static void test_order(void **state)
{
	begin();
	add_limit("slow", 3600000);
	add_limit("fast", 1000);
	add_source("slow", 1, 90, 3);
	add_source("fast", 2, 10, 0);
	weir_top_sort(&now, WEIR_BY_RATE);
	check(now.sources[0].prefix.addr[3] == 2, "by rate");
	weir_top_sort(&now, WEIR_BY_COUNT);
	check(now.sources[0].prefix.addr[3] == 1, "by count");
}

/* Each size of a terminal, with all that can be drawn: nothing is written elsewhere. */
static void test_sizes(void **state)
{
	unsigned int limits = 0, i;

	begin();
	while (limits < WEIR_LIMITS_MAX)
		add_limit("a-long-name-of-a-limit-of-many", limits++ % 2 ? 1000 : 0);
	for (i = 0; i < WEIR_TOP_SOURCES; i++)
		add_source("a-long-name-of-a-limit-of-many", i, UINT64_MAX, UINT64_MAX);
	view.chosen = WEIR_TOP_SOURCES - 1;
	strcpy(view.question, "a question?");
	for (cells.rows = 1; cells.rows <= WEIR_TOP_ROWS; cells.rows++) {
		cells.columns = cells.rows * 2;
		view.opened = cells.rows % 3 ? NULL : "one\n\ntwo\xe2\x96\x81\xff\n";
		view.help = cells.rows % 5 == 1;
		draw();
	}
	cells.rows = 12;
	cells.columns = 80;
	view.help = false;
	view.opened = NULL;
	draw();
	row_is(6, "and 252 more limits");
	check(strstr(row_text(9), "192.0.2.99"), "the chosen source is not in sight: %s", row_text(9));
}

/* What is not ASCII, or a control character, does not reach a terminal that cannot draw it. */
static void test_letters(void **state)
{
	begin();
	view.opened = "a\xe2\x96\x81\033z\n";
	draw();
	row_is(2, "a??z");
	cells.utf8 = true;
	draw();
	row_is(2, "a\xe2\x96\x81?z");
}

UNIT_MAIN("tool_top", T(test_bars), T(test_rows), T(test_order), T(test_sizes), T(test_letters))
