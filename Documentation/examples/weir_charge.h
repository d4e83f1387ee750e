/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ask weir before working for a client: "weir source charge" for C, over libmnl.
 *
 *	struct weir_charger charger;
 *	struct weir_granted granted;
 *	int ret = weir_charger_open(&charger);
 *
 *	if (!ret)
 *		ret = weir_charge(&charger, "smtp", peer, 1, WEIR_CHARGE_MODE_ALL, &granted);
 *	if (!ret && !granted.taken)
 *		... refuse the client
 *
 * All return 0 or a negative errno, such as -ENOENT without the module or the limit, and -EPERM
 * without CAP_NET_ADMIN. A charger acts in the network namespace in which it was opened, and
 * is used by one thread at a time. Compile with -lmnl and the module's uapi/linux/weir.h.
 */
#ifndef WEIR_CHARGE_H
#define WEIR_CHARGE_H

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/weir.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

struct weir_charger {
	struct mnl_socket *nl;
	uint16_t family;
	uint32_t seq;
};

struct weir_granted {
	uint64_t taken;		/* packets or bytes; 0: nothing */
	uint64_t left;		/* that could be taken now */
	int64_t wait_ns;	/* until it is due, or could be taken; -1: never */
};

static struct nlmsghdr *weir_charge_begin(struct weir_charger *charger, void *buf,
					  uint16_t family, uint8_t cmd)
{
	struct nlmsghdr *msg = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;

	msg->nlmsg_type = family;
	msg->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	msg->nlmsg_seq = ++charger->seq;
	genl = mnl_nlmsg_put_extra_header(msg, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = 1;
	return msg;
}

/* Send a request, and hand the attributes of its answers to @cb. */
static int weir_charge_ask(struct weir_charger *charger, const struct nlmsghdr *msg,
			   mnl_cb_t cb, void *data)
{
	char buf[8192];	/* MNL_SOCKET_BUFFER_SIZE, at most */
	unsigned int port = mnl_socket_get_portid(charger->nl);
	ssize_t len;
	int ret = 1;

	if (mnl_socket_sendto(charger->nl, msg, msg->nlmsg_len) < 0)
		return -errno;
	while (ret > 0) {
		len = mnl_socket_recvfrom(charger->nl, buf, sizeof(buf));
		if (len < 0 && errno == EINTR)
			continue;
		ret = len < 0 ? -1 : mnl_cb_run(buf, len, msg->nlmsg_seq, port, cb, data);
	}
	return ret < 0 ? -errno : 0;
}

static int weir_charge_family(const struct nlmsghdr *msg, void *data)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, msg, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
			((struct weir_charger *)data)->family = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

static inline void weir_charger_close(struct weir_charger *charger)
{
	mnl_socket_close(charger->nl);
}

static inline int weir_charger_open(struct weir_charger *charger)
{
	char buf[256];
	struct nlmsghdr *msg;
	int ret;

	*charger = (struct weir_charger){ .nl = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC) };
	if (!charger->nl)
		return -errno;
	ret = mnl_socket_bind(charger->nl, 0, MNL_SOCKET_AUTOPID) ? -errno : 0;
	if (!ret) {
		msg = weir_charge_begin(charger, buf, GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
		mnl_attr_put_strz(msg, CTRL_ATTR_FAMILY_NAME, WEIR_FAMILY_NAME);
		ret = weir_charge_ask(charger, msg, weir_charge_family, charger);
	}
	if (ret)
		weir_charger_close(charger);
	return ret;
}

static int weir_charge_granted(const struct nlmsghdr *msg, void *data)
{
	struct weir_granted *granted = data;
	const struct nlattr *attr, *inner;
	unsigned int budgets = 0;

	mnl_attr_for_each(attr, msg, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(attr)) {
		case WEIR_A_SOURCE_TAKEN:
			granted->taken = mnl_attr_get_u64(attr);
			break;
		case WEIR_A_SOURCE_BUDGET:
			if (budgets++)
				break;
			mnl_attr_for_each_nested(inner, attr)
				if (mnl_attr_get_type(inner) == WEIR_A_SOURCE_BUDGET_LEFT)
					granted->left = mnl_attr_get_u64(inner);
			break;
		case WEIR_A_SOURCE_WAIT_NS:
			granted->wait_ns = mnl_attr_get_u64(attr);
			break;
		}
	}
	return MNL_CB_OK;
}

/* A client of IPv4 on a socket of IPv6 is charged as IPv4, as its packets are. */
static int weir_charge_put(struct nlmsghdr *msg, const struct sockaddr *client)
{
	const struct sockaddr_in6 *in6 = (const void *)client;
	const struct sockaddr_in *in = (const void *)client;
	char dev[IF_NAMESIZE];

	if (client->sa_family == AF_INET) {
		mnl_attr_put(msg, WEIR_A_SOURCE_ADDRESS, 4, &in->sin_addr);
	} else if (client->sa_family != AF_INET6) {
		return -EAFNOSUPPORT;
	} else if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
		mnl_attr_put(msg, WEIR_A_SOURCE_ADDRESS, 4, in6->sin6_addr.s6_addr + 12);
	} else {
		mnl_attr_put(msg, WEIR_A_SOURCE_ADDRESS, 16, &in6->sin6_addr);
		if (IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr) && if_indextoname(in6->sin6_scope_id, dev))
			mnl_attr_put_strz(msg, WEIR_A_SOURCE_DEV, dev);
	}
	return 0;
}

/* Charge a client @cost packets or bytes, at least 1, under a limit; @mode: WEIR_CHARGE_MODE_*. */
static inline int weir_charge(struct weir_charger *charger, const char *limit,
			      const struct sockaddr *client, uint64_t cost, uint32_t mode,
			      struct weir_granted *granted)
{
	char buf[512];
	struct nlmsghdr *msg = weir_charge_begin(charger, buf, charger->family,
						 WEIR_CMD_SOURCE_CHARGE);
	int ret = weir_charge_put(msg, client);

	*granted = (struct weir_granted){ .wait_ns = -1 };
	if (ret)
		return ret;
	if (strlen(limit) > WEIR_NAME_MAX)
		return -ENOENT;
	mnl_attr_put_strz(msg, WEIR_A_SOURCE_LIMIT, limit);
	mnl_attr_put_u64(msg, WEIR_A_SOURCE_COST, cost);
	mnl_attr_put_u32(msg, WEIR_A_SOURCE_CHARGE_MODE, mode);
	return weir_charge_ask(charger, msg, weir_charge_granted, granted);
}

/* Sleep until what was granted is due, or until it may be asked for again. */
static inline void weir_charge_sleep(const struct weir_granted *granted)
{
	struct timespec left = { granted->wait_ns / 1000000000, granted->wait_ns % 1000000000 };

	while (granted->wait_ns > 0 && clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
		;
}

#endif
