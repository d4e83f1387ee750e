/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A limit as lists: what each of its sources was admitted, from which loops tell whether the next
 * packet must be refused, must be admitted, or may be either.
 *
 * There are two lists for each source and budget. One has what the limit is bound to count: it is
 * never more than the truth, so that what does not fit on top of it must be refused. The other has
 * what the limit may count at most: a change of the window may count all that was held as if it
 * were sent at the change. What fits on top of it must be admitted.
 */
#ifndef WALK_MODEL_H
#define WALK_MODEL_H

#include "limit/limit.h"
#include "unit.h"

#define WALK_SOURCES 160

struct walk_event {
	u64 tick;	/* of the packet, of the change, or when what is reserved is due */
	u64 amount;	/* in the unit of the budget */
	u64 ends;	/* tick: it is surely held until then, or of others until then; or U64_MAX */
	bool stays;	/* ... or others may hold it for longer, too */
};

struct walk_list {
	struct walk_event *event;	/* by time */
	unsigned int len, room;
};

/* As "limit show" tells it. */
struct walk_budget {
	u32 mode, window_ms;
	bool bytes;
	u64 amount, room;	/* of a bucket, the room is the burst */
	u64 window;		/* in ticks, rounded up; 0: a total */
	u64 slots, slot_ticks;
	u64 holds;		/* the largest count that is told apart */
	time64_t end;		/* of a calendar's period, by the wall clock; */
	time64_t crossed;	/* no end up to then is to come */
};

struct walk_source {
	struct weir_source key;		/* masked */
	u64 own;			/* its first budget, or 0: the limit's */
	struct walk_list bound[WEIR_BUDGETS_MAX], most[WEIR_BUDGETS_MAX];
	bool placed;			/* it may have an entry */
	u64 blocked;			/* until this tick it must be refused, */
	u64 free;			/* and from this one on by no block */
	u64 ends;			/* the block that it was seen to have last, tick */
	u64 due;			/* what is reserved, tick */
	bool inherits;			/* its entry may have started from what others sent */
	bool stays;			/* it has an entry that is never evicted */
	bool known;			/* it surely is no newcomer, */
	bool may_be_known;		/* or it may be none */
	u64 first, settled;		/* since when it has its entry, at the earliest and the latest */
	u64 unpunished;			/* until this tick a refusal may be cached that did not block */
};

struct walk_limit {
	struct weir_limit_config asked;	/* the configuration, as the last change asked for it */
	struct walk_budget budget[WEIR_BUDGETS_MAX];
	unsigned int budgets;
	const struct weir_member *member;	/* that have budgets of sources, */
	unsigned int members;		/* so many */
	unsigned int entries;		/* of a set */
	bool crowded;			/* sources may have been evicted */
	bool mixed;			/* they were, so what left an exact window may come back in a longer one */
	bool shared[2];			/* IPv4 and IPv6 are one source each */
	u64 batch;			/* the most that CPUs may have taken in advance, */
	u64 batches;			/* and how often that may have been left to count */
	u64 ended;			/* tick at which a calendar's period ended last */
	struct walk_budget newcomers;	/* without an amount: not distinguished */
	u64 learns, known_ticks;	/* until this tick nobody is refused as a newcomer */
	struct walk_list fresh, others;	/* packets of sources that surely are, that are not surely known */
	u64 fresh_most;			/* the largest of the newcomers' budgets */
	u64 lost;			/* as @batches, for them */
	struct walk_source source[WALK_SOURCES];
	unsigned int sources;
};

enum walk_verdict { WALK_EITHER, WALK_REFUSE, WALK_ADMIT };

/* A new limit, and a change of one. @now is a tick, @wall the time of the wall clock. */
void walk_limit_make(struct walk_limit *l, const struct weir_limit *real, u64 now, time64_t wall);
void walk_limit_set(struct walk_limit *l, const struct weir_limit *real, bool kept, u64 now,
		    time64_t wall);
void walk_limit_free(struct walk_limit *l);

/* Budgets of sources, which are the caller's. */
void walk_members(struct walk_limit *l, const struct weir_member *member, unsigned int members);
/* The room of a source. */
u64 walk_room(const struct walk_limit *l, const struct walk_source *s, unsigned int i);

struct walk_source *walk_source(struct walk_limit *l, struct weir_source whole);

/* A packet that costs so many packets and bytes; @clock is that of its CPU. */
enum walk_verdict walk_says(const struct walk_limit *l, const struct walk_source *s,
			    const u64 cost[2], u64 clock, u64 now);
void walk_admitted(struct walk_limit *l, struct walk_source *s, const u64 cost[2], u64 clock,
		   u64 now);
/* Does the newcomers' budget surely have room for the hook's packet, if it needs it? */
bool walk_welcomes(struct walk_limit *l, const struct walk_source *s, u64 packets, u64 clock,
		   u64 now);
/* It was charged there, too, if its source is a newcomer. Returns whether it may have been. */
bool walk_entered(struct walk_limit *l, struct walk_source *s, u64 packets, u64 clock, u64 now,
		  bool admitted);
/* Another limit refused it, and so the charge, if there was one, was given back. */
void walk_given_back(struct walk_limit *l, struct walk_source *s, u64 now);
/* A source may have got an entry, by a charge or a block. */
void walk_placed(struct walk_limit *l, u64 now);
/* So much was reserved in the first budget, due at a tick. */
void walk_reserved(struct walk_limit *l, struct walk_source *s, u64 amount, u64 due);
/* What a budget is bound to count of a source, and what it may count. */
u64 walk_bound(const struct walk_limit *l, const struct walk_source *s, unsigned int i, u64 now);
u64 walk_most(const struct walk_limit *l, const struct walk_source *s, unsigned int i, u64 now);
/* What it may be told to count: the budget, where the table has no entry for it. */
u64 walk_told(const struct walk_limit *l, const struct walk_source *s, unsigned int i, u64 now);
/*
 * It is blocked until @end, or is not if that is 0. @refused: its packet of tick @clock just was,
 * in a way that a penalty of so many ticks may punish, 0: not at all.
 */
bool walk_blocked(struct walk_limit *l, struct walk_source *s, u64 end, u64 now);
void walk_punished(struct walk_source *s, u64 penalty, u64 clock);
/* The tick from which no block until @end refuses any more. */
u64 walk_block_ends(u64 end);
/* Surely a penalty blocks a source that has an entry. */
bool walk_punishes(const struct walk_limit *l, const struct walk_source *s, u64 now);

/* The wall clock shows this time: periods of calendars end. */
void walk_wall(struct walk_limit *l, u64 now, time64_t wall);
/* The worker ran. */
void walk_aged(struct walk_limit *l);
/* All newcomers are welcome for a while. */
void walk_learns(struct walk_limit *l, u64 now);
/* Forget a source, or with NULL all. */
void walk_forget(struct walk_limit *l, struct walk_source *s);

#endif /* WALK_MODEL_H */
