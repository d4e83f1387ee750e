/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The wheel: what one source has sent within the window.
 *
 * A window of n slots is counted in a ring of r = n + 1 counts (strict) or
 * r = n counts (lenient). When time is in slot k, the ring covers the slots
 * k-r+1..k, the count of the current one included. n = 4, strict, time in
 * slot 9:
 *
 *	slot       4    5    6    7    8    9
 *	         gone | 3    0    1    0    2 |  sum 6
 *	                ^ oldest           ^ head
 *
 * Every interval of n slots' length that ends in slot 9 lies within slots
 * 5..9, wherever it starts; so as long as the sum never exceeds the budget,
 * no such interval admits more. With n counts only, slot 5 would be gone
 * while its last packets are less than a window old.
 *
 * Slots are numbered from zero by the caller and stored modulo 2^16. Between
 * two turns of a wheel less than 2^15 slots may pass; the caller sees to it.
 * Time moves only forward: an earlier slot counts as the wheel's own.
 *
 * Nothing here knows a clock, a packet, a lock or an allocation. The caller
 * serialises; weir_wheel_room() and weir_wheel_shut() may be asked inside a
 * sequence count, where they give some answer for any bytes.
 */
#ifndef WEIR_WHEEL_H
#define WEIR_WHEEL_H

#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

/**
 * struct weir_wheel_shape - what all wheels of a table have in common
 * @ring: counts in the ring, 1..65
 * @width: bytes of a count: 2, 4 or 8
 */
struct weir_wheel_shape {
	u8 ring;
	u8 width;
};

/**
 * struct weir_wheel - one source's counts
 * @at: slot of the last turn
 * @until: slot before which the sum cannot fall, or @at where that is unknown
 * @refused: slot of the last refusal, where @has_refused
 * @head: index in the ring of the slot @at
 * @has_refused: something was refused within the last window or so
 * @count: the sum, then the ring; each shape.width bytes
 *
 * Aligned to the shape's width.
 */
struct weir_wheel {
	u16 at;
	u16 until;
	u16 refused;
	u8 head;
	u8 has_refused;
	u8 count[];
};

/* Bytes of a wheel. */
static inline size_t weir_wheel_size(struct weir_wheel_shape shape)
{
	return sizeof(struct weir_wheel) + shape.width * (1u + shape.ring);
}

/* The largest count, and so the largest budget, that a width holds. */
static inline u64 weir_wheel_max(u8 width)
{
	return U64_MAX >> (64 - 8 * width);
}

/* The narrowest width that holds a budget. */
static inline u8 weir_wheel_width(u64 budget)
{
	return budget <= U16_MAX ? 2 : budget <= U32_MAX ? 4 : 8;
}

/* Count i of the array: 0 is the sum, 1..ring the slots. */
static inline u64 weir_wheel_load(struct weir_wheel_shape shape,
				  const struct weir_wheel *w, unsigned int i)
{
	switch (shape.width) {
	case 2:
		return ((const u16 *)w->count)[i];
	case 4:
		return ((const u32 *)w->count)[i];
	default:
		return ((const u64 *)w->count)[i];
	}
}

static inline void weir_wheel_store(struct weir_wheel_shape shape,
				    struct weir_wheel *w, unsigned int i, u64 v)
{
	switch (shape.width) {
	case 2:
		((u16 *)w->count)[i] = v;
		break;
	case 4:
		((u32 *)w->count)[i] = v;
		break;
	default:
		((u64 *)w->count)[i] = v;
	}
}

static inline u64 weir_wheel_sum(struct weir_wheel_shape shape,
				 const struct weir_wheel *w)
{
	return weir_wheel_load(shape, w, 0);
}

/* Index in the array of the slot that is age slots older than the newest. */
static inline unsigned int weir_wheel_index(struct weir_wheel_shape shape,
					    const struct weir_wheel *w,
					    unsigned int age)
{
	return 1 + (w->head >= age ? w->head - age : w->head + shape.ring - age);
}

/**
 * weir_wheel_slot - what was counted in one slot
 * @shape: shape of the wheel
 * @w: wheel
 * @age: slots before the newest, 0..ring-1
 */
static inline u64 weir_wheel_slot(struct weir_wheel_shape shape,
				  const struct weir_wheel *w, unsigned int age)
{
	return weir_wheel_load(shape, w, weir_wheel_index(shape, w, age));
}

/**
 * weir_wheel_reset - an empty wheel
 * @shape: shape of the wheel
 * @w: wheel, weir_wheel_size() bytes
 * @slot: the current slot
 */
static inline void weir_wheel_reset(struct weir_wheel_shape shape,
				    struct weir_wheel *w, u16 slot)
{
	memset(w, 0, weir_wheel_size(shape));
	w->at = slot;
	w->until = slot;
}

/* Has all that was counted left the window by this slot? */
static inline bool weir_wheel_idle(struct weir_wheel_shape shape,
				   const struct weir_wheel *w, u16 slot)
{
	return !weir_wheel_sum(shape, w) || (s16)(slot - w->at) >= shape.ring;
}

/**
 * weir_wheel_turn - let go of the slots that have left the window
 * @shape: shape of the wheel
 * @w: wheel
 * @slot: the current slot; an earlier one than the wheel's changes nothing
 */
static inline void weir_wheel_turn(struct weir_wheel_shape shape,
				   struct weir_wheel *w, u16 slot)
{
	s16 passed = slot - w->at;
	u64 sum;

	if (passed <= 0)
		return;
	if (w->has_refused && (s16)(slot - w->refused) > shape.ring)
		w->has_refused = 0;
	if ((s16)(slot - w->until) >= 0)
		w->until = slot;
	w->at = slot;

	sum = weir_wheel_sum(shape, w);
	if (!sum)
		return;
	if (passed >= shape.ring) {
		memset(w->count, 0, shape.width * (1u + shape.ring));
		return;
	}
	do {
		if (++w->head == shape.ring)
			w->head = 0;
		sum -= weir_wheel_load(shape, w, 1 + w->head);
		weir_wheel_store(shape, w, 1 + w->head, 0);
	} while (--passed);
	weir_wheel_store(shape, w, 0, sum);
}

/**
 * weir_wheel_room - what a turned wheel still admits
 * @shape: shape of the wheel
 * @w: wheel
 * @budget: of the limit
 */
static inline u64 weir_wheel_room(struct weir_wheel_shape shape,
				  const struct weir_wheel *w, u64 budget)
{
	u64 sum = weir_wheel_sum(shape, w);

	return sum < budget ? budget - sum : 0;
}

/**
 * weir_wheel_shut - is a cost refused whatever has left the window since?
 * @shape: shape of the wheel
 * @w: wheel, turned to an earlier slot perhaps
 * @slot: the current slot
 * @cost: what is asked for
 * @budget: of the limit
 *
 * True only if the cost has no room and no count leaves before @until. False
 * says nothing. Writes nothing.
 */
static inline bool weir_wheel_shut(struct weir_wheel_shape shape,
				   const struct weir_wheel *w, u16 slot,
				   u64 cost, u64 budget)
{
	return cost > weir_wheel_room(shape, w, budget) &&
	       (s16)(w->until - slot) > 0;
}

static __always_inline bool
weir_wheel_charge_counts(struct weir_wheel_shape shape, struct weir_wheel *w,
			 u64 cost, u64 budget)
{
	u64 sum = weir_wheel_sum(shape, w);
	unsigned int head = 1 + w->head;

	if (sum > budget || cost > budget - sum)
		return false;
	weir_wheel_store(shape, w, 0, sum + cost);
	weir_wheel_store(shape, w, head, weir_wheel_load(shape, w, head) + cost);
	return true;
}

/**
 * weir_wheel_charge - take room for a cost, whole or not at all
 * @shape: shape of the wheel
 * @w: wheel, turned to the current slot
 * @cost: what is asked for
 * @budget: of the limit, at most weir_wheel_max()
 *
 * Return: whether there was room; where there was none, nothing is counted.
 */
static __always_inline bool
weir_wheel_charge(struct weir_wheel_shape shape, struct weir_wheel *w,
		  u64 cost, u64 budget)
{
	/* Most often counts have two bytes. */
	if (shape.width == 2)
		return weir_wheel_charge_counts((struct weir_wheel_shape) {
							shape.ring, 2 },
						w, cost, budget);
	return weir_wheel_charge_counts(shape, w, cost, budget);
}

/**
 * weir_wheel_refuse - note a refusal
 * @shape: shape of the wheel
 * @w: wheel, turned to the current slot
 *
 * Finds the slot before which the sum cannot fall.
 *
 * Return: whether this is the first refusal for a window or more.
 */
static inline bool weir_wheel_refuse(struct weir_wheel_shape shape,
				     struct weir_wheel *w)
{
	bool first = !w->has_refused;
	unsigned int age;

	w->has_refused = 1;
	w->refused = w->at;
	if (w->until != w->at || !weir_wheel_sum(shape, w))
		return first;
	for (age = shape.ring - 1; age; age--)
		if (weir_wheel_slot(shape, w, age))
			break;
	w->until = w->at - age + shape.ring;
	return first;
}

/**
 * weir_wheel_add - count a cost that was admitted elsewhere
 * @shape: shape of the wheel
 * @w: wheel, turned to the current slot
 * @cost: what was admitted
 *
 * Beyond what the width holds, the oldest counts give way: every suffix sum
 * is then exact or the largest count, which no budget exceeds.
 */
static inline void weir_wheel_add(struct weir_wheel_shape shape,
				  struct weir_wheel *w, u64 cost)
{
	u64 max = weir_wheel_max(shape.width);
	u64 sum = weir_wheel_sum(shape, w);
	u64 head = weir_wheel_slot(shape, w, 0);
	u64 excess, count;
	unsigned int age, i;

	cost = min(cost, max - head);
	excess = cost > max - sum ? cost - (max - sum) : 0;
	weir_wheel_store(shape, w, 1 + w->head, head + cost);
	weir_wheel_store(shape, w, 0, sum + (cost - excess));
	for (age = shape.ring - 1; excess && age; age--) {
		i = weir_wheel_index(shape, w, age);
		count = weir_wheel_load(shape, w, i);
		weir_wheel_store(shape, w, i, count - min(count, excess));
		excess -= min(count, excess);
	}
}

/**
 * weir_wheel_uncharge - give back what was charged
 * @shape: shape of the wheel
 * @w: wheel, turned to the current slot
 * @slot: the slot of the charge, or an earlier one
 * @cost: what was charged
 *
 * Gives back no more than the slot holds. Taking from an earlier slot than
 * the charge's leaves every suffix sum at least what it should be, or, in a
 * wheel that weir_wheel_add() has cut, less by what was given back.
 */
static inline void weir_wheel_uncharge(struct weir_wheel_shape shape,
				       struct weir_wheel *w, u16 slot, u64 cost)
{
	s16 age = w->at - slot;
	unsigned int i;
	u64 count;

	age = max_t(s16, age, 0);
	if (age >= shape.ring)
		return;
	i = weir_wheel_index(shape, w, age);
	count = weir_wheel_load(shape, w, i);
	cost = min(cost, count);
	weir_wheel_store(shape, w, i, count - cost);
	weir_wheel_store(shape, w, 0, weir_wheel_sum(shape, w) - cost);
}

/**
 * weir_wheel_peek - when will a cost be admitted?
 * @shape: shape of the wheel
 * @w: wheel, turned to the current slot
 * @cost: what would be asked for, at most @budget
 * @budget: of the limit
 *
 * Return: slots from the wheel's slot on until the first one in which a
 * charge of @cost succeeds if nothing else is charged, 0..ring.
 */
static inline unsigned int weir_wheel_peek(struct weir_wheel_shape shape,
					   const struct weir_wheel *w,
					   u64 cost, u64 budget)
{
	u64 sum = weir_wheel_sum(shape, w);
	unsigned int wait;

	for (wait = 0; wait < shape.ring; wait++) {
		if (sum <= budget && cost <= budget - sum)
			break;
		sum -= weir_wheel_slot(shape, w, shape.ring - 1 - wait);
	}
	return wait;
}

#endif /* WEIR_WHEEL_H */
