// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * send: send packets with any source address on a device
 *
 * -i DEV -s SOURCE -d DESTINATION are required; the addresses select IPv4 or
 * IPv6. Prints how many packets the device took. "send -" reads lines of
 * options from stdin and runs each.
 *	-z NETNS	name of the device's network namespace
 *	-m MAC		of the next hop (02:00:00:00:00:01)
 *	-n N		sources: SOURCE and those after it, in turn
 *	-R		... at random
 *	-B BIT		lowest bit in which sources differ (0; 64: /64s)
 *	-c COUNT	packets at most
 *	-N N,MS		N bursts of COUNT packets, separated by MS of silence
 *	-t MS		duration at most
 *	-A MS,AFTER	begin AFTER ms after a multiple of MS of the kernel's ticks,
 *			where slots begin
 *	-r RATE		packets per second, never two closer (as fast as possible)
 *	-k		... but catch up after delays
 *	-q		through the device's queue, needed if the device is deleted
 *			meanwhile: otherwise Linux 6.1 may divide by 0 queues
 *	-b ON,OFF	send for up to ON ms, pause for up to OFF ms, at random
 *	-P PROTO	udp, tcp, icmp, icmpv6 or a number (udp)
 *	-S, -D PORT	source port (1024), destination port (9)
 *	-f FLAGS	of TCP, letters of FSRPA (S)
 *	-l BYTES	payload (18)
 *	-L BYTES	the header of IP claims so many more than there are
 *	-x HEX		replaces transport header and payload, - for nothing
 *	-T TTL		or hop limit (64)
 *	-F OFFSET[+]	a fragment at this byte offset; +: more follow
 *	-E EXT,...	IPv6 extension headers: hop, dst, rt, ah, frag
 *	-V VID		VLAN tag
 *	-G BYTES	one packet of TCP segments with this payload, as from GRO
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "frame.h"

#define BATCH		64
#define WORDS_MAX	64
#define NSEC		1000000000ull

/* How much to send, and when. */
struct plan {
	const char *dev;
	uint32_t sources;
	bool random;
	unsigned int bit;
	uint64_t count;
	unsigned int times, pause_ms;
	unsigned int align_ms, after_ms;
	uint64_t ns;
	double rate;
	bool keep;
	bool queue;
	unsigned int on_ms, off_ms;
};

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC + ts.tv_nsec;
}

static void sleep_until(uint64_t then)
{
	struct timespec ts = { .tv_sec = then / NSEC, .tv_nsec = then % NSEC };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static uint64_t coarse(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return ts.tv_sec * NSEC + ts.tv_nsec;
}

/* The length of a tick; and the ticks at a time of the coarse clock. */
static uint64_t ticks_read(uint64_t *tick, uint64_t *at)
{
	static char text[1 << 16];
	struct timespec ts;
	unsigned int try;
	size_t len;
	char *line;
	FILE *file;

	clock_getres(CLOCK_MONOTONIC_COARSE, &ts);
	*tick = ts.tv_nsec;
	for (try = 0; try < 100; try++) {
		file = fopen("/proc/timer_list", "r");
		*at = coarse();
		len = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
		text[len] = '\0';
		line = strstr(text, "\njiffies: ");
		if (file)
			fclose(file);
		if (line && coarse() <= *at + *tick)
			return strtoull(line + 10, NULL, 10);
	}
	fprintf(stderr, "send: cannot read the ticks\n");
	exit(1);
}

static void sleep_aligned(unsigned int ms, unsigned int after)
{
	uint64_t tick, at, ticks = ticks_read(&tick, &at), wait;
	uint64_t period = ms * 1000000ull / tick, offset = after * 1000000ull / tick;

	wait = (period + offset - ticks % period) % period;
	sleep_until(at + wait * tick);
	if (now() > at + (wait + 2) * tick)
		sleep_until(at + (wait + period) * tick);
}

static uint32_t dice(void)
{
	static uint64_t state;

	if (!state)
		state = now() | 1;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> 16;
}

static void enter(const char *netns)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	fd = open(path, O_RDONLY);
	if (fd < 0 || setns(fd, CLONE_NEWNET)) {
		fprintf(stderr, "send: %s: %s\n", netns, strerror(errno));
		exit(1);
	}
	close(fd);
}

static int socket_open(const char *dev, bool offload, bool queue)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET };
	int fd = socket(AF_PACKET, SOCK_RAW, 0), one = 1, room = 4 << 20;
	int bypass = !queue;

	to.sll_ifindex = if_nametoindex(dev);
	if (fd < 0 || !to.sll_ifindex ||
	    bind(fd, (struct sockaddr *)&to, sizeof(to)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &bypass, sizeof(bypass)) ||
	    (offload && setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof(one)))) {
		fprintf(stderr, "send: %s: %s\n", dev, strerror(errno));
		exit(1);
	}
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	return fd;
}

/* Wait until a packet is due; returns how many may be sent at once. */
static unsigned int plan_wait(const struct plan *plan, uint64_t end)
{
	static uint64_t next, rest;
	unsigned int due = BATCH;
	uint64_t t = now(), gap;

	if (plan->on_ms && t >= rest) {
		if (rest)
			sleep_until(t + dice() % (plan->off_ms * 1000000ull + 1));
		t = now();
		rest = t + 1 + dice() % (plan->on_ms * 1000000ull);
	}
	if (!plan->rate)
		return due;
	gap = NSEC / plan->rate;
	if (t < next) {
		sleep_until(next < end ? next : end);
		t = now();
	}
	if (!next || !plan->keep) {
		next = t + gap;
		return 1;
	}
	due = (t - next) / gap + 1;
	due = due < BATCH ? due : BATCH;
	next += due * gap;
	return due;
}

static uint64_t run(const struct plan *plan, const struct packet *packet)
{
	static struct frame frame[BATCH];
	struct mmsghdr msg[BATCH] = { 0 };
	size_t ahead = packet->segment ? sizeof(struct virtio_net_hdr) : 0;
	struct iovec iov[BATCH];
	uint64_t end = plan->ns ? now() + plan->ns : UINT64_MAX, sent = 0;
	int fd = socket_open(plan->dev, ahead, plan->queue), took;
	unsigned int i, due;

	for (i = 0; i < BATCH; i++) {
		frame[i].len = 0;
		frame_build(&frame[i], packet);
		frame_source(&frame[i], packet, 0, 0);
		/* the virtio-net header precedes the frame */
		iov[i].iov_base = frame[i].byte - ahead;
		iov[i].iov_len = frame[i].len + ahead;
		msg[i].msg_hdr.msg_iov = &iov[i];
		msg[i].msg_hdr.msg_iovlen = 1;
	}
	while (sent < plan->count && now() < end) {
		due = plan_wait(plan, end);
		if (now() >= end)
			break;
		if (due > plan->count - sent)
			due = plan->count - sent;
		for (i = 0; plan->sources > 1 && i < due; i++)
			frame_source(&frame[i], packet,
				     (plan->random ? dice() : sent + i) % plan->sources, plan->bit);
		took = sendmmsg(fd, msg, due, 0);
		if (took > 0)
			sent += took;
		else if (errno != ENOBUFS && errno != EAGAIN) {
			fprintf(stderr, "send: %s\n", strerror(errno));
			exit(1);
		}
	}
	close(fd);
	return sent;
}

static int parse_proto(const char *text)
{
	static const struct { const char *name; int number; } known[] = {
		{ "icmp", 1 }, { "tcp", 6 }, { "udp", 17 }, { "icmpv6", 58 },
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(known[i].name, text))
			return known[i].number;
	return atoi(text);
}

static int parse_address(const char *text, uint8_t *address)
{
	if (inet_pton(AF_INET, text, address) == 1)
		return AF_INET;
	return inet_pton(AF_INET6, text, address) == 1 ? AF_INET6 : 0;
}

static int parse_hex(const char *text, uint8_t *raw)
{
	unsigned int byte;
	int len = 0;

	for (; len < FRAME_MAX && sscanf(text, "%2x", &byte) == 1; text += 2)
		raw[len++] = byte;
	return len;
}

static void parse(int argc, char **argv, struct plan *plan, struct packet *packet)
{
	int opt, family = 0;
	uint8_t *mac = packet->mac;

	while ((opt = getopt(argc, argv, "z:i:s:d:m:n:RA:B:c:N:t:r:kqb:P:S:D:f:l:L:x:T:F:E:V:G:")) != -1) {
		switch (opt) {
		case 'z': enter(optarg); break;
		case 'i': plan->dev = optarg; break;
		case 's': packet->family = parse_address(optarg, packet->source); break;
		case 'd': family = parse_address(optarg, packet->destination); break;
		case 'm':
			sscanf(optarg, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &mac[0],
			       &mac[1], &mac[2], &mac[3], &mac[4], &mac[5]);
			break;
		case 'n': plan->sources = strtoul(optarg, NULL, 0); break;
		case 'R': plan->random = true; break;
		case 'A': sscanf(optarg, "%u,%u", &plan->align_ms, &plan->after_ms); break;
		case 'B': plan->bit = atoi(optarg); break;
		case 'c': plan->count = strtoull(optarg, NULL, 0); break;
		case 'N': sscanf(optarg, "%u,%u", &plan->times, &plan->pause_ms); break;
		case 't': plan->ns = strtoull(optarg, NULL, 0) * 1000000; break;
		case 'r': plan->rate = atof(optarg); break;
		case 'k': plan->keep = true; break;
		case 'q': plan->queue = true; break;
		case 'b': sscanf(optarg, "%u,%u", &plan->on_ms, &plan->off_ms); break;
		case 'P': packet->proto = parse_proto(optarg); break;
		case 'S': packet->sport = atoi(optarg); break;
		case 'D': packet->dport = atoi(optarg); break;
		case 'f': packet->flags = optarg; break;
		case 'l': packet->payload = atoi(optarg); break;
		case 'L': packet->claimed = atoi(optarg); break;
		case 'x': packet->raw_len = parse_hex(optarg, packet->raw); break;
		case 'T': packet->ttl = atoi(optarg); break;
		case 'F':
			packet->fragment = true;
			packet->offset = atoi(optarg);
			packet->more = strchr(optarg, '+');
			break;
		case 'E': packet->extensions = optarg; break;
		case 'V': packet->vid = atoi(optarg); break;
		case 'G': packet->segment = atoi(optarg); packet->proto = IPPROTO_TCP; break;
		default: exit(1);
		}
	}
	if (!plan->dev || !family || family != packet->family) {
		fprintf(stderr, "send: needs -i, and -s and -d of one family\n");
		exit(1);
	}
	if (packet->fragment && family == AF_INET6 && !*packet->extensions)
		packet->extensions = "frag";
}

static uint64_t run_times(const struct plan *plan, const struct packet *packet)
{
	uint64_t sent;
	unsigned int i;

	if (plan->align_ms)
		sleep_aligned(plan->align_ms, plan->after_ms);
	sent = run(plan, packet);

	for (i = 1; i < plan->times; i++) {
		sleep_until(now() + plan->pause_ms * 1000000ull);
		sent += run(plan, packet);
	}
	return sent;
}

static void send_words(int argc, char **argv)
{
	struct packet packet = {
		.mac = { 2, 0, 0, 0, 0, 1 }, .proto = IPPROTO_UDP, .sport = 1024, .dport = 9,
		.flags = "S", .payload = 18, .raw_len = -1, .ttl = 64, .extensions = "", .vid = -1,
	};
	struct plan plan = { .sources = 1, .count = UINT64_MAX };

	parse(argc, argv, &plan, &packet);
	printf("%llu\n", (unsigned long long)run_times(&plan, &packet));
	fflush(stdout);
}

static void send_lines(void)
{
	char line[8192], *words[WORDS_MAX];
	int count;

	while (fgets(line, sizeof(line), stdin)) {
		words[0] = "send";
		count = 1;
		for (char *word = strtok(line, "\n "); word && count < WORDS_MAX - 1;
		     word = strtok(NULL, "\n "))
			words[count++] = word;
		words[count] = NULL;
		optind = 0;
		if (count > 1)
			send_words(count, words);
	}
}

int main(int argc, char **argv)
{
	prctl(PR_SET_TIMERSLACK, 1);
	if (argc == 2 && !strcmp(argv[1], "-"))
		send_lines();
	else
		send_words(argc, argv);
	return 0;
}
