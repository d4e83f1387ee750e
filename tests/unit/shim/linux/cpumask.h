/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_CPUMASK_H
#define SHIM_CPUMASK_H

#include <linux/percpu.h>

#define num_online_cpus()	SHIM_CPUS

#endif
