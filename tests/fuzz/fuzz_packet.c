// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer on the packet path: packet.c, match.c and source.c of the module, unchanged, on packets
 * whose linear part may end anywhere, against the twin. An input holds the family, a match, the
 * packet's layout in memory, then its bytes from the network header on.
 */
#include <linux/skbuff.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packet/packet.h"
#include "packets.h"

#define LAYOUT 72	/* bytes of an input before its packet */

struct input {
	const uint8_t *byte;
	size_t left;
};

static unsigned int take(struct input *input, unsigned int bytes)
{
	unsigned int value = 0;

	while (bytes--) {
		value <<= 8;
		if (input->left) {
			value |= *input->byte++;
			input->left--;
		}
	}
	return value;
}

static void take_prefix(struct input *input, struct weir_prefix_list *list)
{
	struct weir_net_prefix *prefix = list->prefix;
	u8 *address = (u8 *)prefix->word;
	unsigned int i;

	list->count = 1;
	prefix->family = take(input, 1) & 1 ? AF_INET6 : AF_INET;
	for (i = 0; i < 16; i++)
		address[i] = take(input, 1);
	prefix->len = take(input, 1) % (prefix->family == AF_INET6 ? 129 : 33);
	for (i = prefix->len; i < 128; i++)
		address[i / 8] &= ~(0x80 >> i % 8);
}

static void take_ports(struct input *input, struct weir_port_list *list)
{
	list->count = 1;
	list->range[0].min = take(input, 2);
	list->range[0].max = take(input, 2);
}

static void take_match(struct input *input, struct weir_match *match)
{
	static const char *const devs[] = { "eth0", "eth1" };

	match->conds = take(input, 2) & 0xfff;
	match->invert = take(input, 2) & match->conds;
	match->family = take(input, 1) & 1 ? AF_INET6 : AF_INET;
	strcpy(match->dev, devs[take(input, 1) & 1]);
	take_prefix(input, &match->from);
	take_prefix(input, &match->to);
	__set_bit(take(input, 1), match->proto);
	__set_bit(take(input, 1), match->proto);
	__set_bit(take(input, 1), match->icmp);
	__set_bit(take(input, 1), match->icmpv6);
	take_ports(input, &match->sport);
	take_ports(input, &match->dport);
	match->mark_mask = take(input, 4);
	match->mark = take(input, 4) & match->mark_mask;
}

/* The checks of ip_rcv() and ipv6_rcv(), which run before the hook. */
static bool received(int family, const uint8_t *byte, size_t *len, size_t *header)
{
	size_t told;

	*header = family == 6 ? 40 : 20;
	if (*len < *header || byte[0] >> 4 != family)
		return false;
	if (family == 4) {
		*header = 4 * (byte[0] & 15);
		told = byte[2] << 8 | byte[3];
		if (*header < 20 || told < *header)
			return false;
	} else {
		told = 40 + (byte[4] << 8 | byte[5]);
		/* A jumbogram has its length in an option. */
		if (told == 40 && byte[6] == 0)
			told = *len;
	}
	if (told > *len || *len < *header)
		return false;
	*len = told;
	return true;
}

/* Build the packet; the input says how many bytes behind the header are linear. */
static void skb_build(struct sk_buff *skb, struct input *input,
		      const uint8_t *byte, size_t len, size_t header)
{
	size_t linear = header + take(input, 1);

	linear = linear < len ? linear : len;
	skb->len = len;
	skb->data_len = len - linear;
	/* Exact sizes, so that the sanitizer checks both ends. */
	skb->network = malloc(linear ?: 1);
	skb->rest = malloc(skb->data_len ?: 1);
	memcpy(skb->network, byte, linear);
	memcpy(skb->rest, byte + linear, skb->data_len);
	skb->transport = header;
	skb->inner_transport = take(input, 1) % (len + 1);
	skb->mark = take(input, 4);
	skb->shinfo.gso_size = take(input, 2);
	skb->shinfo.gso_segs = take(input, 1);
	skb->shinfo.gso_type = take(input, 1);
	skb->encapsulation = take(input, 1) & 1;
}

static void fail(const char *what)
{
	fprintf(stderr, "fuzz_packet: %s\n", what);
	abort();
}

static void check_cost(const struct sk_buff *skb, u8 family)
{
	struct weir_cost cost = weir_packet_cost(skb, family);

	if (!cost.packets || cost.bytes < skb->len)
		fail("a packet costs less than what arrived");
	if (cost.bytes > (u64)cost.packets * skb->len)
		fail("a packet costs more than its segments");
	if (!skb_is_gso(skb) && (cost.packets != 1 || cost.bytes != skb->len))
		fail("a packet costs more than itself");
}

static void check(const struct sk_buff *skb, const uint8_t *byte, u8 family,
		  const struct weir_match *match)
{
	struct twin_packet twin = { .family = family, .byte = byte,
				    .len = skb->len, .dev = "eth0",
				    .mark = skb->mark };
	struct weir_packet packet;
	bool vital;

	twin_read(&twin);
	weir_packet_init(&packet, skb, family);
	/* Only for IPv6 packets that may be vital are later headers read early. */
	vital = weir_packet_may_be_vital(&packet);
	if (!vital && !(packet.flags & WEIR_PACKET_VITAL) != !twin.vital)
		fail("it may be vital");
	weir_packet_parse(&packet);
	if (!(packet.flags & WEIR_PACKET_CUT) != !twin.cut)
		fail("cut or not?");
	if (!(packet.flags & WEIR_PACKET_VITAL) != !twin.vital)
		fail("vital or not?");
	if (weir_match_packet(match, &packet) != twin_meets(&twin, match))
		fail(twin_meets(&twin, match) ? "the limit should meet it" :
		     "the limit should not meet it");
	check_cost(skb, family);
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size < LAYOUT ? size : LAYOUT };
	struct net_device dev = { .name = "eth0", .ifindex = 7 };
	struct weir_match match = { 0 };
	struct sk_buff skb = { .dev = &dev };
	size_t len, header;
	int family;
	u16 cond;

	if (size <= LAYOUT)
		return 0;
	len = size - LAYOUT;
	family = take(&input, 1) & 1 ? 6 : 4;
	take_match(&input, &match);
	if (weir_match_check(&match, &cond))
		return 0;
	if (!received(family, data + LAYOUT, &len, &header))
		return 0;
	skb_build(&skb, &input, data + LAYOUT, len, header);
	check(&skb, data + LAYOUT, family == 6 ? AF_INET6 : AF_INET, &match);
	free(skb.network);
	free(skb.rest);
	return 0;
}

/* Mutate bytes, or make a new packet. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	struct packet packet;
	struct chance dice;

	dice_seed(&dice, seed, 0);
	if (size < LAYOUT || max < LAYOUT + PACKET_MAX || chance_below(&dice, 2))
		return LLVMFuzzerMutate(data, size, max);
	packet_make(&packet, &dice);
	data[0] = packet.family == 6;
	memcpy(data + LAYOUT, packet.byte, packet.len);
	return LAYOUT + packet.len;
}
