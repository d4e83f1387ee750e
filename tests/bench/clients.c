// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * clients FIRST COUNT RATE ADDRESS SECONDS: open TCP connections to ADDRESS from COUNT addresses,
 * beginning with FIRST, RATE of them a second, and leave it to the kernel to try again. Each needs
 * a local route. SECONDS after the last one began, all end.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static struct sockaddr_in address_of(const char *text, unsigned int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };

	if (inet_pton(AF_INET, text, &address.sin_addr) != 1)
		errx(1, "not an address: %s", text);
	return address;
}

static void sleep_until(struct timespec then, double seconds)
{
	double at = then.tv_nsec / 1e9 + seconds;

	then.tv_sec += at;
	then.tv_nsec = (at - (time_t)at) * 1e9;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL) == EINTR)
		;
}

int main(int argc, char **argv)
{
	struct sockaddr_in from, to;
	struct timespec begin;
	struct rlimit files;
	int count, rate, i, s;

	if (argc != 6)
		errx(1, "usage: clients FIRST COUNT RATE ADDRESS SECONDS");
	from = address_of(argv[1], 0);
	count = atoi(argv[2]);
	rate = atoi(argv[3]);
	to = address_of(argv[4], 9);
	files = (struct rlimit) { count + 16, count + 16 };
	if (setrlimit(RLIMIT_NOFILE, &files))
		err(1, "RLIMIT_NOFILE");
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (i = 0; i < count; i++) {
		sleep_until(begin, (double)i / rate);
		s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		if (s < 0 || bind(s, (struct sockaddr *)&from, sizeof(from)))
			err(1, "client %d", i);
		if (connect(s, (struct sockaddr *)&to, sizeof(to)) && errno != EINPROGRESS)
			err(1, "connect");
		from.sin_addr.s_addr = htonl(ntohl(from.sin_addr.s_addr) + 1);
	}
	sleep_until(begin, (double)count / rate + atof(argv[5]));
	return 0;
}
