#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# cpus.t: two CPUs that carry one source never admit one packet too many
. "$(dirname "$0")/lib.sh"
need_tool
need_cpus 2

# both MS SOURCE: flood from either CPU, through a device of its own
both() {
	tx taskset -c 0 send -i tx0 -d 192.0.2.1 -s "$2" -t "$1" >/dev/null &
	tx taskset -c 1 send -i tx1 -d 192.0.2.1 -s "$2" -t "$1" >/dev/null
	wait "$!"
}

# A small budget, where almost all is refused without a lock, one that opens
# again and again, and one that is hardly ever full, where all is charged.
for budget in "7 40 4" "300 20 1" "3000 100 5" "30000 1000 16"; do
	read -r packets ms slots <<<"$budget"
	wheel "$ms" "$slots"
	load "packets=$packets" "window_ms=$ms" "slots=$slots" || bail "cannot load"
	if [ -z "${tx:-}" ]; then
		pair init
		link tx1 rx1 02:00:00:00:00:01
	fi
	name="$packets packets in $ms ms, $slots slots"
	# Where one CPU runs both of a guest's, one of them may take all of few.
	for _ in 1 2 3 4 5; do
		recount
		trace_start
		both 1000 198.51.100.1
		trace_stop
		line=$(traced -T "$window" -L "$packets")
		never_more=$?
		if [ "$never_more" != 0 ] || [ "$(value cpus "$line")" = 2 ]; then break; fi
	done
	ok $never_more "$name: never more" || diag "$line"
	is "$(value cpus "$line")" 2 "$name: both CPUs charged"
	is "$(passed)" "$(value amount "$line")" "$name: what was charged is what went on"
	least=$((packets * HZ / (window + slot) / 2))
	half=$(($(stats seen) / 2)) # where less comes than there is room for
	[ "$least" -le "$half" ] && [ "$least" -gt 0 ] || least=$half
	within "$(value amount "$line")" "$least" 999999 "$name: and not much less"
	unload
done
finish
