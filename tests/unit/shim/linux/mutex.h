/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_MUTEX_H
#define SHIM_MUTEX_H

#include <assert.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct mutex {
	bool held;
};

#define mutex_init(m)		((m)->held = false)
#define mutex_lock(m)		do { assert(!(m)->held); (m)->held = true; } while (0)
#define mutex_trylock(m)	(!(m)->held && ((m)->held = true))
#define mutex_unlock(m)		do { assert((m)->held); (m)->held = false; } while (0)
#define lockdep_is_held(m)	((m)->held)

static inline void mutex_assert_held(const struct mutex *m)
{
	assert(m->held);
}

#define lockdep_assert_held(l)						\
	_Generic((l), struct mutex *: mutex_assert_held,		\
		 raw_spinlock_t *: (lockdep_assert_held))(l)

#endif
