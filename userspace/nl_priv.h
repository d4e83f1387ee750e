/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the parts of nl: the socket, messages and refusals. */
#ifndef WEIR_NL_PRIV_H
#define WEIR_NL_PRIV_H

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "nl.h"

#define WEIR_NL_DUMP_SIZE	32768	/* what the kernel fills at best */

#define WEIR_NL_EPERM	\
	"needs root: CAP_NET_ADMIN in the user namespace of this network namespace"

struct weir_nl {
	struct mnl_socket *sock;
	weir_nl_warn *warn;
	void *warn_data;
	uint32_t portid, seq, group;
	uint16_t family;
	bool interrupted;		/* what was dumped last changed meanwhile */
	struct weir_err err;
	uint32_t fault_type, fault_item;	/* top-level attribute refused last */
	char buf[WEIR_NL_DUMP_SIZE];
};

/* Top-level attributes of an answer. */
typedef void weir_nl_reply(const struct nlmsghdr *nlh, void *data);

int weir_nl_talk(struct weir_nl *nl, struct nlmsghdr *request,
		 weir_nl_reply *reply, void *data);
struct nlmsghdr *weir_nl_begin(struct weir_nl *nl, void *buf, uint8_t cmd,
			       uint16_t flags);

/* ack.c */
int weir_nl_ack(struct weir_nl *nl, const struct nlmsghdr *request,
		const struct nlmsghdr *nlh);

/* msg.c; what is put must have room in the buffer */
void weir_nl_put_limit(struct nlmsghdr *nlh, const struct weir_limit *limit);
void weir_nl_put_exempt(struct nlmsghdr *nlh, const struct weir_exempt *exempt);
void weir_nl_put_query(struct nlmsghdr *nlh, const struct weir_query *query);

/* decode.c */
uint64_t weir_nl_uint(const struct nlattr *attr);
void weir_nl_get_limit(const struct nlmsghdr *nlh, struct weir_limit *limit);
void weir_nl_get_exempt(const struct nlmsghdr *nlh, struct weir_exempt *exempt);
void weir_nl_get_source(const struct nlmsghdr *nlh, struct weir_source *source);
void weir_nl_get_stats(const struct nlmsghdr *nlh, struct weir_stats *stats);
void weir_nl_get_pressure(const struct nlmsghdr *nlh, struct weir_limit *limit);

#endif
