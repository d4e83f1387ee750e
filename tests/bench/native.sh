#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# native.sh [ROW...]: nanoseconds per packet of weir, hashlimit and nft at this machine's
# speed, for all rows of the file native-rows, or those named, in User-Mode Linux on two
# CPUs. Needs root. Rows named xdp-*: UML has no compiler for BPF, so there weir's question is
# called as an XDP program would; the peers of xdp/ run on the machine's own kernel.
#
# Does BOOTS=5 boots of REPS=3 repetitions each; native.py makes the tables. BENCH_WRITE=1
# writes them into Documentation/performance.rst.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd -P) && cd "$top" || exit 1
out=$top/.cache/bench/native boots=${BOOTS:-5} reps=${REPS:-3}
fail() { echo "bench-native: $*" >&2; exit 1; }
[ "$(id -u)" = 0 ] || fail "network namespaces and a priority take root"

# Build the modules and the tool.
build() {
	local to=$top/.cache/build/uml
	mkdir -p "$to/bench"
	make --no-print-directory modules "KDIR=$linux" "BUILD=$to" ARCH=um CONFIG_DEBUG_INFO_BTF_MODULES= >"$to.log" 2>&1 &&
		cp tests/bench/module/* "$to/bench/" &&
		make --no-print-directory -C "$linux" "M=$to/bench" ARCH=um CONFIG_DEBUG_INFO_BTF_MODULES= modules >>"$to.log" 2>&1 &&
		mv "$to/bench/weir_bench.ko" "$to/" && make --no-print-directory -s -C userspace >>"$to.log" 2>&1 && return
	tail -n 30 "$to.log" >&2
	fail "the modules do not build"
}

# Print the conditions of the measurement.
circumstances() {
	local where=$1
	echo "# $where"
	sed -n 's/^model name\t*: /# processor: /p;T;q' /proc/cpuinfo
	echo "# $(LC_ALL=C lscpu | sed -nE 's/^(L[23] cache): *(.*)/\1 \2/p' | paste -sd, | sed 's/,/, /g'), $(nproc) CPUs$(grep -qw hypervisor /proc/cpuinfo && echo ' of a virtual machine')"
	echo "# module: $(git describe --always --dirty 2>/dev/null || echo unknown), $(date -u +%F)"
}
# Load and steal around a boot, and the time per cache line of a pointer chase through
# the memory of a million sources, and of 65,536
state() {
	echo "# $1: load $(cut -d ' ' -f 1 /proc/loadavg), stolen $(awk '/^cpu /{ print $9 }' /proc/stat) ticks, a line of 72 MiB takes $("$out/lines" 72) ns, of 7 MiB $("$out/lines" 7)"
}

# peers ROW...: the peers of XDP rows, after each boot; prints as native-cells does
peers() {
	local i row sources warm count entries program ns dropped
	for ((i = 1; i <= reps; i++)); do
		while read -r row sources warm count entries; do
			[ $# = 0 ] || [[ " $* " = *" $row "* ]] || continue
			for program in empty clock lru lock; do
				ns=$(chrt -r 1 "$out/xdp_run" "$out/xdp_peers.o" "${program}_$sources" lo "$warm" "$count" "$entries") || return
				read -r ns dropped <<<"$ns"
				echo "$row $program $i 1 $count $((count - dropped)) $((ns * count)) 0 0"
			done
		done <<-ROWS
			xdp-drop-1 1 4096 1000000 131072
			xdp-drop-64k 64k $((12 << 16)) 1000000 131072
			xdp-drop-1m 1m $((12 << 20)) 1000000 2097152
			xdp-new-refused 16m 262144 400000 131072
		ROWS
	done
}

uml() {
	local boot word
	mkdir -p "$out/huge" || exit 1
	mountpoint -q "$out/huge" || mount -t tmpfs -o huge=always,size=6g,mode=700 weir-bench "$out/huge" ||
		fail "no memory file system of huge pages"
	trap 'umount "$out/huge"' EXIT
	word=$(IFS=, && echo "$*")
	for ((boot = 1; boot <= boots; boot++)); do
		{
			state "boot $boot"
			TMPDIR=$out/huge timeout -k 5 1200 chrt -r 1 setsid "$linux/linux" mem=3072M ncpus=2 seccomp=on \
				root=/dev/root rootfstype=hostfs rootflags=/ ro quiet panic=1 con=null con0=fd:0,fd:1 \
				"init=$top/tests/bench/native-init" "weir.top=$top" "weir.reps=$reps" "weir.rows=$word" </dev/null
			[ ! -e "$out/xdp_run" ] || peers "$@"
			state "boot $boot over"
		} >"$out/boot.$boot" 2>&1
		grep -q '^@end' "$out/boot.$boot" || { tail -n 20 "$out/boot.$boot" >&2; fail "boot $boot did not end"; }
		grep -E 'failed:|BUG:|WARNING:|Oops|Call Trace' "$out/boot.$boot" && fail "boot $boot went wrong"
		echo "bench-native: boot $boot of $boots is over" >&2
	done
}

mkdir -p "$out" && rm -f "$out"/boot.* || exit 1
${CC:-gcc} -std=gnu11 -O2 -Wall -Wextra -o "$out/lines" tests/bench/lines.c || exit 1
! { command -v clang && [ -e /usr/include/bpf/libbpf.h ]; } >/dev/null || make --no-print-directory -s -C tests/bench "OUT=$out" xdp || exit 1
linux=$(tests/vm/uml-build.sh bench) || exit
build
circumstances "User-Mode Linux ${linux##*/} on $(uname -r)" >"$out/circumstances"
uml "$@"

for place in "make bench-native" "make bench-native, XDP"; do
	tests/bench/native.py "$out" "$place" >"$out/table" || exit 1
	[ -s "$out/table" ] || continue
	cat "$out/table"
	[ -z "${BENCH_WRITE:-}" ] || tests/bench/splice.sh -l Documentation/performance.rst "$place" <"$out/table" || exit 1
done
