/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads of a test, as tests/unit/shim/thread.h: kthreads. */
#ifndef THREAD_H
#define THREAD_H

#include <linux/completion.h>
#include <linux/cpumask.h>

/* To go to another CPU takes an emulated machine as long as 1000 charges. */
#define THREAD_STAY 128

struct thread {
	struct completion done;
	void (*run)(void *arg);
	void *arg;
};

static inline unsigned int thread_cpus(void)
{
	return num_online_cpus();
}

void thread_go(unsigned int cpu);
void thread_start(struct thread *thread, void (*run)(void *arg), void *arg);
void thread_join(struct thread *thread);

#endif /* THREAD_H */
