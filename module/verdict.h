/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The decision on a packet. See the top of verdict.c.
 */
#ifndef WEIR_VERDICT_H
#define WEIR_VERDICT_H

#include <linux/in.h>
#include <linux/socket.h>

#include "limit.h"
#include "packet.h"
#include "weir.h"

/**
 * weir_refusal_find - the entry of the refusal cache that may answer a packet
 * @cache: this CPU's
 * @refusals: of the configuration
 * @skb: packet in PRE_ROUTING
 * @family: AF_INET or AF_INET6
 * @key: filled with its source, masked
 *
 * Return: NULL if more than source and device decides on the packet, or if it
 *	costs more than one packet.
 */
static __always_inline struct weir_refusal *
weir_refusal_find(const struct weir_refusal_cache *cache,
		  const struct weir_refusals *refusals,
		  const struct sk_buff *skb, u8 family, struct weir_source *key)
{
	u8 next;

	if (skb_is_gso(skb) || skb_has_extensions((struct sk_buff *)skb))
		return NULL;
	if (family == AF_INET) {
		weir_source_ipv4(key, ip_hdr(skb)->saddr, 0);
	} else {
		next = ipv6_hdr(skb)->nexthdr;
		if (next != IPPROTO_UDP && next != IPPROTO_TCP)
			return NULL;
		weir_source_ipv6(key, &ipv6_hdr(skb)->saddr, 0);
	}
	if (!weir_source_known(key) || key->scope & WEIR_SCOPE_LINKLOCAL)
		return NULL;
	if (family == AF_INET) {
		key->word[0] &= refusals->key.ipv4;
	} else {
		key->word[0] &= refusals->key.ipv6[0];
		key->word[1] &= refusals->key.ipv6[1];
		key->word[2] &= refusals->key.ipv6[2];
		key->word[3] &= refusals->key.ipv6[3];
	}
	return weir_refusal_entry(cache, refusals, key);
}

unsigned int weir_verdict(struct sk_buff *skb, u8 family, struct weir_net *wn,
			  const struct weir_config *config,
			  struct weir_refusal *entry);

#endif /* WEIR_VERDICT_H */
