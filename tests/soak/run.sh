#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh [TIME [KERNEL]]: the soak test for TIME (10m; 90s, 2h), in a guest of
# KERNEL (6.12). TAP; status 1 if it failed or the kernel's log is not clean.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd -P) && cd "$top" || exit 1
time=${1:-10m} kernel=${2:-6.12}
case $time in
*[!0-9smh]* | '') echo "run.sh: '$time' is not a time, as 90s, 10m or 2h" >&2; exit 1 ;;
*h) seconds=$((${time%h} * 3600)) ;;
*m) seconds=$((${time%m} * 60)) ;;
*) seconds=${time%s} ;;
esac
out=.cache/soak
mkdir -p "$out" || exit 1
make --no-print-directory -s tool && make --no-print-directory -s -C tests/netns && tests/vm/kernel-build.sh "$kernel" || exit 1
tests/vm/guest.sh -r -k "$kernel" -t $((seconds * 2 + 300)) -o "$out" -- env "FUZZ_SEED=${FUZZ_SEED:-1}" tests/soak/soak.sh "$seconds" | tee "$out.log"
status=${PIPESTATUS[0]}
if [ "$status" = 99 ]; then
	echo "not ok - the kernel's log is silent"
else
	[ "$status" != 0 ] || echo "ok - the kernel's log is silent"
fi
exit "$status"
