/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Models as text or JSON, whichever the output is. */
#ifndef WEIR_SHOW_H
#define WEIR_SHOW_H

#include "field.h"
#include "model.h"
#include "out.h"

/*
 * A limit: its words, what resulted, its counters if they are told. How a source
 * stands, what a charge took, or how many were forgotten.
 */
typedef void weir_show_model(struct weir_out *out, const void *model);
weir_show_model weir_show_limit, weir_show_exempt, weir_show_source, weir_show_stats;

/* An event, as its command tells it; @window_ms of a source's limit, 0: it is unknown. */
void weir_show_event(struct weir_out *out, uint8_t cmd, const union weir_model *model,
		     uint32_t window_ms);
/* The time, at the beginning of an event. */
void weir_show_timestamp(struct weir_out *out);

#endif
