/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Generic netlink access to the module. */
#ifndef WEIR_NETLINK_H
#define WEIR_NETLINK_H

#include "err.h"
#include "lang/field.h"

#define WEIR_NL_EPERM	\
	"permission denied: requires CAP_NET_ADMIN in the network namespace's user namespace (run it as root)"

struct nlmsghdr;

struct weir_nl {
	struct weir_err err;	/* why the last request failed */
	uint32_t seq, group;
	uint16_t family;
	int (*open)(struct weir_nl *nl);	/* returns a socket, or a negative errno */
	int fd;			/* -1: the next request opens one */
	bool upgrades;		/* this process replaces the module, and waits for no other */
	bool lost;		/* events, which is told behind those before them */
};

struct weir_request {
	uint8_t cmd;
	uint16_t flags;			/* NLM_F_* */
	const struct weir_set *set;	/* fields of the request; or NULL */
	unsigned int verb;		/* selects those to send; 0: all */
	const void *model;		/* the request's values; or NULL */
	const struct weir_set *reply_set;	/* fields of the answers */
	void *into;			/* holds the last answer; or NULL */
	/* called for each answer; nonzero aborts and becomes ret */
	int (*reply)(const void *model, void *data);
	/* likewise, as it came; instead of reply */
	int (*raw)(const struct nlmsghdr *msg, void *data);
	void *data;
	const void *attrs;		/* of the request, in place of a model; or NULL */
	size_t attrs_len;
	bool once;			/* not again on another socket, which holds nothing */
	/* the result; ret: 0 or a negative errno */
	int ret;
	bool refused;			/* by the kernel: nothing changed */
	bool silent;			/* without a sentence */
	bool interrupted;		/* the objects changed during the dump */
	char warning[128];		/* on success; or "" */
	uint64_t lost;			/* how much, if it warns of a loss; or 0 */
	unsigned int place, more;	/* of a warning: limit in the file, from 1; others */
	uint16_t fault_type;		/* type of the refused top-level attribute */
	unsigned int fault_item;	/* its index among those of that type */
	const struct weir_field *fault;	/* the innermost one's row; or NULL */
	unsigned int fault_budget;	/* number of a limit's one at fault, from 1; or 0 */
	/* private */
	uint32_t seq;
	bool done, waits;
	struct nlmsghdr *msg;
};

/* Fits the largest configuration. */
#define WEIR_MSG_ROOM	(40 << 20)
/* For events that wait. */
#define WEIR_EVENT_ROOM	(4 << 20)

/* Write the headers of a request into @room. */
struct nlmsghdr *weir_msg_begin(void *room, uint16_t family, uint16_t flags, uint8_t cmd);
/*
 * Wait while another process replaces the module: what the old one is told would be lost, what
 * the new one tells is not all, and without a module this process would load one. False: it does
 * so for too long.
 */
#define WEIR_UPGRADE_DIR	"/run/weir-upgrade"	/* locked meanwhile */
bool weir_nl_await_upgrade(const struct weir_nl *nl);
/* Look up the family; -ENOENT: the module is not loaded. */
int weir_nl_open(struct weir_nl *nl);
void weir_nl_close(struct weir_nl *nl);
/* Send a request and receive its answers; returns ret. Not reentrant from reply(). */
int weir_nl_ask(struct weir_nl *nl, struct weir_request *request);
/* Open a socket that hears of the end of the module, and of events; or a negative errno. */
int weir_nl_subscribe(struct weir_nl *nl, bool events);
/*
 * Wait for events (@timeout_ms -1: forever) and call event() for each. 0 on success or
 * timeout; -EPIPE: @out has no reader; -ENOBUFS: events were lost, after
 * those that came before; -ESHUTDOWN: the module was unloaded.
 */
int weir_nl_listen(struct weir_nl *nl, int fd, int out, int timeout_ms,
		   void (*event)(uint8_t cmd, const union weir_model *model, void *data),
		   void *data);

/* ack.c: parse the final ACK or DONE; 0, or a negative errno with a sentence. */
int weir_nl_ack(struct weir_nl *nl, struct weir_request *request, const struct nlmsghdr *nlh);

#endif
