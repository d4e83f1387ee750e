/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See math64.h. */
#include <linux/math64.h>
