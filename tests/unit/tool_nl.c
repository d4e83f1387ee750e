// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests and their answers over sockets whose other ends the test has: several
 * under way, one within a dump, signals, deadlines, and answers that are lost.
 */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "tool.h"
#include "unit.h"

#define SOCKETS	4

static int kernel[SOCKETS], opened;	/* the kernel's ends */

static int open_pair(struct weir_nl *nl)
{
	int fds[2];

	(void)nl;
	assert_true(opened < SOCKETS);
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0);
	kernel[opened++] = fds[1];
	return fds[0];
}

static struct weir_nl nl;

static int set_up(void **state)
{
	(void)state;
	opened = 0;
	nl = (struct weir_nl){ .open = open_pair, .idle = -1, .family = 0x20 };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	weir_nl_close(&nl);
	while (opened)
		close(kernel[--opened]);
	return 0;
}

/* Answer with a limit of that name, flags as in a dump. */
static void answer(int i, uint32_t seq, const char *name, uint16_t flags)
{
	struct weir_limit limit = { 0 };
	struct weir_msg msg;

	snprintf(limit.name, sizeof(limit.name), "%s", name);
	weir_msg_begin(&msg, 0x20, flags, WEIR_CMD_LIMIT_GET, 1);
	weir_set_put(&weir_limit_fields, WEIR_ON_SHOW, &msg, &limit);
	msg.nlh->nlmsg_seq = seq;
	assert_true(send(kernel[i], msg.nlh, msg.nlh->nlmsg_len, 0) > 0);
	weir_msg_free(&msg);
}

/* The end of a dump, or of a request, with an error or 0. */
static void end(int i, uint32_t seq, uint16_t type, int error)
{
	struct {
		struct nlmsghdr nlh;
		struct nlmsgerr told;
	} message = {
		.nlh = { sizeof(message), type, NLM_F_CAPPED, seq, 0 },
		.told.error = error,
	};

	assert_true(send(kernel[i], &message, sizeof(message), 0) > 0);
}

static struct weir_request get(struct weir_limit *into)
{
	return (struct weir_request){ .cmd = WEIR_CMD_LIMIT_GET,
		.told = &weir_limit_fields, .into = into };
}

/* Two are under way at once; the second is answered first. */
static void test_pipeline(void **state)
{
	struct weir_limit one, two;
	struct weir_request first = get(&one), second = get(&two);

	(void)state;
	assert_int_equal(weir_nl_start(&nl, &first), 0);
	assert_int_equal(weir_nl_start(&nl, &second), 0);
	answer(1, second.seq, "two", 0);
	end(1, second.seq, NLMSG_ERROR, 0);
	assert_int_equal(weir_nl_finish(&nl, &second), 0);
	answer(0, first.seq - 7, "stale", 0);
	answer(0, first.seq, "one", 0);
	end(0, first.seq, NLMSG_ERROR, -ENOENT);
	assert_int_equal(weir_nl_finish(&nl, &first), -ENOENT);
	assert_true(first.refused && !second.refused);
	assert_string_equal(one.name, "one");
	assert_string_equal(two.name, "two");
}

struct dump {
	int answers;
	struct weir_limit limit;
};

/* Within a dump's answer, ask for what was told. */
static int ask_within(const void *model, void *data)
{
	struct dump *dump = data;
	struct weir_request request = get(&dump->limit);

	(void)model;
	dump->answers++;
	assert_int_equal(weir_nl_start(&nl, &request), 0);
	answer(1, request.seq, "within", 0);
	end(1, request.seq, NLMSG_ERROR, 0);
	assert_int_equal(weir_nl_finish(&nl, &request), 0);
	return 0;
}

static void test_within(void **state)
{
	struct dump dump = { 0 };
	struct weir_request request = {
		.cmd = WEIR_CMD_LIMIT_GET, .flags = NLM_F_DUMP, .told = &weir_limit_fields,
		.reply = ask_within, .data = &dump,
	};

	(void)state;
	assert_int_equal(weir_nl_start(&nl, &request), 0);
	answer(0, request.seq, "a", NLM_F_MULTI);
	answer(0, request.seq, "b", NLM_F_MULTI | NLM_F_DUMP_INTR);
	end(0, request.seq, NLMSG_DONE, 0);
	assert_int_equal(weir_nl_finish(&nl, &request), 0);
	assert_int_equal(dump.answers, 2);
	assert_string_equal(dump.limit.name, "within");
	assert_true(request.interrupted);
	assert_int_equal(opened, 2);
}

static int refuse(const void *model, void *data)
{
	(void)model;
	++*(int *)data;
	return -ECANCELED;
}

static void test_abandoned(void **state)
{
	int answers = 0;
	struct weir_request request = {
		.cmd = WEIR_CMD_LIMIT_GET, .flags = NLM_F_DUMP, .told = &weir_limit_fields,
		.reply = refuse, .data = &answers,
	};
	struct weir_limit limit;
	struct weir_request next = get(&limit);

	(void)state;
	assert_int_equal(weir_nl_start(&nl, &request), 0);
	answer(0, request.seq, "a", NLM_F_MULTI);
	answer(0, request.seq, "b", NLM_F_MULTI);
	assert_int_equal(weir_nl_finish(&nl, &request), -ECANCELED);
	assert_int_equal(answers, 1);
	assert_false(request.refused);
	assert_int_equal(send(kernel[0], "", 0, MSG_NOSIGNAL), -1);	/* closed */
	assert_int_equal(weir_nl_start(&nl, &next), 0);
	answer(1, next.seq, "next", 0);
	end(1, next.seq, NLMSG_ERROR, 0);
	assert_int_equal(weir_nl_finish(&nl, &next), 0);
	assert_string_equal(limit.name, "next");
}

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	(void)signal;
	stopped++;
}

/* A signal ends the waiting where that was asked for, and a deadline does. */
static void test_signal(void **state)
{
	struct sigaction action = { .sa_handler = stop };
	struct itimerval soon = { .it_value.tv_usec = 20000 };
	struct weir_request request = get(NULL);

	(void)state;
	sigaction(SIGALRM, &action, NULL);
	nl.stop = &stopped;
	assert_int_equal(weir_nl_start(&nl, &request), 0);
	setitimer(ITIMER_REAL, &soon, NULL);
	assert_int_equal(weir_nl_finish(&nl, &request), -EINTR);
	assert_int_equal(stopped, 1);
	assert_false(request.refused);

	/* one that nobody asks about interrupts nothing */
	nl.stop = NULL;
	nl.timeout_ms = 60;
	assert_int_equal(weir_nl_start(&nl, &request), 0);
	setitimer(ITIMER_REAL, &soon, NULL);
	assert_int_equal(weir_nl_finish(&nl, &request), -ETIMEDOUT);
	assert_int_equal(stopped, 2);
	assert_non_null(strstr(nl.err.text, "cannot receive the kernel's answer"));
}

/* Only what the kernel refused is known to have changed nothing. */
static void test_settle(void **state)
{
	static const struct {
		int ret;
		bool refused, interrupted, exist;
		int allowed, status;
	} ends[] = {
		{ 0, false, false, false, 0, WEIR_EXIT_OK },
		{ -ENOENT, true, false, false, -ENOENT, WEIR_EXIT_REFUSED },
		{ -ENOENT, true, false, true, -ENOENT, WEIR_EXIT_OK },
		{ -EEXIST, true, false, true, -ENOENT, WEIR_EXIT_REFUSED },
		{ -ENOBUFS, false, false, false, 0, WEIR_EXIT_UNREACHABLE },
		{ -EPERM, true, false, false, 0, WEIR_EXIT_REFUSED },
		{ -ETIMEDOUT, false, false, false, 0, WEIR_EXIT_UNREACHABLE },
		{ 0, false, true, false, 0, WEIR_EXIT_INTERRUPTED },
	};
	struct weir_tool tool = { .out.to = stdout };
	struct weir_request request;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		request = (struct weir_request){ .ret = ends[i].ret,
			.refused = ends[i].refused, .interrupted = ends[i].interrupted };
		tool.exist = ends[i].exist;
		check(weir_tool_settle(&tool, &request, ends[i].allowed) == ends[i].status,
		      "end %zu", i);
	}
}

/* No socket at all: a sentence, whatever was on the stack. */
static int open_nothing(struct weir_nl *nl)
{
	weir_err_set(&nl->err, "cannot open a netlink socket: %s", strerror(ENOMEM));
	return -ENOMEM;
}

static void test_no_socket(void **state)
{
	struct weir_tool tool = { .nl.open = open_nothing };

	(void)state;
	memset(&tool.err, 'x', sizeof(tool.err));
	assert_int_equal(weir_tool_reach(&tool), WEIR_EXIT_UNREACHABLE);
	assert_string_equal(tool.err.text,
			    "cannot reach the kernel module: cannot open a netlink socket: Cannot allocate memory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_pipeline, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_within, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_abandoned, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_signal, set_up, tear_down),
		cmocka_unit_test(test_settle),
		cmocka_unit_test(test_no_socket),
	};

	return cmocka_run_group_tests_name("tool_nl", tests, NULL, NULL);
}
