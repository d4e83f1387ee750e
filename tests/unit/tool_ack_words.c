// SPDX-License-Identifier: GPL-2.0-or-later
/* What a refusal points at is a word that the operator can write. */
#include "tool_ack.h"

/* Whether each part of @text, cut at |, is a word of the command, or first. */
static bool are_words(const char *text)
{
	struct weir_word words[WEIR_WORDS_MAX];
	char copy[128], *save, *part, name[WEIR_TEXT_SIZE];
	const struct weir_word *word;

	snprintf(copy, sizeof(copy), "%s", text);
	weir_set_words(request.set, request.verb, words);
	for (part = strtok_r(copy, "|", &save); part;
	     part = strtok_r(NULL, "|", &save)) {
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
	mnl_attr_put_u32(nlh, NLMSGERR_ATTR_OFFS,
			 (const char *)attr - (const char *)request.msg);
	weir_nl_ack(&nl, &request, nlh);
	snprintf(text, sizeof(text), "%.120s", nl.err.text);
	check(strstr(text, ": x"), "%s", text);
	*strstr(text, ": x") = '\0';
	check(are_words(text), "'%s' is no word of the command", text);
}

/* Each attribute of the request; returns how many. */
static int check_words(uint8_t cmd, const struct weir_set *set, unsigned int verb,
		       const void *model)
{
	const struct nlattr *attr, *inner;
	int count = 0;

	make_request(cmd, set, verb, model);
	mnl_attr_for_each(attr, request.msg, GENL_HDRLEN) {
		if (set != &weir_limit_fields ||
		    mnl_attr_get_type(attr) != WEIR_A_LIMIT_MATCH) {
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
		.has = -1, .name = "web", .before = "host",
		.match = { .has = -1, .invert = 1, .dev = "lo",
			   .from_count = 1, .to_count = 1, .sport_count = 1, .dport_count = 1,
			   .from = { { .family = AF_INET } }, .to = { { .family = AF_INET } } },
	};
	struct weir_exempt exempt = {
		.prefix.family = AF_INET, .dev = "lo", .limit = "web", .comment = "x",
	};
	struct weir_query query = {
		.limit = "web", .prefix.family = AF_INET, .dev = "lo", .limited = true,
		.idle = true, .top = 1, .rank = 1, .packets = 1, .mode = 1,
	};

	assert_int_equal(check_words(WEIR_CMD_LIMIT_ADD, &weir_limit_fields, WEIR_ON_ADD, &limit), 24);
	assert_int_equal(check_words(WEIR_CMD_EXEMPT_ADD, &weir_exempt_fields, WEIR_ON_ADD, &exempt), 5);
	assert_int_equal(check_words(WEIR_CMD_EXEMPT_GET, &weir_exempt_fields, WEIR_ON_GET, &exempt), 4);
	assert_int_equal(check_words(WEIR_CMD_SOURCE_SHOW, &weir_query_fields, WEIR_ON_SHOW, &query), 8);
	assert_int_equal(check_words(WEIR_CMD_SOURCE_GET, &weir_query_fields, WEIR_ON_GET, &query), 3);
	assert_int_equal(check_words(WEIR_CMD_SOURCE_CHARGE, &weir_query_fields, WEIR_ON_CHARGE, &query), 5);
	assert_int_equal(check_words(WEIR_CMD_SOURCE_FORGET, &weir_query_fields, WEIR_ON_FORGET, &query), 4);
}

UNIT_MAIN("tool_ack_words", T(test_words))
