// SPDX-License-Identifier: GPL-2.0-only
/*
 * Module and namespace set-up.
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "config/edit.h"
#include "limit/net.h"
#include "limit/stats.h"
#include "netlink/message.h"
#include "path/hook.h"
#include "path/verdict.h"

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

	weir_config_stop(wn);
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

static int __init weir_init(void)
{
	int err;

	err = weir_verdict_init();
	if (err)
		return err;
	err = register_pernet_subsys(&weir_net_ops);
	if (err)
		goto err_verdict;
	err = weir_netlink_init();
	if (err)
		goto err_pernet;
	err = weir_params_limit() ?: weir_xdp_init();
	if (err)
		goto err_netlink;
	return 0;

err_netlink:
	weir_netlink_exit();
err_pernet:
	unregister_pernet_subsys(&weir_net_ops);
err_verdict:
	weir_verdict_exit();
	return err;
}

static void __exit weir_exit(void)
{
	weir_netlink_exit();
	unregister_pernet_subsys(&weir_net_ops);
	weir_verdict_exit();
}

module_init(weir_init);
module_exit(weir_exit);

MODULE_DESCRIPTION("Per-source packet budgets");
MODULE_AUTHOR("the weir authors");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
