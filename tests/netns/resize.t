#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# resize.t: the table's size, the window, the slots and the unit change under a flood
. "$(dirname "$0")/lib.sh"
need_cpus 2
begin_with <<<"limit add r budget 40/200ms slots 4 sources 1000"
trace_start weir_charge weir_uncharge
flooding -s 198.51.100.1 -n 3 -R -r 4000 -b 100,60 -t 900000
flooding -s 198.18.0.1 -n 300 -R -r 4000 -t 900000

# admits_much: in the next 300 ms
admits_much() {
	trace_start weir_charge weir_uncharge
	let_pass 300
	trace_stop
	keeps
	[ "$(value max "$line")" -ge 15 ]
}
keeps() { line=$(traced -l r -T "$(ms_ticks 200)" -L 40) || broken=$line; }
# changed NAME WORDS...: apply each change. No 200 ms has more than the budget, not even
# across the change; and then some have much of it, as counts of a longer window expire
changed() {
	local name=$1 words line broken=''
	shift
	trace_start weir_charge weir_uncharge
	let_pass 300
	for words; do
		weir limit set r $words >/dev/null 2>"$tmp/said" || bail "cannot set $words: $(<"$tmp/said")"
	done
	let_pass 300
	trace_stop
	keeps
	holds "$name: in some 200 ms the new table admits much" wait_for 60 admits_much
	is "$broken" "" "$name: ... but never more than the budget"
}
changed "larger" "sources 100000" "sources 4000"
changed "smaller" "sources 500" "sources 64" "sources 400"
changed "more slots" "slots 10" "slots 25"
changed "fewer slots" "slots 4" "slots 1" "slots 4"
changed "a longer window" "budget 40/400ms" "budget 40/800ms"
changed "a shorter window" "budget 40/400ms" "budget 40/200ms"
changed "wider counts" "budget 40/200ms sources 100000" "slots 10 sources 300" "slots 4 sources 1000"
# 40 packets of 46 bytes
changed "packets to bytes" "budget 1840/200ms bytes"
changed "bytes to packets" "budget 40/200ms packets"
quiet
is "$(stats unmatched)" 0 "every packet matched"
is "$(stats seen)" "$(arrived)" "... and was seen"
is "$(passed)" "$(stats admitted)" "the packets admitted are those that passed"
is "$(stat_of r matched.packets)" "$(arrived)" "the counters are kept across changes"

# Whose count is small gives way in a smaller table, not who has used up the budget
# squeezed SOURCES: a table of 5000 with heavy and light sources is made so small
squeezed() {
	weir limit flush
	weir limit add s budget 100/10m sources 5000 >/dev/null
	later -s 203.0.113.1 -n 10 -c 1100
	later -s 10.7.0.0 -n 2500 -c 2500
	later -s 10.7.0.0 -n 500 -c 1500
	later -s 203.0.113.11 -n 10 -c 1100
	deliver
	weir -q limit set s sources "$1" >/dev/null
	is "$(weir -q -brief source show 203.0.113.0/24 | grep -c .)" 20 "sources $1: the heavy ones keep their places"
	admits 0 "... and have no room" -s 203.0.113.1 -n 20 -c 20
	admits 400 "... and new ones find room above what the light ones had" -s 10.100.0.1 -n 400 -c 400
}
squeezed 256
squeezed 1024
finish
