/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attributes of the netlink specification; spec.c is generated from it. */
#ifndef WEIR_SPEC_H
#define WEIR_SPEC_H

#include <stdint.h>

struct weir_attr_spec {
	const char *name;		/* with underscores, as in JSON */
	uint64_t min, max;		/* range of a number; max 0: the type's */
	const char *const *names;	/* of an enumeration's values, NULL-terminated */
};

extern const struct weir_attr_spec weir_prefix_attrs[], weir_member_attrs[], weir_ports_attrs[],
	weir_match_attrs[],
	weir_counter_attrs[], weir_limit_stats_attrs[], weir_limit_attrs[], weir_exempt_attrs[],
	weir_source_attrs[], weir_stats_attrs[], weir_config_attrs[], weir_pressure_attrs[],
	weir_newcomers_attrs[], weir_budget_attrs[], weir_source_budget_attrs[], weir_zone_attrs[],
	weir_prefix_list_attrs[], weir_state_attrs[];
extern const char *const weir_unit_names[], *const weir_action_names[], *const weir_mode_names[],
	*const weir_cond_names[], *const weir_charge_mode_names[], *const weir_rank_names[],
	*const weir_limit_event_names[];

#endif
