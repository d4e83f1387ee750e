// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * queue NUMBER: accept what the kernel queues to user space there (NFQUEUE), so
 * that each packet goes on in the context of this process, but for those that come
 * faster than it is: they go on where they are. Says "ready" when it listens.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_queue.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct nlmsghdr *begin(char *buf, int type, int number)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct nfgenmsg *nfg;

	nlh->nlmsg_type = NFNL_SUBSYS_QUEUE << 8 | type;
	nlh->nlmsg_flags = NLM_F_REQUEST;
	nfg = mnl_nlmsg_put_extra_header(nlh, sizeof(*nfg));
	nfg->nfgen_family = AF_UNSPEC;
	nfg->version = NFNETLINK_V0;
	nfg->res_id = htons(number);
	return nlh;
}

static bool listen_to(struct mnl_socket *nl, int number)
{
	struct nfqnl_msg_config_cmd cmd = { .command = NFQNL_CFG_CMD_BIND };
	struct nfqnl_msg_config_params params = { .copy_mode = NFQNL_COPY_META };
	uint32_t flags = htonl(NFQA_CFG_F_FAIL_OPEN);
	char buf[256];
	struct nlmsghdr *nlh = begin(buf, NFQNL_MSG_CONFIG, number);

	mnl_attr_put(nlh, NFQA_CFG_CMD, sizeof(cmd), &cmd);
	mnl_attr_put(nlh, NFQA_CFG_PARAMS, sizeof(params), &params);
	mnl_attr_put(nlh, NFQA_CFG_FLAGS, sizeof(flags), &flags);
	mnl_attr_put(nlh, NFQA_CFG_MASK, sizeof(flags), &flags);
	return mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) > 0;
}

static bool accept_packet(struct mnl_socket *nl, const struct nlmsghdr *nlh,
			  int number)
{
	struct nfqnl_msg_verdict_hdr verdict = { .verdict = htonl(NF_ACCEPT) };
	const struct nlattr *attr;
	struct nlmsghdr *answer;
	char buf[256];

	mnl_attr_for_each(attr, nlh, sizeof(struct nfgenmsg)) {
		if (mnl_attr_get_type(attr) != NFQA_PACKET_HDR)
			continue;
		verdict.id = ((struct nfqnl_msg_packet_hdr *)
			      mnl_attr_get_payload(attr))->packet_id;
		answer = begin(buf, NFQNL_MSG_VERDICT, number);
		mnl_attr_put(answer, NFQA_VERDICT_HDR, sizeof(verdict), &verdict);
		return mnl_socket_sendto(nl, answer, answer->nlmsg_len) > 0;
	}
	return true;
}

static bool receive(struct mnl_socket *nl, int number)
{
	static char buf[1 << 16];
	ssize_t len = mnl_socket_recvfrom(nl, buf, sizeof(buf));
	const struct nlmsghdr *nlh = (void *)buf;
	int left = len;

	for (; len > 0 && mnl_nlmsg_ok(nlh, left); nlh = mnl_nlmsg_next(nlh, &left))
		if (nlh->nlmsg_type >= NLMSG_MIN_TYPE && !accept_packet(nl, nlh, number))
			return false;
	return len > 0 || (len < 0 && errno == ENOBUFS);
}

int main(int argc, char **argv)
{
	struct mnl_socket *nl = mnl_socket_open(NETLINK_NETFILTER);
	int number = argc > 1 ? atoi(argv[1]) : 0;

	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) ||
	    !listen_to(nl, number)) {
		perror("queue");
		return 1;
	}
	puts("ready");
	fflush(stdout);
	while (receive(nl, number))
		;
	perror("queue");
	return 1;
}
