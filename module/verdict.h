/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The decision on a packet. See the top of verdict.c.
 */
#ifndef WEIR_VERDICT_H
#define WEIR_VERDICT_H

#include <linux/in.h>
#include <linux/socket.h>

#include "limit.h"
#include "weir.h"

/* A packet and what is known of it; each part is filled before it is read. */
struct weir_context {
	struct weir_packet packet;
	struct weir_cost cost;
	struct weir_exempt_place place;	/* its source among the exemptions */
	struct weir_source masked;	/* its source, masked to @prefix */
	struct weir_lookup lookup;	/* in the table of the last limit asked */
	struct weir_prefix prefix;	/* of that limit; invalid at first */
	struct weir_refusal *entry;	/* where its source is cached, or NULL */
	struct weir_source key;		/* of @entry */
};

/**
 * weir_context_refusal - find the refusal cache's entry for a packet
 * @ctx: packet; key is filled
 * @config: configuration
 *
 * Context: BH off.
 * Return: the entry, or NULL if the cache may not answer: more than source and
 *	device decides on the packet, or it costs more than one packet.
 */
static __always_inline struct weir_refusal *
weir_context_refusal(struct weir_context *ctx, const struct weir_config *config)
{
	const struct weir_refusals *refusals = &config->refusals;
	const struct weir_packet *packet = &ctx->packet;
	const struct sk_buff *skb = packet->skb;
	struct weir_source *key = &ctx->key;
	u8 next;

	if (skb_is_gso(skb) || skb_has_extensions((struct sk_buff *)skb) ||
	    packet->flags & WEIR_PACKET_VITAL ||
	    packet->source.scope & WEIR_SCOPE_LINKLOCAL)
		return NULL;
	if (packet->family == AF_INET) {
		*key = (struct weir_source) {
			.word[0] = packet->source.word[0] & refusals->mask4,
		};
	} else {
		next = ipv6_hdr(skb)->nexthdr;
		if (next != IPPROTO_UDP && next != IPPROTO_TCP)
			return NULL;
		key->scope = packet->source.scope;
		key->word[0] = packet->source.word[0] & refusals->mask[0];
		key->word[1] = packet->source.word[1] & refusals->mask[1];
		key->word[2] = packet->source.word[2] & refusals->mask[2];
		key->word[3] = packet->source.word[3] & refusals->mask[3];
	}
	return weir_refusal_entry(refusals, key);
}

unsigned int weir_verdict(struct weir_context *ctx, struct weir_net *wn,
			  const struct weir_config *config);

#endif /* WEIR_VERDICT_H */
