// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * window: evaluate a trace of weir's events
 *
 * Reads the kernel's trace from stdin. For each limit in it, or for -l LIMIT,
 * prints a line of name=value:
 *	sources		charged sources, masked by -p
 *	charges		events; uncharges likewise
 *	amount		charged minus uncharged, in packets, or bytes with -b
 *	drops, dropped	events, and their cost
 *	limited		events
 *	max		largest amount of a source within T ticks
 *	by, from	its source and first tick
 *	cpus		number of CPUs that charged
 *	early		drops for which there was room, with -R SLOT,REACH,BUDGET:
 *			slots of SLOT ticks, of which the present one and REACH
 *			before it have less than BUDGET; or -B LEAK,PARTS,BURST: a
 *			bucket, of which LEAK parts leak in a tick, PARTS a packet
 *			(or byte); -n N: only drops by budget N
 * -s prints a line for each source instead, with its first and last tick;
 * -S ADDR for that source alone. -L N: the status is 2 if some max exceeds N.
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMITS_MAX 64

enum kind { CHARGE, UNCHARGE, DROP, LIMITED, KINDS };

static const char *const kinds[KINDS] = {
	" weir_charge: ", " weir_uncharge: ", " weir_drop: ", " weir_limited: ",
};

struct event {
	int limit;
	uint8_t source[16];
	uint64_t tick;
	int64_t amount;
	enum kind kind;
	int budget;
};

struct counts {
	uint64_t events[KINDS];
	int64_t amount[KINDS];
	uint64_t sources;
	int64_t max;
	uint8_t by[16];
	uint64_t from, first, last;
	uint64_t early;
};

static struct options {
	uint64_t ticks;
	int len4, len6;
	bool bytes, each, one;
	uint8_t source[16];
	const char *limit;
	int64_t most;
	unsigned long long slot, reach, room;
	long long leak, parts, burst;
	unsigned long long floor_ticks, floor_room;
	int budget;
} options = { .ticks = 250, .len4 = 32, .len6 = 64, .most = INT64_MAX };

static struct event *events;
static size_t count, room;
static char limit_name[LIMITS_MAX][32];
static uint64_t limit_cpus[LIMITS_MAX];
static int limits;

static int limit_find(const char *name)
{
	int i;

	for (i = 0; i < limits; i++)
		if (!strcmp(limit_name[i], name))
			return i;
	if (limits == LIMITS_MAX)
		return -1;
	snprintf(limit_name[limits], sizeof(*limit_name), "%s", name);
	return limits++;
}

static void mask(uint8_t *source)
{
	static const uint8_t ipv4[12] = { [10] = 0xff, 0xff };
	int len = memcmp(source, ipv4, 12) ? options.len6 : 96 + options.len4, i;

	if (!memcmp(source, "\xfe\x80\0\0\0\0\0\0", 8) ||
	    (!memcmp(source, ipv4, 12) && source[12] == 169 && source[13] == 254))
		return; /* link-local: the full address */
	if (len == 96)
		len = 0;
	for (i = 0; i < 16; i++, len -= 8)
		if (len < 8)
			source[i] &= len <= 0 ? 0 : 0xff << (8 - len);
}

static const char *field(const char *line, const char *name)
{
	const char *at = strstr(line, name);

	return at ? at + strlen(name) : "0";
}

static void take(const char *line)
{
	struct event event = { 0 };
	char text[64], name[32];
	enum kind kind;
	const char *at;

	for (kind = 0; kind < KINDS; kind++)
		if ((at = strstr(line, kinds[kind])))
			break;
	if (kind == KINDS || sscanf(field(at, "limit="), "%31s", name) != 1)
		return;
	if (options.limit && strcmp(options.limit, name))
		return;
	event.kind = kind;
	event.limit = limit_find(name);
	if (event.limit < 0 ||
	    sscanf(field(at, "saddr="), "%63s", text) != 1 ||
	    inet_pton(AF_INET6, text, event.source) != 1) {
		fprintf(stderr, "window: what is this? %s", line);
		exit(1);
	}
	mask(event.source);
	event.tick = strtoull(field(at, "tick="), NULL, 10);
	event.amount = strtoll(field(at, options.bytes ? "bytes=" : "packets="), NULL, 10);
	event.budget = atoi(field(at, "budget="));
	at = strchr(line, '[');
	if (at && kind == CHARGE)
		limit_cpus[event.limit] |= 1ull << atoi(at + 1);
	if (count == room) {
		room = room ? 2 * room : 1 << 16;
		events = realloc(events, room * sizeof(*events));
		if (!events)
			exit(1);
	}
	events[count++] = event;
}

static int compare(const void *va, const void *vb)
{
	const struct event *a = va, *b = vb;
	int order = memcmp(a->source, b->source, 16);

	if (a->limit != b->limit || order)
		return a->limit != b->limit ? a->limit - b->limit : order;
	return (a->tick > b->tick) - (a->tick < b->tick);
}

static const char *show(const uint8_t *source)
{
	static char text[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, source, text, sizeof(text));
	return strncmp(text, "::ffff:", 7) ? text : text + 7;
}

static int64_t signed_amount(const struct event *event)
{
	return event->kind == CHARGE ? event->amount : event->kind == UNCHARGE ? -event->amount : 0;
}

static bool counts_drop(const struct event *event)
{
	return event->kind == DROP && (!options.budget || options.budget == event->budget);
}

/*
 * Drops for which there was room. A drop may be traced before a charge that left it none, so
 * those of its tick and the next one count before it.
 */
static uint64_t early_of_ring(const struct event *event, size_t n)
{
	size_t first = 0, end = 0, i;
	uint64_t early = 0;
	int64_t sum = 0;

	for (i = 0; i < n; i++) {
		if (!counts_drop(&event[i]))
			continue;
		for (; end < n && event[end].tick <= event[i].tick + 1; end++)
			sum += signed_amount(&event[end]);
		for (; event[first].tick / options.slot + options.reach <
		     event[i].tick / options.slot; first++)
			sum -= signed_amount(&event[first]);
		early += sum + event[i].amount <= (int64_t)options.room;
	}
	return early;
}

static uint64_t early_of_bucket(const struct event *event, size_t n)
{
	int64_t level = 0, now;
	uint64_t early = 0;
	size_t end = 0, i;

	for (i = 0; i < n; i++) {
		if (i) {
			level -= options.leak * (event[i].tick - event[i - 1].tick);
			level = level > 0 ? level : 0;
		}
		level += signed_amount(&event[i]) * options.parts;
		if (!counts_drop(&event[i]))
			continue;
		now = level;
		for (end = i + 1; end < n && event[end].tick <= event[i].tick + 1; end++)
			now += signed_amount(&event[end]) * options.parts;
		early += now + event[i].amount * options.parts <= options.burst * options.parts;
	}
	return early;
}

/* Evaluate the events of one source under one limit, sorted by tick. */
static void source_count(const struct event *event, size_t n, struct counts *counts)
{
	size_t first = 0, i = 0;
	int64_t sum = 0;
	uint64_t tick;
	bool charged = false;

	counts->first = event[0].tick;
	counts->last = event[n - 1].tick;
	while (i < n) {
		/* Add a tick's events, then remove those that left its window. */
		for (tick = event[i].tick; i < n && event[i].tick == tick; i++) {
			counts->events[event[i].kind]++;
			counts->amount[event[i].kind] += event[i].amount;
			charged |= event[i].kind == CHARGE;
			sum += signed_amount(&event[i]);
		}
		for (; event[first].tick + options.ticks <= tick; first++)
			sum -= signed_amount(&event[first]);
		if (sum > counts->max) {
			counts->max = sum;
			counts->from = event[first].tick;
			memcpy(counts->by, event[0].source, 16);
		}
	}
	counts->sources += charged;
	counts->early = options.slot ? early_of_ring(event, n) :
			options.parts ? early_of_bucket(event, n) : 0;
}

static void add(struct counts *all, const struct counts *one)
{
	int kind;

	for (kind = 0; kind < KINDS; kind++) {
		all->events[kind] += one->events[kind];
		all->amount[kind] += one->amount[kind];
	}
	all->sources += one->sources;
	all->early += one->early;
	if (one->max > all->max) {
		all->max = one->max;
		all->from = one->from;
		memcpy(all->by, one->by, 16);
	}
}

static void print_counts(const struct counts *counts)
{
	printf("charges=%llu uncharges=%llu amount=%lld drops=%llu dropped=%lld limited=%llu max=%lld early=%llu",
	       (unsigned long long)counts->events[CHARGE],
	       (unsigned long long)counts->events[UNCHARGE],
	       (long long)(counts->amount[CHARGE] - counts->amount[UNCHARGE]),
	       (unsigned long long)counts->events[DROP],
	       (long long)counts->amount[DROP],
	       (unsigned long long)counts->events[LIMITED],
	       (long long)counts->max, (unsigned long long)counts->early);
}

static int compare_ticks(const void *va, const void *vb)
{
	const uint64_t *a = va, *b = vb;

	return (*a > *b) - (*a < *b);
}

/* Whatever their sources: events of one packet each, admitted wherever the last TICKS have room. */
static uint64_t least_of(const struct event *event, size_t n)
{
	uint64_t *tick = calloc(n, sizeof(*tick));
	size_t came = 0, first = 0, least = 0, i;

	if (!tick)
		exit(1);
	for (i = 0; i < n; i++)
		if (event[i].kind == CHARGE || event[i].kind == DROP)
			tick[came++] = event[i].tick;
	qsort(tick, came, sizeof(*tick), compare_ticks);
	/* What is admitted takes the place of what came, which has been read. */
	for (i = 0; i < came; i++) {
		while (first < least && tick[first] + options.floor_ticks <= tick[i])
			first++;
		if (least - first < options.floor_room)
			tick[least++] = tick[i];
	}
	free(tick);
	return least;
}

/* Report events i to j-1, of one limit. Returns whether its budget was kept. */
static bool limit_report(size_t i, size_t j)
{
	uint64_t least = options.floor_ticks ? least_of(events + i, j - i) : 0;
	struct counts all = { 0 }, one;
	size_t next;

	for (; i < j; i = next) {
		for (next = i; next < j && !memcmp(events[next].source,
						   events[i].source, 16); next++)
			;
		memset(&one, 0, sizeof(one));
		source_count(events + i, next - i, &one);
		if ((options.each && !options.one) ||
		    (options.one && !memcmp(options.source, events[i].source, 16))) {
			printf("limit=%s source=%s ", limit_name[events[i].limit],
			       show(events[i].source));
			print_counts(&one);
			printf(" first=%llu last=%llu\n", (unsigned long long)one.first,
			       (unsigned long long)one.last);
		}
		add(&all, &one);
	}
	if (!options.each && !options.one) {
		printf("limit=%s sources=%llu ", limit_name[events[j - 1].limit],
		       (unsigned long long)all.sources);
		print_counts(&all);
		printf(" least=%llu by=%s from=%llu cpus=%d\n", (unsigned long long)least,
		       show(all.by), (unsigned long long)all.from,
		       __builtin_popcountll(limit_cpus[events[j - 1].limit]));
	}
	return all.max <= options.most;
}

static void parse_source(const char *text)
{
	char mapped[64];

	snprintf(mapped, sizeof(mapped), "%s%s", strchr(text, ':') ? "" : "::ffff:", text);
	if (inet_pton(AF_INET6, mapped, options.source) != 1)
		exit(1);
	options.one = true;
}

int main(int argc, char **argv)
{
	bool kept = true;
	char line[512];
	size_t i, j;
	int opt;

	while ((opt = getopt(argc, argv, "T:p:bsS:l:L:R:B:F:n:")) != -1) {
		switch (opt) {
		case 'T': options.ticks = strtoull(optarg, NULL, 10); break;
		case 'p': sscanf(optarg, "%d,%d", &options.len4, &options.len6); break;
		case 'b': options.bytes = true; break;
		case 's': options.each = true; break;
		case 'S': parse_source(optarg); break;
		case 'l': options.limit = optarg; break;
		case 'L': options.most = strtoll(optarg, NULL, 10); break;
		case 'R': sscanf(optarg, "%llu,%llu,%llu", &options.slot, &options.reach, &options.room); break;
		case 'B': sscanf(optarg, "%lld,%lld,%lld", &options.leak, &options.parts, &options.burst); break;
		case 'F': sscanf(optarg, "%llu,%llu", &options.floor_ticks, &options.floor_room); break;
		case 'n': options.budget = atoi(optarg); break;
		default: return 1;
		}
	}
	while (fgets(line, sizeof(line), stdin))
		take(line);
	qsort(events, count, sizeof(*events), compare);
	for (i = 0; i < count; i = j) {
		for (j = i; j < count && events[j].limit == events[i].limit; j++)
			;
		kept &= limit_report(i, j);
	}
	return kept ? 0 : 2;
}
