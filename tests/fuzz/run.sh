#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh [KERNEL]: a long run of all fuzzers: the libFuzzer programs on this machine,
# then a million messages, half a million packets and 20,000 sequences in a guest of KERNEL (default:
# uml-kasan, built first; native speed, with KASAN and lockdep). TAP. FUZZ_SEED, FUZZ_RUNS,
# FUZZ_MESSAGES, FUZZ_PACKETS and FUZZ_BATCHES override the defaults. Status 1 if anything was found.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd -P) && cd "$top" || exit 1
kernel=${1:-uml-kasan}
seed=${FUZZ_SEED:-$(date +%s)}
out=.cache/fuzz failed=0
mkdir -p "$out" || exit 1
echo "# seed $seed, kernel $kernel"
make --no-print-directory -s -C tests/fuzz check FUZZ_SEED=$((seed % 4294967296)) FUZZ_RUNS="${FUZZ_RUNS:-5000000}" || failed=1

[ "$kernel" != uml-kasan ] || tests/vm/uml-build.sh kasan >/dev/null || exit
make --no-print-directory -s tool && make --no-print-directory -s -C tests/netns && make --no-print-directory -s -C tests/fuzz &&
	tests/vm/kernel-build.sh "$kernel" || exit 1
# The test sends twice as many messages in total, from several senders.
for test in netlink packets user; do
	tests/vm/guest.sh -k "$kernel" -t 36000 -o "$out/$test" -- env "FUZZ_SEED=$seed" \
		"FUZZ_MESSAGES=${FUZZ_MESSAGES:-500000}" "FUZZ_PACKETS=${FUZZ_PACKETS:-500000}" \
		"FUZZ_BATCHES=${FUZZ_BATCHES:-20000}" "tests/netns/fuzz-$test.t" |
		tee "$out/$test.log"
	[ "${PIPESTATUS[0]}" = 0 ] || { failed=1; echo "not ok - fuzz-$test, with a silent log"; }
done
[ "$failed" = 0 ] || echo "# to run it again: FUZZ_SEED=$seed make fuzz"
exit "$failed"
