/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the harness: parameters (bench.c), packets (packet.c), the run (run.c),
 * reproducible random numbers (seed.c).
 */
#ifndef WEIR_BENCH_H
#define WEIR_BENCH_H

#include <linux/netfilter.h>
#include <linux/types.h>

struct net;
struct net_device;
struct sk_buff;
struct xdp_md;

#define CPUS_MAX 2

/* A benchmark run */
struct bench {
	u8 pf;			/* family of from and to */
	union nf_inet_addr from;	/* the first source */
	union nf_inet_addr to;	/* destination, of the same family */
	u32 dport;		/* UDP destination port */
	u32 sources;		/* addresses in use, a power of two unless seq */
	u32 shift;		/* bits that a source's number is shifted by */
	u32 skip;		/* number of the first source */
	u32 seq;		/* use sources in order, not shuffled */
	int hook;		/* verdict of a hook that the run registers itself, or -1 */
	u32 align;		/* the run begins at a multiple of this many ticks */
	u32 warm;		/* packets sent first, not measured */
	u32 wait;		/* least ticks between the begin and the measured packets */
	u32 count;		/* measured packets */
	u32 batch;		/* packets per batch with interrupts off */
	u32 fence;		/* wait for the memory accesses of one packet before the next */
	u32 cpus;		/* CPUs that send at the same time, or 0: only the writer's */
	u32 apart;		/* each CPU has its own sources */
	int (*xdp)(struct xdp_md *ctx);	/* asked about measured packets, or NULL: the hooks */

	struct net *net;	/* the writer's namespace */
	struct net_device *dev;	/* input device of the packets */
	struct sk_buff *skb;	/* the packet */
	void *saddr;		/* the part of its source address that changes */
	u64 base;		/* first value at saddr */
	u32 next;		/* number of the next source */
	u64 accepted;		/* measured packets that were accepted */
	u64 cycles;		/* CPU cycles that the measured packets took */
	u64 ns;			/* nanoseconds that they took */
	u64 lost;		/* nanoseconds of the measured time in which this CPU ran other tasks */
};

int packet_make(struct bench *bench);
void packet_free(struct bench *bench);

int bench_quiet(void);
int bench_run(struct bench bench[CPUS_MAX]);

extern u32 bench_seed;
int seed_init(void);
void seed_exit(void);

#endif /* WEIR_BENCH_H */
