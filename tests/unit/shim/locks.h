/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Locks, sequence counts and RCU in user space, see kernel.h. */
#ifndef SHIM_LOCKS_H
#define SHIM_LOCKS_H

#include "kernel.h"

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;

#define atomic_read(v)		__atomic_load_n(&(v)->counter, __ATOMIC_RELAXED)
#define atomic_set(v, i)	__atomic_store_n(&(v)->counter, i, __ATOMIC_RELAXED)
#define atomic_add(i, v)	((void)__atomic_fetch_add(&(v)->counter, i, __ATOMIC_RELAXED))
#define atomic_inc(v)		atomic_add(1, v)
#define atomic_dec(v)		atomic_add(-1, v)
#define atomic_try_cmpxchg_relaxed(v, old, new)				\
	__atomic_compare_exchange_n(&(v)->counter, old, (int)(new), false,	\
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED)
#define atomic64_read(v)	atomic_read(v)
#define atomic64_add(n, v)	((void)__atomic_fetch_add(&(v)->counter, n, __ATOMIC_RELAXED))
#define atomic64_sub(n, v)	((void)__atomic_fetch_sub(&(v)->counter, n, __ATOMIC_RELAXED))
#define atomic64_inc(v)		atomic64_add(1, v)

static inline s64 atomic64_cmpxchg_relaxed(atomic64_t *v, s64 old, s64 new)
{
	__atomic_compare_exchange_n(&v->counter, &old, new, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
	return old;
}

typedef struct {
	u32 refs;	/* atomic */
} refcount_t;

#define refcount_set(r, n)	__atomic_store_n(&(r)->refs, n, __ATOMIC_RELAXED)

static inline void refcount_inc(refcount_t *r)
{
	u32 refs = __atomic_fetch_add(&r->refs, 1, __ATOMIC_RELAXED);

	assert(refs);
}

static inline bool refcount_dec_and_test(refcount_t *r)
{
	u32 refs = __atomic_fetch_sub(&r->refs, 1, __ATOMIC_ACQ_REL);

	assert(refs);
	return refs == 1;
}

/*
 * Spinlocks with lockdep's checks: taking a lock twice, in the wrong context, while holding another
 * of its class without nesting, or in an order inverse to an earlier one, aborts the program.
 */

#define SINGLE_DEPTH_NESTING 1

typedef struct {
	u16 owner;	/* atomic, the thread's number or 0 */
	u8 class;
} __attribute__((aligned(4))) raw_spinlock_t;

typedef raw_spinlock_t spinlock_t;

/* Each place that initialises locks is a class. */
#define raw_spin_lock_init(lock) do {	\
	static u8 class_;		\
					\
	shim_lock_init(lock, &class_);	\
} while (0)

void shim_lock_init(raw_spinlock_t *lock, u8 *class);
void raw_spin_lock_nested(raw_spinlock_t *lock, unsigned int subclass);
void raw_spin_unlock(raw_spinlock_t *lock);
/* Set by a test: runs before this CPU takes its first lock, or after an unlock. */
extern void (*shim_locking)(void);
extern void (*shim_unlocked)(void);
/* Locks that a thread took, and sequence counts that it changed. */
extern _Thread_local unsigned long shim_locks, shim_versions;
void lockdep_assert_held(const raw_spinlock_t *lock);

unsigned int softirq_count(void);
void local_bh_disable(void);
void local_bh_enable(void);

#define raw_spin_lock(lock)	raw_spin_lock_nested(lock, 0)
#define spin_lock_init(lock)	raw_spin_lock_init(lock)
/* For locks of process context; lockdep would distinguish these. */
#define spin_lock(lock)		do { local_bh_disable(); raw_spin_lock(lock); } while (0)
#define spin_unlock(lock)	do { raw_spin_unlock(lock); local_bh_enable(); } while (0)

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

typedef struct {
	u32 sequence;	/* atomic */
} seqcount_t;

/* Set by a test: runs before the sequence count is read, and right after. */
extern void (*shim_reading)(bool began);

static inline void kcsan_atomic_next(int n) { (void)n; }

/* Reads in between may race; the count tells if they did. */
unsigned int raw_read_seqcount(const seqcount_t *seq);
bool read_seqcount_retry(const seqcount_t *seq, unsigned int start);

void seqcount_init(seqcount_t *seq);
void write_seqcount_begin(seqcount_t *seq);
void write_seqcount_end(seqcount_t *seq);

#define SHIM_CPUS 4

extern _Thread_local unsigned int shim_cpu;

/* Reads in between may race with writes. */
void shim_race_begin(void);
void shim_race_end(void);

/* Set by a test: runs before such a read. */
extern void (*shim_racing)(void);

/* This CPU's copy of @p, allocated or in the static per-CPU section. */
void *shim_this_cpu(const void *p, size_t size);

#define data_race(x) \
	({ if (shim_racing) shim_racing();				\
	   shim_race_begin(); __auto_type r_ = (x); shim_race_end(); r_; })

#define alloc_percpu_gfp(type, gfp) \
	((type *)kvzalloc(sizeof(type) * SHIM_CPUS, gfp))
#define free_percpu(p)		kvfree(p)
#define per_cpu_ptr(p, cpu)	((p) + (cpu))
#define this_cpu_ptr(p) \
	((__typeof__(p))shim_this_cpu((p), sizeof(*(p))))
#define DEFINE_PER_CPU(type, name) \
	__attribute__((section("percpu"))) __typeof__(type) name
#define DECLARE_PER_CPU(type, name) \
	extern __attribute__((section("percpu"))) __typeof__(type) name
#define nr_cpu_ids		SHIM_CPUS
#define for_each_possible_cpu(cpu) for ((cpu) = 0; (cpu) < SHIM_CPUS; (cpu)++)

#define num_online_cpus()	SHIM_CPUS

#define rcu_dereference(p)	 __atomic_load_n(&(p), __ATOMIC_ACQUIRE)
#define rcu_assign_pointer(p, v) \
	shim_rcu_replace(__atomic_exchange_n(&(p), v, __ATOMIC_ACQ_REL))
#define RCU_INIT_POINTER(p, v)	 __atomic_store_n(&(p), v, __ATOMIC_RELAXED)

#define rcu_access_pointer(p)	 rcu_dereference(p)
#define rcu_read_lock_bh_held()	 true

#define rcu_dereference_protected(p, c)	({ assert(c); rcu_dereference(p); })
#define rcu_dereference_check(p, c)	((void)(c), rcu_dereference(p))

struct rcu_head {
	void *unused;
};

/* @old must not be freed before a grace period has passed. */
void shim_rcu_replace(const void *old);
/* ... nor may anything that is allocated now. */
void shim_rcu_replace_all(void);
void rcu_read_lock(void);
void rcu_read_unlock(void);
void synchronize_rcu(void);

#define synchronize_rcu_expedited()	synchronize_rcu()

typedef struct {
	u64 v;
} u64_stats_t;

/* There is one writer; asserts that no update was left open. */
struct u64_stats_sync {
	bool open;
};

#define u64_stats_update_begin(s)	do { assert(!(s)->open); (s)->open = true; } while (0)
#define u64_stats_update_end(s)		do { assert((s)->open); (s)->open = false; } while (0)
#define u64_stats_fetch_begin(s)	({ assert(!(s)->open); 0u; })
#define u64_stats_fetch_retry(s, start)	((void)(start), false)
#define u64_stats_add(p, n)		((p)->v += (n))
#define u64_stats_inc(p)		((p)->v++)
#define u64_stats_read(p)		((p)->v)

struct gnet_stats_basic_sync {
	u64_stats_t bytes;
	u64_stats_t packets;
	struct u64_stats_sync syncp;
};

static inline void _bstats_update(struct gnet_stats_basic_sync *stats, u64 bytes, u64 packets)
{
	u64_stats_update_begin(&stats->syncp);
	u64_stats_add(&stats->bytes, bytes);
	u64_stats_add(&stats->packets, packets);
	u64_stats_update_end(&stats->syncp);
}

/* A thread acts as a CPU without preemption, so local locks are empty. */

typedef struct {
	int none;
} local_lock_t;

#define INIT_LOCAL_LOCK(name)	{ }

#endif /* SHIM_LOCKS_H */
