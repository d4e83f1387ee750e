/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_MINMAX_H
#define SHIM_MINMAX_H

#define min(a, b) ({ __auto_type a_ = (a); __auto_type b_ = (b); \
		     a_ < b_ ? a_ : b_; })
#define max(a, b) ({ __auto_type c_ = (a); __auto_type d_ = (b); \
		     c_ > d_ ? c_ : d_; })
#define min_t(type, a, b) min((type)(a), (type)(b))
#define max_t(type, a, b) max((type)(a), (type)(b))
#define clamp(x, low, high) min(max(x, low), high)

#endif
