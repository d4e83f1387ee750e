/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pseudorandom numbers, reproducible by their seed. */
#ifndef DICE_H
#define DICE_H

#include <stdbool.h>
#include <stdint.h>

struct dice {
	uint64_t state;
};

/* Splitmix64, by Sebastiano Vigna. */
static inline uint64_t dice_roll(struct dice *dice)
{
	uint64_t z = dice->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* Seed for item @n: its numbers do not depend on the items before it. */
static inline void dice_seed(struct dice *dice, uint64_t seed, uint64_t n)
{
	dice->state = seed * 0xd1342543de82ef95ull + n * 0x2545f4914f6cdd1dull;
	dice_roll(dice);
}

/* 0 to n - 1 */
static inline uint32_t dice_of(struct dice *dice, uint32_t n)
{
	return (dice_roll(dice) >> 32) * n >> 32;
}

static inline bool dice_percent(struct dice *dice, unsigned int percent)
{
	return dice_of(dice, 100) < percent;
}

#endif
