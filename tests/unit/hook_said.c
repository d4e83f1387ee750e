// SPDX-License-Identifier: GPL-2.0-or-later
#include "hook_said.h"

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

static bool within(struct weir_net_prefix prefix,
		   struct weir_net_prefix address)
{
	unsigned int i;

	if (prefix.family != address.family)
		return false;
	for (i = 0; i < prefix.len; i++)
		if ((ntohl(prefix.word[i / 32] ^ address.word[i / 32]) >>
		     (31 - i % 32)) & 1)
			return false;
	return true;
}

static bool has_ports(const struct said *said)
{
	return said->proto == IPPROTO_TCP || said->proto == IPPROTO_UDP;
}

static bool too_deep(const struct said *said)
{
	return said->options > OPTIONS_MAX;
}

bool said_cut(const struct said *said)
{
	if (too_deep(said))
		return true;
	return !said->later &&
	       (said->missing > 16 ? has_ports(said) :
		said->missing && said->proto == IPPROTO_TCP);
}

/* Conditions that match, inverted or not, because their header is unreadable. */
static u16 open_conds(const struct said *said)
{
	/* A later IPv6 fragment may claim any protocol. */
	u16 open = said->ipv6 && said->later ? WEIR_IF_PROTO : 0;

	if (too_deep(said))
		return WEIR_IF_TRANSPORT;
	if (!said_cut(said))
		return open;
	if (said->missing > 16)
		open |= WEIR_IF_SPORT | WEIR_IF_DPORT;
	return open | WEIR_IF_SYN;
}

static bool within_any(const struct weir_prefix_list *list, struct weir_net_prefix address)
{
	unsigned int i;

	for (i = 0; i < list->count; i++)
		if (within(list->prefix[i], address))
			return true;
	return false;
}

static bool among(const struct weir_port_list *list, u16 port)
{
	unsigned int i;

	for (i = 0; i < list->count; i++)
		if (port >= list->range[i].min && port <= list->range[i].max)
			return true;
	return false;
}

bool said_meets(const struct said *said, const struct weir_match *match)
{
	bool ports = has_ports(said) && !said->later;
	u16 open = open_conds(said);
	u16 holds = 0, carried = WEIR_IF_SPORT | WEIR_IF_DPORT;

	if (match->family == (said->ipv6 ? AF_INET6 : AF_INET))
		holds |= WEIR_IF_FAMILY;
	if (!strcmp(match->dev, said_dev[said->dev]))
		holds |= WEIR_IF_DEV;
	if (within_any(&match->from, said_address(said->ipv6, said->source)))
		holds |= WEIR_IF_FROM;
	if (within_any(&match->to, said_address(said->ipv6, said->to)))
		holds |= WEIR_IF_TO;
	if (match->proto == said->proto)
		holds |= WEIR_IF_PROTO;
	if (among(&match->sport, 1000))
		holds |= WEIR_IF_SPORT;
	if (among(&match->dport, said->port))
		holds |= WEIR_IF_DPORT;
	if (said->syn)
		holds |= WEIR_IF_SYN;
	if (said->later)
		holds |= WEIR_IF_FRAG;
	if ((said->mark & match->mark_mask) == match->mark)
		holds |= WEIR_IF_MARK;
	if (match->conds & carried & ~open && !ports)
		return false;
	if (match->conds & WEIR_IF_SYN & ~open &&
	    (said->proto != IPPROTO_TCP || said->later))
		return false;
	return (((holds ^ match->invert) | open) & match->conds) == match->conds;
}

bool said_exempt(const struct said *said, const struct weir_exempt *exempt)
{
	return within(exempt->prefix, said_address(said->ipv6, said->source)) &&
	       (!*exempt->dev || !strcmp(exempt->dev, said_dev[said->dev]));
}

unsigned int said_make(const struct said *said, u8 byte[PACKET_MAX])
{
	struct weir_net_prefix from = said_address(said->ipv6, said->source);
	struct weir_net_prefix to = said_address(said->ipv6, said->to);
	unsigned int len = said->ipv6 ? 40 : 20, i;

	memset(byte, 0, PACKET_MAX);
	if (said->ipv6) {
		byte[0] = 0x60;
		byte[6] = said->later || said->first ? 44 :
			  said->options ? 60 : said->proto;
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
	said.syn = said.proto == IPPROTO_TCP && said.flags == 2;
	said.first = !said.later && !chance_below(c, 6);
	if (said.ipv6 && said.later)
		said.lies = chance_below(c, 2);
	else if (said.ipv6 && !said.first && !chance_below(c, 4))
		said.options = OPTIONS_MAX + chance_below(c, 2);
	if (!chance_below(c, 6))
		said.missing = 1 + chance_below(c, 20);
	if (said.later || said.first || said.options || said.missing ||
	    said.proto != IPPROTO_TCP)
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
