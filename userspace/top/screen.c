// SPDX-License-Identifier: GPL-2.0-or-later
/* weir top on a terminal: keys, and cells as ncurses draws them. */

#ifdef WEIR_NCURSES

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <time.h>
#include <unistd.h>

#include "top/top.h"

#define ESCAPE		27
#define WORDS		10

/* What a question is about: the words of a command, or a filter. */
enum asking { ASK_COMMAND, ASK_PREFIX, ASK_LIMIT };

static struct screen {
	struct weir_tool *tool;
	struct weir_top_view view;
	struct weir_top_data data[2];
	unsigned int at;		/* of the two, the latest */
	struct weir_cells cells;
	enum asking asking;
	bool wants_entry;		/* else y or n */
	char words[WORDS][WEIR_TEXT_SIZE];
	int count;
	char *opened;			/* what view.opened shows */
	struct weir_source source;	/* it is of this one */
	int errors;			/* what went to standard error before */
} screen;

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	interrupted = 1;
}

static WEIR_PRINTF(1) void say(const char *fmt, ...)
{
	WEIR_FORMAT(screen.view.message, fmt);
}

static void draw(void)
{
	static const attr_t styles[WEIR_STYLES] = { [WEIR_STYLE_BAD] = A_BOLD };
	struct weir_cells *cells = &screen.cells;
	const struct weir_cell *cell;
	unsigned int row, column, style;

	cells->rows = MIN(LINES, WEIR_TOP_ROWS);
	cells->columns = MIN(COLS, WEIR_TOP_COLUMNS);
	weir_top_fill(screen.tool, &screen.data[screen.at], &screen.view, cells);
	weir_top_draw(&screen.data[screen.at], &screen.data[!screen.at], &screen.view, cells);
	erase();
	for (row = 0; row < cells->rows; row++) {
		move(row, 0);
		for (column = 0; column < cells->columns; column++) {
			cell = &cells->cell[row][column];
			style = cell->style & ~WEIR_STYLE_REVERSE;
			attrset(styles[style] | COLOR_PAIR(style) |
				(cell->style & WEIR_STYLE_REVERSE ? A_REVERSE : 0));
			addstr(cell->text);
		}
	}
	refresh();
}

static int run_words(char **text)
{
	char *words[WORDS];
	int i;

	for (i = 0; i < screen.count; i++)
		words[i] = screen.words[i];
	return weir_top_say(screen.tool, words, screen.count, text);
}

static void add_word(const char *word)
{
	snprintf(screen.words[screen.count++], WEIR_TEXT_SIZE, "%s", word);
}

/* Begin a command about a source. */
static void begin_words(const char *object, const char *verb, const struct weir_source *source)
{
	char buf[WEIR_TEXT_SIZE];

	screen.count = 0;
	add_word(object);
	add_word(verb);
	add_word(weir_text_prefix(NULL, &source->prefix, buf));
	if (*source->dev) {
		add_word("dev");
		add_word(source->dev);
	}
}

/* Read about the opened source again. */
static void read_opened(void)
{
	char *text;

	begin_words("source", "get", &screen.source);
	if (run_words(&text)) {
		free(text);
		say("%s", screen.tool->err.text);
		text = NULL;
	}
	free(screen.opened);
	screen.opened = text;
	screen.view.opened = text;
}

static void close_opened(void)
{
	free(screen.opened);
	screen.opened = NULL;
	screen.view.opened = NULL;
	screen.view.scrolled = 0;
}

/* Look again; returns an enum weir_exit that ends the program. */
static int look(void)
{
	struct weir_top_data *now = &screen.data[!screen.at];
	struct weir_top *asked = &screen.view.asked;
	int status = weir_top_ask(screen.tool, asked, now);

	if (status == WEIR_EXIT_REFUSED && *asked->limit) {
		say("%s", screen.tool->err.text);
		*asked->limit = '\0';
		status = weir_top_ask(screen.tool, asked, now);
	}
	if (status)
		return status;
	weir_top_follow(&screen.view, &screen.data[screen.at], now);
	screen.at = !screen.at;
	if (screen.opened)
		read_opened();
	return WEIR_EXIT_OK;
}

/* The source that keys are about; NULL: there is none. */
static const struct weir_source *chosen(void)
{
	struct weir_top_data *now = &screen.data[screen.at];

	if (screen.opened)
		return &screen.source;
	return screen.view.chosen < now->count ? &now->sources[screen.view.chosen] : NULL;
}

static void ask(enum asking asking, bool wants_entry, const char *fmt, const char *what,
		const char *limit)
{
	screen.asking = asking;
	screen.wants_entry = wants_entry;
	*screen.view.entry = '\0';
	snprintf(screen.view.question, sizeof(screen.view.question), fmt, what, limit);
}

static const struct action {
	int key;
	const char *object, *verb, *question;
	bool wants_entry;	/* how long a block lasts */
} actions[] = {
	{ 'e', "exempt", "add", "exempt %s from limit %s? (y/n)", false },
	{ 'b', "source", "block", "block %s under limit %s for how long? (10m, 1d, ever)", true },
	{ 'r', "source", "release", "release %s under limit %s? (y/n)", false },
	{ 'f', "source", "forget", "forget %s under limit %s? (y/n)", false },
	{ 0 }
};

static void say_single(const struct weir_source *source)
{
	say("limit %s has one count for all sources", source->limit);
}

/* The words are made now: the list goes on moving while the user thinks. */
static void ask_action(const struct action *action)
{
	const struct weir_source *source = chosen();

	if (!source)
		return say("no source is chosen");
	if (!source->prefix.family)
		return say_single(source);
	begin_words(action->object, action->verb, source);
	add_word("limit");
	add_word(source->limit);
	ask(ASK_COMMAND, action->wants_entry, action->question, screen.words[2], source->limit);
}

/* Run what was asked about, and tell what came of it. */
static void act(void)
{
	char *text;

	if (screen.wants_entry) {
		add_word("for");
		add_word(screen.view.entry);
	}
	if (run_words(&text))
		say("not done: %.140s", screen.tool->err.text);
	else if (*text)
		say("%.*s", (int)MIN(strcspn(text, "\n"), (size_t)WEIR_TOP_LINE - 1), text);
	else
		say("done: %.20s %.20s %.60s", screen.words[0], screen.words[1], screen.words[2]);
	free(text);
}

/* Take the filter that was entered, as the words of weir top. */
static void take_filter(const char *word)
{
	struct weir_top *asked = &screen.view.asked, old = *asked;
	char *words[3];
	struct weir_args args = { .words = words, .err = &screen.tool->err };
	struct weir_reading reading = { 0 };

	words[args.count++] = "top";
	if (screen.asking == ASK_LIMIT)
		words[args.count++] = "limit";
	words[args.count++] = screen.view.entry;
	if (*word && screen.tool->read(&args, &reading))
		return say("%s", screen.tool->err.text);
	if (screen.asking == ASK_LIMIT)
		strcpy(asked->limit, *word ? reading.model.top.limit : "");
	else
		asked->prefix = *word ? reading.model.top.prefix : (struct weir_prefix){ 0 };
	if (look() == WEIR_EXIT_OK)
		return;
	say("%s", screen.tool->err.text);
	*asked = old;
}

/* A key while there is a question. */
static void answer(int key)
{
	char *entry = screen.view.entry;
	size_t len = strlen(entry);

	if (screen.wants_entry && key >= ' ' && key < 0x7f) {
		if (len + 1 < sizeof(screen.view.entry)) {
			entry[len] = key;
			entry[len + 1] = '\0';
		}
		return;
	}
	if (screen.wants_entry && (key == KEY_BACKSPACE || key == 127 || key == '\b')) {
		entry[len ? len - 1 : 0] = '\0';
		return;
	}
	if (key == KEY_RESIZE)
		return;
	*screen.view.question = '\0';
	if (screen.wants_entry ? key != '\n' && key != '\r' && key != KEY_ENTER :
	    key != 'y' && key != 'Y')
		return;
	if (screen.asking != ASK_COMMAND)
		return take_filter(entry);
	if (screen.wants_entry && !*entry)
		return;
	act();
	look();
}

static void choose(int by)
{
	unsigned int count = screen.data[screen.at].count;
	unsigned int *at = screen.opened ? &screen.view.scrolled : &screen.view.chosen;
	unsigned int most = screen.opened ? WEIR_TOP_ROWS : count ? count - 1 : 0;

	*at = by < 0 && *at < (unsigned int)-by ? 0 : MIN(*at + by, most);
}

/* Returns false to quit. */
static bool press(int key)
{
	const struct action *action = actions;
	struct weir_top_view *view = &screen.view;

	if (*view->question) {
		answer(key);
		return true;
	}
	if (key != KEY_RESIZE)
		*view->message = '\0';
	while (action->key && action->key != key)
		action++;
	if (action->key && !view->help) {
		ask_action(action);
		return true;
	}
	switch (key) {
	case 'q':
		return false;
	case ESCAPE:
	case KEY_LEFT:
		view->help = false;
		close_opened();
		break;
	case '?':
	case 'h':
		view->help = true;
		break;
	case '\n':
	case '\r':
	case KEY_ENTER:
		if (screen.opened || !chosen())
			break;
		screen.source = *chosen();
		if (screen.source.prefix.family)
			read_opened();
		else
			say_single(&screen.source);
		break;
	case KEY_UP:
	case 'k':
		choose(-1);
		break;
	case KEY_DOWN:
	case 'j':
		choose(1);
		break;
	case KEY_PPAGE:
		choose(-LINES / 2);
		break;
	case KEY_NPAGE:
		choose(LINES / 2);
		break;
	case KEY_HOME:
		choose(-WEIR_TOP_SOURCES);
		break;
	case KEY_END:
		choose(WEIR_TOP_SOURCES);
		break;
	case 's':
		view->asked.by = (view->asked.by + 1) % WEIR_ORDERS;
		look();
		break;
	case '/':
		ask(ASK_PREFIX, true, "only sources in (empty: all):%s%s", "", "");
		break;
	case 'l':
		ask(ASK_LIMIT, true, "only limit (empty: all):%s%s", "", "");
		break;
	case 'p':
	case ' ':
		view->paused = !view->paused;
		break;
	}
	return true;
}

/* Wait until a time, for input or a signal that @mask lets in. Returns false without a terminal. */
static bool wait_input(uint64_t due, const sigset_t *mask)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	uint64_t now = weir_clock_ns(CLOCK_MONOTONIC), left = due - MIN(now, due);
	struct timespec rest = { left / WEIR_NS_PER_S, left % WEIR_NS_PER_S };

	return ppoll(&in, 1, screen.view.paused ? NULL : &rest, mask) <= 0 ||
	       !(in.revents & (POLLHUP | POLLERR | POLLNVAL));
}

static int follow(const sigset_t *mask)
{
	uint64_t due = 0, now;
	int key, status;

	for (;;) {
		now = weir_clock_ns(CLOCK_MONOTONIC);
		if (!screen.view.paused && now >= due) {
			status = look();
			if (status)
				return status;
			due = now + screen.view.asked.every_ms * 1000000;
		}
		draw();
		if (!wait_input(due, mask) || interrupted)
			return WEIR_EXIT_OK;
		while ((key = getch()) != ERR)
			if (!press(key))
				return WEIR_EXIT_OK;
	}
}

static void begin_colors(void)
{
	static const short colors[WEIR_STYLES] = {
		[WEIR_STYLE_NAME] = COLOR_CYAN, [WEIR_STYLE_ADDRESS] = COLOR_MAGENTA,
		[WEIR_STYLE_BAD] = COLOR_RED, [WEIR_STYLE_WARN] = COLOR_YELLOW,
		[WEIR_STYLE_GOOD] = COLOR_GREEN,
	};
	short style;

	if (!has_colors() || getenv("NO_COLOR"))
		return;
	start_color();
	use_default_colors();
	for (style = WEIR_STYLE_PLAIN + 1; style < WEIR_STYLES; style++)
		init_pair(style, colors[style], -1);
}

/* What is written to standard error would be drawn over the screen. */
static void hide_errors(void)
{
	int none = open("/dev/null", O_WRONLY | O_CLOEXEC);

	screen.errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (none >= 0)
		dup2(none, STDERR_FILENO);
	if (none > STDERR_FILENO)
		close(none);
}

static void show_errors(void)
{
	fflush(stderr);
	if (screen.errors < 0)
		return;
	dup2(screen.errors, STDERR_FILENO);
	close(screen.errors);
}

/* ncurses would take a size from the environment, of whatever it has memory for, and more. */
static void bound(const char *variable, unsigned int most)
{
	const char *text = getenv(variable);
	char number[16];

	snprintf(number, sizeof(number), "%u", most);
	if (text && strtoul(text, NULL, 10) > most)
		setenv(variable, number, true);
}

static int show_screen(struct weir_tool *tool, const sigset_t *mask)
{
	SCREEN *terminal;
	int status;

	bound("LINES", WEIR_TOP_ROWS);
	bound("COLUMNS", WEIR_TOP_COLUMNS);
	terminal = newterm(NULL, stdout, stdin);

	/* One whose cursor cannot be sent anywhere, such as "dumb", shows no screen. */
	if (terminal && !tigetstr("cup")) {
		endwin();
		delscreen(terminal);
		terminal = NULL;
	}
	if (!terminal) {
		weir_err_set(&tool->err, "the terminal is not known, or cannot move its cursor (TERM): 'weir top count N' prints N screens as text");
		return WEIR_EXIT_REFUSED;
	}
	set_escdelay(25);
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	begin_colors();
	hide_errors();
	status = follow(mask);
	show_errors();
	endwin();
	delscreen(terminal);
	close_opened();
	return status;
}

int weir_top_screen(struct weir_tool *tool, const struct weir_top *asked)
{
	const struct sigaction leave = { .sa_handler = interrupt };
	struct sigaction before;
	sigset_t block, mask;
	int status;

	screen.tool = tool;
	screen.view = (struct weir_top_view){ .asked = *asked, .keys = true };
	screen.cells.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	/* a limit that does not exist is said without a screen */
	status = look();
	if (status)
		return status;
	interrupted = 0;
	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigprocmask(SIG_BLOCK, &block, &mask);
	/* ncurses would take it, and fail, if nobody else did. */
	sigaction(SIGINT, &leave, &before);
	status = show_screen(tool, &mask);
	sigaction(SIGINT, &before, NULL);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return status;
}

#endif
