// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * compare: evaluate the records of weir_record for a case of compare.sh
 *
 * compare TICKS LIMIT <RECORDS: prints a line of name=value:
 *	worst		most that any source got through within TICKS
 *	honest		packets that came from honest sources
 *	lost		of them, not let through
 *	asked		most that an honest source asked for within TICKS
 *	heavy, slow	what the heavy and the slow source got, in thousandths of LIMIT
 *			per TICKS
 *	flood, through	packets of the flood, and what of it was let through
 * Sources: 10.1.0.0/16 honest, 10.6.6.6 heavy, 10.7.7.7 slow, the others flood.
 *
 * A packet is recorded on both sides of the limit. Which tick was read
 * in between is not known when it changed meanwhile: a packet is in a window
 * if it was so all the way.
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct record {
	uint32_t source;	/* big endian */
	uint32_t came;
	uint32_t tick;
	uint32_t passed;
};

enum kind { HONEST, HEAVY, SLOW, FLOOD, KINDS };

static struct record *records;
static size_t count;

static enum kind kind_of(uint32_t source)
{
	source = ntohl(source);
	if (source >> 16 == 0x0a01)
		return HONEST;
	if (source == 0x0a060606)
		return HEAVY;
	return source == 0x0a070707 ? SLOW : FLOOD;
}

static int compare(const void *va, const void *vb)
{
	const struct record *a = va, *b = vb;

	if (a->source != b->source)
		return ntohl(a->source) < ntohl(b->source) ? -1 : 1;
	if (a->passed != b->passed)
		return a->passed < b->passed ? -1 : 1;
	return (int32_t)(a->came - b->came);
}

/* The most packets of one source in a window, of those that came or passed. */
static size_t worst(const struct record *record, size_t n, uint32_t ticks)
{
	size_t first = 0, i, most = 0;

	/* Those in [first, i] are in a window that begins with the first. */
	for (i = 0; i < n; i++) {
		while (record[i].tick - record[first].came >= ticks)
			first++;
		if (i + 1 - first > most)
			most = i + 1 - first;
	}
	return most;
}

static void read_records(void)
{
	size_t room = 1 << 20;

	records = malloc(room * sizeof(*records));
	while (records) {
		count += fread(records + count, sizeof(*records), room - count, stdin);
		if (count < room)
			return;
		room *= 2;
		records = realloc(records, room * sizeof(*records));
	}
	exit(1);
}

int main(int argc, char **argv)
{
	size_t packets[KINDS][2] = { 0 }, most[KINDS][2] = { 0 }, i, n, w;
	uint32_t ticks, limit, first = 0, last = 0;
	bool any = false;

	if (argc != 3)
		return 1;
	ticks = atoi(argv[1]);
	limit = atoi(argv[2]);
	read_records();
	qsort(records, count, sizeof(*records), compare);
	for (i = 0; i < count; i += n) {
		enum kind kind = kind_of(records[i].source);
		bool passed = records[i].passed;

		for (n = 1; i + n < count && records[i + n].source == records[i].source &&
		     records[i + n].passed == records[i].passed; n++)
			;
		packets[kind][passed] += n;
		w = worst(records + i, n, ticks);
		if (w > most[kind][passed])
			most[kind][passed] = w;
		if (kind == SLOW && !passed) {
			first = records[i].tick;
			last = records[i + n - 1].tick;
			any = true;
		}
	}
	if (!any || first == last)
		return 1;
	for (w = 0, i = 0; i < KINDS; i++)
		w = most[i][1] > w ? most[i][1] : w;
	printf("worst=%zu honest=%zu lost=%zu asked=%zu", w, packets[HONEST][0],
	       packets[HONEST][0] - packets[HONEST][1], most[HONEST][0]);
	printf(" heavy=%.0f slow=%.0f", 1000.0 * packets[HEAVY][1] * ticks / (last - first) / limit,
	       1000.0 * packets[SLOW][1] * ticks / (last - first) / limit);
	printf(" flood=%zu through=%zu\n", packets[FLOOD][0], packets[FLOOD][1]);
	return 0;
}
