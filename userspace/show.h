/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Models as text or JSON, whichever weir_out_init() chose. */
#ifndef WEIR_SHOW_H
#define WEIR_SHOW_H

#include "model.h"
#include "out.h"

void weir_show_limit_words(const struct weir_limit *limit);
void weir_show_limit(const struct weir_limit *limit);
void weir_show_exempt_words(const struct weir_exempt *exempt);
void weir_show_source(const struct weir_source *source, bool slots);
void weir_show_charge(const struct weir_source *source);
void weir_show_stats(const struct weir_stats *stats);
void weir_show_limit_notice(const char *change, const struct weir_limit *limit);
void weir_show_source_notice(const struct weir_source *source,
			     uint32_t window_ms);
void weir_show_pressure_notice(const struct weir_limit *limit);
void weir_show_timestamp(void);

#endif
