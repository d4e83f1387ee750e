/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Test threads and the CPU of each. tests/table has the kernel's version. */
#ifndef SHIM_THREAD_H
#define SHIM_THREAD_H

#include <pthread.h>
#include <stdlib.h>

/* Mean number of operations before twin_wander() changes the CPU. */
#define THREAD_STAY 1

struct thread {
	pthread_t id;
	void (*run)(void *arg);
	void *arg;
};

static inline unsigned int thread_cpus(void)
{
	return SHIM_CPUS;
}

/* Move the caller to this CPU. Context: process, may sleep. */
static inline void thread_go(unsigned int cpu)
{
	shim_cpu = cpu % SHIM_CPUS;
}

static inline void *thread_main(void *arg)
{
	struct thread *thread = arg;

	thread->run(thread->arg);
	return NULL;
}

static inline void thread_start(struct thread *thread, void (*run)(void *arg), void *arg)
{
	thread->run = run;
	thread->arg = arg;
	if (pthread_create(&thread->id, NULL, thread_main, thread))
		abort();
}

static inline void thread_join(struct thread *thread)
{
	pthread_join(thread->id, NULL);
}

#endif /* SHIM_THREAD_H */
