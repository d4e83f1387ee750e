#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# compare.sh: compare weir, hashlimit and an nft set, with tables too small, just right and large,
# under a spoofed flood, while a thousand honest clients, a heavy source and one just over its limit
# send. All in one boot of a guest. Prints the table of README.md; COMPARE_WRITE=1 writes it there.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd -P) && cd "$top" || exit 1
# shellcheck source=compare-words.sh
. tests/bench/compare-words.sh
kernel=6.12 out=$top/.cache/compare
fail() { echo "compare: $*" >&2; exit 1; }

[ -r ".cache/kernels/$kernel/vmlinux" ] || { echo "compare: no guest kernel $kernel here; make setup downloads it" >&2; exit 4; }
mkdir -p "$out" && exec 9>"$out/lock" && flock 9 || exit 1
tests/bench/build.sh "$kernel" || fail "the modules do not build"
make --no-print-directory -s -C tests/netns || fail "the tools do not build"
# Unmerged slab caches show how much memory a hashlimit entry takes.
tests/vm/guest.sh -k "$kernel" -t 580 -o "$out" -a slab_nomerge -- tests/bench/compare-guest.sh >"$out/cases" ||
	fail "the guest did not end well"

value() { [[ " $line " =~ \ "$1"=([^\ ]*)\  ]] && echo "${BASH_REMATCH[1]}"; }
rate() { printf '%d %%' $((($1 + 5) / 10)); }
declare -A names=([weir]=weir [lenient]="weir, lenient" [hashlimit]=hashlimit [nft]="nft set")

table() {
	local line says tool lost honest size memory
	echo "| table for | | worst second | honest packets lost | heavy source got | slow source got | flood let through | memory | what it said |"
	echo "|--:|---|--:|--:|--:|--:|--:|--:|---|"
	while read -r line; do
		tool=$(value tool) size=$(value size) memory=$(value memory) says=${line##* says=}
		line=$(tests/bench/compare.py "$HZ" "$LIMIT" <"$out/records.$tool.$size") || return
		honest=$(value honest) lost=$(value lost)
		[ "$(value asked)" -le "$LIMIT" ] || echo "compare: $tool at $size: honest sources sent $(value asked) in a second; the machine is too slow" >&2
		printf '| %d | %s | %d | %d.%02d %% | %s | %s | %d %% | %d.%02d MiB | %s |\n' "$size" "${names[$tool]}" \
			"$(value worst)" $((lost * 100 / honest)) $((lost * 10000 / honest % 100)) \
			"$(rate "$(value heavy)")" "$(rate "$(value slow)")" $(($(value through) * 100 / $(value flood))) \
			$((memory / 1048576)) $((memory % 1048576 * 100 / 1048576)) "$says"
	done
}
table <"$out/cases" >"$out/table" || exit 1
cat "$out/table"
[ -z "${COMPARE_WRITE:-}" ] || tests/bench/splice.sh README.md "make compare" <"$out/table"
