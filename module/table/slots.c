// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where slots begin. A clock that began elsewhere would move them: what was counted in a slot
 * would belong to two here, and would have to go to the later one. Who waits would then wait for up
 * to a slot longer than before.
 */
#include "table/resize.h"
#include "table/slots.h"

static bool same_length(const struct weir_count *a, const struct weir_count *b)
{
	return a->slot_inverse && b->slot_inverse && a->slot_ticks == b->slot_ticks;
}

void weir_slots_follow(struct weir_table_spec *spec, const struct weir_table *old)
{
	const struct weir_count *was;
	struct weir_table layout;
	unsigned int i;

	weir_table_plan(&layout, spec);
	for (i = 0; i <= layout.more; i++) {
		was = &old->count[weir_count_before(&layout.count[i], old)];
		if (same_length(&layout.count[i], was))
			spec->count[i].base = was->base;
	}
}

/* Once there are counts, slots stay where they are, and those of the saved table follow them. */
void weir_slots_align(struct weir_table *next, struct weir_table *saved, bool fresh, u64 tick)
{
	struct weir_count *count, *was;

	fresh &= !next->merged;
	for (count = next->count; count <= &next->count[next->more]; count++) {
		was = &saved->count[weir_count_before(count, saved)];
		if (!same_length(count, was))
			continue;
		if (fresh)
			count->base = was->base;
		else
			was->base = count->base;
	}
	if (fresh)
		weir_table_init(next, tick);
	next->merged = true;
}
