#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# burst.t: after a window and a slot of silence, and not earlier, the whole budget
# may be sent at once
. "$(dirname "$0")/lib.sh"
# 50 packets in 400 ms; bursts of 55, separated by a window, a slot and a tick of
# silence, or by half a window.
for slots in 1 4 16; do
	wheel 400 "$slots"
	enough=$(((window + slot + 1) * 1000 / HZ)) short=$((window * 500 / HZ))
	load packets=50 window_ms=400 "slots=$slots" || bail "cannot load"
	[ -n "${tx:-}" ] || pair init
	trace_start weir_charge weir_drop
	flooding -s 198.51.100.1 -c 55 -N "3,$enough"
	flood -s 198.51.100.2 -c 55 -N "3,$short"
	flooded
	trace_stop
	line=$(traced -T "$window" -L 50)
	ok $? "slots $slots: no window has more than its budget" || diag "$line"
	line=$(traced -S 198.51.100.1)
	is "$(value amount "$line"):$(value dropped "$line")" 150:15 \
		"slots $slots: three full bursts, $enough ms of silence between"
	line=$(traced -S 198.51.100.2)
	# On a slow machine the bursts span more windows.
	windows=$((1 + ($(value last "$line") - $(value first "$line")) / window))
	within "$(value amount "$line")" 50 $((50 * windows)) "slots $slots: no full bursts after $short ms"
	unload
done
finish
