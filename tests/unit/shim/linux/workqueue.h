/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_WORKQUEUE_H
#define SHIM_WORKQUEUE_H

struct work_struct {
	int unused;
};

struct delayed_work {
	struct work_struct work;
};

#define to_delayed_work(w)	container_of(w, struct delayed_work, work)
#define INIT_DELAYED_WORK(w, f)	((void)(w), (void)(f))
#define system_unbound_wq	NULL

/* Nothing runs by itself. */
static inline void queue_delayed_work(void *wq, struct delayed_work *work,
				      unsigned long ticks)
{
	(void)wq;
	(void)work;
	(void)ticks;
}

static inline void cancel_delayed_work_sync(struct delayed_work *work)
{
	(void)work;
}

#endif
