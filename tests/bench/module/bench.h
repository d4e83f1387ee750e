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

#define CPUS_MAX 2

/**
 * struct bench - a benchmark run
 * @pf: family of @from and @to
 * @from: the first source
 * @to: destination, of the same family
 * @dport: UDP destination port
 * @sources: addresses in use, a power of two unless @seq
 * @shift: bits that a source's number is shifted by
 * @skip: number of the first source
 * @seq: use sources in order, not shuffled
 * @hook: verdict of a hook that the run registers itself, or -1
 * @align: the run begins at a multiple of this many ticks
 * @warm: packets sent first, not measured
 * @wait: least ticks between the begin and the measured packets
 * @count: measured packets
 * @batch: packets per batch with interrupts off
 * @fence: wait for the memory accesses of one packet before the next
 * @cpus: CPUs that send at the same time, or 0: only the writer's
 * @apart: each CPU has its own sources
 * @net: the writer's namespace
 * @dev: input device of the packets
 * @skb: the packet
 * @saddr: the part of its source address that changes
 * @base: first value at @saddr
 * @next: number of the next source
 * @accepted: measured packets that were accepted
 * @cycles: CPU cycles that the measured packets took
 * @ns: nanoseconds that they took
 * @lost: nanoseconds of the measured time in which this CPU ran other tasks
 */
struct bench {
	u8 pf;
	union nf_inet_addr from;
	union nf_inet_addr to;
	u32 dport;
	u32 sources;
	u32 shift;
	u32 skip;
	u32 seq;
	int hook;
	u32 align;
	u32 warm;
	u32 wait;
	u32 count;
	u32 batch;
	u32 fence;
	u32 cpus;
	u32 apart;

	struct net *net;
	struct net_device *dev;
	struct sk_buff *skb;
	void *saddr;
	u64 base;
	u32 next;
	u64 accepted;
	u64 cycles;
	u64 ns;
	u64 lost;
};

int packet_make(struct bench *bench);
void packet_free(struct bench *bench);

int bench_quiet(void);
int bench_run(struct bench bench[CPUS_MAX]);

extern u32 bench_seed;
int seed_init(void);
void seed_exit(void);

#endif /* WEIR_BENCH_H */
