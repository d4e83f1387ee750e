// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * weir_bench: what PRE_ROUTING of a network namespace costs a packet
 *
 * A line written to /proc/weir_bench is a run in the writer's namespace:
 * words of name=value, see struct bench. Packets that exist once are handed to
 * the hooks again and again, with the sources of the run; a reference is kept,
 * so that a drop costs its reference counting and no more. Read, the file says
 *
 *	PACKETS ACCEPTED CYCLES NANOSECONDS
 *
 * of the measured packets of the last run. Interrupts are off in a batch and on
 * between batches, so that time goes on there. A run begins at a tick that is a
 * multiple of @align.
 *
 * seed=N instead makes the kernel's random numbers a series that N begins: how
 * a hash spreads sources does not depend on luck then.
 */
#include <linux/etherdevice.h>
#include <linux/inet.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/skbuff.h>
#include <linux/timex.h>
#include <linux/udp.h>
#include <net/net_namespace.h>

/**
 * struct bench - a run
 * @pf: family of @from and @to
 * @from: the first source
 * @to: destination, of the same family
 * @dport: of UDP
 * @sources: addresses in use, a power of two unless @seq
 * @shift: bits that a source's number is shifted by
 * @skip: number of the first source
 * @seq: in their order, not shuffled
 * @hook: the verdict of a hook of this run's own, or -1
 * @align: ticks
 * @warm: packets that are not measured, first
 * @wait: ticks from the begin to what is measured, at least
 * @count: packets that are
 * @batch: packets with interrupts off
 * @net: the writer's namespace
 * @dev: which packets come from
 * @skb: the packet
 * @saddr: in it, as far as it changes
 * @base: the first source there
 * @next: number of the next source
 * @accepted: packets
 * @cycles: that the measured packets took
 * @ns: likewise
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

	struct net *net;
	struct net_device *dev;
	struct sk_buff *skb;
	void *saddr;
	u64 base;
	u32 next;
	u64 accepted;
	u64 cycles;
	u64 ns;
};

static DEFINE_MUTEX(lock);
static struct bench last;
static u64 accepted;

static int accept(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	accepted++;
	refcount_dec(&skb->users);
	return 0;
}

/* Where a measured batch begins and ends, for who follows it step by step. */
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

	/* A full period, whatever power of two the sources are. */
	bench->next = bench->seq ? n + 1 :
		      (n * 1664525 + 1013904223) & (bench->sources - 1);
	if (bench->pf == NFPROTO_IPV4)
		*(__be32 *)bench->saddr = htonl(bench->base +
						((n + bench->skip) << bench->shift));
	else
		*(__be64 *)bench->saddr = cpu_to_be64(bench->base +
						      ((u64)(n + bench->skip) << bench->shift));
}

static void batch(struct bench *bench, unsigned int count)
{
	struct sk_buff *skb = bench->skb;
	unsigned int i;

	for (i = 0; i < count; i++) {
		source_next(bench);
		skb_get(skb);
		NF_HOOK(bench->pf, NF_INET_PRE_ROUTING, bench->net, NULL, skb,
			bench->dev, NULL, accept);
	}
}

static void batch_measure(struct bench *bench, unsigned int count, bool counts)
{
	unsigned long flags;
	u64 cycles, ns;

	local_bh_disable();
	rcu_read_lock();
	local_irq_save(flags);
	accepted = 0;
	if (counts)
		weir_bench_begin();
	ns = ktime_get_ns();
	cycles = get_cycles();
	batch(bench, count);
	bench->cycles += get_cycles() - cycles;
	bench->ns += ktime_get_ns() - ns;
	if (counts)
		weir_bench_end();
	bench->accepted += accepted;
	local_irq_restore(flags);
	rcu_read_unlock();
	local_bh_enable();
}

static void batches(struct bench *bench, u32 count, bool counts)
{
	u32 n;

	bench->accepted = 0;
	bench->cycles = 0;
	bench->ns = 0;
	for (; count; count -= n) {
		n = min(count, bench->batch);
		batch_measure(bench, n, counts);
		cond_resched();
	}
}

static void put_udp(struct bench *bench, struct udphdr *udp)
{
	udp->source = htons(1024);
	udp->dest = htons(bench->dport);
	udp->len = htons(sizeof(*udp) + 18);
	udp->check = 0;
}

static void put_ipv4(struct bench *bench)
{
	struct iphdr *ip = skb_put_zero(bench->skb, sizeof(*ip));

	ip->version = 4;
	ip->ihl = 5;
	ip->tot_len = htons(sizeof(*ip) + sizeof(struct udphdr) + 18);
	ip->ttl = 64;
	ip->protocol = IPPROTO_UDP;
	ip->saddr = bench->from.ip;
	ip->daddr = bench->to.ip;
	bench->saddr = &ip->saddr;
	bench->base = ntohl(bench->from.ip);
}

static void put_ipv6(struct bench *bench)
{
	struct ipv6hdr *ip = skb_put_zero(bench->skb, sizeof(*ip));

	ip->version = 6;
	ip->payload_len = htons(sizeof(struct udphdr) + 18);
	ip->nexthdr = IPPROTO_UDP;
	ip->hop_limit = 64;
	ip->saddr = bench->from.in6;
	ip->daddr = bench->to.in6;
	/* The network's half: sources differ there. */
	bench->saddr = &ip->saddr;
	bench->base = be64_to_cpu(*(__be64 *)&bench->from.in6);
}

static int packet_make(struct bench *bench)
{
	struct sk_buff *skb = alloc_skb(256, GFP_KERNEL);

	if (!skb)
		return -ENOMEM;
	bench->skb = skb;
	skb_reserve(skb, 64 + ETH_HLEN);
	skb_set_mac_header(skb, -ETH_HLEN);
	skb_reset_network_header(skb);
	if (bench->pf == NFPROTO_IPV4)
		put_ipv4(bench);
	else
		put_ipv6(bench);
	skb_set_transport_header(skb, skb->len);
	put_udp(bench, skb_put(skb, sizeof(struct udphdr)));
	skb_put_zero(skb, 18);
	skb->protocol = htons(bench->pf == NFPROTO_IPV4 ? ETH_P_IP : ETH_P_IPV6);
	skb->dev = bench->dev;
	return 0;
}

/* A device that packets are told to come from; nobody else sees it. */
static int device_make(struct bench *bench)
{
	struct net_device *dev = alloc_netdev(0, "bench0", NET_NAME_USER, ether_setup);

	if (!dev)
		return -ENOMEM;
	dev_net_set(dev, bench->net);
	dev->ifindex = 1000;
	bench->dev = dev;
	return 0;
}

static unsigned int hook(void *priv, struct sk_buff *skb,
			 const struct nf_hook_state *state)
{
	return (unsigned long)priv;
}

static void sleep_until(u64 tick)
{
	s64 left;

	while ((left = tick - get_jiffies_64()) > 0)
		schedule_timeout_uninterruptible(left);
}

static int run(struct bench *bench)
{
	struct nf_hook_ops ops = {
		.hook = hook,
		.pf = bench->pf,
		.hooknum = NF_INET_PRE_ROUTING,
		.priority = NF_IP_PRI_RAW_BEFORE_DEFRAG - 1,
		.priv = (void *)(long)bench->hook,
	};
	int error = device_make(bench);
	u64 begin;

	if (!error)
		error = packet_make(bench);
	if (!error && bench->hook >= 0)
		error = nf_register_net_hook(bench->net, &ops);
	if (error)
		goto out;
	begin = roundup(get_jiffies_64() + 1, bench->align);
	sleep_until(begin);
	batches(bench, bench->warm, false);
	sleep_until(begin + bench->wait);
	batches(bench, bench->count, true);
	if (bench->hook >= 0)
		nf_unregister_net_hook(bench->net, &ops);
out:
	kfree_skb(bench->skb);
	if (bench->dev)
		free_netdev(bench->dev);
	return error;
}

/*
 * The kernel's random numbers. A return probe is the one way to have a say in
 * them; where there are none (UML) they stay what they are.
 */
static u32 seed;

static u32 series_next(void)
{
	seed = seed * 1664525 + 1013904223;
	return seed;
}

#ifdef CONFIG_KRETPROBES
struct random_bytes {
	u8 *to;
	size_t size;
};

static int random_bytes_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct random_bytes *bytes = (void *)ri->data;

	bytes->to = (u8 *)regs_get_kernel_argument(regs, 0);
	bytes->size = regs_get_kernel_argument(regs, 1);
	return 0;
}

static int random_bytes_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct random_bytes *bytes = (void *)ri->data;
	size_t i;

	for (i = 0; seed && i < bytes->size; i++)
		bytes->to[i] = series_next() >> 24;
	return 0;
}

static int random_u32_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if (seed)
		regs_set_return_value(regs, series_next());
	return 0;
}

static struct kretprobe random_bytes = {
	.kp.symbol_name	= "get_random_bytes",
	.entry_handler	= random_bytes_entry,
	.handler	= random_bytes_return,
	.data_size	= sizeof(struct random_bytes),
};

static struct kretprobe random_u32 = {
	.kp.symbol_name	= "get_random_u32",
	.handler	= random_u32_return,
};

static struct kretprobe *probes[] = { &random_bytes, &random_u32 };

static int probes_init(void)
{
	return register_kretprobes(probes, ARRAY_SIZE(probes));
}

static void probes_exit(void)
{
	unregister_kretprobes(probes, ARRAY_SIZE(probes));
}
#else
static int probes_init(void)
{
	return 0;
}

static void probes_exit(void)
{
}
#endif

static bool address(struct bench *bench, const char *text, union nf_inet_addr *to)
{
	if (in4_pton(text, -1, (u8 *)&to->ip, -1, NULL)) {
		bench->pf = NFPROTO_IPV4;
		return true;
	}
	bench->pf = NFPROTO_IPV6;
	return in6_pton(text, -1, (u8 *)&to->in6, -1, NULL);
}

static int word(struct bench *bench, const char *name, const char *value)
{
	struct { const char *name; u32 *to; } numbers[] = {
		{ "dport", &bench->dport }, { "sources", &bench->sources },
		{ "shift", &bench->shift }, { "skip", &bench->skip },
		{ "seq", &bench->seq }, { "align", &bench->align },
		{ "warm", &bench->warm }, { "wait", &bench->wait },
		{ "count", &bench->count }, { "batch", &bench->batch },
		{ "seed", &seed },
	};
	int i;

	if (!strcmp(name, "from"))
		return address(bench, value, &bench->from) ? 0 : -EINVAL;
	if (!strcmp(name, "to"))
		return address(bench, value, &bench->to) ? 0 : -EINVAL;
	if (!strcmp(name, "hook")) {
		bench->hook = !strcmp(value, "accept") ? NF_ACCEPT : NF_DROP;
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!strcmp(name, numbers[i].name))
			return kstrtou32(value, 0, numbers[i].to);
	return -EINVAL;
}

static int words(struct bench *bench, char *text)
{
	char *name, *value;
	int error;

	while ((name = strsep(&text, " \n"))) {
		if (!*name)
			continue;
		value = strchr(name, '=');
		if (!value)
			return -EINVAL;
		*value++ = 0;
		error = word(bench, name, value);
		if (error)
			return error;
	}
	if (!bench->batch || !bench->align || (!bench->seq && !is_power_of_2(bench->sources)))
		return -EINVAL;
	return 0;
}

static ssize_t bench_write(struct file *file, const char __user *from,
			   size_t size, loff_t *pos)
{
	struct bench bench = {
		.dport = 9, .sources = 1, .hook = -1, .batch = 256, .align = 1,
		.net = current->nsproxy->net_ns,
	};
	char *text;
	int error;

	if (size > 1024)
		return -EINVAL;
	text = memdup_user_nul(from, size);
	if (IS_ERR(text))
		return PTR_ERR(text);
	error = words(&bench, text);
	kfree(text);
	if (error)
		return error;
	if (!bench.count)
		return size;
	mutex_lock(&lock);
	error = run(&bench);
	if (!error)
		last = bench;
	mutex_unlock(&lock);
	return error ?: size;
}

static int bench_show(struct seq_file *file, void *v)
{
	mutex_lock(&lock);
	seq_printf(file, "%u %llu %llu %llu\n", last.count, last.accepted,
		   last.cycles, last.ns);
	mutex_unlock(&lock);
	return 0;
}

static int bench_open(struct inode *inode, struct file *file)
{
	return single_open(file, bench_show, NULL);
}

static const struct proc_ops bench_ops = {
	.proc_open	= bench_open,
	.proc_read	= seq_read,
	.proc_write	= bench_write,
	.proc_lseek	= seq_lseek,
	.proc_release	= single_release,
};

static int __init bench_init(void)
{
	int error = probes_init();

	if (error)
		return error;
	if (proc_create("weir_bench", 0600, NULL, &bench_ops))
		return 0;
	probes_exit();
	return -ENOMEM;
}

static void __exit bench_exit(void)
{
	remove_proc_entry("weir_bench", NULL);
	probes_exit();
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("weir: what PRE_ROUTING costs a packet");
MODULE_LICENSE("GPL");
