// SPDX-License-Identifier: GPL-2.0-or-later
/* Configuration events; there are no listeners here. */
#include "path/event.h"

void weir_event_config(const struct weir_edit *edit)
{
	(void)edit;
}

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
