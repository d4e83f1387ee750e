/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads of a test, and the CPU that each is on. In a kernel: tests/table. */
#ifndef SHIM_THREAD_H
#define SHIM_THREAD_H

#include <pthread.h>
#include <stdlib.h>

/* Acts on a CPU before the next, about: see twin_wander(). */
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

/* The caller is on this CPU from here on. Context: process, may sleep. */
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

static inline void thread_start(struct thread *thread, void (*run)(void *arg),
				void *arg)
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
