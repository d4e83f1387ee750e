# SPDX-License-Identifier: GPL-2.0-or-later
# Compiler flags as in the tool's own Makefile
TOOL_CFLAGS = -D_GNU_SOURCE -DWEIR_PATH='"/usr/sbin/weir"' -DWEIR_VERSION='"test"' -Wno-unused-parameter -I$(USERSPACE) -I$(MODULE)/uapi -I$(USERSPACE)/kernel -iquote $(MODULE) $(shell pkg-config --cflags libmnl jansson)
