#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ways-changes.t: in a flood from two CPUs, each way to count is changed into each other one and
# back, and so are the number, order and unit of several budgets. No interval that spans a change
# has more than the new way admits and what the old one had let go
. "$(dirname "$0")/lib.sh"
need_cpus 2
ways=(strict lenient fixed exact bucket calendar total)
# What a way admits in 400 ms, and what it may have let go of that. No minute ends here.
declare -A most=([strict]=12 [lenient]=24 [fixed]=24 [exact]=12 [bucket]=18 [calendar]=12 [total]=12)
declare -A gone=([strict]=0 [lenient]=12 [fixed]=12 [exact]=0 [bucket]=12 [calendar]=0 [total]=0)
# In each of these a strict budget has twelve packets of 46 bytes in 400 ms.
several=("budget 12/400ms slots 4 strict"
	"budget 12/400ms slots 4 strict budget 30/1s bucket"
	"budget 30/1s fixed budget 12/400ms slots 4"
	"budget 50/2s exact budget 12/400ms slots 4 budget 60/4s lenient budget 9000/total"
	"budget 552/400ms bytes slots 4 strict budget 40/2s"
	"budget 20/800ms slots 4 strict budget 12/400ms slots 4 budget 100000/1m bytes")
n=${#ways[@]} ticks=$(ms_ticks 400)
# changes VERB STEP ROUND: limit i to the way that is so many after its own
changes() {
	local i
	for ((i = n - 1; i >= 0; i--)); do
		echo "limit $1 l$i $(budget "${ways[(i + $2) % n]}" 400ms 12) ${4:+from 198.18.$i.0/24 sources 64}"
	done
	echo "limit $1 several ${several[$3 % ${#several[@]}]} ${4:+from 198.18.$n.0/24 sources 64}"
}
clock() { date -u -s "$1" >/dev/null || bail "the clock cannot be set"; }
date=$(date -u +%s)
began=$(cut -d. -f1 /proc/uptime)
changes add 0 0 whole >"$tmp/limits"
begin_with <"$tmp/limits"

# Sources that have used their budgets for long, and new ones that use them now
flood_all() {
	local cpu source
	for cpu in 0 1; do
		for source in 250 "$1"; do
			send_args -s "198.18.0.$source" -n $((n + 1)) -B 8 -r 3000
			taskset -c $cpu send "${args[@]}" >/dev/null &
			pids+=($!)
		done
	done
}
# Each difference between ways once, which is all pairs
round=0 at=0
for step in 1 0 2 0 3 0; do
	clock "2027-06-15 11:10:01"
	trace_start weir_charge weir_uncharge
	flood_all $((round + 1))
	let_pass $((100 + 40 * round))
	round=$((round + 1))
	# One by one, and back all at once
	if [ "$step" != 0 ]; then
		changes set "$step" "$round" >"$tmp/changes"
		weir -batch "$tmp/changes" >"$tmp/said" 2>&1
	else
		changes add 0 "$round" whole | config
	fi
	ok $? "round $round: changed under the flood" || diag "$(<"$tmp/said")"
	let_pass 800
	quiet
	trace_stop
	declare -A max=() amount=()
	traced -T "$ticks" | sed -nE 's/^limit=([^ ]+) .* max=([0-9]+) .*/\1 \2/p' >"$tmp/windows"
	while read -r limit got; do max[$limit]=$got; done <"$tmp/windows"
	traced -s | sed -nE 's/.* source=([^ ]+) .* amount=([0-9]+) .*/\1 \2/p' >"$tmp/sources"
	while read -r source got; do amount[$source]=$got; done <"$tmp/sources"
	for ((i = 0; i < n; i++)); do
		old=${ways[(i + at) % n]} new=${ways[(i + step) % n]} bound=$((gone[$old] + most[$new]))
		[ "$bound" -ge "${most[$old]}" ] || bound=${most[$old]}
		within "${max[l$i]:-}" 6 "$bound" "from $old to $new: no 400 ms has more than $bound"
		case $new in calendar | total) continue ;; esac
		within "${amount[198.18.$i.$round]:-}" 13 9999 "... and a source gets more later"
	done
	is "${max[several]:-}" 12 "to ${several[round % ${#several[@]}]}: the budget"
	at=$step
done
clock "@$((date + $(cut -d. -f1 /proc/uptime) - began))"
finish
