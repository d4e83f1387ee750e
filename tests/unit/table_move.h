/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table that moves to its successor, and what its sources were admitted. */
#ifndef TABLE_MOVE_H
#define TABLE_MOVE_H

#include "table_twin.h"

#define SOURCES_MAX 96
#define WINDOW 24

struct moved_source {
	struct weir_source source;
	u32 hash;
	struct twin_wheel wheel, next_wheel;
	struct twin_history history;	/* in the table's unit */
	struct twin_history since;	/* the last change */
	u64 dropped;
	bool was_idle;			/* ... when copied: it may lose them */
};

struct moved {
	struct chance chance;
	struct weir_table *table, *next;
	u64 budget, next_budget;
	u64 budget_most, window_least;
	u64 tick;
	bool exact, same_unit, gives_back, no_sweep;
	unsigned int sources, done, reslotted;
	struct moved_source source[SOURCES_MAX];
	u64 run, admitted, refused, pressed, moves;
};

extern struct moved moved;

static inline u64 window_of(const struct weir_table *table)
{
	return (u64)table->spec.slots * table->spec.slot_ticks;
}

/* It is in the next table, too. */
static inline bool is_copied(const struct moved_source *s)
{
	return moved.next && (s->hash & moved.table->mask) < moved.done;
}

/* Suffix sums beyond what the width holds are cut. */
static inline void twin_cut(struct twin_wheel *w, const struct weir_table *table)
{
	u64 room = table->budget_max;
	unsigned int age;

	for (age = 0; age <= WEIR_SLOTS_MAX; age++) {
		w->count[age] = min(w->count[age], room);
		room -= w->count[age];
	}
}

/* Packets of any source, a quarter of them often; time passes. */
void moved_traffic(unsigned int packets);

#endif
