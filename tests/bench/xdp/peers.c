// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * XDP programs of the bench: weir's question, and two token buckets for each source as
 * people write them: in an LRU hash without a lock, so that counts are lost when CPUs
 * race; in a hash with bpf_spin_lock, where newcomers find no entry once it is full.
 * Each takes the next source of the run first, as the empty program does, which only
 * returns. The address changes the checksum of the IP header as much as the id does.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define BURST	10
#define REFILL	(8000ull * 1000 * 1000)	/* ns for a token: 10 in 80 s */

extern int weir_xdp_refuses(struct xdp_md *ctx) __ksym __weak;

struct bucket {
	__u64 tokens;
	__u64 last;
};

struct locked_bucket {
	struct bpf_spin_lock lock;
	__u64 tokens;
	__u64 last;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 131072);
	__type(key, __u32);
	__type(value, struct bucket);
} lru SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 131072);
	__type(key, __u32);
	__type(value, struct locked_bucket);
} hash SEC(".maps");

__u32 next;		/* source */
__u64 dropped;

static __always_inline struct iphdr *source_next(struct xdp_md *ctx, __u32 mask)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct iphdr *ip = data + sizeof(struct ethhdr);
	__u32 low, sum;

	if ((void *)(ip + 1) > end)
		return 0;
	next = next * 1664525 + 1013904223;
	low = next & mask;
	ip->saddr = bpf_htonl(0x0a000000 | low);
	sum = (low >> 16) + (low & 0xffff);
	ip->id = bpf_htons(~(sum + (sum >> 16)));
	return ip;
}

static __always_inline int verdict(int drop)
{
	dropped += drop;
	return drop ? XDP_DROP : XDP_PASS;
}

static __always_inline int run_empty(struct xdp_md *ctx, struct iphdr *ip)
{
	return 0;
}

static __always_inline int run_weir(struct xdp_md *ctx, struct iphdr *ip)
{
	return weir_xdp_refuses(ctx);
}

/* What time is it? All that the peers ask of the kernel besides their hash. */
static __always_inline int run_clock(struct xdp_md *ctx, struct iphdr *ip)
{
	return !bpf_ktime_get_ns();
}

/* Fill up what has passed since; is there no token? */
static __always_inline int take(__u64 *tokens, __u64 *last, __u64 now)
{
	__u64 more = (now - *last) / REFILL;

	if (more) {
		*tokens = *tokens + more > BURST ? BURST : *tokens + more;
		*last += more * REFILL;
	}
	if (!*tokens)
		return 1;
	--*tokens;
	return 0;
}

static __always_inline int run_lru(struct xdp_md *ctx, struct iphdr *ip)
{
	struct bucket fresh = { BURST - 1, bpf_ktime_get_ns() }, *bucket;
	__u32 key = ip->saddr;

	bucket = bpf_map_lookup_elem(&lru, &key);
	if (bucket)
		return take(&bucket->tokens, &bucket->last, fresh.last);
	bpf_map_update_elem(&lru, &key, &fresh, BPF_ANY);
	return 0;
}

static __always_inline int run_lock(struct xdp_md *ctx, struct iphdr *ip)
{
	struct locked_bucket fresh = { .tokens = BURST - 1, .last = bpf_ktime_get_ns() }, *bucket;
	__u32 key = ip->saddr;
	int drop;

	bucket = bpf_map_lookup_elem(&hash, &key);
	if (!bucket) {
		bpf_map_update_elem(&hash, &key, &fresh, BPF_NOEXIST);
		return 0;
	}
	bpf_spin_lock(&bucket->lock);
	drop = take(&bucket->tokens, &bucket->last, fresh.last);
	bpf_spin_unlock(&bucket->lock);
	return drop;
}

#define PROGRAM(name, of, mask)						\
SEC("xdp") int name(struct xdp_md *ctx)					\
{									\
	struct iphdr *ip = source_next(ctx, mask);			\
									\
	return ip ? verdict(run_##of(ctx, ip)) : XDP_ABORTED;		\
}

PROGRAM(empty_1, empty, 0)
PROGRAM(empty_64k, empty, 0xffff)
PROGRAM(empty_1m, empty, 0xfffff)
PROGRAM(clock_1, clock, 0)
PROGRAM(clock_64k, clock, 0xffff)
PROGRAM(clock_1m, clock, 0xfffff)
PROGRAM(clock_16m, clock, 0xffffff)
PROGRAM(weir_1, weir, 0)
PROGRAM(weir_64k, weir, 0xffff)
PROGRAM(lru_1, lru, 0)
PROGRAM(lru_64k, lru, 0xffff)
PROGRAM(lru_1m, lru, 0xfffff)
PROGRAM(lock_1, lock, 0)
PROGRAM(lock_64k, lock, 0xffff)
PROGRAM(lock_1m, lock, 0xfffff)
PROGRAM(empty_16m, empty, 0xffffff)
PROGRAM(weir_16m, weir, 0xffffff)
PROGRAM(lru_16m, lru, 0xffffff)
PROGRAM(lock_16m, lock, 0xffffff)

SEC("xdp") int drop_all(struct xdp_md *ctx)
{
	return XDP_DROP;
}

char _license[] SEC("license") = "GPL";
