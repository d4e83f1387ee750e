// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * packets: send random packets to a device, and predict weir's counters
 *
 *	-s SEED		random seed
 *	-n COUNT	number of packets
 *	-f FIRST	number of the first packet; packets do not depend on each other
 *	-i DEV		device to send to; without it only predict
 *	-w		wild packets: the kernel's handling of them is not predicted
 *	-l		print the seed's limits in the tool's words, and exit
 *	-x		print the packets
 *
 * Prints lines name=value: sent, seen, exempt, unmatched, unparsable, and for each
 * limit how many packets match it.
 */
#include <getopt.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "packets.h"

#define RULES 24
#define HEAD 22			/* Ethernet and two tags */

static struct options {
	uint64_t seed, count, first;
	const char *dev;
	bool wild, words, print;
} options = { .seed = 1, .count = 1000 };

static struct weir_match rules[RULES];
static uint64_t sent, seen, exempt, unmatched, unparsable, met[RULES];

/* Make a packet's frame header; returns the device that receives it, or NULL. */
static const char *frame_head(uint8_t *head, size_t *len, struct chance *dice,
			      const struct packet *packet)
{
	static const struct {
		int tags, vid[2];
		const char *dev;
	} kinds[] = {
		{ 1, { 0 }, "rx0" }, { 1, { 5 }, "rx0.5" }, { 1, { 7 }, NULL },
		{ 2, { 5, 9 }, NULL }, { 2, { 0, 5 }, "rx0.5" },
	};
	static const uint8_t macs[12] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2 };
	const char *dev = "rx0";
	int kind, i;

	memcpy(head, macs, 12);
	*len = 12;
	/* A tag with less data behind it is dropped before it arrives. */
	if (packet->len >= 2 && dice_percent(dice, 15)) {
		kind = chance_below(dice, sizeof(kinds) / sizeof(*kinds));
		dev = kinds[kind].dev;
		for (i = 0; i < kinds[kind].tags; i++) {
			memcpy(head + *len, "\x81\0\0", 3);
			head[*len + 3] = kinds[kind].vid[i];
			*len += 4;
		}
	}
	memcpy(head + *len, packet->family == 4 ? "\x08\0" : "\x86\xdd", 2);
	*len += 2;
	return dev;
}

static bool is_exempt(const struct packet *packet)
{
	static const uint8_t six[] = { 0x20, 1, 0xd, 0xb8, 0, 9 };

	if (packet->family == 4)
		return packet->byte[12] == 10 && packet->byte[13] == 9;
	return !memcmp(packet->byte + 8, six, sizeof(six));
}

static void predict(const struct packet *packet, const char *dev)
{
	struct twin_packet twin = { .family = packet->family == 6 ? AF_INET6 : AF_INET,
				    .byte = packet->byte, .dev = dev };
	bool any = false;
	unsigned int i;

	if (!dev || packet_received(packet, &twin.len) != RECEIVED)
		return;
	seen++;
	if (is_exempt(packet)) {
		exempt++;
		return;
	}
	twin_read(&twin);
	unparsable += twin.cut;
	for (i = 0; i < RULES; i++) {
		if (!twin_meets(&twin, &rules[i]))
			continue;
		any = true;
		met[i]++;
	}
	unmatched += !any;
}

static void show(uint64_t n, const uint8_t *byte, size_t len)
{
	fprintf(stderr, "%llu ", (unsigned long long)n);
	while (len--)
		fprintf(stderr, "%02x", *byte++);
	fprintf(stderr, "\n");
}

static int step(int fd, uint64_t n)
{
	uint8_t frame[HEAD + PACKET_MAX];
	struct packet packet;
	struct chance dice;
	const char *dev;
	size_t head, len;

	dice_seed(&dice, options.seed, n);
	do
		packet_make(&packet, &dice);
	while (!options.wild && packet_received(&packet, &len) == WHO_KNOWS);
	dev = frame_head(frame, &head, &dice, &packet);
	memcpy(frame + head, packet.byte, packet.len);
	predict(&packet, dev);
	if (options.print)
		show(n, frame, head + packet.len);
	sent++;
	return fd < 0 || send(fd, frame, head + packet.len, 0) >= 0 ? 0 : -1;
}

static int socket_open(const char *dev)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET };
	int fd = socket(AF_PACKET, SOCK_RAW, 0), one = 1;
	struct ifreq name = { };

	strcpy(name.ifr_name, dev);
	if (fd < 0 || ioctl(fd, SIOCGIFINDEX, &name))
		return -1;
	to.sll_ifindex = name.ifr_ifindex;
	if (bind(fd, (struct sockaddr *)&to, sizeof(to)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one)))
		return -1;
	return fd;
}

static void tell(void)
{
	unsigned int i;

	printf("sent=%llu\nseen=%llu\nexempt=%llu\nunmatched=%llu\nunparsable=%llu\n",
	       (unsigned long long)sent, (unsigned long long)seen,
	       (unsigned long long)exempt, (unsigned long long)unmatched,
	       (unsigned long long)unparsable);
	for (i = 0; i < RULES; i++)
		printf("r%u=%llu\n", i, (unsigned long long)met[i]);
}

static void words(void)
{
	unsigned int i;

	printf("exempt add 10.9.0.0/16\nexempt add 2001:db8:9::/48\n");
	for (i = 0; i < RULES; i++) {
		printf("limit add r%u budget 1G/1h per 0 sources 64 action observe", i);
		match_print(&rules[i]);
		printf("\n");
	}
}

static int run(void)
{
	struct chance dice;
	int fd = -1;
	uint64_t n;

	dice_seed(&dice, options.seed, UINT64_MAX);
	for (n = 0; n < RULES; n++)
		match_make(&rules[n], &dice);
	if (options.words) {
		words();
		return 0;
	}
	if (options.dev) {
		fd = socket_open(options.dev);
		if (fd < 0)
			return -1;
	}
	for (n = options.first; n < options.first + options.count; n++)
		if (step(fd, n))
			return -1;
	tell();
	return 0;
}

int main(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "s:n:f:i:wlx")) != -1) {
		switch (opt) {
		case 's': options.seed = strtoull(optarg, NULL, 0); break;
		case 'n': options.count = strtoull(optarg, NULL, 0); break;
		case 'f': options.first = strtoull(optarg, NULL, 0); break;
		case 'i': options.dev = optarg; break;
		case 'w': options.wild = true; break;
		case 'l': options.words = true; break;
		case 'x': options.print = true; break;
		default: return 2;
		}
	}
	if (run()) {
		perror("packets");
		return 1;
	}
	return 0;
}
