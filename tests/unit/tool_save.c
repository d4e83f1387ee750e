// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * weir save of a configuration that changes while it is read, and a file that is read without
 * memory. This file acts as the kernel and the C library: it replaces weir_nl_ask() and what
 * allocates, see the Makefile.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/commands.h"
#include "unit.h"

#define TRIES 8

/* The limit's comment, as quoted in a file. */
#define COMMENT "comment \"\\\"\\\\ # \xc3\xa9'\""

/* What happens during a read of the configuration. */
enum reading {
	WHOLE,
	LIMITS_CHANGED,
	EXEMPTS_CHANGED,
	LISTS_CHANGED,
	SEEN_TWICE,	/* a limit moved meanwhile, without notice */
	FAILED,
};

static const enum reading *readings;
static unsigned int limit_walks, exempt_walks;

static enum reading reading(void)
{
	return readings[limit_walks - 1];
}

static int limit_walk(struct weir_nl *nl, struct weir_request *request)
{
	struct weir_limit limit = {
		.has = ~(WEIR_HAS(LIMIT_BEFORE) | WEIR_HAS(LIMIT_NEWCOMERS) |
			 WEIR_HAS(LIMIT_FLOOD) | WEIR_HAS(LIMIT_KNOWN_MS) | WEIR_HAS(LIMIT_ZONE) |
			 WEIR_HAS(LIMIT_BLOCKS_ONLY)),
		.budgets = { { .has = ~WEIR_HAS(BUDGET_BURST), .amount = { .window_ms = 1000 }, .slots = 16 } },
		.budget_count = 1, .per = { 32, 64 }, .sources = 65536, .name = "web",
		.comment = "\"\\ # \xc3\xa9'",
	};

	limit.match.has = 0;
	limit.budgets[0].amount.count = ++limit_walks;
	request->ret = request->reply(&limit, request->data);
	if (!request->ret && reading() == SEEN_TWICE)
		request->ret = request->reply(&limit, request->data);
	request->interrupted = reading() == LIMITS_CHANGED;
	request->refused = reading() == FAILED;
	if (!request->refused)
		return request->ret;
	weir_err_set(&nl->err, "it cannot be read");
	return request->ret = -ENOMEM;
}

int __wrap_weir_nl_ask(struct weir_nl *nl, struct weir_request *request)
{
	struct weir_exempt exempt = { .prefix = { .family = AF_INET, .len = 32 } };
	struct weir_list list = {
		.name = "nets", .member_count = 1, .member = { { { .family = AF_INET, .len = 8 }, 0 } },
	};

	list.member[0].prefix.addr[0] = limit_walks;
	assert_int_equal(request->flags, NLM_F_DUMP);
	if (request->cmd == WEIR_CMD_LIMIT_GET)
		return limit_walk(nl, request);
	if (request->cmd == WEIR_CMD_PREFIX_LIST_GET) {
		request->ret = request->reply(&list, request->data);
		request->interrupted = reading() == LISTS_CHANGED;
		return request->ret;
	}
	assert_int_equal(request->cmd, WEIR_CMD_EXEMPT_GET);
	exempt_walks++;
	exempt.prefix.addr[3] = limit_walks;
	request->ret = request->reply(&exempt, request->data);
	request->interrupted = reading() == EXEMPTS_CHANGED;
	return request->ret;
}

/* Save with these reads: the exit status, and the output in *@text, to be freed. */
static int save(const enum reading *as, union weir_model *to, struct weir_tool *tool, char **text)
{
	union weir_model model = { 0 };
	size_t size;
	int status;

	readings = as;
	limit_walks = 0;
	exempt_walks = 0;
	*tool = (struct weir_tool) { .out.to = open_memstream(text, &size) };
	status = weir_save(tool, NULL, to ? to : &model);
	fclose(tool->out.to);
	return status;
}

/* Retry until a read is consistent; the output is of that read alone. */
static void test_again(void **state)
{
	static const enum reading kinds[] = {
		WHOLE, LIMITS_CHANGED, EXEMPTS_CHANGED, LISTS_CHANGED, SEEN_TWICE,
	};
	enum reading as[TRIES] = { WHOLE };
	unsigned int k, changed, i;
	struct weir_tool tool;
	char wanted[256], *text;

	for (k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
	for (changed = !!k; changed < (k ? TRIES : 1); changed++) {
		for (i = 0; i < TRIES; i++)
			as[i] = i < changed ? kinds[k] : WHOLE;
		assert_int_equal(save(as, NULL, &tool, &text), WEIR_EXIT_OK);
		assert_int_equal(limit_walks, changed + 1);
		/* exemptions are not read if the limits changed */
		assert_int_equal(exempt_walks, kinds[k] == EXEMPTS_CHANGED ||
				 kinds[k] == LISTS_CHANGED ? limit_walks : 1);
		snprintf(wanted, sizeof(wanted), "#!/usr/sbin/weir -file\n"
			 "prefix-list add nets %u.0.0.0/8\n"
			 "limit add web budget %u/s slots 16 sources 65536 " COMMENT "\n"
			 "exempt add 0.0.0.%u\n", limit_walks, limit_walks, limit_walks);
		assert_string_equal(text, wanted);
		free(text);
	}
}

static void read_file(const char *path, char text[256])
{
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	text[fread(text, 1, 255, file)] = '\0';
	fclose(file);
}

static unsigned int count_files(const char *path)
{
	struct dirent **list;
	int count = scandir(path, &list, NULL, alphasort), i;

	for (i = 0; i < count; i++)
		free(list[i]);
	free(list);
	return count - 2;
}

/* A file is replaced atomically or stays as it is; its mode and links to it stay. */
static void test_file(void **state)
{
	static const enum reading whole[] = { WHOLE }, failed[] = { FAILED };
	static const char saved[] = "#!/usr/sbin/weir -file\n"
		"prefix-list add nets 1.0.0.0/8\n"
		"limit add web budget 1/s slots 16 sources 65536 " COMMENT "\nexempt add 0.0.0.1\n";
	struct rlimit limit = { .rlim_max = RLIM_INFINITY }, unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	char dir[] = "/tmp/weir-save-XXXXXX", file[64], link[64], text[256], *none;
	union weir_model model = { .path.file = link };
	struct weir_tool tool;
	struct stat st;

	assert_non_null(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/file", dir);
	snprintf(link, sizeof(link), "%s/link", dir);
	umask(027);
	assert_int_equal(save(failed, &model, &tool, &none), WEIR_EXIT_REFUSED);
	assert_int_equal(count_files(dir), 0);
	model.path.file = file;
	free(none);
	assert_int_equal(save(whole, &model, &tool, &none), WEIR_EXIT_OK);
	assert_string_equal(none, "");
	free(none);
	read_file(file, text);
	assert_string_equal(text, saved);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);

	assert_int_equal(symlink("file", link) | chmod(file, 0600) | truncate(file, 9), 0);
	model.path.file = link;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	assert_int_equal(save(whole, &model, &tool, &none), WEIR_EXIT_OUTPUT);
	setrlimit(RLIMIT_FSIZE, &unlimited);
	free(none);
	check(strstr(tool.err.text, "/file: File too large"), "%s", tool.err.text);
	assert_int_equal(count_files(dir), 2);
	read_file(file, text);
	assert_int_equal(strlen(text), 9);

	assert_int_equal(save(whole, &model, &tool, &none), WEIR_EXIT_OK);
	free(none);
	read_file(file, text);
	assert_string_equal(text, saved);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(count_files(dir), 2);
	unlink(link);
	unlink(file);

	model.path.file = "/dev/full";
	assert_int_equal(save(whole, &model, &tool, &none), WEIR_EXIT_OUTPUT);
	free(none);
	model.path.file = link;
	rmdir(dir);
	assert_int_equal(save(whole, &model, &tool, &none), WEIR_EXIT_OUTPUT);
	check(strstr(tool.err.text, "No such file or directory"), "%s", tool.err.text);
	free(none);
}

/* The saved configuration can be read from @fd. */
static void check_saved(int fd)
{
	char text[256];
	ssize_t len = read(fd, text, sizeof(text) - 1);

	text[len < 0 ? 0 : len] = '\0';
	check(!strncmp(text, "#!/usr/sbin/weir -file\nprefix-list add nets ", 44) &&
	      !strcmp(strstr(text, "exempt"), "exempt add 0.0.0.1\n"), "%s", text);
	close(fd);
}

/* The new file that a killed process left is replaced, but nothing else of that name is. */
static void test_left(void **state)
{
	static const enum reading whole[] = { WHOLE };
	char dir[] = "/tmp/weir-save-XXXXXX", file[64], left[80], *none;
	union weir_model model = { .path.file = file };
	struct weir_tool tool;
	struct stat st;
	int i;

	assert_non_null(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/file", dir);
	snprintf(left, sizeof(left), "%s.weir-new", file);
	assert_int_equal(close(open(left, O_WRONLY | O_CREAT, 0444)), 0);
	assert_int_equal(truncate(left, 5000), 0);
	assert_int_equal(save(whole, &model, &tool, &none), WEIR_EXIT_OK);
	free(none);
	assert_int_equal(count_files(dir), 1);
	check_saved(open(file, O_RDONLY));
	for (i = 0; i < 2; i++) {
		assert_int_equal(i ? mkdir(left, 0700) : symlink("/dev/null", left), 0);
		assert_int_equal(save(whole, &model, &tool, &none), WEIR_EXIT_OUTPUT);
		free(none);
		check(strstr(tool.err.text, "/file.weir-new: File exists"), "%s", tool.err.text);
		assert_int_equal(lstat(left, &st), 0);
		check_saved(open(file, O_RDONLY));
		remove(left);
	}
	if (!geteuid()) {
		assert_int_equal(close(open(left, O_WRONLY | O_CREAT, 0600)), 0);
		assert_int_equal(chown(left, 1, 1), 0);
		assert_int_equal(save(whole, &model, &tool, &none), WEIR_EXIT_OUTPUT);
		free(none);
		check(strstr(tool.err.text, "/file.weir-new: File exists"), "%s", tool.err.text);
		unlink(left);
	}
	unlink(file);
	assert_int_equal(rmdir(dir), 0);
}

/* Point the link in @model to @target and save there; the link must stay. */
static int save_through(union weir_model *model, const char *target, struct weir_tool *tool)
{
	static const enum reading whole[] = { WHOLE };
	const char *link = model->path.file;
	char is[64] = "", *none;
	int status;

	unlink(link);
	assert_int_equal(symlink(target, link), 0);
	status = save(whole, model, tool, &none);
	check(!*none, "%s", none);
	free(none);
	check(readlink(link, is, sizeof(is) - 1) > 0 && !strcmp(is, target),
	      "%s is no longer a link to %s", link, target);
	return status;
}

/* Through a link save writes to a pipe, a device, a deleted or a missing file. */
static void test_link(void **state)
{
	struct rlimit limit = { .rlim_max = RLIM_INFINITY }, unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	char dir[] = "/tmp/weir-save-XXXXXX", link[64], file[64], other[64], to[64];
	union weir_model model = { .path.file = link };
	struct weir_tool tool;
	int fd[2], i;
	struct stat st;

	assert_non_null(mkdtemp(dir));
	snprintf(link, sizeof(link), "%s/link", dir);
	snprintf(file, sizeof(file), "%s/file", dir);
	snprintf(other, sizeof(other), "%s/other", dir);

	assert_int_equal(mkfifo(file, 0600), 0);
	fd[0] = open(file, O_RDWR | O_NONBLOCK);
	assert_int_equal(save_through(&model, "file", &tool), WEIR_EXIT_OK);
	check_saved(fd[0]);
	assert_int_equal(stat(file, &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	unlink(file);

	assert_int_equal(pipe(fd), 0);
	snprintf(to, sizeof(to), "/proc/self/fd/%d", fd[1]);
	assert_int_equal(save_through(&model, to, &tool), WEIR_EXIT_OK);
	check_saved(fd[0]);
	close(fd[1]);

	assert_int_equal(save_through(&model, "/dev/null", &tool), WEIR_EXIT_OK);

	/* a socket cannot be opened */
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	snprintf(to, sizeof(to), "/proc/self/fd/%d", fd[1]);
	assert_int_equal(save_through(&model, to, &tool), WEIR_EXIT_OUTPUT);
	check(strstr(tool.err.text, "/link: No such device or address"), "%s", tool.err.text);
	close(fd[0]);
	close(fd[1]);

	/* a deleted file, which was longer */
	fd[0] = open(file, O_RDWR | O_CREAT, 0600);
	assert_int_equal(dprintf(fd[0], "%200s", "\n"), 200);
	assert_int_equal(lseek(fd[0], 0, SEEK_SET) | unlink(file), 0);
	snprintf(to, sizeof(to), "/proc/self/fd/%d", fd[0]);
	assert_int_equal(save_through(&model, to, &tool), WEIR_EXIT_OK);
	check_saved(fd[0]);
	assert_int_equal(count_files(dir), 1);

	/* link -> other -> file, which is missing; the first write fails */
	umask(027);
	assert_int_equal(symlink("file", other), 0);
	signal(SIGXFSZ, SIG_IGN);
	for (i = 0; i < 2; i++) {
		setrlimit(RLIMIT_FSIZE, i ? &unlimited : &limit);
		assert_int_equal(save_through(&model, "other", &tool), i ? WEIR_EXIT_OK : WEIR_EXIT_OUTPUT);
		assert_int_equal(count_files(dir), 2 + i);
	}
	assert_int_equal(lstat(other, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(lstat(file, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0640);
	check_saved(open(file, O_RDONLY));
	unlink(file);
	unlink(other);

	assert_int_equal(save_through(&model, "none/file", &tool), WEIR_EXIT_OUTPUT);
	check(strstr(tool.err.text, "/link: No such file or directory"), "%s", tool.err.text);
	assert_int_equal(save_through(&model, "link", &tool), WEIR_EXIT_OUTPUT);
	check(strstr(tool.err.text, "symbolic links"), "%s", tool.err.text);
	unlink(link);
	assert_int_equal(rmdir(dir), 0);
}

/* If the configuration never stops changing, nothing is printed. */
static void test_never(void **state)
{
	static const enum reading as[TRIES] = {
		LIMITS_CHANGED, EXEMPTS_CHANGED, SEEN_TWICE, LIMITS_CHANGED,
		SEEN_TWICE, EXEMPTS_CHANGED, LIMITS_CHANGED, EXEMPTS_CHANGED,
	};
	char line[80], *words[] = { "save" }, *text;
	int kept = dup(STDERR_FILENO);
	struct weir_tool tool;
	FILE *said = tmpfile();

	assert_int_equal(save(as, NULL, &tool, &text), WEIR_EXIT_INTERRUPTED);
	assert_string_equal(tool.err.text, "the configuration keeps changing; try again");
	assert_string_equal(text, "");
	assert_int_equal(limit_walks, TRIES);
	free(text);
	/* and the user gets an error */
	limit_walks = 0;
	tool.out.to = stdout;
	tool.reached = true;
	dup2(fileno(said), STDERR_FILENO);
	assert_int_equal(weir_run_words(&tool, words, 1, NULL), WEIR_EXIT_INTERRUPTED);
	dup2(kept, STDERR_FILENO);
	rewind(said);
	assert_non_null(fgets(line, sizeof(line), said));
	assert_string_equal(line, "weir: save: the configuration keeps changing; try again\n");
	fclose(said);
	close(kept);
}

/* A failed read is not retried like a change. */
static void test_failure(void **state)
{
	static const enum reading as[] = { LIMITS_CHANGED, FAILED, WHOLE };
	struct weir_tool tool;
	char *text;

	assert_int_equal(save(as, NULL, &tool, &text), WEIR_EXIT_REFUSED);
	assert_string_equal(tool.err.text, "it cannot be read");
	assert_string_equal(text, "");
	assert_int_equal(limit_walks, 2);
	free(text);
}

/* Which allocation of the tool fails, from now; 0: none. */
static unsigned int failing;

#define ALLOCATES(type, name, parameters, ...)			\
type __real_##name parameters;					\
type __wrap_##name parameters					\
{								\
	return failing && !--failing ? NULL : __real_##name(__VA_ARGS__);	\
}

ALLOCATES(void *, malloc, (size_t size), size)
ALLOCATES(void *, calloc, (size_t count, size_t size), count, size)
ALLOCATES(void *, realloc, (void *was, size_t size), was, size)
ALLOCATES(FILE *, fopen, (const char *path, const char *mode), path, mode)
ALLOCATES(FILE *, fmemopen, (void *text, size_t size, const char *mode), text, size, mode)

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* While a file is read that includes another, each allocation fails: a sentence says so, or it is tried again. */
static void test_memory(void **state)
{
	char dir[] = "/tmp/weir-save-XXXXXX", file[64], other[64], *said;
	FILE *kept = stderr;
	unsigned int i = 0;
	bool reached;
	size_t size;
	int status;

	assert_non_null(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/file", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	write_file(file, "exempt add 10.0.0.0/8\ninclude \"other\"\nexempt add ::1 limit web\n");
	write_file(other, "prefix-list add few 192.0.2.0/24\nlimit add web budget 1/s from-list few\n");
	do {
		struct weir_tool tool = { .check = true, .quiet = true, .read = weir_read, .out.to = stdout };

		stderr = open_memstream(&said, &size);
		failing = ++i;
		status = weir_apply_file(&tool, file);
		reached = !failing;
		failing = 0;
		fclose(stderr);
		stderr = kept;
		check(!status == !*said && (reached || !status), "allocation %u: status %d: %s", i, status, said);
		free(said);
	} while (reached);
	check(i > 10, "%u allocations", i);
	unlink(file);
	unlink(other);
	rmdir(dir);
}

UNIT_MAIN("tool_save", T(test_again), T(test_file), T(test_left), T(test_link), T(test_never), T(test_failure),
	  T(test_memory))
