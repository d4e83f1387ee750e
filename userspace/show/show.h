/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Show models, as text or JSON as out says. */
#ifndef WEIR_SHOW_H
#define WEIR_SHOW_H

#include <time.h>

#include "lang/field.h"
#include "model.h"
#include "lang/out.h"

/*
 * A limit: its words, computed values, and counters if present. A source: its state,
 * the amount charged, the number of sources forgotten, or until when it is blocked.
 */
typedef void weir_show_model(struct weir_out *out, const void *model);
weir_show_model weir_show_limit, weir_show_exempt, weir_show_list, weir_show_source,
	weir_show_stats, weir_show_xdp, weir_show_config;
/* An object of a set, on a line of its own. */
void weir_show_item(struct weir_out *out, const struct weir_set *set, unsigned int flags,
		    const void *model);
/*
 * A source as a row of a table, perhaps with its head: the budget that limits the source, or
 * is fullest; of several with its number, "2:5/9".
 */
void weir_show_row(struct weir_out *out, const struct weir_source *source, bool head);
/* Its count of the fullest budget; returns @text, which is "" of a limit without budgets. */
const char *weir_row_count(const struct weir_source *source, char text[WEIR_TEXT_SIZE]);
/* What is the matter with a source; returns @text, which may be "". */
const char *weir_row_state(const struct weir_source *source, char text[WEIR_TEXT_SIZE]);
/* The lines of a file, whose lists are sorted; @apart: each prefix of a list has one, in order. */
void weir_show_lines(struct weir_out *out, const struct weir_config *config, bool apart);
/* Turn the time that is left into the end, by a clock of the wall. */
void weir_exempt_until(struct weir_exempt *exempt, const struct timespec *now);

/* An event of type @cmd; @budget: of the limit, which limits a source; NULL: unknown. */
void weir_show_event(struct weir_out *out, uint8_t cmd, const union weir_model *model,
		     const struct weir_budget *budget);
/* Whether it is of a packet that was refused, not of a request. */
bool weir_event_limits(const struct weir_source *source);
#define WEIR_SPARK_SIZE	(WEIR_WHEEL_MAX * 3 + 1)
/*
 * The wheel as a sparkline of eight levels, scaled to the fullest slot; in ASCII where the locale
 * is not UTF-8.
 */
void weir_show_spark(const struct weir_source_budget *source, char text[WEIR_SPARK_SIZE]);
/* The timestamp at the start of an event. */
void weir_show_timestamp(struct weir_out *out);

#endif
