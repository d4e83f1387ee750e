/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_OVERFLOW_H
#define SHIM_OVERFLOW_H

#define struct_size(p, member, n) \
	(sizeof(*(p)) + sizeof((p)->member[0]) * (size_t)(n))

#endif
