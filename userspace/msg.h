/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A message as it is built. */
#ifndef WEIR_MSG_H
#define WEIR_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nlmsghdr;

struct weir_msg {
	struct nlmsghdr *nlh;	/* on the heap */
	int error;		/* -ENOMEM, -EMSGSIZE: what is appended since is lost */
};

/* Begin a message of a generic netlink family. */
void weir_msg_begin(struct weir_msg *msg, uint16_t family, uint16_t flags,
		    uint8_t cmd, uint8_t version);
void weir_msg_free(struct weir_msg *msg);
/* Append an attribute. */
void weir_msg_put(struct weir_msg *msg, uint16_t type, const void *data, size_t len);
/* What is appended between is inside; begin returns what end takes. */
size_t weir_msg_nest(struct weir_msg *msg, uint16_t type);
void weir_msg_nest_end(struct weir_msg *msg, size_t nest);
/* A number of 1, 2, 4 or 8 bytes in host order; 0 of another length. */
uint64_t weir_uint_get(const void *data, size_t len);
void weir_uint_set(void *data, size_t len, uint64_t value);

#endif
