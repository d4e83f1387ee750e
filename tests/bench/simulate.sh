#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# simulate.sh newcomers|hosts: run a simulation, newcomers.c or hosts.c. Prints the table of
# performance.rst; SIMULATE_WRITE=1 writes it there.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd -P) && cd "$top" || exit 1
out=$top/.cache/build/bench
target=simulate && [ "$1" = newcomers ] || target=simulate-fleet
make --no-print-directory -s -C tests/bench "$1" && "$out/$1" | tee "$out/$1.table" &&
	[ "${PIPESTATUS[0]}" = 0 ] || exit 1
[ -z "${SIMULATE_WRITE:-}" ] || tests/bench/splice.sh -l Documentation/performance.rst "make $target" <"$out/$1.table"
