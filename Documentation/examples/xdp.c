// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An XDP program of one's own that asks weir: it counts what it passes.
 *
 *	clang -O2 -g -target bpf -c xdp.c -o xdp.o
 *	ip link set dev eth0 xdp obj xdp.o sec xdp
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

/* 1: weir would surely refuse the packet, and has counted it as dropped: drop it. */
extern int weir_xdp_refuses(struct xdp_md *ctx) __ksym;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} passed SEC(".maps");

SEC("xdp")
int count_passed(struct xdp_md *ctx)
{
	__u32 key = 0;
	__u64 *count;

	if (weir_xdp_refuses(ctx))
		return XDP_DROP;
	count = bpf_map_lookup_elem(&passed, &key);
	if (count)
		++*count;
	return XDP_PASS;
}

/* weir_xdp_refuses() can only be called from programs under the GPL. */
char _license[] SEC("license") = "GPL";
