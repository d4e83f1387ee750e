// SPDX-License-Identifier: GPL-2.0-or-later
/* screen.c of a weir that was built without ncurses. */

#include "top.h"

#ifndef WEIR_NCURSES

int weir_top_screen(struct weir_tool *tool, const struct weir_top *asked)
{
	weir_err_set(&tool->err, "this weir was built without ncurses: 'weir top count N' prints N screens as text");
	return WEIR_EXIT_REFUSED;
}

#endif
