# SPDX-License-Identifier: GPL-2.0-or-later
# shim.mk: compile the module's files in user space, for the Makefiles of unit tests and
# fuzzers, which set OUT and MODULE. Headers that only the kernel has are empty files:
# SHIM_CFLAGS include stack.h, which includes locks.h and kernel.h.

.DEFAULT_GOAL := all
SHIM := $(dir $(lastword $(MAKEFILE_LIST)))
shim_named := $(sort $(shell grep -ohE '<(linux|net|trace)/[a-z0-9_/]+\.h>' $(MODULE)/*.[ch] $(MODULE)/*/*.[ch] $(SHIM)../*.[ch] | tr -d '<>'))
# The C library's net/route.h is a different header.
SHIM_HEADERS := $(addprefix $(OUT)/headers/,$(foreach h,$(shim_named),$(if $(wildcard $(filter-out /usr/include/net/%,/usr/include/$(h))),,$(h))))
SHIM_CFLAGS := -I$(OUT)/headers -include $(SHIM)stack.h -I$(SHIM)

$(SHIM_HEADERS):
	@mkdir -p $(@D)
	@touch $@
