// SPDX-License-Identifier: GPL-2.0-or-later
/* The socket: finding the family, asking and being answered, listening. */

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "nl_priv.h"

/* A whole configuration is one message. */
#define SEND_ROOM	(4 << 20)
#define EVENT_ROOM	(4 << 20)

/* Ask for room; who may not force it gets what the host's limits give. */
static void set_room(struct weir_nl *nl, int force, int plain, int room)
{
	int fd = mnl_socket_get_fd(nl->sock);

	if (setsockopt(fd, SOL_SOCKET, force, &room, sizeof(room)))
		setsockopt(fd, SOL_SOCKET, plain, &room, sizeof(room));
}

/* Next datagram of the socket: its length, or a negative errno. */
static ssize_t receive(struct weir_nl *nl)
{
	ssize_t len;

	do {
		len = mnl_socket_recvfrom(nl->sock, nl->buf, sizeof(nl->buf));
	} while (len < 0 && errno == EINTR);
	return len < 0 ? -errno : len;
}

struct nlmsghdr *weir_nl_begin(struct weir_nl *nl, void *buf, uint8_t cmd,
			       uint16_t flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = nl->family;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = WEIR_FAMILY_VERSION;
	return nlh;
}

/* Take the messages of a datagram: 1 to go on, 0 at the end, or an errno. */
static int take_messages(struct weir_nl *nl, const struct nlmsghdr *request,
			 int len, weir_nl_reply *reply, void *data)
{
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)nl->buf;

	for (; mnl_nlmsg_ok(nlh, len); nlh = mnl_nlmsg_next(nlh, &len)) {
		if (!mnl_nlmsg_portid_ok(nlh, nl->portid) ||
		    !mnl_nlmsg_seq_ok(nlh, nl->seq))
			continue;
		if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
			nl->interrupted = true;
		switch (nlh->nlmsg_type) {
		case NLMSG_ERROR:
		case NLMSG_DONE:
			return weir_nl_ack(nl, request, nlh);
		case NLMSG_NOOP:
			break;
		default:
			if (reply)
				reply(nlh, data);
		}
	}
	return 1;
}

int weir_nl_talk(struct weir_nl *nl, struct nlmsghdr *request,
		 weir_nl_reply *reply, void *data)
{
	ssize_t len;
	int ret;

	request->nlmsg_seq = ++nl->seq;
	nl->interrupted = false;
	nl->fault_type = 0;
	if (mnl_socket_sendto(nl->sock, request, request->nlmsg_len) < 0) {
		ret = -errno;
		if (ret == -EMSGSIZE || ret == -ENOBUFS)
			weir_err_set(&nl->err, "a message of %u bytes exceeds the send buffer; raise net.core.wmem_max",
				     request->nlmsg_len);
		else
			weir_err_set(&nl->err, "cannot send: %s", strerror(-ret));
		return ret;
	}
	do {
		len = receive(nl);
		if (len < 0) {
			weir_err_set(&nl->err, "cannot receive: %s",
				     strerror(-len));
			return len;
		}
		ret = take_messages(nl, request, len, reply, data);
	} while (ret > 0);
	return ret;
}

/* Find the group of events among the groups of the family. */
static void take_groups(struct weir_nl *nl, const struct nlattr *groups)
{
	const struct nlattr *group, *attr;

	mnl_attr_for_each_nested(group, groups) {
		const char *name = "";
		uint32_t id = 0;

		mnl_attr_for_each_nested(attr, group) {
			if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_ID)
				id = mnl_attr_get_u32(attr);
			if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_NAME)
				name = mnl_attr_get_str(attr);
		}
		if (!strcmp(name, WEIR_MCGRP_EVENTS))
			nl->group = id;
	}
}

static void take_family(const struct nlmsghdr *nlh, void *data)
{
	struct weir_nl *nl = data;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, GENL_HDRLEN) {
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
			nl->family = mnl_attr_get_u16(attr);
		if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GROUPS)
			take_groups(nl, attr);
	}
}

/* Looking the family up makes the kernel load the module. */
static int find_family(struct weir_nl *nl)
{
	union {
		struct nlmsghdr nlh;
		char room[128];
	} buf;
	struct nlmsghdr *nlh;

	nlh = weir_nl_begin(nl, &buf, CTRL_CMD_GETFAMILY, 0);
	nlh->nlmsg_type = GENL_ID_CTRL;
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, WEIR_FAMILY_NAME);
	return weir_nl_talk(nl, nlh, take_family, nl);
}

static int connect_socket(struct weir_nl *nl)
{
	int one = 1;

	nl->sock = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!nl->sock || mnl_socket_bind(nl->sock, 0, MNL_SOCKET_AUTOPID) < 0)
		return -errno;
	nl->portid = mnl_socket_get_portid(nl->sock);
	mnl_socket_setsockopt(nl->sock, NETLINK_EXT_ACK, &one, sizeof(one));
	mnl_socket_setsockopt(nl->sock, NETLINK_CAP_ACK, &one, sizeof(one));
	set_room(nl, SO_SNDBUFFORCE, SO_SNDBUF, SEND_ROOM);
	return find_family(nl);
}

/**
 * weir_nl_open - reach the module
 * @nlp: takes the connection, of the network namespace that the caller is in
 * @warn: is given the kernel's warnings
 * @data: for @warn
 * @err: takes what went wrong
 *
 * Return: 0 or a negative errno, -ENOENT where there is no module.
 */
int weir_nl_open(struct weir_nl **nlp, weir_nl_warn *warn, void *data,
		 struct weir_err *err)
{
	struct weir_nl *nl = calloc(1, sizeof(*nl));
	int ret;

	if (!nl)
		return -ENOMEM;
	nl->warn = warn;
	nl->warn_data = data;
	ret = connect_socket(nl);
	if (!ret && !nl->family)
		ret = -ENOENT;
	if (ret) {
		weir_err_set(err, "%s", strerror(-ret));
		weir_nl_close(nl);
		return ret;
	}
	*nlp = nl;
	return 0;
}

/**
 * weir_nl_close - let go of the module
 * @nl: the connection, or NULL
 */
void weir_nl_close(struct weir_nl *nl)
{
	if (nl && nl->sock)
		mnl_socket_close(nl->sock);
	free(nl);
}

/**
 * weir_nl_error - why the last request failed
 * @nl: the connection
 *
 * Return: a sentence, good until the next request.
 */
const char *weir_nl_error(const struct weir_nl *nl)
{
	return nl->err.text;
}

/**
 * weir_nl_interrupted - whether what was dumped last changed meanwhile
 * @nl: the connection
 *
 * Return: whether it may be inconsistent.
 */
bool weir_nl_interrupted(const struct weir_nl *nl)
{
	return nl->interrupted;
}

/**
 * weir_nl_subscribe - have events sent from now on
 * @nl: the connection; it serves weir_nl_listen() alone from here
 *
 * Return: 0 or a negative errno.
 */
int weir_nl_subscribe(struct weir_nl *nl)
{
	uint32_t groups[] = { nl->group, GENL_ID_CTRL };
	int ret = 0;
	size_t i;

	set_room(nl, SO_RCVBUFFORCE, SO_RCVBUF, EVENT_ROOM);
	for (i = 0; i < 2 && !ret; i++) {
		if (mnl_socket_setsockopt(nl->sock, NETLINK_ADD_MEMBERSHIP,
					  &groups[i], sizeof(groups[i])) < 0)
			ret = -errno;
	}
	if (ret)
		weir_err_set(&nl->err, "%s",
			     ret == -EPERM ? WEIR_NL_EPERM : strerror(-ret));
	return ret;
}

/* The controller tells of every family; whether it was ours that went. */
static bool family_gone(const struct weir_nl *nl, const struct nlmsghdr *nlh)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;

	if (genl->cmd != CTRL_CMD_DELFAMILY)
		return false;
	mnl_attr_for_each(attr, nlh, GENL_HDRLEN) {
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
			return mnl_attr_get_u16(attr) == nl->family;
	}
	return false;
}

static bool take_notice(const struct weir_nl *nl, const struct nlmsghdr *nlh,
			struct weir_notice *notice)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);

	memset(notice, 0, sizeof(*notice));
	if (nlh->nlmsg_len < NLMSG_HDRLEN + GENL_HDRLEN)
		return false;
	if (nlh->nlmsg_type == GENL_ID_CTRL) {
		notice->kind = WEIR_NOTICE_GONE;
		return family_gone(nl, nlh);
	}
	if (nlh->nlmsg_type != nl->family)
		return false;
	switch (genl->cmd) {
	case WEIR_CMD_LIMIT_NTF:
		notice->kind = WEIR_NOTICE_LIMIT;
		weir_nl_get_limit(nlh, &notice->limit);
		return true;
	case WEIR_CMD_SOURCE_NTF:
		notice->kind = WEIR_NOTICE_SOURCE;
		weir_nl_get_source(nlh, &notice->source);
		return true;
	case WEIR_CMD_PRESSURE_NTF:
		notice->kind = WEIR_NOTICE_PRESSURE;
		weir_nl_get_pressure(nlh, &notice->limit);
		return true;
	}
	return false;
}

/**
 * weir_nl_wait - wait for events, as long as somebody may read of them
 * @nl: the connection, subscribed
 * @out: file descriptor that they are written to
 *
 * Return: 0, or -EPIPE where nobody reads what is written there.
 */
int weir_nl_wait(const struct weir_nl *nl, int out)
{
	struct pollfd fds[] = {
		{ .fd = mnl_socket_get_fd(nl->sock), .events = POLLIN },
		{ .fd = out },		/* its end alone */
	};

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	return fds[1].revents & (POLLERR | POLLHUP) ? -EPIPE : 0;
}

/**
 * weir_nl_listen - wait for events and pass them on
 * @nl: the connection, subscribed
 * @noticed: is given each
 * @data: for @noticed
 *
 * Return: 0 when some were passed on, -ENOBUFS where some were lost,
 *	-ESHUTDOWN after the module has gone, or another negative errno.
 */
int weir_nl_listen(struct weir_nl *nl, weir_nl_noticed *noticed, void *data)
{
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)nl->buf;
	struct weir_notice notice;
	ssize_t got = receive(nl);
	int len = got;

	if (got < 0) {
		weir_err_set(&nl->err, "cannot receive: %s", strerror(-got));
		return got;
	}
	for (; mnl_nlmsg_ok(nlh, len); nlh = mnl_nlmsg_next(nlh, &len)) {
		if (!take_notice(nl, nlh, &notice))
			continue;
		noticed(&notice, data);
		if (notice.kind == WEIR_NOTICE_GONE)
			return -ESHUTDOWN;
	}
	return 0;
}
