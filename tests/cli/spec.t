#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# spec.t: lang/spec.c agrees with the specification, and the tool is rebuilt if the module's
# version or PREFIX changes
. "$(dirname "$0")/lib.sh"
python3 -c 'import yaml' 2>/dev/null || skip_all "python3-yaml is not installed"
holds "userspace/lang/spec.c is up to date with the specification" quietly make -s -C "$top/userspace" check-spec
mkdir -p copy/module && cp -r "$top/userspace" copy/ && cp -r "$top"/module/{uapi,count,limit,main.c,error.h} copy/module/
# without optimisation, which takes a third of the time
build() { make -s -C copy/userspace CFLAGS=-O0 "$@"; }
rm -f copy/userspace/{,*/}*.[od] copy/userspace/weir copy/userspace/.defines
build weir >log 2>&1
sed -i 's/^MODULE_VERSION(".*");/MODULE_VERSION("77.7");/' copy/module/main.c
build weir >>log 2>&1
is "$(copy/userspace/weir -V)" "weir 77.7" "a new version of the module rebuilds the tool" || diag "$(<log)"
holds "another PREFIX rebuilds the tool" quietly build PREFIX=/usr/local weir
grep -q /usr/local/sbin/weir copy/userspace/weir && ! grep -q /usr/sbin/weir copy/userspace/weir
ok $? "... and appears in the output of save"
# not make -q, for which a file that is always compared is always old
holds "make without a change" quietly make -C copy/userspace CFLAGS=-O0 PREFIX=/usr/local weir
is "$(grep -cE ' -(c|o) ' "$tmp/said")" 0 "... rebuilds nothing"
finish
