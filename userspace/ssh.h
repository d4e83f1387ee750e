/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The other end of the caller's own ssh connection. */
#ifndef WEIR_SSH_H
#define WEIR_SSH_H

#include "model.h"

struct weir_ssh {
	struct weir_prefix peer, host;
	uint16_t peer_port, host_port;
	char dev[WEIR_DEV_SIZE];	/* of a link-local peer, else "" */
};

/* Read "PEER PORT HOST PORT". */
bool weir_ssh_parse(const char *text, struct weir_ssh *ssh);
/* Find the connection that the caller came by. */
bool weir_ssh_find(struct weir_ssh *ssh);
/* Whether its packets may meet a limit. */
bool weir_ssh_meets(const struct weir_ssh *ssh, const struct weir_limit *limit);
/* Whether an exemption certainly spares it from a limit. */
bool weir_ssh_spared(const struct weir_ssh *ssh,
		     const struct weir_exempt *exempt, const char *limit);

#endif
