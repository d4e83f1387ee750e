/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two wheels: one that is an upper bound of both, as a floor is of all whose
 * ways it has taken.
 *
 * What a wheel may still admit depends on how its counts leave. Let S(j) be
 * the sum of the newest j slots (a suffix sum). At any later time the wheel's
 * sum is one of today's suffix sums plus what came since, so a wheel w is an
 * upper bound of a wheel v if S_w(j) >= S_v(j) for all j. The least upper
 * bound of two wheels has S(j) = max(S_v(j), S_w(j)); its total is the larger
 * of the two totals and so never exceeds a budget that both keep.
 */
#ifndef WEIR_WHEEL_JOIN_H
#define WEIR_WHEEL_JOIN_H

#include <linux/string.h>

#include "wheel.h"

static __always_inline void
weir_wheel_trade_counts(struct weir_wheel_shape shape, struct weir_wheel *w,
			struct weir_wheel *v)
{
	unsigned int i = 1 + w->head, j = 1 + v->head, left;
	u64 of_w = 0, of_v = 0, of_join = 0, last, count;

	for (left = shape.ring; left; left--) {
		count = weir_wheel_load(shape, w, i);
		of_w += count;
		of_v += weir_wheel_load(shape, v, j);
		weir_wheel_store(shape, v, j, count);
		last = of_join;
		of_join = max(of_w, of_v);
		weir_wheel_store(shape, w, i, of_join - last);
		i = i > 1 ? i - 1 : shape.ring;
		j = j > 1 ? j - 1 : shape.ring;
	}
	weir_wheel_store(shape, w, 0, of_join);
	weir_wheel_store(shape, v, 0, of_w);
}

/**
 * weir_wheel_trade - join a wheel into another, and leave there what that was
 * @shape: shape of both
 * @w: wheel, and the least upper bound of both
 * @v: wheel turned to the same slot, and then a copy of @w as it was that
 *	remembers no refusal
 */
static inline void weir_wheel_trade(struct weir_wheel_shape shape,
				    struct weir_wheel *w, struct weir_wheel *v)
{
	/* Most often counts have two bytes. */
	if (shape.width == 2)
		weir_wheel_trade_counts((struct weir_wheel_shape) {
						shape.ring, 2 }, w, v);
	else
		weir_wheel_trade_counts(shape, w, v);
	w->until = w->at;
	v->until = v->at;
	v->has_refused = 0;
}

/* A copy that remembers no refusal. */
static inline void weir_wheel_copy(struct weir_wheel_shape shape,
				   struct weir_wheel *w,
				   const struct weir_wheel *v)
{
	memcpy(w, v, weir_wheel_size(shape));
	w->has_refused = 0;
}

#endif /* WEIR_WHEEL_JOIN_H */
