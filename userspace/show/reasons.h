/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a source is refused: by which budget, whose it is, and what does not fit. */
#ifndef WEIR_REASONS_H
#define WEIR_REASONS_H

#include "lang/out.h"
#include "model.h"

/* A budget of a source, as words of its limit, if source->asked has that. */
const char *weir_text_source_budget(const struct weir_source *source, unsigned int i,
				    char buf[WEIR_TEXT_SIZE]);
/* Text: whose budget it is, what does not fit, and with whom it is shared. */
void weir_show_reasons(struct weir_out *out, const struct weir_source *source);
/* Does a packet of the length that was given exceed a whole budget? */
bool weir_source_never_fits(const struct weir_source *source);

#endif
