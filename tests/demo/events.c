// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * events: print weir's trace events from the pages of the kernel's ring buffers
 *
 * events DIR: DIR/format.* are the formats of events, DIR/raw.* what trace_pipe_raw of each CPU
 * gave. Prints one line per event, in order of time, as the kernel's trace would. To have the
 * kernel print them takes an emulated guest longer than the flood.
 */
#include <arpa/inet.h>
#include <glob.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE		4096
#define HEADER		16	/* time stamp, and how much of the page is used */
#define USED(commit)	((commit) & 0x3fffffff)
#define KINDS		8

/* Types of entries that are no events; include/linux/ring_buffer.h has them. */
enum { LONG = 0, PADDING = 29, EXTEND, STAMP };

static const char *const fields[] = { "limit", "saddr", "tick", "packets", "bytes" };
enum { LIMIT, SADDR, TICK, PACKETS, BYTES, FIELDS };

static struct kind {
	char name[32];
	unsigned int id, at[FIELDS];
} kinds[KINDS];

static struct event {
	uint64_t time;
	const struct kind *kind;
	const unsigned char *data;
} *events;

static size_t count, room;

static void fail(const char *what, const char *name)
{
	fprintf(stderr, "events: %s %s\n", what, name);
	exit(1);
}

/* The files that match DIR/PATTERN */
static glob_t files(const char *dir, const char *pattern)
{
	char path[4096];
	glob_t found;

	snprintf(path, sizeof(path), "%s/%s", dir, pattern);
	if (glob(path, 0, NULL, &found))
		fail("no", path);
	return found;
}

static void read_format(const char *path, struct kind *kind)
{
	unsigned int at, i;
	char line[256], name[64];
	FILE *file = fopen(path, "r");

	if (!file)
		fail("cannot read", path);
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "name: %31s", kind->name);
		sscanf(line, "ID: %u", &kind->id);
		/* field:u8 saddr[16]; offset:24; ... */
		if (sscanf(line, " field:%*[^;]; offset:%u;", &at) != 1)
			continue;
		*strchr(line, ';') = '\0';
		line[strcspn(line, "[")] = '\0';
		snprintf(name, sizeof(name), "%s", strrchr(line, ' ') + 1);
		for (i = 0; i < FIELDS; i++)
			if (!strcmp(name, fields[i]))
				kind->at[i] = at;
	}
	fclose(file);
}

static void add(uint64_t time, const unsigned char *data)
{
	const struct kind *kind = kinds;
	uint16_t id;

	memcpy(&id, data, sizeof(id));
	while (kind < kinds + KINDS && kind->id != id)
		kind++;
	if (kind == kinds + KINDS)
		return;
	if (count == room) {
		room = room ? 2 * room : 1 << 16;
		events = realloc(events, room * sizeof(*events));
		if (!events)
			fail("no memory for", "events");
	}
	events[count++] = (struct event) { time, kind, data };
}

static void read_page(const unsigned char *page)
{
	const unsigned char *at = page + HEADER, *end;
	uint32_t head, more;
	uint64_t time, used;

	memcpy(&time, page, sizeof(time));
	memcpy(&used, page + 8, sizeof(used));
	if (USED(used) > PAGE - HEADER)
		fail("a page is", "too long");
	for (end = at + USED(used); at + 8 <= end;) {
		memcpy(&head, at, sizeof(head));
		memcpy(&more, at + 4, sizeof(more));
		switch (head & 31) {
		case PADDING:
			if (!(head >> 5))
				return;
			time += head >> 5;
			at += 4 + more;
			break;
		case EXTEND:
			time += ((uint64_t)more << 27) + (head >> 5);
			at += 8;
			break;
		case STAMP:
			time = ((uint64_t)more << 27) + (head >> 5);
			at += 8;
			break;
		case LONG:
			time += head >> 5;
			add(time, at + 8);
			at += 4 + more;
			break;
		default:
			time += head >> 5;
			add(time, at + 4);
			at += 4 + 4 * (head & 31);
		}
	}
}

/* The pages stay, since events point into them. */
static void read_pages(const char *path)
{
	FILE *file = fopen(path, "r");
	unsigned char *page;

	if (!file)
		fail("cannot read", path);
	while ((page = malloc(PAGE)) && fread(page, PAGE, 1, file) == 1)
		read_page(page);
	fclose(file);
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

static void print(const struct event *event)
{
	const unsigned char *data = event->data;
	const unsigned int *at = event->kind->at;
	char saddr[INET6_ADDRSTRLEN];
	uint64_t tick, bytes;
	uint32_t packets;

	memcpy(&tick, data + at[TICK], sizeof(tick));
	memcpy(&bytes, data + at[BYTES], sizeof(bytes));
	memcpy(&packets, data + at[PACKETS], sizeof(packets));
	printf(" %s: limit=%s saddr=%s tick=%llu packets=%u bytes=%llu\n", event->kind->name,
	       (const char *)data + at[LIMIT],
	       inet_ntop(AF_INET6, data + at[SADDR], saddr, sizeof(saddr)),
	       (unsigned long long)tick, packets, (unsigned long long)bytes);
}

int main(int argc, char **argv)
{
	glob_t formats, raws;
	size_t i;

	if (argc != 2)
		fail("usage:", "events DIR");
	formats = files(argv[1], "format.*");
	for (i = 0; i < formats.gl_pathc && i < KINDS; i++)
		read_format(formats.gl_pathv[i], &kinds[i]);
	raws = files(argv[1], "raw.*");
	for (i = 0; i < raws.gl_pathc; i++)
		read_pages(raws.gl_pathv[i]);
	qsort(events, count, sizeof(*events), by_time);
	for (i = 0; i < count; i++)
		print(&events[i]);
	return 0;
}
