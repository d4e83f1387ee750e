// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the kernel answers at the end of a request. Its extended ACK points
 * into the request; the table's words make a sentence of it.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <string.h>

#include "nl.h"
#include "value.h"

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
	const struct weir_set *set;	/* of what is inside; NULL: nothing */
	const struct weir_set *around;	/* of what the attribute is among, */
	const void *attrs;		/* all of which are here */
	size_t len;
	const struct weir_field *field;
	const struct nlattr *attr;
};

static uint64_t uint_of(const struct nlattr *attr)
{
	return weir_uint_get(mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr));
}

static void add_path(struct spot *spot, const char *word)
{
	size_t used = strlen(spot->path);

	snprintf(spot->path + used, sizeof(spot->path) - used, "%s%s",
		 used && *word ? " " : "", word);
}

/* What the operator calls an attribute, and its value; "" of a match. */
static const char *word_of(const struct weir_request *request,
			   const struct weir_set *set, uint16_t type, bool value,
			   char buf[WEIR_TEXT_SIZE * 2])
{
	const struct weir_field *field = NULL;
	char text[WEIR_TEXT_SIZE];

	if (set == request->set)
		field = weir_field_find(set, request->verb, type);
	if (!field)
		field = weir_field_find(set, 0, type);
	if (!field)
		return type < set->attr_count ? set->attrs[type].name : NULL;
	if (field->nest && field->value)
		return "";
	weir_field_name(field, buf);
	if (value && field->word && !(field->flags & (WEIR_FIRST | WEIR_ALONE)))
		snprintf(buf, WEIR_TEXT_SIZE * 2, "%s %s", field->word,
			 weir_field_value(field, text));
	return buf;
}

/* Step into @attr of the request, on the way to what is at fault. */
static void enter(const struct weir_request *request, struct spot *spot, const struct nlattr *attr)
{
	uint16_t type = mnl_attr_get_type(attr);
	const struct weir_set *set = spot->set;
	const struct weir_field *field = weir_field_find(set, 0, type);
	char buf[WEIR_TEXT_SIZE * 2];
	const char *word = word_of(request, set, type, false, buf);

	spot->attrs = spot->attr ? mnl_attr_get_payload(spot->attr) :
		mnl_nlmsg_get_payload_offset(request->msg.nlh, GENL_HDRLEN);
	spot->len = spot->attr ? mnl_attr_get_payload_len(spot->attr) :
		mnl_nlmsg_get_payload_len(request->msg.nlh) - GENL_HDRLEN;
	spot->around = set;
	spot->field = field;
	spot->attr = attr;
	spot->set = field ? field->nest : NULL;
	if (word)
		add_path(spot, word);
}

/* Whether the attribute holds or begins at the offset @off. */
static bool holds(const struct nlmsghdr *nlh, const struct nlattr *attr, uint32_t off)
{
	uint32_t begin = (const char *)attr - (const char *)nlh;

	return off >= begin && off < begin + attr->nla_len;
}

/* Follow an offset from the top-level attributes inwards. */
static void locate(struct weir_request *request, uint32_t off, struct spot *spot)
{
	const struct nlmsghdr *nlh = request->msg.nlh;
	const struct nlattr *attr, *inner, *found = NULL;

	memset(spot, 0, sizeof(*spot));
	spot->set = request->set;
	if (!spot->set || !spot->set->attrs)
		return;
	mnl_attr_for_each(attr, nlh, GENL_HDRLEN) {
		if (holds(nlh, attr, off))
			found = attr;
	}
	if (!found)
		return;
	request->fault_type = mnl_attr_get_type(found);
	request->fault_item = 0;
	mnl_attr_for_each(attr, nlh, GENL_HDRLEN) {
		if (attr == found)
			break;
		request->fault_item += mnl_attr_get_type(attr) == request->fault_type;
	}
	enter(request, spot, found);
	while (spot->set && (const char *)found - (const char *)nlh != off) {
		attr = found;
		found = NULL;
		mnl_attr_for_each_nested(inner, attr) {
			if (holds(nlh, inner, off))
				found = inner;
		}
		if (!found)
			return;
		enter(request, spot, found);
	}
}

static void take_tlvs(const struct nlmsghdr *nlh, unsigned int skip, struct ack *ack)
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
			ack->off = uint_of(attr);
			ack->has_off = true;
			break;
		case NLMSGERR_ATTR_COOKIE:
			ack->value = uint_of(attr);
			break;
		case NLMSGERR_ATTR_POLICY:
			ack->policy = attr;
			break;
		case NLMSGERR_ATTR_MISS_TYPE:
			ack->miss = uint_of(attr);
			ack->has_miss = true;
			break;
		case NLMSGERR_ATTR_MISS_NEST:
			ack->miss_nest = uint_of(attr);
			break;
		}
	}
}

/* The range or length that the policy wants, against what was sent. */
static bool say_policy(const struct ack *ack, const struct spot *spot, struct weir_err *err)
{
	char number[24];
	uint64_t min = 0, max = 0, longest = 0;
	bool has_max = false, has_long = false;
	const struct nlattr *attr;

	if (!ack->policy || !spot->attr)
		return false;
	mnl_attr_for_each_nested(attr, ack->policy) {
		switch (mnl_attr_get_type(attr)) {
		case NL_POLICY_TYPE_ATTR_MIN_VALUE_U:
			min = uint_of(attr);
			break;
		case NL_POLICY_TYPE_ATTR_MAX_VALUE_U:
			max = uint_of(attr);
			has_max = true;
			break;
		case NL_POLICY_TYPE_ATTR_MAX_LENGTH:
			longest = uint_of(attr);
			has_long = true;
			break;
		}
	}
	if (has_max) {
		snprintf(number, sizeof(number), "%" PRIu64, uint_of(spot->attr));
		return weir_value_range(number, uint_of(spot->attr), min, max, err);
	}
	return has_long && mnl_attr_get_payload_len(spot->attr) > longest &&
	       weir_err_set(err, "longer than %" PRIu64 " bytes", longest);
}

static const char *say_errno(int error)
{
	switch (error) {
	case EPERM:
	case EACCES:
		return WEIR_NL_EPERM;
	case EOPNOTSUPP:
		return "not supported by the loaded module, which may be older than this command";
	default:
		return strerror(error);
	}
}

/* What is missing, in the nest at miss_nest or on top; NULL: unknown. */
static const char *missing_name(struct weir_request *request,
				const struct ack *ack, struct spot *spot,
				char buf[WEIR_TEXT_SIZE * 2])
{
	memset(spot, 0, sizeof(*spot));
	spot->set = request->set;
	if (ack->miss_nest)
		locate(request, ack->miss_nest, spot);
	return spot->set ? word_of(request, spot->set, ack->miss, !ack->msg, buf) : NULL;
}

/* Behind its word: the name or address that does not exist, or does already. */
static void add_given(struct spot *spot)
{
	const struct weir_field *field = spot->field;
	char buf[WEIR_TEXT_SIZE], text[WEIR_TEXT_SIZE + 2];
	union weir_model model;
	bool string;

	if (!field)
		return;
	string = field->type == &weir_type_name || field->type == &weir_type_dev;
	if (!string && field->type != &weir_type_prefix && field->type != &weir_type_address)
		return;
	weir_set_get(spot->around, spot->attrs, spot->len, &model);
	snprintf(text, sizeof(text), string ? "'%s'" : "%s", weir_field_text(field, &model, buf));
	add_path(spot, text);
}

/* The number that a sentence speaks of. */
static const char *say_value(const struct ack *ack, int error, char buf[64])
{
	bool bytes = error == ENOMEM || error == EDQUOT;

	*buf = '\0';
	if (ack->value && !bytes)
		snprintf(buf, 64, " (at most %" PRIu64 ")", ack->value);
	else if (ack->value >> 20)
		snprintf(buf, 64, " (requires %" PRIu64 " bytes, %" PRIu64 " MiB)",
			 ack->value, ack->value >> 20);
	else if (ack->value)
		snprintf(buf, 64, " (requires %" PRIu64 " bytes)", ack->value);
	return buf;
}

static void say_refusal(struct weir_nl *nl, struct weir_request *request,
			const struct ack *ack, int error)
{
	const char *what = ack->msg ? ack->msg : say_errno(error), *name;
	char buf[WEIR_TEXT_SIZE * 2], value[64];
	struct spot spot = { 0 };
	struct weir_err policy;

	if (ack->has_miss) {
		name = missing_name(request, ack, &spot, buf);
		if (name && !ack->msg) {
			weir_err_set(&nl->err, WEIR_REQUIRED, name);
			return;
		}
		if (name)
			add_path(&spot, name);
	} else if (ack->has_off) {
		locate(request, ack->off, &spot);
		if (say_policy(ack, &spot, &policy))
			what = policy.text;
		else if (error == ENOENT || error == EEXIST || error == ENODEV)
			add_given(&spot);
	}
	weir_err_set(&nl->err, "%s%s%.300s%s", spot.path, *spot.path ? ": " : "",
		     what, say_value(ack, error, value));
}

int weir_nl_ack(struct weir_nl *nl, struct weir_request *request, const struct nlmsghdr *nlh)
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
