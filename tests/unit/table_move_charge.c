// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packets while a table moves: foretold by the twin where all sources find
 * ways, and none above its budget in any window.
 */
#include "table_move.h"

static struct weir_cost random_cost(void)
{
	u64 most = moved.table->spec.bytes ? moved.budget / 16 : moved.budget;
	u32 packets = 1 + chance_below(&moved.chance, most / 3 + 1);

	return (struct weir_cost) {
		.packets = packets,
		.bytes = 16 * packets,
	};
}

static void note_admitted(struct moved_source *s, u64 tick, u64 cost)
{
	bool lenient = moved.table->spec.lenient;
	u64 most;

	moved.admitted++;
	twin_note(&s->history, tick, cost);
	twin_note(&s->since, tick, cost);
	most = twin_most_since(&s->since, window_of(moved.table), tick);
	check(most <= moved.budget * (lenient ? 2 : 1),
	      "run %llu: %llu of %llu since a change", moved.run, most,
	      moved.budget);
	most = twin_most_since(&s->history, moved.window_least, tick);
	/* A lenient wheel forgets at the slots' ends, and slots have changed. */
	check(!moved.same_unit ||
	      most <= moved.budget_most * (lenient ? 2 + moved.reslotted : 1),
	      "run %llu: %llu of %llu", moved.run, most, moved.budget_most);
}

static void give_back(struct moved_source *s, u64 tick, struct weir_cost cost)
{
	weir_table_uncharge(moved.table, &s->source, s->hash, tick, cost);
	twin_take_back(&s->history, tick, weir_table_cost(moved.table, cost));
	twin_take_back(&s->since, tick, weir_table_cost(moved.table, cost));
	twin_uncharge(&s->wheel, moved.table->shape.ring,
		      weir_table_slot(moved.table, tick),
		      weir_table_cost(moved.table, cost));
	if (is_copied(s))
		twin_uncharge(&s->next_wheel, moved.next->shape.ring,
			      weir_table_slot(moved.next, tick),
			      weir_table_cost(moved.next, cost));
}

static void foretell(struct moved_source *s, u64 tick, struct weir_cost cost,
		     unsigned int result)
{
	u64 slot = weir_table_slot(moved.table, tick);
	u64 of = weir_table_cost(moved.table, cost);

	check(!(result & (WEIR_EVICTED | WEIR_FLOORED)), "run %llu", moved.run);
	twin_turn(&s->wheel, moved.table->shape.ring, slot);
	check((twin_sum(&s->wheel) + of > moved.budget) == !!result,
	      "run %llu: %u at %llu + %llu of %llu", moved.run, result,
	      twin_sum(&s->wheel), of, moved.budget);
	if (result)
		return;
	s->wheel.count[0] += of;
	if (!is_copied(s))
		return;
	/* Other old buckets may have brought it further. */
	twin_turn(&s->next_wheel, moved.next->shape.ring,
		  weir_bucket(moved.next, s->hash & moved.next->mask)->slot);
	s->next_wheel.count[0] += weir_table_cost(moved.next, cost);
	twin_cut(&s->next_wheel, moved.next);
}

static void charge(struct moved_source *s)
{
	struct weir_cost cost = random_cost();
	struct weir_visit visit = { };
	u64 tick = moved.tick;
	unsigned int result, early;

	if (chance_one_in(&moved.chance, 8))
		tick -= min(tick, chance_below(&moved.chance, WINDOW / 2));
	twin_wander(&moved.chance);
	local_bh_disable();
	rcu_read_lock();
	early = twin_recall(moved.table, &s->source, moved.tick, cost,
			    moved.budget, &visit) ?:
		twin_refuse(moved.table, &s->source, s->hash, moved.tick, cost,
			    moved.budget, &visit);
	result = twin_charge(moved.table, &s->source, s->hash,
			     early ? &moved.tick : &tick, cost, moved.budget,
			     &visit);
	tick = early ? moved.tick : tick;
	check(!early || result & WEIR_REFUSED, "run %llu: %u then %u", moved.run,
	      early, result);
	check(!(result & WEIR_AGAIN), "run %llu: nothing is live", moved.run);
	if (moved.exact)
		foretell(s, tick, cost, result & ~WEIR_FIRST);
	moved.pressed += !!(result & (WEIR_EVICTED | WEIR_FLOORED));
	s->dropped += (!!early + !!(result & WEIR_REFUSED)) * twin_packets(cost);
	if (result & WEIR_REFUSED) {
		moved.refused++;
	} else {
		note_admitted(s, tick, weir_table_cost(moved.table, cost));
		if (moved.gives_back && chance_one_in(&moved.chance, 8))
			give_back(s, tick, cost);
	}
	rcu_read_unlock();
	local_bh_enable();
}

void moved_traffic(unsigned int packets)
{
	u64 often = moved.sources / 4 + 1;

	while (packets--) {
		if (chance_one_in(&moved.chance, 3))
			moved.tick += chance_below(&moved.chance, 3);
		if (chance_one_in(&moved.chance, 400))
			moved.tick += chance_below(&moved.chance, 2 * WINDOW);
		charge(&moved.source[chance_below(&moved.chance,
				chance_one_in(&moved.chance, 2) ? often :
				moved.sources)]);
	}
}
