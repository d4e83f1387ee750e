// SPDX-License-Identifier: GPL-2.0-or-later
#include "table_twin.h"

const hsiphash_key_t twin_key = { { 0x0706050403020100, 0x0f0e0d0c0b0a0908 } };

void twin_turn(struct twin_wheel *w, unsigned int ring, u64 slot)
{
	u64 old[WEIR_SLOTS_MAX + 1];
	unsigned int age;

	if (slot <= w->at)
		return;
	memcpy(old, w->count, sizeof(old));
	for (age = 0; age < ring; age++)
		w->count[age] = age >= slot - w->at ? old[age - (slot - w->at)] : 0;
	w->at = slot;
}

u64 twin_sum(const struct twin_wheel *w)
{
	unsigned int age;
	u64 sum = 0;

	for (age = 0; age <= WEIR_SLOTS_MAX; age++)
		sum += w->count[age];
	return sum;
}

void twin_join(struct twin_wheel *w, const struct twin_wheel *v,
	       unsigned int ring)
{
	u64 of_w = 0, of_v = 0, last = 0, most;
	unsigned int age;

	for (age = 0; age < ring; age++) {
		of_w += w->count[age];
		of_v += v->count[age];
		most = of_w > of_v ? of_w : of_v;
		w->count[age] = most - last;
		last = most;
	}
}

void twin_uncharge(struct twin_wheel *w, unsigned int ring, u64 slot, u64 cost)
{
	u64 age = slot < w->at ? w->at - slot : 0;

	if (age < ring)
		w->count[age] -= min(cost, w->count[age]);
}

void twin_note(struct twin_history *h, u64 tick, u64 cost)
{
	unsigned int i;

	if (h->len == h->room) {
		h->room = h->room ? 2 * h->room : 16;
		h->event = realloc(h->event, h->room * sizeof(*h->event));
		assert_non_null(h->event);
	}
	for (i = h->len++; i && h->event[i - 1].tick > tick; i--)
		h->event[i] = h->event[i - 1];
	h->event[i] = (struct twin_event) { tick, cost };
}

void twin_take_back(struct twin_history *h, u64 tick, u64 cost)
{
	unsigned int i;

	for (i = h->len; i--;)
		if (h->event[i].tick == tick && h->event[i].cost == cost)
			break;
	assert_true(i < h->len);
	memmove(h->event + i, h->event + i + 1,
		(--h->len - i) * sizeof(*h->event));
}

void twin_forget(struct twin_history *h)
{
	free(h->event);
	*h = (struct twin_history) { };
}

u64 twin_most_since(const struct twin_history *h, u64 ticks, u64 tick)
{
	unsigned int first = h->len, last = h->len;
	u64 sum = 0, most = 0;

	while (last && h->event[last - 1].tick >= tick)
		last--;
	for (first = last; first && h->event[first - 1].tick + ticks >= tick;)
		sum += h->event[--first].cost;
	for (; last < h->len; last++) {
		sum += h->event[last].cost;
		while (h->event[first].tick + ticks < h->event[last].tick)
			sum -= h->event[first++].cost;
		most = max(most, sum);
	}
	return most;
}

u64 twin_most(const struct twin_history *h, u64 ticks)
{
	return twin_most_since(h, ticks, 0);
}

int twin_differs(const struct weir_table *table, const struct weir_wheel *wheel,
		 struct twin_wheel twin, u64 slot)
{
	union weir_wheel_copy copy = { };
	unsigned int age;

	memcpy(&copy, wheel, weir_wheel_size(table->shape));
	weir_wheel_turn(table->shape, &copy.wheel, slot);
	twin_turn(&twin, table->shape.ring, slot);
	for (age = 0; age < table->shape.ring; age++)
		if (weir_wheel_slot(table->shape, &copy.wheel, age) !=
		    twin.count[age])
			return age;
	if (weir_wheel_sum(table->shape, &copy.wheel) != twin_sum(&twin))
		return table->shape.ring;
	return -1;
}

struct weir_source twin_source(unsigned int i, struct weir_prefix prefix)
{
	struct weir_source source = { };

	if (!prefix.len4 || i % 4) {
		unsigned int word = prefix.len6 > 64 ? 3 : 1;

		source.word[0] = htonl(0x20010db8);
		source.word[word] = htonl(i);
		source.zone = WEIR_ZONE_IPV6;
		/* The same link-local address on many devices */
		if (i % 8 == 7) {
			source.word[word] = htonl(7);
			source.zone |= WEIR_ZONE_LINKLOCAL |
				       i << WEIR_ZONE_DEV_SHIFT;
		}
	} else {
		source.word[0] = htonl(i << (32 - prefix.len4));
	}
	return source;
}

void twin_shrink(struct weir_table *table, unsigned int buckets,
		 unsigned int ways)
{
	assert_true(buckets <= table->mask + 1 && ways <= table->ways);
	table->mask = buckets - 1;
	table->ways = ways;
	while (buckets--)
		weir_bucket_wipe(table, weir_bucket(table, buckets));
}
