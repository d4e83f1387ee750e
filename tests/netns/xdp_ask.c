// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * xdp_ask: an XDP program that asks and lets all packets pass. What it was told is
 * refused has the source MAC 02:00:00:00:00:ee, so that what follows can be compared.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <bpf/bpf_helpers.h>

extern int weir_xdp_refuses(struct xdp_md *ctx) __ksym;

SEC("xdp.frags")
int xdp_ask(struct xdp_md *ctx)
{
	struct ethhdr *eth = (void *)(long)ctx->data;

	if ((void *)(eth + 1) <= (void *)(long)ctx->data_end && weir_xdp_refuses(ctx))
		eth->h_source[ETH_ALEN - 1] = 0xee;
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
