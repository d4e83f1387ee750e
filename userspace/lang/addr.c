// SPDX-License-Identifier: GPL-2.0-or-later
/* Values matched in packets: prefixes, protocols, ports, marks. */

#include <arpa/inet.h>
#include <ctype.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>

#include "lang/field.h"
#include "lang/value.h"

static const char *const families[] = { "ipv4", "ipv6", NULL };

int weir_parse_family(const struct weir_field *field, struct weir_args *args,
		      const char *text, void *at)
{
	int value = weir_pick_name(families, text, args->exact, args->err);

	*(uint8_t *)at = value ? AF_INET6 : AF_INET;
	return value < 0 ? value : 0;
}

const char *weir_text_family(const struct weir_field *field, const void *at, char *buf)
{
	return families[*(const uint8_t *)at != AF_INET];
}

/* /etc/protocols is not used, so that a file means the same on every host. */
const struct weir_word weir_protos[] = {
	{ "tcp", .number = IPPROTO_TCP }, { "udp", .number = IPPROTO_UDP },
	{ "icmp", .number = IPPROTO_ICMP }, { "icmpv6", .number = IPPROTO_ICMPV6 },
	{ "sctp", .number = IPPROTO_SCTP }, { "dccp", .number = IPPROTO_DCCP },
	{ "udplite", .number = IPPROTO_UDPLITE }, { "igmp", .number = IPPROTO_IGMP },
	{ "gre", .number = IPPROTO_GRE }, { "esp", .number = IPPROTO_ESP },
	{ "ah", .number = IPPROTO_AH }, { "ipip", .number = IPPROTO_IPIP },
	{ "ipv6", .number = IPPROTO_IPV6 }, { "pim", .number = IPPROTO_PIM },
	{ "ospf", .number = 89 }, { "vrrp", .number = 112 }, { "eigrp", .number = 88 },
	{ "l2tp", .number = 115 }, { "ipcomp", .number = IPPROTO_COMP },
	{ "ipv6-icmp", .number = IPPROTO_ICMPV6 },
	{ 0 }
};

/* Types of ICMP and ICMPv6, as nft(8) names them. */
const struct weir_word weir_icmp_types[] = {
	{ "echo-reply", .number = 0 }, { "destination-unreachable", .number = 3 },
	{ "source-quench", .number = 4 }, { "redirect", .number = 5 },
	{ "echo-request", .number = 8 }, { "router-advertisement", .number = 9 },
	{ "router-solicitation", .number = 10 }, { "time-exceeded", .number = 11 },
	{ "parameter-problem", .number = 12 }, { "timestamp-request", .number = 13 },
	{ "timestamp-reply", .number = 14 }, { "info-request", .number = 15 },
	{ "info-reply", .number = 16 }, { "address-mask-request", .number = 17 },
	{ "address-mask-reply", .number = 18 },
	{ 0 }
};

const struct weir_word weir_icmpv6_types[] = {
	{ "destination-unreachable", .number = 1 }, { "packet-too-big", .number = 2 },
	{ "time-exceeded", .number = 3 }, { "parameter-problem", .number = 4 },
	{ "echo-request", .number = 128 }, { "echo-reply", .number = 129 },
	{ "mld-listener-query", .number = 130 }, { "mld-listener-report", .number = 131 },
	{ "mld-listener-done", .number = 132 }, { "mld-listener-reduction", .number = 132 },
	{ "nd-router-solicit", .number = 133 }, { "nd-router-advert", .number = 134 },
	{ "nd-neighbor-solicit", .number = 135 }, { "nd-neighbor-advert", .number = 136 },
	{ "nd-redirect", .number = 137 }, { "router-renumbering", .number = 138 },
	{ "ind-neighbor-solicit", .number = 141 }, { "ind-neighbor-advert", .number = 142 },
	{ "mld2-listener-report", .number = 143 },
	{ 0 }
};

static unsigned int family_bits(uint8_t family)
{
	return family == AF_INET ? 32 : 128;
}

/* Clear the host bits; returns whether any was set. */
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

/* Programs log IPv4 clients of an IPv6 socket as ::ffff:192.0.2.1. */
static void unmap(struct weir_prefix *prefix)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (prefix->family != AF_INET6 || prefix->len < 96 ||
	    memcmp(prefix->addr, mapped, sizeof(mapped)))
		return;
	prefix->family = AF_INET;
	prefix->len -= 96;
	memmove(prefix->addr, prefix->addr + 12, 4);
	memset(prefix->addr + 4, 0, 12);
}

/* As ip(8) does, take 10/8 for 10.0.0.0/8. */
static void fill_octets(char *addr, size_t size)
{
	size_t len = strlen(addr);
	unsigned int dots = 0;
	const char *at;

	for (at = addr; *at; at++)
		dots += *at == '.';
	for (; len && len + 2 < size && dots < 3; dots++)
		len += sprintf(addr + len, ".0");
}

/* As ip(8) does, take a netmask for a length. */
static bool read_netmask(const char *text, uint8_t family, uint64_t *bits)
{
	struct in_addr mask;
	uint32_t host;

	if (family != AF_INET || !strchr(text, '.') || inet_pton(AF_INET, text, &mask) != 1)
		return false;
	host = ~ntohl(mask.s_addr);
	*bits = 32 - __builtin_popcount(host);
	return !(host & (host + 1));
}

/* For the name of a list, where a condition takes prefixes. */
static int blame_address(const struct weir_field *field, struct weir_args *args, const char *text)
{
	const char *what = strchr(text, '/') ? "prefix" : "address";
	const char *name = text + (*text == '$' || *text == '@');
	bool cond = field && field->flags & WEIR_NOT;

	if (cond && isalpha((unsigned char)*name) && !strpbrk(name, ":/"))
		return weir_err_set(args->err, "'%.60s' is no address; for a list of that name write '%s-list %.60s'",
				    text, field->word, name);
	if (isdigit((unsigned char)*text) && strchr(text, '-'))
		return weir_err_set(args->err, "'%.60s' is a range: give the prefixes that it consists of",
				    text);
	weir_err_set(args->err, "invalid IPv4 or IPv6 %s '%.60s'", what, text);
	args->err->unknown = true;
	return -EINVAL;
}

int weir_parse_prefix(const struct weir_field *field, struct weir_args *args,
		      const char *text, void *at)
{
	struct weir_err *err = args->err;
	struct weir_prefix *prefix = at;
	char addr[WEIR_TEXT_SIZE], right[WEIR_TEXT_SIZE];
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	uint64_t bits;

	if (field && field->alias && !strcmp(text, field->alias))
		return 0;		/* all: none */
	if (strchr(text, ','))
		return weir_err_set(err, "'%.60s' is a list; each command takes one %s", text,
				    slash ? "prefix" : "address");
	memset(prefix, 0, sizeof(*prefix));
	if (len >= sizeof(addr))
		len = 0;	/* too long: refused below */
	memcpy(addr, text, len);
	addr[len] = '\0';
	prefix->family = strchr(addr, ':') ? AF_INET6 : AF_INET;
	if (!strcmp(text, "any") || !strcmp(text, "all") || !strcmp(text, "default"))
		return weir_err_set(err, "every IPv4 address is 0.0.0.0/0, every IPv6 address ::/0%s",
				    field && field->flags & WEIR_NOT ?
				    "; for both leave the condition out" : "");
	if (slash && prefix->family == AF_INET)
		fill_octets(addr, sizeof(addr));
	if (strchr(addr, '%'))
		return weir_err_set(err, "'%.60s': write the device as a separate argument: 'dev %.20s'",
				    text, strchr(addr, '%') + 1);
	if (inet_pton(prefix->family, addr, prefix->addr) != 1)
		return blame_address(field, args, text);
	prefix->len = family_bits(prefix->family);
	if (slash && !read_netmask(slash + 1, prefix->family, &bits) &&
	    weir_value_number(slash + 1, 0, prefix->len, &bits, err))
		return weir_err_set(err, "'%.60s': prefix length out of range 0..%u",
				    text, prefix->len);
	if (slash)
		prefix->len = bits;
	unmap(prefix);
	if (mask_host_bits(prefix))
		return weir_err_set(err, "'%.60s' has host bits set; did you mean %s?",
				    text, weir_text_prefix(NULL, prefix, right));
	return 0;
}

int weir_parse_member(const struct weir_field *field, struct weir_args *args,
		      const char *text, void *at)
{
	struct weir_member *member = at;
	const char *equals = strchr(text, '=');
	char prefix[WEIR_TEXT_SIZE];

	member->budget = 0;
	if (!text[strspn(text, "0123456789")])
		return weir_err_set(args->err, "'%.60s' is no prefix; for the budget of one write PREFIX=%.60s",
				    text, text);
	if (!equals)
		return weir_parse_prefix(field, args, text, &member->prefix);
	snprintf(prefix, sizeof(prefix), "%.*s", (int)(equals - text), text);
	if (weir_parse_prefix(field, args, prefix, &member->prefix))
		return -EINVAL;
	if (!equals[1 + strspn(equals + 1, "0123456789.kMG")])
		return weir_value_count(equals + 1, 1, WEIR_BYTES_MAX, &member->budget, args->err);
	return weir_err_set(args->err, "'%.60s': a budget in a list is a number, such as 2000 or 10M; its unit and window are those of the limit",
			    equals + 1);
}

bool weir_prefix_holds(const struct weir_prefix *outer, const struct weir_prefix *inner)
{
	unsigned int bytes = outer->len / 8, bits = outer->len % 8;
	uint8_t mask = 0xff00 >> bits;

	return outer->family == inner->family && outer->len <= inner->len &&
	       !memcmp(outer->addr, inner->addr, bytes) &&
	       (!bits || outer->addr[bytes] == (inner->addr[bytes] & mask));
}

void weir_prefix_cut(struct weir_prefix *prefix, uint8_t len)
{
	prefix->len = len;
	mask_host_bits(prefix);
}

bool weir_prefixes_overlap(const void *a, const void *b)
{
	return weir_prefix_holds(a, b) || weir_prefix_holds(b, a);
}

bool weir_ports_overlap(const void *a, const void *b)
{
	const uint16_t *left = a, *right = b;

	return left[0] <= right[1] && right[0] <= left[1];
}

int weir_parse_address(const struct weir_field *field, struct weir_args *args,
		       const char *text, void *at)
{
	const struct weir_prefix *prefix = at;

	if (weir_parse_prefix(NULL, args, text, at))
		return -EINVAL;
	if (prefix->len < family_bits(prefix->family))
		return weir_err_set(args->err, "'%.60s' is a prefix; a single address is required",
				    text);
	return 0;
}

bool weir_types_overlap(const void *a, const void *b)
{
	return *(const uint8_t *)a == *(const uint8_t *)b;
}

bool weir_proto_listed(const char *text)
{
	size_t len = strcspn(text, ",");
	char first[16];

	if (len >= sizeof(first))
		return false;
	memcpy(first, text, len);
	first[len] = '\0';
	return weir_word_find(weir_protos, first);
}

/* Parse the name of an octet, or its number. */
static int read_octet(const struct weir_word *names, const char *what, const char *usual,
		      struct weir_args *args, const char *text, uint8_t *at)
{
	char near[128], hint[160];
	const struct weir_word *name = weir_word_find(names, text);
	uint64_t number = name ? name->number : 0;

	if (name || !weir_value_number(text, 0, 255, &number, args->err)) {
		*at = number;
		return 0;
	}
	snprintf(hint, sizeof(hint), "expected %s, ... or 0..255", usual);
	if (weir_nearest(names, text, near, sizeof(near)))
		snprintf(hint, sizeof(hint), "did you mean %s?", near);
	return weir_err_set(args->err, "unknown %s '%.60s'; %s", what, text, hint);
}

int weir_parse_proto(const struct weir_field *field, struct weir_args *args,
		     const char *text, void *at)
{
	return read_octet(weir_protos, "protocol", "tcp, udp, icmp", args, text, at);
}

int weir_parse_icmp(const struct weir_field *field, struct weir_args *args,
		    const char *text, void *at)
{
	return read_octet(weir_icmp_types, "type", "echo-request", args, text, at);
}

int weir_parse_icmpv6(const struct weir_field *field, struct weir_args *args,
		      const char *text, void *at)
{
	return read_octet(weir_icmpv6_types, "type", "echo-request", args, text, at);
}

/* Parse "A" or "A<mark>B"; returns the count of numbers, 0 on error. */
static int read_pair(const char *text, char mark, uint64_t max, uint64_t max2, uint64_t value[2])
{
	const char *second = strchr(text, mark);
	struct weir_err err;
	char first[16];
	int len = second ? second - text : (int)strlen(text);

	if (snprintf(first, sizeof(first), "%.*s", len, text) >= (int)sizeof(first) ||
	    weir_value_number(first, 0, max, &value[0], &err) ||
	    (second && weir_value_number(second + 1, 0, max2, &value[1], &err)))
		return 0;
	return second ? 2 : 1;
}

int weir_parse_ports(const struct weir_field *field, struct weir_args *args,
		     const char *text, void *at)
{
	uint16_t *ports = at;
	uint64_t value[2];
	int count = read_pair(text, '-', 65535, 65535, value);
	const struct servent *service = count ? NULL : getservbyname(text, NULL);

	if (weir_word_among("any all", text))
		return weir_err_set(args->err, "for all ports leave the condition out");
	if (service)
		return weir_err_set(args->err, "names are not accepted; write %u for '%.60s'",
				    ntohs(service->s_port), text);
	if (!count && read_pair(text, ':', 65535, 65535, value) == 2)
		return weir_err_set(args->err, "write %u-%u", (unsigned int)value[0],
				    (unsigned int)value[1]);
	if (!count)
		return weir_err_set(args->err, "invalid ports '%.60s'; expected PORT[-PORT] in 0..65535",
				    text);
	ports[0] = value[0];
	ports[1] = value[count - 1];
	if (ports[0] > ports[1])
		return weir_err_set(args->err, "ports '%s' are reversed; did you mean %u-%u?", text,
				    ports[1], ports[0]);
	return 0;
}

int weir_parse_mark(const struct weir_field *field, struct weir_args *args,
		    const char *text, void *at)
{
	uint64_t value[2] = { 0, UINT32_MAX };
	uint32_t *mark = at;

	if (!read_pair(text, '/', UINT32_MAX, UINT32_MAX, value))
		return weir_err_set(args->err, "invalid mark '%.60s'; expected VALUE[/MASK] in 0..0xffffffff",
				    text);
	mark[0] = value[0];
	mark[1] = value[1];
	if (mark[0] & ~mark[1])
		return weir_err_set(args->err, "'%.60s' has bits outside its mask; did you mean 0x%x/0x%x?",
				    text, mark[0] & mark[1], mark[1]);
	return 0;
}

int weir_parse_per(const struct weir_field *field, struct weir_args *args,
		   const char *text, void *at)
{
	uint64_t value[2];
	uint8_t *per = at;
	int count = read_pair(text, ',', 32, 128, value);

	if (!count && read_pair(text, '/', 32, 128, value) == 2)
		return weir_err_set(args->err, "write %u,%u", (unsigned int)value[0],
				    (unsigned int)value[1]);
	if (!count && read_pair(text, ',', 128, 128, value) == 1)
		return weir_err_set(args->err, "a single length is for IPv4, 32 at most; for IPv6 write 32,%u",
				    (unsigned int)value[0]);
	if (!count)
		return weir_err_set(args->err, "invalid prefix lengths '%.60s'; expected V4[,V6] in 0..32 and 0..128, 32,64 if left out",
				    text);
	per[0] = value[0];
	per[1] = count == 2 ? value[1] : per[0] ? 64 : 0;
	return 0;
}

bool weir_proto_has_ports(uint8_t proto)
{
	return proto == IPPROTO_TCP || proto == IPPROTO_UDP || proto == IPPROTO_SCTP ||
	       proto == IPPROTO_DCCP || proto == IPPROTO_UDPLITE;
}

bool weir_proto_answers(uint8_t proto)
{
	return proto != IPPROTO_IGMP && proto != IPPROTO_PIM && proto != 88 /* EIGRP */ &&
	       proto != 89 /* OSPF */ && proto != 112 /* VRRP */;
}

const char *weir_text_prefix(const struct weir_field *field, const void *at, char *buf)
{
	const struct weir_prefix *prefix = at;
	size_t len;

	if (!prefix->family) {
		strcpy(buf, "all");
		return buf;
	}
	if (!inet_ntop(prefix->family, prefix->addr, buf, WEIR_TEXT_SIZE))
		strcpy(buf, "?");
	len = strlen(buf);
	if (prefix->len < family_bits(prefix->family))
		snprintf(buf + len, WEIR_TEXT_SIZE - len, "/%u", prefix->len);
	return buf;
}

const char *weir_text_member(const struct weir_field *field, const void *at, char *buf)
{
	const struct weir_member *member = at;
	char amount[WEIR_TEXT_SIZE];

	weir_text_prefix(field, &member->prefix, buf);
	if (member->budget)
		snprintf(buf + strlen(buf), WEIR_TEXT_SIZE - strlen(buf), "=%.40s",
			 weir_text_amount(member->budget, 20, amount));
	return buf;
}

static const char *text_octet(const struct weir_word *name, uint8_t number, char *buf)
{
	while (name->name && name->number != number)
		name++;
	if (name->name)
		return strcpy(buf, name->name);
	sprintf(buf, "%u", number);
	return buf;
}

const char *weir_text_proto(const struct weir_field *field, const void *at, char *buf)
{
	return text_octet(weir_protos, *(const uint8_t *)at, buf);
}

const char *weir_text_icmp(const struct weir_field *field, const void *at, char *buf)
{
	return text_octet(weir_icmp_types, *(const uint8_t *)at, buf);
}

const char *weir_text_icmpv6(const struct weir_field *field, const void *at, char *buf)
{
	return text_octet(weir_icmpv6_types, *(const uint8_t *)at, buf);
}

const char *weir_text_ports(const struct weir_field *field, const void *at, char *buf)
{
	const uint16_t *ports = at;

	if (ports[0] == ports[1])
		snprintf(buf, WEIR_TEXT_SIZE, "%u", ports[0]);
	else
		snprintf(buf, WEIR_TEXT_SIZE, "%u-%u", ports[0], ports[1]);
	return buf;
}

const char *weir_text_mark(const struct weir_field *field, const void *at, char *buf)
{
	const uint32_t *mark = at;

	snprintf(buf, WEIR_TEXT_SIZE, mark[1] == UINT32_MAX ? "0x%" PRIx32 :
		 "0x%" PRIx32 "/0x%" PRIx32, mark[0], mark[1]);
	return buf;
}

const char *weir_text_per(const struct weir_field *field, const void *at, char *buf)
{
	const uint8_t *per = at;

	snprintf(buf, WEIR_TEXT_SIZE, "%u,%u", per[0], per[1]);
	return buf;
}
