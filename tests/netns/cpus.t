#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# cpus.t: two CPUs with packets of the same source never exceed its budget
. "$(dirname "$0")/lib.sh"
need_tool
need_cpus 2

# both SOURCE: flood from both CPUs, each through its own device
both() {
	local cpu
	for cpu in 0 1; do
		send_args -i tx$cpu -s "$1"
		taskset -c $cpu send "${args[@]}" >/dev/null &
		pids+=($!)
	done
}
# both_charge: both CPUs have charged. While one CPU of the host runs both, one takes all packets.
both_charge() {
	local cpu
	for cpu in 0 1; do grep -qm1 weir_charge "$TRACING/per_cpu/cpu$cpu/trace" || return; done
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
	recount
	trace_start
	both 198.51.100.1
	let_pass 1000
	holds "$name: both CPUs charge" wait_for 60 both_charge
	quiet
	trace_stop
	line=$(traced -T "$window" -L "$packets")
	ok $? "$name: never more than the budget" || diag "$line"
	is "$(value cpus "$line")" 2 "$name: both CPUs charged"
	is "$(passed)" "$(value amount "$line")" "$name: the packets charged are those that passed"
	# A wheel covers its window and a slot.
	if [ "$(stats dropped)" = 0 ]; then
		is "$(passed)" "$(stats seen)" "$name: ... and all of them, as nothing was refused"
	else
		within "$(value max "$(traced -T $((window + slot)))")" "$packets" $((2 * packets)) "$name: ... and where something was refused they are all of the budget"
	fi
	unload
done
finish
