// SPDX-License-Identifier: GPL-2.0-or-later
/* weir-fleet status: a line for each host. */

#include <inttypes.h>
#include <string.h>

#include "canary.h"
#include "fleet.h"
#include "view.h"

static void show_fault(struct weir_out *out, const char *what, uint64_t count, const char *unit)
{
	if (count)
		weir_out_word(out, WEIR_COLOR_BAD, "%s: %" PRIu64 " %s%s,", what, count, unit,
			      count == 1 ? "" : "s");
}

/* In a few words: what is the matter with a host? */
static void show_state(struct weir_out *out, const struct fleet_seen *seen)
{
	const struct fleet_host *host = &seen->host;
	const struct fleet_share_counts *shares = &host->shares;
	bool canary = host->canary.revision;
	const struct fleet_verdict *verdict = canary ? &host->canary : &host->config;

	if (fleet_is_silent(seen))
		weir_out_word(out, WEIR_COLOR_BAD, "silent for %" PRIi64 "s,",
			      fleet_age_ms(seen->created_ns) / 1000);
	if (canary)
		weir_out_word(out, WEIR_COLOR_NONE, "canary %" PRIu64 ",", host->canary.revision);
	if (!*host->module)
		weir_out_word(out, WEIR_COLOR_BAD, "no module,");
	if (host->counts.sources_wanted)
		weir_out_word(out, WEIR_COLOR_BAD, "pressure: sources %" PRIu64 ",",
			      host->counts.sources_wanted);
	show_fault(out, "alone", shares->alone, "limit");
	show_fault(out, "left out", shares->recent_left_out, "source");
	show_fault(out, "capped", shares->recent_capped, "source");
	show_fault(out, "lost", shares->recent_lost, "message");
	if (shares->late_ms > shares->interval_ms)
		weir_out_word(out, WEIR_COLOR_BAD, "late: %" PRIu64 "ms,", shares->late_ms);
	if (*verdict->error)
		weir_out_word(out, WEIR_COLOR_BAD, "refused: %.*s",
			      (int)strcspn(verdict->error, "\n"), verdict->error);
	else if (verdict->accepted)
		weir_out_word(out, WEIR_COLOR_NONE, "accepted");
	else
		weir_out_word(out, WEIR_COLOR_NONE, "no configuration yet");
}

static void show_host(struct weir_out *out, const struct fleet_seen *seen, int width)
{
	const struct fleet_host *host = &seen->host;

	weir_out_begin(out, NULL, '{');
	fleet_host_show(out, host);
	weir_out_ms(out, "age_ms", fleet_age_ms(seen->created_ns) * 1000000);
	weir_out_bool(out, "silent", fleet_is_silent(seen));
	weir_out_word(out, WEIR_COLOR_NAME, "%s", host->host);
	weir_out_text(out, "%*s", width + 1 - (int)strlen(host->host), "");
	weir_out_word(out, WEIR_COLOR_NONE, "%-12s %8" PRIu64, host->group,
		      host->config.revision);
	fleet_show_time(out, "when", seen->created_ns);
	show_state(out, seen);
	weir_out_text(out, "\n");
	weir_out_end(out, '}');
}

static void show_view(struct weir_out *out, const struct fleet_view *view)
{
	int width = 4, length;
	unsigned int i;

	for (i = 0; i < view->count; i++) {
		length = strlen(view->seen[i].host.host);
		width = length > width ? length : width;
	}
	weir_out_text(out, "%-*s %-12s %8s %-20s %s\n", width, "HOST", "GROUP", "REVISION", "WHEN",
		      "STATE");
	weir_out_begin(out, NULL, '[');
	for (i = 0; i < view->count; i++)
		show_host(out, &view->seen[i], width);
	weir_out_end(out, ']');
}

int fleet_status(struct fleet *fleet)
{
	int status = WEIR_EXIT_UNREACHABLE, ret;
	struct fleet_view view;
	struct fleet_bus bus;

	if (fleet_bus_open(&bus, &fleet->settings, NULL, NULL, &fleet->err))
		return status;
	ret = fleet_view_read(&view, &bus, fleet->group, &fleet->err);
	if (ret == -ENOENT) {
		status = WEIR_EXIT_REFUSED;
	} else if (!ret) {
		show_view(&fleet->out, &view);
		if (view.malformed)
			fleet_say("%u of the statuses are malformed", view.malformed);
		fleet_view_free(&view);
		status = WEIR_EXIT_OK;
	}
	fleet_bus_close(&bus);
	return status;
}
