#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check.sh OUT SEED RUNS FUZZER...: run the libFuzzer programs. TAP. The same seed gives the same
# inputs: they start from the tree's corpus alone, do not read their own files again after a time,
# and their addresses, which libFuzzer uses as features, are not random where that can be had. So
# what has passed with the same program and corpus is not run again.
set -u
here=$(cd "$(dirname "$0")" && pwd -P)
out=$1 seed=$2 runs=$3 n=0 failed=0
shift 3
same=() && ! setarch -R true 2>/dev/null || same=(setarch -R)
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1}
mkdir -p "$out/found" && { cat "$here/words.dict" && grep -ohE '"[a-z][a-z0-9]*"' "$here"/../../userspace/*.c | sort -u; } >"$out/words.dict" || exit 1
echo "1..$#"
for fuzzer; do
	n=$((n + 1)) corpus=$out/corpus/$fuzzer seeds=()
	rm -rf "$corpus" && mkdir -p "$corpus" || exit 1
	[ ! -d "$here/corpus/$fuzzer" ] || seeds=("$here/corpus/$fuzzer")
	args=() && case $fuzzer in words | file) args=("-dict=$out/words.dict") ;; esac
	key="$fuzzer $seed $runs $(find "$here/check.sh" "$out/$fuzzer" "$out/words.dict" "${seeds[@]}" -type f -exec cat {} + | sha256sum)"
	if [ ${#same[@]} -gt 0 ] && grep -qsxF "$key" "$out/passed"; then
		echo "ok $n - $fuzzer: $runs inputs, seed $seed"
		continue
	fi
	if "${same[@]}" "$out/$fuzzer" "${args[@]}" -seed="$seed" -runs="$runs" -reload=0 -max_len=4096 -timeout=20 -verbosity=0 -print_final_stats=1 \
		-artifact_prefix="$out/found/$fuzzer-" "$corpus" "${seeds[@]}" >"$out/$fuzzer.log" 2>&1; then
		echo "ok $n - $fuzzer: $(awk '/executed_units/ { print $2 }' "$out/$fuzzer.log") inputs, seed $seed"
		echo "$key" >>"$out/passed"
	else
		failed=1
		echo "not ok $n - $fuzzer: seed $seed, $runs inputs"
		grep -vE '^ +#|^$' "$out/$fuzzer.log" | cut -c 1-400 | tail -n 30 | sed 's/^/# /'
	fi
done
exit "$failed"
