/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_SEQLOCK_H
#define SHIM_SEQLOCK_H

#include <linux/spinlock.h>

typedef struct {
	u32 sequence;	/* atomic */
} seqcount_t;

typedef struct {
	seqcount_t seqcount;
} seqcount_raw_spinlock_t;

/* What another CPU does before the version is read, or right after. */
extern void (*shim_reading)(bool began);

static inline void kcsan_atomic_next(int n) { (void)n; }

/* What is read in between may race, and is told apart by the count. */
unsigned int raw_read_seqcount(const seqcount_raw_spinlock_t *seq);
bool read_seqcount_retry(const seqcount_raw_spinlock_t *seq, unsigned int start);

void seqcount_raw_spinlock_init(seqcount_raw_spinlock_t *seq,
				raw_spinlock_t *lock);
void write_seqcount_begin(seqcount_raw_spinlock_t *seq);
void write_seqcount_end(seqcount_raw_spinlock_t *seq);

#endif
