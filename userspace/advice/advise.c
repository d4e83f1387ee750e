// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * weir limit advise: what budgets would have dropped, and which one to choose. Packets are those of
 * a capture, or those that a limit counts meanwhile.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <time.h>

#include "advice/advice.h"
#include "advice/advise.h"
#include "advice/capture.h"
#include "advice/frame.h"
#include "advice/watch.h"

#define SECOND_MS	1000
/* For how long a limit is watched: so many windows, within these times */
#define WINDOWS		10
#define WATCH_MS_MIN	10000
#define WATCH_MS_MAX	60000
/* IP packets of the largest frames; what is larger was joined by GRO, or not yet cut by TSO. */
#define FRAME_MOST	9216
/* What a capture does not say of a packet. */
#define NOT_CAPTURED	(WEIR_COND_DEV | WEIR_COND_MARK)
#define BEHIND_IP	(WEIR_COND_SPORT | WEIR_COND_DPORT | WEIR_COND_ICMP_TYPE | \
			 WEIR_COND_ICMPV6_TYPE)

struct advising {
	struct weir_tool *tool;
	const struct weir_limit *limit;
	const char *path;
	struct weir_demand *demand;
	struct weir_advice *advice;
	uint64_t joined;	/* packets that were no single one */
	uint64_t cut;		/* that may match, by what was not captured of them */
};

/* The length of a tick of this machine's kernel. */
static uint64_t tick_ns(void)
{
	struct timespec tick = { .tv_nsec = 4000000 };

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	return tick.tv_sec * WEIR_NS_PER_S + tick.tv_nsec;
}

/*
 * Would the module ask the limit about the packet? @open: the conditions of which that is not
 * known. A packet that is too short for its ports matches, as in the module.
 */
static bool matches(const struct weir_match *match, const struct weir_match *packet, uint64_t *open)
{
	if (weir_packet_unmet(packet, match, open))
		return false;
	/* A later fragment has no ports. */
	return !(packet->flags & WEIR_COND_FRAG && packet->has & WEIR_COND_PROTO &&
		 *open & BEHIND_IP);
}

/* The source as the limit counts it. */
static struct weir_prefix source_of(const struct weir_limit *limit, const struct weir_match *packet)
{
	struct weir_prefix source = packet->from[0];
	uint8_t len = weir_limit_per(limit)[source.family == AF_INET6];

	if (!len)
		return (struct weir_prefix){ 0 };
	weir_prefix_cut(&source, len);
	return source;
}

static int count_frame(struct advising *to, int link, const struct weir_frame *frame,
		       struct weir_match *packet)
{
	uint32_t len = weir_frame_read(link, frame->bytes, frame->len, frame->size, packet);
	struct weir_prefix source;
	uint64_t open;

	if (!len) {
		to->advice->unread++;
		return 0;
	}
	if (!matches(&to->limit->match, packet, &open)) {
		to->advice->unmatched++;
		return 0;
	}
	if (frame->len < frame->size && open & ~(uint64_t)NOT_CAPTURED) {
		to->cut++;
		return 0;
	}
	to->joined += len > FRAME_MOST;
	source = source_of(to->limit, packet);
	return weir_demand_add(to->demand, &source, frame->ns, 1, len);
}

static int read_frames(struct advising *to, struct weir_capture *capture)
{
	static struct weir_match packet;
	struct weir_tool *tool = to->tool;
	int link = weir_capture_link(capture), ret;
	const char *name = weir_capture_link_name(capture);
	struct weir_frame frame;

	if (!weir_frame_known(link)) {
		weir_err_set(&tool->err, "%.200s: frames of link type %s are not understood; capture Ethernet, IP or 'any'",
			     to->path, name ? name : "unknown");
		return WEIR_EXIT_WORDS;
	}
	for (;;) {
		ret = weir_capture_next(capture, &frame, &tool->err);
		if (ret <= 0)
			break;
		if (count_frame(to, link, &frame, &packet)) {
			weir_err_set(&tool->err, WEIR_NO_MEMORY);
			return WEIR_EXIT_REFUSED;
		}
	}
	if (!ret)
		return WEIR_EXIT_OK;
	weir_err_set(&tool->err, "%.200s: %.200s; what precedes was looked at", to->path,
		     tool->err.text);
	return WEIR_EXIT_INTERRUPTED;
}

static int read_capture(struct advising *to)
{
	struct weir_capture *capture = weir_capture_open(to->path, &to->tool->err);
	int status;

	if (!capture) {
		weir_err_set(&to->tool->err, "-pcap: %.400s", to->tool->err.text);
		return WEIR_EXIT_WORDS;
	}
	status = read_frames(to, capture);
	weir_capture_close(capture);
	return status;
}

/* Say what the capture leaves open. */
static void put_unknown(struct advising *to)
{
	const struct weir_match *match = &to->limit->match;

	weir_advice_unknown(to->advice, "senders", "what they do when they are refused: TCP slows down, others may try again");
	if (!match->has)
		weir_advice_unknown(to->advice, "conditions", "which packets are meant: without conditions all of the file are; those of a limit are not looked up");
	if (match->has & NOT_CAPTURED)
		weir_advice_unknown(to->advice, "match", "%s%s%s of packets are not in a capture: all are taken to meet that",
				    match->has & WEIR_COND_DEV ? "the device" : "",
				    (match->has & NOT_CAPTURED) == NOT_CAPTURED ? " and " : "",
				    match->has & WEIR_COND_MARK ? "the mark" : "");
	if (to->cut)
		weir_advice_unknown(to->advice, "cut", "whether %" PRIu64 " packets match, of which too little was captured: they are left out; capture whole headers, as with 'tcpdump -s 128'",
				    to->cut);
	if (to->joined)
		weir_advice_unknown(to->advice, "segments", "%" PRIu64 " packets are larger than a frame, joined before they were captured: each counts as one here, and as its segments in the module",
				    to->joined);
}

/* What follows from what was read or watched; @status is that so far. */
static int conclude(struct advising *to, const struct weir_limit *limit, uint64_t tick, int status)
{
	if (weir_demand_end(to->demand) || weir_advise(to->demand, limit, tick, to->advice)) {
		weir_err_set(&to->tool->err, WEIR_NO_MEMORY);
		return WEIR_EXIT_REFUSED;
	}
	return status;
}

static int advise_capture(struct advising *to, struct weir_limit *limit, uint64_t tick)
{
	struct weir_tool *tool = to->tool;
	int status;

	/* The window that is looked at */
	if (!limit->budget_count)
		limit->budgets[0].amount.window_ms = SECOND_MS;
	to->demand = weir_demand_new(limit, limit->budget_count, tick, &tool->err);
	if (!to->demand)
		return WEIR_EXIT_REFUSED;
	status = read_capture(to);
	if (!status || status == WEIR_EXIT_INTERRUPTED)
		status = conclude(to, limit, tick, status);
	if (status && status != WEIR_EXIT_INTERRUPTED)
		return status;
	if (!to->advice->packets) {
		if (!status)
			weir_err_set(&tool->err, "%.200s: no packet in it would meet the limit (%llu do not match, %llu are not of IP, of %llu too little was captured)",
				     to->path, (unsigned long long)to->advice->unmatched,
				     (unsigned long long)to->advice->unread,
				     (unsigned long long)to->cut);
		return WEIR_EXIT_WORDS;
	}
	put_unknown(to);
	return status;
}

/* The limit with its counters, and the length of a tick of the module. */
static int get_watched(struct weir_tool *tool, const char *name, struct weir_limit *limit,
		       uint64_t *tick)
{
	struct weir_stats stats = { 0 };
	struct weir_request get;
	int status;

	*limit = (struct weir_limit){ 0 };
	weir_get_limit(tool, name, true, limit, &get);
	status = weir_tool_settle(tool, &get, 0) ?: weir_get_stats(tool, &stats);
	*tick = stats.tick_ns;
	if (status || *tick)
		return status;
	weir_err_set(&tool->err, WEIR_OLD_MODULE);
	return WEIR_EXIT_REFUSED;
}

/* Is it about bytes where packets were counted, or the other way round? */
static bool needs_lengths(const struct weir_limit *counted, const struct weir_limit *judged)
{
	return counted->budgets[0].unit == WEIR_UNIT_BYTES || weir_limit_has_bytes(judged);
}

/* Say what the counts of a limit leave open. */
static void put_unseen(struct advising *to, const struct weir_limit *before,
		       const struct weir_limit *after, const struct weir_watched *watched)
{
	const struct weir_limit_stats *was = &before->stats, *is = &after->stats;
	uint64_t floors = weir_since(was->floor_refused.packets, is->floor_refused.packets);
	uint64_t newcomers = weir_since(was->newcomers_refused.packets,
					is->newcomers_refused.packets);
	struct weir_advice *advice = to->advice;

	if (watched->refused && before->action == WEIR_ACTION_OBSERVE)
		weir_advice_unknown(advice, "senders", "what they do when they are refused, as the limit refuses nobody yet");
	else if (watched->refused)
		weir_advice_unknown(advice, "demand", "what would be sent if nobody was refused: %llu packets were, which are taken to be all; 'action observe' shows it",
				    (unsigned long long)watched->refused);
	else
		weir_advice_unknown(advice, "senders", "what they do once they are over the budget, as no source was");
	if (floors)
		weir_advice_unknown(advice, "floors", "from whom %" PRIu64 " packets were that the table had no place for: they are left out",
				    floors);
	if (newcomers)
		weir_advice_unknown(advice, "newcomers", "who sent the %" PRIu64 " packets that were refused as newcomers': they are left out",
				    newcomers);
	if (watched->missed_ns)
		weir_advice_unknown(advice, "gaps", "what was sent in %.1f %% of the time: the counts of so many sources cannot be read within a window",
				    100.0 * watched->missed_ns / watched->ns);
	if (before->budget_count > 1)
		weir_advice_unknown(advice, "budgets", "whether the other budgets of the limit (%u) are still needed: the proposed line removes them",
				    before->budget_count - 1);
	if (*before->budgets_by)
		weir_advice_unknown(advice, "budgets-by", "the budgets of list '%s': all sources are taken to have the limit's",
				    before->budgets_by);
	if (needs_lengths(before, to->limit))
		weir_advice_unknown(advice, "length", "the lengths of packets: all are taken to be as long as the mean");
}

static int advise_limit(struct advising *to, uint64_t for_ms)
{
	static struct weir_limit before, after, limit;
	struct weir_tool *tool = to->tool;
	struct weir_watched watched;
	uint64_t tick, unused;
	int status = weir_tool_reach(tool);

	if (!status)
		status = get_watched(tool, to->limit->name, &before, &tick);
	if (status)
		return status;
	if (before.blocks_only) {
		weir_err_set(&tool->err, "the limit only blocks, and counts nobody; watch one that counts, as 'limit add NAME budget 1000/s action observe' with the same conditions");
		return WEIR_EXIT_REFUSED;
	}
	if (!weir_watch_can(&before)) {
		weir_err_set(&tool->err, "its first budget does not count slot by slot; watch one that does, as 'limit add NAME budget 1000/s action observe' with the same conditions");
		return WEIR_EXIT_REFUSED;
	}
	limit = before;
	limit.budget_count = to->limit->budget_count;
	if (limit.budget_count)
		memcpy(limit.budgets, to->limit->budgets, sizeof(limit.budgets));
	to->demand = weir_demand_new(&limit, limit.budget_count, tick, &tool->err);
	if (!to->demand)
		return WEIR_EXIT_REFUSED;
	if (!for_ms)
		for_ms = MIN(MAX(WINDOWS * (uint64_t)before.budgets[0].amount.window_ms,
				 WATCH_MS_MIN), WATCH_MS_MAX);
	status = weir_watch(tool, &before, for_ms, to->demand, &watched);
	to->advice->for_ns = watched.ns;
	if (!status)
		status = conclude(to, &limit, tick, status);
	if (status)
		return status;
	to->advice->has |= WEIR_ADVICE_WATCHED;
	if (!to->advice->packets) {
		if (!watched.ended)
			weir_err_set(&tool->err, "no source of '%s' has sent anything meanwhile",
				     before.name);
		return WEIR_EXIT_REFUSED;
	}
	if (watched.ended)
		weir_advice_unknown(to->advice, "end", "what was sent later, as the watch ended: %.200s",
				    tool->err.text);
	/* It may have gone meanwhile. */
	if (get_watched(tool, before.name, &after, &unused))
		after = before;
	put_unseen(to, &before, &after, &watched);
	return WEIR_EXIT_OK;
}

int weir_limit_advise(struct weir_tool *tool, const struct weir_command *command,
		      union weir_model *model)
{
	struct weir_advising *asked = &model->advising;
	struct advising to = {
		.tool = tool, .limit = &asked->limit, .path = asked->capture,
	};
	int status;

	if (tool->check)
		return WEIR_EXIT_OK;
	to.advice = calloc(1, sizeof(*to.advice));
	if (!to.advice) {
		weir_err_set(&tool->err, WEIR_NO_MEMORY);
		return WEIR_EXIT_REFUSED;
	}
	status = asked->capture ? advise_capture(&to, &asked->limit, tick_ns()) :
				  advise_limit(&to, asked->for_ms);
	if (to.advice->packets)
		command->show(&tool->out, to.advice);
	weir_demand_free(to.demand);
	free(to.advice);
	return status;
}
