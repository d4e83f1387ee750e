/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the words of an object fit each other. */
#ifndef WEIR_CHECK_H
#define WEIR_CHECK_H

struct weir_args;

int weir_check_limit(struct weir_args *args, unsigned int verb, void *model);

#endif
