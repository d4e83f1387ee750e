/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random counts: memory for any shape, a shape, a slot, a step in time. */
#ifndef COUNT_CHANCE_H
#define COUNT_CHANCE_H

#include "count/count.h"
#include "unit.h"

/* Charge a turned count with the full cost or nothing. */
static inline bool count_charge(struct weir_shape shape, struct weir_count *w, u64 cost, u64 budget)
{
	if (weir_count_full(&shape, w, w->at, cost, budget))
		return false;
	weir_count_add(&shape, w, cost);
	return true;
}

#define RING_MAX 65

union room {
	struct weir_count count;
	u64 bytes[1 + 1 + 128];
};

/* 1 to 64 slots, and counts as wide as the budget needs or wider. */
static inline struct weir_shape
random_shape(struct chance *c, u64 budget, bool lenient)
{
	u8 width = weir_width_of(budget);

	while (width < 8 && chance_one_in(c, 3))
		width *= 2;
	return weir_ring_shape(1 + chance_below(c, chance_one_in(c, 3) ? 64 : 6), lenient, width);
}

/* Half of the slots are about to wrap. */
static inline u64 random_slot(struct chance *c)
{
	u64 wraps = BIT_ULL(32) * (1 + chance_below(c, 256));

	return chance_one_in(c, 2) ? wraps - chance_below(c, 500) :
				     wraps + chance_below(c, BIT_ULL(32));
}

/*
 * A step in slots: mostly 0 or 1, up to a full turn, sometimes to where refusal
 * marks wrap, or far beyond.
 */
static inline u64 random_step(struct chance *c, unsigned int ring)
{
	switch (chance_below(c, 64)) {
	case 0 ... 15:
		return 1;
	case 16 ... 18:
		return chance_below(c, ring + 2);
	case 19:
		return 256 * (1 + chance_below(c, 3)) - chance_below(c, 100);
	case 20:
		return chance_below(c, chance_one_in(c, 4) ? BIT(31) - 200 : 30000);
	}
	return 0;
}

/* Offset the total and the ring alike, so that the total may wrap soon. */
static inline void random_total(struct chance *c, struct weir_shape shape, struct weir_count *w)
{
	u64 more = chance_one_in(c, 2) ? chance(c) : -chance_below(c, 300);
	unsigned int i;

	for (i = 0; i < shape.mask + 2u; i++)
		weir_count_store(&shape, w, i, weir_count_cell(&shape, w, i) + more);
}

#endif
