// SPDX-License-Identifier: GPL-2.0-or-later
/* Sockets: finding the family, asking and being answered, listening. */

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nl.h"

#define RECEIVE_SIZE	32768	/* what the kernel fills at best */
/* A whole configuration is one message. */
#define SEND_ROOM	(4 << 20)
#define EVENT_ROOM	(4 << 20)
#define HEADERS		(NLMSG_HDRLEN + GENL_HDRLEN)

static int set_option(int fd, int option, int value)
{
	return setsockopt(fd, SOL_NETLINK, option, &value, sizeof(value)) ? -errno : 0;
}

/* Ask for room; who may not force it gets what the host's limits give. */
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
	set_room(fd, SO_SNDBUFFORCE, SO_SNDBUF, SEND_ROOM);
	return fd;
}

/* Wait until the first can be read: 0 or a negative errno. */
static int wait_for(const struct weir_nl *nl, struct pollfd *fds, int count, int timeout_ms)
{
	int ret;

	do {
		if (nl->stop && *nl->stop)
			return -EINTR;
		ret = poll(fds, count, timeout_ms ? timeout_ms : -1);
	} while (ret < 0 && errno == EINTR);
	return ret < 0 ? -errno : ret ? 0 : -ETIMEDOUT;
}

/* Next datagram: its length, or a negative errno. */
static int receive(struct weir_nl *nl, int fd, char buf[RECEIVE_SIZE])
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	int ret = wait_for(nl, &wait, 1, nl->timeout_ms);

	if (!ret)
		ret = recv(fd, buf, RECEIVE_SIZE, 0);
	if (ret < 0)
		ret = fail(nl, "cannot receive the kernel's answer", ret == -1 ? -errno : ret);
	return ret;
}

static void take_answer(struct weir_request *request, const struct nlmsghdr *nlh)
{
	union weir_model model;
	void *into = request->into ? request->into : &model;

	if (!request->told || nlh->nlmsg_len < HEADERS)
		return;
	weir_set_get(request->told, (const char *)nlh + HEADERS, nlh->nlmsg_len - HEADERS, into);
	if (request->reply)
		request->ret = request->reply(into, request->data);
}

/* Take the messages of a datagram until one is the end. */
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

/* A socket goes back where the request came to its end. */
static int end_request(struct weir_nl *nl, struct weir_request *request)
{
	if (request->done && nl->idle < 0)
		nl->idle = request->fd;
	else if (request->fd >= 0)
		close(request->fd);
	weir_msg_free(&request->msg);
	return request->ret;
}

static int send_message(struct weir_nl *nl, struct weir_request *request)
{
	const struct nlmsghdr *nlh = request->msg.nlh;
	ssize_t len = -1;
	int ret;

	request->fd = nl->idle >= 0 ? nl->idle : nl->open(nl);
	nl->idle = -1;
	request->ret = request->fd < 0 ? request->fd : request->msg.error;
	if (!request->ret) {
		request->seq = ++nl->seq;
		request->msg.nlh->nlmsg_seq = request->seq;
		do
			len = send(request->fd, nlh, nlh->nlmsg_len, 0);
		while (len < 0 && errno == EINTR);
		request->ret = len < 0 ? -errno : 0;
	}
	ret = request->ret;
	if (ret == -EMSGSIZE || ret == -ENOBUFS)
		weir_err_set(&nl->err, "a message of %u bytes exceeds the send buffer; raise net.core.wmem_max",
			     nlh->nlmsg_len);
	else if (ret && request->fd >= 0)
		fail(nl, "cannot send the request", ret);
	return ret ? end_request(nl, request) : 0;
}

static void begin(struct weir_nl *nl, struct weir_request *request)
{
	request->done = false;
	request->refused = false;
	request->interrupted = false;
	request->fault_type = 0;
	weir_msg_begin(&request->msg, nl->family, request->flags, request->cmd,
		       WEIR_FAMILY_VERSION);
}

int weir_nl_start(struct weir_nl *nl, struct weir_request *request)
{
	begin(nl, request);
	if (request->model)
		weir_set_put(request->set, request->verb, &request->msg, request->model);
	return send_message(nl, request);
}

int weir_nl_finish(struct weir_nl *nl, struct weir_request *request)
{
	char buf[RECEIVE_SIZE] __attribute__((aligned(8)));
	int len;

	while (!request->done && !request->ret) {
		len = receive(nl, request->fd, buf);
		if (len < 0)
			request->ret = len;
		else
			take_messages(nl, request, buf, len);
	}
	return end_request(nl, request);
}

int weir_nl_ask(struct weir_nl *nl, struct weir_request *request)
{
	int ret = weir_nl_start(nl, request);

	return ret ? ret : weir_nl_finish(nl, request);
}

int weir_nl_replace(struct weir_nl *nl, struct weir_request *request,
		    const struct weir_config *config, unsigned int *line)
{
	unsigned int i;
	size_t nest;

	*line = 0;
	*request = (struct weir_request){ .cmd = WEIR_CMD_CONFIG_REPLACE,
					  .set = &weir_config_fields, .verb = WEIR_ON_ADD };
	begin(nl, request);
	for (i = 0; i < config->limit_count; i++) {
		nest = weir_msg_nest(&request->msg, WEIR_A_CONFIG_LIMIT);
		weir_set_put(&weir_limit_fields, WEIR_ON_ADD, &request->msg, &config->limits[i]);
		weir_msg_nest_end(&request->msg, nest);
	}
	for (i = 0; i < config->exempt_count; i++) {
		nest = weir_msg_nest(&request->msg, WEIR_A_CONFIG_EXEMPT);
		weir_set_put(&weir_exempt_fields, WEIR_ON_ADD, &request->msg, &config->exempts[i]);
		weir_msg_nest_end(&request->msg, nest);
	}
	if (send_message(nl, request) || !weir_nl_finish(nl, request))
		return request->ret;
	i = request->fault_item;
	if (request->fault_type == WEIR_A_CONFIG_LIMIT && i < config->limit_count)
		*line = config->limits[i].line;
	if (request->fault_type == WEIR_A_CONFIG_EXEMPT && i < config->exempt_count)
		*line = config->exempts[i].line;
	return request->ret;
}

/* What is asked of the controller: the family, and its only group. */
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
	{ .type = &weir_type_name, .attr = CTRL_ATTR_FAMILY_NAME, TOLD(name) },
	{ .type = &weir_type_uint, .attr = CTRL_ATTR_FAMILY_ID, TOLD(family) },
	{ .type = &weir_type_nest, .attr = CTRL_ATTR_MCAST_GROUPS, .nest = &groups_fields }, { 0 }
};

static const struct weir_set controller_fields = {
	.fields = controller_rows, .attr_count = CTRL_ATTR_FAMILY_NAME + 1,
	.size = sizeof(struct controller),
};

/* Looking the family up makes the kernel load the module. */
int weir_nl_open(struct weir_nl *nl)
{
	struct controller asked = { .name = WEIR_FAMILY_NAME }, told = { 0 };
	struct weir_request request = {
		.cmd = CTRL_CMD_GETFAMILY, .set = &controller_fields, .model = &asked,
		.told = &controller_fields, .into = &told,
	};
	int ret;

	nl->idle = -1;
	nl->open = nl->open ? nl->open : open_socket;
	nl->family = GENL_ID_CTRL;
	ret = weir_nl_ask(nl, &request);
	nl->family = told.family;
	nl->group = told.group;
	return ret ? ret : told.family ? 0 : -ENOENT;
}

void weir_nl_close(struct weir_nl *nl)
{
	if (nl->idle >= 0)
		close(nl->idle);
	nl->idle = -1;
}

int weir_nl_subscribe(struct weir_nl *nl)
{
	int fd = nl->open(nl), ret;

	if (fd < 0)
		return fd;
	set_room(fd, SO_RCVBUFFORCE, SO_RCVBUF, EVENT_ROOM);
	ret = set_option(fd, NETLINK_ADD_MEMBERSHIP, nl->group);
	ret = ret ? ret : set_option(fd, NETLINK_ADD_MEMBERSHIP, GENL_ID_CTRL);
	if (!ret)
		return fd;
	close(fd);
	if (ret != -EPERM)
		return fail(nl, "cannot listen to events", ret);
	weir_err_set(&nl->err, WEIR_NL_EPERM);
	return ret;
}

static const struct weir_set *event_fields(uint8_t cmd)
{
	return cmd == WEIR_CMD_LIMIT_NTF ? &weir_limit_fields :
	       cmd == WEIR_CMD_SOURCE_NTF ? &weir_source_fields :
	       cmd == WEIR_CMD_PRESSURE_NTF ? &weir_pressure_fields : NULL;
}

int weir_nl_listen(struct weir_nl *nl, int fd, int out,
		   void (*event)(uint8_t cmd, const void *model, void *data), void *data)
{
	struct pollfd fds[] = { { .fd = fd, .events = POLLIN }, { .fd = out } };
	char buf[RECEIVE_SIZE] __attribute__((aligned(8)));
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)buf;
	const struct genlmsghdr *genl;
	const struct weir_set *set;
	union weir_model model;
	struct controller told;
	int ret = wait_for(nl, fds, 2, 0), len;

	if (!ret)
		ret = fds[1].revents & (POLLERR | POLLHUP) ? -EPIPE : receive(nl, fd, buf);
	if (ret < 0)
		return ret;
	len = ret;
	for (; mnl_nlmsg_ok(nlh, len); nlh = mnl_nlmsg_next(nlh, &len)) {
		genl = mnl_nlmsg_get_payload(nlh);
		if (nlh->nlmsg_len < HEADERS)
			continue;
		/* the controller tells of every family that goes */
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
