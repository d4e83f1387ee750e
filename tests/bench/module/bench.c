// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * weir_bench: measure the cost of PRE_ROUTING in a network namespace, per packet
 *
 * A line written to /proc/weir_bench, of words name=value (see struct bench),
 * starts a run in the writer's namespace. It passes one packet to the hooks
 * again and again, with changing sources; a reference is kept, so that a drop
 * costs only its reference counting. The file reads
 *
 *	PACKETS ACCEPTED CYCLES NANOSECONDS
 *
 * of the measured packets of the last run; after cpus=N it has a line for each CPU,
 * with the nanoseconds of that time in which the CPU ran something else or idled.
 * Interrupts are off during a batch and on between batches, so that jiffies
 * advance. A run begins at a tick that is a multiple of @align.
 *
 * xdp=ADDRESS, with IPv4: what is measured is the function of that address (weir_xdp_refuses())
 * called with each packet as an XDP program would; with hook=VERDICT, one that returns it.
 *
 * A line without a count waits until namespaces of earlier runs are freed.
 * seed=N replaces the kernel's random numbers by a series seeded with N, so that
 * hashes spread sources the same way in each run.
 */
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <net/net_namespace.h>

#include "bench.h"

static DEFINE_MUTEX(lock);
static struct bench last[CPUS_MAX];

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
		{ "shift", &bench->shift }, { "skip", &bench->skip }, { "seq", &bench->seq },
		{ "align", &bench->align }, { "warm", &bench->warm }, { "wait", &bench->wait },
		{ "count", &bench->count }, { "batch", &bench->batch }, { "fence", &bench->fence },
		{ "cpus", &bench->cpus }, { "apart", &bench->apart }, { "seed", &bench_seed },
	};
	int i;

	if (!strcmp(name, "xdp"))
		return kstrtoul(value, 0, (unsigned long *)&bench->xdp);
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

	while ((name = strsep(&text, "\n "))) {
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
	if (!bench->batch || !bench->align || (!bench->seq && !is_power_of_2(bench->sources)) ||
	    bench->cpus > min_t(u32, CPUS_MAX, num_online_cpus()) ||
	    (bench->xdp && bench->pf != NFPROTO_IPV4))
		return -EINVAL;
	return 0;
}

static ssize_t bench_write(struct file *file, const char __user *from, size_t size, loff_t *pos)
{
	struct bench bench[CPUS_MAX] = { {
		.dport = 9, .sources = 1, .hook = -1, .batch = 256, .align = 1,
		.net = current->nsproxy->net_ns,
	} };
	char *text;
	int error;

	if (size > 1024)
		return -EINVAL;
	text = memdup_user_nul(from, size);
	if (IS_ERR(text))
		return PTR_ERR(text);
	error = words(bench, text);
	kfree(text);
	if (error)
		return error;
	mutex_lock(&lock);
	error = bench->count ? bench_run(bench) : bench_quiet();
	if (!error && bench->count)
		memcpy(last, bench, sizeof(last));
	mutex_unlock(&lock);
	return error ?: size;
}

static int bench_show(struct seq_file *file, void *v)
{
	u32 i;

	mutex_lock(&lock);
	if (!last->cpus)
		seq_printf(file, "%u %llu %llu %llu\n", last->count,
			   last->accepted, last->cycles, last->ns);
	for (i = 0; i < last->cpus; i++)
		seq_printf(file, "%u %llu %llu %llu %llu\n", last[i].count,
			   last[i].accepted, last[i].cycles, last[i].ns, last[i].lost);
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
	int error = seed_init();

	if (error)
		return error;
	if (proc_create("weir_bench", 0600, NULL, &bench_ops))
		return 0;
	seed_exit();
	return -ENOMEM;
}

static void __exit bench_exit(void)
{
	remove_proc_entry("weir_bench", NULL);
	seed_exit();
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("weir: what PRE_ROUTING costs a packet");
MODULE_LICENSE("GPL");
