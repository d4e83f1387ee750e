// SPDX-License-Identifier: GPL-2.0-or-later
/* What a refusal points at is a word that the operator can write. */
#include "parse.h"
#include "tool_ack.h"

/* Whether each part of @text, cut at |, is a word of the rows. */
static bool are_words(const char *text, const struct weir_word *rows)
{
	char copy[128], *save, *part;
	const struct weir_word *row;

	snprintf(copy, sizeof(copy), "%s", text);
	for (part = strtok_r(copy, "|", &save); part;
	     part = strtok_r(NULL, "|", &save)) {
		for (row = rows; row->name && strcmp(row->name, part); row++)
			;
		if (!row->name && strcmp(part, "not"))
			return false;
	}
	return true;
}

static void check_word(struct nlmsghdr *request, const struct nlattr *attr,
		       const struct weir_word *rows)
{
	struct nlmsghdr *nlh = begin_answer(-EINVAL);
	char text[128];

	mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, "x");
	mnl_attr_put_u32(nlh, NLMSGERR_ATTR_OFFS,
			 (const char *)attr - (const char *)request);
	weir_nl_ack(&nl, request, nlh);
	snprintf(text, sizeof(text), "%s", weir_nl_error(&nl));
	check(strstr(text, ": x"), "%s", text);
	*strstr(text, ": x") = '\0';
	check(are_words(text, rows), "'%s' is no word of the command", text);
}

static void check_words(struct nlmsghdr *request, const struct weir_word *rows)
{
	const struct nlattr *attr, *inner;

	mnl_attr_for_each(attr, request, GENL_HDRLEN) {
		if (rows != weir_words_limit_add ||
		    mnl_attr_get_type(attr) != WEIR_A_LIMIT_MATCH) {
			check_word(request, attr, rows);
			continue;
		}
		mnl_attr_for_each_nested(inner, attr)
			check_word(request, inner, rows);
	}
}

static void test_words(void **state)
{
	static const struct {
		uint8_t cmd;
		const struct weir_word *rows;
	} queries[] = {
		{ WEIR_CMD_SOURCE_SHOW, weir_words_source_show },
		{ WEIR_CMD_SOURCE_CHARGE, weir_words_source_charge },
		{ WEIR_CMD_SOURCE_GET, weir_words_source_get },
		{ WEIR_CMD_SOURCE_FORGET, weir_words_source_forget },
	}, exempts[] = {
		{ WEIR_CMD_EXEMPT_ADD, weir_words_exempt },
		{ WEIR_CMD_EXEMPT_GET, weir_words_exempt_get },
	};
	struct weir_limit limit = {
		.has = -1, .name = "web", .before = "all",
		.match = { .conds = -1, .invert = 1, .dev = "lo",
			   .from.family = AF_INET, .to.family = AF_INET },
	};
	struct weir_exempt exempt = {
		.prefix.family = AF_INET, .dev = "lo", .limit = "web",
	};
	struct weir_query query = {
		.limit = "web", .prefix.family = AF_INET, .dev = "lo",
	};
	struct nlmsghdr *nlh;
	size_t i;

	(void)state;
	nlh = weir_nl_begin(&nl, request_buf, WEIR_CMD_LIMIT_ADD, 0);
	weir_nl_put_limit(nlh, &limit);
	check_words(nlh, weir_words_limit_add);
	for (i = 0; i < 2; i++) {
		nlh = weir_nl_begin(&nl, request_buf, exempts[i].cmd, 0);
		weir_nl_put_exempt(nlh, &exempt);
		check_words(nlh, exempts[i].rows);
	}
	for (i = 0; i < 4; i++) {
		query.top = queries[i].cmd == WEIR_CMD_SOURCE_SHOW;
		query.limited = query.top;
		query.idle = query.top;
		query.cost = queries[i].cmd == WEIR_CMD_SOURCE_CHARGE;
		nlh = weir_nl_begin(&nl, request_buf, queries[i].cmd, 0);
		weir_nl_put_query(nlh, &query);
		check_words(nlh, queries[i].rows);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests_name("tool_ack_words", tests, NULL, NULL);
}
