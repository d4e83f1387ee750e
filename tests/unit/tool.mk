# SPDX-License-Identifier: GPL-2.0-or-later
# How the tool's own Makefile compiles it.
TOOL_CFLAGS = -D_GNU_SOURCE -DWEIR_PATH='"/usr/sbin/weir"' -Wno-unused-parameter -I$(USERSPACE) -I$(MODULE)/uapi $(shell pkg-config --cflags libmnl jansson)
