#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# bench.sh [ROW...]: instructions per packet of weir, hashlimit and nft, for all rows of
# the file rows, or those named. QEMU counts them and derives the guest's time from the
# count, so results are exact and equal on all machines. Prints a table; status 1 if a
# row of weir needs over 2 % more than in the file expected.
# bench.sh -p ROW [TOOL]: instructions per function, of weir or TOOL.
# bench.sh -f: the cost of a flooded namespace, end to end, by the script flood.
# Rows named xdp-* are XDP programs, weir's question and two peers: the files of xdp/.
# BENCH_TOOLS=weir measures weir alone and prints no tables; nor does it measure again what has passed
# with the same files. BENCH_WRITE=1 writes the file expected, and the table into Documentation/;
# BENCH_NO_BUILD=1 does not rebuild the modules.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd -P) && cd "$top" || exit 1
kernel=6.12 out=$top/.cache/bench expected=tests/bench/expected
fail() { echo "bench: $*" >&2; exit 1; }

[ -r ".cache/kernels/$kernel/vmlinux" ] || { echo "bench: no guest kernel $kernel here; make setup downloads it" >&2; exit 4; }
[ -n "${BENCH_NO_BUILD:-}" ] || tests/bench/build.sh "$kernel" || fail "the modules do not build"
mkdir -p "$out" && exec 9>"$out/lock" && flock 9 || exit 1
passed=''
if [ "$#${BENCH_WRITE:-}${BENCH_TOOLS:-}" = 0weir ]; then
	passed="$({ qemu-system-x86_64 --version && cat userspace/weir tests/bench/{bench.sh,init,initramfs.sh,rows,cell,xdp/xdp,expected} \
		".cache/kernels/$kernel/vmlinux" ".cache/build/$kernel/weir.ko" .cache/build/bench/"$kernel"/{*.ko,xdp_*}; } 2>&1 | sha256sum)"
	if grep -qxF "$passed" "$out/passed" 2>/dev/null; then
		echo "bench: the same files have passed"
		exit
	fi
fi
tests/bench/initramfs.sh "$kernel" "$out/initramfs" tests/bench/{rows,cell,flood,xdp/xdp} || exit 1

# machine WORD...: set $qemu to run the guest, with WORDs for its kernel. One CPU, no
# clock but the instruction count, no input from outside. Mitigations such as return
# thunks are off: current CPUs do not need the costly ones.
machine() {
	qemu=(timeout --foreground -k 5 600 qemu-system-x86_64 -M pc -accel tcg -icount "shift=0,sleep=off" -smp 1
		-cpu qemu64 -rtc "base=2024-01-01,clock=vm" -m 512 -nodefaults -no-user-config
		-display none -no-reboot -kernel ".cache/kernels/$kernel/vmlinux" -initrd "$out/initramfs"
		-append "console=ttyS0 quiet loglevel=5 panic=-1 oops=panic reboot=t mitigations=off nokaslr norandmaps tsc=reliable pci=noacpi cryptomgr.notests $*"
		-serial "file:$out/console")
}

rm -f "$out"/{console,cells}
if [ "${1:-}" = -p ]; then
	machine "weir.profile weir.rows=$2 weir.tools=${3:-weir}"
	xdp=() && [[ $2 != xdp-* ]] || xdp=(-x)
	tests/bench/profile.py "${xdp[@]}" -l ".cache/build/$kernel/weir.ko" "${qemu[@]}" >"$out/profile" || exit
	cat "$out/profile"
	# without lines of source, and what is below a hundredth
	[ -z "${BENCH_WRITE:-}" ] || grep -v '^ \{12\}' "$out/profile" |
		awk '$2 == "all" { least = $1 / 100 } !/^ / || $1 >= least' |
		tests/bench/splice.sh -l Documentation/performance.rst "bench.sh $*"
	exit
fi
rows=$(IFS=, && echo "$*")
case ${1:-} in
-f) machine weir.flood ;;
*) machine "${rows:+weir.rows=$rows}" "${BENCH_TOOLS:+weir.tools=$BENCH_TOOLS}" ;;
esac
"${qemu[@]}" -serial "file:$out/cells" </dev/null >&2
sed -i 's/\r$//' "$out/cells"
if [ "$(tail -n 1 "$out/cells")" != @end ] || grep -hE 'BUG:|WARNING:|Oops|Call Trace|Kernel panic' "$out/console"; then
	tail -n 20 "$out/console" "$out/cells" >&2
	fail "the guest did not end well"
fi
if [ "${1:-}" = -f ]; then
	awk '
		NF == 2 && /[0-9]$/ { way[++n] = $1; cost[$1] = $2 }
		END {
			printf "%-16s %18s %12s\n", "", "instructions", "over prefix"
			for (i = 1; i <= n; i++) printf "%-16s %18.0f %12.0f\n", way[i], cost[way[i]], cost[way[i]] - cost["prefix"]
			exit n != 8 && n != 11
		}' "$out/cells" >"$out/table" || { cat "$out/cells" >&2; fail "the flood failed"; }
	cat "$out/table"
	[ -z "${BENCH_WRITE:-}" ] || tests/bench/splice.sh -l Documentation/performance.rst "bench.sh -f" <"$out/table"
	exit
fi
grep -vE '^(@end|[a-z0-9-]+ [a-z]+ [0-9]+ [0-9]+ [0-9]+ [0-9]+)$' "$out/cells" >&2 && fail "a cell failed"

# ROW TOOL INSTRUCTIONS, for each cell
awk 'NF == 6 { printf "%s %s %.2f\n", $1, $2, $5 / $3 }' "$out/cells" >"$out/result"

# Verdicts must match the file rows; one in a thousand may differ, as token buckets
# refill during the run.
awk '
	FNR == NR { if ($1 !~ /^#/ && NF) { want[$1, "weir"] = $2; want[$1, "hashlimit"] = $3; want[$1, "nft"] = $4 }; next }
	/^xdp-/ && $2 != "empty" { want[$1, $2] = $1 ~ /drop/ || ($1 ~ /refused/ && $2 == "weir") ? "drop" : "accept" }
	NF == 6 && ($1, $2) in want {
		other = want[$1, $2] == "accept" ? $3 - $4 : $4
		if (other > $3 / 1000) { printf "bench: %s of %s packets: %s does not %s\n", $1, $3, $2, want[$1, $2]; bad = 1 }
	}
	END { exit bad }' tests/bench/rows "$out/cells" >&2 || fail "verdicts differ from the rows"

awk '
	BEGIN {
		printf "%-20s %6s %12s %13s %13s   %s\n", "instructions", "a", "", "", "", "weir is 1/N of"
		printf "%-20s %6s %12s %13s %13s %11s %6s\n", "a packet", "hook", "weir", "hashlimit", "nft", "hashlimit", "nft"
	}
	function base(row, tool) { return cost[row, verdict[row, tool]] }
	function ratio(row, tool) { return !((row, tool) in cost) ? "-" : sprintf("%.2f", over(row, tool) / over(row, "weir")) }
	function over(row, tool) { return cost[row, tool] - base(row, tool) }
	function cell(row, tool) { return !((row, tool) in cost) ? "-" : sprintf("%d (%d)", cost[row, tool] + .5, over(row, tool) + .5) }
	FILENAME ~ /result/ { cost[$1, $2] = $3; next }
	/^#/ { text[$2] = substr($0, index($0, $3)); next }
	NF && ($1, "weir") in cost {
		verdict[$1, "weir"] = $2; verdict[$1, "hashlimit"] = $3; verdict[$1, "nft"] = $4
		printf "%-20s %6d %12s %13s %13s %11s %6s\n", $1, base($1, "weir") + .5,
			cell($1, "weir"), cell($1, "hashlimit"), cell($1, "nft"),
			ratio($1, "hashlimit"), ratio($1, "nft")
	}' "$out/result" tests/bench/rows >"$out/table"
[ -n "${BENCH_TOOLS:-}" ] || cat "$out/table"
awk '
	$1 !~ /^xdp-/ { next }
	!($1 in seen) { seen[$1]; row[++n] = $1 }
	{ cost[$1, $2] = $3 }
	function cell(r, p) { return (r, p) in cost ? sprintf("%d (%d)", cost[r, p], cost[r, p] - cost[r, "empty"]) : "-" }
	END {
		if (n) printf "%-16s %6s %12s %12s %12s\n", "instructions", "empty", "weir", "LRU hash", "spin lock"
		for (i = 1; i <= n; i++) printf "%-16s %6d %12s %12s %12s\n", row[i], cost[row[i], "empty"], cell(row[i], "weir"), cell(row[i], "lru"), cell(row[i], "lock")
	}' "$out/result" >"$out/table.xdp"
[ -n "${BENCH_TOOLS:-}" ] || cat "$out/table.xdp"

# Do not blame weir for the code of another compiler.
made="made by gcc $(strings -n 8 ".cache/build/$kernel/weir.ko" | sed -nE 's/^GCC: .* ([0-9]+)\.[0-9.]+$/\1/p;T;q')"
if [ -n "${BENCH_WRITE:-}" ]; then
	[ "$#${BENCH_TOOLS:-}" = 0 ] || fail "the file is written whole"
	{
		echo "# SPDX-License-Identifier: GPL-2.0-or-later" && echo "# $made" &&
			awk '$1 != row { printf "%s%s", end, row = $1; end = "\n" } { printf " %s %s", $2, $3 } END { print "" }' "$out/result"
	} >"$expected" &&
		tests/bench/splice.sh -l Documentation/performance.rst "make bench" <"$out/table" &&
		tests/bench/splice.sh -l Documentation/performance.rst "make bench, XDP" <"$out/table.xdp" &&
		echo "bench: $expected and Documentation/performance.rst are written"
	exit
fi
[ -e "$expected" ] || exit 0
strict=1
grep -qxF "# $made" "$expected" || { strict='' && echo "bench: $expected is not of a weir $made; no growth fails"; }
awk -v strict="$strict" '
	/^#/ { next }
	FNR == NR { for (i = 2; i < NF; i += 2) was[$1, $i] = $(i + 1); next }
	!(($1, $2) in was) { printf "bench: %s %s is new: %s\n", $1, $2, $3; next }
	{ now = $3; then = was[$1, $2]; percent = 100 * (now - then) / then }
	percent > 2 || percent < -2 {
		printf "bench: %s %s: %.2f, was %.2f (%+.1f %%)\n", $1, $2, now, then, percent
		if ($2 == "weir" && percent > 2) bad = strict
	}
	END { if (bad) print "bench: a row has grown by more than 2 %; BENCH_WRITE=1 if that is meant"; exit bad + 0 }' "$expected" "$out/result" || exit
[ -z "$passed" ] || echo "$passed" >>"$out/passed"
