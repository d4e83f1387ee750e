// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's refusals, reported with the words of the operator's command. */
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include "wire/netlink.h"
#include "unit.h"

static struct weir_nl nl;
static struct weir_request request;
static char request_buf[WEIR_MSG_ROOM] __attribute__((aligned(8)));
static char answer_buf[4096] __attribute__((aligned(8)));

/* Make the request of a command that sends the fields of a model. */
static void make_request(uint8_t cmd, const struct weir_set *set,
			 unsigned int verb, const void *model)
{
	request = (struct weir_request){ .cmd = cmd, .set = set, .verb = verb };
	request.msg = weir_msg_begin(request_buf, 0x20, 0, cmd);
	weir_set_put(set, verb, request.msg, model);
}

/* Begin an acknowledgement with @error, a negative errno or 0, without attributes. */
static struct nlmsghdr *begin_answer(int error)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(answer_buf);
	struct nlmsgerr *told;

	nlh->nlmsg_type = NLMSG_ERROR;
	nlh->nlmsg_flags = NLM_F_CAPPED | NLM_F_ACK_TLVS;
	told = mnl_nlmsg_put_extra_header(nlh, sizeof(*told));
	told->error = error;
	return nlh;
}

/* Offset of the attribute at @path, a list of types that ends with 0. */
static uint32_t offset_of(const uint16_t *path, unsigned int skip)
{
	const struct nlmsghdr *nlh = request.msg;
	const struct nlattr *attr, *found = NULL, *around;

	mnl_attr_for_each(attr, nlh, GENL_HDRLEN) {
		if (mnl_attr_get_type(attr) == *path && !skip--)
			found = attr;
	}
	while (found && *++path) {
		around = found;
		found = NULL;
		mnl_attr_for_each_nested(attr, around) {
			if (mnl_attr_get_type(attr) == *path)
				found = attr;
		}
	}
	assert_non_null(found);
	return (const char *)found - (const char *)nlh;
}

#define PATH(...)	((const uint16_t[]) { __VA_ARGS__, 0 })

static void limit_request(void)
{
	struct weir_limit limit = {
		.has = WEIR_HAS(LIMIT_BUDGET) | WEIR_HAS(LIMIT_MATCH),
		.name = "web", .budget_count = 2,
		.budgets = { { .has = WEIR_HAS(BUDGET_BUDGET) | WEIR_HAS(BUDGET_SLOTS),
			       .amount = { 0, 1000 }, .slots = 64 },
			     { .has = WEIR_HAS(BUDGET_BUDGET), .amount = { 0, 2000 } } },
		.match = { .has = WEIR_COND_PROTO | WEIR_COND_FROM,
			   .from_count = 1, .proto_count = 1,
			   .from = { { .family = AF_INET, .len = 8, .addr = { 10 } } } },
	};

	make_request(WEIR_CMD_LIMIT_ADD, &weir_limit_fields, WEIR_ON_ADD, &limit);
}

static void put_offset(struct nlmsghdr *nlh, uint16_t type, const uint16_t *path)
{
	if (*path)
		mnl_attr_put_u32(nlh, type, offset_of(path, 0));
}

static void put_policy(struct nlmsghdr *nlh, uint64_t most, uint32_t longest)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, NLMSGERR_ATTR_POLICY);

	if (most) {
		mnl_attr_put_u64(nlh, NL_POLICY_TYPE_ATTR_MIN_VALUE_U, 1);
		mnl_attr_put_u64(nlh, NL_POLICY_TYPE_ATTR_MAX_VALUE_U, most);
	}
	if (longest)
		mnl_attr_put_u32(nlh, NL_POLICY_TYPE_ATTR_MAX_LENGTH, longest);
	mnl_attr_nest_end(nlh, nest);
}

/* Refusals by attribute, value and policy; the cookie may hold the valid number. */
static void test_refusals(void **state)
{
	static const struct {
		int error;
		const char *text;
		uint16_t at[4], in[2];	/* paths: of the attribute; of the nest that lacks one */
		uint32_t missing, longest;
		uint64_t most, number;
		const char *sentence;
	} rows[] = {
		{ -ERANGE, "integer out of range", { WEIR_A_LIMIT_BUDGET, WEIR_A_BUDGET_BUDGET }, { 0 }, .most = 4294967295u,
		  .sentence = "budget: 0 is out of range 1..4294967295" },
		{ -EINVAL, "a sentence", { WEIR_A_LIMIT_BUDGET }, { 0 }, .sentence = "budget: a sentence" },
		{ -ERANGE, "Attribute failed policy validation", { WEIR_A_LIMIT_NAME }, { 0 }, .longest = 2,
		  .sentence = "NAME: longer than 2 bytes" },
		{ -EINVAL, "a sentence", { WEIR_A_LIMIT_MATCH, WEIR_A_MATCH_FROM, WEIR_A_PREFIX_LEN }, { 0 },
		  .sentence = "from: a sentence" },
		{ -EINVAL, NULL, { 0 }, { WEIR_A_LIMIT_BUDGET }, WEIR_A_BUDGET_WINDOW_MS,
		  .sentence = "required: budget COUNT[k|M|G]/TIME [ packets|bytes ], or blocks" },
		{ -EINVAL, NULL, { 0 }, { WEIR_A_LIMIT_MATCH }, WEIR_A_MATCH_TO,
		  .sentence = "required: to PREFIX[,...]" },
		{ -EINVAL, "wrong", { WEIR_A_LIMIT_BUDGET, WEIR_A_BUDGET_SLOTS }, { 0 }, .number = 64, .sentence = "slots: wrong (at most 64)" },
		{ -ERANGE, "wrong", { WEIR_A_LIMIT_BUDGET, WEIR_A_BUDGET_SLOTS }, { 0 }, .number = 1, .sentence = "slots: wrong (at most 1)" },
		{ -ERANGE, "wrong", { WEIR_A_LIMIT_BUDGET, WEIR_A_BUDGET_SLOTS }, { 0 }, .number = 1ULL << 56,
		  .sentence = "slots: wrong (at most 72057594037927936)" },
		{ -ENOMEM, "wrong", { WEIR_A_LIMIT_BUDGET, WEIR_A_BUDGET_SLOTS }, { 0 }, .number = 1610748024,
		  .sentence = "slots: wrong (requires 1610748024 bytes, 1536 MiB)" },
		{ -ENOMEM, "wrong", { WEIR_A_LIMIT_BUDGET, WEIR_A_BUDGET_SLOTS }, { 0 }, .number = 1048575,
		  .sentence = "slots: wrong (requires 1048575 bytes)" },
		{ -EDQUOT, "wrong", { WEIR_A_LIMIT_BUDGET, WEIR_A_BUDGET_SLOTS }, { 0 }, .number = 5ULL << 32,
		  .sentence = "slots: wrong (requires 21474836480 bytes, 20480 MiB)" },
		{ -ENOMEM, "wrong", { WEIR_A_LIMIT_BUDGET, WEIR_A_BUDGET_SLOTS }, { 0 }, .sentence = "slots: wrong" },
		{ -EINVAL, "wrong", { WEIR_A_LIMIT_BUDGET, WEIR_A_BUDGET_SLOTS }, { 0 }, .sentence = "slots: wrong" },
	};
	struct nlmsghdr *nlh;
	unsigned int i;

	limit_request();
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		nlh = begin_answer(rows[i].error);
		if (rows[i].text)
			mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, rows[i].text);
		put_offset(nlh, NLMSGERR_ATTR_OFFS, rows[i].at);
		if (rows[i].missing)
			mnl_attr_put_u32(nlh, NLMSGERR_ATTR_MISS_TYPE, rows[i].missing);
		put_offset(nlh, NLMSGERR_ATTR_MISS_NEST, rows[i].in);
		if (rows[i].most || rows[i].longest)
			put_policy(nlh, rows[i].most, rows[i].longest);
		if (rows[i].number)
			mnl_attr_put_u64(nlh, NLMSGERR_ATTR_COOKIE, rows[i].number);
		assert_int_equal(weir_nl_ack(&nl, &request, nlh), rows[i].error);
		assert_string_equal(nl.err.text, rows[i].sentence);
	}
}

static void test_config_item(void **state)
{
	struct weir_exempt exempt = { .prefix = { AF_INET, 8, { 10 } } };
	struct weir_limit limit = { .name = "web" };
	struct nlmsghdr *nlh;
	struct nlattr *nest;
	int i;

	make_request(WEIR_CMD_CONFIG_REPLACE, &weir_config_fields, WEIR_ON_GET, &limit);
	for (i = 0; i < 3; i++) {
		nest = mnl_attr_nest_start(request.msg, WEIR_A_CONFIG_LIMIT);
		weir_set_put(&weir_limit_fields, WEIR_ON_ADD, request.msg, &limit);
		mnl_attr_nest_end(request.msg, nest);
		nest = mnl_attr_nest_start(request.msg, WEIR_A_CONFIG_EXEMPT);
		weir_set_put(&weir_exempt_fields, WEIR_ON_ADD, request.msg, &exempt);
		mnl_attr_nest_end(request.msg, nest);
	}
	nlh = begin_answer(-EEXIST);
	mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, "stands twice");
	mnl_attr_put_u32(nlh, NLMSGERR_ATTR_OFFS,
			 offset_of(PATH(WEIR_A_CONFIG_EXEMPT, WEIR_A_EXEMPT_PREFIX_LEN), 2));
	assert_int_equal(weir_nl_ack(&nl, &request, nlh), -EEXIST);
	assert_string_equal(nl.err.text, "exempt add: PREFIX 10.0.0.0/8: stands twice");
	assert_int_equal(request.fault_type, WEIR_A_CONFIG_EXEMPT);
	assert_int_equal(request.fault_item, 2);
	assert_int_equal(request.fault->attr, WEIR_A_EXEMPT_ADDRESS);
}

static void test_warning(void **state)
{
	uint64_t cookie = 7 | 5ull << 32 | 2ull << 48;
	struct nlmsghdr *nlh = begin_answer(0);

	limit_request();
	mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, "may never fit");
	assert_int_equal(weir_nl_ack(&nl, &request, nlh), 0);
	assert_string_equal(request.warning, "may never fit");
	assert_int_equal(request.place, 0);
	assert_int_equal(request.more, 0);

	/* three limits, the first of which is the fifth */
	nlh = begin_answer(0);
	mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, "may never fit");
	mnl_attr_put(nlh, NLMSGERR_ATTR_COOKIE, sizeof(cookie), &cookie);
	assert_int_equal(weir_nl_ack(&nl, &request, nlh), 0);
	assert_int_equal(request.lost, 7);
	assert_int_equal(request.place, 5);
	assert_int_equal(request.more, 2);

	/* the most */
	cookie = UINT32_MAX | 256ull << 32 | 255ull << 48;
	nlh = begin_answer(0);
	mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, "may never fit");
	mnl_attr_put(nlh, NLMSGERR_ATTR_COOKIE, sizeof(cookie), &cookie);
	assert_int_equal(weir_nl_ack(&nl, &request, nlh), 0);
	assert_int_equal(request.lost, UINT32_MAX);
	assert_int_equal(request.place, 256);
	assert_int_equal(request.more, 255);
}

/* No offset makes the tool read outside the request. */
static void test_any_offset(void **state)
{
	struct nlmsghdr *nlh;
	uint32_t off;

	limit_request();
	for (off = 0; off < request.msg->nlmsg_len + 64; off++) {
		nlh = begin_answer(-EINVAL);
		mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, "x");
		mnl_attr_put_u32(nlh, NLMSGERR_ATTR_OFFS, off);
		assert_int_equal(weir_nl_ack(&nl, &request, nlh), -EINVAL);
		nlh = begin_answer(-EINVAL);
		mnl_attr_put_u32(nlh, NLMSGERR_ATTR_MISS_TYPE, off);
		mnl_attr_put_u32(nlh, NLMSGERR_ATTR_MISS_NEST, off);
		assert_int_equal(weir_nl_ack(&nl, &request, nlh), -EINVAL);
	}
}

/* Is each part of @text, split at |, a word of the command, or @text its argument's name? */
static bool are_words(const char *text)
{
	struct weir_word words[WEIR_WORDS_MAX];
	char copy[128], *save, *part, name[WEIR_TEXT_SIZE];
	const struct weir_word *word;

	snprintf(copy, sizeof(copy), "%s", text);
	weir_set_words(request.set, request.verb, words);
	for (part = strtok_r(copy, "|", &save); part; part = strtok_r(NULL, "|", &save)) {
		for (word = words; word->name; word++) {
			if (!strcmp(word->name, part) ||
			    !strcmp(weir_field_name(word->is, name), text))
				break;
		}
		if (!word->name && strcmp(part, "not"))
			return false;
	}
	return true;
}

static void check_word(const struct nlattr *attr)
{
	struct nlmsghdr *nlh = begin_answer(-EINVAL);
	char text[128];

	mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, "x");
	mnl_attr_put_u32(nlh, NLMSGERR_ATTR_OFFS, (const char *)attr - (const char *)request.msg);
	weir_nl_ack(&nl, &request, nlh);
	snprintf(text, sizeof(text), "%.120s", nl.err.text);
	check(strstr(text, ": x"), "%s", text);
	*strstr(text, ": x") = '\0';
	check(are_words(text), "'%s' is no word of the command", text);
}

/* Refuse each attribute of the request; returns how many there are. */
static int check_words(uint8_t cmd, const struct weir_set *set, unsigned int verb,
		       const void *model)
{
	const struct nlattr *attr, *inner;
	int count = 0;

	make_request(cmd, set, verb, model);
	mnl_attr_for_each(attr, request.msg, GENL_HDRLEN) {
		if (set != &weir_limit_fields || (mnl_attr_get_type(attr) != WEIR_A_LIMIT_MATCH &&
						  mnl_attr_get_type(attr) != WEIR_A_LIMIT_BUDGET)) {
			check_word(attr);
			count++;
			continue;
		}
		mnl_attr_for_each_nested(inner, attr) {
			check_word(inner);
			count++;
		}
	}
	return count;
}

static void test_words(void **state)
{
	struct weir_limit limit = {
		.has = -1, .name = "web", .before = "host", .budget_count = 1,
		.budgets = { { .has = WEIR_HAS(BUDGET_BUDGET) | WEIR_HAS(BUDGET_UNIT) |
				      WEIR_HAS(BUDGET_SLOTS) | WEIR_HAS(BUDGET_MODE) |
				      WEIR_HAS(BUDGET_BURST) } },
		.penalty_ms = 1000, .renew = true, .log = 5,
		.match = { .has = -1, .invert = 1, .dev = "lo",
			   .from_count = 1, .to_count = 1, .sport_count = 1, .dport_count = 1,
			   .proto_count = 1, .proto = { 1 }, .from = { { .family = AF_INET } }, .to = { { .family = AF_INET } } },
	};
	struct weir_exempt exempt = {
		.prefix.family = AF_INET, .dev = "lo", .limit = "web", .comment = "x",
	};
	struct weir_query query = {
		.limit = "web", .prefix.family = AF_INET, .dev = "lo", .limited = true,
		.blocked = true, .has = WEIR_HAS(SOURCE_FOR_MS), .for_ms = 1000,
		.idle = true, .top = 1, .rank = 1, .packets = 1, .mode = 1,
	};

	assert_int_equal(check_words(WEIR_CMD_LIMIT_ADD, &weir_limit_fields, WEIR_ON_ADD, &limit), 38);
	assert_int_equal(check_words(WEIR_CMD_EXEMPT_ADD, &weir_exempt_fields, WEIR_ON_ADD, &exempt), 5);
	assert_int_equal(check_words(WEIR_CMD_EXEMPT_GET, &weir_exempt_fields, WEIR_ON_GET, &exempt), 4);
	assert_int_equal(check_words(WEIR_CMD_SOURCE_SHOW, &weir_query_fields, WEIR_ON_SHOW, &query), 9);
	assert_int_equal(check_words(WEIR_CMD_SOURCE_GET, &weir_query_fields, WEIR_ON_GET, &query), 3);
	assert_int_equal(check_words(WEIR_CMD_SOURCE_CHARGE, &weir_query_fields, WEIR_ON_CHARGE, &query), 5);
	assert_int_equal(check_words(WEIR_CMD_SOURCE_FORGET, &weir_query_fields, WEIR_ON_FORGET, &query), 4);
	assert_int_equal(check_words(WEIR_CMD_SOURCE_BLOCK, &weir_query_fields, WEIR_ON_ADD, &query), 4);
	assert_int_equal(check_words(WEIR_CMD_SOURCE_RELEASE, &weir_query_fields, WEIR_ON_DEL, &query), 3);
}

UNIT_MAIN("tool_ack", T(test_refusals), T(test_config_item), T(test_warning), T(test_any_offset), T(test_words))
