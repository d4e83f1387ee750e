/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages to the family: right, nearly right, and wrong. */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stddef.h>

#include "dice.h"
#include "table.h"

#define MESSAGE_MAX 32768

struct message {
	uint8_t byte[MESSAGE_MAX];
	size_t len;
	const struct op *op;	/* that it was made for */
	bool dump;
	bool sound;		/* the headers were left alone */
};

void message_make(struct message *message, struct dice *dice, uint16_t family,
		  uint32_t seq);

#endif
