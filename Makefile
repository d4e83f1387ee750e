# SPDX-License-Identifier: GPL-2.0-or-later
# weir: the kernel module, the tool, and the commands around them. See `make help`.

PREFIX ?= /usr
SBINDIR ?= $(PREFIX)/sbin
MANDIR ?= $(PREFIX)/share/man
COMPLETIONDIR ?= $(PREFIX)/share/bash-completion/completions
UNITDIR ?= $(PREFIX)/lib/systemd/system
DOCDIR ?= $(PREFIX)/share/doc/weir
EXAMPLEDIR ?= $(DOCDIR)/examples
MODDIR ?= updates
INSTALL ?= install
DEPMOD ?= /sbin/depmod
# Strip modules: debug information is thirty times as large as the code.
INSTALL_MOD_STRIP ?= 1

# If only one of KVER and KDIR is given, the other is derived from it.
ifneq ($(origin KDIR),undefined)
KVER ?= $(shell cat $(KDIR)/include/config/kernel.release 2>/dev/null)
endif
KVER ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KVER)/build
BUILD ?= .cache/build/$(KVER)
ABSBUILD := $(abspath $(BUILD))
HAVE_KDIR := $(wildcard $(KDIR)/Makefile)

# The kernel's BTF, from which the module gets its own, so that XDP programs can call it: of one that
# does not run yet, from its image. kbuild uses a vmlinux in the headers, and fails without pahole.
PAHOLE ?= pahole
BTF ?= $(firstword $(wildcard $(KDIR)/vmlinux $(if $(filter $(KVER),$(shell uname -r)),/sys/kernel/btf/vmlinux) /boot/vmlinuz-$(KVER) /lib/modules/$(KVER)/vmlinuz))
# A kernel that clang built takes no module of gcc.
BY_CLANG := $(if $(LLVM),,$(shell grep -qs '^CONFIG_CC_IS_CLANG=y' $(KDIR)/include/config/auto.conf && echo LLVM=1))
BTF_BY := $(if $(and $(BTF),$(shell command -v $(PAHOLE))),$(if $(filter $(KDIR)/vmlinux,$(BTF)),kbuild,script))
export PAHOLE

# weir-fleet is built where libnats is.
FLEET := $(if $(wildcard userspace/fleet/*.c),$(shell $(or $(PKG_CONFIG),pkg-config) --exists libnats && echo yes))
MANPAGES := $(filter-out Documentation/weir-fleet.8,$(wildcard Documentation/*.[1-9]))
EXAMPLES := $(wildcard Documentation/examples/*)
SCHEMA := $(wildcard Documentation/weir.schema.json)
UNITS := $(filter-out $(if $(FLEET),,debian/weir-fleet%),$(wildcard debian/*.service debian/*.timer debian/*.socket debian/*.path))
COMPLETION := $(wildcard userspace/weir.bash)
# zsh's search path: Debian's directory, or the one for local installations
ZSHDIR ?= $(PREFIX)/share/zsh/$(if $(filter %/local,$(PREFIX)),site-functions,vendor-completions)

# Printed last, so that it stays on the screen.
ifeq ($(HAVE_KDIR),)
no-module = @echo "weir: no headers for kernel $(KVER) at $(KDIR); the module is not $(1) (apt-get install linux-headers-$(KVER))" >&2
endif

all: $(if $(HAVE_KDIR),modules) tool ## build the module (where there are headers) and the tool
	$(call no-module,built)

ifeq ($(HAVE_KDIR),)
modules:
	@echo "weir: no headers for kernel $(KVER) at $(KDIR) (apt-get install linux-headers-$(KVER), or say KVER= or KDIR=)" >&2; exit 1
else
modules: $(ABSBUILD)/Kbuild ## build weir.ko for KVER (or KDIR) into .cache/build/KVER
	$(MAKE) -C $(KDIR) M=$(ABSBUILD) $(BY_CLANG) $(if $(filter kbuild,$(BTF_BY)),,CONFIG_DEBUG_INFO_BTF_MODULES=) modules
	@$(if $(filter kbuild,$(BTF_BY)),:,$(if $(BTF_BY),module/btf.sh $(BTF) $(ABSBUILD)/weir.ko $(KDIR),false)) || \
		echo "weir: there is no BTF of this build of $(KVER), or no pahole or bpftool: XDP programs cannot ask this module"
	@echo "weir: built $(BUILD)/weir.ko for $(KVER)"
endif

# kbuild writes beside the sources, so build in a directory of links to them.
ifneq ($(ABSBUILD),$(CURDIR))
$(ABSBUILD)/Kbuild: FORCE
	@mkdir -p $(ABSBUILD)/module && rm -f $(ABSBUILD)/Kbuild && find $(ABSBUILD)/module -type l -delete
	@cp -rs $(CURDIR)/Kbuild $(CURDIR)/module $(ABSBUILD)/
endif

tool: ## build the commands weir and, where libnats is, weir-fleet
	$(MAKE) -C userspace

install: $(if $(HAVE_KDIR),install-module) install-tool $(if $(FLEET),install-fleet) install-service ## install module, tool, man pages, service (DESTDIR, PREFIX)
	$(call no-module,installed)

install-module: modules
	$(MAKE) -C $(KDIR) M=$(ABSBUILD) INSTALL_MOD_PATH=$(if $(DESTDIR),$(abspath $(DESTDIR))) INSTALL_MOD_DIR=$(MODDIR) INSTALL_MOD_STRIP=$(INSTALL_MOD_STRIP) DEPMOD=true modules_install
	$(if $(DESTDIR),,$(DEPMOD) -a $(KVER))

define install-man
	$(INSTALL) -D -m 644 $(1) $(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $(1)))/$(notdir $(1))

endef

define install-example
$(INSTALL) -D -m $(if $(filter %.sh %.py,$(1)),755,644) $(1) $(DESTDIR)$(EXAMPLEDIR)/$(notdir $(1))

endef

install-tool: tool
	$(INSTALL) -D -m 755 userspace/weir $(DESTDIR)$(SBINDIR)/weir
	$(foreach m,$(MANPAGES),$(call install-man,$(m)))
	$(foreach f,$(EXAMPLES),$(call install-example,$(f)))
	$(if $(SCHEMA),$(INSTALL) -D -m 644 -t $(DESTDIR)$(DOCDIR) $(SCHEMA))
	$(if $(COMPLETION),$(INSTALL) -D -m 644 $(COMPLETION) $(DESTDIR)$(COMPLETIONDIR)/weir)
	$(if $(COMPLETION),$(INSTALL) -D -m 644 userspace/_weir $(DESTDIR)$(ZSHDIR)/_weir)
	$(INSTALL) -d -m 755 $(DESTDIR)/etc/weir.d
	[ -e $(DESTDIR)/etc/weir.conf ] || $(INSTALL) -D -m 644 userspace/weir.conf $(DESTDIR)/etc/weir.conf

# Its completion is that of weir.
install-fleet: tool
	$(INSTALL) -D -m 755 userspace/fleet/weir-fleet $(DESTDIR)$(SBINDIR)/weir-fleet
	$(call install-man,Documentation/weir-fleet.8)
	$(INSTALL) -d -m 755 $(DESTDIR)$(COMPLETIONDIR)
	ln -sf weir $(DESTDIR)$(COMPLETIONDIR)/weir-fleet
	[ -e $(DESTDIR)/etc/weir-fleet.conf ] || $(INSTALL) -D -m 644 userspace/fleet/weir-fleet.conf $(DESTDIR)/etc/weir-fleet.conf

unit-paths = sed 's,/usr/sbin,$(SBINDIR),'
daemon-reload = $(if $(DESTDIR),,[ ! -d /run/systemd/system ] || systemctl daemon-reload)

define install-unit
$(INSTALL) -D -m 644 $(1) $(DESTDIR)$(UNITDIR)/$(notdir $(1))
$(unit-paths) -i $(DESTDIR)$(UNITDIR)/$(notdir $(1))

endef

install-service:
	$(foreach u,$(UNITS),$(call install-unit,$(u)))
	$(daemon-reload)

# $(call remove-unchanged,FILE): remove FILE if it equals stdin
remove-unchanged = if cmp -s - $(1); then rm -v $(1); elif [ -e $(1) ]; then echo "weir: $(1) was changed, so it stays"; fi

define uninstall-unit
@$(unit-paths) $(1) | $(call remove-unchanged,$(DESTDIR)$(UNITDIR)/$(notdir $(1)))

endef

uninstall: ## remove what install put there and nobody changed, for all kernels
	$(if $(DESTDIR),,systemctl --quiet disable weir.service 2>/dev/null || :)
	$(if $(DESTDIR),,systemctl --quiet disable --now weir-zones.timer 2>/dev/null || :)
	$(if $(DESTDIR),,systemctl --quiet stop weir-state.timer 'weir-state@*.timer' 2>/dev/null || :)
	$(if $(DESTDIR),,systemctl --quiet disable --now weir-fleet.service 2>/dev/null || :)
	$(foreach u,$(UNITS),$(call uninstall-unit,$(u)))
	@$(call remove-unchanged,$(DESTDIR)/etc/weir.conf) <userspace/weir.conf
	$(if $(FLEET),@$(call remove-unchanged,$(DESTDIR)/etc/weir-fleet.conf) <userspace/fleet/weir-fleet.conf)
	$(daemon-reload)
	rm -f $(DESTDIR)$(SBINDIR)/weir $(DESTDIR)$(COMPLETIONDIR)/weir $(DESTDIR)$(ZSHDIR)/_weir
	$(if $(FLEET),rm -f $(DESTDIR)$(SBINDIR)/weir-fleet $(DESTDIR)$(COMPLETIONDIR)/weir-fleet $(DESTDIR)$(MANDIR)/man8/weir-fleet.8)
	$(if $(MANPAGES),rm -f) $(foreach m,$(notdir $(MANPAGES)),$(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $(m)))/$(m))
	rm -f $(foreach f,$(notdir $(EXAMPLES)),$(DESTDIR)$(EXAMPLEDIR)/$(f)) $(foreach f,$(notdir $(SCHEMA)),$(DESTDIR)$(DOCDIR)/$(f))
	@rmdir --ignore-fail-on-non-empty $(DESTDIR)/etc/weir.d 2>/dev/null || :
	@rmdir --ignore-fail-on-non-empty $(sort $(foreach m,$(MANPAGES),$(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $(m))))) \
		$(foreach d,$(COMPLETIONDIR) $(ZSHDIR) $(UNITDIR) $(EXAMPLEDIR),$(DESTDIR)$(d) $(DESTDIR)$(patsubst %/,%,$(dir $(d)))) 2>/dev/null || :
	@for f in $(DESTDIR)/lib/modules/*/$(MODDIR)/weir.ko*; do \
		[ -e "$$f" ] || continue; \
		dir=$${f%/*}; ver=$${dir%/$(MODDIR)}; ver=$${ver##*/}; \
		echo "rm $$f"; rm -f "$$f"; rmdir --ignore-fail-on-non-empty "$$dir"; \
		$(if $(DESTDIR),:,$(DEPMOD) -a "$$ver"); \
	done

ifeq ($(ABSBUILD),$(CURDIR))
clean:
	$(MAKE) -C $(KDIR) M=$(ABSBUILD) clean
else
clean: ## remove what was built
	rm -rf .cache/build .cache/test .cache/unit .cache/fuzz .cache/soak .cache/site
	$(if $(wildcard userspace/Makefile),$(MAKE) -C userspace clean)
endif

distclean: clean ## remove all of .cache (downloads stay in ~/.cache/weir)
	rm -rf .cache

setup: ## install, download what demo and test need (NO_SETUP=1: nothing)
	@tests/setup.sh demo test

demo: ## set up, boot a small machine with weir in it, and flood it
	@tests/setup.sh demo
	@tests/demo/run.sh

demo-fleet: ## three hosts that share a budget, in one small machine
	@tests/setup.sh fleet
	@tests/demo/run.sh fleet

picture: ## draw weir top and the dashboard, while limits are flooded
	@tests/setup.sh picture
	@tests/demo/top.sh

test: ## what a patch needs, in six minutes (T='netns/limit 6.1': that)
	@tests/setup.sh test $(if $(T),all)
	@tests/run.sh $(T)

test-all: ## set up, run every test but those named below
	@tests/setup.sh all
	@tests/run.sh all

test-debug: ## run the guest tests on debug kernels (KASAN, KCSAN; T=)
	@tests/setup.sh debug
	@tests/run.sh 6.12-kasan 6.12-kcsan $(T)

test-arm64: ## build for Debian's arm64 6.12, run some guest tests there
	@tests/setup.sh arm64
	@tests/run.sh netns/smoke netns/strict netns/cpus netns/table 6.12-arm64

test-fresh: ## prove set-up and demo in minimal bookworm and trixie roots
	@tests/fresh.sh

bench: ## instructions a packet, weir and its peers (ROWS=, BENCH_WRITE=1)
	@tests/setup.sh test
	@tests/bench/bench.sh $(ROWS)

bench-native: ## nanoseconds, in User-Mode Linux, as root
	@tests/setup.sh native
	@tests/bench/native.sh $(ROWS)

fuzz: ## fuzz words, packets, messages for hours (FUZZ_SEED= repeats)
	@tests/setup.sh test native
	@tests/fuzz/run.sh

soak: ## floods, changes, dumps, reloads all at once, for SOAK=10m
	@tests/setup.sh test
	@tests/soak/run.sh $(or $(SOAK),10m)

mutants: ## see that tests fail on wrong changes (T=, SAMPLE=N, SEED=)
	@tests/setup.sh test
	@tests/mutants/run.py $(if $(SAMPLE),-s $(SAMPLE)) $(if $(SEED),-r $(SEED)) $(T)

compare: ## weir and others under floods (COMPARE_WRITE=1: performance.rst)
	@tests/setup.sh test
	@tests/bench/compare.sh

simulate: ## floods of 1M/s in virtual time (SIMULATE_WRITE=1 writes it)
	@tests/setup.sh test
	@tests/bench/simulate.sh newcomers

simulate-fleet: ## hosts that share a budget, likewise
	@tests/bench/simulate.sh hosts

lint: ## check the sources
	@tests/lint.sh

html: ## write the documentation as a web site into .cache/site/html
	@tests/setup.sh test
	@Documentation/site/build.py .cache/site
	@echo "weir: the site is .cache/site/html/index.html"

help: ## list the targets
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | \
		while IFS='	' read -r t d; do printf '  %-12s %s\n' "$$t" "$$d"; done
	@echo "Variables: KVER KDIR CC W=1 C=1 DESTDIR PREFIX MODDIR NO_SETUP=1"

.PHONY: all modules tool install install-module install-tool install-fleet \
	install-service uninstall clean distclean setup demo demo-fleet picture test test-all test-debug test-arm64 test-fresh bench bench-native compare simulate simulate-fleet mutants fuzz soak \
	lint html help FORCE
