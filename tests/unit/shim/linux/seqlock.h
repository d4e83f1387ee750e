/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_SEQLOCK_H
#define SHIM_SEQLOCK_H

#include <linux/spinlock.h>

typedef struct {
	u32 sequence;	/* atomic */
} seqcount_t;

typedef struct {
	seqcount_t seqcount;
} seqcount_spinlock_t;

/* Runs what a test has put there, as if another CPU came in between. */
extern void (*shim_reading)(void);

static inline void kcsan_atomic_next(int n) { (void)n; }

/* What is read in between may race, and is told apart by the count. */
unsigned int raw_read_seqcount(const seqcount_spinlock_t *seq);
bool read_seqcount_retry(const seqcount_spinlock_t *seq, unsigned int start);

void seqcount_spinlock_init(seqcount_spinlock_t *seq, spinlock_t *lock);
void write_seqcount_begin(seqcount_spinlock_t *seq);
void write_seqcount_end(seqcount_spinlock_t *seq);

static inline void write_seqcount_begin_nested(seqcount_spinlock_t *seq,
					       int subclass)
{
	(void)subclass;
	write_seqcount_begin(seq);
}

#endif
