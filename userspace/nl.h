/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The module, as it is reached over generic netlink. */
#ifndef WEIR_NL_H
#define WEIR_NL_H

#include "err.h"
#include "field.h"

#define WEIR_NL_EPERM	\
	"permission denied: requires CAP_NET_ADMIN in the network namespace's user namespace (run it as root)"

struct nlmsghdr;

struct weir_nl {
	struct weir_err err;	/* why the last request failed */
	uint32_t seq, group;
	uint16_t family;
	int (*open)(struct weir_nl *nl);	/* a socket; or a negative errno */
	int fd;			/* or -1: the next request opens one */
};

struct weir_request {
	uint8_t cmd;
	uint16_t flags;			/* NLM_F_* */
	const struct weir_set *set;	/* fields of what is sent; or NULL */
	unsigned int verb;		/* those of them that are sent; 0: all */
	const void *model;		/* what is sent; or NULL */
	const struct weir_set *told;	/* fields of the answers */
	void *into;			/* takes the last answer; or NULL */
	/* is given each answer; not 0 ends the request with it */
	int (*reply)(const void *model, void *data);
	void *data;
	/* the result; ret: 0 or a negative errno */
	int ret;
	bool refused;			/* by the kernel: nothing was changed */
	bool interrupted;		/* what was dumped changed meanwhile */
	char warning[128];		/* of what was done all the same; or "" */
	unsigned int place, more;	/* its limit in a configuration, from 1, and so many more */
	uint16_t fault_type;		/* top-level attribute refused, and which */
	unsigned int fault_item;	/* of those of its type it is */
	const struct weir_field *fault;	/* of the innermost one; or NULL */
	/* private */
	uint32_t seq;
	bool done;
	struct nlmsghdr *msg;
};

/* The largest is a whole configuration. */
#define WEIR_MSG_ROOM	(4 << 20)

/* Begin a request of a generic netlink family in @room. */
struct nlmsghdr *weir_msg_begin(void *room, uint16_t family, uint16_t flags, uint8_t cmd);
/* Reach the module in this network namespace; -ENOENT: it is not loaded. */
int weir_nl_open(struct weir_nl *nl);
void weir_nl_close(struct weir_nl *nl);
/* Send a request and take its answers; returns ret. No reply may ask. */
int weir_nl_ask(struct weir_nl *nl, struct weir_request *request);
/* A socket that events are sent to from now on; or a negative errno. */
int weir_nl_subscribe(struct weir_nl *nl);
/*
 * Wait for events, -1: forever, and pass each on. -EPIPE: nobody reads @out;
 * -ENOBUFS: some were lost; -ESHUTDOWN: the module was unloaded; 0: what came was
 * passed on.
 */
int weir_nl_listen(struct weir_nl *nl, int fd, int out, int timeout_ms,
		   void (*event)(uint8_t cmd, const union weir_model *model, void *data),
		   void *data);

/* ack.c: what an answer's end says; 0 or the negative errno, with a sentence. */
int weir_nl_ack(struct weir_nl *nl, struct weir_request *request, const struct nlmsghdr *nlh);

#endif
