/* SPDX-License-Identifier: GPL-2.0-or-later */
/* weir limit advise */
#ifndef WEIR_ADVISE_H
#define WEIR_ADVISE_H

#include "tool/request.h"

weir_run weir_limit_advise;
/* advice_show.c */
weir_show_model weir_show_advice;

#endif
