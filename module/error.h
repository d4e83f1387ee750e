/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEIR_ERROR_H
#define WEIR_ERROR_H

#include <linux/types.h>

struct weir_member;

/* Why a change was refused, or a warning if it was carried out. */
struct weir_error {
	const char *msg; /* constant, below 80 bytes: what is wrong, what would be right */
	__u16 attr;	 /* WEIR_A_LIMIT_*, _EXEMPT_* or _BUDGET_* at fault, or 0 */
	__u8 budget;	 /* number, from 1, of the budget that it is of, or 0 */
	__u32 exempt;	 /* index of the exemption that is given twice among those added */
	const struct weir_member *member; /* at fault, of a list that the edit holds, or NULL */
	__u64 value;	 /* a number that @msg mentions, or 0 */
	__u32 place;	 /* of a whole configuration: of the limit that is warned of, from 1, */
	__u32 more;	 /* and how many others have the same warning; @value is their sum */
};

static inline int weir_refuse(struct weir_error *error, int err, __u16 attr, const char *msg)
{
	error->msg = msg;
	error->attr = attr;
	return err;
}

#endif /* WEIR_ERROR_H */
