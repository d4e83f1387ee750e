#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check.sh OUT SEED RUNS FUZZER...: run the libFuzzer programs. TAP. The same seed gives the same
# inputs: they start from the tree's corpus alone, do not read their own files again after a time,
# and what they compare addresses with, which libFuzzer uses as features, does not depend on the
# environment, on the tree's path or, where that can be had, on chance. So what has passed with the
# same program and corpus is not run again.
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd -P)
out=$1 seed=$2 runs=$3 n=0 failed=0
shift 3
same=() && ! setarch -R true 2>/dev/null || same=(setarch -R)
mkdir -p "$out/found" "$out/seeds" && { cat "$here/words.dict" && grep -ohE '"[a-z][a-z0-9]*"' "$here"/../../userspace/*/*.c | sort -u; } >"$out/dict.$$" &&
	mv "$out/dict.$$" "$out/words.dict" || exit 1
echo "1..$#"
for fuzzer; do
	n=$((n + 1)) corpus=$out/corpus/$fuzzer seeds=()
	rm -rf "$corpus" "$out/seeds/$fuzzer" && mkdir -p "$corpus" || exit 1
	if [ -d "$here/corpus/$fuzzer" ]; then
		cp -r "$here/corpus/$fuzzer" "$out/seeds/" && mapfile -t seeds < <(cd "$out" && printf '%s\n' "seeds/$fuzzer"/*) || exit 1
	fi
	args=() && [ ${#seeds[@]} = 0 ] || args=("-seed_inputs=$(IFS=, && echo "${seeds[*]}")")
	case $fuzzer in words | file | state) args+=("-dict=words.dict") ;; esac
	key="$fuzzer $seed $runs $(cd "$out" && cat "$here/check.sh" "$fuzzer" words.dict "${seeds[@]}" | sha256sum)"
	if [ ${#same[@]} -gt 0 ] && grep -qsxF "$key" "$out/passed"; then
		echo "ok $n - $fuzzer: $runs inputs, seed $seed"
		continue
	fi
	if (cd "$out" && env -i PATH="$PATH" "${same[@]}" "./$fuzzer" "${args[@]}" -seed="$seed" -runs="$runs" -reload=0 -max_len=4096 -timeout=20 \
		-verbosity=0 -print_final_stats=1 -artifact_prefix="found/$fuzzer-" "corpus/$fuzzer") >"$out/$fuzzer.log" 2>&1; then
		echo "ok $n - $fuzzer: $(awk '/executed_units/ { print $2 }' "$out/$fuzzer.log") inputs, seed $seed"
		echo "$key" >>"$out/passed"
	else
		failed=1
		echo "not ok $n - $fuzzer: seed $seed, $runs inputs"
		grep -vE '^ +#|^$|NEW_FUNC' "$out/$fuzzer.log" | cut -c 1-400 | tail -n 30 | sed 's/^/# /'
	fi
done
exit "$failed"
