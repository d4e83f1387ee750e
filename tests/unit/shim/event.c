// SPDX-License-Identifier: GPL-2.0-or-later
/* Events of the configuration, which nobody listens to here. */
#include "event.h"

void weir_event_limit(struct weir_net *wn, u32 what, const struct weir_limit *limit)
{
	(void)wn, (void)what, (void)limit;
}

int weir_events_start(struct weir_net *wn)
{
	(void)wn;
	return 0;
}

void weir_events_stop(struct weir_net *wn)
{
	(void)wn;
}
