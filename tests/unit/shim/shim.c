// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel API that the module's pure code needs, in user space: locks with lockdep's checks,
 * sequence counts, RCU by epochs, allocations that are counted and can be made to fail.
 */

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif

#ifdef __SANITIZE_THREAD__
/* A refusal is marked without the lock, perhaps while the count is reset. */
const char *__tsan_default_suppressions(void);

const char *__tsan_default_suppressions(void)
{
	return "race:weir_count_init";
}

void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
#else
#define AnnotateIgnoreReadsBegin(file, line) do { } while (0)
#define AnnotateIgnoreReadsEnd(file, line) do { } while (0)
#endif

#define expect(x) do {							\
	if (!(x)) {							\
		fprintf(stderr, "%s: %s does not hold\n", __func__, #x);\
		abort();						\
	}								\
} while (0)

#define THREADS_MAX 512

_Thread_local unsigned int shim_cpu;

extern char __start_percpu[] __attribute__((weak));
extern char __stop_percpu[] __attribute__((weak));

void *shim_this_cpu(const void *p, size_t size)
{
	static char copy[SHIM_CPUS][8192] __attribute__((aligned(64)));
	size_t offset = (const char *)p - __start_percpu;

	if ((const char *)p < __start_percpu || (const char *)p >= __stop_percpu)
		return (char *)p + shim_cpu * size;
	assert(offset + size <= sizeof(copy[0]));
	return copy[shim_cpu] + offset;
}
void (*shim_resched)(void);
void (*shim_reading)(bool began);
void (*shim_locking)(void);
void (*shim_unlocked)(void);
void (*shim_racing)(void);
long shim_available_pages = 1l << 24;
u64 shim_allocated;
unsigned int shim_allocations;
int shim_fail_after = -1;

_Thread_local unsigned long shim_locks, shim_versions;

static _Thread_local unsigned int bh_off, self, rcu_depth;
static _Thread_local bool reading;
static _Thread_local unsigned int racing;
static u32 threads;

/* The locks that a thread holds, and their classes, as in lockdep */
#define CLASSES_MAX 16

static _Thread_local raw_spinlock_t *held[4];
static _Thread_local u8 held_class[4];
static _Thread_local unsigned int locks_held;
static u8 classes;				/* atomic */
static bool before[CLASSES_MAX][CLASSES_MAX];	/* atomic: which is taken first */

/* Epoch in which a thread's read section began; 0 outside of one. */
static u64 rcu_reader[THREADS_MAX], rcu_epoch = 1;

static unsigned int me(void)
{
	if (!self)
		self = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
	expect(self < THREADS_MAX);
	return self;
}

void shim_race_begin(void)
{
	if (!racing++)
		AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
}

void shim_race_end(void)
{
	if (racing && !--racing)
		AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

/* A reader that gives up early does not say so: the next lock or read ends it. */
static void reading_end(void)
{
	if (reading)
		shim_race_end();
	reading = false;
}

unsigned int softirq_count(void)
{
	return bh_off;
}

void local_bh_disable(void)
{
	bh_off++;
}

void local_bh_enable(void)
{
	reading_end();
	expect(bh_off && (bh_off > 1 || !locks_held));
	bh_off--;
}

void shim_lock_init(raw_spinlock_t *lock, u8 *class)
{
	u8 none = 0, new;

	if (!__atomic_load_n(class, __ATOMIC_RELAXED)) {
		new = __atomic_add_fetch(&classes, 1, __ATOMIC_RELAXED);
		__atomic_compare_exchange_n(class, &none, new, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	}
	lock->class = __atomic_load_n(class, __ATOMIC_RELAXED);
	__atomic_store_n(&lock->owner, 0, __ATOMIC_RELAXED);
}

/* Was a lock of class b ever taken while one of class a was held, in any thread? */
static bool taken_before(unsigned int a, unsigned int b)
{
	unsigned int i;

	if (__atomic_load_n(&before[a][b], __ATOMIC_RELAXED))
		return true;
	for (i = 0; i < CLASSES_MAX; i++)
		if (i != a && __atomic_load_n(&before[a][i], __ATOMIC_RELAXED) &&
		    taken_before(i, b))
			return true;
	return false;
}

void raw_spin_lock_nested(raw_spinlock_t *lock, unsigned int subclass)
{
	unsigned int class = 2 * lock->class + subclass, i;
	u16 nobody = 0;

	reading_end();
	if (shim_locking && !locks_held)
		shim_locking();
	shim_locks++;
	expect(bh_off);
	expect(locks_held < ARRAY_SIZE(held) && class < CLASSES_MAX);
	for (i = 0; i < locks_held; i++) {
		expect(held[i] != lock);
		expect(held_class[i] != class);
		expect(!taken_before(class, held_class[i]));
		__atomic_store_n(&before[held_class[i]][class], true, __ATOMIC_RELAXED);
	}
	while (!__atomic_compare_exchange_n(&lock->owner, &nobody, me(), false,
					    __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		nobody = 0;
		sched_yield();
	}
	held_class[locks_held] = class;
	held[locks_held++] = lock;
}

void raw_spin_unlock(raw_spinlock_t *lock)
{
	lockdep_assert_held(lock);
	expect(held[locks_held - 1] == lock);
	locks_held--;
	__atomic_store_n(&lock->owner, 0, __ATOMIC_RELEASE);
	if (shim_unlocked)
		shim_unlocked();
}

/* locks.h selects the version for mutexes. */
#undef lockdep_assert_held
void lockdep_assert_held(const raw_spinlock_t *lock)
{
	expect(__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == me());
}

void seqcount_init(seqcount_t *seq)
{
	__atomic_store_n(&seq->sequence, 0, __ATOMIC_RELAXED);
}

void write_seqcount_begin(seqcount_t *seq)
{
	shim_versions++;
	expect(locks_held);
	expect(!(__atomic_fetch_add(&seq->sequence, 1, __ATOMIC_ACQ_REL) & 1));
}

void write_seqcount_end(seqcount_t *seq)
{
	expect(locks_held);
	expect(__atomic_fetch_add(&seq->sequence, 1, __ATOMIC_ACQ_REL) & 1);
}

unsigned int raw_read_seqcount(const seqcount_t *seq)
{
	unsigned int start;

	reading_end();
	if (shim_reading && !locks_held)
		shim_reading(false);
	start = __atomic_load_n(&seq->sequence, __ATOMIC_ACQUIRE);
	/* A lock holder need not retry. */
	if (locks_held)
		return start;
	if (shim_reading)
		shim_reading(true);
	reading = true;
	shim_race_begin();
	return start;
}

bool read_seqcount_retry(const seqcount_t *seq, unsigned int start)
{
	reading_end();
	/* The machines that run this keep loads in order. */
	__asm__ volatile("" ::: "memory");
	return __atomic_load_n(&seq->sequence, __ATOMIC_ACQUIRE) != start;
}

void rcu_read_lock(void)
{
	if (rcu_depth++)
		return;
	__atomic_store_n(&rcu_reader[me()], __atomic_load_n(&rcu_epoch, __ATOMIC_SEQ_CST),
			 __ATOMIC_SEQ_CST);
}

void rcu_read_unlock(void)
{
	expect(rcu_depth);
	if (!--rcu_depth)
		__atomic_store_n(&rcu_reader[me()], 0, __ATOMIC_SEQ_CST);
}

void synchronize_rcu(void)
{
	u64 epoch = __atomic_add_fetch(&rcu_epoch, 1, __ATOMIC_SEQ_CST), began;
	unsigned int i;

	expect(!rcu_depth && !locks_held);
	for (i = 0; i < THREADS_MAX; i++) {
		while ((began = __atomic_load_n(&rcu_reader[i], __ATOMIC_SEQ_CST)) && began < epoch)
			sched_yield();
	}
}

void cond_resched(void)
{
	expect(!bh_off && !locks_held && !rcu_depth);
	if (shim_resched)
		shim_resched();
}

/* Sizes are stored separately, so that the sanitizer checks both ends of a block. */
static struct {
	void *p;
	size_t size;
	u64 replaced;	/* epoch in which it was unpublished, or 0 */
} allocation[4096];

static u32 allocation_lock;

static void allocations_lock(void)
{
	while (__atomic_exchange_n(&allocation_lock, 1, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void allocations_unlock(void)
{
	__atomic_store_n(&allocation_lock, 0, __ATOMIC_RELEASE);
}

static void allocation_note(void *old, void *new, size_t size)
{
	unsigned int i;

	allocations_lock();
	for (i = 0; i < ARRAY_SIZE(allocation); i++)
		if (allocation[i].p == old)
			break;
	expect(i < ARRAY_SIZE(allocation));
	if (old) {
		/* A grace period has passed since. */
		expect(allocation[i].replaced != __atomic_load_n(&rcu_epoch, __ATOMIC_SEQ_CST));
		shim_allocations--;
		shim_allocated -= allocation[i].size;
	}
	if (new) {
		shim_allocations++;
		shim_allocated += size;
	}
	allocation[i].p = new;
	allocation[i].size = size;
	allocation[i].replaced = 0;
	allocations_unlock();
}

void shim_rcu_replace(const void *old)
{
	unsigned int i;

	if (!old)
		return;
	allocations_lock();
	for (i = 0; i < ARRAY_SIZE(allocation); i++)
		if (allocation[i].p == old)
			allocation[i].replaced = __atomic_load_n(&rcu_epoch, __ATOMIC_SEQ_CST);
	allocations_unlock();
}

void shim_rcu_replace_all(void)
{
	unsigned int i;

	allocations_lock();
	for (i = 0; i < ARRAY_SIZE(allocation); i++)
		allocation[i].replaced = __atomic_load_n(&rcu_epoch, __ATOMIC_SEQ_CST);
	allocations_unlock();
}

void *kvzalloc(size_t size, gfp_t gfp)
{
	void *p;

	expect(!bh_off && !locks_held && !rcu_depth);
	if (shim_fail_after >= 0 && !shim_fail_after--)
		return NULL;
	if (posix_memalign(&p, size < 4096 ? 64 : 4096, size))
		return NULL;
	memset(p, 0, size);
	allocation_note(NULL, p, size);
	return p;
}

void *kmemdup(const void *from, size_t size, gfp_t gfp)
{
	void *p = kvzalloc(size, gfp);

	return p ? memcpy(p, from, size) : NULL;
}

void kvfree(const void *p)
{
	if (!p)
		return;
	allocation_note((void *)p, NULL, 0);
	free((void *)p);
}
