#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# compare.sh [sizes] [floods]: compare weir, hashlimit and an nft set under spoofed floods. sizes:
# with tables too small, just right and large, while a thousand honest clients, a heavy source and
# one just over its limit send. floods: of several kinds, with and without a newcomers' budget, while
# sources send that were there before, and clients arrive. Each in one boot of a guest. COMPARE_WRITE=1 writes the tables in performance.rst.
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
make --no-print-directory -s -C tests/bench clients || fail "the clients do not build"

value() { [[ " $line " =~ \ "$1"=([^\ ]*)\  ]] && echo "${BASH_REMATCH[1]}"; }
rate() { printf '%d %%' $((($1 + 5) / 10)); }
part() { printf '%d.%02d %%' $(($1 * 100 / $2)) $(($1 * 10000 / $2 % 100)); }
lost() { part "$(value "$1_lost")" "$(value "$1")"; }
mib() { printf '%d.%02d MiB' $(($1 / 1048576)) $(($1 % 1048576 * 100 / 1048576)); }
csv() { printf '\n.. csv-table::\n   :delim: |\n   :header-rows: 1\n\n' && sed '2d; s/^| *//; s/ *|$//; s/^/   /' && echo; }
declare -A names=([newcomers]="weir, newcomers" [weir]=weir [lenient]="weir, lenient" [hashlimit]=hashlimit [nft]="nft set") \
	floods=([new]="never repeated" [pool]="a pool that repeats" [burst]="for a second")

sizes() {
	local says
	echo "| table for | | worst second | honest packets lost | heavy source got | slow source got | flood let through | memory | what it reported |"
	echo "|--:|---|--:|--:|--:|--:|--:|--:|---|"
	while read -r line; do
		says=${line##* says=}
		line+=" $(tests/bench/compare.py "$HZ" "$LIMIT" sizes <"$out/records.$(value case)")" || return
		[ "$(value asked)" -le "$LIMIT" ] || echo "compare: $(value case): honest sources sent $(value asked) in a second; the machine is too slow" >&2
		echo "| $(value size) | ${names[$(value tool)]} | $(value worst) | $(lost honest) | $(rate "$(value heavy)")" \
			"| $(rate "$(value slow)") | $(($(value through) * 100 / $(value flood))) % | $(mib "$(value memory)") | $says |"
	done
}

floods() {
	local syns within n
	echo "| flood | | worst second | known packets lost | ... that send rarely | new packets lost | connected within 1 s | 3 s | 7 s | flood let through | memory |"
	echo "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
	while read -r line; do
		line+=" $(tests/bench/compare.py "$HZ" "$LIMIT" floods <"$out/records.$(value case)")" || return
		syns=$(value syn1) within=''
		for n in 2 3 4; do
			syns=$((syns + $(value "syn$n"))) within+=" | $((syns * 100 / $(value clients))) %"
		done
		n=$(value case)
		echo "| ${floods[${n#*-}]} | ${names[$(value tool)]} | $(value worst) | $(lost known) | $(lost idle)" \
			"| $(lost new)$within | $(part "$(value through)" "$(value flood)") | $(mib "$(value memory)") |"
	done
}

# table NAME WORDS: run the cases of a table, print it
table() {
	# Unmerged slab caches show how much memory a hashlimit entry takes.
	tests/vm/guest.sh -r -k "$kernel" -t 900 -o "$out" -a slab_nomerge -- tests/bench/compare-guest.sh "$1" >"$out/cases.$1" ||
		fail "the guest did not end well"
	"$1" <"$out/cases.$1" >"$out/table.$1" || exit 1
	cat "$out/table.$1"
	[ -z "${COMPARE_WRITE:-}" ] || csv <"$out/table.$1" | tests/bench/splice.sh Documentation/performance.rst "$2"
}
[ $# -gt 0 ] || set -- sizes floods
for name; do
	table "$name" "make compare: $name"
done
