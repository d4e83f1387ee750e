// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * weir explain: what would become of a packet, and which limits say so. The tool knows which limits
 * match it, and what exempts or blocks it, as module/path/verdict.c does; the module is asked for
 * the state of its source. With a file nothing was sent yet.
 */

#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "config.h"
#include "tool.h"
#include "value.h"

#define MS		1000000ull	/* in ns */
#define LOOPBACK	"lo"

struct explaining {
	struct weir_tool *tool;
	const struct weir_query *query;
	struct weir_config config;
	struct weir_explained is;
	struct weir_judged limits[WEIR_LIMITS_MAX];
};

/* List conditions, as their limit has them, or only their words. */
static void list_conditions(const struct weir_match *match, uint64_t conds, bool words,
			    char list[WEIR_TEXT_SIZE])
{
	const struct weir_field *field;
	char buf[WEIR_TEXT_SIZE], text[2 * WEIR_TEXT_SIZE];
	const char *value;

	for (field = weir_match_fields.fields; field->type; field++) {
		if (!(field->bit & conds))
			continue;
		value = words ? "" : weir_field_text(field, match, buf);
		snprintf(text, sizeof(text), "%s%s%s%s",
			 !words && match->invert & field->bit ? "not " : "", field->word,
			 *value ? " " : "", value);
		weir_append(list, WEIR_TEXT_SIZE, ", ", text);
	}
	if (conds & WEIR_COND_NAMED)
		weir_append(list, WEIR_TEXT_SIZE, ", ", "names no protocol");
}

/* What is not given has the words of a packet, each once. */
static uint64_t words_of_packet(uint64_t open)
{
	return open & WEIR_COND_TO_LIST ? (open & ~(uint64_t)WEIR_COND_TO_LIST) | WEIR_COND_TO :
	       open;
}

/* Which of its conditions are met? */
static void judge_match(struct explaining *to, struct weir_judged *judged,
			unsigned int *position)
{
	const struct weir_match *match = &judged->is->match;
	uint64_t unmet, open;

	unmet = weir_config_unmet(&to->config, &to->is.packet, match, &open);
	list_conditions(match, unmet, false, judged->unmet_words);
	if (unmet)
		return;
	judged->open = words_of_packet(open);
	judged->met = open ? WEIR_MET_MAYBE : WEIR_MET_YES;
	judged->position = ++*position;
}

/* An exemption or a block of all limits, or of one; with @dev NULL only on a device. */
static const struct weir_exempt *find(const struct explaining *to, const char *dev,
				      const char *limit, bool block)
{
	const struct weir_exempt *all;

	all = weir_config_exempt(&to->config, &to->query->prefix, dev, "", block);
	return all ? all : weir_config_exempt(&to->config, &to->query->prefix, dev, limit, block);
}

/* A source that has sent nothing yet. */
static void begin_state(const struct explaining *to, struct weir_judged *judged)
{
	const struct weir_limit *is = judged->is;
	struct weir_source *source = &judged->source;
	bool ipv6 = to->query->prefix.family == AF_INET6;
	struct weir_source_budget *budget;
	unsigned int i;
	uint8_t len;

	len = is->has & WEIR_HAS(LIMIT_PREFIX4) ? is->per[ipv6] : ipv6 ? 64 : 32;
	judged->has |= WEIR_JUDGED_SOURCE;
	source->prefix = to->query->prefix;
	weir_prefix_cut(&source->prefix, len);
	if (!len)
		source->prefix.family = AF_UNSPEC;
	source->unknown = is->newcomers.count;
	source->budget_count = is->budget_count;
	for (i = 0; i < is->budget_count; i++) {
		budget = &source->budgets[i];
		budget->budget = judged->configured[i].burst ? judged->configured[i].burst :
				 judged->configured[i].amount.count;
		budget->left = budget->budget;
		budget->unit = is->budgets[i].unit;
	}
}

static int take_state(const void *model, void *data)
{
	const struct weir_source *source = model;
	struct explaining *to = data;
	unsigned int i;

	for (i = 0; i < to->is.limit_count; i++) {
		if (strcmp(to->limits[i].limit, source->limit))
			continue;
		to->limits[i].source = *source;
		to->limits[i].has |= WEIR_JUDGED_SOURCE;
	}
	return 0;
}

/* Get the state of the source under each limit that it may meet. */
static int get_states(struct explaining *to)
{
	struct weir_request request = {
		.cmd = WEIR_CMD_SOURCE_GET, .flags = NLM_F_DUMP, .set = &weir_explain_fields,
		.verb = WEIR_ON_GET, .model = to->query, .reply_set = &weir_source_fields,
		.reply = take_state, .data = to,
	};
	int status;
	unsigned int i;

	weir_nl_ask(&to->tool->nl, &request);
	status = weir_tool_settle(to->tool, &request, 0);
	for (i = 0; !status && i < to->is.limit_count; i++) {
		if (!to->limits[i].met || to->limits[i].has & WEIR_JUDGED_SOURCE)
			continue;
		weir_err_set(&to->tool->err, "the limits changed while they were read; try again");
		status = WEIR_EXIT_INTERRUPTED;
	}
	return status;
}

/* What is left of a budget for packets of the length, or if that is not given for bytes. */
static uint64_t left_of(const struct explaining *to, const struct weir_source_budget *is)
{
	return is->unit == WEIR_UNIT_BYTES && to->query->len ? is->left / to->query->len : is->left;
}

static uint32_t number_of(const struct weir_source *source, unsigned int i)
{
	return source->budget_count > 1 ? i + 1 : 0;
}

static void refuse(struct weir_judged *judged, uint32_t reason, uint32_t budget, uint64_t next_ns)
{
	judged->reason = reason;
	judged->budget = budget;
	judged->next_ns = next_ns;
	judged->has |= next_ns ? WEIR_JUDGED_NEXT : 0;
}

/* Would the state of the source refuse the packet? In the order in which the module looks. */
static void judge_state(const struct explaining *to, struct weir_judged *judged)
{
	const struct weir_source *source = &judged->source;
	const struct weir_source_budget *is;
	unsigned int i;

	for (i = 0; i < source->budget_count; i++) {
		is = &source->budgets[i];
		if (is->unit == WEIR_UNIT_BYTES && to->query->len > is->budget)
			return refuse(judged, WEIR_REASON_SIZE, number_of(source, i), 0);
	}
	if (source->blocked)
		return refuse(judged, WEIR_REASON_BLOCK, 0, source->blocked_ns);
	for (i = 0; i < source->budget_count; i++) {
		if (left_of(to, &source->budgets[i]))
			continue;
		return refuse(judged, source->floor ? WEIR_REASON_FLOOR : WEIR_REASON_BUDGET,
			      source->limited_by ? source->limited_by : number_of(source, i),
			      source->next_ns);
	}
	if (source->newcomers_next_ns)
		refuse(judged, WEIR_REASON_NEWCOMERS, 0, source->newcomers_next_ns);
}

/* How much the source may send still, and which budget refuses then. */
static void judge_room(const struct explaining *to, struct weir_judged *judged)
{
	const struct weir_source *source = &judged->source;
	const struct weir_limit *limit = judged->is;
	const struct weir_source_budget *is;
	uint64_t left;
	unsigned int i;

	for (i = 0; i < source->budget_count; i++) {
		is = &source->budgets[i];
		left = left_of(to, is);
		if (is->unit == WEIR_UNIT_BYTES && !to->query->len) {
			if (!(judged->has & WEIR_JUDGED_BYTES) || left < judged->bytes) {
				judged->bytes = left;
				judged->bytes_budget = number_of(source, i);
			}
			judged->has |= WEIR_JUDGED_BYTES;
		} else {
			if (!(judged->has & WEIR_JUDGED_PACKETS) || left < judged->packets) {
				judged->packets = left;
				judged->packets_budget = number_of(source, i);
			}
			judged->has |= WEIR_JUDGED_PACKETS;
		}
	}
	if (source->unknown && !limit->learning_ns &&
	    (!(judged->has & WEIR_JUDGED_PACKETS) || judged->packets > limit->newcomers.count)) {
		judged->packets = limit->newcomers.count;
		judged->packets_budget = 0;
		judged->newcomer = true;
		judged->has |= WEIR_JUDGED_PACKETS;
	}
}

static void put_prefix(struct weir_judged *judged, const struct weir_exempt *prefix)
{
	if (!prefix)
		return;
	*(prefix->block ? &judged->block : &judged->exempt) = *prefix;
	judged->has |= prefix->block ? WEIR_JUDGED_BLOCK : WEIR_JUDGED_EXEMPT;
}

/* Without a device, exemptions and blocks of any may hold. */
static void judge_devices(const struct explaining *to, struct weir_judged *judged)
{
	const struct weir_exempt *exempt = find(to, NULL, judged->limit, false), *block = NULL;

	if (!judged->reason && judged->is->action == WEIR_ACTION_DROP)
		block = find(to, NULL, judged->limit, true);
	if (block)
		refuse(judged, WEIR_REASON_PREFIX, 0, block->for_ms * MS);
	put_prefix(judged, exempt);
	put_prefix(judged, block);
	if (!exempt && !block)
		return;
	judged->met = WEIR_MET_MAYBE;
	judged->open |= WEIR_COND_DEV;
}

/* The budgets that the source has, with what their words leave out. */
static void put_budgets(const struct explaining *to, struct weir_judged *judged)
{
	const struct weir_member *own;
	unsigned int i;

	memcpy(judged->configured, judged->is->budgets, sizeof(judged->configured));
	judged->configured_count = judged->is->budget_count;
	for (i = 0; i < judged->configured_count; i++) {
		judged->configured[i].has |= WEIR_HAS(BUDGET_UNIT) | WEIR_HAS(BUDGET_MODE);
		if (judged->is->alone && judged->configured[i].alone)
			judged->configured[i].amount.count = judged->configured[i].alone;
	}
	own = weir_config_budget(&to->config, judged->is, &to->query->prefix);
	if (!own)
		return;
	judged->configured[0].amount.count = own->budget;
	judged->source.asked.by = own->prefix;
}

static void judge(struct explaining *to, struct weir_judged *judged)
{
	const struct weir_exempt *exempt, *block;

	judged->source.asked = (struct weir_asked){
		.prefix = to->query->prefix, .len = to->query->len, .limit = judged->is,
	};
	put_budgets(to, judged);
	if (to->query->file)
		begin_state(to, judged);
	judged->source.action = judged->is->action;
	exempt = find(to, to->query->dev, judged->limit, false);
	put_prefix(judged, exempt);
	if (exempt) {
		judged->says = WEIR_SAYS_EXEMPT;
		return;
	}
	block = find(to, to->query->dev, judged->limit, true);
	put_prefix(judged, block);
	if (block && judged->is->action == WEIR_ACTION_DROP)
		refuse(judged, WEIR_REASON_PREFIX, 0, block->for_ms * MS);
	else
		judge_state(to, judged);
	if (!*to->query->dev)
		judge_devices(to, judged);
	judged->says = judged->reason ? WEIR_SAYS_REFUSE : WEIR_SAYS_ADMIT;
	if (!judged->reason) {
		judge_room(to, judged);
		return;
	}
	judged->packets_budget = judged->budget;
	judged->has |= WEIR_JUDGED_PACKETS;
}

static bool drops(const struct weir_judged *judged)
{
	return judged->says == WEIR_SAYS_REFUSE && judged->is->action == WEIR_ACTION_DROP;
}

/* Is it certain before any limit is charged? */
static bool is_certain(const struct weir_judged *judged)
{
	return judged->reason != WEIR_REASON_FLOOR && judged->reason != WEIR_REASON_NEWCOMERS;
}

/*
 * The limit that drops the packet: one where a prefix is blocked, else the first that is certain
 * to refuse before any is charged, else the first that refuses then. Or NULL.
 */
static const struct weir_judged *find_dropper(const struct explaining *to, uint32_t met)
{
	const struct weir_judged *prefix = NULL, *certain = NULL, *any = NULL, *at;

	for (at = to->limits; at < to->limits + to->is.limit_count; at++) {
		if (at->met != met || !drops(at))
			continue;
		if (!prefix && at->reason == WEIR_REASON_PREFIX)
			prefix = at;
		if (!certain && is_certain(at))
			certain = at;
		if (!any)
			any = at;
	}
	return prefix ? prefix : certain ? certain : any;
}

static void judge_all(struct explaining *to)
{
	const struct weir_judged *at;

	to->is.by = find_dropper(to, WEIR_MET_YES);
	if (to->is.by) {
		to->is.verdict = WEIR_DROPPED;
	} else {
		to->is.by = find_dropper(to, WEIR_MET_MAYBE);
		to->is.verdict = to->is.by ? WEIR_DEPENDS : WEIR_PASSES;
	}
	if (to->is.by)
		strcpy(to->is.dropped_by, to->is.by->limit);
	for (at = to->limits; !to->is.by && at < to->limits + to->is.limit_count; at++)
		if (at->met == WEIR_MET_YES && at->says == WEIR_SAYS_ADMIT &&
		    at->is->action == WEIR_ACTION_DROP && at->has & WEIR_JUDGED_BYTES &&
		    at->bytes < WEIR_PACKET_MAX && (!to->is.most || at->bytes < to->is.most))
			to->is.most = at->bytes;
}

/* The limit that refuses first of those that are met, or may be: by packets, or by bytes. */
static const struct weir_judged *find_first(const struct explaining *to, uint32_t met, bool bytes)
{
	const struct weir_judged *first = NULL, *at;

	for (at = to->limits; at < to->limits + to->is.limit_count; at++) {
		if (at->met != met || at->says == WEIR_SAYS_EXEMPT ||
		    at->is->action != WEIR_ACTION_DROP ||
		    !(at->has & (bytes ? WEIR_JUDGED_BYTES : WEIR_JUDGED_PACKETS)))
			continue;
		if (!first || (bytes ? at->bytes < first->bytes : at->packets < first->packets))
			first = at;
	}
	return first;
}

static void put_refusal(struct explaining *to, const struct weir_judged *by, bool bytes)
{
	struct weir_refusal *refusal = &to->is.refusals[to->is.refusal_count++];

	strcpy(refusal->limit, by->limit);
	strcpy(refusal->open_words, by->open_words);
	refusal->has = bytes ? WEIR_JUDGED_BYTES : WEIR_JUDGED_PACKETS;
	refusal->packets = bytes ? 0 : by->packets;
	refusal->bytes = bytes ? by->bytes : 0;
	refusal->budget = bytes ? by->bytes_budget : by->packets_budget;
	refusal->newcomer = !bytes && by->newcomer;
}

/* A limit that may be met counts if it refuses before the one that is. */
static void judge_flood(struct explaining *to)
{
	const struct weir_judged *first[2], *maybe;
	int bytes;

	if (to->is.verdict == WEIR_DROPPED) {
		put_refusal(to, to->is.by, false);
		return;
	}
	for (bytes = 0; bytes < 2; bytes++) {
		first[bytes] = find_first(to, WEIR_MET_YES, bytes);
		if (first[bytes])
			put_refusal(to, first[bytes], bytes);
	}
	for (bytes = 0; bytes < 2; bytes++) {
		maybe = find_first(to, WEIR_MET_MAYBE, bytes);
		if (maybe && (!first[bytes] ||
			      (bytes ? maybe->bytes < first[bytes]->bytes :
			       maybe->packets < first[bytes]->packets)))
			put_refusal(to, maybe, bytes);
	}
}

/* Why the module is not sure of it before the stack has seen the packet; or NULL. */
static const char *unsure_of(const struct explaining *to, const struct weir_judged *dropper)
{
	const struct weir_judged *at;

	if (dropper->is->match.has & WEIR_COND_MARK)
		return "a mark is set after it";
	if (dropper->reason == WEIR_REASON_PREFIX)
		return "blocked prefixes are looked up after it";
	if (dropper->reason && !is_certain(dropper))
		return "it takes a charge to be sure";
	for (at = to->limits; at < dropper; at++)
		if (at->met && at->says == WEIR_SAYS_EXEMPT)
			return "an exemption from a limit is looked up after it";
	return NULL;
}

/* The limit that drops the packet, or refuses first if the source floods; or NULL. */
static const struct weir_judged *find_refuser(const struct explaining *to)
{
	const struct weir_judged *at = to->limits;

	if (to->is.by)
		return to->is.by;
	if (!to->is.refusal_count)
		return NULL;
	while (strcmp(at->limit, to->is.refusals[0].limit))
		at++;
	return at;
}

/* Does the program drop early what that limit refuses; and if not, why? */
static void judge_early(struct explaining *to)
{
	static struct weir_xdp there[WEIR_EARLY_MAX];
	const struct weir_xdp *list = to->query->file ? to->config.early : there, *at = list;
	const struct weir_judged *refuser = find_refuser(to);
	const char *dev = to->query->dev, *unsure;
	char *why = to->is.early_why;
	unsigned int count;

	if (!refuser)
		return;
	count = to->query->file ? to->config.early_count : weir_xdp_look(to->tool, there);
	while (at < list + count && strcmp(at->dev, dev))
		at++;
	unsure = unsure_of(to, refuser);
	if (!*dev)
		strcpy(why, count ? "dev not given" : "no device has the program");
	else if (at == list + count)
		snprintf(why, WEIR_EARLY_WHY_SIZE, "%s has no XDP program%s%s", dev,
			 count ? "; one is on " : "", count ? list->dev : "");
	else if (*at->off)
		strcpy(why, at->off);
	else if (unsure)
		strcpy(why, unsure);
	else
		to->is.early = true;
	if (to->is.early)
		snprintf(why, WEIR_EARLY_WHY_SIZE, "by the program on %s", dev);
}

/* The packet, as a match shows it: a list of one each. With a file there are no counts. */
static void describe(struct explaining *to)
{
	struct weir_match *packet = &to->is.packet;
	unsigned int i;

	for (i = 0; to->query->file && i < to->is.limit_count; i++)
		to->limits[i].source.budget_count = 0;
	packet->from_count = 1;
	packet->to_count = !!(packet->has & WEIR_COND_TO);
	packet->proto_count = !!(packet->has & WEIR_COND_PROTO);
	packet->sport_count = !!(packet->has & WEIR_COND_SPORT);
	packet->dport_count = !!(packet->has & WEIR_COND_DPORT);
	packet->icmp_count = !!(packet->has & WEIR_COND_ICMP_TYPE);
	packet->icmpv6_count = !!(packet->has & WEIR_COND_ICMPV6_TYPE);
	packet->has &= ~(uint64_t)WEIR_COND_FRAG;
	if (!(packet->flags & WEIR_COND_SYN))
		packet->has &= ~(uint64_t)WEIR_COND_SYN;
}

static int explain(struct explaining *to)
{
	const struct weir_exempt *exempt;
	unsigned int i, position = 0;
	int status = WEIR_EXIT_OK;

	to->is.packet = to->query->packet;
	to->is.len = to->query->len;
	to->is.loopback = !strcmp(to->query->dev, LOOPBACK);
	to->is.limit_count = to->config.limit_count;
	to->is.limits = to->limits;
	exempt = weir_config_exempt(&to->config, &to->query->prefix, to->query->dev, "", false);
	if (exempt) {
		to->is.exempt = *exempt;
		to->is.has |= WEIR_JUDGED_EXEMPT;
	}
	for (i = 0; i < to->is.limit_count; i++) {
		to->limits[i].is = &to->config.limits[i];
		strcpy(to->limits[i].limit, to->limits[i].is->name);
		judge_match(to, &to->limits[i], &position);
	}
	if (!to->query->file && to->is.limit_count)
		status = get_states(to);
	if (status)
		return status;
	for (i = 0; i < to->is.limit_count; i++)
		if (to->limits[i].met)
			judge(to, &to->limits[i]);
	for (i = 0; i < to->is.limit_count; i++)
		list_conditions(&to->limits[i].is->match, to->limits[i].open, true,
				to->limits[i].open_words);
	if (!to->is.loopback) {
		judge_all(to);
		judge_flood(to);
		judge_early(to);
	}
	describe(to);
	return status;
}

static int get_config(struct explaining *to)
{
	struct weir_tool *tool = to->tool;
	int status;

	if (!to->query->file && tool->reached)
		return weir_get_config(tool, &to->config, true);
	if (!to->query->file) {
		weir_err_set(&tool->err, "%.400s; 'file FILE' explains what a file would do",
			     tool->err.text);
		return WEIR_EXIT_UNREACHABLE;
	}
	status = weir_read_file(tool, to->query->file, false, &to->config);
	if (status)
		weir_err_set(&tool->err, "nothing is explained: %.200s cannot be applied",
			     to->query->file);
	return status;
}

int weir_explain(struct weir_tool *tool, const struct weir_command *command,
		 union weir_model *model)
{
	struct explaining *to = calloc(1, sizeof(*to));
	int status;

	if (!to) {
		weir_err_set(&tool->err, WEIR_NO_MEMORY);
		return WEIR_EXIT_REFUSED;
	}
	to->tool = tool;
	to->query = &model->query;
	status = get_config(to);
	if (!status)
		status = explain(to);
	if (!status)
		command->show(&tool->out, &to->is);
	weir_config_clear(&to->config);
	free(to);
	return status;
}
