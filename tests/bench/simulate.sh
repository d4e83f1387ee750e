#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# simulate.sh: run newcomers.c. Prints the table of performance.rst; SIMULATE_WRITE=1 writes it there.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd -P) && cd "$top" || exit 1
out=$top/.cache/build/bench
make --no-print-directory -s -C tests/bench newcomers && "$out/newcomers" | tee "$out/simulated" &&
	[ "${PIPESTATUS[0]}" = 0 ] || exit 1
[ -z "${SIMULATE_WRITE:-}" ] || tests/bench/splice.sh -l Documentation/performance.rst "make simulate" <"$out/simulated"
