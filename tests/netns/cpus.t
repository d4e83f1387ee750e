#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# cpus.t: two CPUs with packets of the same source never exceed its budget
. "$(dirname "$0")/lib.sh"
need_tool
need_cpus 2

# both MS SOURCE: flood from both CPUs, each through its own device
both() {
	tx taskset -c 0 send -i tx0 -d 192.0.2.1 -s "$2" -t "$1" >/dev/null &
	tx taskset -c 1 send -i tx1 -d 192.0.2.1 -s "$2" -t "$1" >/dev/null
	wait "$!"
}

# A small budget, where almost all refusals are lockless; two that fill and open
# repeatedly; and one that is hardly ever full, where all packets are charged.
for budget in "7 40 4" "300 20 1" "3000 100 5" "30000 1000 16"; do
	read -r packets ms slots <<<"$budget"
	wheel "$ms" "$slots"
	load "packets=$packets" "window_ms=$ms" "slots=$slots" || bail "cannot load"
	if [ -z "${tx:-}" ]; then
		pair init
		link tx1 rx1 02:00:00:00:00:01
	fi
	name="$packets packets in $ms ms, $slots slots"
	# If one host CPU runs both of the guest's, one of these may take all packets.
	for _ in 1 2 3 4 5; do
		recount
		trace_start
		both 1000 198.51.100.1
		trace_stop
		line=$(traced -T "$window" -L "$packets")
		never_more=$?
		if [ "$never_more" != 0 ] || [ "$(value cpus "$line")" = 2 ]; then break; fi
	done
	ok $never_more "$name: never more than the budget" || diag "$line"
	is "$(value cpus "$line")" 2 "$name: both CPUs charged"
	is "$(passed)" "$(value amount "$line")" "$name: the packets charged are those that passed"
	least=$((packets * HZ / (window + slot) / 2))
	half=$(($(stats seen) / 2)) # if fewer arrive than the budget admits
	[ "$least" -le "$half" ] && [ "$least" -gt 0 ] || least=$half
	within "$(value amount "$line")" "$least" 999999 "$name: ... and not much less"
	unload
done
finish
