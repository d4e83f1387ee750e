#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# params.t: module parameters: invalid ones are refused, valid ones take effect
. "$(dirname "$0")/lib.sh"
expect_log '^weir: ([a-z0-9_]+=.*(: | is not )|.* invalid for parameter |.* has more values |.* needs |sources=16777216 takes |`0000)'

# refused PARAMETER PATTERN WORD...: WORDs should be refused because of PARAMETER, with PATTERN
names=() patterns=() words=() statuses=() said=()
refused() {
	names+=("$1") patterns+=("$2")
	shift 2
	words+=("$*")
	echo "weir-test: $*" >/dev/kmsg
	said+=("$(load "$@" 2>&1)")
	statuses+=($?)
	! loaded || unload
}

packets='0\.\.4294967295' either=', in 1\.\.4294967295, or bytes, in 1\.\.72057594037927936$'
refused packets "$either" packets=0 window_ms=1000
refused packets "=4294967296 is not in $packets" packets=4294967296 window_ms=1000
refused packets "=-1 is not in $packets" packets=-1 window_ms=1000
refused packets "=ten is not in $packets" packets=ten window_ms=1000
refused packets "= is not in $packets" packets= window_ms=1000
refused packets "=0x10 is not in $packets" packets=0x10 window_ms=1000
refused packets "= \(value 2\) is not in $packets" packets=1,,3 window_ms=1000,2000,3000
refused packets "= \(value 3\) is not in $packets" packets=1,2, window_ms=1000,2000,3000
refused packets "=4294967296 \(value 4\) is not in $packets" packets=1,2,3,4294967296 window_ms=1000,2000,3000,4000
refused packets 'has more values than 4' packets=1,2,3,4,5 window_ms=1000
refused packets "$either" window_ms=1000
refused packets "$either" window_ms=1000,2000
refused packets "$either" observe=1
refused bytes '0\.\.72057594037927936' bytes=72057594037927937 window_ms=1000
refused "budget 1 needs either packets" "$either" bytes=0 window_ms=1000
refused "budget 2 needs either packets" "$either" packets=1,0 bytes=0,0 window_ms=1000,2000
refused "budget 2 needs either packets" "$either" packets=1,2 bytes=0,2 window_ms=1000,2000
refused bytes 'as many values as there are budgets, 3, and has 2' packets=1,0,3 bytes=0,2 window_ms=1000,2000,3000
refused packets 'as many values as there are budgets, 2, and has 1' packets=1 bytes=0,2 window_ms=1000,2000
refused window_ms '0\.\.2592000000' packets=1 window_ms=2592000001
refused window_ms '=9: a window has at least 10 ms; 0 is the total' packets=1 window_ms=9
refused window_ms '=9 \(value 2\): a window has at least 10 ms' packets=1,2,3 window_ms=1000,9,1000
refused window_ms 'as many values as there are budgets, 1, and has 0' packets=1
refused window_ms 'as many values as there are budgets, 2, and has 1' packets=1,2 window_ms=1000
refused window_ms 'as many values as there are budgets, 1, and has 2' packets=1 window_ms=1000,2000
refused slots '=0 is not in 1\.\.64' packets=1 window_ms=1000 slots=0
refused slots '=65 is not in 1\.\.64' packets=1 window_ms=1000 slots=65
refused slots "=64 is not in 1\.\.$((100 * HZ / 1000)): slots would be shorter" packets=1 window_ms=100 slots=64
refused slots "=64 \(value 2\) is not in 1\.\.$((100 * HZ / 1000)): slots would be shorter" packets=1,2 window_ms=1000,100 slots=0,64
refused slots 'as many values as there are budgets, 2, and has 1' packets=1,2 window_ms=1000,2000 slots=4
refused slots '=4: a fixed or calendar window or a total is a single slot' packets=1 window_ms=0 slots=4
refused slots '=4: a fixed .* is a single slot' packets=1 window_ms=1000 slots=4 mode=fixed
refused slots '=4: a fixed .* is a single slot' packets=1 window_ms=60000 slots=4 mode=calendar
refused slots '=4: a bucket has no slots' packets=1 window_ms=1000 slots=4 mode=bucket
refused slots '=5 \(value 2\): exact has no slots' packets=1,2 window_ms=1000,2000 slots=4,5 mode=strict,exact
modes='is not strict, lenient, fixed, bucket, exact or calendar'
refused mode "=sliding $modes" packets=1 window_ms=1000 mode=sliding
refused mode "=0 $modes" packets=1 window_ms=1000 mode=0
refused mode "= $modes" packets=1 window_ms=1000 mode=
refused mode "=Log \(value 2\) $modes" packets=1,2 window_ms=1000,2000 mode=exact,Log
refused mode 'as many values as there are budgets, 1, and has 2' packets=1 window_ms=1000 mode=exact,exact
refused window_ms '=0: a bucket drains by its budget' packets=1 window_ms=0 mode=bucket
refused window_ms '=0 \(value 1\): exact counts in a window' packets=1,2 window_ms=0,1000 mode=exact,exact
refused window_ms '=1000: a calendar has minutes, hours' packets=1 window_ms=1000 mode=calendar
refused packets '=57: exact counts at most 56 packets, 54' packets=57 window_ms=1000 mode=exact
refused packets '=55 \(value 2\): exact counts at most 56 packets, 54' packets=9,55 window_ms=1000,2000 mode=exact,exact prefix6=128
refused bytes '=5: exact .* counts packets' bytes=5 window_ms=1000 mode=exact
refused bytes '=5 \(value 2\): exact .* counts packets' packets=5,0 bytes=0,5 window_ms=1000,2000 mode=exact,exact
refused burst '0\.\.70368744177664' packets=1 window_ms=1000 mode=bucket burst=70368744177665
refused burst '=5: a burst is what a bucket holds' packets=1 window_ms=1000 burst=5
refused burst '=5 \(value 1\): a burst is what a bucket holds' packets=1,2 window_ms=1000,2000 mode=exact,bucket burst=5,6
refused burst '=4097: a burst is at most 4096 times' packets=1 window_ms=1000 mode=bucket burst=4097
refused burst '=4294967296: a bucket holds at most' packets=2000000 window_ms=1000 mode=bucket burst=4294967296
refused burst 'as many values as there are budgets, 2, and has 1' packets=1,2 window_ms=1000,2000 mode=bucket,bucket burst=5
refused bytes '=70368744177665 \(value 2\): a bucket holds at most' packets=1,0 bytes=0,70368744177665 window_ms=1000,1000 mode=bucket,bucket
day=(packets=1 window_ms=86400000 mode=calendar)
refused tz_offset 'say calendar, too' packets=1 window_ms=86400000 tz_offset=3600
refused tz_offset '=50460 is not in -50400\.\.50400' "${day[@]}" tz_offset=50460
refused tz_offset '=-50460 is not in -50400\.\.50400' "${day[@]}" tz_offset=-50460
refused tz_offset '=1h is not in -50400\.\.50400' "${day[@]}" tz_offset=1h
refused tz_offset '=3601 is not in whole minutes' "${day[@]}" tz_offset=3601
refused penalty_ms '=999: a penalty lasts a second at least' packets=1 window_ms=1000 penalty_ms=999
refused penalty_ms '0\.\.315360000000' packets=1 window_ms=1000 penalty_ms=315360000001
refused penalty_ms '=1000: a prefix length of 0' packets=1 window_ms=1000 penalty_ms=1000 prefix4=0
refused renew '=1: refusals renew a penalty; renew requires one' packets=1 window_ms=1000 renew=1
refused renew '=1: refusals renew a penalty; renew requires one' packets=1 window_ms=1000 penalty_ms=0 renew=1
refused renew '0\.\.1' packets=1 window_ms=1000 penalty_ms=1000 renew=2
refused prefix4 '0\.\.32' packets=1 window_ms=1000 prefix4=33
refused prefix6 '0\.\.128' packets=1 window_ms=1000 prefix6=129
refused sources '64\.\.16777216' packets=1 window_ms=1000 sources=63
refused sources '64\.\.16777216' packets=1 window_ms=1000 sources=16777217
refused sources 'has more values than 1' packets=1 window_ms=1000 sources=64,64
refused observe '0\.\.1' packets=1 window_ms=1000 observe=2

# Leave out the kernel's own lines, of the first load and of invalid numbers.
echo "weir-test: end" >/dev/kmsg
dmesg -t | grep '^weir' | grep -v 'out-of-tree\|verification\|invalid for parameter' >"$tmp/log"
for i in "${!names[@]}"; do
	is "${statuses[i]}" 1 "${words[i]}: refused"
	like "${said[i]}" "Invalid (parameters|argument)" "... with EINVAL"
	log=$(awk -v begin="weir-test: ${words[i]}" '/^weir-test/ { on = $0 == begin; next } on' "$tmp/log")
	[ "$(grep -c . <<<"$log")" = 1 ] && [[ $log =~ ^weir:\ .*${names[i]}.*${patterns[i]} ]]
	ok $? "... and one line in the log names the parameter and what would be right" || diag "$log"
done

# A value that is longer than a line of the log
log_mark
load packets="$(printf %02000d 0)x" window_ms=1000 2>/dev/null
like "$(log_since | grep '^weir: packets=')" "^weir: packets=0{100} is not in $packets\$" "a long value: the log names the range"

# A table that memory cannot hold
need_tool
free() { awk '$1 == "MemFree:" { print $2 }' /proc/meminfo; }
log_mark
before=$(free)
told=$(load packets=4294967295 window_ms=60000 slots=64 sources=16777216 2>&1)
is "$?:$(loaded; echo $?)" 1:1 "a table beyond all memory: refused"
like "$told" "Cannot allocate memory" "... with ENOMEM"
log=$(log_since | grep '^weir')
like "$log" $'^weir: sources=16777216 takes ([0-9]+) bytes: not enough memory for the table; try a smaller one$' \
	"... and one line in the log says how many bytes it takes"
bytes=${BASH_REMATCH[1]:-0}
is "$(grep -c '\[weir\]' /proc/kallsyms):$(($(free) < before - 65536))" 0:0 "... no symbol and no memory stays"
load
like "$(rx='' weir limit add x budget 4294967295/60s slots 64 sources 16777216 to ::/0 2>&1)" "\(requires $bytes bytes, $((bytes >> 20)) MiB\)\$" \
	"... as many as the tool reports for such a limit"
holds "... enough for the counts of all sources" [ "$bytes" -gt $((16777216 * 65 * 4)) ]
unload

holds "no parameters: loads" load
pair init
flood -s 198.51.100.1 -c 5
is "$(arrived):$(stats seen)" 5:0 "... and has no hook, which would see packets"
if nft list hooks >/dev/null 2>&1; then
	is "$(nft list hooks | grep -c '\[weir\]')" 0 "... nor does the kernel list one"
else
	skip "this kernel does not list hooks" "... nor does the kernel list one"
fi
holds "... and goes" unload

# shows NAME=VALUE...: sysfs says the same
shows() {
	is "$(cd /sys/module/weir/parameters && for p in "${@%%=*}"; do echo "$p=$(<"$p")"; done | xargs)" "$*" "$*: sysfs says the same"
}
all=(packets=5 window_ms=1000 slots=5 prefix4=24 prefix6=48 sources=1000 observe=0)
holds "${all[*]}: loads" load "${all[@]}"
shows "${all[@]}"
is "$(cd /sys/module/weir/parameters && stat -c '%A %n' -- * | grep -v -- '^-r--r--r--')" $'-rw-r--r-- frozen_until\n-rw-r--r-- userns' \
	"... and all but frozen_until and userns are read-only"
holds "... and goes" unload

load packets=010 window_ms=01000
is "$(cat /sys/module/weir/parameters/{packets,window_ms} | xargs)" "10 1000" "numbers are decimal, even with leading zeroes"
shows bytes=0 slots=0 mode=strict burst=0 tz_offset=0 penalty_ms=0 renew=0 prefix4=32 prefix6=64 sources=65536 observe=0
unload

# told: the limit as a line of a file, and all of it
told() {
	weir save
	weir -json limit show | sed -E 's/"renews":[0-9]*,?//g'
}
# as_tool "WORD..." PARAMETER...: they make the limit that the tool makes of WORDs
as_tool() {
	local limit=$1 made
	shift
	load "$@" || diag "$*: does not load"
	shows "$@"
	made=$(told)
	weir limit del default >/dev/null
	# shellcheck disable=SC2086 # words
	weir limit add default $limit >/dev/null 2>&1
	is "$made" "$(told)" "... and the limit is $limit"
	unload
}
as_tool "budget 5/s" packets=5 window_ms=1000
as_tool "budget 5/s slots 7 lenient" packets=5 window_ms=1000 slots=7 mode=lenient
as_tool "budget 5/s fixed" packets=5 window_ms=1000 mode=fixed
as_tool "budget 5/s bucket" packets=5 window_ms=1000 mode=bucket
as_tool "budget 5/s bucket burst 20480" packets=5 window_ms=1000 mode=bucket burst=20480
as_tool "budget 56/s exact" packets=56 window_ms=1000 mode=exact
as_tool "budget 54/s exact per 0,128" packets=54 window_ms=1000 mode=exact prefix4=0 prefix6=128
as_tool "budget 5/month calendar" packets=5 window_ms=2592000000 mode=calendar
as_tool "budget 5/day calendar tz +02:00" packets=5 window_ms=86400000 mode=calendar tz_offset=7200
as_tool "budget 5/day calendar tz -03:30" packets=5 window_ms=86400000 mode=calendar tz_offset=-12600
as_tool "budget 5/week calendar tz +14:00" packets=5 window_ms=604800000 mode=calendar tz_offset=50400
as_tool "budget 5/day calendar tz +00:00" packets=5 window_ms=86400000 mode=calendar tz_offset=0
as_tool "budget 10k/total" packets=10000 window_ms=0
as_tool "budget 4294967295/30d" packets=4294967295 window_ms=2592000000
as_tool "budget 72057594037927936/10ms bytes" bytes=72057594037927936 window_ms=10
as_tool "budget 1M/s bytes bucket burst 64k" packets=0 bytes=1000000 window_ms=1000 mode=bucket burst=64000
as_tool "budget 5/s penalty 10m" packets=5 window_ms=1000 penalty_ms=600000 renew=0
as_tool "budget 5/s penalty 10m renew" packets=5 window_ms=1000 penalty_ms=600000 renew=1
as_tool "budget 5/s penalty 3650d action observe sources 64" packets=5 window_ms=1000 penalty_ms=315360000000 sources=64 observe=1
as_tool "budget 100/1s slots 10 budget 2k/1m bucket burst 50 budget 1G/1d bytes fixed budget 20/1h exact penalty 1m" \
	packets=100,2000,0,20 bytes=0,0,1000000000,0 window_ms=1000,60000,86400000,3600000 slots=10,0,0,0 \
	mode=strict,bucket,fixed,exact burst=0,50,0,0 penalty_ms=60000
as_tool "budget 1M/total bytes budget 20/s slots 64 lenient budget 5k/day calendar tz -01:00" \
	packets=0,20,5000 bytes=1000000,0,0 window_ms=0,1000,86400000 slots=0,64,0 mode=strict,lenient,calendar tz_offset=-3600

# The parameters take effect: a /24 shares 5 packets, a /48 another 5.
load "${all[@]}"
recount
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
