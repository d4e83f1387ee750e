#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# order.t: limits are met in their order, that of creation or as before says
. "$(dirname "$0")/lib.sh"
need_cpus 2
begin
order() { weir -json limit show | jq -r '.[].name' | xargs; }
# blamed LIMIT:COUNT NAME...: of three packets of a new source two are dropped,
# by this limit, which has dropped so many then
n=0
blamed() {
	drops >"$tmp/before"
	n=$((n + 1))
	flood -s "198.51.100.$n" -c 3
	is "$(drops | grep -vxFf "$tmp/before" | xargs)" "$@"
}
drops() { weir -json -stats limit show | jq -r '.[] | .name + ":" + (.stats.dropped.packets | tostring)'; }
quietly() { "$@" >/dev/null 2>"$tmp/said" || diag "$(<"$tmp/said")"; }

quietly weir limit add a budget 1/m
quietly weir limit add b budget 1/m
is "$(order)" "a b" "the order of creation"
blamed a:2 "... is that of the packet's way"
quietly weir limit add c budget 1/m before a
is "$(order)" "c a b" "before"
blamed c:2 "... places in front"
quietly weir limit add d budget 1/m before b
is "$(order)" "c a d b" "before another"
quietly weir limit set c before b
is "$(order)" "a d c b" "set moves backwards"
blamed a:4 "... and who was second is first"
quietly weir limit set b before a
is "$(order)" "b a d c" "set moves forwards"
blamed b:2 "... and who was last is first"
quietly weir limit set b action observe
is "$(order)" "b a d c" "set keeps the place"
quietly weir limit del a
is "$(order)" "b d c" "del keeps the order"
blamed d:2 "... and so does the packet's way"
weir limit add e budget 1/m before nobody >/dev/null 2>&1
is "$?:$(order)" "2:b d c" "before nobody: refused, and nothing changes"
finish
