// SPDX-License-Identifier: GPL-2.0-or-later
/* Events of the packet path; there are no listeners here. */
#include "path/events.h"

struct blocking_notifier_head weir_told;

int weir_events_start(struct weir_net *wn)
{
	return 0;
}

void weir_events_stop(struct weir_net *wn)
{
}

void weir_event_newcomers(struct weir_net *wn, const struct weir_limit *limit)
{
}
