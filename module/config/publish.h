/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The configuration of a namespace. See the top of publish.c. Process context, may sleep.
 */
#ifndef WEIR_PUBLISH_H
#define WEIR_PUBLISH_H

struct weir_net;

void weir_config_init(struct weir_net *wn);
void weir_config_stop(struct weir_net *wn);
void weir_config_free(struct weir_net *wn);

#endif /* WEIR_PUBLISH_H */
