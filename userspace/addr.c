// SPDX-License-Identifier: GPL-2.0-or-later
/* Values that are parts of a packet: prefixes, protocols, ports, marks. */

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <string.h>

#include "value.h"
#include "word.h"

/* Named here, not by /etc/protocols: a file means the same on every host. */
static const struct {
	const char *name;	/* first in every row: weir_nearest() */
	uint8_t number;
	bool ports;
} protos[] = {
	{ "tcp", IPPROTO_TCP, true }, { "udp", IPPROTO_UDP, true },
	{ "icmp", IPPROTO_ICMP, false }, { "icmpv6", IPPROTO_ICMPV6, false },
	{ "sctp", IPPROTO_SCTP, true }, { "dccp", IPPROTO_DCCP, true },
	{ "udplite", IPPROTO_UDPLITE, true }, { "igmp", IPPROTO_IGMP, false },
	{ "gre", IPPROTO_GRE, false }, { "esp", IPPROTO_ESP, false },
	{ "ah", IPPROTO_AH, false }, { "ipip", IPPROTO_IPIP, false },
	{ "ipv6", IPPROTO_IPV6, false }, { "pim", IPPROTO_PIM, false },
	{ "ospf", 89, false }, { "vrrp", 112, false }, { "eigrp", 88, false },
	{ "l2tp", 115, false }, { "ipcomp", IPPROTO_COMP, false },
	{ "ipv6-icmp", IPPROTO_ICMPV6, false },
	{ 0 }
};

static unsigned int family_bits(uint8_t family)
{
	return family == AF_INET ? 32 : 128;
}

/* Clear the host bits; whether there were any. */
static bool mask_host_bits(struct weir_prefix *prefix)
{
	unsigned int bits = family_bits(prefix->family), bit;
	bool any = false;

	for (bit = prefix->len; bit < bits; bit++) {
		uint8_t mask = 0x80 >> bit % 8;

		any |= prefix->addr[bit / 8] & mask;
		prefix->addr[bit / 8] &= ~mask;
	}
	return any;
}

/**
 * weir_value_prefix - read ADDRESS[/LENGTH]
 * @text: what was written
 * @prefix: takes the prefix; a whole address where no length is written
 * @err: takes the sentence
 *
 * Return: 0 or -EINVAL.
 */
int weir_value_prefix(const char *text, struct weir_prefix *prefix,
		      struct weir_err *err)
{
	char addr[WEIR_TEXT_SIZE], right[WEIR_TEXT_SIZE];
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	uint64_t bits;

	memset(prefix, 0, sizeof(*prefix));
	if (len >= sizeof(addr))
		len = 0;	/* too long for any: refused below */
	memcpy(addr, text, len);
	addr[len] = '\0';
	prefix->family = strchr(addr, ':') ? AF_INET6 : AF_INET;
	if (strchr(addr, '%'))
		return weir_err_set(err, "'%.60s': dev %.20s is a word of its own",
				    text, strchr(addr, '%') + 1);
	if (inet_pton(prefix->family, addr, prefix->addr) != 1)
		return weir_err_set(err, "'%.60s' is not an IPv4 or IPv6 %s",
				    text, slash ? "prefix" : "address");
	prefix->len = family_bits(prefix->family);
	if (!slash)
		return 0;
	if (weir_value_number(slash + 1, 0, prefix->len, &bits, err))
		return weir_err_set(err, "'%.60s': prefix length not in 0..%u",
				    text, prefix->len);
	prefix->len = bits;
	if (mask_host_bits(prefix))
		return weir_err_set(err, "'%.60s' has host bits; the prefix is %s",
				    text, weir_text_prefix(prefix, right));
	return 0;
}

/**
 * weir_value_address - read one whole address
 * @text: what was written
 * @address: takes the address, as a prefix of full length
 * @err: takes the sentence
 *
 * Return: 0 or -EINVAL.
 */
int weir_value_address(const char *text, struct weir_prefix *address,
		       struct weir_err *err)
{
	if (strchr(text, '/'))
		return weir_err_set(err, "'%.60s' is a prefix; one address is wanted",
				    text);
	return weir_value_prefix(text, address, err);
}

/**
 * weir_value_proto - read a protocol by name or number
 * @text: what was written
 * @proto: takes the number
 * @err: takes the sentence
 *
 * Return: 0 or -EINVAL.
 */
int weir_value_proto(const char *text, uint8_t *proto, struct weir_err *err)
{
	const char *near;
	uint64_t number;
	size_t i;

	for (i = 0; protos[i].name; i++) {
		if (!strcmp(protos[i].name, text)) {
			*proto = protos[i].number;
			return 0;
		}
	}
	if (!weir_value_number(text, 0, 255, &number, err)) {
		*proto = number;
		return 0;
	}
	near = weir_nearest(protos, sizeof(*protos), text);
	if (near)
		return weir_err_set(err, "'%.60s' is not a protocol; the nearest is '%s'",
				    text, near);
	return weir_err_set(err, "'%.60s' is not a protocol (tcp, udp, icmp, sctp, ... or 0..255)",
			    text);
}

/**
 * weir_value_ports - read PORT[-PORT]
 * @text: what was written
 * @ports: takes the first and the last
 * @err: takes the sentence
 *
 * Return: 0 or -EINVAL.
 */
int weir_value_ports(const char *text, uint16_t ports[2], struct weir_err *err)
{
	const char *dash = strchr(text, '-');
	char first[8];
	uint64_t low, high;
	int len = dash ? dash - text : (int)strlen(text);

	if (len < (int)sizeof(first)) {
		snprintf(first, sizeof(first), "%.*s", len, text);
		if (!weir_value_number(first, 0, 65535, &low, err) &&
		    !weir_value_number(dash ? dash + 1 : first, 0, 65535, &high,
				       err)) {
			if (low > high)
				return weir_err_set(err, "%s: the first port is above the last",
						    text);
			ports[0] = low;
			ports[1] = high;
			return 0;
		}
	}
	return weir_err_set(err, "'%.60s' is not PORT[-PORT], each in 0..65535",
			    text);
}

/**
 * weir_value_mark - read VALUE[/MASK]
 * @text: what was written
 * @mark: takes the value
 * @mask: takes the mask, all ones where none is written
 * @err: takes the sentence
 *
 * Return: 0 or -EINVAL.
 */
int weir_value_mark(const char *text, uint32_t *mark, uint32_t *mask,
		    struct weir_err *err)
{
	const char *slash = strchr(text, '/');
	uint64_t value, bits = UINT32_MAX;
	char first[16];
	int len = slash ? slash - text : (int)strlen(text);

	if (len >= (int)sizeof(first))
		goto bad;
	snprintf(first, sizeof(first), "%.*s", len, text);
	if (weir_value_number(first, 0, UINT32_MAX, &value, err))
		goto bad;
	if (slash && weir_value_number(slash + 1, 0, UINT32_MAX, &bits, err))
		goto bad;
	if (value & ~bits)
		return weir_err_set(err,
				    "'%.60s' has bits outside its mask; the mark is 0x%" PRIx64
				    "/0x%" PRIx64, text, value & bits, bits);
	*mark = value;
	*mask = bits;
	return 0;
bad:
	return weir_err_set(err, "'%.60s' is not VALUE[/MASK], each in 0..0xffffffff",
			    text);
}

/**
 * weir_value_per - read V4[,V6], prefix lengths that make a source
 * @text: what was written
 * @prefix4: takes the length for IPv4
 * @prefix6: takes the length for IPv6: 64 where it is not written, but 0
 *	where that of IPv4 is 0
 * @err: takes the sentence
 *
 * Return: 0 or -EINVAL.
 */
int weir_value_per(const char *text, uint8_t *prefix4, uint8_t *prefix6,
		   struct weir_err *err)
{
	const char *comma = strchr(text, ',');
	uint64_t v4, v6;
	char first[8];
	int len = comma ? comma - text : (int)strlen(text);

	if (len >= (int)sizeof(first))
		goto bad;
	snprintf(first, sizeof(first), "%.*s", len, text);
	if (weir_value_number(first, 0, 32, &v4, err))
		goto bad;
	v6 = v4 ? 64 : 0;
	if (comma && weir_value_number(comma + 1, 0, 128, &v6, err))
		goto bad;
	*prefix4 = v4;
	*prefix6 = v6;
	return 0;
bad:
	return weir_err_set(err, "'%.60s' is not V4[,V6], prefix lengths in 0..32 and 0..128",
			    text);
}

/**
 * weir_proto_has_ports - whether a protocol's header begins with two ports
 * @proto: number of the protocol
 *
 * Return: whether it does.
 */
bool weir_proto_has_ports(uint8_t proto)
{
	size_t i;

	for (i = 0; protos[i].name; i++) {
		if (protos[i].number == proto)
			return protos[i].ports;
	}
	return false;
}

/**
 * weir_proto_answers - whether what this host sends by a protocol is answered
 * @proto: number of the protocol
 *
 * Return: whether it may be; not where neighbours announce themselves.
 */
bool weir_proto_answers(uint8_t proto)
{
	static const uint8_t announce[] = {
		IPPROTO_IGMP, 88 /* EIGRP */, 89 /* OSPF */, IPPROTO_PIM,
		112 /* VRRP */, 0
	};

	return !proto || !strchr((const char *)announce, proto);
}

/**
 * weir_text_prefix - write a prefix as weir_value_prefix() reads it
 * @prefix: the prefix; without a family it is everybody
 * @buf: takes the text
 *
 * Return: @buf.
 */
const char *weir_text_prefix(const struct weir_prefix *prefix,
			     char buf[WEIR_TEXT_SIZE])
{
	size_t len;

	if (!prefix->family) {
		strcpy(buf, "everybody");
		return buf;
	}
	if (!inet_ntop(prefix->family, prefix->addr, buf, WEIR_TEXT_SIZE))
		strcpy(buf, "?");
	len = strlen(buf);
	if (prefix->len < family_bits(prefix->family))
		snprintf(buf + len, WEIR_TEXT_SIZE - len, "/%u", prefix->len);
	return buf;
}

/**
 * weir_text_proto - write a protocol as weir_value_proto() reads it
 * @proto: number of the protocol
 * @buf: takes the text
 *
 * Return: @buf.
 */
const char *weir_text_proto(uint8_t proto, char buf[WEIR_TEXT_SIZE])
{
	size_t i;

	for (i = 0; protos[i].name; i++) {
		if (protos[i].number == proto)
			return strcpy(buf, protos[i].name);
	}
	snprintf(buf, WEIR_TEXT_SIZE, "%u", proto);
	return buf;
}

/**
 * weir_text_ports - write ports as weir_value_ports() reads them
 * @ports: the first and the last
 * @buf: takes the text
 *
 * Return: @buf.
 */
const char *weir_text_ports(const uint16_t ports[2], char buf[WEIR_TEXT_SIZE])
{
	if (ports[0] == ports[1])
		snprintf(buf, WEIR_TEXT_SIZE, "%u", ports[0]);
	else
		snprintf(buf, WEIR_TEXT_SIZE, "%u-%u", ports[0], ports[1]);
	return buf;
}
