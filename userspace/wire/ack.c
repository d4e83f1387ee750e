// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parse the kernel's reply to a request. Its extended ACK points into the request;
 * the table's words turn it into a sentence.
 */

#include <errno.h>
#include <inttypes.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/param.h>

#include "lang/value.h"
#include "wire/netlink.h"

#define TLVS	32

/* Attributes indexed by type. */
struct tlvs {
	const struct nlattr *attr[TLVS];
};

/* Where an extended ACK's offset points. */
struct spot {
	char path[WEIR_NAME_SIZE * 3];
	const struct weir_set *set;	/* the rows of attrs */
	const void *attrs;
	size_t len;
	const struct weir_field *field;	/* the row of attr; or NULL */
	const struct nlattr *attr;
};

static uint64_t uint_of(const struct nlattr *attr)
{
	return attr ? weir_uint_get(mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr)) : 0;
}

static void take_tlvs(const void *attrs, size_t len, struct tlvs *tlvs)
{
	const struct nlattr *attr;

	memset(tlvs, 0, sizeof(*tlvs));
	mnl_attr_for_each_payload(attrs, len) {
		if (mnl_attr_get_type(attr) < TLVS)
			tlvs->attr[mnl_attr_get_type(attr)] = attr;
	}
}

static void add_path(struct spot *spot, const char *word)
{
	weir_append(spot->path, sizeof(spot->path), " ", word);
}

static const struct weir_field *row_of(const struct weir_request *request,
				       const struct weir_set *set, uint16_t type)
{
	const struct weir_field *field = NULL;

	if (set == request->set)
		field = weir_field_find(set, request->verb, type);
	return field ? field : weir_field_find(set, 0, type);
}

/* The user's name of an attribute; "" for one without a word, as a match. */
static const char *word_of(const struct weir_request *request, const struct weir_set *set,
			   uint16_t type, char buf[WEIR_TEXT_SIZE])
{
	const struct weir_field *field = row_of(request, set, type);

	return field && (field->word || field->flags & WEIR_FIRST) ?
	       weir_field_name(field, buf) : "";
}

/* The attribute that contains @off; @item: its index among those of its type. */
static const struct nlattr *find_at(const struct spot *spot, const struct nlmsghdr *nlh,
				    uint32_t off, unsigned int *item)
{
	const char *at = (const char *)nlh + off;
	const struct nlattr *attr, *found = NULL;

	mnl_attr_for_each_payload(spot->attrs, spot->len) {
		if (at >= (const char *)attr && at < (const char *)attr + attr->nla_len)
			found = attr;
	}
	*item = 0;
	mnl_attr_for_each_payload(spot->attrs, spot->len) {
		if (found && attr < found)
			*item += mnl_attr_get_type(attr) == mnl_attr_get_type(found);
	}
	return found;
}

static void begin_spot(const struct weir_request *request, struct spot *spot)
{
	memset(spot, 0, sizeof(*spot));
	spot->set = request->set;
	spot->attrs = mnl_nlmsg_get_payload_offset(request->msg, GENL_HDRLEN);
	spot->len = mnl_nlmsg_get_payload_len(request->msg) - GENL_HDRLEN;
}

/* Add the word of an attribute; of budgets but for the first, their number. */
static void add_word(struct weir_request *request, struct spot *spot, unsigned int item, bool here)
{
	uint16_t type = mnl_attr_get_type(spot->attr);
	char buf[WEIR_TEXT_SIZE];

	if (spot->field && spot->field->nest == &weir_budget_fields) {
		request->fault_budget = item + 1;
		snprintf(buf, sizeof(buf), "budget %u", item + 1);
		add_path(spot, item ? buf : here ? "budget" : "");
	} else if (spot->set != &weir_budget_fields || type != WEIR_A_BUDGET_BUDGET ||
		   request->fault_budget == 1) {
		add_path(spot, word_of(request, spot->set, type, buf));
	}
}

/* Descend from the top-level attributes to @off; @inside: enter a nest that starts there. */
static void locate(struct weir_request *request, uint32_t off, bool inside, struct spot *spot)
{
	const struct nlmsghdr *nlh = request->msg;
	unsigned int item;
	bool here;

	begin_spot(request, spot);
	for (here = false; spot->set && !here;) {
		spot->attr = find_at(spot, nlh, off, &item);
		if (!spot->attr)
			return;
		if (!spot->field) {
			request->fault_type = mnl_attr_get_type(spot->attr);
			request->fault_item = item;
		}
		request->fault = row_of(request, spot->set, mnl_attr_get_type(spot->attr));
		spot->field = request->fault;
		here = (const char *)spot->attr - (const char *)nlh == off;
		add_word(request, spot, item, here);
		if (!spot->field || !spot->field->nest || (here && !inside))
			return;
		spot->set = spot->field->nest;
		spot->attrs = mnl_attr_get_payload(spot->attr);
		spot->len = mnl_attr_get_payload_len(spot->attr);
	}
}

/* Report the range or length of the policy that the attribute violates. */
static bool say_policy(const struct tlvs *ack, const struct nlattr *attr, struct weir_err *err)
{
	const struct nlattr *policy = ack->attr[NLMSGERR_ATTR_POLICY], *longest;
	struct tlvs told;
	char number[24];

	if (!policy || !attr)
		return false;
	take_tlvs(mnl_attr_get_payload(policy), mnl_attr_get_payload_len(policy), &told);
	longest = told.attr[NL_POLICY_TYPE_ATTR_MAX_LENGTH];
	snprintf(number, sizeof(number), "%" PRIu64, uint_of(attr));
	if (told.attr[NL_POLICY_TYPE_ATTR_MAX_VALUE_U])
		return weir_value_range(number, uint_of(attr),
					uint_of(told.attr[NL_POLICY_TYPE_ATTR_MIN_VALUE_U]),
					uint_of(told.attr[NL_POLICY_TYPE_ATTR_MAX_VALUE_U]), err);
	return longest && mnl_attr_get_payload_len(attr) > uint_of(longest) &&
	       weir_err_set(err, "longer than %" PRIu64 " bytes", uint_of(longest));
}

/* Append the name or address at fault to its word. */
static void add_given(struct spot *spot)
{
	const struct weir_type *type = spot->field ? spot->field->type : NULL;
	char buf[WEIR_TEXT_SIZE], text[WEIR_TEXT_SIZE + 2];
	bool string = type == &weir_type_name || type == &weir_type_dev ||
		      type == &weir_type_list;
	union weir_model model;

	if (!string && type != &weir_type_prefix && type != &weir_type_address &&
	    type != &weir_type_source)
		return;
	/* a list is larger than a model, and its name comes first */
	if (spot->set->size > sizeof(model))
		return add_path(spot, string ? mnl_attr_get_str(spot->attr) : "");
	weir_set_get(spot->set, spot->attrs, spot->len, &model);
	snprintf(text, sizeof(text), string ? "'%s'" : "%s",
		 weir_field_text(spot->field, &model, buf));
	add_path(spot, text);
}

/*
 * Format the number in the cookie: bytes for ENOMEM and EDQUOT, what has room for ENOSPC, else a
 * maximum.
 */
static const char *say_value(uint64_t value, int error, char buf[64])
{
	bool bytes = error == ENOMEM || error == EDQUOT;

	*buf = '\0';
	if (value && error == ENOSPC)
		snprintf(buf, 64, " (made for %" PRIu64 ")", value);
	else if (value && !bytes)
		snprintf(buf, 64, " (at most %" PRIu64 ")", value);
	else if (value >> 20)
		snprintf(buf, 64, " (requires %" PRIu64 " bytes, %" PRIu64 " MiB)",
			 value, value >> 20);
	else if (value)
		snprintf(buf, 64, " (requires %" PRIu64 " bytes)", value);
	return buf;
}

/* Report a missing attribute; with a @sentence from the kernel, only name it. */
static bool say_missing(struct weir_request *request, const struct tlvs *ack, bool sentence,
			struct spot *spot, struct weir_err *err)
{
	uint32_t type = uint_of(ack->attr[NLMSGERR_ATTR_MISS_TYPE]);
	const struct weir_field *field;
	char buf[WEIR_TEXT_SIZE];

	if (ack->attr[NLMSGERR_ATTR_MISS_NEST])
		locate(request, uint_of(ack->attr[NLMSGERR_ATTR_MISS_NEST]), true, spot);
	else
		begin_spot(request, spot);
	field = spot->set ? row_of(request, spot->set, type) : NULL;
	if (!field || sentence) {
		if (field)
			add_path(spot, weir_field_name(field, buf));
		return false;
	}
	weir_field_required(field, err);
	return true;
}

static void say_refusal(struct weir_nl *nl, struct weir_request *request,
			const struct tlvs *ack, const char *sentence, int error)
{
	uint64_t value = uint_of(ack->attr[NLMSGERR_ATTR_COOKIE]);
	const char *what = sentence ? sentence :
		error == EPERM || error == EACCES ? WEIR_NL_EPERM :
		error != EOPNOTSUPP ? strerror(error) :
		"not supported by the loaded module, which may be older than this command";
	struct spot spot = { 0 };
	struct weir_err policy;
	char buf[64];

	if (ack->attr[NLMSGERR_ATTR_MISS_TYPE]) {
		if (say_missing(request, ack, sentence, &spot, &nl->err))
			return;
	} else if (ack->attr[NLMSGERR_ATTR_OFFS]) {
		locate(request, uint_of(ack->attr[NLMSGERR_ATTR_OFFS]), false, &spot);
		if (say_policy(ack, spot.attr, &policy))
			what = policy.text;
		else if (error == ENOENT || error == EEXIST || error == ENODEV)
			add_given(&spot);
	}
	/* the name of an item ends with a colon */
	weir_err_set(&nl->err, "%s%s%.300s%s", spot.path,
		     !*spot.path ? "" : spot.path[strlen(spot.path) - 1] == ':' ? " " : ": ", what,
		     say_value(value, error, buf));
}

int weir_nl_ack(struct weir_nl *nl, struct weir_request *request, const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *told = mnl_nlmsg_get_payload(nlh);
	bool done = nlh->nlmsg_type == NLMSG_DONE;
	size_t skip = done ? sizeof(int) : sizeof(*told);
	const char *sentence = NULL;
	struct tlvs ack = { 0 };
	uint64_t cookie;
	int error = 0;

	if (nlh->nlmsg_len >= NLMSG_HDRLEN + skip)
		error = done ? *(const int *)told : told->error;
	if (!done && error && !(nlh->nlmsg_flags & NLM_F_CAPPED))
		skip += told->msg.nlmsg_len - NLMSG_HDRLEN;
	skip = NLMSG_HDRLEN + MNL_ALIGN(skip);
	/* in a DONE, TLVs follow the error directly */
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS && nlh->nlmsg_len >= skip)
		take_tlvs((const char *)nlh + skip, nlh->nlmsg_len - skip, &ack);
	if (ack.attr[NLMSGERR_ATTR_MSG] &&
	    mnl_attr_validate(ack.attr[NLMSGERR_ATTR_MSG], MNL_TYPE_NUL_STRING) >= 0)
		sentence = mnl_attr_get_str(ack.attr[NLMSGERR_ATTR_MSG]);
	request->silent = !sentence;
	if (error < 0) {
		say_refusal(nl, request, &ack, sentence, -error);
	} else if (sentence) {
		cookie = uint_of(ack.attr[NLMSGERR_ATTR_COOKIE]);
		snprintf(request->warning, sizeof(request->warning), "%s", sentence);
		/* see config-replace */
		request->lost = (uint32_t)cookie;
		request->place = cookie >> 32 & UINT16_MAX;
		request->more = cookie >> 48;
	}
	return error < 0 ? error : 0;
}
