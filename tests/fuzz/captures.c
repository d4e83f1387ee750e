// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * captures FILE: what the module's parser reads of each IP packet in a capture file, one line a
 * packet: number, source, protocol, whether it is a later fragment, ports, whether it opens a TCP
 * connection, whether its headers are cut. "-" is for what it does not know. Packets that ip_rcv()
 * or ipv6_rcv() would not accept are left out: they do not reach the hook.
 */
#include <linux/skbuff.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packet/packet.h"

/* <arpa/inet.h> and the kernel's headers exclude each other. */
const char *inet_ntop(int family, const void *from, char *to, unsigned int size);

static bool swapped;

static uint32_t word(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, 4);
	return swapped ? __builtin_bswap32(value) : value;
}

static unsigned int two(const uint8_t *at)
{
	return at[0] << 8 | at[1];
}

/* The offset of the network header in a frame, or its length; the family by the link layer. */
static size_t network(unsigned int link, const uint8_t *byte, size_t len, int *family)
{
	unsigned int type;
	size_t at;

	*family = 0;
	switch (link) {
	case 1:		/* Ethernet */
		for (at = 12; at + 6 <= len && (two(byte + at) == 0x8100 || two(byte + at) == 0x88a8); at += 4)
			;
		break;
	case 113:	/* Linux, cooked */
		at = 14;
		break;
	case 12:
	case 101:	/* none */
		if (len)
			*family = byte[0] >> 4;
		return 0;
	default:
		return len;
	}
	if (at + 2 > len)
		return len;
	type = two(byte + at);
	*family = type == 0x0800 ? 4 : type == 0x86dd ? 6 : 0;
	return at + 2;
}

/* The checks of ip_rcv() and ipv6_rcv() */
static bool received(int family, const uint8_t *byte, size_t *len, size_t *header)
{
	size_t told;

	*header = family == 6 ? 40 : 20;
	if (*len < *header || byte[0] >> 4 != family)
		return false;
	if (family == 4) {
		*header = 4 * (byte[0] & 15);
		told = two(byte + 2);
	} else {
		told = 40 + two(byte + 4);
	}
	if (*header < 20 || told < *header || told > *len)
		return false;
	*len = told;
	return true;
}

static void show(unsigned long number, const uint8_t *byte, size_t len, size_t header, int family)
{
	struct net_device dev = { .name = "eth0", .ifindex = 7 };
	struct sk_buff skb = { .dev = &dev, .len = len };
	char text[46];
	struct weir_packet packet;

	/* The headers behind it are not linear, and end where the packet does. */
	skb.data_len = len - header;
	skb.network = malloc(header);
	skb.rest = malloc(skb.data_len ?: 1);
	memcpy(skb.network, byte, header);
	memcpy(skb.rest, byte + header, skb.data_len);
	skb.transport = header;
	weir_packet_init(&packet, &skb, family == 6 ? AF_INET6 : AF_INET);
	weir_packet_parse(&packet);
	inet_ntop(packet.family, byte + (family == 6 ? 8 : 12), text, sizeof(text));
	printf("%lu\t%s\t", number, text);
	if (packet.flags & WEIR_PACKET_NO_PROTO)
		printf("-");
	else
		printf("%u", packet.proto);
	printf("\t%d\t", !!(packet.flags & WEIR_PACKET_LATER));
	if (packet.flags & WEIR_PACKET_PORTS)
		printf("%u\t%u", packet.sport, packet.dport);
	else
		printf("-\t-");
	printf("\t%s\t%d\n", !(packet.flags & WEIR_PACKET_TCP) ? "-" : packet.flags & WEIR_PACKET_SYN ? "1" : "0",
	       !!(packet.flags & WEIR_PACKET_CUT));
	free(skb.network);
	free(skb.rest);
}

int main(int argc, char **argv)
{
	static uint8_t head[24], frame[1 << 20];
	FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
	size_t len, header, at;
	unsigned long number;
	uint32_t magic;
	int family;

	if (!file || fread(head, sizeof(head), 1, file) != 1)
		return 1;
	memcpy(&magic, head, 4);
	swapped = magic == 0xd4c3b2a1 || magic == 0x4d3cb2a1;
	if (!swapped && magic != 0xa1b2c3d4 && magic != 0xa1b23c4d)
		return 4;	/* another format */
	for (number = 1; fread(frame, 16, 1, file) == 1; number++) {
		len = word(frame + 8);
		if (len > sizeof(frame) || fread(frame, 1, len, file) != len)
			break;
		at = network(word(head + 20), frame, len, &family);
		len -= at;
		if (family && received(family, frame + at, &len, &header))
			show(number, frame + at, len, header, family);
	}
	return 0;
}
