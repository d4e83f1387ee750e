/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEIR_PARAMS_H
#define WEIR_PARAMS_H

/* Make the limit that the module's parameters describe, if they do; while the module is loaded. */
int weir_params_limit(void);

#endif /* WEIR_PARAMS_H */
