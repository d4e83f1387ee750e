// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * send: put packets on a device as they are told, from any source address
 *
 * -i DEV -s SOURCE -d DESTINATION are needed; the addresses say whether it is
 * IPv4 or IPv6. Prints how many packets the device took. "send -" reads such
 * words from stdin, and does what each line says.
 *	-z NETNS	by name: where the device is
 *	-m MAC		of the next hop (02:00:00:00:00:01)
 *	-n N		sources: SOURCE and those behind it, in turn
 *	-R		... at random
 *	-B BIT		they differ from this bit on, 0 is the last (64: /64s)
 *	-c COUNT	packets, and no more
 *	-N N,MS		N times that count, with silence of MS between
 *	-t MS		for so long, and no longer
 *	-r RATE		packets per second, never two closer (as fast as it goes)
 *	-k		... but what was missed is made up for
 *	-q		through the device's queue: the device may go away. 6.1 may
 *			divide by the number of its queues, 0 then, otherwise
 *	-b ON,OFF	send for up to ON ms, rest for up to OFF ms, at random
 *	-P PROTO	udp, tcp, icmp, icmpv6 or a number (udp)
 *	-S, -D PORT	source port (1024), destination port (9)
 *	-f FLAGS	of TCP, letters of FSRPA (S)
 *	-l BYTES	payload (18)
 *	-x HEX		in place of transport header and payload, - for nothing
 *	-T TTL		or hop limit (64)
 *	-F OFFSET[+]	a fragment from this byte on, + more follow
 *	-E EXT,...	IPv6 extension headers: hop, dst, rt, ah, frag
 *	-V VID		in a VLAN
 *	-G BYTES	TCP segments of so much payload in one, as GRO makes them
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BATCH		64
#define WORDS_MAX	64
#define FRAME_MAX	65600
#define NSEC		1000000000ull

/* What is sent. */
struct packet {
	uint8_t mac[6];
	int family;
	uint8_t source[16], destination[16];
	int proto;
	uint16_t sport, dport;
	const char *flags;
	unsigned int payload;
	uint8_t raw[FRAME_MAX];
	int raw_len;		/* -1: none */
	uint8_t ttl;
	bool fragment, more;
	unsigned int offset;
	const char *extensions;
	int vid;		/* -1: none */
	unsigned int segment;	/* 0: none */
};

/* How much of it, and when. */
struct plan {
	const char *dev;
	uint32_t sources;
	bool random;
	unsigned int bit;
	uint64_t count;
	unsigned int times, pause_ms;
	uint64_t ns;
	double rate;
	bool keep;
	bool queue;
	unsigned int on_ms, off_ms;
};

/* A frame, where its network header is, and what the device is to know. */
struct frame {
	struct virtio_net_hdr offload;
	uint8_t byte[FRAME_MAX];
	size_t len;
	size_t network;
};

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC + ts.tv_nsec;
}

static void sleep_until(uint64_t then)
{
	struct timespec ts = {
		.tv_sec = then / NSEC,
		.tv_nsec = then % NSEC,
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
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

static void put(struct frame *frame, const void *data, size_t len)
{
	if (frame->len + len > sizeof(frame->byte)) {
		fprintf(stderr, "send: the packet is too long\n");
		exit(1);
	}
	if (data)
		memcpy(frame->byte + frame->len, data, len);
	else
		memset(frame->byte + frame->len, 0, len);
	frame->len += len;
}

static void put_transport(struct frame *frame, const struct packet *packet)
{
	struct tcphdr tcp = { .th_sport = htons(packet->sport),
			      .th_dport = htons(packet->dport),
			      .th_off = 5, .th_win = htons(1024) };
	struct udphdr udp = { .uh_sport = htons(packet->sport),
			      .uh_dport = htons(packet->dport),
			      .uh_ulen = htons(sizeof(udp) + packet->payload) };
	static const char letters[] = "FSRPA";
	const char *f;

	if (packet->raw_len >= 0) {
		put(frame, packet->raw, packet->raw_len);
		return;
	}
	for (f = packet->flags; *f; f++)
		if (strchr(letters, *f))
			tcp.th_flags |= 1 << (strchr(letters, *f) - letters);
	if (!packet->offset) {
		if (packet->proto == IPPROTO_TCP)
			put(frame, &tcp, sizeof(tcp));
		else if (packet->proto == IPPROTO_UDP)
			put(frame, &udp, sizeof(udp));
		else
			put(frame, NULL, 8);
	}
	put(frame, NULL, packet->payload);
}

static uint16_t ip_sum(const uint8_t *header)
{
	uint32_t sum = 0;
	int i;

	for (i = 0; i < 20; i += 2)
		sum += i == 10 ? 0 : header[i] << 8 | header[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	return htons(~(sum + (sum >> 16)));
}

static void put_ipv4(struct frame *frame, const struct packet *packet)
{
	struct iphdr ip = { .version = 4, .ihl = 5, .ttl = packet->ttl,
			    .protocol = packet->proto, .id = htons(1) };

	if (packet->fragment)
		ip.frag_off = htons(packet->offset / 8 |
				    (packet->more ? IP_MF : 0));
	memcpy(&ip.saddr, packet->source, 4);
	memcpy(&ip.daddr, packet->destination, 4);
	put(frame, &ip, sizeof(ip));
	put_transport(frame, packet);
	((struct iphdr *)(frame->byte + frame->network))->tot_len =
		htons(frame->len - frame->network);
}

static uint8_t extension_number(const char *name, size_t len)
{
	static const struct { const char *name; uint8_t number; } known[] = {
		{ "hop", 0 }, { "rt", 43 }, { "frag", 44 }, { "ah", 51 },
		{ "dst", 60 },
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strlen(known[i].name) == len &&
		    !strncmp(known[i].name, name, len))
			return known[i].number;
	fprintf(stderr, "send: no extension header %.*s\n", (int)len, name);
	exit(1);
}

static void put_ipv6(struct frame *frame, const struct packet *packet)
{
	struct ip6_hdr ip = { .ip6_flow = htonl(6u << 28),
			      .ip6_hlim = packet->ttl };
	const char *name = packet->extensions;
	size_t next = frame->network + 6, len;
	/* A routing header with no segment left, six bytes of PadN otherwise. */
	uint8_t ext[8] = { 0, 0, 1, 4 };
	uint8_t number;

	memcpy(&ip.ip6_src, packet->source, 16);
	memcpy(&ip.ip6_dst, packet->destination, 16);
	put(frame, &ip, sizeof(ip));
	for (; *name; name += len + (name[len] == ',')) {
		len = strcspn(name, ",");
		number = extension_number(name, len);
		frame->byte[next] = number;
		next = frame->len;
		put(frame, ext, sizeof(ext));
		if (number == 44) {
			memset(frame->byte + next + 2, 0, 6);
			frame->byte[next + 7] = 1;
			frame->byte[next + 3] = packet->more;
			frame->byte[next + 2] = packet->offset >> 8;
			frame->byte[next + 3] |= packet->offset & 0xf8;
		} else if (number == 51) {
			/* In words of four bytes, less two. */
			frame->byte[next + 1] = 1;
			put(frame, NULL, 4);
		} else if (number == 43) {
			frame->byte[next + 2] = 4;
			frame->byte[next + 3] = 0;
		}
	}
	frame->byte[next] = packet->proto;
	put_transport(frame, packet);
	((struct ip6_hdr *)(frame->byte + frame->network))->ip6_plen =
		htons(frame->len - frame->network - sizeof(ip));
}

static void frame_build(struct frame *frame, const struct packet *packet)
{
	uint16_t type = htons(packet->family == AF_INET ? ETH_P_IP : ETH_P_IPV6);
	uint16_t vlan[2] = { htons(ETH_P_8021Q), htons(packet->vid) };

	put(frame, packet->mac, 6);
	put(frame, "\x02\0\0\0\0\x02", 6);
	if (packet->vid >= 0)
		put(frame, vlan, sizeof(vlan));
	put(frame, &type, sizeof(type));
	frame->network = frame->len;
	if (packet->family == AF_INET)
		put_ipv4(frame, packet);
	else
		put_ipv6(frame, packet);
	if (!packet->segment)
		return;
	frame->offload = (struct virtio_net_hdr) {
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type = packet->family == AF_INET ?
			    VIRTIO_NET_HDR_GSO_TCPV4 : VIRTIO_NET_HDR_GSO_TCPV6,
		.gso_size = packet->segment,
		.hdr_len = frame->len - packet->payload,
		.csum_start = frame->len - packet->payload - sizeof(struct tcphdr),
		.csum_offset = offsetof(struct tcphdr, th_sum),
	};
}

static void frame_source(struct frame *frame, const struct packet *packet,
			 uint32_t index, unsigned int bit)
{
	bool ipv4 = packet->family == AF_INET;
	uint8_t *ip = frame->byte + frame->network, source[16];
	int size = ipv4 ? 4 : 16, i = size - 1 - bit / 8;
	uint64_t carry = (uint64_t)index << bit % 8;

	memcpy(source, packet->source, size);
	for (; i >= 0 && carry; i--) {
		carry += source[i];
		source[i] = carry;
		carry >>= 8;
	}
	memcpy(ip + (ipv4 ? 12 : 8), source, size);
	if (ipv4) {
		uint16_t sum = ip_sum(ip);

		memcpy(ip + 10, &sum, 2);
	}
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

/* The packets that may go out at once; waits for the first one's time. */
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
		/* The frame's bytes stand behind its offload. */
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
			frame_source(&frame[i], packet, plan->random ?
				     dice() % plan->sources :
				     (sent + i) % plan->sources, plan->bit);
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

static void parse(int argc, char **argv, struct plan *plan,
		  struct packet *packet)
{
	int opt, family = 0;
	uint8_t *mac = packet->mac;

	while ((opt = getopt(argc, argv, "z:i:s:d:m:n:RB:c:N:t:r:kqb:P:S:D:f:l:x:T:F:E:V:G:")) != -1) {
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
	uint64_t sent = run(plan, packet);
	unsigned int i;

	for (i = 1; i < plan->times; i++) {
		sleep_until(now() + plan->pause_ms * 1000000ull);
		sent += run(plan, packet);
	}
	return sent;
}

static void send_words(int argc, char **argv)
{
	struct packet packet = {
		.mac = { 2, 0, 0, 0, 0, 1 }, .proto = IPPROTO_UDP,
		.sport = 1024, .dport = 9, .flags = "S", .payload = 18,
		.raw_len = -1, .ttl = 64, .extensions = "", .vid = -1,
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
