/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_U64_STATS_SYNC_H
#define SHIM_U64_STATS_SYNC_H

#include <linux/percpu.h>
#include <linux/types.h>

typedef struct {
	u64 v;
} u64_stats_t;

/* Who writes is alone; a count that is left open shows. */
struct u64_stats_sync {
	bool open;
};

#define u64_stats_init(s)		((s)->open = false)
#define u64_stats_update_begin(s)	do { assert(!(s)->open); (s)->open = true; } while (0)
#define u64_stats_update_end(s)		do { assert((s)->open); (s)->open = false; } while (0)
#define u64_stats_fetch_begin(s)	({ assert(!(s)->open); 0u; })
#define u64_stats_fetch_retry(s, start)	((void)(start), false)
#define u64_stats_add(p, n)		((p)->v += (n))
#define u64_stats_inc(p)		((p)->v++)
#define u64_stats_read(p)		((p)->v)

#endif
