// SPDX-License-Identifier: GPL-2.0-or-later
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

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
		ip.frag_off = htons(packet->offset / 8 | (packet->more ? IP_MF : 0));
	memcpy(&ip.saddr, packet->source, 4);
	memcpy(&ip.daddr, packet->destination, 4);
	put(frame, &ip, sizeof(ip));
	put_transport(frame, packet);
	((struct iphdr *)(frame->byte + frame->network))->tot_len =
		htons(frame->len - frame->network + packet->claimed);
}

static uint8_t extension_number(const char *name, size_t len)
{
	static const struct { const char *name; uint8_t number; } known[] = {
		{ "hop", 0 }, { "rt", 43 }, { "frag", 44 }, { "ah", 51 }, { "dst", 60 },
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strlen(known[i].name) == len && !strncmp(known[i].name, name, len))
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
	/* a routing header without segments left, or a PadN of six bytes */
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
			/* length in 4-byte words, minus 2 */
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
		htons(frame->len - frame->network - sizeof(ip) + packet->claimed);
}

void frame_build(struct frame *frame, const struct packet *packet)
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

void frame_source(struct frame *frame, const struct packet *packet,
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
