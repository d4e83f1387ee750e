/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_RCUPDATE_H
#define SHIM_RCUPDATE_H

#include <linux/spinlock.h>
#include <linux/types.h>

#define rcu_dereference(p)	 __atomic_load_n(&(p), __ATOMIC_ACQUIRE)
#define rcu_assign_pointer(p, v) \
	shim_rcu_replace(__atomic_exchange_n(&(p), v, __ATOMIC_ACQ_REL))
#define RCU_INIT_POINTER(p, v)	 __atomic_store_n(&(p), v, __ATOMIC_RELAXED)

#define rcu_dereference_protected(p, c)	({ assert(c); rcu_dereference(p); })
#define rcu_dereference_check(p, c)	((void)(c), rcu_dereference(p))

struct rcu_head {
	void *unused;
};

#define preempt_disable()	do { } while (0)
#define preempt_enable()	do { } while (0)

/* It is not freed before a grace period has passed. */
void shim_rcu_replace(const void *old);
void rcu_read_lock(void);
void rcu_read_unlock(void);
void synchronize_rcu(void);

#define synchronize_rcu_expedited()	synchronize_rcu()

#endif
