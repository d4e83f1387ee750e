# SPDX-License-Identifier: GPL-2.0-or-later
# shim.mk: how the module's files are compiled in user space, for the Makefiles of unit
# tests and fuzzers, which set OUT and MODULE. Of the headers that these files include,
# those of the kernel alone are empty: SHIM_CFLAGS include kernel.h, locks.h and stack.h.

.DEFAULT_GOAL := all
SHIM := $(dir $(lastword $(MAKEFILE_LIST)))
shim_named := $(sort $(shell grep -ohE '<(linux|net|trace)/[a-z0-9_/]+\.h>' $(MODULE)/*.[ch] $(SHIM)../*.[ch] | tr -d '<>'))
# net/route.h is another of the C library's.
SHIM_HEADERS := $(addprefix $(OUT)/headers/,$(foreach h,$(shim_named),$(if $(wildcard $(filter-out /usr/include/net/%,/usr/include/$(h))),,$(h))))
SHIM_CFLAGS := -I$(OUT)/headers -include $(SHIM)stack.h -I$(SHIM)

$(SHIM_HEADERS):
	@mkdir -p $(@D)
	@touch $@
