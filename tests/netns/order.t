#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# order.t: packets traverse the limits in order: as added, or placed with "before"
. "$(dirname "$0")/lib.sh"
need_cpus 2
begin
order() { weir -json limit show | jq -r '.[].name' | xargs; }
# blamed LIMIT:COUNT NAME...: send three packets of a new source. LIMIT drops two of
# them, and has dropped COUNT then
n=0
blamed() {
	drops >"$tmp/before"
	n=$((n + 1))
	flood -s "198.51.100.$n" -c 3
	is "$(drops | grep -vxFf "$tmp/before" | xargs)" "$@"
}
drops() { weir -json -stats limit show | jq -r '.[] | .name + ":" + (.stats.dropped.packets | tostring)'; }

quietly weir limit add a budget 1/m
quietly weir limit add b budget 1/m
is "$(order)" "a b" "limits are listed in the order added"
blamed a:2 "... and packets traverse them in that order"
quietly weir limit add c budget 1/m before a
is "$(order)" "c a b" "add with before"
blamed c:2 "... places the limit first"
quietly weir limit add d budget 1/m before b
is "$(order)" "c a d b" "add before another limit"
quietly weir limit set c before b
is "$(order)" "a d c b" "set moves backwards"
blamed a:4 "... the second limit becomes the first"
quietly weir limit set b before a
is "$(order)" "b a d c" "set moves forwards"
blamed b:2 "... the last limit becomes the first"
quietly weir limit set b action observe
is "$(order)" "b a d c" "set without before keeps the order"
quietly weir limit del a
is "$(order)" "b d c" "del keeps the order"
blamed d:2 "... also for packets"
weir limit add e budget 1/m before nobody >/dev/null 2>&1
is "$?:$(order)" "2:b d c" "before a limit that does not exist: refused, nothing changes"
finish
