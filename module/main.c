// SPDX-License-Identifier: GPL-2.0-only
/*
 * Module and namespace set-up, and the module's parameters.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "hook.h"
#include "limit.h"
#include "netlink.h"
#include "weir.h"
#include "xdp.h"

static unsigned int weir_net_id __read_mostly;

struct param {
	unsigned int value;	/* first, for param_get_uint(); or the default until given */
	unsigned int min;
	unsigned int max;
	bool given;
};

static int param_set(const char *text, const struct kernel_param *kp)
{
	struct param *param = kp->arg;
	unsigned int value;

	if (kstrtouint(text, 10, &value) || value < param->min || value > param->max) {
		pr_err("%s=%s is not in %u..%u\n", kp->name, text, param->min, param->max);
		return -EINVAL;
	}
	param->value = value;
	param->given = true;
	return 0;
}

static const struct kernel_param_ops param_ops = {
	.set = param_set,
	.get = param_get_uint,
};

static struct param packets = { .min = 1, .max = WEIR_PACKETS_MAX };
static struct param window_ms = { .min = WEIR_WINDOW_MS_MIN, .max = WEIR_WINDOW_MS_MAX };
static struct param slots = { .min = 1, .max = WEIR_SLOTS_MAX };
static struct param prefix4 = { .value = 32, .max = 32 };
static struct param prefix6 = { .value = 64, .max = 128 };
static struct param sources = {
	.value = 65536, .min = WEIR_SOURCES_MIN, .max = WEIR_SOURCES_MAX,
};

static struct param observe = { .max = 1 };

module_param_cb(packets, &param_ops, &packets, 0444);
__MODULE_PARM_TYPE(packets, "uint");
MODULE_PARM_DESC(packets, "Budget of a source, 1 to 4294967295; makes the limit \"default\" (no default)");
module_param_cb(window_ms, &param_ops, &window_ms, 0444);
__MODULE_PARM_TYPE(window_ms, "uint");
MODULE_PARM_DESC(window_ms, "Its window in milliseconds, 10 to 2592000000 (no default)");
module_param_cb(slots, &param_ops, &slots, 0444);
__MODULE_PARM_TYPE(slots, "uint");
MODULE_PARM_DESC(slots, "Slots of the window, 1 to 64 (default: up to 15, as they fit the window)");
module_param_cb(prefix4, &param_ops, &prefix4, 0444);
__MODULE_PARM_TYPE(prefix4, "uint");
MODULE_PARM_DESC(prefix4, "Length of the IPv4 prefix that is one source, 0 to 32 (default 32)");
module_param_cb(prefix6, &param_ops, &prefix6, 0444);
__MODULE_PARM_TYPE(prefix6, "uint");
MODULE_PARM_DESC(prefix6, "Length of the IPv6 prefix that is one source, 0 to 128 (default 64)");
module_param_cb(sources, &param_ops, &sources, 0444);
__MODULE_PARM_TYPE(sources, "uint");
MODULE_PARM_DESC(sources, "Live sources that the table is made for, 64 to 16777216 (default 65536)");
module_param_cb(observe, &param_ops, &observe, 0444);
__MODULE_PARM_TYPE(observe, "uint");
MODULE_PARM_DESC(observe, "1 to count what would be dropped, but drop nothing (default 0)");

struct weir_net *weir_net(const struct net *net)
{
	return net_generic(net, weir_net_id);
}

static int __net_init weir_net_init(struct net *net)
{
	struct weir_net *wn = weir_net(net);

	wn->net = net;
	weir_config_init(wn);
	get_random_bytes(&wn->key, sizeof(wn->key));
	wn->stats = __netdev_alloc_pcpu_stats(struct weir_stats, GFP_KERNEL_ACCOUNT);
	return wn->stats ? 0 : -ENOMEM;
}

/* The core lets a grace period pass between this and weir_net_exit(). */
static void __net_exit weir_net_pre_exit(struct net *net)
{
	struct weir_net *wn = weir_net(net);

	mutex_lock(&wn->lock);
	if (wn->hooked)
		weir_hook_unregister(wn);
	wn->hooked = false;
	mutex_unlock(&wn->lock);
}

static void __net_exit weir_net_exit(struct net *net)
{
	struct weir_net *wn = weir_net(net);

	weir_config_free(wn);
	free_percpu(wn->stats);
}

static struct pernet_operations weir_net_ops = {
	.init		= weir_net_init,
	.pre_exit	= weir_net_pre_exit,
	.exit		= weir_net_exit,
	.id		= &weir_net_id,
	.size		= sizeof(struct weir_net),
};

/* Either no parameter of a limit is given, or those that it requires. */
static int __init params_check(void)
{
	bool others = window_ms.given || slots.given || prefix4.given ||
		      prefix6.given || sources.given || observe.given;

	if (packets.given && !window_ms.given) {
		pr_err("packets needs window_ms, in %u..%u\n", window_ms.min, window_ms.max);
		return -EINVAL;
	}
	if (others && !packets.given) {
		pr_err("a limit needs packets, in %u..%u\n", packets.min, packets.max);
		return -EINVAL;
	}
	return 0;
}

static int __init params_limit(void)
{
	struct weir_error error = { };
	struct weir_limit limit;
	struct weir_edit *edit;
	int err = -ENOMEM;

	if (!packets.given)
		return 0;
	weir_limit_init(&limit, "default");
	limit.budget[0].amount = packets.value;
	limit.budget[0].window_ms = window_ms.value;
	limit.budget[0].slots = slots.value;
	limit.slots_given = slots.given;
	limit.prefix = (struct weir_prefix) { .len4 = prefix4.value, .len6 = prefix6.value };
	limit.sources = sources.value;
	limit.observe = observe.value;
	edit = weir_edit_begin(weir_net(&init_net), false, 0);
	if (edit) {
		err = weir_edit_limit(edit, &limit, NULL, &error);
		err = weir_edit_end(edit, err, &error);
	}
	if (!err)
		return 0;
	if (error.attr == WEIR_A_LIMIT_SLOTS)
		pr_err("slots=%u is not in 1..%llu: %s\n", slots.value, error.value, error.msg);
	else if (error.attr == WEIR_A_LIMIT_SOURCES)
		pr_err("sources=%u takes %llu bytes: %s\n", sources.value, error.value, error.msg);
	else
		pr_err("cannot make the limit \"default\": %d\n", err);
	return err;
}

static int __init weir_init(void)
{
	int err;

	err = params_check();
	if (err)
		return err;
	err = register_pernet_subsys(&weir_net_ops);
	if (err)
		return err;
	err = weir_netlink_init();
	if (err)
		goto err_pernet;
	err = params_limit() ?: weir_xdp_init();
	if (err)
		goto err_netlink;
	return 0;

err_netlink:
	weir_netlink_exit();
err_pernet:
	unregister_pernet_subsys(&weir_net_ops);
	return err;
}

static void __exit weir_exit(void)
{
	weir_netlink_exit();
	unregister_pernet_subsys(&weir_net_ops);
}

module_init(weir_init);
module_exit(weir_exit);

MODULE_DESCRIPTION("Per-source packet budgets");
MODULE_AUTHOR("the weir authors");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
