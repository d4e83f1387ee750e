/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Spinlocks that do what lockdep would: a lock taken twice, in the wrong
 * context or beside another of its class without nesting ends the program.
 */
#ifndef SHIM_SPINLOCK_H
#define SHIM_SPINLOCK_H

#include <linux/types.h>

#define SINGLE_DEPTH_NESTING 1

typedef struct {
	u32 owner;	/* atomic, the thread's number or 0 */
} spinlock_t;

void spin_lock_init(spinlock_t *lock);
void spin_lock_nested(spinlock_t *lock, unsigned int subclass);
void spin_unlock(spinlock_t *lock);
/* What another CPU does before this one goes on. */
extern void (*shim_unlocked)(void);
void lockdep_assert_held(const spinlock_t *lock);
#define lockdep_assert(condition)	assert(condition)

unsigned int softirq_count(void);
void local_bh_disable(void);
void local_bh_enable(void);

static inline void spin_lock(spinlock_t *lock)
{
	spin_lock_nested(lock, 0);
}

static inline void spin_lock_bh(spinlock_t *lock)
{
	local_bh_disable();
	spin_lock(lock);
}

static inline void spin_unlock_bh(spinlock_t *lock)
{
	spin_unlock(lock);
	local_bh_enable();
}

#endif
