// SPDX-License-Identifier: GPL-2.0-or-later
#include "table_twin.h"

const hsiphash_key_t twin_key = { { 0x0706050403020100, 0x0f0e0d0c0b0a0908 } };

void twin_turn(struct twin_count *w, unsigned int reach, u64 slot)
{
	unsigned int age;

	if (slot <= w->at)
		return;
	for (age = reach + 1; age--;)
		w->count[age] = age >= slot - w->at ? w->count[age - (slot - w->at)] : 0;
	w->at = slot;
}

u64 twin_sum(const struct twin_count *w, unsigned int reach, u64 slot)
{
	unsigned int age;
	u64 sum = 0;

	for (age = 0; age <= reach; age++)
		if (slot <= w->at || slot - w->at + age <= reach)
			sum += w->count[age];
	return sum;
}

void twin_join(struct twin_count *w, const struct twin_count *v, unsigned int reach)
{
	u64 of_w = 0, of_v = 0, last = 0, most;
	unsigned int age;

	for (age = 0; age <= reach; age++) {
		of_w += w->count[age];
		of_v += v->count[age];
		most = of_w > of_v ? of_w : of_v;
		w->count[age] = most - last;
		last = most;
	}
}

bool twin_uncharge(struct twin_count *w, unsigned int reach, u64 slot, u64 cost)
{
	if (slot > w->at || w->at - slot > reach || w->count[w->at - slot] < cost)
		return false;
	w->count[w->at - slot] -= cost;
	return true;
}

void twin_admit(struct twin_history *h, u64 tick, u64 cost)
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

void twin_forget(struct twin_history *h)
{
	free(h->event);
	*h = (struct twin_history) { };
}

u64 twin_most(const struct twin_history *h, u64 ticks, u64 tick)
{
	unsigned int first, last = h->len;
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

struct weir_source twin_source(unsigned int i, struct weir_prefix prefix)
{
	struct weir_source source = { };

	if (!prefix.len4 || i % 4) {
		unsigned int word = prefix.len6 > 64 ? 3 : 1;

		source.word[0] = htonl(0x20010db8);
		source.word[word] = htonl(i);
		source.scope = WEIR_SCOPE_IPV6;
		/* The same link-local address on many devices */
		if (i % 8 == 7) {
			source.word[word] = htonl(7);
			source.scope |= WEIR_SCOPE_LINKLOCAL | i << WEIR_SCOPE_DEV_SHIFT;
		}
	} else {
		source.word[0] = htonl(i << (32 - prefix.len4));
	}
	return source;
}

struct weir_source twin_source_in(const struct weir_table *table, unsigned int i, u32 *hash)
{
	struct weir_source source = twin_source(i, table->spec.prefix);

	*hash = weir_source_hash(&source, table->spec.prefix, &twin_key);
	return source;
}

void twin_forget_in(struct weir_table *table, unsigned int i)
{
	u32 hash;
	struct weir_source source = twin_source_in(table, i, &hash);

	rcu_read_lock();
	weir_table_forget(table, &source, hash, 0);
	rcu_read_unlock();
}

void twin_shrink(struct weir_table *table, unsigned int sets, unsigned int entries)
{
	assert_true(sets <= table->mask + 1 && entries <= table->entries);
	assert_true(!(entries % 2) && !(sets & (sets - 1)));
	table->mask = sets - 1;
	table->chunk_mask &= table->mask;
	table->entries = entries;
	table->quota = entries / 2;
}

u64 twin_charged_at(const struct weir_table *table, const struct weir_lookup *lookup,
		    unsigned int i, u64 now)
{
	const struct weir_meter *meter = &table->meter[i];
	u64 slot = weir_meter_slot(meter, lookup->tick);
	u16 late = lookup->receipt.at[i] - slot;

	if (!late)
		return lookup->tick;
	slot += late;
	return max(weir_meter_begins(meter, slot), min(now, weir_meter_begins(meter, slot + 1) - 1));
}

u8 twin_packet(struct weir_table *table, struct weir_lookup *lookup)
{
	u8 result = weir_table_refuse(table, lookup);

	if (!result)
		result = weir_table_charge(table, lookup);
	if ((result & (WEIR_REFUSED | WEIR_FLOORED)) == WEIR_REFUSED)
		weir_entry_dropped(lookup->entry, 1, false);
	return result;
}
