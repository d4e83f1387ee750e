// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hosts: simulate hosts that share a limit, by the files of weir-fleet that keep the books and
 * write the messages, in virtual time. A host's table is a ring of slots for each source, as the
 * module counts in strict mode. Clocks, slots and messages of hosts are at random from each other.
 * Prints the worst window of all hosts together, and messages and bytes a second.
 */
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chance.h"
#include "fleet/books.h"

#define WINDOW_MS	1024u
#define SLOTS		16u
#define SLOT_MS		(WINDOW_MS / SLOTS)
#define BUDGET		2000u
#define FLOOD		(20 * BUDGET)	/* that a source sends in a window, to all hosts */
#define WAY_MS		1	/* of a message */
#define HOSTS_MAX	1000
#define WINDOWS		12
#define SEEDS		8

enum spread { EVEN, PINNED, HOPPING, BURSTS, SPREADS };
static const char *const names[] = { "evenly", "pinned", "hopping", "in bursts" };

struct source {
	uint32_t at;
	uint32_t ring[SLOTS + 1], sum;
};

struct host {
	struct fleet_books *books;
	uint32_t clock_ms;	/* ahead of the time of the simulation */
	uint32_t phase_ms;	/* in the interval, at which it announces */
	uint32_t slot;		/* of the last dump */
	struct source *sources;
};

struct run {
	unsigned int hosts, sources, rate, interval_ms, windows;
	enum spread spread;
	bool shared, advance;
	struct chance chance;
	/* results */
	double worst, mean;		/* in budgets: of any source, and of all after a window */
	uint64_t messages, bytes;	/* that were sent */
};

struct message {
	uint32_t at_ms, from;
	size_t size;
	void *data;
};

static struct host hosts[HOSTS_MAX];
static struct message queue[1 << 16];
static unsigned int first, last;

static struct weir_prefix prefix_of(unsigned int source)
{
	struct weir_prefix prefix = { .family = AF_INET, .len = 32 };
	uint32_t address = htonl(0x0a000000 + source);

	memcpy(prefix.addr, &address, sizeof(address));
	return prefix;
}

static unsigned int source_of(const struct weir_prefix *prefix)
{
	uint32_t address;

	memcpy(&address, prefix->addr, sizeof(address));
	return ntohl(address) - 0x0a000000;
}

static void turn(struct source *source, uint32_t slot)
{
	uint32_t *entry;

	if (slot > source->at + SLOTS) {
		memset(source->ring, 0, sizeof(source->ring));
		source->sum = 0;
		source->at = slot;
	}
	while (source->at < slot) {
		entry = &source->ring[++source->at % (SLOTS + 1)];
		source->sum -= *entry;
		*entry = 0;
	}
}

static void count(const struct host *host, struct source *source, uint32_t ms, uint32_t amount)
{
	turn(source, (ms + host->clock_ms) / SLOT_MS);
	source->ring[source->at % (SLOTS + 1)] += amount;
	source->sum += amount;
}

/* The kernel's dump of a source. */
static void dump(struct host *host, unsigned int i, uint32_t ms)
{
	struct source *source = &host->sources[i];
	struct weir_prefix prefix = prefix_of(i);
	const uint64_t *numbers[1];
	uint64_t ring[SLOTS + 1];
	unsigned int n = SLOTS + 1, j;

	turn(source, (ms + host->clock_ms) / SLOT_MS);
	if (source->sum < fleet_books_least(host->books))
		return;
	for (j = 0; j < n; j++)
		ring[j] = source->ring[(source->at - j) % n];
	numbers[0] = ring;
	fleet_books_dumped(host->books, &prefix, numbers, &n);
}

static void add(const struct weir_prefix *prefix, const uint64_t amount[], void *data)
{
	struct host *host = data;
	struct source *source = &host->sources[source_of(prefix)];

	turn(source, host->slot);
	source->ring[host->slot % (SLOTS + 1)] += *amount;
	source->sum += *amount;
}

static void charge(struct run *run, struct host *host, uint32_t ms)
{
	/* A peer that is long overdue is not expected to admit anything. */
	fleet_books_charge(host->books, run->advance ? ms : ms + WINDOW_MS, add, host);
}

static void announce(struct run *run, struct host *host, uint32_t ms)
{
	static struct fleet_writer writer;
	struct message *message;
	struct fleet_clock clock = {
		.slot = (ms + host->clock_ms) / SLOT_MS,
		.phase_ns = (ms + host->clock_ms) % SLOT_MS * 1000000ull,
	};
	unsigned int i;

	host->slot = clock.slot;
	fleet_books_clock(host->books, &clock, ms);
	for (i = 0; i < run->sources; i++)
		dump(host, i, ms);
	if (fleet_books_announce(host->books, 0, &writer)) {
		message = &queue[last++ % (1 << 16)];
		message->at_ms = ms + WAY_MS;
		message->from = host - hosts;
		message->size = writer.size;
		message->data = malloc(writer.size);
		memcpy(message->data, writer.data, writer.size);
		run->messages++;
		run->bytes += writer.size;
	}
	charge(run, host, ms);
}

static void deliver(struct run *run, uint32_t ms)
{
	struct message *message;
	bool any = false;
	unsigned int i;

	for (; first != last && queue[first % (1 << 16)].at_ms <= ms; first++) {
		message = &queue[first % (1 << 16)];
		for (i = 0; i < run->hosts; i++)
			if (i != message->from)
				fleet_books_hear(hosts[i].books, message->data, message->size, ms);
		free(message->data);
		any = true;
	}
	for (i = 0; any && i < run->hosts; i++)
		charge(run, &hosts[i], ms);
}

static void begin(struct run *run)
{
	const struct fleet_shape shape = {
		.budgets = 1,
		.ring = { { .budget = BUDGET, .slot_ns = SLOT_MS * 1000000ull, .reach = SLOTS } },
	};
	char name[16];
	unsigned int i;

	first = 0;
	last = 0;
	for (i = 0; i < run->hosts; i++) {
		snprintf(name, sizeof(name), "host%u", i);
		hosts[i].books = fleet_books_new(name, i, &shape, run->interval_ms);
		hosts[i].clock_ms = WINDOW_MS + chance_below(&run->chance, SLOT_MS);
		hosts[i].phase_ms = chance_below(&run->chance, run->interval_ms);
		hosts[i].sources = calloc(run->sources, sizeof(*hosts[i].sources));
	}
}

/* Where a source's packets go to. */
struct way {
	unsigned int host;
	uint32_t until_ms;
	bool silent;
};

static bool next_host(struct run *run, struct way *way, uint32_t ms, unsigned int *host)
{
	struct chance *c = &run->chance;

	*host = chance_below(c, run->hosts);
	switch (run->spread) {
	case PINNED:
		*host = 0;
		break;
	case HOPPING:
		if (ms >= way->until_ms) {
			way->host = *host;
			way->until_ms = ms + WINDOW_MS / 25 + chance_below(c, WINDOW_MS / 5);
		}
		*host = way->host;
		break;
	case BURSTS:
		if (ms >= way->until_ms) {
			way->silent = !way->silent;
			way->until_ms = ms + WINDOW_MS / 50 + chance_below(c, WINDOW_MS / 7);
		}
		return !way->silent;
	default:
		break;
	}
	return true;
}

static unsigned int flood(struct run *run, unsigned int source, struct way *way, uint32_t ms)
{
	unsigned int packets = run->rate / WINDOW_MS, admitted = 0, host;
	struct source *is;

	packets += chance_below(&run->chance, WINDOW_MS) < run->rate % WINDOW_MS;
	for (; packets && next_host(run, way, ms, &host); packets--) {
		is = &hosts[host].sources[source];
		turn(is, (ms + hosts[host].clock_ms) / SLOT_MS);
		if (is->sum >= BUDGET)
			continue;
		count(&hosts[host], is, ms, 1);
		admitted++;
	}
	return admitted;
}

static void simulate(struct run *run)
{
	uint32_t end = run->windows * WINDOW_MS, ms, i;
	uint16_t *admitted = calloc((size_t)end * run->sources, sizeof(*admitted));
	uint32_t *window = calloc(run->sources, sizeof(*window));
	struct way *ways = calloc(run->sources, sizeof(*ways));
	uint64_t total = 0;

	begin(run);
	for (ms = 0; ms < end; ms++) {
		if (run->shared)
			deliver(run, ms);
		for (i = 0; run->shared && i < run->hosts; i++)
			if (ms % run->interval_ms == hosts[i].phase_ms)
				announce(run, &hosts[i], ms);
		/* The books begin before the flood does. */
		for (i = 0; ms >= WINDOW_MS && i < run->sources; i++) {
			admitted[ms * run->sources + i] = flood(run, i, &ways[i], ms);
			window[i] += admitted[ms * run->sources + i];
			window[i] -= admitted[(ms - WINDOW_MS) * run->sources + i];
			if (window[i] > run->worst * BUDGET)
				run->worst = (double)window[i] / BUDGET;
			if (ms >= 2 * WINDOW_MS)
				total += admitted[ms * run->sources + i];
		}
	}
	run->mean = (double)total / run->sources / (run->windows - 2) / BUDGET;
	for (; first != last; first++)
		free(queue[first % (1 << 16)].data);
	for (i = 0; i < run->hosts; i++) {
		fleet_books_free(hosts[i].books);
		free(hosts[i].sources);
	}
	free(admitted);
	free(window);
	free(ways);
}

/* The largest worst window of some runs, and their mean. */
static void repeat(struct run run, double *worst, double *mean)
{
	unsigned int seed;
	struct run one;

	*worst = *mean = 0;
	for (seed = 0; seed < SEEDS; seed++) {
		one = run;
		one.chance.state = seed + 1;
		simulate(&one);
		*worst = one.worst > *worst ? one.worst : *worst;
		*mean += one.mean / SEEDS;
	}
}

static const struct {
	const char *name;
	unsigned int part;
	bool shared, advance;
} ways[] = {
	{ "T/50", 50, true, true },
	{ "T/10", 10, true, true },
	{ "T/50, no advance", 50, true, false },
	{ "T/10, no advance", 10, true, false },
	{ "not shared", 50, false, false },
};

#define WAYS	(sizeof(ways) / sizeof(*ways))

static void print_windows(void)
{
	struct run run = { .sources = 1, .rate = FLOOD, .windows = WINDOWS };
	double worst, mean, single;
	unsigned int i, n;

	printf("%-18s %-10s", "", "");
	for (n = 2; n <= 8; n *= 2)
		printf("      %u hosts", n);
	printf("\n%-18s %-10s", "interval", "spread");
	for (n = 2; n <= 8; n *= 2)
		printf("   worst  mean");
	puts("");
	for (i = 0; i < WAYS; i++)
		for (run.spread = EVEN; run.spread < SPREADS; run.spread++) {
			run.interval_ms = WINDOW_MS / ways[i].part;
			run.advance = ways[i].advance;
			run.shared = false;
			run.hosts = 1;
			repeat(run, &worst, &single);
			run.shared = ways[i].shared;
			printf("%-18s %-10s", run.spread ? "" : ways[i].name, names[run.spread]);
			for (run.hosts = 2; run.hosts <= 8; run.hosts *= 2) {
				repeat(run, &worst, &mean);
				printf("   %5.2f %5.2f", worst, mean / single);
			}
			puts("");
		}
}

static void print_load(void)
{
	static const struct {
		unsigned int hosts, sources, rate, part;
	} of[] = {
		{ 10, 1, FLOOD, 50 }, { 10, 1, FLOOD, 10 }, { 10, 100, FLOOD, 50 },
		{ 10, 1, BUDGET / 2, 50 }, { 10, 100, BUDGET / 2, 50 }, { 10, 100, BUDGET / 2, 10 },
		{ 100, 1, FLOOD, 50 }, { 100, 1, FLOOD, 10 }, { 100, 1, BUDGET / 2, 50 },
		{ 1000, 1, FLOOD, 10 }, { 1000, 1, BUDGET / 2, 10 },
	};
	struct run run;
	double each, bytes;
	unsigned int i;

	printf("%5s %7s %6s %8s %6s  %20s  %9s  %20s\n", "", "", "each", "", "worst",
	       "a host announces", "and hears", "the server sends");
	printf("%5s %7s %6s %8s %6s  %9s %10s  %9s  %9s %10s\n", "hosts", "sources", "sends",
	       "interval", "window", "messages", "bytes", "messages", "messages", "bytes");
	for (i = 0; i < sizeof(of) / sizeof(*of); i++) {
		run = (struct run){
			.hosts = of[i].hosts, .sources = of[i].sources, .rate = of[i].rate,
			.windows = 4, .interval_ms = WINDOW_MS / of[i].part, .shared = true,
			.advance = true, .chance.state = 1,
		};
		simulate(&run);
		each = run.messages / ((run.windows - 1) * WINDOW_MS / 1000.0) / run.hosts;
		bytes = each * run.bytes / run.messages;
		printf("%5u %7u %4.1f L %6s%2u %6.2f  %9.0f %10.0f  %9.0f  %9.0f %10.0f\n",
		       run.hosts, run.sources, (double)run.rate / BUDGET, "T/", of[i].part,
		       run.worst, each, bytes, each * (run.hosts - 1),
		       each * run.hosts * (run.hosts - 1), bytes * run.hosts * (run.hosts - 1));
		fflush(stdout);
	}
}

int main(void)
{
	print_windows();
	puts("");
	print_load();
	return 0;
}
