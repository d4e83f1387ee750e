// SPDX-License-Identifier: GPL-2.0-or-later
#include "hook_said.h"
#include "packet_twin.h"

const char said_dev[2][IFNAMSIZ] = { "eth0", "eth1" };

struct weir_net_prefix said_address(bool ipv6, unsigned int i)
{
	struct weir_net_prefix address = { };

	address.family = ipv6 ? AF_INET6 : AF_INET;
	address.len = ipv6 ? 128 : 32;
	if (ipv6) {
		address.word[0] = htonl(0x20010db8);
		address.word[1] = htonl(i / 2);
		address.word[3] = htonl(i % 2);
	} else {
		address.word[0] = htonl(0xc6336400 + (i / 2 << 8) + i % 2);
	}
	return address;
}

struct weir_source said_source(const struct said *said)
{
	struct weir_net_prefix address = said_address(said->ipv6, said->source);
	struct weir_source source;

	if (said->ipv6)
		weir_source_ipv6(&source, (struct in6_addr *)address.word, 1);
	else
		weir_source_ipv4(&source, address.word[0], 1);
	return source;
}

/* Parse the packet's bytes, which it writes to @byte. */
static struct twin_packet said_read(const struct said *said, u8 byte[PACKET_MAX])
{
	struct twin_packet packet = {
		.family = said->ipv6 ? AF_INET6 : AF_INET, .byte = byte,
		.len = said_make(said, byte), .dev = said_dev[said->dev], .mark = said->mark,
	};

	twin_read(&packet);
	return packet;
}

bool said_cut(const struct said *said)
{
	u8 byte[PACKET_MAX];

	return said_read(said, byte).cut;
}

bool said_meets(const struct said *said, const struct weir_match *match)
{
	u8 byte[PACKET_MAX];
	struct twin_packet packet = said_read(said, byte);

	return twin_meets(&packet, match);
}

bool said_exempt(const struct said *said, const struct weir_exception *exempt)
{
	struct weir_match match = {
		.conds = WEIR_COND_FROM | (*exempt->dev ? WEIR_COND_DEV : 0),
		.from = { 1, { exempt->prefix } },
	};

	strcpy(match.dev, exempt->dev);
	return said_meets(said, &match);
}

unsigned int said_make(const struct said *said, u8 byte[PACKET_MAX])
{
	struct weir_net_prefix from = said_address(said->ipv6, said->source);
	struct weir_net_prefix to = said_address(said->ipv6, said->to);
	unsigned int len = said->ipv6 ? 40 : 20, i;

	memset(byte, 0, PACKET_MAX);
	if (said->ipv6) {
		byte[0] = 0x60;
		byte[6] = said->later || said->first ? 44 : said->options ? 60 : said->proto;
		byte[7] = 64;
		memcpy(byte + 8, from.word, 16);
		memcpy(byte + 24, to.word, 16);
		if (said->later || said->first) {
			byte[len] = said->lies ? 60 : said->proto;
			byte[len + 3] = 8 * said->later + said->first;
			len += 8;
		}
		for (i = said->options; i; i--, len += 8)
			byte[len] = i > 1 ? 60 : said->proto;
	} else {
		byte[0] = 0x45;
		byte[6] = said->first ? 0x20 : 0;
		byte[7] = said->later;
		byte[9] = said->proto;
		memcpy(byte + 12, from.word, 4);
		memcpy(byte + 16, to.word, 4);
	}
	byte[len] = 1000 >> 8;
	byte[len + 1] = 1000 & 255;
	byte[len + 3] = said->port;
	byte[len + 12] = 0x50;
	byte[len + 13] = said->flags;
	return len + 20 - said->missing;
}

struct said said_random(struct chance *c)
{
	static const u8 protos[] = { IPPROTO_TCP, IPPROTO_UDP, 47 };
	/* SYN alone begins a connection; with FIN, RST or ACK it does not. */
	static const u8 flags[] = { 2, 2, 2, 16, 3, 6, 18 };
	struct said said = {
		.source = chance_below(c, SOURCES / 2),
		.to = chance_below(c, SOURCES / 2),
		.proto = protos[chance_below(c, 3)],
		.port = chance_below(c, 4),
		.dev = chance_below(c, 2),
		.ipv6 = chance_below(c, 2),
		.later = !chance_below(c, 6),
		.mark = chance_below(c, 4),
		.segments = chance_below(c, 4) ? 1 : 1 + chance_below(c, 12),
	};

	said.flags = flags[chance_below(c, ARRAY_SIZE(flags))];
	said.first = !said.later && !chance_below(c, 6);
	if (said.ipv6 && said.later)
		said.lies = chance_below(c, 2);
	else if (said.ipv6 && !said.first && !chance_below(c, 4))
		said.options = OPTIONS_MAX + chance_below(c, 2);
	if (!chance_below(c, 6))
		said.missing = 1 + chance_below(c, 20);
	if (said.later || said.first || said.options || said.missing || said.proto != IPPROTO_TCP)
		said.segments = 1;
	return said;
}

void prefix_widen(struct weir_net_prefix *prefix)
{
	prefix->len = prefix->family == AF_INET ? 24 : 64;
	if (prefix->family == AF_INET)
		prefix->word[0] &= htonl(0xffffff00);
	prefix->word[3] = 0;
}
