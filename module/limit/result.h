/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a limit says of a packet, or of a request.
 */
#ifndef WEIR_RESULT_H
#define WEIR_RESULT_H

#include "table/table.h"

enum weir_verdict {
	WEIR_UNSURE,		/* only a charge can tell; nothing is charged */
	WEIR_ADMIT,		/* charged */
	WEIR_REFUSE,		/* not charged; a limit that observes drops nothing all the same */
	WEIR_RESTART,		/* not charged: begin again with the present configuration */
};

/*
 * Why it was refused. From WEIR_REASON_FLOOR on a counter of the limit counts it, no entry; the
 * same holds of a blocked prefix.
 */
enum weir_reason {
	WEIR_REASON_BUDGET,	/* the source has used its budget up */
	WEIR_REASON_BLOCK,	/* the source is blocked, or its prefix */
	WEIR_REASON_FLOOR,	/* the source has no entry, and the floor leaves no room */
	WEIR_REASON_SIZE,	/* the packet exceeds the whole budget */
	WEIR_REASON_NEWCOMERS,	/* the newcomers' budget is used up */
};

/* Beside the flags of the table: dropped before the stack. */
#define WEIR_EARLY	BIT(11)

/* Of a blocked prefix, which has no budget. */
#define WEIR_PREFIX_REFUSED	(WEIR_REFUSED | WEIR_BLOCKED | WEIR_UNCHARGED)

struct weir_result {
	u16 flags;		/* of the table, WEIR_*, as it returns them */
};

static inline enum weir_verdict weir_result_verdict(struct weir_result result)
{
	return result.flags & WEIR_REFUSED ? WEIR_REFUSE :
	       result.flags & WEIR_CHARGED ? WEIR_ADMIT :
	       result.flags & WEIR_AGAIN ? WEIR_RESTART : WEIR_UNSURE;
}

static inline bool weir_result_refuses(struct weir_result result)
{
	return result.flags & WEIR_REFUSED;
}

/* Of a refusal. */
static inline enum weir_reason weir_result_reason(struct weir_result result)
{
	return result.flags & WEIR_FLOORED ? WEIR_REASON_FLOOR :
	       result.flags & WEIR_NEWCOMER ? WEIR_REASON_NEWCOMERS :
	       result.flags & WEIR_TOO_LARGE ? WEIR_REASON_SIZE :
	       result.flags & WEIR_BLOCKED ? WEIR_REASON_BLOCK : WEIR_REASON_BUDGET;
}

/* The index of the budget that refused. */
static inline unsigned int weir_result_budget(struct weir_result result)
{
	return result.flags >> WEIR_BUDGET_SHIFT;
}

/* Has a refused source an entry, which counts the refusal? */
static inline bool weir_result_has_entry(struct weir_result result)
{
	return !(result.flags & WEIR_NO_ENTRY);
}

#endif /* WEIR_RESULT_H */
