// SPDX-License-Identifier: GPL-2.0-or-later
/* Refusals of the kernel, in the operator's own words. */
#include "tool_ack.h"

/* Offset of the attribute that @path leads to, type by type; 0 ends it. */
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
		.has = WEIR_HAS(LIMIT_BUDGET) | WEIR_HAS(LIMIT_MATCH), .name = "web",
		.budget = { 0, 1000 },
		.match = { .has = WEIR_COND_PROTO | WEIR_COND_FROM,
			   .from_count = 1,
			   .from = { { .family = AF_INET, .len = 8, .addr = { 10 } } } },
	};

	make_request(WEIR_CMD_LIMIT_ADD, &weir_limit_fields, WEIR_ON_ADD, &limit);
}

static void test_range(void **state)
{
	struct nlmsghdr *nlh = begin_answer(-ERANGE);
	struct nlattr *nest;

	limit_request();
	mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, "integer out of range");
	mnl_attr_put_u32(nlh, NLMSGERR_ATTR_OFFS,
			 offset_of(PATH(WEIR_A_LIMIT_BUDGET), 0));
	nest = mnl_attr_nest_start(nlh, NLMSGERR_ATTR_POLICY);
	mnl_attr_put_u64(nlh, NL_POLICY_TYPE_ATTR_MIN_VALUE_U, 1);
	mnl_attr_put_u64(nlh, NL_POLICY_TYPE_ATTR_MAX_VALUE_U, 4294967295u);
	mnl_attr_nest_end(nlh, nest);
	assert_int_equal(weir_nl_ack(&nl, &request, nlh), -ERANGE);
	assert_string_equal(nl.err.text,
			    "budget: 0 is out of range 1..4294967295");
}

static void test_length(void **state)
{
	struct nlmsghdr *nlh = begin_answer(-ERANGE);
	struct nlattr *nest;

	limit_request();
	mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, "Attribute failed policy validation");
	mnl_attr_put_u32(nlh, NLMSGERR_ATTR_OFFS,
			 offset_of(PATH(WEIR_A_LIMIT_NAME), 0));
	nest = mnl_attr_nest_start(nlh, NLMSGERR_ATTR_POLICY);
	mnl_attr_put_u32(nlh, NL_POLICY_TYPE_ATTR_MAX_LENGTH, 2);
	mnl_attr_nest_end(nlh, nest);
	assert_int_equal(weir_nl_ack(&nl, &request, nlh), -ERANGE);
	assert_string_equal(nl.err.text, "NAME: longer than 2 bytes");
}

static void test_nested(void **state)
{
	struct nlmsghdr *nlh = begin_answer(-EINVAL);

	limit_request();
	mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, "a sentence");
	mnl_attr_put_u32(nlh, NLMSGERR_ATTR_OFFS,
			 offset_of(PATH(WEIR_A_LIMIT_MATCH,
						 WEIR_A_MATCH_FROM, WEIR_A_PREFIX_LEN), 0));
	assert_int_equal(weir_nl_ack(&nl, &request, nlh), -EINVAL);
	assert_string_equal(nl.err.text, "from: a sentence");
}

static void test_missing(void **state)
{
	struct nlmsghdr *nlh = begin_answer(-EINVAL);

	limit_request();
	mnl_attr_put_u32(nlh, NLMSGERR_ATTR_MISS_TYPE, WEIR_A_LIMIT_WINDOW_MS);
	assert_int_equal(weir_nl_ack(&nl, &request, nlh), -EINVAL);
	assert_string_equal(nl.err.text, "required: budget COUNT[k|M|G]/TIME [ packets|bytes ]");

	nlh = begin_answer(-EINVAL);
	mnl_attr_put_u32(nlh, NLMSGERR_ATTR_MISS_TYPE, WEIR_A_MATCH_TO);
	mnl_attr_put_u32(nlh, NLMSGERR_ATTR_MISS_NEST,
			 offset_of(PATH(WEIR_A_LIMIT_MATCH), 0));
	assert_int_equal(weir_nl_ack(&nl, &request, nlh), -EINVAL);
	assert_string_equal(nl.err.text, "required: to PREFIX[,...]");
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
	struct nlmsghdr *nlh = begin_answer(0);

	limit_request();
	mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, "may never fit");
	assert_int_equal(weir_nl_ack(&nl, &request, nlh), 0);
	assert_string_equal(request.warning, "may never fit");
	assert_int_equal(request.place, 0);
	assert_int_equal(request.more, 0);

	/* of three limits, the fifth is the first */
	nlh = begin_answer(0);
	mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, "may never fit");
	mnl_attr_put_u64(nlh, NLMSGERR_ATTR_COOKIE, 3ULL << 32 | 5);
	assert_int_equal(weir_nl_ack(&nl, &request, nlh), 0);
	assert_int_equal(request.place, 5);
	assert_int_equal(request.more, 2);
}

/* A refusal may come with the number that would be right. */
static void test_number(void **state)
{
	static const struct {
		int error;
		uint64_t value;
		const char *sentence;
	} told[] = {
		{ -EINVAL, 64, "slots: that is wrong (at most 64)" },
		{ -ERANGE, 1, "slots: that is wrong (at most 1)" },
		{ -ENOSPC, 1ULL << 56,
		  "slots: that is wrong (at most 72057594037927936)" },
		{ -ENOMEM, 1610748024,
		  "slots: that is wrong (requires 1610748024 bytes, 1536 MiB)" },
		{ -ENOMEM, 1048575,
		  "slots: that is wrong (requires 1048575 bytes)" },
		{ -EDQUOT, 5ULL << 32,
		  "slots: that is wrong (requires 21474836480 bytes, 20480 MiB)" },
		{ -ENOMEM, 0, "slots: that is wrong" },
		{ -EINVAL, 0, "slots: that is wrong" },
	};
	struct weir_limit limit = {
		.has = WEIR_HAS(LIMIT_SLOTS), .name = "web", .slots = 64,
	};
	struct nlmsghdr *nlh;
	unsigned int i;

	make_request(WEIR_CMD_LIMIT_ADD, &weir_limit_fields, WEIR_ON_ADD, &limit);
	for (i = 0; i < sizeof(told) / sizeof(*told); i++) {
		nlh = begin_answer(told[i].error);
		mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, "that is wrong");
		mnl_attr_put_u32(nlh, NLMSGERR_ATTR_OFFS,
				 offset_of(PATH(WEIR_A_LIMIT_SLOTS), 0));
		if (told[i].value)
			mnl_attr_put_u64(nlh, NLMSGERR_ATTR_COOKIE,
					 told[i].value);
		assert_int_equal(weir_nl_ack(&nl, &request, nlh), told[i].error);
		assert_string_equal(nl.err.text, told[i].sentence);
	}
}

/* Whatever an offset points at, it is inside the request or nowhere. */
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

UNIT_MAIN("tool_ack", T(test_range), T(test_length), T(test_nested), T(test_missing),
	  T(test_config_item), T(test_warning), T(test_number), T(test_any_offset))
