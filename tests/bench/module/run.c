// SPDX-License-Identifier: GPL-2.0-or-later
/* A run: pass packets through the hooks, on one or several CPUs at a time. */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/kernel_stat.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/netfilter_ipv4.h>
#include <linux/rcupdate.h>
#include <linux/skbuff.h>
#include <linux/timex.h>
#include <net/ip.h>
#include <net/net_namespace.h>
#include <net/xdp.h>

#include "bench.h"

/* okfn of nf_hook(): no hook here queues packets. */
static int nowhere(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	return 0;
}

/* Begin and end of a measured batch: breakpoints of profile.py. */
noinline void weir_bench_begin(void);
noinline void weir_bench_begin(void)
{
	barrier();
}

noinline void weir_bench_end(void);
noinline void weir_bench_end(void)
{
	barrier();
}

static __always_inline void source_next(struct bench *bench)
{
	u32 n = bench->next;

	/* A generator with a full period for any power of two. */
	bench->next = bench->seq ? n + 1 : (n * 1664525 + 1013904223) & (bench->sources - 1);
	if (bench->pf == NFPROTO_IPV4)
		*(__be32 *)bench->saddr = htonl(bench->base + ((n + bench->skip) << bench->shift));
	else
		*(__be64 *)bench->saddr = cpu_to_be64(bench->base +
						      ((u64)(n + bench->skip) << bench->shift));
}

/*
 * In a real stack thousands of instructions separate two packets, so the cache
 * misses of one do not overlap with those of the next.
 */
static __always_inline void fence(void)
{
#if defined(CONFIG_X86) || defined(CONFIG_UML)
	asm volatile("mfence; lfence" ::: "memory");
#else
	mb(); /* completes all accesses of the packet before */
#endif
}

/* Inlined once with and once without fences, so that the loop has no branch on it. */
static __always_inline void batch(struct bench *bench, unsigned int count, bool fenced)
{
	struct sk_buff *skb = bench->skb;
	unsigned int i, accepted = 0;

	for (i = 0; i < count; i++) {
		source_next(bench);
		skb_get(skb);
		if (fenced)
			fence();
		if (nf_hook(bench->pf, NF_INET_PRE_ROUTING, bench->net, NULL,
			    skb, bench->dev, NULL, nowhere) != 1)
			continue;
		accepted++;
		refcount_dec(&skb->users);
	}
	bench->accepted += accepted;
}

/* As an XDP program would that asks; fenced. */
static void batch_xdp(struct bench *bench, unsigned int count)
{
	struct xdp_rxq_info rxq = { .dev = bench->dev };
	struct sk_buff *skb = bench->skb;
	unsigned int i, accepted = 0;
	struct xdp_buff xdp;

	xdp_init_buff(&xdp, skb_end_offset(skb), &rxq);
	xdp_prepare_buff(&xdp, skb->head, skb->mac_header, ETH_HLEN + skb->len, false);
	for (i = 0; i < count; i++) {
		source_next(bench);
		ip_send_check(ip_hdr(skb));
		fence();
		accepted += !bench->xdp((struct xdp_md *)&xdp);
	}
	bench->accepted += accepted;
}

static void batch_measure(struct bench *bench, unsigned int count, bool counts)
{
	unsigned long flags;
	u64 cycles, ns;

	local_bh_disable();
	rcu_read_lock();
	local_irq_save(flags);
	if (counts)
		weir_bench_begin();
	ns = ktime_get_ns();
	cycles = get_cycles();
	if (bench->xdp && counts)
		batch_xdp(bench, count);
	else if (bench->fence)
		batch(bench, count, true);
	else
		batch(bench, count, false);
	bench->cycles += get_cycles() - cycles;
	bench->ns += ktime_get_ns() - ns;
	if (counts)
		weir_bench_end();
	local_irq_restore(flags);
	rcu_read_unlock();
	local_bh_enable();
}

static void sleep_until(u64 tick)
{
	s64 left;

	while ((left = tick - get_jiffies_64()) > 0)
		schedule_timeout_uninterruptible(left);
}

/* CPUs that are ready to start; CPUs that have not finished. */
static atomic_t ready, sending;

/* All CPUs stop when the first is done, so that none is measured alone. */
static u32 batches(struct bench *bench, u32 count, bool counts)
{
	u32 n, done = 0;

	bench->accepted = 0;
	bench->cycles = 0;
	bench->ns = 0;
	while (done < count) {
		n = min(count - done, bench->batch);
		batch_measure(bench, n, counts);
		done += n;
		cond_resched();
		if (counts && atomic_read(&sending) < (int)bench->cpus)
			break;
	}
	return done;
}

#ifdef CONFIG_UML
/* A clock of the host: 1 is CLOCK_MONOTONIC, 3 CLOCK_THREAD_CPUTIME_ID. */
static u64 host_clock(long clock)
{
	long nr = 228, time[2];

	asm volatile("syscall" : "+a"(nr) : "D"(clock), "S"(time) : "rcx", "r11", "memory");
	return time[0] * NSEC_PER_SEC + time[1];
}

static u64 lost_time(void)
{
	return host_clock(1) - host_clock(3);
}
#else
/* Time used by other tasks, and time stolen by the host. */
static u64 lost_time(void)
{
	u64 lost = kcpustat_this_cpu->cpustat[CPUTIME_STEAL];

#ifdef CONFIG_SCHED_INFO
	lost += current->sched_info.run_delay;
#endif
	return lost;
}
#endif

static void pass(struct bench *bench)
{
	u64 begin = roundup(get_jiffies_64() + 1, bench->align), lost;

	sleep_until(begin);
	batches(bench, bench->warm, false);
	sleep_until(begin + bench->wait);
	atomic_inc(&ready);
	while (atomic_read(&ready) < (int)bench->cpus)
		cond_resched();
	lost = lost_time();
	bench->count = batches(bench, bench->count, true);
	atomic_dec(&sending);
	bench->lost = lost_time() - lost;
}

static DECLARE_COMPLETION(passed);

static int pass_on_cpu(void *bench)
{
	pass(bench);
	complete(&passed);
	return 0;
}

static int passes(struct bench *bench, u32 cpus)
{
	struct task_struct *task[CPUS_MAX];
	u32 i;

	for (i = 0; i < cpus; i++) {
		bench[i].skip += bench->apart ? i * bench->sources : 0;
		task[i] = kthread_create(pass_on_cpu, &bench[i], "weir_bench/%u", i);
		if (IS_ERR(task[i])) {
			while (i--)
				kthread_stop(task[i]);
			return -ENOMEM;
		}
		kthread_bind(task[i], i);
	}
	for (i = 0; i < cpus; i++)
		wake_up_process(task[i]);
	for (i = 0; i < cpus; i++)
		wait_for_completion(&passed);
	return 0;
}

static struct pernet_operations nothing;

/* Wait until namespaces of earlier runs are freed. Context: process. */
int bench_quiet(void)
{
	int error = register_pernet_subsys(&nothing);

	if (error)
		return error;
	unregister_pernet_subsys(&nothing);
	rcu_barrier();
	return 0;
}

static unsigned int hook(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	return (unsigned long)priv;
}

static int pass_all(struct xdp_md *ctx)
{
	return 0;
}

static int drop_all(struct xdp_md *ctx)
{
	return 1;
}

/*
 * Do the run in bench[0], on bench[0].cpus CPUs; each stores its results in its own
 * element. Context: process, one run at a time.
 */
int bench_run(struct bench bench[CPUS_MAX])
{
	struct nf_hook_ops ops = {
		.hook = hook,
		.pf = bench->pf,
		.hooknum = NF_INET_PRE_ROUTING,
		.priority = NF_IP_PRI_RAW_BEFORE_DEFRAG - 1,
		.priv = (void *)(long)bench->hook,
	};
	u32 i, count = max(bench->cpus, 1u);
	int error = bench_quiet();

	if (bench->xdp && bench->hook >= 0)
		bench->xdp = bench->hook == NF_ACCEPT ? pass_all : drop_all;
	for (i = 1; i < count; i++)
		bench[i] = bench[0];
	for (i = 0; i < count && !error; i++)
		error = packet_make(&bench[i]);
	if (!error && bench->hook >= 0)
		error = nf_register_net_hook(bench->net, &ops);
	if (error)
		goto out;
	atomic_set(&ready, 0);
	atomic_set(&sending, count);
	if (bench->cpus)
		error = passes(bench, count);
	else
		pass(bench);
	if (bench->hook >= 0)
		nf_unregister_net_hook(bench->net, &ops);
out:
	for (i = 0; i < count; i++)
		packet_free(&bench[i]);
	return error;
}
