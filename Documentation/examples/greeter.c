// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A server that asks weir before it serves: each connection is charged to its client.
 *
 *	cc -I../../module/uapi -o greeter greeter.c -lmnl
 *	weir limit add smtp budget 5/1m bucket from 255.255.255.255
 *	greeter 2525 smtp [reserve]
 *
 * The limit above matches no packet: it counts connections only. A client beyond it is told
 * when to come again; with "reserve" it is served later instead, in the order of arrival.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "weir_charge.h"

static int listen_on(int port)
{
	const struct sockaddr_in6 any = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, (const struct sockaddr *)&any, sizeof(any)) || listen(fd, 16)) {
		perror("greeter");
		exit(1);
	}
	return fd;
}

/* Without an answer from weir, serve: a limit is no reason to be out of order. */
static void serve(int fd, const char *limit, const struct sockaddr *client, uint32_t mode)
{
	struct weir_granted granted = { .taken = 1 };
	struct weir_charger charger;
	int ret = weir_charger_open(&charger);

	if (!ret) {
		ret = weir_charge(&charger, limit, client, 1, mode, &granted);
		weir_charger_close(&charger);
	}
	if (ret)
		fprintf(stderr, "greeter: %s\n", strerror(-ret));
	if (!ret && !granted.taken) {
		dprintf(fd, "421 come again in %lld s\r\n",
			(long long)(granted.wait_ns + 999999999) / 1000000000);
		return;
	}
	weir_charge_sleep(&granted);
	dprintf(fd, "220 ready\r\n");
}

int main(int argc, char **argv)
{
	uint32_t mode = argc > 3 ? WEIR_CHARGE_MODE_RESERVE : WEIR_CHARGE_MODE_ALL;
	struct sockaddr_storage client;
	int fd, conn;

	if (argc < 3 || argc > 4 || (argc > 3 && strcmp(argv[3], "reserve"))) {
		fprintf(stderr, "usage: greeter PORT LIMIT [reserve]\n");
		return 1;
	}
	signal(SIGCHLD, SIG_IGN);	/* no zombies */
	fd = listen_on(atoi(argv[1]));
	for (;;) {
		socklen_t len = sizeof(client);

		conn = accept(fd, (struct sockaddr *)&client, &len);
		if (conn < 0)
			continue;
		if (!fork()) {
			serve(conn, argv[2], (struct sockaddr *)&client, mode);
			_exit(0);
		}
		close(conn);
	}
}
