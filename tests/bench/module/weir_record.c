// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * weir_record: record which packets reach PRE_ROUTING of a network namespace, and
 * which of them pass the limits there, with their times
 *
 * Writing "start N" to /proc/weir_record records up to N packets in the writer's
 * namespace, before all hooks and again behind the raw tables, where all
 * but TCP is dropped; "stop" ends it. The file reads as an array of struct record.
 */
#include <linux/ip.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/proc_fs.h>
#include <linux/skbuff.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <net/net_namespace.h>

/* A packet at one of the two hooks */
struct record {
	__be32 source;
	u32 came;	/* jiffies at the first hook */
	u32 tick;	/* jiffies at this hook */
	u32 passed;	/* true at the second hook */
};

static DEFINE_MUTEX(lock);
static struct net *net;
static struct record *records;
static u32 room;
static atomic_t used;

static void record(const struct sk_buff *skb, bool passed)
{
	u32 index = atomic_inc_return(&used) - 1;

	if (index >= room)
		return;
	records[index] = (struct record) {
		.source = ip_hdr(skb)->saddr,
		.came = skb->mark,
		.tick = jiffies,
		.passed = passed,
	};
}

static unsigned int hook_first(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	/* Nothing else uses the mark here. */
	skb->mark = jiffies;
	record(skb, false);
	return NF_ACCEPT;
}

static unsigned int hook_last(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	record(skb, true);
	/* TCP is answered, so that clients see it. */
	return ip_hdr(skb)->protocol == IPPROTO_TCP ? NF_ACCEPT : NF_DROP;
}

static const struct nf_hook_ops ops[] = {
	{ .hook = hook_first, .pf = NFPROTO_IPV4, .hooknum = NF_INET_PRE_ROUTING,
	  .priority = NF_IP_PRI_FIRST },
	{ .hook = hook_last, .pf = NFPROTO_IPV4, .hooknum = NF_INET_PRE_ROUTING,
	  .priority = NF_IP_PRI_RAW + 1 },
};

static void stop(void)
{
	if (!net)
		return;
	nf_unregister_net_hooks(net, ops, ARRAY_SIZE(ops));
	put_net(net);
	net = NULL;
}

static int start(u32 count)
{
	int error;

	stop();
	vfree(records);
	atomic_set(&used, 0);
	room = 0;
	records = vzalloc(array_size(count, sizeof(*records)));
	if (!records)
		return -ENOMEM;
	room = count;
	net = get_net(current->nsproxy->net_ns);
	error = nf_register_net_hooks(net, ops, ARRAY_SIZE(ops));
	if (error) {
		put_net(net);
		net = NULL;
	}
	return error;
}

static ssize_t record_write(struct file *file, const char __user *from, size_t size, loff_t *pos)
{
	char text[32] = "";
	int error = -EINVAL;
	u32 count;

	if (size >= sizeof(text) || copy_from_user(text, from, size))
		return -EINVAL;
	mutex_lock(&lock);
	if (sscanf(text, "start %u", &count) == 1) {
		error = start(count);
	} else if (!strncmp(text, "stop", 4)) {
		stop();
		error = 0;
	}
	mutex_unlock(&lock);
	return error ?: size;
}

static ssize_t record_read(struct file *file, char __user *to, size_t size, loff_t *pos)
{
	ssize_t result;

	mutex_lock(&lock);
	result = simple_read_from_buffer(to, size, pos, records,
					 min_t(u32, atomic_read(&used), room) * sizeof(*records));
	mutex_unlock(&lock);
	return result;
}

static const struct proc_ops record_ops = {
	.proc_write	= record_write,
	.proc_read	= record_read,
	.proc_lseek	= default_llseek,
};

static int __init record_init(void)
{
	return proc_create("weir_record", 0600, NULL, &record_ops) ? 0 : -ENOMEM;
}

static void __exit record_exit(void)
{
	remove_proc_entry("weir_record", NULL);
	stop();
	vfree(records);
}

module_init(record_init);
module_exit(record_exit);
MODULE_DESCRIPTION("weir: what arrives in PRE_ROUTING, and what passes");
MODULE_LICENSE("GPL");
