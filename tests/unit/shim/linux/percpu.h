/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_PERCPU_H
#define SHIM_PERCPU_H

#include <linux/slab.h>
#include <linux/types.h>

#define SHIM_CPUS 4

extern _Thread_local unsigned int shim_cpu;

/* One address is read by others while it is written. */
void shim_race_begin(void);
void shim_race_end(void);

/* What another CPU does before one of these is read. */
extern void (*shim_racing)(void);

/* What a CPU has of @p: allocated, or static in the section that is copied for each. */
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
#define num_possible_cpus()	SHIM_CPUS
#define nr_cpu_ids		SHIM_CPUS
#define for_each_possible_cpu(cpu) for ((cpu) = 0; (cpu) < SHIM_CPUS; (cpu)++)

#endif
