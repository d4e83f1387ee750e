#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# flood.sh: the cost of a flooded namespace end to end, from pktgen through veth, by the
# script flood. Prints a table: instructions per packet in bench.sh's machine, medians
# of 5 rounds, as the kernel's other work is included; packets per second, medians of
# ROUNDS=75 rounds in one boot of a guest. The latter are only good for ratios: the last
# column is the median of each round's ratio.
# FLOOD_WRITE=1 writes the table into Documentation/.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd -P) && cd "$top" || exit 1
kernel=6.12 out=$top/.cache/flood rounds=${ROUNDS:-75}
fail() { echo "flood: $*" >&2; exit 1; }

[ -r ".cache/kernels/$kernel/vmlinux" ] || { echo "flood: no guest kernel $kernel here; make setup downloads it" >&2; exit 4; }
mkdir -p "$out" && exec 8>"$out/lock" && flock 8 || exit 1
tests/bench/bench.sh -f >"$out/exact" || fail "no instructions"
tests/vm/guest.sh -k "$kernel" -t 500 -o "$out" -- bash -c "set -e
	strip -g -o /run/weir.ko \$WEIR_KO && insmod /run/weir.ko && modprobe pktgen
	PATH=$top/userspace:\$PATH tests/bench/flood 10000 $rounds" >"$out/rounds" || fail "the guest did not end well"

awk '
	NF == 2 {
		what = FILENAME ~ /exact/ ? "exact" : "rounds"
		value[what, $1, ++count[what, $1]] = $2
		if (what == "exact" && count[what, $1] == 1) order[++n] = $1
	}
	function median(what, way,   i, j, t, k) {
		k = count[what, way]
		for (i = 1; i <= k; i++) for (j = i + 1; j <= k; j++)
			if (value[what, way, j] < value[what, way, i]) {
				t = value[what, way, i]
				value[what, way, i] = value[what, way, j]
				value[what, way, j] = t
			}
		return (value[what, way, int((k + 1) / 2)] + value[what, way, int((k + 2) / 2)]) / 2
	}
	function ratios(way,   i) {
		for (i = 1; i <= count["rounds", way]; i++)
			value["ratio", way, i] = 100 * value["rounds", "prefix", i] / value["rounds", way, i]
		count["ratio", way] = count["rounds", way]
	}
	END {
		for (i = 1; i <= n; i++) ratios(order[i])
		printf "%-16s %18s %12s %22s %12s\n", "", "instructions", "over prefix", "packets/s (median)", "of prefix"
		for (i = 1; i <= n; i++) {
			m[order[i]] = median("rounds", order[i])
			exact[order[i]] = median("exact", order[i])
		}
		for (i = 1; i <= n; i++) {
			w = order[i]
			printf "%-16s %18.0f %12.0f %22.0f %11.1f%%\n", w, exact[w], exact[w] - exact["prefix"],
				1e9 / m[w], median("ratio", w)
		}
	}' "$out/exact" "$out/rounds" >"$out/table"
cat "$out/table"
[ -z "${FLOOD_WRITE:-}" ] || tests/bench/splice.sh -l Documentation/performance.rst tests/bench/flood.sh <"$out/table"
