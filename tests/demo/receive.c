// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * receive: record the packets that reach the protected host, with their times
 *
 * receive FILE UDP TCP: receive UDP at port 53 and TCP at port 443 until SIGTERM and an
 * empty queue, then write the packets to FILE in the format of window, as charges of
 * the limits UDP and TCP, in ticks of a microsecond. Times are the kernel's receive
 * timestamps.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BATCH		64
#define ROOM		(64 << 20)	/* bytes of a socket's receive queue */

enum { UDP, TCP, SOCKETS };

struct record {
	uint32_t source;	/* big endian */
	uint32_t socket;
	uint64_t us;
};

static struct record *records;
static size_t count, room;
static volatile sig_atomic_t ending;

static void end(int sig)
{
	(void)sig;
	ending = 1;
}

static int socket_open(int which)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = which == UDP ? htons(53) : 0 };
	int fd = which == UDP ? socket(AF_INET, SOCK_DGRAM, 0) :
				socket(AF_INET, SOCK_RAW, IPPROTO_TCP);
	int one = 1, size = ROOM;

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) ||
	    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one))) {
		fprintf(stderr, "receive: %s\n", strerror(errno));
		exit(1);
	}
	return fd;
}

static uint64_t stamp(struct msghdr *msg)
{
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(msg);
	struct timespec ts = { 0 };

	for (; cmsg; cmsg = CMSG_NXTHDR(msg, cmsg))
		if (cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_TIMESTAMPNS)
			memcpy(&ts, CMSG_DATA(cmsg), sizeof(ts));
	return ts.tv_sec * 1000000ull + ts.tv_nsec / 1000;
}

static void keep(uint32_t source, int socket, uint64_t us)
{
	if (count == room) {
		room = room ? 2 * room : 1 << 18;
		records = realloc(records, room * sizeof(*records));
		if (!records)
			exit(1);
	}
	records[count++] = (struct record){ source, socket, us };
}

/* A raw socket receives all ports. */
static int for_443(const uint8_t *packet, unsigned int len)
{
	const struct iphdr *ip = (const struct iphdr *)packet;
	const struct tcphdr *tcp = (const struct tcphdr *)(packet + ip->ihl * 4);

	return len >= ip->ihl * 4u + 4 && tcp->th_dport == htons(443);
}

/* Returns whether there was a packet. */
static int take(int fd, int which)
{
	static struct {
		struct sockaddr_in from;
		char control[64];
		uint8_t data[64];
	} in[BATCH];
	struct mmsghdr msg[BATCH] = { 0 };
	struct iovec iov[BATCH];
	int i, got;

	for (i = 0; i < BATCH; i++) {
		iov[i] = (struct iovec){ in[i].data, sizeof(in[i].data) };
		msg[i].msg_hdr = (struct msghdr){
			.msg_name = &in[i].from,
			.msg_namelen = sizeof(in[i].from),
			.msg_iov = &iov[i], .msg_iovlen = 1,
			.msg_control = in[i].control,
			.msg_controllen = sizeof(in[i].control),
		};
	}
	got = recvmmsg(fd, msg, BATCH, MSG_DONTWAIT, NULL);
	for (i = 0; i < got; i++)
		if (which == UDP || for_443(in[i].data, msg[i].msg_len))
			keep(in[i].from.sin_addr.s_addr, which, stamp(&msg[i].msg_hdr));
	return got > 0;
}

/* Returns whether everything could be written. */
static int write_file(char **args)
{
	FILE *file = fopen(args[0], "w");
	char text[INET_ADDRSTRLEN];
	size_t i;

	for (i = 0; file && i < count; i++) {
		inet_ntop(AF_INET, &records[i].source, text, sizeof(text));
		fprintf(file, " weir_charge: limit=%s saddr=::ffff:%s tick=%llu packets=1 bytes=0\n",
			args[1 + (records[i].socket == TCP)], text,
			(unsigned long long)records[i].us);
	}
	return file && !fclose(file);
}

int main(int argc, char **argv)
{
	struct pollfd fds[SOCKETS];
	sigset_t term, none;
	int i, any = 0;

	if (argc != 4)
		return 1;
	sigemptyset(&none);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	signal(SIGTERM, end);
	for (i = 0; i < SOCKETS; i++)
		fds[i] = (struct pollfd){ socket_open(i), POLLIN, 0 };
	puts("ready");
	fflush(stdout);
	while (any || !ending) {
		if (!any)
			ppoll(fds, SOCKETS, NULL, &none);
		for (any = i = 0; i < SOCKETS; i++)
			any |= take(fds[i].fd, i);
	}
	if (!write_file(argv + 1)) {
		fprintf(stderr, "receive: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	return 0;
}
