/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between kernels in netlink, as in compat.h.
 */
#ifndef WEIR_NETLINK_COMPAT_H
#define WEIR_NETLINK_COMPAT_H

#include <linux/module.h>
#include <net/genetlink.h>

/* Older kernels mark groups that need CAP_NET_ADMIN with the flag of operations. */
#ifndef GENL_MCAST_CAP_NET_ADMIN
#define GENL_MCAST_CAP_NET_ADMIN GENL_UNS_ADMIN_PERM
#endif

#ifndef NLA_POLICY_MAX_LEN
#define NLA_POLICY_MAX_LEN(_len) { .type = NLA_BINARY, .len = (_len) }
#endif

#ifndef nla_for_each_attr_type
#define nla_for_each_attr_type(pos, type, head, len, rem)	\
	nla_for_each_attr(pos, head, len, rem)			\
		if (nla_type(pos) == (type))
#define nlmsg_for_each_attr_type(pos, type, nlh, hdrlen, rem)	\
	nla_for_each_attr_type(pos, type, nlmsg_attrdata(nlh, hdrlen), \
			       nlmsg_attrlen(nlh, hdrlen), rem)
#define nla_for_each_nested_type(pos, type, nla, rem)		\
	nla_for_each_attr_type(pos, type, nla_data(nla), nla_len(nla), rem)
#endif

/*
 * Without split operations a command has one entry and one policy for do and dump,
 * and the range of a policy is not const.
 */
#ifndef WEIR_HAS_genl_split_ops
#define genl_split_ops	genl_ops
#define split_ops	ops
#define n_split_ops	n_ops
#undef NLA_POLICY_FULL_RANGE
#define NLA_POLICY_FULL_RANGE(tp, _range) {		\
	.type = NLA_ENSURE_UINT_OR_BINARY_TYPE(tp),	\
	.validation_type = NLA_VALIDATE_RANGE_PTR,	\
	.range = (void *)(_range),			\
}
#endif

/*
 * Call @pre_doit before each operation; the generator knows no such function of a
 * family. Merge the entries of a command on kernels that allow only one.
 */
static inline void weir_genl_prepare(struct genl_family *family,
				     int (*pre_doit)(const struct genl_split_ops *ops,
						     struct sk_buff *skb, struct genl_info *info))
{
	static struct genl_split_ops joined[32] __ro_after_init;
	const struct genl_split_ops *op = family->split_ops;
	unsigned int i, n = 0;

	for (i = 0; i < family->n_split_ops && n < ARRAY_SIZE(joined); i++, op++) {
#ifdef WEIR_HAS_genl_split_ops
		joined[n] = *op;
		if (op->flags & GENL_CMD_CAP_DO)
			joined[n].pre_doit = pre_doit;
		n++;
#else
		family->pre_doit = pre_doit;
		if (n && joined[n - 1].cmd == op->cmd) {
			joined[n - 1].dumpit = op->dumpit;
			joined[n - 1].done = op->done;
		} else {
			joined[n++] = *op;
		}
#endif
	}
	family->split_ops = joined;
	family->n_split_ops = n;
}

static inline struct nlattr **weir_dump_attrs(struct netlink_callback *cb)
{
#ifdef WEIR_HAS_genl_info_dump
	return genl_info_dump(cb)->attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

#endif /* WEIR_NETLINK_COMPAT_H */
