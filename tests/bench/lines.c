// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lines MEGABYTES: nanoseconds per cache line for a pointer chase through that much
 * memory, in huge pages if there are any.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define LINE	64
#define HUGE	(2ul << 20)
#define STEPS	3000000

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static uint32_t *line(char *memory, uint32_t i)
{
	return (uint32_t *)(memory + (size_t)i * LINE);
}

/* Sattolo's algorithm for a permutation of one cycle, with xorshift64. */
static void circle(char *memory, uint32_t count)
{
	uint64_t random = 88172645463325252;
	uint32_t i, j, next;

	for (i = 0; i < count; i++)
		*line(memory, i) = i;
	for (i = count - 1; i; i--) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		j = random % i;
		next = *line(memory, i);
		*line(memory, i) = *line(memory, j);
		*line(memory, j) = next;
	}
}

int main(int argc, char **argv)
{
	size_t bytes = argc == 2 ? strtoul(argv[1], NULL, 10) << 20 : 0;
	volatile uint32_t at = 0;
	double begin = 0;
	char *memory;
	int i;

	if (!bytes) {
		fprintf(stderr, "usage: lines MEGABYTES\n");
		return 1;
	}
	memory = mmap(NULL, bytes + HUGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		perror("lines");
		return 1;
	}
	memory += -(uintptr_t)memory % HUGE;
	madvise(memory, bytes, MADV_HUGEPAGE);
	circle(memory, bytes / LINE);
	for (i = -STEPS; i < STEPS; i++) {
		if (!i)
			begin = cpu_ns();
		at = *line(memory, at);
	}
	printf("%.1f\n", (cpu_ns() - begin) / STEPS);
	return 0;
}
