// SPDX-License-Identifier: GPL-2.0-or-later
/* What goes on under the limits, for monitor: at its start, and then each window while it lasts. */

#include <string.h>
#include <time.h>

#include "config.h"
#include "tool.h"
#include "value.h"

/* How often a limit is looked at: each window, within this. */
#define SHORTEST_MS	1000
#define LONGEST_MS	60000

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ULL + now.tv_nsec / 1000000;
}

static struct weir_seen *seen_find(struct weir_states *states, const char *limit)
{
	struct weir_seen *seen = states->seen, *end = seen + states->count;

	while (seen < end && strcmp(seen->limit, limit))
		seen++;
	if (seen < end || states->count == WEIR_LIMITS_MAX)
		return seen < end ? seen : NULL;
	memset(seen, 0, sizeof(*seen));
	strcpy(seen->limit, limit);
	states->count++;
	return seen;
}

void weir_state_rename(struct weir_states *states, const char *limit, const char *name)
{
	unsigned int i;

	for (i = 0; i < states->count; i++)
		if (!strcmp(states->seen[i].limit, limit))
			strcpy(states->seen[i].limit, name);
}

/* Forget limits that are no more: another one of the name begins anew, and others need the room. */
void weir_state_keep(struct weir_states *states, struct weir_config *config)
{
	unsigned int i = 0;

	while (i < states->count) {
		if (weir_config_find(config, states->seen[i].limit))
			i++;
		else
			states->seen[i] = states->seen[--states->count];
	}
}

/* Look at a limit in a window: something happened there. */
void weir_state_wake(struct weir_states *states, const struct weir_limit *limit)
{
	struct weir_seen *seen = limit ? seen_find(states, limit->name) : NULL;
	uint64_t window = !limit ? 0 : limit->blocks_only ? LONGEST_MS :
			  limit->budgets[0].amount.window_ms;

	if (!seen || seen->due_ms)
		return;
	window = window < SHORTEST_MS ? SHORTEST_MS : window > LONGEST_MS ? LONGEST_MS : window;
	seen->due_ms = now_ms() + window;
}

/* The milliseconds until a limit is to be looked at; -1: none is. */
int weir_state_wait(const struct weir_states *states)
{
	uint64_t now = now_ms(), least = UINT64_MAX;
	unsigned int i;

	for (i = 0; i < states->count; i++)
		if (states->seen[i].due_ms && states->seen[i].due_ms < least)
			least = states->seen[i].due_ms;
	return least == UINT64_MAX ? -1 : least > now ? (int)(least - now) : 0;
}

/* The counters since the last look, or since ever; false: there is nothing to show. */
static bool fill(struct weir_seen *seen, const struct weir_limit *limit, bool first,
		 struct weir_state *state)
{
	const struct weir_limit_stats *stats = &limit->stats;
	uint64_t most = limit->newcomers.count;
	bool blocks, used_up = most && stats->newcomers_now >= most;

	*state = (struct weir_state){
		.limited_now = stats->limited_now, .blocked_now = stats->blocked_now,
		.dropped = weir_since(seen->dropped, stats->dropped.packets),
		.newcomers_refused = weir_since(seen->refused, stats->newcomers_refused.packets),
		.evictions = weir_since(seen->evictions, stats->evictions),
		.floor_refused = weir_since(seen->floor_refused, stats->floor_refused.packets),
	};
	strcpy(state->limit, limit->name);
	seen->dropped = stats->dropped.packets;
	seen->refused = stats->newcomers_refused.packets;
	seen->evictions = stats->evictions;
	seen->floor_refused = stats->floor_refused.packets;
	if (first ? stats->sources_wanted : state->evictions || state->floor_refused)
		state->sources_wanted = stats->sources_wanted;
	/* blocks may last for years */
	blocks = stats->blocked_now != seen->blocked;
	seen->blocked = stats->blocked_now;
	return state->limited_now || state->sources_wanted || blocks ||
	       (first ? used_up : state->newcomers_refused);
}

/* Look at a limit: whether something goes on there. */
static bool look(struct weir_tool *tool, struct weir_states *states, const char *name,
		 bool first, struct weir_state *state)
{
	struct weir_limit limit = { 0 };
	struct weir_request request;
	struct weir_seen *seen;
	bool stats = tool->stats, shown;
	int ret;

	tool->stats = true;
	ret = weir_get_limit(tool, name, &limit, &request);
	tool->stats = stats;
	seen = ret ? NULL : seen_find(states, name);
	shown = seen && fill(seen, &limit, first, state);
	if (shown || (seen && seen->blocked))
		weir_state_wake(states, &limit);
	return shown;
}

/* The next limit that is due and where something goes on: its state, or false without one. */
bool weir_state_next(struct weir_tool *tool, struct weir_states *states,
		     struct weir_state *state)
{
	uint64_t now = now_ms();
	unsigned int i;

	for (i = 0; i < states->count; i++) {
		if (!states->seen[i].due_ms || states->seen[i].due_ms > now)
			continue;
		states->seen[i].due_ms = 0;
		if (look(tool, states, states->seen[i].limit, false, state))
			return true;
	}
	return false;
}

/* What goes on under a limit when monitor starts; false: nothing. */
bool weir_state_first(struct weir_tool *tool, struct weir_states *states, const char *limit,
		      struct weir_state *state)
{
	return look(tool, states, limit, true, state);
}
