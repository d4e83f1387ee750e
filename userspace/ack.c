// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the kernel answers at the end of a request. Its extended ACK points
 * into the request; the specification's names make a sentence of it.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "names.h"
#include "nl_priv.h"

struct ack {
	const char *msg;
	const struct nlattr *policy;
	/* a number of the sentence; of a warning, how many limits and the first */
	uint64_t value;
	bool has_off, has_miss;
	uint32_t off, miss, miss_nest;
};

/* Where in a request an offset points. */
struct spot {
	char path[WEIR_NAME_SIZE * 3];
	const struct weir_attr_set *set;	/* around it */
	const struct weir_attr_name *name;
	const struct nlattr *attr;
};

uint64_t weir_nl_uint(const struct nlattr *attr)
{
	switch (mnl_attr_get_payload_len(attr)) {
	case 1:
		return mnl_attr_get_u8(attr);
	case 2:
		return mnl_attr_get_u16(attr);
	case 4:
		return mnl_attr_get_u32(attr);
	case 8:
		return mnl_attr_get_u64(attr);
	}
	return 0;
}

/*
 * What an operator calls what the specification calls otherwise. The first row
 * that fits is it; "" is not a word of anybody's.
 */
static const struct {
	const struct weir_attr_set *set;
	uint8_t type;
	uint8_t cmd;			/* in this alone; or 0 */
	const char *word;
} words[] = {
	{ &weir_limit_set, WEIR_A_LIMIT_NAME, 0, "NAME" },
	{ &weir_limit_set, WEIR_A_LIMIT_WINDOW_MS, 0, "budget" },
	{ &weir_limit_set, WEIR_A_LIMIT_UNIT, 0, "budget" },
	{ &weir_limit_set, WEIR_A_LIMIT_MODE, 0, "strict|lenient" },
	{ &weir_limit_set, WEIR_A_LIMIT_PREFIX4, 0, "per" },
	{ &weir_limit_set, WEIR_A_LIMIT_PREFIX6, 0, "per" },
	{ &weir_limit_set, WEIR_A_LIMIT_MATCH, 0, "" },
	{ &weir_match_set, WEIR_A_MATCH_INVERT, 0, "not" },
	{ &weir_match_set, WEIR_A_MATCH_FROM_LEN, 0, "from" },
	{ &weir_match_set, WEIR_A_MATCH_TO_LEN, 0, "to" },
	{ &weir_match_set, WEIR_A_MATCH_SPORT_MIN, 0, "sport" },
	{ &weir_match_set, WEIR_A_MATCH_SPORT_MAX, 0, "sport" },
	{ &weir_match_set, WEIR_A_MATCH_DPORT_MIN, 0, "dport" },
	{ &weir_match_set, WEIR_A_MATCH_DPORT_MAX, 0, "dport" },
	{ &weir_match_set, WEIR_A_MATCH_MARK_MASK, 0, "mark" },
	{ &weir_exempt_set, WEIR_A_EXEMPT_ADDRESS, WEIR_CMD_EXEMPT_GET, "ADDR" },
	{ &weir_exempt_set, WEIR_A_EXEMPT_ADDRESS, 0, "PREFIX" },
	{ &weir_exempt_set, WEIR_A_EXEMPT_PREFIX_LEN, WEIR_CMD_EXEMPT_GET, "ADDR" },
	{ &weir_exempt_set, WEIR_A_EXEMPT_PREFIX_LEN, 0, "PREFIX" },
	{ &weir_source_set, WEIR_A_SOURCE_ADDRESS, WEIR_CMD_SOURCE_SHOW, "PREFIX" },
	{ &weir_source_set, WEIR_A_SOURCE_ADDRESS, WEIR_CMD_SOURCE_FORGET, "PREFIX" },
	{ &weir_source_set, WEIR_A_SOURCE_ADDRESS, 0, "ADDR" },
	{ &weir_source_set, WEIR_A_SOURCE_PREFIX_LEN, 0, "PREFIX" },
	{ &weir_source_set, WEIR_A_SOURCE_FILTER_LIMITED, 0, "limited" },
	{ &weir_source_set, WEIR_A_SOURCE_RANK, 0, "top" },
	{ &weir_source_set, WEIR_A_SOURCE_COST, 0, "packets|bytes" },
	{ &weir_source_set, WEIR_A_SOURCE_CHARGE_MODE, 0, "mode" },
	/* in front of the words of a file's line */
	{ &weir_config_set, WEIR_A_CONFIG_LIMIT, 0, "limit add:" },
	{ &weir_config_set, WEIR_A_CONFIG_EXEMPT, 0, "exempt add:" },
};

/* What the operator of @request calls an attribute. */
static const char *word_of(const struct nlmsghdr *request,
			   const struct weir_attr_set *set, uint32_t type)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(request);
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (words[i].set == set && words[i].type == type &&
		    (!words[i].cmd || words[i].cmd == genl->cmd))
			return words[i].word;
	}
	return set->attrs[type].name;
}

static const struct weir_op_name *find_op(const struct nlmsghdr *request)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(request);

	if (request->nlmsg_type == GENL_ID_CTRL || genl->cmd >= weir_op_count)
		return NULL;
	return &weir_op_names[genl->cmd];
}

static const struct weir_attr_name *
find_name(const struct weir_attr_set *set, uint32_t type)
{
	if (!set || type >= set->count || !set->attrs[type].name)
		return NULL;
	return &set->attrs[type];
}

static void add_path(struct spot *spot, const char *word)
{
	size_t used = strlen(spot->path);

	snprintf(spot->path + used, sizeof(spot->path) - used, "%s%s",
		 used && *word ? " " : "", word);
}

/* Step into @attr of the request, on the way to what is at fault. */
static const struct weir_attr_set *enter(const struct nlmsghdr *request,
					 struct spot *spot,
					 const struct weir_attr_set *set,
					 const struct nlattr *attr)
{
	const struct weir_attr_name *name = find_name(set, mnl_attr_get_type(attr));

	spot->set = set;
	spot->attr = attr;
	spot->name = name;
	if (!name)
		return NULL;
	add_path(spot, word_of(request, set, mnl_attr_get_type(attr)));
	return name->nest;
}

/* Whether the attribute at @at holds or begins at the offset @off. */
static bool holds(const struct nlmsghdr *request, const struct nlattr *attr,
		  uint32_t off)
{
	uint32_t begin = (const char *)attr - (const char *)request;

	return off >= begin && off < begin + attr->nla_len;
}

/* Follow an offset from the top-level attributes inwards. */
static void locate(struct weir_nl *nl, const struct nlmsghdr *request,
		   uint32_t off, struct spot *spot)
{
	const struct weir_op_name *op = find_op(request);
	const struct weir_attr_set *set = op ? op->set : NULL;
	const struct nlattr *attr, *inner;

	memset(spot, 0, sizeof(*spot));
	nl->fault_item = 0;
	mnl_attr_for_each(attr, request, GENL_HDRLEN) {
		if (holds(request, attr, off))
			break;
	}
	if (!mnl_attr_ok(attr, (const char *)mnl_nlmsg_get_payload_tail(request) -
			       (const char *)attr))
		return;
	nl->fault_type = mnl_attr_get_type(attr);
	mnl_attr_for_each(inner, request, GENL_HDRLEN) {
		if (inner == attr)
			break;
		nl->fault_item += mnl_attr_get_type(inner) == nl->fault_type;
	}
	set = enter(request, spot, set, attr);
	while (set && (const char *)attr - (const char *)request != off) {
		mnl_attr_for_each_nested(inner, attr) {
			if (holds(request, inner, off))
				break;
		}
		if (!holds(request, inner, off))
			return;
		attr = inner;
		set = enter(request, spot, set, attr);
	}
}

static void take_tlvs(const struct nlmsghdr *nlh, unsigned int skip,
		      struct ack *ack)
{
	const struct nlattr *attr;

	if (nlh->nlmsg_len < NLMSG_HDRLEN + MNL_ALIGN(skip))
		return;
	mnl_attr_for_each(attr, nlh, skip) {
		switch (mnl_attr_get_type(attr)) {
		case NLMSGERR_ATTR_MSG:
			if (mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0)
				ack->msg = mnl_attr_get_str(attr);
			break;
		case NLMSGERR_ATTR_OFFS:
			ack->off = weir_nl_uint(attr);
			ack->has_off = true;
			break;
		case NLMSGERR_ATTR_COOKIE:
			ack->value = weir_nl_uint(attr);
			break;
		case NLMSGERR_ATTR_POLICY:
			ack->policy = attr;
			break;
		case NLMSGERR_ATTR_MISS_TYPE:
			ack->miss = weir_nl_uint(attr);
			ack->has_miss = true;
			break;
		case NLMSGERR_ATTR_MISS_NEST:
			ack->miss_nest = weir_nl_uint(attr);
			break;
		}
	}
}

/* The range or length that the policy wants, against what was sent. */
static bool say_policy(const struct ack *ack, const struct spot *spot,
		       char *text, size_t size)
{
	uint64_t min = 0, max = 0, longest = 0;
	bool has_max = false, has_long = false;
	const struct nlattr *attr;

	if (!ack->policy || !spot->attr)
		return false;
	mnl_attr_for_each_nested(attr, ack->policy) {
		switch (mnl_attr_get_type(attr)) {
		case NL_POLICY_TYPE_ATTR_MIN_VALUE_U:
			min = weir_nl_uint(attr);
			break;
		case NL_POLICY_TYPE_ATTR_MAX_VALUE_U:
			max = weir_nl_uint(attr);
			has_max = true;
			break;
		case NL_POLICY_TYPE_ATTR_MAX_LENGTH:
			longest = weir_nl_uint(attr);
			has_long = true;
			break;
		}
	}
	if (has_max && spot->name && spot->name->kind == WEIR_KIND_UINT)
		snprintf(text, size, "%" PRIu64 " not in %" PRIu64 "..%" PRIu64,
			 weir_nl_uint(spot->attr), min, max);
	else if (has_long && mnl_attr_get_payload_len(spot->attr) > longest)
		snprintf(text, size, "longer than %" PRIu64 " bytes", longest);
	else
		return false;
	return true;
}

static const char *say_errno(int error)
{
	switch (error) {
	case EPERM:
	case EACCES:
		return WEIR_NL_EPERM;
	case EOPNOTSUPP:
		return "the loaded module does not know this; is it older than this command?";
	default:
		return strerror(error);
	}
}

/* The attribute that is missing, in the nest at miss_nest or on top. */
static const char *missing_name(struct weir_nl *nl,
				const struct nlmsghdr *request,
				const struct ack *ack, struct spot *spot)
{
	const struct weir_op_name *op = find_op(request);
	const struct weir_attr_set *set = op ? op->set : NULL;

	memset(spot, 0, sizeof(*spot));
	if (ack->miss_nest) {
		locate(nl, request, ack->miss_nest, spot);
		set = spot->name ? spot->name->nest : NULL;
	}
	return find_name(set, ack->miss) ? word_of(request, set, ack->miss) :
					   NULL;
}

/* The length that msg.c puts behind an address which may be a prefix, or NULL. */
static const struct nlattr *find_len(const struct nlmsghdr *request,
				     const struct nlattr *address)
{
	const struct nlattr *attr = mnl_attr_next(address);
	const char *end = mnl_nlmsg_get_payload_tail(request);

	if (mnl_attr_ok(attr, end - (const char *)attr) &&
	    mnl_attr_get_type(attr) == mnl_attr_get_type(address) + 1 &&
	    mnl_attr_get_payload_len(attr) == 1)
		return attr;
	return NULL;
}

/* Behind its word: the name or address that is there not, or already. */
static void add_given(const struct nlmsghdr *request, struct spot *spot)
{
	const struct nlattr *attr = spot->attr, *len;
	char text[WEIR_NAME_SIZE * 2];
	int size;

	if (!spot->name)
		return;
	size = mnl_attr_get_payload_len(attr);
	if (spot->name->kind == WEIR_KIND_STRING) {
		snprintf(text, sizeof(text), "'%.*s'", size,
			 (const char *)mnl_attr_get_payload(attr));
		add_path(spot, text);
	} else if (spot->name->kind == WEIR_KIND_BINARY &&
		   inet_ntop(size == 16 ? AF_INET6 : AF_INET,
			     mnl_attr_get_payload(attr), text, sizeof(text))) {
		add_path(spot, text);
		len = find_len(request, attr);
		if (!len || mnl_attr_get_u8(len) == 8 * size)
			return;
		snprintf(text, sizeof(text), "/%u", mnl_attr_get_u8(len));
		strncat(spot->path, text,
			sizeof(spot->path) - strlen(spot->path) - 1);
	}
}

static void say_refusal(struct weir_nl *nl, const struct nlmsghdr *request,
			const struct ack *ack, int error)
{
	const char *what = ack->msg ? ack->msg : say_errno(error), *name;
	char text[WEIR_NAME_SIZE * 4], value[64] = "";
	struct spot spot = { 0 };

	if (ack->has_miss) {
		name = missing_name(nl, request, ack, &spot);
		if (name) {
			add_path(&spot, name);
			what = ack->msg ? ack->msg : "is missing";
		}
	} else if (ack->has_off) {
		locate(nl, request, ack->off, &spot);
		if (say_policy(ack, &spot, text, sizeof(text)))
			what = text;
		else if (error == ENOENT || error == EEXIST || error == ENODEV)
			add_given(request, &spot);
	}
	if (ack->value >> 20 && (error == ENOMEM || error == EDQUOT))
		snprintf(value, sizeof(value), " (it takes %" PRIu64 " bytes, %" PRIu64 " MiB)",
			 ack->value, ack->value >> 20);
	else if (ack->value && (error == ENOMEM || error == EDQUOT))
		snprintf(value, sizeof(value), " (it takes %" PRIu64 " bytes)",
			 ack->value);
	else if (ack->value)
		snprintf(value, sizeof(value), " (at most %" PRIu64 ")",
			 ack->value);
	weir_err_set(&nl->err, "%s%s%s%s", spot.path, *spot.path ? ": " : "",
		     what, value);
}

int weir_nl_ack(struct weir_nl *nl, const struct nlmsghdr *request,
		const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *told = mnl_nlmsg_get_payload(nlh);
	bool done = nlh->nlmsg_type == NLMSG_DONE;
	unsigned int skip = done ? sizeof(int) : sizeof(*told);
	struct weir_nl_warning warning;
	struct ack ack = { 0 };
	int error = 0;

	if (nlh->nlmsg_len >= NLMSG_HDRLEN + skip)
		error = done ? *(const int *)told : told->error;
	if (!done && error && !(nlh->nlmsg_flags & NLM_F_CAPPED))
		skip += told->msg.nlmsg_len - NLMSG_HDRLEN;
	/* where a DONE has more than its error, that is TLVs */
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS)
		take_tlvs(nlh, skip, &ack);
	if (error < 0) {
		say_refusal(nl, request, &ack, -error);
		return error;
	}
	if (ack.msg && nl->warn) {
		warning.sentence = ack.msg;
		warning.place = (uint32_t)ack.value;
		warning.more = ack.value ? (ack.value >> 32) - 1 : 0;
		nl->warn(&warning, nl->warn_data);
	}
	return 0;
}
