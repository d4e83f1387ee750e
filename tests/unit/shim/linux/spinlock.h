/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Spinlocks that do what lockdep would: a lock taken twice, in the wrong
 * context, beside another of its class without nesting, or in another order
 * than anybody ever did, ends the program.
 */
#ifndef SHIM_SPINLOCK_H
#define SHIM_SPINLOCK_H

#include <linux/types.h>

#define SINGLE_DEPTH_NESTING 1

typedef struct {
	u16 owner;	/* atomic, the thread's number or 0 */
	u8 class;
} __attribute__((aligned(4))) raw_spinlock_t;

typedef raw_spinlock_t spinlock_t;

/* A class is where a lock is initialised. */
#define raw_spin_lock_init(lock) do {	\
	static u8 class_;		\
					\
	shim_lock_init(lock, &class_);	\
} while (0)

void shim_lock_init(raw_spinlock_t *lock, u8 *class);
void raw_spin_lock_nested(raw_spinlock_t *lock, unsigned int subclass);
void raw_spin_unlock(raw_spinlock_t *lock);
/* What another CPU does before this one has its first lock, or goes on. */
extern void (*shim_locking)(void);
extern void (*shim_unlocked)(void);
/* Locks that a thread took, and versions that it moved. */
extern _Thread_local unsigned long shim_locks, shim_versions;
void lockdep_assert_held(const raw_spinlock_t *lock);

unsigned int softirq_count(void);
void local_bh_disable(void);
void local_bh_enable(void);

static inline void raw_spin_lock(raw_spinlock_t *lock)
{
	raw_spin_lock_nested(lock, 0);
}

#define spin_lock_init(lock)	raw_spin_lock_init(lock)

/* Of process context, which lockdep would tell apart. */
static inline void spin_lock(spinlock_t *lock)
{
	local_bh_disable();
	raw_spin_lock(lock);
}

static inline void spin_unlock(spinlock_t *lock)
{
	raw_spin_unlock(lock);
	local_bh_enable();
}

#endif
