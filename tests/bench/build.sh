#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# build.sh NAME: build what the benches need for the guest kernel NAME: weir.ko,
# the benches' modules (in .cache/build/bench/NAME), the tools.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd -P) && cd "$top" || exit 1
name=${1:?usage: build.sh NAME}
kernel=$top/.cache/kernels/$name out=$top/.cache/build/bench/$name
tests/vm/kernel-build.sh "$name" || exit
mkdir -p "$out" && cp -pu tests/bench/module/* "$out/" || exit 1
REAL_CC=$(command -v gcc-12 || command -v gcc)
CC_UNKNOWN=$kernel/.unknown-to-${REAL_CC##*/}
export REAL_CC CC_UNKNOWN
make --no-print-directory -C "$kernel/kdir" "M=$out" CONFIG_DEBUG_INFO_BTF_MODULES= \
	"CC=$top/tests/vm/cc" modules >"$out/log" 2>&1 || { tail -n 30 "$out/log" >&2; exit 1; }
make --no-print-directory -s -C userspace >"$out/log.tool" 2>&1 || { tail -n 30 "$out/log.tool" >&2; exit 1; }

# Without clang and libbpf there are no XDP programs.
if command -v clang >/dev/null && [ -e /usr/include/bpf/libbpf.h ]; then
	make --no-print-directory -s -C tests/bench "OUT=$out" xdp || exit 1
fi
