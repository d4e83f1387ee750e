/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_SMP_H
#define SHIM_SMP_H

#include <linux/percpu.h>

#define smp_processor_id()	shim_cpu
#define nr_cpu_ids		SHIM_CPUS

#endif
