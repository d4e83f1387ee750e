/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel API that the module's files use, in user space: types, arithmetic,
 * memory. The build includes stack.h, locks.h and this file before each of them
 * (shim.mk); the kernel's own headers are empty.
 */
#ifndef SHIM_KERNEL_H
#define __read_mostly
#define SHIM_KERNEL_H

#include <asm/byteorder.h>
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <linux/limits.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef __u8 u8;
typedef __s8 s8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;
typedef unsigned int gfp_t;

#define __force
#define __rcu
#define __percpu
#define __aligned(x)	__attribute__((aligned(x)))
#define BUILD_BUG_ON(x)	_Static_assert(!(x), #x)
#ifndef __counted_by
#define __counted_by(member)
#endif

#undef static_assert
#define static_assert(x) _Static_assert(x, #x)

#define likely(x)	__builtin_expect(!!(x), 1)
#undef __always_inline
#define __always_inline	inline __attribute__((always_inline))
#define noinline	__attribute__((noinline))
#define noinline_for_stack noinline
#define __flatten __attribute__((flatten))
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define prefetch(p)	__builtin_prefetch(p)

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define ALIGN(x, a)	(((x) + (a) - 1) / (a) * (a))
#define BIT(n)		(1ul << (n))
#define BIT_ULL(n)	(1ull << (n))
#define GENMASK_ULL(h, l)	(~0ull >> (63 - (h)) & ~0ull << (l))

#define offsetofend(type, member) \
	(offsetof(type, member) + sizeof(((type *)0)->member))

#define container_of(p, type, member) \
	((type *)((char *)(p) - offsetof(type, member)))

#define swap(a, b) do { __typeof__(a) t_ = (a); (a) = (b); (b) = t_; } while (0)

#define READ_ONCE(x)	 __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), v, __ATOMIC_RELAXED)
#define smp_rmb()	 __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define smp_wmb()	 __atomic_thread_fence(__ATOMIC_RELEASE)
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)

#define U8_MAX	((unsigned char)~0)
#define U16_MAX	((unsigned short)~0)
#define U32_MAX	(~0u)
#define U64_MAX	(~0ull)
#define S32_MAX	((int)(U32_MAX >> 1))
#define S32_MIN	(-S32_MAX - 1)
#define S64_MAX	((s64)(U64_MAX >> 1))

#define min(a, b) ({ __auto_type a_ = (a); __auto_type b_ = (b); \
		     a_ < b_ ? a_ : b_; })
#define max(a, b) ({ __auto_type c_ = (a); __auto_type d_ = (b); \
		     c_ > d_ ? c_ : d_; })
#define min_t(type, a, b) min((type)(a), (type)(b))
#define max_t(type, a, b) max((type)(a), (type)(b))

#define le64_to_cpu(x)	__le64_to_cpu(x)
#define ror64(x, n)	((x) >> ((n) & 63) | (x) << (-(n) & 63))
#define __ffs64(x)	((unsigned long)__builtin_ctzll(x))
#define hweight64(x)	((unsigned long)__builtin_popcountll(x))
#define hweight16(x)	((unsigned int)__builtin_popcount((u16)(x)))
#define BITS_PER_LONG	((int)(8 * sizeof(long)))
#define BITS_TO_LONGS(n)	(((n) + 8 * sizeof(long) - 1) / (8 * sizeof(long)))
#define DECLARE_BITMAP(name, bits)	unsigned long name[BITS_TO_LONGS(bits)]

static inline bool test_bit(unsigned int bit, const unsigned long *map)
{
	return map[bit / BITS_PER_LONG] >> bit % BITS_PER_LONG & 1;
}

static inline void __set_bit(unsigned int bit, unsigned long *map)
{
	map[bit / BITS_PER_LONG] |= 1UL << bit % BITS_PER_LONG;
}

static inline void __clear_bit(unsigned int bit, unsigned long *map)
{
	map[bit / BITS_PER_LONG] &= ~(1UL << bit % BITS_PER_LONG);
}

#define for_each_set_bit(bit, map, size) \
	for ((bit) = 0; (bit) < (size); (bit)++) \
		if (test_bit(bit, map))

static inline unsigned int bitmap_weight(const unsigned long *map, unsigned int bits)
{
	unsigned int weight = 0, i;

	for (i = 0; i < bits; i++)
		weight += test_bit(i, map);
	return weight;
}

static inline void bitmap_zero(unsigned long *map, unsigned int bits)
{
	memset(map, 0, BITS_TO_LONGS(bits) * sizeof(*map));
}
#define ilog2(x)	(63 - __builtin_clzl(x))
#define roundup_pow_of_two(x)	(1ul << order_base_2(x))

/* Number of the highest set bit, from 1; 0 if none is set. */
static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

#define fls(x)		fls64((u32)(x))

/* log2, rounded up. */
static inline int order_base_2(unsigned long x)
{
	return x > 1 ? ilog2(x - 1) + 1 : 0;
}

static inline u64 div_u64_rem(u64 dividend, u32 divisor, u32 *remainder)
{
	*remainder = dividend % divisor;
	return dividend / divisor;
}

#define mul_u64_u64_shr(a, b, shift)	((u64)((unsigned __int128)(a) * (b) >> (shift)))
#define div64_u64(dividend, divisor)	((u64)(dividend) / (divisor))
#define div_u64(dividend, divisor)	((u64)(dividend) / (u32)(divisor))

static inline u64 div64_u64_rem(u64 dividend, u64 divisor, u64 *rest)
{
	*rest = dividend % divisor;
	return dividend / divisor;
}

/* On x86 the kernel's version faults if the quotient does not fit. */
static inline u64 mul_u64_u64_div_u64(u64 a, u64 b, u64 c)
{
	unsigned __int128 quotient = (unsigned __int128)a * b / c;

	assert(!(quotient >> 64));
	return quotient;
}

#define hash_32(x, bits)	((u32)(x) * 0x61c88647u >> (32 - (bits)))
#define GOLDEN_RATIO_64	0x61C8864680B583EBull

#define DIV_ROUND_UP_ULL(n, d)		(((u64)(n) + (d) - 1) / (d))
#define __cold				__attribute__((cold))
#define check_mul_overflow(a, b, to)	__builtin_mul_overflow(a, b, to)
#define check_add_overflow(a, b, to)	__builtin_add_overflow(a, b, to)
#define struct_size(p, member, n) \
	(sizeof(*(p)) + sizeof((p)->member[0]) * (size_t)(n))

#define ERR_PTR(error)	((void *)(long)(error))
#define PTR_ERR(ptr)	((long)(ptr))
#define IS_ERR(ptr)	((unsigned long)(ptr) >= -4095ul)
#define PTR_ERR_OR_ZERO(ptr)	(IS_ERR(ptr) ? (int)PTR_ERR(ptr) : 0)

static inline void strscpy_pad(char *to, const char *from, size_t size)
{
	size_t len = strnlen(from, size - 1);

	memcpy(to, from, len);
	memset(to + len, 0, size - len);
}

#define sort(base, n, size, compare, swap) qsort(base, n, size, compare)

#define ____cacheline_aligned	__attribute__((aligned(64)))

typedef struct {
	u64 key[2];
} hsiphash_key_t;

u32 hsiphash(const void *data, size_t len, const hsiphash_key_t *key);

static inline u32 hsiphash_1u32(u32 a, const hsiphash_key_t *key)
{
	return hsiphash(&a, sizeof(a), key);
}

static inline u32 hsiphash_3u32(u32 a, u32 b, u32 c, const hsiphash_key_t *key)
{
	u32 word[] = { a, b, c };

	return hsiphash(word, sizeof(word), key);
}

#define GFP_KERNEL_ACCOUNT	1u
#define __GFP_NOWARN		2u
#define __GFP_RETRY_MAYFAIL	4u
#define GFP_KERNEL		8u
#define __GFP_ZERO		16u
#define __GFP_NORETRY		32u

void *kvzalloc(size_t size, gfp_t gfp);
void kvfree(const void *p);
void *kmemdup(const void *from, size_t size, gfp_t gfp);

#define kzalloc(size, gfp)		kvzalloc(size, gfp)
#define kcalloc(n, size, gfp)		kvzalloc((size_t)(n) * (size), gfp)
#define kvcalloc(n, size, gfp)		kvzalloc((size_t)(n) * (size), gfp)
#define kvmalloc_node(size, gfp, node)	((void)(node), kvzalloc(size, gfp))
#define cpu_to_node(cpu)		0
#define kvmalloc_array(n, size, gfp)	kvzalloc((size_t)(n) * (size), gfp)
#define kfree(p)			kvfree(p)

/* For tests: allocations not freed yet, and which one fails next. */
extern u64 shim_allocated;
extern unsigned int shim_allocations;
extern int shim_fail_after;	/* allocations that still succeed, or -1 */

#define PAGE_SHIFT 12
#define PAGE_ALIGN(x) (((x) + 4095ul) & ~4095ul)

/* Always fails, as with fragmented memory. */
#define alloc_pages_exact(size, gfp)	((void)(size), (void)(gfp), (void *)0)
#define free_pages_exact(p, size)	((void)(p), (void)(size))

extern long shim_available_pages;

#define si_mem_available()	shim_available_pages

#define get_mem_cgroup_from_mm(mm)	((struct mem_cgroup *)NULL)
#define mem_cgroup_put(memcg)		((void)(memcg))
static inline struct mem_cgroup *set_active_memcg(struct mem_cgroup *memcg) { return NULL; }

#define __vmalloc(size, gfp)	kvzalloc(size, gfp)
#define vfree(p)		kvfree(p)
#define is_vmalloc_addr(p)	((p) != NULL)

#define HZ		250
#define MSEC_PER_SEC	1000L
#define NSEC_PER_SEC	1000000000L

extern u64 shim_jiffies, (*shim_clock)(void);	/* or NULL */

#define ktime_get_boottime_seconds()	0
#define get_jiffies_64()	(shim_clock ? shim_clock() : shim_jiffies)

/* The same bytes always, so that a run can be repeated. */
static inline void get_random_bytes(void *buf, size_t len)
{
	u8 *at = buf, next = 1;

	while (len--)
		*at++ = next = next * 137 + 61;
}

/* Set by a test: runs as if another task got the CPU. */
extern void (*shim_resched)(void);

void cond_resched(void);

struct work_struct {
	void (*func)(struct work_struct *work);
};

struct delayed_work {
	struct work_struct work;
	u64 due;	/* tick, or 0 if it is not queued */
};

#define to_delayed_work(w)	container_of(w, struct delayed_work, work)
#define INIT_DELAYED_WORK(w, f)	((w)->work.func = (f), (w)->due = 0)
#define system_unbound_wq	NULL

struct blocking_notifier_head {};
#define blocking_notifier_call_chain(head, action, data)	((void)(data))

/* Delayed work runs when a test calls it. */
#define queue_delayed_work(wq, work, ticks)	((void)(wq), (void)((work)->due = shim_jiffies + (ticks)))
#define mod_delayed_work(wq, work, ticks)	queue_delayed_work(wq, work, ticks)
#define MAX_JIFFY_OFFSET			((~0UL >> 2) - 1)
#define cancel_delayed_work_sync(work)		((void)((work)->due = 0))
#define flush_delayed_work(w)			((w)->due ? ((w)->due = 0, (w)->work.func(&(w)->work)) : (void)0)

/* The wall clock, which a test sets; it runs the timers, too. */
typedef s64 time64_t;

extern time64_t shim_real_seconds;

#define ktime_get_real_seconds()	shim_real_seconds
#define ktime_set(seconds, ns)		(seconds)
#define mktime64(year, month, day, h, m, s)					\
	timegm(&(struct tm) { .tm_year = (year) - 1900, .tm_mon = (month) - 1,	\
			      .tm_mday = (day), .tm_hour = (h), .tm_min = (m), .tm_sec = (s) })
#define time64_to_tm(time, offset, tm)	gmtime_r(&(time_t) { (time) + (offset) }, tm)

enum hrtimer_restart {
	HRTIMER_RESTART,
};

struct hrtimer {
	enum hrtimer_restart (*function)(struct hrtimer *timer);
	time64_t expires;
	struct hrtimer *next;	/* of those that are started */
};

enum hrtimer_mode {
	HRTIMER_MODE_ABS_SOFT,
};

#define hrtimer_init(t, clock, mode)		((void)(t))
#define hrtimer_set_expires(t, time)		((t)->expires = (time))
#define hrtimer_start(t, time, mode)		((t)->expires = (time), shim_timer_start(t))

void shim_timer_start(struct hrtimer *timer);
void hrtimer_cancel(struct hrtimer *timer);
/* For tests: run the timers that are due by the wall clock. */
void shim_timers_run(void);

/* Disabled tracepoints */
#define TRACE_DEFINE_ENUM(name)
#define TP_PROTO(args...)	args
#define TP_ARGS(args...)
#define TP_STRUCT__entry(args...)
#define TP_fast_assign(args...)
#define TP_printk(args...)
#define SHIM_TRACE(name, proto)							\
	static inline void __attribute__((unused)) trace_##name(proto) { }	\
	static inline bool __attribute__((unused)) trace_##name##_enabled(void) { return false; }
#define TRACE_EVENT(name, proto, args...)		SHIM_TRACE(name, TP_PROTO(proto))
#define DECLARE_EVENT_CLASS(name, proto, args...)
#define DEFINE_EVENT(class, name, proto, args...)	SHIM_TRACE(name, TP_PROTO(proto))

#endif /* SHIM_KERNEL_H */
