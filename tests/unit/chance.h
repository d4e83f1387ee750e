/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pseudorandom numbers, reproducible by their seed: splitmix64, by Sebastiano Vigna. */
#ifndef CHANCE_H
#define CHANCE_H

struct chance {
	uint64_t state;
};

static inline uint64_t chance(struct chance *chance)
{
	uint64_t z = chance->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* 0..n-1 */
static inline uint64_t chance_below(struct chance *c, uint64_t n)
{
	return chance(c) % n;
}

static inline int chance_one_in(struct chance *c, uint64_t n)
{
	return !chance_below(c, n);
}

#endif /* CHANCE_H */
