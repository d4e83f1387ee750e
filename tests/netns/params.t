#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# params.t: module parameters: invalid ones are refused, valid ones take effect
. "$(dirname "$0")/lib.sh"
expect_log '^weir: (.* is not in |.* invalid for parameter |packets needs |a limit needs |sources=16777216 takes )'

# refused PARAMETER RANGE WORD...: WORDs should be refused because of PARAMETER
names=() ranges=() words=() statuses=() said=()
refused() {
	names+=("$1") ranges+=("$2")
	shift 2
	words+=("$*")
	echo "weir-test: $*" >/dev/kmsg
	said+=("$(load "$@" 2>&1)")
	statuses+=($?)
	! loaded || unload
}

refused packets '1\.\.4294967295' packets=0 window_ms=1000
refused packets '1\.\.4294967295' packets=4294967296 window_ms=1000
refused packets '1\.\.4294967295' packets=-1 window_ms=1000
refused packets '1\.\.4294967295' packets=ten window_ms=1000
refused packets '1\.\.4294967295' packets= window_ms=1000
refused packets '1\.\.4294967295' packets=0x10 window_ms=1000
refused window_ms '10\.\.2592000000' packets=1 window_ms=9
refused window_ms '10\.\.2592000000' packets=1 window_ms=2592000001
refused slots '1\.\.64' packets=1 window_ms=1000 slots=0
refused slots '1\.\.64' packets=1 window_ms=1000 slots=65
refused slots "1\.\.$((100 * HZ / 1000))" packets=1 window_ms=100 slots=64
refused prefix4 '0\.\.32' packets=1 window_ms=1000 prefix4=33
refused prefix6 '0\.\.128' packets=1 window_ms=1000 prefix6=129
refused sources '64\.\.16777216' packets=1 window_ms=1000 sources=63
refused sources '64\.\.16777216' packets=1 window_ms=1000 sources=16777217
refused observe '0\.\.1' packets=1 window_ms=1000 observe=2
refused window_ms '10\.\.2592000000' packets=1
refused packets '1\.\.4294967295' window_ms=1000
refused packets '1\.\.4294967295' observe=1

# Leave out the kernel's own lines, of the first load and of invalid numbers.
echo "weir-test: end" >/dev/kmsg
dmesg -t | grep '^weir' | grep -v 'out-of-tree\|verification\|invalid for parameter' >"$tmp/log"
for i in "${!names[@]}"; do
	is "${statuses[i]}" 1 "${words[i]}: refused"
	like "${said[i]}" "Invalid (parameters|argument)" "... with EINVAL"
	log=$(awk -v begin="weir-test: ${words[i]}" '/^weir-test/ { on = $0 == begin; next } on' "$tmp/log")
	[ "$(grep -c . <<<"$log")" = 1 ] && [[ $log =~ ^weir:\ .*${names[i]}.*${ranges[i]} ]]
	ok $? "... and one line in the log names the parameter and its range" || diag "$log"
done

# A table that memory cannot hold
need_tool
free() { awk '$1 == "MemFree:" { print $2 }' /proc/meminfo; }
log_mark
before=$(free)
told=$(load packets=4294967295 window_ms=60000 slots=64 sources=16777216 2>&1)
is "$?:$(loaded; echo $?)" 1:1 "a table beyond all memory: refused"
like "$told" "Cannot allocate memory" "... with ENOMEM"
log=$(log_since | grep '^weir')
like "$log" $'^weir: sources=16777216 takes ([0-9]+) bytes: not enough memory for a table of so many sources; try fewer$' \
	"... and one line in the log says how many bytes it takes"
bytes=${BASH_REMATCH[1]:-0}
is "$(grep -c '\[weir\]' /proc/kallsyms):$(($(free) < before - 65536))" 0:0 "... no symbol and no memory stays"
load
like "$(rx='' weir limit add x budget 4294967295/60s slots 64 sources 16777216 to ::/0 2>&1)" "\(requires $bytes bytes, $((bytes >> 20)) MiB\)\$" \
	"... as many as the tool reports for such a limit"
holds "... enough for the counts of all sources" [ "$bytes" -gt $((16777216 * 65 * 4)) ]
unload

holds "no parameters: loads" load
is "$(rx='' && nft list hooks 2>/dev/null | grep -c weir)" 0 "... and has no hook"
holds "... and goes" unload

all=(packets=5 window_ms=1000 slots=5 prefix4=24 prefix6=48 sources=1000 observe=0)
holds "${all[*]}: loads" load "${all[@]}"
is "$(cd /sys/module/weir/parameters && for p in packets window_ms slots prefix4 prefix6 sources observe; do echo "$p=$(<$p)"; done | xargs)" \
	"${all[*]}" "... and sysfs says the same"
is "$(stat -c %A /sys/module/weir/parameters/* | sort -u)" "-r--r--r--" "... which is read-only"
holds "... and goes" unload

load packets=010 window_ms=01000
is "$(cat /sys/module/weir/parameters/{packets,window_ms} | xargs)" "10 1000" "numbers are decimal, even with leading zeroes"
unload

# The parameters take effect: a /24 shares 5 packets, a /48 another 5.
load "${all[@]}"
pair init
trace_start weir_charge weir_drop
flood -s 198.51.100.1 -n 100 -c 100
flood -s 2001:db8:1::1 -n 100 -B 64 -c 100
trace_stop
line=$(traced -p 24,48)
is "$(value limit "$line")" default "the limit's name is default"
is "$(value sources "$line"):$(value amount "$line")" 2:10 "a /24 and a /48 each have their budget"
is "$(value dropped "$line")" 190 "the rest is dropped"
is "$(passed)" 10 "... and does not pass"
unload
load packets=5 window_ms=1000 observe=1
recount
flood -s 198.51.100.1 -c 100
is "$(passed)" 100 "observe=1 drops nothing"
finish
