// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unpack CHARGE UNCHARGE DROP: the kernel's raw trace buffers as text
 *
 * Reads pages of per_cpu/cpuN/trace_pipe_raw from stdin and prints the events
 * with these ids as the kernel would print them, without task, CPU and time.
 * A guest formats a hundred thousand events in seconds, its host in no time.
 * Status 1 if a page says that events were lost in front of it.
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE		4096
#define SIZE_MASK	0xfffff		/* of a page's commit word */
#define MISSED		(1u << 31)	/* events in front of the page */

/* A page's header, as events/header_page says. */
struct page {
	uint64_t time;
	uint64_t commit;
	uint8_t data[PAGE - 16];
};

/* The type of an event: the low five bits of its first word. */
enum { LONG = 0, WORDS_MAX = 28, PADDING = 29, EXTEND = 30, STAMP = 31 };

struct common {
	uint16_t type;
	uint8_t flags, preempt;
	int32_t pid;
};

/* As events/weir/weir_charge/format says; weir_drop has a pointer before it. */
struct cost {
	char limit[32];
	uint8_t saddr[16];
	uint64_t tick;
	uint32_t packets;
	uint64_t bytes;
};

static const char *const names[] = { "weir_charge", "weir_uncharge", "weir_drop" };
static unsigned int ids[3];

static void event(const uint8_t *data, size_t len)
{
	char saddr[INET6_ADDRSTRLEN];
	struct common common;
	struct cost cost;
	size_t at = sizeof(common);
	unsigned int i;

	memcpy(&common, data, sizeof(common));
	for (i = 0; i < 3 && ids[i] != common.type; i++)
		;
	if (i == 3)
		return;
	if (i == 2)
		at += sizeof(uint64_t);
	if (at + sizeof(cost) > len) {
		fprintf(stderr, "unpack: an event of %zu bytes\n", len);
		exit(1);
	}
	memcpy(&cost, data + at, sizeof(cost));
	inet_ntop(AF_INET6, cost.saddr, saddr, sizeof(saddr));
	printf(" %s: limit=%.32s saddr=%s tick=%llu packets=%u bytes=%llu\n",
	       names[i], cost.limit, saddr, (unsigned long long)cost.tick,
	       cost.packets, (unsigned long long)cost.bytes);
}

/* Returns the bytes that the event at @data takes; 0 ends the page. */
static size_t step(const uint8_t *data)
{
	uint32_t word[2];
	unsigned int type;

	memcpy(word, data, sizeof(word));
	type = word[0] & 31;
	switch (type) {
	case PADDING:
		return word[0] >> 5 ? 4 + word[1] : 0;
	case EXTEND:
	case STAMP:
		return 8;
	case LONG:
		event(data + 8, word[1] - 4);
		return 4 + word[1];
	default:
		event(data + 4, type * 4);
		return 4 + type * 4;
	}
}

int main(int argc, char **argv)
{
	struct page page;
	size_t at, size, len;
	int i;

	if (argc != 4)
		return 1;
	for (i = 0; i < 3; i++)
		ids[i] = atoi(argv[i + 1]);
	while (fread(&page, sizeof(page), 1, stdin) == 1) {
		size = page.commit & SIZE_MASK;
		if (page.commit & MISSED || size > sizeof(page.data)) {
			fprintf(stderr, "unpack: the trace lost events\n");
			return 1;
		}
		for (at = 0; at < size; at += len) {
			len = step(page.data + at);
			if (!len)
				break;
		}
	}
	return 0;
}
