// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Why the module drops nothing early on a device: what takes packets between the driver and its
 * hook, as device_is_direct() and first_hook() in module/path/xdp.c see it. The kernel is asked by
 * netlink, as /sys would tell of the namespace in which it was mounted.
 */

#include "xdp/off.h"

#ifdef WEIR_XDP
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <libmnl/libmnl.h>
#include <linux/ethtool.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_hook.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROOM		32768	/* the kernel's largest dump buffer */
#define TCX_INGRESS	46	/* BPF_TCX_INGRESS, since Linux 6.6 */

/* Dump what a request asks for; false: the kernel refuses it. */
static bool dump(int bus, struct nlmsghdr *request, mnl_cb_t take, void *data)
{
	struct mnl_socket *nl = mnl_socket_open2(bus, SOCK_CLOEXEC);
	static char buf[ROOM] __attribute__((aligned(8)));
	int ret = -1;

	request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	if (nl && mnl_socket_sendto(nl, request, request->nlmsg_len) >= 0)
		do
			ret = mnl_socket_recvfrom(nl, buf, sizeof(buf));
		while (ret > 0 && (ret = mnl_cb_run(buf, ret, 0, 0, take, data)) > 0);
	if (nl)
		mnl_socket_close(nl);
	return !ret;
}

static const struct nlattr *attr_of(const struct nlmsghdr *nlh, size_t skip, uint16_t type)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, skip)
		if (mnl_attr_get_type(attr) == type)
			return attr;
	return NULL;
}

static const struct nlattr *nested_of(const struct nlattr *nest, uint16_t type)
{
	const struct nlattr *attr;

	if (nest)
		mnl_attr_for_each_nested(attr, nest)
			if (mnl_attr_get_type(attr) == type)
				return attr;
	return NULL;
}

struct links {
	int ifindex;		/* of the device */
	bool up, ethernet, slave, vlan;
	char upper[16];		/* kind of one that takes its packets, or "" */
};

static int take_link(const struct nlmsghdr *nlh, void *data)
{
	const struct ifinfomsg *link = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *lower = attr_of(nlh, sizeof(*link), IFLA_LINK);
	const struct nlattr *space = attr_of(nlh, sizeof(*link), IFLA_LINK_NETNSID);
	const struct nlattr *info = attr_of(nlh, sizeof(*link), IFLA_LINKINFO);
	const struct nlattr *attr = nested_of(info, IFLA_INFO_KIND);
	const char *kind = attr ? mnl_attr_get_str(attr) : "";
	struct links *links = data;

	if (link->ifi_index == links->ifindex) {
		links->up = link->ifi_flags & IFF_UP;
		links->ethernet = link->ifi_type == ARPHRD_ETHER;
		links->slave = attr_of(nlh, sizeof(*link), IFLA_MASTER);
	} else if (lower && !space && (int)mnl_attr_get_u32(lower) == links->ifindex) {
		links->vlan |= !strcmp(kind, "vlan");
		if (weir_word_among("macvlan macvtap ipvlan ipvtap macsec", kind))
			strcpy(links->upper, kind);
	}
	return MNL_CB_OK;
}

static void ask_links(struct links *links)
{
	char buf[256] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);

	nlh->nlmsg_type = RTM_GETLINK;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifinfomsg));
	dump(NETLINK_ROUTE, nlh, take_link, links);
}

/* Is a device among the chains of ingress, or the flowtables, of nft? */
struct nft {
	const char *dev;
	bool found;
};

static void find_dev(const struct nlattr *devs, struct nft *nft)
{
	const struct nlattr *attr;

	if (devs)
		mnl_attr_for_each_nested(attr, devs)
			nft->found |= !strcmp(mnl_attr_get_str(attr), nft->dev);
}

static int take_chain(const struct nlmsghdr *nlh, void *data)
{
	const struct nfgenmsg *nfg = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *hook = attr_of(nlh, sizeof(*nfg), NFTA_CHAIN_HOOK);
	const struct nlattr *number = nested_of(hook, NFTA_HOOK_HOOKNUM);
	uint32_t ingress = nfg->nfgen_family == NFPROTO_INET ? NF_INET_INGRESS :
			   NF_NETDEV_INGRESS;

	if (number && ntohl(mnl_attr_get_u32(number)) == ingress)
		find_dev(nested_of(hook, NFTA_HOOK_DEVS), data);
	return MNL_CB_OK;
}

static int take_flowtable(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *hook;

	hook = attr_of(nlh, sizeof(struct nfgenmsg), NFTA_FLOWTABLE_HOOK);
	find_dev(nested_of(hook, NFTA_FLOWTABLE_HOOK_DEVS), data);
	return MNL_CB_OK;
}

static bool ask_nft(uint8_t get, mnl_cb_t take, const char *dev)
{
	char buf[256] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct nft nft = { .dev = dev };

	nlh->nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | get;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct nfgenmsg));
	dump(NETLINK_NETFILTER, nlh, take, &nft);
	return nft.found;
}

/* The first of a list of hooks. */
struct hook {
	bool found;
	char module[32];
	bool ours;		/* one of them is the module's */
};

static int take_hook(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr = attr_of(nlh, sizeof(struct nfgenmsg), NFNLA_HOOK_MODULE_NAME);
	const char *module = attr ? mnl_attr_get_str(attr) : "the kernel";
	struct hook *hook = data;

	hook->ours |= !strcmp(module, "weir");
	if (hook->found)
		return MNL_CB_OK;
	hook->found = true;
	snprintf(hook->module, sizeof(hook->module), "%s", module);
	return MNL_CB_OK;
}

/* The first hook of a family, on @dev or of PRE_ROUTING; false: the kernel does not tell. */
static bool ask_hook(uint8_t family, const char *dev, struct hook *hook)
{
	char buf[256] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct nfgenmsg *nfg = mnl_nlmsg_put_extra_header(nlh, sizeof(*nfg));

	*hook = (struct hook){ 0 };
	nlh->nlmsg_type = NFNL_SUBSYS_HOOK << 8 | NFNL_MSG_HOOK_GET;
	nfg->nfgen_family = family;
	/* both NF_NETDEV_INGRESS and NF_INET_PRE_ROUTING are 0 */
	mnl_attr_put_u32(nlh, NFNLA_HOOK_HOOKNUM, 0);
	if (dev)
		mnl_attr_put_strz(nlh, NFNLA_HOOK_DEV, dev);
	return dump(NETLINK_NETFILTER, nlh, take_hook, hook);
}

struct filters {
	int ifindex;
	bool qdisc, filter;
};

static int take_filter(const struct nlmsghdr *nlh, void *data)
{
	const struct tcmsg *tcm = mnl_nlmsg_get_payload(nlh);
	struct filters *filters = data;

	if (tcm->tcm_ifindex != filters->ifindex)
		return MNL_CB_OK;
	filters->qdisc |= nlh->nlmsg_type == RTM_NEWQDISC && tcm->tcm_parent == TC_H_INGRESS;
	filters->filter |= nlh->nlmsg_type == RTM_NEWTFILTER;
	return MNL_CB_OK;
}

static void ask_tc(uint16_t type, uint32_t parent, struct filters *filters)
{
	char buf[256] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct tcmsg *tcm = mnl_nlmsg_put_extra_header(nlh, sizeof(*tcm));

	nlh->nlmsg_type = type;
	tcm->tcm_ifindex = filters->ifindex;
	tcm->tcm_parent = parent;
	dump(NETLINK_ROUTE, nlh, take_filter, filters);
}

/* Since Linux 6.6 a qdisc for ingress is enough; before, it takes a filter. */
static bool has_filters(int ifindex)
{
	struct filters filters = { .ifindex = ifindex };
	uint32_t flags, count = 0;
	bool tcx = !bpf_prog_query(ifindex, TCX_INGRESS, 0, &flags, NULL, &count);

	if (tcx && count)
		return true;
	ask_tc(RTM_GETQDISC, 0, &filters);
	if (filters.qdisc && !tcx)
		ask_tc(RTM_GETTFILTER, TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS), &filters);
	return tcx ? filters.qdisc : filters.filter;
}

static bool strips_tags(const char *dev)
{
	struct ethtool_value value = { .cmd = ETHTOOL_GFLAGS };
	struct ifreq request = { .ifr_data = (void *)&value };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool strips;

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", dev);
	strips = fd >= 0 && !ioctl(fd, SIOCETHTOOL, &request) && value.data & ETH_FLAG_RXVLAN;
	if (fd >= 0)
		close(fd);
	return strips;
}

static bool find_taker(const char *dev, const struct links *links, char why[WEIR_OFF_SIZE])
{
	struct hook hook;

	*why = '\0';
	if (!links->ethernet)
		snprintf(why, WEIR_OFF_SIZE, "is no Ethernet device");
	else if (links->slave)
		snprintf(why, WEIR_OFF_SIZE, "belongs to a bridge, bond or VRF");
	else if (*links->upper)
		snprintf(why, WEIR_OFF_SIZE, "has a %s device on it", links->upper);
	else if (ask_nft(NFT_MSG_GETCHAIN, take_chain, dev))
		snprintf(why, WEIR_OFF_SIZE, "has an nft ingress chain");
	else if (ask_nft(NFT_MSG_GETFLOWTABLE, take_flowtable, dev))
		snprintf(why, WEIR_OFF_SIZE, "has an nft flowtable");
	else if (ask_hook(NFPROTO_NETDEV, dev, &hook) && hook.found)
		snprintf(why, WEIR_OFF_SIZE, "has a netfilter hook of its ingress");
	else if (has_filters(links->ifindex))
		snprintf(why, WEIR_OFF_SIZE, "has tc filters");
	else if (links->vlan && strips_tags(dev))
		snprintf(why, WEIR_OFF_SIZE, "strips the tags of its VLANs: ethtool -K %s rxvlan off",
			 dev);
	return *why;
}

bool weir_xdp_taken(const char *dev, char why[WEIR_OFF_SIZE])
{
	struct links links = { .ifindex = if_nametoindex(dev) };

	ask_links(&links);
	return find_taker(dev, &links, why);
}

bool weir_xdp_off(const char *dev, char why[WEIR_OFF_SIZE])
{
	struct links links = { .ifindex = if_nametoindex(dev) };
	static const uint8_t families[] = { NFPROTO_IPV4, NFPROTO_IPV6 };
	char taker[WEIR_OFF_SIZE];
	struct hook hook;
	unsigned int i;

	ask_links(&links);
	if (!links.up)
		return snprintf(why, WEIR_OFF_SIZE, "the device is down");
	if (find_taker(dev, &links, taker))
		return snprintf(why, WEIR_OFF_SIZE, "the device %.80s", taker);
	for (i = 0; i < 2 && ask_hook(families[i], NULL, &hook); i++) {
		if (hook.ours && strcmp(hook.module, "weir"))
			return snprintf(why, WEIR_OFF_SIZE, "a hook of %s is before weir's%s",
					hook.module, i ? " for IPv6" : "");
	}
	return false;
}

#endif
