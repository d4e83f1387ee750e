/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A source as a row of a table, and the head of that: text only. */
#ifndef WEIR_ROW_H
#define WEIR_ROW_H

#include "lang/out.h"
#include "lang/value.h"
#include "model.h"

void weir_show_head(struct weir_out *out);
/* With the budget that limits the source, or is the fullest: of several with its number, "2:5/9". */
void weir_show_row(struct weir_out *out, const struct weir_source *source);
/* What is the matter with a source; returns @text, which may be "". */
const char *weir_row_state(const struct weir_source *source, char text[WEIR_TEXT_SIZE]);

#endif
