/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A message as it is built. */
#ifndef WEIR_MSG_H
#define WEIR_MSG_H

#include <stddef.h>
#include <stdint.h>

struct nlmsghdr;

/* The largest is a whole configuration. */
#define WEIR_MSG_ROOM	(4 << 20)

/* Begin a request of a generic netlink family in @room. */
struct nlmsghdr *weir_msg_begin(void *room, uint16_t family, uint16_t flags,
				uint8_t cmd, uint8_t version);
/* A number of 1, 2, 4 or 8 bytes in host order; 0 of another length. */
uint64_t weir_uint_get(const void *data, size_t len);
void weir_uint_set(void *data, size_t len, uint64_t value);

#endif
