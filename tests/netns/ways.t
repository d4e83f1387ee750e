#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ways.t: each way to count, alone and beside each other one. Who sends as much as possible at
# the worst moment gets exactly what limit show states as the most; in a flood from two CPUs
# no window has more, and nobody is starved
. "$(dirname "$0")/lib.sh"
need_cpus 2
SHORT=400 LONG=1600 # ms
ways=(strict lenient fixed exact bucket calendar total)
# Source 7 i + j has way i with a short window, and if j is not i, way j with a long one.
for i in "${!ways[@]}"; do
	for j in "${!ways[@]}"; do
		name=${ways[i]} second=''
		[ "$i" = "$j" ] || name+=-${ways[j]} second=$(budget "${ways[j]}" ${LONG}ms 30)
		echo "limit add $name $(budget "${ways[i]}" ${SHORT}ms 12) $second from 198.18.0.$((7 * i + j)) sources 64"
	done
done >"$tmp/limits"
clock() { date -u -s "$1" >/dev/null || bail "the clock cannot be set"; }
date=$(date -u +%s)
began=$(cut -d. -f1 /proc/uptime)
begin_with <"$tmp/limits"

# limits, window_ms and most of all budgets
weir -json limit show | jq -r '.[] | .limit as $n | .budgets[] | [$n, .window_ms, .most] | @tsv' >"$tmp/most"
is "$(grep -c . "$tmp/most")" $((7 + 2 * 42)) "limit show states the most of each budget"
# flooding_both SEND-OPTION...: from both CPUs, in the background
flooding_both() {
	local cpu
	send_args "$@"
	for cpu in 0 1; do
		taskset -c $cpu send "${args[@]}" >/dev/null &
		pids+=($!)
	done
}
# measure: of each budget in $tmp/most, the name of its limit, window_ms, most, and of the trace,
# the largest amount in such a window, the amount in all, and the number of CPUs
measure() {
	local ms ticks
	for ms in $SHORT $LONG 60000 0; do
		ticks=$(ms_ticks "$ms")
		[ "$ms" != 0 ] || ticks=1000000000
		traced -T "$ticks" | sed "s/^/window_ms=$ms /"
	done | awk '
		FNR == NR { for (i = 1; i <= NF; i++) { split($i, is, "="); is_of[is[1]] = is[2] }
			got[is_of["limit"], is_of["window_ms"]] = is_of["max"] " " is_of["amount"] " " is_of["cpus"]; next }
		{ print $0, ($1, $2) in got ? got[$1, $2] : "0 0 0" }' - "$tmp/most" >"$tmp/measured"
}

# The adversary of each way but calendars: silent, then all that it gets, from the middle of a slot on. The
# sources with a single budget are eight apart. It has three attempts at it, in case that the machine
# is busy during one; none of them gets more than the most.
declare -A best=()
adversary() {
	local way
	let_pass $((SHORT + SHORT / 4 + 100))
	trace_start weir_charge weir_uncharge
	flooding_both -t 1800 -A $SHORT,$((SHORT / 8)) -s 198.18.0.0 -n 7 -B 3
	flooded
	trace_stop
	measure
	while read -r way _ _ max _; do
		[ "$max" -le "${best[$way]:-0}" ] || best[$way]=$max
	done <"$tmp/measured"
}
adversary
adversary
adversary
is "${best[strict]}" 12 "strict: any window has up to the budget"
is "${best[exact]}" 12 "exact: likewise"
is "${best[total]}" 12 "total: all of the trace has"
is "${best[lenient]}" 24 "lenient: twice the budget, before a slot ends and after"
is "${best[fixed]}" 24 "fixed: twice the budget, before a window ends and after"
# The slots of T before a burst end before it, so that the last of them has leaked into it
within "${best[bucket]}" 17 18 "bucket: the burst and a budget, but for what leaks in the burst's slot"

# The minute ends when it has been used up.
ends_at() { [ "$(date -u -d "$(weir -json limit show calendar | json renews)" +%T)" = "$1" ]; }
# has NUMBER: it sends, and has been admitted so often since
has() {
	flood -s 198.18.0.40 -c 20
	[ "$(stat_of calendar admitted.packets)" -ge $((admitted + $1)) ]
}
clock "2027-06-15 11:15:00"
wait_for 60 ends_at 11:16:00
admitted=$(stat_of calendar admitted.packets)
trace_start weir_charge weir_uncharge
holds "calendar: before a minute ends" wait_for 60 has 12
clock "2027-06-15 11:16:00"
holds "... and after" wait_for 60 has 24
trace_stop
measure
is "$(awk '$1 == "calendar" { print $4 }' "$tmp/measured")" 24 "... twice the budget, and no more"

weir source forget 198.18.0.48 >/dev/null # of total
clock "2027-06-15 11:20:30"
wait_for 60 ends_at 11:21:00
weir limit reset
recount
trace_start weir_charge weir_uncharge
flooding_both -s 198.18.0.0 -n 49
# admitted NUMBER: each calendar has let so many pass
admitted() {
	weir -json -stats limit show |
		jq -e "[.[] | select(.limit | startswith(\"calendar\")).stats.admitted.packets >= $1] | all" >/dev/null
}
holds "the calendars are used up" wait_for 60 admitted 12
clock "2027-06-15 11:21:00"
holds "... and again" wait_for 60 admitted 24
let_pass 3500
quiet
at_rest() { local n; n=$(passed) && rest; [ "$(passed)" = "$n" ]; }
wait_for 60 at_rest
trace_stop
measure
# Half of what a source gets that never pauses: others use the machine, too
declare -A least=([strict]=48 [lenient]=48 [fixed]=48 [exact]=48 [bucket]=48 [calendar]=24 [total]=12
	[-strict]=30 [-lenient]=30 [-fixed]=30 [-exact]=30 [-bucket]=30 [-calendar]=30 [-total]=30)
last=''
while read -r name window_ms most max amount cpus; do
	if [ "$name" != "$last" ]; then
		last=$name first=${least[${name%-*}]} second=${least[-${name#*-}]}
		[ "$name" != "${name%-*}" ] || second=$first
		holds "$name: gets what both guarantee" [ "$amount" -ge $((first < second ? first : second)) ] || diag "$amount"
		both=$((${both:-0} + (cpus == 2)))
	fi
	holds "$name: never more than $most in $window_ms ms" [ "$max" -le "$most" ] || diag "$max"
done <"$tmp/measured"
holds "most sources were charged by both CPUs" [ "$both" -gt 25 ] || diag "$both"
is "$(grep -c ' weir_charge: ' "$tmp/trace")" "$(passed)" "the packets charged are those that passed"
clock "@$((date + $(cut -d. -f1 /proc/uptime) - began))"
finish
