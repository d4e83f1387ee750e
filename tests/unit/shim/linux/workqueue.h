/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_WORKQUEUE_H
#define SHIM_WORKQUEUE_H

struct work_struct {
	int unused;
};

#endif
