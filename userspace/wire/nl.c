// SPDX-License-Identifier: GPL-2.0-or-later
/* Generic netlink sockets: family lookup, requests, events. */

#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "lang/value.h"
#include "wire/netlink.h"

#define RECEIVE_SIZE	32768	/* the kernel's largest dump buffer */
#define HEADERS		(NLMSG_HDRLEN + GENL_HDRLEN)

/* To wait for another process; not for ever, as modprobe may be set up to call this one. */
#define PATIENCE_NS	(10 * WEIR_NS_PER_S)
#define PAUSE_NS	1000000

/* Pause; false: it has been long enough since @start. */
static bool be_patient(uint64_t start)
{
	nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
	return weir_clock_ns(CLOCK_MONOTONIC) - start < PATIENCE_NS;
}

static int set_option(int fd, int option, int value)
{
	return setsockopt(fd, SOL_NETLINK, option, &value, sizeof(value)) ? -errno : 0;
}

/* Enlarge a buffer; without CAP_NET_ADMIN only to the host's limit. */
static void set_room(int fd, int force, int plain, int room)
{
	if (setsockopt(fd, SOL_SOCKET, force, &room, sizeof(room)))
		setsockopt(fd, SOL_SOCKET, plain, &room, sizeof(room));
}

static int fail(struct weir_nl *nl, const char *what, int ret)
{
	weir_err_set(&nl->err, "%s: %s", what, strerror(-ret));
	return ret;
}

static int open_socket(struct weir_nl *nl)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC), ret;

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		ret = fail(nl, "cannot open a netlink socket", -errno);
		if (fd >= 0)
			close(fd);
		return ret;
	}
	set_option(fd, NETLINK_EXT_ACK, 1);
	set_option(fd, NETLINK_CAP_ACK, 1);
	set_room(fd, SO_SNDBUFFORCE, SO_SNDBUF, WEIR_MSG_ROOM);
	return fd;
}

static int receive(struct weir_nl *nl, int fd, char buf[RECEIVE_SIZE])
{
	int ret;

	/* with MSG_TRUNC, the length of the message, even if it does not fit */
	do
		ret = recv(fd, buf, RECEIVE_SIZE, MSG_TRUNC);
	while (ret < 0 && errno == EINTR);
	if (ret > RECEIVE_SIZE) {
		ret = -1;
		errno = EMSGSIZE;
	}
	return ret < 0 ? fail(nl, "cannot receive the kernel's answer", -errno) : ret;
}

static void take_answer(struct weir_request *request, const struct nlmsghdr *nlh)
{
	union weir_model model;
	void *into = request->into ? request->into : &model;

	if (request->raw)
		request->ret = request->raw(nlh, request->data);
	if (!request->reply_set || nlh->nlmsg_len < HEADERS)
		return;
	weir_set_get(request->reply_set, (const char *)nlh + HEADERS,
		     nlh->nlmsg_len - HEADERS, into);
	if (request->reply)
		request->ret = request->reply(into, request->data);
}

/* Process a datagram's messages up to the final one. */
static void take_messages(struct weir_nl *nl, struct weir_request *request,
			  const char *buf, int len)
{
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)buf;

	for (; !request->ret && mnl_nlmsg_ok(nlh, len); nlh = mnl_nlmsg_next(nlh, &len)) {
		if (nlh->nlmsg_seq != request->seq)
			continue;
		request->interrupted |= !!(nlh->nlmsg_flags & NLM_F_DUMP_INTR);
		if (nlh->nlmsg_type == NLMSG_ERROR || nlh->nlmsg_type == NLMSG_DONE) {
			request->ret = weir_nl_ack(nl, request, nlh);
			request->refused = request->ret < 0;
			request->done = true;
			return;
		}
		if (nlh->nlmsg_type != NLMSG_NOOP)
			take_answer(request, nlh);
	}
}

static int send_message(struct weir_nl *nl, struct weir_request *request)
{
	ssize_t len;

	if (nl->fd < 0)
		nl->fd = nl->open(nl);
	if (nl->fd < 0)
		return nl->fd;
	request->seq = ++nl->seq;
	request->msg->nlmsg_seq = request->seq;
	do
		len = send(nl->fd, request->msg, request->msg->nlmsg_len, 0);
	while (len < 0 && errno == EINTR);
	if (len >= 0)
		return 0;
	if (errno != EMSGSIZE && errno != ENOBUFS)
		return fail(nl, "cannot send the request", -errno);
	len = -errno;
	weir_err_set(&nl->err, "a message of %u bytes exceeds the send buffer; raise net.core.wmem_max",
		     request->msg->nlmsg_len);
	return len;
}

struct nlmsghdr *weir_msg_begin(void *room, uint16_t family, uint16_t flags, uint8_t cmd)
{
	struct nlmsghdr *msg = mnl_nlmsg_put_header(room);
	struct genlmsghdr *genl = mnl_nlmsg_put_extra_header(msg, sizeof(*genl));

	msg->nlmsg_type = family;
	msg->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	genl->cmd = cmd;
	genl->version = WEIR_FAMILY_VERSION;
	return msg;
}

static int ask(struct weir_nl *nl, struct weir_request *request)
{
	static char room[WEIR_MSG_ROOM] __attribute__((aligned(8)));
	char buf[RECEIVE_SIZE] __attribute__((aligned(8)));
	int len;

	request->done = false;
	request->refused = false;
	request->interrupted = false;
	request->fault_type = 0;
	request->fault = NULL;
	request->fault_budget = 0;
	request->warning[0] = '\0';
	request->msg = weir_msg_begin(room, nl->family, request->flags, request->cmd);
	if (request->model)
		weir_set_put(request->set, request->verb, request->msg, request->model);
	if (request->attrs)
		memcpy(mnl_nlmsg_put_extra_header(request->msg, request->attrs_len),
		       request->attrs, request->attrs_len);
	request->ret = send_message(nl, request);
	while (!request->done && !request->ret) {
		len = receive(nl, nl->fd, buf);
		if (len < 0)
			request->ret = len;
		else
			take_messages(nl, request, buf, len);
	}
	if (!request->done)
		weir_nl_close(nl);	/* discards the remaining answers */
	return request->ret;
}

/*
 * Did the module refuse while another process restores a state, perhaps into another module, is
 * that not loaded yet, or has it been loaded since the last request?
 */
static bool is_for_another_time(struct weir_nl *nl, struct weir_request *request)
{
	request->waits |= request->refused && request->ret == -EAGAIN;
	if (request->once || nl->family == GENL_ID_CTRL)
		return false;
	if (request->ret == -ENOENT)
		return request->refused ? request->silent : request->waits;
	return request->refused && request->ret == -EAGAIN;
}

int weir_nl_ask(struct weir_nl *nl, struct weir_request *request)
{
	uint64_t start = weir_clock_ns(CLOCK_MONOTONIC);

	request->waits = false;
	ask(nl, request);
	while (is_for_another_time(nl, request) && be_patient(start)) {
		weir_nl_await_upgrade(nl);
		weir_nl_close(nl);
		request->ret = weir_nl_open(nl);
		request->refused = false;
		if (!request->ret)
			ask(nl, request);
	}
	return request->ret;
}

/* CTRL_CMD_GETFAMILY: the family by name, its ID and its only multicast group. */
struct controller {
	uint64_t has;
	char name[16];
	uint16_t family;
	uint32_t group;
};

#define TOLD(member)	.offset = offsetof(struct controller, member), \
	.size = sizeof(((struct controller *)0)->member)

static const struct weir_field group_rows[] = {
	{ .type = &weir_type_uint, .attr = CTRL_ATTR_MCAST_GRP_ID, TOLD(group) }, { 0 }
};

static const struct weir_set group_fields = { .fields = group_rows };

static const struct weir_field groups_rows[] = {
	{ .type = &weir_type_nest, .attr = 1, .nest = &group_fields }, { 0 }
};

static const struct weir_set groups_fields = { .fields = groups_rows };

static const struct weir_field controller_rows[] = {
	{ .type = &weir_type_name, .flags = WEIR_ON_GET, .attr = CTRL_ATTR_FAMILY_NAME,
	  TOLD(name) },
	{ .type = &weir_type_uint, .attr = CTRL_ATTR_FAMILY_ID, TOLD(family) },
	{ .type = &weir_type_nest, .attr = CTRL_ATTR_MCAST_GROUPS, .nest = &groups_fields },
	{ 0 }
};

static const struct weir_set controller_fields = {
	.fields = controller_rows, .size = sizeof(struct controller),
};

bool weir_nl_await_upgrade(const struct weir_nl *nl)
{
	int fd = nl->upgrades ? -1 :
		 open(WEIR_UPGRADE_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	uint64_t start = weir_clock_ns(CLOCK_MONOTONIC);
	int ret;

	if (fd < 0)
		return true;
	do
		ret = flock(fd, LOCK_SH | LOCK_NB);
	while (ret && be_patient(start));
	close(fd);
	return !ret;
}

int weir_nl_open(struct weir_nl *nl)
{
	struct controller asked = { .name = WEIR_FAMILY_NAME }, told = { 0 };
	struct weir_request request = {
		.cmd = CTRL_CMD_GETFAMILY, .set = &controller_fields, .verb = WEIR_ON_GET,
		.model = &asked, .reply_set = &controller_fields, .into = &told,
	};
	int ret;

	nl->fd = -1;
	nl->open = nl->open ? nl->open : open_socket;
	nl->family = GENL_ID_CTRL;
	ret = weir_nl_ask(nl, &request);
	nl->family = told.family;
	nl->group = told.group;
	return ret ? ret : told.family ? 0 : -ENOENT;
}

void weir_nl_close(struct weir_nl *nl)
{
	if (nl->fd >= 0)
		close(nl->fd);
	nl->fd = -1;
}

int weir_nl_subscribe(struct weir_nl *nl, bool events)
{
	int fd = nl->open(nl), ret;

	if (fd < 0)
		return fd;
	set_room(fd, SO_RCVBUFFORCE, SO_RCVBUF, WEIR_EVENT_ROOM);
	ret = events ? set_option(fd, NETLINK_ADD_MEMBERSHIP, nl->group) : 0;
	ret = ret ? ret : set_option(fd, NETLINK_ADD_MEMBERSHIP, GENL_ID_CTRL);
	if (!ret)
		return fd;
	close(fd);
	if (ret != -EPERM)
		return fail(nl, "cannot subscribe to events", ret);
	weir_err_set(&nl->err, WEIR_NL_EPERM);
	return ret;
}

static const struct weir_set *event_fields(uint8_t cmd)
{
	return cmd == WEIR_CMD_LIMIT_NTF ? &weir_limit_fields :
	       cmd == WEIR_CMD_SOURCE_NTF ? &weir_source_fields :
	       cmd == WEIR_CMD_EXEMPT_NTF ? &weir_exempt_fields :
	       cmd == WEIR_CMD_PRESSURE_NTF ? &weir_pressure_fields :
	       cmd == WEIR_CMD_NEWCOMERS_NTF ? &weir_newcomers_fields : NULL;
}

int weir_nl_listen(struct weir_nl *nl, int fd, int out, int timeout_ms,
		   void (*event)(uint8_t cmd, const union weir_model *model, void *data),
		   void *data)
{
	struct pollfd fds[] = { { .fd = fd, .events = POLLIN }, { .fd = out } };
	char buf[RECEIVE_SIZE] __attribute__((aligned(8)));
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)buf;
	const struct genlmsghdr *genl;
	const struct weir_set *set;
	union weir_model model;
	struct controller told;
	int len;

	while ((len = poll(fds, 2, nl->lost ? 0 : timeout_ms)) < 0) {
		if (errno != EINTR)
			return fail(nl, "cannot wait for events", -errno);
	}
	if (!len) {
		len = nl->lost ? -ENOBUFS : 0;
		nl->lost = false;
		return len;
	}
	len = fds[1].revents & (POLLERR | POLLHUP) ? -EPIPE : receive(nl, fd, buf);
	if (len == -ENOBUFS && !nl->lost) {
		/* what waits is older, and until it is read the kernel drops all that comes */
		nl->lost = true;
		return 0;
	}
	if (len < 0)
		return len;
	for (; mnl_nlmsg_ok(nlh, len); nlh = mnl_nlmsg_next(nlh, &len)) {
		genl = mnl_nlmsg_get_payload(nlh);
		if (nlh->nlmsg_len < HEADERS)
			continue;
		/* the controller announces every unregistered family */
		if (nlh->nlmsg_type == GENL_ID_CTRL && genl->cmd == CTRL_CMD_DELFAMILY) {
			weir_set_get(&controller_fields, genl + 1, nlh->nlmsg_len - HEADERS, &told);
			if (told.family == nl->family)
				return -ESHUTDOWN;
		}
		set = nlh->nlmsg_type == nl->family ? event_fields(genl->cmd) : NULL;
		if (!set)
			continue;
		weir_set_get(set, genl + 1, nlh->nlmsg_len - HEADERS, &model);
		event(genl->cmd, &model, data);
	}
	return 0;
}
