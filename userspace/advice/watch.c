// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The counts of a limit's sources say how much each was admitted in the slots of the last window.
 * So who looks at all of them at least once a window sees all that was admitted, slot by slot, and
 * the drops between two looks besides: nothing has to be kept in the module.
 */

#include <errno.h>
#include <linux/netlink.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <time.h>

#include "advice/watch.h"
#include "state/state_message.h"

#define MS		1000000ull	/* in ns */
#define LOOK_MS_MIN	100
#define LOOK_MS_MAX	10000
/* Between looks at least so many times as long as one takes passes. */
#define LOOK_PART	2
/* Attempts at a look while other limits change. */
#define TRIES		8
/* Of a packet, if nothing is known */
#define PACKET_BYTES	64

struct watching {
	struct weir_tool *tool;
	const struct weir_limit *limit;
	struct weir_demand *demand;
	struct weir_watched *watched;
	struct weir_saved_clock clock;	/* of the message */
	uint64_t slot;			/* likewise, the current one */
	struct weir_counter matched;	/* of the limit, before the last look */
	uint64_t evictions, sources;	/* likewise; sources: that it should have */
	uint64_t mean;			/* bytes of a packet that came since the look before */
	uint64_t begun;			/* the first slot that is looked at */
	bool only_floors;		/* are looked at */
};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	stopped = 1;
}

bool weir_watch_can(const struct weir_limit *limit)
{
	const struct weir_budget *first = &limit->budgets[0];

	return limit->budget_count && first->amount.window_ms && first->slots > 1 &&
	       (first->mode == WEIR_MODE_STRICT || first->mode == WEIR_MODE_LENIENT);
}

/* What was admitted so many slots ago. */
static uint64_t number_at(const struct watching *to, const struct weir_saved_source *source,
			  uint64_t age)
{
	const char *at = (const char *)source->numbers + age * to->clock.width;

	if ((age + 1) * to->clock.width > source->bytes)
		return 0;
	return weir_uint_get(at, to->clock.width);
}

static int add(struct watching *to, const struct weir_prefix *prefix, uint64_t slot,
	       uint64_t admitted, uint64_t refused)
{
	bool bytes = to->clock.unit == WEIR_UNIT_BYTES;
	uint64_t packets = refused + (bytes ? (admitted + to->mean - 1) / to->mean : admitted);

	if (!packets)
		return 0;
	return weir_demand_add(to->demand, prefix, slot * to->clock.slot_ns + to->clock.slot_ns / 2,
			       packets, bytes ? admitted + refused * to->mean :
						packets * to->mean);
}

/* What a source was admitted in a slot, but for what was seen of it. */
static uint64_t admitted_in(const struct watching *to, const struct weir_sender *sender,
			    const struct weir_saved_source *source, uint64_t slot)
{
	uint64_t admitted = number_at(to, source, to->slot - slot);

	return slot == sender->seen.slot ? admitted - MIN(admitted, sender->seen.count) : admitted;
}

/*
 * Of slots since the last look, what was admitted and refused. When it was refused is not known:
 * the source is taken to have sent as evenly as that allows.
 */
static int add_slots(struct watching *to, struct weir_sender *sender,
		     const struct weir_saved_source *source, uint64_t refused)
{
	/* Slots before the current one of which a count still knows what was admitted. */
	uint64_t known = to->clock.slots + (to->clock.mode == WEIR_MODE_STRICT) - 1;
	uint64_t oldest = to->slot - MIN(to->slot, known), slot, part;
	uint64_t from = MAX(MAX(oldest, to->begun), sender->seen.slot), admitted;
	uint64_t unit = to->clock.unit == WEIR_UNIT_BYTES ? to->mean : 1, even;
	int ret = 0;

	to->watched->refused += refused;
	even = refused * unit;
	for (slot = from; slot <= to->slot; slot++)
		even += admitted_in(to, sender, source, slot);
	even = even / (to->slot - from + 1) + 1;
	for (slot = from; !ret && slot <= to->slot; slot++) {
		admitted = admitted_in(to, sender, source, slot);
		part = even > admitted ? (even - admitted) / unit : 0;
		part = slot == to->slot ? refused : MIN(refused, part);
		refused -= part;
		ret = add(to, &sender->prefix, slot, admitted, part);
	}
	return ret;
}

static int take_source(const struct weir_saved_source *source, void *data)
{
	struct watching *to = data;
	struct weir_prefix prefix = source->prefix;
	uint64_t refused = source->dropped, look = to->watched->looks + 1;
	struct weir_sender *sender;
	int ret = 0;

	if (!source->bytes && !source->dropped)
		return 0;
	if (prefix.family)
		weir_prefix_cut(&prefix, to->limit->per[prefix.family == AF_INET6]);
	sender = weir_demand_find(to->demand, &prefix);
	if (!sender)
		return -ENOMEM;
	/*
	 * A source that lost its place begins with no drops; those before the first look are past.
	 * A look that was repeated may have come to it before.
	 */
	if (sender->seen.look + 1 >= look && refused >= sender->seen.dropped)
		refused -= sender->seen.dropped;
	if (look > 1)
		ret = add_slots(to, sender, source, refused);
	sender->seen.look = look;
	sender->seen.slot = to->slot;
	sender->seen.count = number_at(to, source, 0);
	sender->seen.dropped = source->dropped;
	return ret;
}

/* Slots are compared by their numbers, which are those of slots of one length. */
static bool alike(const struct weir_saved_clock *a, const struct weir_saved_clock *b)
{
	return a->slot_ns == b->slot_ns && a->slots == b->slots && a->unit == b->unit &&
	       a->mode == b->mode;
}

static int take_message(const struct nlmsghdr *msg, void *data)
{
	struct watching *to = data;
	struct weir_saved_clock was = to->clock;
	struct weir_saved_message message;
	uint64_t clock_ns;

	if (!weir_saved_message((void *)msg, msg->nlmsg_len, &message) ||
	    !weir_saved_clock(&message, &to->clock) || !to->clock.slot_ns)
		return -EBADMSG;
	if (to->begun && !alike(&was, &to->clock)) {
		weir_err_set(&to->tool->err, "its first budget was changed");
		return -ESTALE;
	}
	/* Sources that get a place begin with what a floor counts. */
	if (message.floors) {
		weir_err_set(&to->tool->err, "its table was too small, and counts of sources would include what others sent: 'weir limit set %s sources %llu', then watch again after its longest window",
			     to->limit->name, (unsigned long long)to->sources);
		return -ESTALE;
	}
	memcpy(&clock_ns, message.clock_ns, sizeof(clock_ns));
	to->slot = (clock_ns - to->clock.phase_ns + to->clock.slot_ns / 2) / to->clock.slot_ns;
	if (!to->begun)
		to->begun = to->slot;
	return to->only_floors ? 0 : weir_saved_sources(&message, take_source, to);
}

/* A limit that is new has seen no packet yet, and what comes later may be of another size. */
static void see_stats(struct watching *to)
{
	struct weir_limit limit = { 0 };
	const struct weir_counter *is = &limit.stats.matched, *was = &to->matched;
	struct weir_request get;

	if (!weir_get_limit(to->tool, to->limit->name, true, &limit, &get)) {
		if (is->packets > was->packets && is->bytes > was->bytes)
			to->mean = MAX((is->bytes - was->bytes) / (is->packets - was->packets), 1);
		to->matched = *is;
		to->only_floors = to->evictions != limit.stats.evictions;
		to->evictions = limit.stats.evictions;
		to->sources = MAX(limit.stats.sources_wanted, limit.sources);
	}
}

/* Look at all sources. */
static int look(struct watching *to)
{
	struct {
		struct nlattr head;
		char name[NLA_ALIGN(WEIR_NAME_SIZE)];
	} attr = { .head.nla_type = WEIR_A_STATE_LIMIT };
	struct weir_request request = {
		.cmd = WEIR_CMD_STATE_GET, .flags = NLM_F_DUMP, .raw = take_message, .data = to,
		.attrs = &attr,
	};
	size_t len = strlen(to->limit->name) + 1;
	unsigned int tries = 0;

	memcpy(attr.name, to->limit->name, len);
	attr.head.nla_len = NLA_HDRLEN + len;
	request.attrs_len = NLA_ALIGN(attr.head.nla_len);
	/* Where other limits come and go meanwhile, sources may be told twice, or not at all. */
	do
		weir_nl_ask(&to->tool->nl, &request);
	while (request.interrupted && ++tries < TRIES);
	if (request.ret == -ESTALE)
		return WEIR_EXIT_REFUSED;
	request.interrupted = false;
	return weir_tool_settle(to->tool, &request, 0);
}

/* Wait until a time, or SIGINT, which is blocked else. */
static void wait_until(uint64_t ns, const sigset_t *mask)
{
	uint64_t now = weir_clock_ns(CLOCK_MONOTONIC);
	struct timespec left;

	if (ns <= now || stopped)
		return;
	left = (struct timespec){ (ns - now) / (1000 * MS), (ns - now) % (1000 * MS) };
	ppoll(NULL, 0, &left, mask);
}

static int watch(struct watching *to, uint64_t for_ns, const sigset_t *mask)
{
	const struct weir_budget *first = &to->limit->budgets[0];
	uint64_t every = first->window_ns / 2, known = first->window_ns - first->slot_ns;
	uint64_t begin = weir_clock_ns(CLOCK_MONOTONIC), at = begin, last = begin, next;
	int status = WEIR_EXIT_OK;

	every = MIN(MAX(every, LOOK_MS_MIN * MS), LOOK_MS_MAX * MS);
	for (;;) {
		see_stats(to);
		/* Floors come behind the sources whose counts they have spoiled. */
		status = to->only_floors ? look(to) : WEIR_EXIT_OK;
		to->only_floors = false;
		status = status ?: look(to);
		if (status)
			break;
		to->watched->looks++;
		to->watched->ns = at - begin;
		if (to->watched->looks > 1 && at - last > known)
			to->watched->missed_ns += at - last - known;
		if (stopped || at - begin >= for_ns)
			break;
		next = weir_clock_ns(CLOCK_MONOTONIC);
		next = MAX(at + every, next + LOOK_PART * (next - at));
		last = at;
		wait_until(MIN(next, begin + for_ns), mask);
		at = weir_clock_ns(CLOCK_MONOTONIC);
	}
	/* What was seen until then is worth telling. */
	to->watched->ended = status;
	return to->watched->looks > 1 ? WEIR_EXIT_OK : status;
}

int weir_watch(struct weir_tool *tool, const struct weir_limit *limit, uint64_t for_ms,
	       struct weir_demand *demand, struct weir_watched *watched)
{
	const struct weir_counter *matched = &limit->stats.matched;
	struct watching to = {
		.tool = tool, .limit = limit, .demand = demand, .watched = watched,
		.matched = *matched, .evictions = limit->stats.evictions,
		.mean = matched->packets ? MAX(matched->bytes / matched->packets, 1) :
					   PACKET_BYTES,
	};
	const struct sigaction interrupt = { .sa_handler = stop };
	struct sigaction before;
	sigset_t block, mask;
	int status;

	*watched = (struct weir_watched){ 0 };
	stopped = 0;
	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigprocmask(SIG_BLOCK, &block, &mask);
	sigaction(SIGINT, &interrupt, &before);
	status = watch(&to, for_ms * MS, &mask);
	sigaction(SIGINT, &before, NULL);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return status;
}
