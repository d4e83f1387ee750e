/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_CTYPE_H
#define SHIM_CTYPE_H

#include <ctype.h>

#endif
