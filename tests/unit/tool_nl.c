// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests and answers over sockets whose other ends the test holds: consecutive and
 * abandoned requests, signals, lost answers.
 */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "unit.h"
#include "tool/request.h"

#define SOCKETS	4

static int tool[SOCKETS], kernel[SOCKETS], opened;	/* both ends of each */

static int open_next(struct weir_nl *nl)
{
	(void)nl;
	assert_true(opened < SOCKETS);
	return tool[opened++];
}

static struct weir_nl nl;

static int set_up(void **state)
{
	int fds[2], i;

	for (i = 0; i < SOCKETS; i++) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0);
		tool[i] = fds[0];
		kernel[i] = fds[1];
	}
	opened = 0;
	nl = (struct weir_nl){ .open = open_next, .fd = -1, .family = 0x20 };
	return 0;
}

static int tear_down(void **state)
{
	int i;

	weir_nl_close(&nl);
	for (i = 0; i < SOCKETS; i++) {
		if (i >= opened)
			close(tool[i]);
		close(kernel[i]);
	}
	return 0;
}

/* Answer with a limit of that name, with the flags of a dump. */
static void answer(int i, uint32_t seq, const char *name, uint16_t flags)
{
	char room[4096] __attribute__((aligned(8)));
	struct weir_limit limit = { 0 };
	struct nlmsghdr *msg;

	snprintf(limit.name, sizeof(limit.name), "%s", name);
	msg = weir_msg_begin(room, 0x20, flags, WEIR_CMD_LIMIT_GET);
	weir_set_put(&weir_limit_fields, WEIR_ON_SHOW, msg, &limit);
	msg->nlmsg_seq = seq;
	assert_true(send(kernel[i], msg, msg->nlmsg_len, 0) > 0);
}

/* End a dump or a request, with an error or 0. */
static void end(int i, uint32_t seq, uint16_t type, int error)
{
	struct {
		struct nlmsghdr nlh;
		struct nlmsgerr told;
	} message = { .nlh = { sizeof(message), type, NLM_F_CAPPED, seq, 0 }, .told.error = error };

	assert_true(send(kernel[i], &message, sizeof(message), 0) > 0);
}

static struct weir_request get(struct weir_limit *into)
{
	return (struct weir_request){ .cmd = WEIR_CMD_LIMIT_GET,
		.reply_set = &weir_limit_fields, .into = into };
}

/* Two requests on one socket; stale answers to an earlier one are skipped. */
static void test_two(void **state)
{
	struct weir_limit one, two;
	struct weir_request first = get(&one), second = get(&two);

	answer(0, 0, "stale", 0);
	answer(0, 1, "one", 0);
	end(0, 1, NLMSG_ERROR, 0);
	assert_int_equal(weir_nl_ask(&nl, &first), 0);
	answer(0, 1, "stale", 0);
	answer(0, 2, "two", NLM_F_DUMP_INTR);
	end(0, 2, NLMSG_ERROR, -EEXIST);
	assert_int_equal(weir_nl_ask(&nl, &second), -EEXIST);
	assert_true(second.refused && !first.refused);
	assert_true(second.interrupted && !first.interrupted);
	assert_string_equal(one.name, "one");
	assert_string_equal(two.name, "two");
	assert_int_equal(opened, 1);
}

/* The family is no more: it is looked up again, and is not there. */
static void test_unloaded(void **state)
{
	struct weir_limit limit;
	struct weir_request request = get(&limit);

	end(0, 1, NLMSG_ERROR, -ENOENT);
	end(1, 2, NLMSG_ERROR, -ENOENT);
	assert_int_equal(weir_nl_ask(&nl, &request), -ENOENT);
	assert_false(request.refused);
	assert_int_equal(opened, 2);
}

/* Of a datagram that does not fit, what is missing is unknown. */
static void test_truncated(void **state)
{
	static const size_t sizes[] = { 32768, 32772, 1 << 16 };
	static char room[1 << 16] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = (struct nlmsghdr *)room;
	struct weir_request request = get(NULL);
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		*nlh = (struct nlmsghdr){ NLMSG_HDRLEN + sizeof(struct nlmsgerr), NLMSG_ERROR, NLM_F_CAPPED, i + 1, 0 };
		assert_true(send(kernel[i ? i - 1 : 0], room, sizes[i], 0) > 0);
		check(weir_nl_ask(&nl, &request) == (sizes[i] > 32768 ? -EMSGSIZE : 0), "%zu", sizes[i]);
		check(!request.refused, "%zu", sizes[i]);
	}
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
		.cmd = WEIR_CMD_LIMIT_GET, .flags = NLM_F_DUMP, .reply_set = &weir_limit_fields,
		.reply = refuse, .data = &answers,
	};
	struct weir_limit limit;
	struct weir_request next = get(&limit);

	answer(0, 1, "a", NLM_F_MULTI);
	answer(0, 1, "b", NLM_F_MULTI);
	assert_int_equal(weir_nl_ask(&nl, &request), -ECANCELED);
	assert_int_equal(answers, 1);
	assert_false(request.refused);
	assert_int_equal(send(kernel[0], "", 0, MSG_NOSIGNAL), -1);	/* closed */
	answer(1, 2, "next", 0);
	end(1, 2, NLMSG_ERROR, 0);
	assert_int_equal(weir_nl_ask(&nl, &next), 0);
	assert_string_equal(limit.name, "next");
}

static void answer_late(int signal)
{
	(void)signal;
	end(0, 1, NLMSG_ERROR, -EBUSY);
}

/* A signal does not end the wait for an answer. */
static void test_signal(void **state)
{
	struct sigaction action = { .sa_handler = answer_late };
	struct itimerval soon = { .it_value.tv_usec = 20000 };
	struct weir_request request = get(NULL);

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	assert_int_equal(weir_nl_ask(&nl, &request), -EBUSY);
}

/* Exit status by result: only a request that the kernel refused surely changed nothing. */
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

	for (i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		request = (struct weir_request){ .ret = ends[i].ret,
			.refused = ends[i].refused, .interrupted = ends[i].interrupted };
		tool.exist = ends[i].exist;
		check(weir_tool_settle(&tool, &request, ends[i].allowed) == ends[i].status,
		      "end %zu", i);
	}
}

/* Without a socket the error is complete, whatever the buffer held before. */
static int open_nothing(struct weir_nl *nl)
{
	weir_err_set(&nl->err, "cannot open a netlink socket: %s", strerror(ENOMEM));
	return -ENOMEM;
}

static void test_no_socket(void **state)
{
	struct weir_tool tool = { .nl.open = open_nothing };

	memset(&tool.err, 'x', sizeof(tool.err));
	assert_int_equal(weir_tool_reach(&tool), WEIR_EXIT_UNREACHABLE);
	assert_string_equal(tool.err.text,
			    "cannot reach the kernel module: cannot open a netlink socket: Cannot allocate memory");
}

/* The largest configuration fits a message. */
static void test_message(void **state)
{
	struct weir_config *full = calloc(1, sizeof(*full));
	struct weir_exempt exempt = { .prefix.family = AF_INET6 };
	struct weir_limit limit = { .has = -1ULL, .match.has = -1ULL, .match.any = true };
	struct weir_list list = {
		.member = { { { .family = AF_INET6, .len = 128 }, 1 } }, .member_count = 1,
	};
	struct weir_err err;
	char *room = malloc(WEIR_MSG_ROOM);
	const struct nlattr *attr;
	struct nlmsghdr *msg;
	unsigned int i;

	memset(limit.name, 'x', WEIR_NAME_MAX);
	memset(limit.comment, 'x', WEIR_COMMENT_MAX);
	strcpy(exempt.comment, limit.comment);
	strcpy(limit.before, limit.name);
	strcpy(exempt.limit, limit.name);
	memset(exempt.dev, 'x', WEIR_DEV_MAX);
	strcpy(limit.match.dev, exempt.dev);
	strcpy(limit.match.from_list, limit.name);
	strcpy(limit.match.to_list, limit.name);
	strcpy(limit.budgets_by, limit.name);
	limit.match.from_count = WEIR_PREFIXES_MAX;
	limit.match.to_count = WEIR_PREFIXES_MAX;
	limit.match.sport_count = WEIR_PORTS_MAX;
	limit.match.dport_count = WEIR_PORTS_MAX;
	for (i = 0; i < WEIR_PREFIXES_MAX; i++) {
		limit.match.from[i].family = AF_INET6;
		limit.match.to[i].family = AF_INET6;
	}
	full->limit_count = WEIR_LIMITS_MAX;
	for (i = 0; i < WEIR_LIMITS_MAX; i++)
		full->limits[i] = limit;
	for (i = 0; i < 2 * WEIR_EXEMPTS_MAX; i++) {
		exempt.block = i % 2;
		assert_int_equal(weir_config_add_exempt(full, &exempt, &err), 0);
	}
	assert_int_equal(weir_config_add_exempt(full, &exempt, &err), -EINVAL);
	assert_string_equal(err.text, "more than 65536 blocked prefixes");
	exempt.block = false;
	assert_int_equal(weir_config_add_exempt(full, &exempt, &err), -EINVAL);
	assert_string_equal(err.text, "more than 65536 exemptions");
	strcpy(list.name, limit.name);
	for (i = 0; i < WEIR_LIST_PREFIXES_MAX; i++)
		assert_int_equal(weir_config_add_list(full, &list, &err), 0);
	msg = weir_msg_begin(room, 0x20, 0, 1);
	weir_set_put(&weir_config_fields, WEIR_ON_ADD, msg, full);
	assert_in_range(msg->nlmsg_len, 1 << 20, WEIR_MSG_ROOM);
	i = 0;
	mnl_attr_for_each(attr, msg, GENL_HDRLEN)
		i++;
	assert_int_equal(i, WEIR_LIMITS_MAX + 2 * WEIR_EXEMPTS_MAX +
			    WEIR_LIST_PREFIXES_MAX / WEIR_PREFIXES_MAX);
	weir_config_clear(full);
	free(room);
	free(full);
}

UNIT_MAIN("tool_nl", cmocka_unit_test_setup_teardown(test_two, set_up, tear_down),
	  cmocka_unit_test_setup_teardown(test_unloaded, set_up, tear_down),
	  cmocka_unit_test_setup_teardown(test_abandoned, set_up, tear_down),
	  cmocka_unit_test_setup_teardown(test_signal, set_up, tear_down), T(test_settle),
	  T(test_no_socket), T(test_message),
	  cmocka_unit_test_setup_teardown(test_truncated, set_up, tear_down))
