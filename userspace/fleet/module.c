// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts of the module: dumps of what changed, and requests that add to it. */

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "module.h"

#define RECEIVE_SIZE	32768	/* the kernel's largest dump buffer */
#define HEADERS		(NLMSG_HDRLEN + GENL_HDRLEN)
#define SOURCE_BYTES	256	/* at most, of a source that is added */
#define NUMBER_MAX	(1ULL << 57)	/* of a slot */

static int fail(struct weir_err *err, const char *what)
{
	int ret = -errno;

	weir_err_set(err, "%s: %s", what, strerror(errno));
	return ret;
}

static struct nlmsghdr *begin(struct fleet_module *module, void *room, uint16_t type,
			      uint16_t flags, uint8_t cmd)
{
	struct nlmsghdr *msg = mnl_nlmsg_put_header(room);
	struct genlmsghdr *genl = mnl_nlmsg_put_extra_header(msg, sizeof(*genl));

	msg->nlmsg_type = type;
	msg->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	msg->nlmsg_seq = ++module->seq;
	genl->cmd = cmd;
	genl->version = WEIR_FAMILY_VERSION;
	return msg;
}

/* The kernel's sentence, or that of errno. */
static int refused(const struct nlmsghdr *nlh, struct weir_err *err)
{
	const struct nlmsgerr *error = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;
	size_t at = sizeof(*error);

	if (!error->error)
		return 0;
	errno = -error->error;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		at += error->msg.nlmsg_len - NLMSG_HDRLEN;
	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return fail(err, "the module");
	mnl_attr_for_each(attr, nlh, at)
		if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG) {
			weir_err_set(err, "%.300s", mnl_attr_get_str(attr));
			return error->error;
		}
	return fail(err, "the module");
}

/* Send a request, and call take() for each answer. *interrupted: what was dumped changed. */
static int ask(struct fleet_module *module, const struct nlmsghdr *msg,
	       void (*take)(const struct nlmsghdr *nlh, void *data), void *data,
	       bool *interrupted, struct weir_err *err)
{
	char buffer[RECEIVE_SIZE] __attribute__((aligned(8)));
	const struct nlmsghdr *nlh;
	int length;

	if (send(module->fd, msg, msg->nlmsg_len, 0) < 0)
		return fail(err, "cannot ask the module");
	for (;;) {
		length = recv(module->fd, buffer, sizeof(buffer), 0);
		if (length < 0)
			return fail(err, "cannot hear the module");
		nlh = (const struct nlmsghdr *)buffer;
		for (; mnl_nlmsg_ok(nlh, length); nlh = mnl_nlmsg_next(nlh, &length)) {
			if (nlh->nlmsg_seq != module->seq)
				continue;
			*interrupted |= !!(nlh->nlmsg_flags & NLM_F_DUMP_INTR);
			if (nlh->nlmsg_type == NLMSG_ERROR)
				return refused(nlh, err);
			if (nlh->nlmsg_type == NLMSG_DONE)
				return 0;
			if (nlh->nlmsg_len >= HEADERS && take)
				take(nlh, data);
		}
	}
}

static void take_family(const struct nlmsghdr *nlh, void *data)
{
	struct fleet_module *module = data;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, GENL_HDRLEN)
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
			module->family = mnl_attr_get_u16(attr);
}

int fleet_module_open(struct fleet_module *module, struct weir_err *err)
{
	char room[256] __attribute__((aligned(8)));
	bool unused = false;
	struct nlmsghdr *msg;
	int one = 1, ret;

	*module = (struct fleet_module){
		.fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC),
	};
	if (module->fd < 0)
		return fail(err, "the kernel gives no netlink socket");
	setsockopt(module->fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(module->fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	msg = begin(module, room, GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY);
	mnl_attr_put_strz(msg, CTRL_ATTR_FAMILY_NAME, WEIR_FAMILY_NAME);
	ret = ask(module, msg, take_family, module, &unused, err);
	if (ret)
		fleet_module_close(module);
	return ret;
}

void fleet_module_close(struct fleet_module *module)
{
	if (module->fd >= 0)
		close(module->fd);
	module->fd = -1;
}

static uint64_t number_of(const struct nlattr *attr)
{
	uint8_t bytes[8] = { 0 };
	uint64_t wide;
	uint32_t narrow;
	size_t size = mnl_attr_get_payload_len(attr);

	if (size > sizeof(bytes))
		return 0;
	memcpy(bytes, mnl_attr_get_payload(attr), size);
	memcpy(&narrow, bytes, sizeof(narrow));
	memcpy(&wide, bytes, sizeof(wide));
	return size == 1 ? *bytes : size == sizeof(narrow) ? narrow : wide;
}

static void read_budget(const struct nlattr *nest, struct fleet_budget *budget)
{
	const struct nlattr *attr;

	*budget = (struct fleet_budget){ 0 };
	mnl_attr_for_each_nested(attr, nest)
		switch (mnl_attr_get_type(attr)) {
		case WEIR_A_STATE_BUDGET_BUDGET:
			budget->budget = number_of(attr);
			break;
		case WEIR_A_STATE_BUDGET_MODE:
			budget->mode = number_of(attr);
			break;
		case WEIR_A_STATE_BUDGET_SLOTS:
			budget->slots = number_of(attr);
			break;
		case WEIR_A_STATE_BUDGET_SLOT_NS:
			budget->slot_ns = number_of(attr);
			break;
		case WEIR_A_STATE_BUDGET_PHASE_NS:
			budget->phase_ns = number_of(attr);
			break;
		case WEIR_A_STATE_BUDGET_WIDTH:
			budget->width = number_of(attr);
			break;
		}
}

struct dumping {
	fleet_dump_message *message;
	void *data;
};

static void take_dump(const struct nlmsghdr *nlh, void *data)
{
	struct fleet_dump dump = {
		.attrs = (const char *)nlh + HEADERS, .size = nlh->nlmsg_len - HEADERS,
	};
	struct dumping *dumping = data;
	const struct nlattr *attr;

	mnl_attr_for_each_payload(dump.attrs, dump.size)
		switch (mnl_attr_get_type(attr)) {
		case WEIR_A_STATE_CLOCK_NS:
			dump.clock_ns = number_of(attr);
			break;
		case WEIR_A_STATE_SINCE_NS:
			dump.since_ns = number_of(attr);
			break;
		case WEIR_A_STATE_BUDGET:
			if (dump.budgets < WEIR_BUDGETS_MAX)
				read_budget(attr, &dump.budget[dump.budgets++]);
			break;
		}
	dumping->message(&dump, dumping->data);
}

int fleet_module_dump(struct fleet_module *module, const char *limit, uint64_t since_ns,
		      uint64_t least, fleet_dump_message *message, void *data,
		      struct weir_err *err)
{
	struct dumping dumping = { message, data };
	char room[512] __attribute__((aligned(8)));
	bool interrupted = false;
	struct nlmsghdr *msg;
	int ret;

	msg = begin(module, room, module->family, NLM_F_DUMP, WEIR_CMD_STATE_GET);
	mnl_attr_put_strz(msg, WEIR_A_STATE_LIMIT, limit);
	mnl_attr_put_u64(msg, WEIR_A_STATE_SINCE_NS, since_ns);
	mnl_attr_put_u64(msg, WEIR_A_STATE_LEAST, least);
	ret = ask(module, msg, take_dump, &dumping, &interrupted, err);
	if (ret || !interrupted)
		return ret;
	weir_err_set(err, "limits changed during a dump");
	return -EINTR;
}

int fleet_module_join(struct fleet_module *module, const char *limit, uint32_t ms,
		      struct weir_err *err)
{
	char room[512] __attribute__((aligned(8)));
	bool unused = false;
	struct nlmsghdr *msg;

	msg = begin(module, room, module->family, 0, WEIR_CMD_LIMIT_JOIN);
	mnl_attr_put_strz(msg, WEIR_A_LIMIT_NAME, limit);
	mnl_attr_put_u32(msg, WEIR_A_LIMIT_JOINED_MS, ms);
	return ask(module, msg, NULL, NULL, &unused, err);
}

static void read_numbers(const struct nlattr *nest, uint32_t width, struct fleet_dumped *to,
			 unsigned int i)
{
	const struct nlattr *attr;
	const uint8_t *data;
	unsigned int n, most;
	uint16_t two;
	uint32_t four;

	to->count[i] = 0;
	mnl_attr_for_each_nested(attr, nest) {
		if (mnl_attr_get_type(attr) != WEIR_A_STATE_COUNT_NUMBERS)
			continue;
		data = mnl_attr_get_payload(attr);
		most = mnl_attr_get_payload_len(attr) / width;
		for (n = 0; n < WEIR_WHEEL_MAX && n < most; n++) {
			memcpy(&two, data + n * width, sizeof(two));
			if (width >= 4)
				memcpy(&four, data + n * width, sizeof(four));
			if (width == 8)
				memcpy(&to->numbers[i][n], data + n * width, 8);
			else
				to->numbers[i][n] = width == 4 ? four : two;
		}
		to->count[i] = n;
	}
}

static bool read_source(const struct fleet_dump *dump, const struct nlattr *nest, uint8_t len4,
			uint8_t len6, struct fleet_dumped *to)
{
	const struct nlattr *attr;
	unsigned int i = 0, size;
	bool link = false;

	memset(&to->source, 0, sizeof(to->source));
	mnl_attr_for_each_nested(attr, nest)
		switch (mnl_attr_get_type(attr)) {
		case WEIR_A_STATE_SOURCE_ADDRESS:
			size = mnl_attr_get_payload_len(attr);
			if (size > sizeof(to->source.addr))
				return false;
			to->source.family = size == 4 ? AF_INET : AF_INET6;
			to->source.len = size == 4 ? len4 : len6;
			memcpy(to->source.addr, mnl_attr_get_payload(attr), size);
			break;
		case WEIR_A_STATE_SOURCE_DEV:
			link = true;
			break;
		case WEIR_A_STATE_SOURCE_COUNT:
			if (i < dump->budgets)
				read_numbers(attr, dump->budget[i].width, to, i);
			i++;
			break;
		}
	return !link && i == dump->budgets;
}

bool fleet_dump_next(const struct fleet_dump *dump, size_t *at, struct fleet_dumped *to)
{
	const char *end = (const char *)dump->attrs + dump->size;
	const struct nlattr *attr;
	uint8_t len4 = 32, len6 = 128;

	/* These come before the sources. */
	mnl_attr_for_each_payload(dump->attrs, dump->size) {
		if (mnl_attr_get_type(attr) == WEIR_A_STATE_PREFIX4)
			len4 = mnl_attr_get_u8(attr);
		if (mnl_attr_get_type(attr) == WEIR_A_STATE_PREFIX6)
			len6 = mnl_attr_get_u8(attr);
		if (mnl_attr_get_type(attr) == WEIR_A_STATE_SOURCE)
			break;
	}
	attr = (const void *)((const char *)dump->attrs + *at);
	for (; mnl_attr_ok(attr, end - (const char *)attr); attr = mnl_attr_next(attr)) {
		if (mnl_attr_get_type(attr) != WEIR_A_STATE_SOURCE ||
		    !read_source(dump, attr, len4, len6, to))
			continue;
		*at = (const char *)mnl_attr_next(attr) - (const char *)dump->attrs;
		return true;
	}
	return false;
}

void fleet_addition_begin(struct fleet_addition *addition, const struct fleet_dump *dump)
{
	struct fleet_module unused = { 0 };
	const struct nlattr *attr;
	struct nlmsghdr *msg;
	unsigned int i;

	msg = begin(&unused, addition->data, 0, 0, WEIR_CMD_SOURCE_MERGE);
	mnl_attr_for_each_payload(dump->attrs, dump->size)
		switch (mnl_attr_get_type(attr)) {
		case WEIR_A_STATE_LIMIT:
		case WEIR_A_STATE_CLOCK_NS:
		case WEIR_A_STATE_TICK_NS:
		case WEIR_A_STATE_PREFIX4:
		case WEIR_A_STATE_PREFIX6:
		case WEIR_A_STATE_SETS:
		case WEIR_A_STATE_BUDGET:
			mnl_attr_put(msg, attr->nla_type, mnl_attr_get_payload_len(attr),
				     mnl_attr_get_payload(attr));
			break;
		}
	mnl_attr_put(msg, WEIR_A_STATE_ADD, 0, NULL);
	addition->size = msg->nlmsg_len;
	addition->head = addition->size;
	addition->budgets = dump->budgets;
	for (i = 0; i < dump->budgets; i++)
		addition->width[i] = dump->budget[i].width;
}

static void put_amount(struct nlmsghdr *msg, uint64_t amount, uint8_t width)
{
	uint64_t most = width == 8 ? NUMBER_MAX : (1ULL << 8 * width) - 1;
	uint64_t wide = amount < most ? amount : most;
	struct nlattr *nest = mnl_attr_nest_start(msg, WEIR_A_STATE_SOURCE_COUNT);
	uint32_t four = wide;
	uint16_t two = wide;

	mnl_attr_put(msg, WEIR_A_STATE_COUNT_NUMBERS, width,
		     width == 2 ? (void *)&two : width == 4 ? (void *)&four : (void *)&wide);
	mnl_attr_nest_end(msg, nest);
}

bool fleet_addition_put(struct fleet_addition *addition, const struct weir_prefix *source,
			const uint64_t amount[])
{
	struct nlmsghdr *msg = (struct nlmsghdr *)addition->data;
	struct nlattr *nest;
	unsigned int i;

	if (addition->size + SOURCE_BYTES > sizeof(addition->data))
		return false;
	nest = mnl_attr_nest_start(msg, WEIR_A_STATE_SOURCE);
	if (source->family)
		mnl_attr_put(msg, WEIR_A_STATE_SOURCE_ADDRESS,
			     source->family == AF_INET ? 4 : 16, source->addr);
	for (i = 0; i < addition->budgets; i++)
		put_amount(msg, amount[i], addition->width[i]);
	mnl_attr_nest_end(msg, nest);
	addition->size = msg->nlmsg_len;
	return true;
}

int fleet_addition_send(struct fleet_addition *addition, struct fleet_module *module,
			struct weir_err *err)
{
	struct nlmsghdr *msg = (struct nlmsghdr *)addition->data;
	bool unused = false;
	int ret;

	if (addition->size == addition->head)
		return 0;
	msg->nlmsg_type = module->family;
	msg->nlmsg_seq = ++module->seq;
	ret = ask(module, msg, NULL, NULL, &unused, err);
	msg->nlmsg_len = addition->head;
	addition->size = addition->head;
	return ret;
}
