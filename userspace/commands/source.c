// SPDX-License-Identifier: GPL-2.0-or-later
/* weir source: get, charge and block. */

#include <errno.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <time.h>

#include "commands/commands.h"

#define NOTHING_LEFT	"not charged: nothing is left"
#define MS		1000000ull
#define LOOPBACK	"lo"
#define EVER		UINT64_MAX
#define PACKET_LEAST	20	/* bytes: the header of IPv4 */

static bool is_address(const struct weir_prefix *prefix)
{
	return prefix->len == (prefix->family == AF_INET ? 32 : 128);
}

/* Of link-local addresses each is a source of its own, with its device, unless all are one. */
static const struct weir_prefix link_local[] = {
	{ .family = AF_INET, .len = 16, .addr = { 169, 254 } },
	{ .family = AF_INET6, .len = 64, .addr = { 0xfe, 0x80 } },
};

/* The length of the sources that a limit makes of the addresses in a prefix. */
static uint8_t length_of(const struct weir_limit *limit, const struct weir_prefix *prefix)
{
	bool v6 = prefix->family == AF_INET6;

	return limit->per[v6] && weir_prefix_holds(&link_local[v6], prefix) ? v6 ? 128 : 32 :
	       limit->per[v6];
}

/* The limit that is named, if the request needs it; or NULL: the request reports what is wrong. */
static const struct weir_limit *get_named(struct weir_tool *tool, const struct weir_query *query)
{
	static struct weir_limit limit;
	struct weir_request request;

	if (!*query->limit || (is_address(&query->prefix) && !query->packets && !query->bytes))
		return NULL;
	return weir_get_limit(tool, query->limit, false, &limit, &request) ? NULL : &limit;
}

/* A prefix, or all, must be a source of the limit; any address is of the source that is all. */
static int check_source(struct weir_tool *tool, const struct weir_limit *limit,
			struct weir_query *query)
{
	struct weir_prefix *is = &query->prefix;
	char buf[WEIR_TEXT_SIZE];

	if (!limit)
		return WEIR_EXIT_OK;
	if (!is->family && !limit->per[0] && !limit->per[1])
		*is = (struct weir_prefix){ .family = AF_INET, .len = 32 };
	if (is_address(is) || (is->family && is->len == length_of(limit, is)))
		return WEIR_EXIT_OK;
	weir_err_set(&tool->err, "ADDR %s: limit '%s' counts each /%u as a source; 'source show limit %s' lists them",
		     weir_text_prefix(NULL, is, buf), limit->name, length_of(limit, is),
		     limit->name);
	return WEIR_EXIT_WORDS;
}

/* By what a packet is dropped, in the order in which the module asks. */
enum refusal { NONE, BY_CHARGE, BY_STATE, BY_PREFIX, DECIDED };

struct getting {
	struct weir_tool *tool;
	const struct weir_command *command;
	const struct weir_query *query;
	struct weir_prefix asked;	/* by the user: all has an address in the query */
	struct weir_config *limits;
	unsigned int refusal;		/* the first; above DECIDED, if the limit is met */
	struct weir_source by;		/* the state that refuses */
	uint64_t ns;			/* for the longest that any refuses; EVER */
	uint64_t most;			/* bytes of a packet that every limit has room for */
	char first[WEIR_NAME_SIZE];	/* the limit that refuses first if more such packets come */
	uint64_t more;			/* how many it admits before */
	bool unsure;			/* another one may refuse before */
	bool unmatched;			/* the limit that was named is not met */
	bool exempted;			/* from a limit */
};

/* Has the source room for a packet, if that is small enough or its length is known? */
static bool has_room(const struct weir_source *source)
{
	const struct weir_source_budget *is = source->budgets;

	for (; is < source->budgets + source->budget_count && !source->asked.len; is++)
		if (is->left < (is->unit == WEIR_UNIT_BYTES ? PACKET_LEAST : 1))
			return false;
	return !source->asked.len || !source->limited;
}

static enum refusal refusal_of(const struct weir_source *source)
{
	bool prefix = source->has & WEIR_HAS(SOURCE_EXEMPT);

	if (source->action == WEIR_ACTION_OBSERVE || source->unmatched ||
	    (prefix && !source->exempt.block))
		return NONE;
	if (prefix)
		return BY_PREFIX;
	if (source->blocked || (!has_room(source) && !source->floor))
		return BY_STATE;
	return !has_room(source) || source->newcomers_next_ns ? BY_CHARGE : NONE;
}

/* For how long it refuses; 0: that is not known. */
static uint64_t refusal_ns(const struct weir_source *source, enum refusal refusal)
{
	if (refusal == BY_PREFIX)
		return source->exempt.for_ms ? source->exempt.for_ms * MS : EVER;
	uint64_t then = has_room(source) ? source->newcomers_next_ns : source->next_ns;

	if (source->blocked)
		return source->blocked_ns ? MAX(source->blocked_ns, then) : EVER;
	return then;
}

/* An exemption, or a block, of the source on a device that was not asked about; or NULL. */
static const struct weir_exempt *find_on_device(const struct getting *getting, const char *limit,
						bool block)
{
	const struct weir_prefix *prefix = &getting->query->prefix;
	const struct weir_exempt *found;

	if (*getting->query->dev)
		return NULL;
	found = weir_config_exempt(getting->limits, prefix, NULL, "", block);
	return found ? found : weir_config_exempt(getting->limits, prefix, NULL, limit, block);
}

/* How large a packet, and how many such packets, a limit has room for. */
static void take_room(struct getting *getting, const struct weir_source *source)
{
	const struct weir_source_budget *is = source->budgets;
	uint64_t more;

	getting->unsure |= source->undecided || source->unknown;
	for (; is < source->budgets + source->budget_count; is++) {
		more = is->left;
		if (is->unit == WEIR_UNIT_BYTES) {
			getting->most = MIN(getting->most, is->left);
			getting->unsure |= !getting->query->len;
			more = is->left / MAX(getting->query->len, 1);
		}
		if (more >= getting->more)
			continue;
		getting->more = more;
		strcpy(getting->first, source->limit);
	}
}

static void take_refusal(struct getting *getting, const struct weir_source *source,
			 const struct weir_exempt *block)
{
	unsigned int refusal = refusal_of(source);
	struct weir_source is = *source;

	if (!refusal && block && source->action != WEIR_ACTION_OBSERVE) {
		refusal = BY_PREFIX;
		is.exempt = *block;
	}
	if (!refusal && !is.unmatched && source->action == WEIR_ACTION_DROP &&
	    !(source->has & WEIR_HAS(SOURCE_EXEMPT)))
		take_room(getting, source);
	if (!refusal)
		return;
	if (!is.undecided) {
		getting->ns = MAX(getting->ns, refusal_ns(&is, refusal));
		refusal += DECIDED;
	}
	if (refusal <= getting->refusal)
		return;
	getting->refusal = refusal;
	getting->by = is;
}

/* The conditions on what was not asked, by the words of a packet. */
static const char *undecided_text(const struct weir_source *by, char text[WEIR_TEXT_SIZE])
{
	struct weir_source is = *by;

	if (is.undecided & WEIR_COND_TO_LIST)
		is.undecided = (is.undecided & ~WEIR_COND_TO_LIST) | WEIR_COND_TO;
	return weir_field_text(weir_field_find(&weir_source_fields, 0, WEIR_A_SOURCE_UNDECIDED),
			       &is, text);
}

/* Does the XDP program drop such packets once the hook has dropped some, as in a flood? */
static bool drops_early(const struct getting *getting)
{
	const struct weir_limit *limit = getting->by.asked.limit;
	static struct weir_xdp list[WEIR_EARLY_MAX];
	unsigned int count, i;

	/* It reads no marks, and leaves newcomers and exempt sources to the hook. */
	if (getting->refusal < DECIDED + BY_STATE || getting->exempted ||
	    !limit || limit->match.has & WEIR_COND_MARK)
		return false;
	count = *getting->query->dev ? weir_xdp_look(getting->tool, list) : 0;
	for (i = 0; i < count && strcmp(list[i].dev, getting->query->dev); i++)
		;
	return i < count && !*list[i].off;
}

static void show_refusal(const struct getting *getting)
{
	const struct weir_source *by = &getting->by;
	const struct weir_limit *limit = by->asked.limit;
	struct weir_out *out = &getting->tool->out;
	bool decided = getting->refusal > DECIDED;
	uint64_t ns = decided ? getting->ns : refusal_ns(by, getting->refusal);
	char buf[WEIR_TEXT_SIZE];

	if (!decided)
		weir_out_text(out, "depends on %s: may be ", undecided_text(by, buf));
	weir_out_put(out, WEIR_COLOR_BAD, "dropped");
	weir_out_text(out, " by limit %s", by->limit);
	if (ns)
		weir_out_text(out, " for %s", ns == EVER ? "ever" : weir_text_time(ns, buf));
	if (by->newcomers_next_ns && has_room(by))
		weir_out_text(out, ", unless it is a second try");
	if (getting->refusal % DECIDED == BY_STATE && !by->blocked && limit && limit->penalty_ms)
		weir_out_text(out, ", and its source then blocked for %s",
			      weir_text_time(limit->penalty_ms * MS, buf));
	if (drops_early(getting))
		weir_out_text(out, "; in a flood early, by XDP");
}

/* What becomes of a packet that arrives now. */
static void show_verdict(const struct getting *getting)
{
	const struct weir_query *query = getting->query;
	struct weir_out *out = &getting->tool->out;

	if (out->json || !is_address(&query->prefix))
		return;
	weir_out_text(out, "a packet now: ");
	if (!strcmp(query->dev, LOOPBACK)) {
		weir_out_text(out, "passes, nothing is limited on the loopback device");
	} else if (getting->refusal) {
		show_refusal(getting);
	} else {
		weir_out_text(out, *query->limit ? "passes limit %s" : "passes", query->limit);
		if (!getting->tool->answers || getting->unmatched)
			weir_out_text(out, *query->limit ? ", which it does not match" :
				      ", no limit matches it");
		else if (getting->most < WEIR_PACKET_MAX && !query->len)
			weir_out_text(out, " if it has at most %" PRIu64 " bytes", getting->most);
		if (*getting->first && !getting->unsure)
			weir_out_text(out, "; in a flood limit %s refuses first, after %" PRIu64 " packets",
				      getting->first, getting->more);
	}
	weir_out_text(out, "\n");
}

/* An exemption, or else a block, of the prefix that a query names. */
static struct weir_exempt exempt_of(const struct weir_query *query, bool block)
{
	struct weir_exempt exempt = { .prefix = query->prefix, .block = block };

	strcpy(exempt.dev, query->dev);
	strcpy(exempt.limit, query->limit);
	return exempt;
}

/* Leave out the limits that have other sources. */
static int show_state(const void *model, void *data)
{
	struct getting *getting = data;
	const struct weir_prefix *asked = &getting->query->prefix;
	struct weir_source source = *(const struct weir_source *)model;
	struct weir_limit *limit = weir_config_find(getting->limits, source.limit);
	const struct weir_exempt *block = NULL;
	const struct weir_member *by;
	bool exempted;

	if (!is_address(asked) && source.prefix.len != asked->len)
		return 0;
	source.asked = (struct weir_asked){
		.prefix = getting->asked, .len = getting->query->len, .limit = limit,
	};
	by = limit ? weir_config_budget(getting->limits, limit, &source.prefix) : NULL;
	if (by)
		source.asked.by = by->prefix;
	exempted = source.has & WEIR_HAS(SOURCE_EXEMPT) && !source.exempt.block;
	getting->unmatched |= source.unmatched;
	getting->exempted |= exempted;
	if (!(source.has & WEIR_HAS(SOURCE_EXEMPT)))
		block = find_on_device(getting, source.limit, true);
	if (block || (!exempted && find_on_device(getting, source.limit, false))) {
		source.undecided |= WEIR_COND_DEV;
		source.has |= WEIR_HAS(SOURCE_UNDECIDED);
	}
	getting->command->show(&getting->tool->out, &source);
	weir_note_nat64(getting->tool, &source.prefix);
	take_refusal(getting, &source, block);
	getting->tool->answers++;
	return ferror(getting->tool->out.to) ? -ECANCELED : 0;
}

static int show_row(const void *model, void *data)
{
	struct weir_tool *tool = data;

	weir_show_row(&tool->out, model, !tool->answers++);
	weir_note_nat64(tool, &((const struct weir_source *)model)->prefix);
	return ferror(tool->out.to) ? -ECANCELED : 0;
}

int weir_source_show(struct weir_tool *tool, const struct weir_command *command,
		     union weir_model *model)
{
	struct weir_request request = weir_request_of(command, model);

	if (tool->out.json || tool->out.brief || tool->out.oneline)
		return weir_run_show(tool, command, model);
	request.reply = show_row;
	request.data = tool;
	return weir_tool_list(tool, &request, command->allowed);
}

/* No limit answered for a source: say why. */
static int get_none(struct weir_tool *tool, struct weir_config *config, struct weir_query *query)
{
	char words[WEIR_EXEMPT_SIZE], buf[WEIR_TEXT_SIZE], exempt[WEIR_EXEMPT_SIZE + 32] = "";
	int status = weir_get_config(tool, config, WEIR_GET_ALL);
	struct weir_exempt exemption, block;
	const struct weir_exempt *by;

	status = status ?: check_source(tool, weir_config_find(config, query->limit), query);
	if (status)
		return status;
	weir_text_prefix(NULL, &query->prefix, buf);
	exemption = exempt_of(query, false);
	block = exempt_of(query, true);
	by = weir_exempt_holding(config, &exemption, false) ?:
	     weir_exempt_holding(config, &block, false);
	if (by)
		snprintf(exempt, sizeof(exempt), "; it is %s by %s%s",
			 by->block ? "blocked" : "exempt", weir_exempt_words(by, words),
			 by->block && *by->limit ? ", but only packets that this limit matches" : "");
	if (is_address(&query->prefix))
		weir_err_set(&tool->err, "ADDR %s: weir drops none of its packets: no limit matches them%s",
			     buf, exempt);
	else
		weir_err_set(&tool->err, "ADDR %s: no limit counts a /%u as a source%s; name an address of it, or see 'source show %s'",
			     buf, query->prefix.len, exempt, buf);
	return WEIR_EXIT_REFUSED;
}

int weir_source_get(struct weir_tool *tool, const struct weir_command *command,
		    union weir_model *model)
{
	static struct weir_config config;
	struct weir_request request = weir_request_of(command, model);
	struct getting getting = {
		.tool = tool, .command = command, .query = &model->query,
		.asked = model->query.prefix, .limits = &config, .most = UINT64_MAX,
		.more = UINT64_MAX,
	};
	int status = weir_get_config(tool, &config, WEIR_GET_ALL);

	if (!status && !model->query.prefix.family)
		status = check_source(tool, weir_config_find(&config, model->query.limit),
				      &model->query);
	if (!status) {
		request.reply = show_state;
		request.data = &getting;
		status = weir_tool_list(tool, &request, command->allowed);
		if (!status && !tool->answers &&
		    (!is_address(&model->query.prefix) || !model->query.packet.has))
			status = get_none(tool, &config, &model->query);
		else if (!status)
			show_verdict(&getting);
	}
	weir_config_clear(&config);
	return status;
}

/* Say that a limit has no room yet for a source that is blocked no more. */
static int note_room(const void *model, void *data)
{
	const struct getting *getting = data;
	const struct weir_source *source = model;
	const struct weir_limit *limit = weir_config_find(getting->limits, source->limit);
	char address[WEIR_TEXT_SIZE + WEIR_DEV_SIZE + 8], buf[WEIR_TEXT_SIZE];
	const char *then = "";

	if (!limit || !source->limited || source->blocked ||
	    source->action == WEIR_ACTION_OBSERVE || source->has & WEIR_HAS(SOURCE_EXEMPT))
		return 0;
	snprintf(address, sizeof(address), "%s%s%s",
		 source->prefix.family ? weir_text_prefix(NULL, &source->prefix, buf) : "all",
		 *source->dev ? " dev " : "", source->dev);
	if (limit->penalty_ms)
		then = source->next_ns ? ", and blocks it again if it sends before" :
		       ", and blocks it again if it sends";
	weir_note(getting->tool, "note", "limit '%s' has no room for %s%s%s%s; 'weir source forget %s limit %s' resets %s",
		  source->limit, address, source->next_ns ? " for another " : "",
		  source->next_ns ? weir_text_time(source->next_ns, buf) : "", then,
		  source->floor ? "all" : address, source->limit,
		  source->floor ? "all counts" : "its count");
	return 0;
}

/* Pass the state of the source under each limit that it may meet to @reply, for notes. */
static void ask_states(struct weir_tool *tool, const struct weir_query *query,
		       int (*reply)(const void *model, void *data), void *data)
{
	struct weir_query asked = { .prefix = query->prefix };
	struct weir_request request = {
		.cmd = WEIR_CMD_SOURCE_GET, .flags = NLM_F_DUMP, .set = &weir_query_fields,
		.verb = WEIR_ON_GET, .model = &asked, .reply_set = &weir_source_fields,
		.reply = reply, .data = data,
	};
	struct weir_err err = tool->err;

	strcpy(asked.limit, query->limit);
	strcpy(asked.dev, query->dev);
	if (!tool->quiet && tool->reached)
		weir_nl_ask(&tool->nl, &request);
	tool->err = err;
}

static void note_rooms(struct weir_tool *tool, struct weir_config *limits,
		       const struct weir_query *query)
{
	struct getting getting = { .tool = tool, .limits = limits };

	if (limits)
		ask_states(tool, query, note_room, &getting);
}

/* The first of some limits, and how many they are. */
struct counting {
	uint8_t len;		/* those with sources of another length; or 0: that observe */
	struct weir_source first;
	unsigned int count;
};

static int count_state(const void *model, void *data)
{
	const struct weir_source *source = model;
	struct counting *counting = data;
	bool counts = counting->len ? source->prefix.len != counting->len :
		      source->action == WEIR_ACTION_OBSERVE;

	if (counts && source->prefix.len && !source->unmatched && !counting->count++)
		counting->first = *source;
	return 0;
}

/* Say which limits count the address with others, which are blocked with it. */
void weir_warn_source_block(struct weir_tool *tool, const void *model)
{
	const struct weir_query *query = model;
	struct counting counting = { .len = query->prefix.len };
	char others[32] = "", buf[WEIR_TEXT_SIZE];
	uint8_t len;

	if (!query->prefix.family || !is_address(&query->prefix))
		return;
	ask_states(tool, query, count_state, &counting);
	len = counting.first.prefix.len;
	if (counting.count > 1)
		snprintf(others, sizeof(others), " (of %u such limits)", counting.count);
	if (counting.count)
		weir_note_nat64(tool, &counting.first.prefix);
	if (counting.count)
		weir_note(tool, "note", "limit '%s'%s counts each /%u as one source, and blocks the whole /%u of %s",
			  counting.first.limit, others, len, len,
			  weir_text_prefix(NULL, &query->prefix, buf));
}

static int show_released(const void *model, void *data)
{
	struct weir_tool *tool = data;

	weir_show_source(&tool->out, model);
	tool->answers++;
	return 0;
}

/* Release the sources that are the whole prefix, each under its limit. */
static void release_sources(struct weir_tool *tool, const struct weir_command *command,
			    const struct weir_query *query)
{
	struct weir_config *there = weir_there(tool, 0);
	struct weir_query source = *query;
	const struct weir_limit *limit;
	struct weir_request request;

	for (limit = there ? there->limits : NULL;
	     there && limit < there->limits + there->limit_count; limit++) {
		if (length_of(limit, &query->prefix) != query->prefix.len)
			continue;
		strcpy(source.limit, limit->name);
		request = weir_request_of(command, &source);
		request.reply = show_released;
		request.data = tool;
		if (!weir_nl_ask(&tool->nl, &request))
			note_rooms(tool, there, &source);
	}
}

/* Show the block of a prefix that was made, with the end that it has, or that it was ended. */
static void show_prefix(struct weir_tool *tool, const struct weir_exempt *block, bool made)
{
	const struct weir_config *there =
		made && block->replace ? weir_there(tool, WEIR_GET_ALL) : NULL;
	struct weir_source source = { .prefix = block->prefix, .blocked = made };
	const struct weir_exempt *is = there ? weir_exempt_find(there, block) : NULL;

	strcpy(source.dev, block->dev);
	strcpy(source.limit, block->limit);
	source.blocked_ns = (is ? is : block)->for_ms * MS;
	show_released(&source, tool);
}

/* Block a prefix as a whole, or end that; without a limit release its sources, too. */
static int set_prefix(struct weir_tool *tool, const struct weir_command *command,
		      const struct weir_query *query)
{
	union weir_model prefix = { .exempt = {
		.prefix = query->prefix, .for_ms = query->for_ms, .block = true,
		.replace = query->replace, .force = query->force,
	} };
	bool add = command->verb == WEIR_ON_ADD;
	struct weir_request request = {
		.cmd = add ? WEIR_CMD_EXEMPT_ADD : WEIR_CMD_EXEMPT_DEL, .set = &weir_block_fields,
		.verb = command->verb, .model = &prefix,
	};
	int status;

	strcpy(prefix.exempt.dev, query->dev);
	strcpy(prefix.exempt.limit, query->limit);
	weir_nl_ask(&tool->nl, &request);
	status = weir_tool_settle(tool, &request, add ? 0 : -ENOENT);
	tool->answers = 0;
	weir_out_begin(&tool->out, NULL, '[');
	if (!request.ret)
		show_prefix(tool, &prefix.exempt, add);
	if (!add && !*query->limit && (!status || request.ret == -ENOENT))
		release_sources(tool, command, query);
	weir_out_end(&tool->out, ']');
	status = tool->answers ? WEIR_EXIT_OK : status;
	if (!status && add)
		weir_note_block(tool, &prefix);
	return status;
}

/* Block a source, or end that. */
static int set_source(struct weir_tool *tool, const struct weir_command *command,
		      union weir_model *model)
{
	int status = weir_run_show(tool, command, model);
	const struct weir_query *query = &model->query;
	const struct weir_exempt block = exempt_of(query, true);
	bool add = command->verb == WEIR_ON_ADD;
	char buf[WEIR_TEXT_SIZE];

	if (!status && add)
		weir_warn_unblocked_now(tool, &block);
	else if (!status)
		note_rooms(tool, weir_there(tool, 0), query);
	else if (add && status == WEIR_EXIT_REFUSED && weir_without_limits(tool))
		weir_err_set(&tool->err, "ADDR %s: a source is blocked by limits, and there is none; first: weir limit add ban blocks 10000",
			     weir_text_prefix(NULL, &query->prefix, buf));
	return status;
}

int weir_source_release(struct weir_tool *tool, const struct weir_command *command,
			union weir_model *model)
{
	struct weir_query *query = &model->query;
	const struct weir_exempt block = exempt_of(query, true);
	const struct weir_limit *limit = get_named(tool, query);
	const struct weir_prefix *is = &query->prefix;
	/* It has several sources, or none in particular. */
	bool wider = is->family && !is_address(is) &&
		     (limit ? is->len < length_of(limit, is) : !*query->limit);
	int status = wider ? set_prefix(tool, command, query) :
		     check_source(tool, limit, query) ?: set_source(tool, command, model);

	return command->verb != WEIR_ON_ADD && (!status || status == WEIR_EXIT_REFUSED) ?
	       weir_exempt_tell(tool, &block, false, "ADDR", status) : status;
}

/* An explicit cost must be in the limit's unit. */
static int check_unit(struct weir_tool *tool, const struct weir_limit *limit,
		      const struct weir_query *query)
{
	if (!limit || (!query->packets && !query->bytes) || !limit->budget_count ||
	    !query->bytes == !limit->budgets[0].unit)
		return WEIR_EXIT_OK;
	weir_err_set(&tool->err, "limit '%s' counts %s; use '%s N'",
		     query->limit, weir_unit_names[!query->bytes], weir_unit_names[!query->bytes]);
	return WEIR_EXIT_WORDS;
}

static void sleep_until(uint64_t ns)
{
	const struct timespec until = { ns / WEIR_NS_PER_S, ns % WEIR_NS_PER_S };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

/*
 * Charge, and while there is no room sleep for as long as the kernel answered: others may
 * have charged the source meanwhile. Shows what was granted.
 */
static int charge_wait(struct weir_tool *tool, const struct weir_command *command,
		       const union weir_model *model)
{
	uint64_t now = weir_clock_ns(CLOCK_MONOTONIC);
	uint64_t end = tool->timeout ? now + tool->timeout_ms * 1000000 : UINT64_MAX;
	const struct weir_source *source = &tool->answer.source;
	struct weir_request request;

	fflush(tool->out.to);
	for (;;) {
		request = weir_request_of(command, model);
		request.into = &tool->answer;
		weir_nl_ask(&tool->nl, &request);
		now = weir_clock_ns(CLOCK_MONOTONIC);
		if (request.ret || source->taken || now >= end ||
		    !(source->has & WEIR_HAS(SOURCE_WAIT_NS)))
			break;
		sleep_until(now + MIN(source->wait_ns, end - now));
	}
	weir_out_begin(&tool->out, NULL, '[');
	if (!request.ret)
		command->show(&tool->out, &tool->answer);
	weir_out_end(&tool->out, ']');
	return weir_tool_settle(tool, &request, 0);
}

/* Why nothing was charged, and what would help. */
static void blame(struct weir_tool *tool, const struct weir_query *query)
{
	uint64_t cost = query->packets + query->bytes ?: 1;
	bool reserve = query->mode == WEIR_CHARGE_MODE_RESERVE;
	const struct weir_source *source = &tool->answer.source;
	const struct weir_source_budget *first = source->budgets;
	char in[WEIR_TEXT_SIZE + 4] = "", buf[WEIR_TEXT_SIZE];
	uint64_t left = first->left;
	unsigned int i;

	/* only budgets in the unit of the first are charged */
	for (i = 1; i < source->budget_count; i++)
		if (source->budgets[i].unit == first->unit)
			left = MIN(left, source->budgets[i].left);
	if (source->has & WEIR_HAS(SOURCE_WAIT_NS))
		snprintf(in, sizeof(in), " in %s", weir_text_time(source->wait_ns, buf));
	if (cost > first->budget && (reserve || query->wait))
		weir_err_set(&tool->err, "not charged: %" PRIu64 " is never granted; %" PRIu64 " is all that fits",
			     cost, first->budget);
	else if (source->blocked)
		weir_err_set(&tool->err, "not charged: the source is blocked");
	else if (query->wait)
		weir_err_set(&tool->err, "not charged: %s is over; there will be room%s at the earliest",
			     tool->timeout, in);
	else if (reserve)
		weir_err_set(&tool->err, "not charged: a burst of %" PRIu64 " is reserved at most; there will be room%s",
			     first->budget, in);
	else if (left)
		weir_err_set(&tool->err, "not charged: %" PRIu64 " exceeds the remaining %" PRIu64 "; 'mode drain' takes what is left",
			     cost, left);
	else
		weir_err_set(&tool->err, NOTHING_LEFT "%s%s",
			     *in ? "; there will be room" : "", in);
}

int weir_source_charge(struct weir_tool *tool, const struct weir_command *command,
		       union weir_model *model)
{
	const struct weir_source *source = &tool->answer.source;
	struct weir_query *query = &model->query;
	const struct weir_limit *limit = get_named(tool, query);
	int status = check_source(tool, limit, query) ?: check_unit(tool, limit, query);

	if (!status)
		status = query->wait ? charge_wait(tool, command, model) :
			 weir_run_show(tool, command, model);
	if (status || source->taken)
		return status;
	if (query->mode == WEIR_CHARGE_MODE_DRAIN) {
		weir_note(tool, "note", NOTHING_LEFT);
		return status;
	}
	blame(tool, query);
	return WEIR_EXIT_REFUSED;
}

/* -exist: a later end, or with -force any, replaces that of a block that there is. */
int weir_source_block(struct weir_tool *tool, const struct weir_command *command,
		      union weir_model *model)
{
	model->query.replace = tool->exist;
	model->query.force = tool->force;
	return weir_source_release(tool, command, model);
}
