// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Make packets that are valid in most of their parts, so that an error in one part
 * does not hide errors in the next.
 */
#include <string.h>

#include "packets.h"

enum { HOP = 0, ROUTING = 43, FRAGMENT = 44, AUTH = 51, NONE = 59, DEST = 60 };

static void put(struct packet *packet, const void *data, size_t len)
{
	if (len > PACKET_MAX - packet->len)
		len = PACKET_MAX - packet->len;
	if (data)
		memcpy(packet->byte + packet->len, data, len);
	else
		memset(packet->byte + packet->len, 0, len);
	packet->len += len;
}

static void put16(uint8_t *at, unsigned int value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static uint8_t some_proto(struct chance *dice)
{
	static const uint8_t protos[] = {
		6, 6, 6, 17, 17, 17, 1, 58, 58, 132, 136, 33, 41, 4, 50, 255,
	};

	return protos[chance_below(dice, sizeof(protos))];
}

/* A transport header of any protocol, perhaps cut short. */
static void put_transport(struct packet *packet, struct chance *dice, uint8_t proto)
{
	static const uint8_t flags[] = { 2, 2, 2, 0x12, 0x10, 6, 3, 0, 0xc2, 0xff };
	static const uint8_t types[] = { 128, 130, 131, 132, 133, 135, 137, 143 };
	static const uint16_t ports[] = { 53, 80, 443, 1024, 0, 65535 };
	uint8_t header[24] = { 0 };
	size_t len = sizeof(header);

	put16(header, ports[chance_below(dice, 6)]);
	put16(header + 2, ports[chance_below(dice, 6)]);
	if (proto == 6)
		header[13] = flags[chance_below(dice, sizeof(flags))];
	if (proto == 58)
		header[0] = types[chance_below(dice, sizeof(types))];
	if (dice_percent(dice, 30))
		len = chance_below(dice, len + 1);
	put(packet, header, len);
}

static unsigned int some_offset(struct chance *dice)
{
	static const unsigned int offsets[] = { 0, 0, 1, 2, 185, 0x1fff };

	return offsets[chance_below(dice, 6)];
}

/* A length for a header field: mostly the true one. */
static unsigned int told(struct chance *dice, unsigned int len)
{
	switch (chance_below(dice, 12)) {
	case 0: return len - chance_below(dice, len + 1);
	case 1: return len + 1 + chance_below(dice, 4);
	case 2: return chance(dice);
	default: return len;
	}
}

static void ipv4_sum(uint8_t *ip, size_t header)
{
	uint32_t sum = 0;
	size_t i;

	put16(ip + 10, 0);
	for (i = 0; i < header; i += 2)
		sum += ip[i] << 8 | ip[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	put16(ip + 10, ~(sum + (sum >> 16)));
}

static void make_ipv4(struct packet *packet, struct chance *dice)
{
	static const uint8_t sources[][4] = {
		{ 10, 0, 0, 1 }, { 10, 0, 0, 200 }, { 10, 9, 0, 1 }, { 198, 51, 100, 7 },
		{ 0, 0, 0, 0 }, { 169, 254, 3, 4 }, { 255, 255, 255, 255 }, { 127, 0, 0, 1 },
	};
	static const uint8_t to[][4] = { { 192, 0, 2, 1 }, { 192, 0, 2, 77 }, { 203, 0, 113, 1 } };
	unsigned int words = dice_percent(dice, 80) ? 5 : chance_below(dice, 16), i;
	uint8_t ip[60] = { 0 }, proto = some_proto(dice);
	size_t header = words < 5 ? 20 : 4 * words;

	ip[0] = (dice_percent(dice, 97) ? 4 : chance_below(dice, 16)) << 4 | words;
	put16(ip + 6, dice_percent(dice, 25) ? some_offset(dice) | chance_below(dice, 8) << 13 : 0);
	ip[8] = 64;
	ip[9] = proto;
	memcpy(ip + 12, sources[chance_below(dice, 8)], 4);
	memcpy(ip + 16, to[chance_below(dice, 3)], 4);
	for (i = 20; i < header; i++)
		ip[i] = dice_percent(dice, 50) ? 1 : chance(dice);
	put(packet, ip, header);
	put_transport(packet, dice, proto);
	put(packet, NULL, chance_below(dice, 40));
	put16(packet->byte + 2, told(dice, packet->len));
	ipv4_sum(packet->byte, header);
	packet->byte[10] ^= dice_percent(dice, 2);
}

static size_t put_extension(struct packet *packet, struct chance *dice, uint8_t type)
{
	uint8_t ext[40] = { 0, 0, 1, 4 };
	unsigned int more = dice_percent(dice, 20) ? chance_below(dice, 3) : 0;
	size_t at = packet->len, len = 8 * (more + 1);

	ext[1] = more;
	if (type == FRAGMENT) {
		len = 8;
		ext[1] = dice_percent(dice, 90) ? 0 : chance(dice);
		put16(ext + 2, some_offset(dice) << 3 | chance_below(dice, 8));
	} else if (type == AUTH) {
		ext[1] = 2 * more + 1;
		len = 4 * (ext[1] + 2);
	} else if (dice_percent(dice, 3)) {
		ext[1] = chance(dice); /* longer than the packet */
	}
	put(packet, ext, dice_percent(dice, 3) ? chance_below(dice, len) : len);
	return at;
}

static void put_chain(struct packet *packet, struct chance *dice)
{
	static const uint8_t types[] = { DEST, DEST, ROUTING, FRAGMENT, AUTH, HOP };
	unsigned int count = dice_percent(dice, 40) ? 0 :
			     chance_below(dice, dice_percent(dice, 70) ? 3 : 12);
	size_t next = 6;
	uint8_t type;

	while (count--) {
		type = types[chance_below(dice, sizeof(types))];
		if (next == 6 && !dice_percent(dice, 10) && type == HOP)
			type = DEST;
		if (next < packet->len)
			packet->byte[next] = type;
		next = put_extension(packet, dice, type);
	}
	type = dice_percent(dice, 2) ? NONE : some_proto(dice);
	if (next < packet->len)
		packet->byte[next] = type;
	put_transport(packet, dice, type);
}

static void make_ipv6(struct packet *packet, struct chance *dice)
{
	static const uint8_t sources[][16] = {
		{ 0x20, 1, 0xd, 0xb8, 0, 1, [15] = 1 }, { 0x20, 1, 0xd, 0xb8, 0, 2, [15] = 2 },
		{ 0x20, 1, 0xd, 0xb8, 0, 9, [15] = 1 }, { 0 }, { 0xfe, 0x80, [15] = 9 },
		{ 0xfe, 0x80, 1, [15] = 9 }, { 0xff, 2, [15] = 1 }, { [15] = 1 },
	};
	static const uint8_t to[][16] = {
		{ 0x20, 1, 0xd, 0xb8, [15] = 1 }, { 0x20, 1, 0xd, 0xb8, 0, 7, [15] = 1 },
		{ 0xff, 2, [15] = 1 }, { 0xfe, 0x80, [15] = 1 },
	};
	static const uint8_t hops[] = { 64, 255, 255, 1, 1 };
	uint8_t ip[40] = { 0 };

	ip[0] = (dice_percent(dice, 97) ? 6 : chance_below(dice, 16)) << 4;
	ip[7] = hops[chance_below(dice, sizeof(hops))];
	memcpy(ip + 8, sources[chance_below(dice, 8)], 16);
	memcpy(ip + 24, to[chance_below(dice, 4)], 16);
	put(packet, ip, sizeof(ip));
	put_chain(packet, dice);
	put(packet, NULL, chance_below(dice, 30));
	put16(packet->byte + 4, told(dice, packet->len - 40));
}

/* From its network header on */
void packet_make(struct packet *packet, struct chance *dice)
{
	packet->family = chance_below(dice, 2) ? 6 : 4;
	packet->len = 0;
	if (packet->family == 4)
		make_ipv4(packet, dice);
	else
		make_ipv6(packet, dice);
	if (dice_percent(dice, 3))
		packet->len = chance_below(dice, packet->len + 1);
}

static enum received ipv4_received(const struct packet *packet, size_t *len)
{
	const uint8_t *byte = packet->byte;
	size_t header, told, i;
	uint32_t sum = 0;

	if (packet->len < 20 || byte[0] >> 4 != 4)
		return NOT_RECEIVED;
	header = 4 * (byte[0] & 15);
	told = byte[2] << 8 | byte[3];
	if (header < 20 || header > packet->len || told < header || told > packet->len)
		return NOT_RECEIVED;
	for (i = 0; i < header; i += 2)
		sum += byte[i] << 8 | byte[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	*len = told;
	return sum == 0xffff ? RECEIVED : NOT_RECEIVED;
}

static enum received ipv6_received(const struct packet *packet, size_t *len)
{
	static const uint8_t loopback[16] = { [15] = 1 }, pad[] = { 0, 1, 4, 0, 0, 0, 0 };
	const uint8_t *byte = packet->byte;
	size_t told;

	if (packet->len < 40 || byte[0] >> 4 != 6)
		return NOT_RECEIVED;
	told = 40 + (byte[4] << 8 | byte[5]);
	if (byte[8] == 0xff || !memcmp(byte + 8, loopback, 16))
		return NOT_RECEIVED;
	*len = told;
	/* The kernel checks the options of a hop-by-hop header that comes first. */
	if (byte[6] == HOP && (told == 40 || (told <= packet->len &&
	    (told < 48 || memcmp(byte + 41, pad, sizeof(pad))))))
		return WHO_KNOWS;
	return told <= packet->len ? RECEIVED : NOT_RECEIVED;
}

/* Do ip_rcv() and ipv6_rcv() pass a packet to the hooks? If so, @len is set to its header's length. */
enum received packet_received(const struct packet *packet, size_t *len)
{
	return packet->family == 4 ? ipv4_received(packet, len) : ipv6_received(packet, len);
}
