/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wheels by chance: room for any, a shape for a budget, a step of time.
 */
#ifndef WHEEL_CHANCE_H
#define WHEEL_CHANCE_H

#include "wheel.h"

#include "unit.h"

#define RING_MAX 65

union room {
	struct weir_wheel wheel;
	u64 bytes[2 + RING_MAX];
};

/* Of 1 to 65 slots, as wide as the budget needs or wider. */
static inline struct weir_wheel_shape
random_shape(struct chance *c, u64 budget)
{
	struct weir_wheel_shape shape = {
		.ring = 1 + chance_below(c, chance_one_in(c, 3) ? 65 : 6),
		.width = weir_wheel_width(budget),
	};

	while (shape.width < 8 && chance_one_in(c, 3))
		shape.width *= 2;
	return shape;
}

/* In slots: mostly none or one, up to a whole turn, at times far beyond. */
static inline u64 random_step(struct chance *c, unsigned int ring)
{
	switch (chance_below(c, 64)) {
	case 0 ... 15:
		return 1;
	case 16 ... 18:
		return chance_below(c, ring + 2);
	case 19:
		return chance_below(c, 30000);
	}
	return 0;
}

#endif
