#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh [FILE...]: check litmus tests with herd7 by the kernel's memory model.
# Each file says its result: "Never" of what must not happen; "Sometimes" where
# something was left out on purpose, so that the test is seen to see it.
set -u
here=$(cd "$(dirname "$0")" && pwd -P) || exit 1
cache=${here%/tests/litmus}/.cache
model=$cache/source/tools/memory-model
[ -e "$model/linux-kernel.cfg" ] || { echo "1..0 # SKIP no memory model in .cache/source; make setup downloads it"; exit 4; }
herd=$cache/herd/herd7
[ -x "$herd" ] || herd=$(command -v herd7) || { echo "1..0 # SKIP no herd7; make setup downloads it"; exit 4; }

[ $# -gt 0 ] || set -- "$here"/*.litmus
echo "1..$#"
n=0 failed=0
for file; do
	n=$((n + 1)) file=$(realpath "$file")
	name=${file##*/} name=${name%.litmus}
	want=$(sed -n 's/^ \* Result: //p' "$file")
	# The model's files are looked for in the current directory.
	said=$(cd "$model" && timeout 300 "$herd" -conf linux-kernel.cfg "$file" 2>&1)
	got=$(sed -n "s/^Observation $name \([A-Z][a-z]*\) .*/\1/p" <<<"$said")
	if [ -n "$want" ] && [ "$got" = "$want" ]; then
		echo "ok $n - $name: $want"
	else
		failed=1
		echo "not ok $n - $name: $want"
		printf '# %s\n' "${said//$'\n'/$'\n# '}"
	fi
done
exit "$failed"
