#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# counters.t: at rest the counters add up to what the hook's own trace says,
# and to what came in and went on
. "$(dirname "$0")/lib.sh"
begin
config <<-WORDS || bail "cannot configure"
	limit add watch budget 30/10s slots 4 from 198.51.100.0/24 action observe
	limit add tcp budget 40/10s slots 4 proto tcp
	limit add bytes budget 4000/10s bytes slots 4 from 198.51.100.0/24
	limit add tiny budget 3/10s slots 4 from 192.168.0.0/16
	limit add six budget 1/10s family ipv6 sources 64
	exempt add 10.0.0.0/8
	exempt add 198.51.100.3 limit watch
WORDS
trace_start weir_charge weir_uncharge weir_drop weir_limited
flooding -s 198.51.100.1 -n 4 -R -r 3000 -c 600
flooding -s 198.51.100.1 -n 4 -P tcp -l 60 -r 3000 -R -c 600
flooding -s 192.168.0.1 -n 3 -R -P tcp -l 5000 -G 1000 -r 300 -c 60
flooding -s 10.0.0.1 -r 1000 -c 200
flooding -s 203.0.113.1 -r 1000 -c 200
flooding -s 2001:db8:1::1 -n 2000 -R -B 64 -r 3000 -c 1000
flooding -s 198.51.100.9 -P tcp -x 00 -r 100 -c 20
flooded
trace_stop

weir -json -stats limit show >"$tmp/limits"
weir -json stats show >"$tmp/stats"
declare -A counter
while read -r name number; do counter[$name]=$number; done <<-LINES
	$(jq -r '.[] | .name as $n | .stats | paths(scalars) as $p | "\($n).\($p | join(".")) \(getpath($p))"' "$tmp/limits"
	jq -r '.[0] | to_entries[] | "all.\(.key) \(.value)"' "$tmp/stats")
LINES
of() { echo "${counter[$1.$2]:-0}"; }
all() { of all "$1"; }
for limit in watch tcp bytes tiny six; do
	packets=$(traced -l "$limit") bytes=$(traced -l "$limit" -b)
	is "$(of $limit admitted.packets):$(of $limit admitted.bytes)" "$(value amount "$packets"):$(value amount "$bytes")" \
		"$limit: admitted is what was charged and not given back"
	is "$(of $limit dropped.packets):$(of $limit dropped.bytes)" "$(value dropped "$packets"):$(value dropped "$bytes")" \
		"$limit: dropped is what was dropped"
	is "$(of $limit matched.packets)" \
		$(($(of $limit admitted.packets) + $(of $limit dropped.packets) + $(of $limit would_drop.packets) + $(of $limit elsewhere.packets))) \
		"$limit: matched is the sum of all"
done
[ "$(of watch would_drop.packets)" -gt 0 ] &&
	[ "$(of tcp elsewhere.packets)" -gt 0 ] && [ "$(of six floor_refused.packets)" -gt 0 ]
ok $? "each counter has counted something" || diag "$(<"$tmp/limits")"
is "$(of tiny too_large.packets)" "$(of tiny dropped.packets)" "what can never fit is counted apart"
is "$(of tiny admitted.packets)" 0 "... and never fits"
is "$(all seen)" "$(arrived)" "seen is what came"
is "$(all seen)" $(($(all exempt) + $(all unmatched) + $(all admitted) + $(all dropped))) "... and the sum of all"
is "$(all dropped)" "$(grep -c ' weir_drop: ' "$tmp/trace")" "dropped is what was dropped"
is "$(passed)" $(($(all seen) - $(all dropped))) "what was not dropped went on"
is "$(all exempt)" 200 "exempt ones are counted"
is "$(all unmatched)" 200 "those that met no limit are counted"
is "$(all unparsable)" 20 "those cut short are counted"
is "$(jq '[.[].memory] | add' "$tmp/limits")" "$(all memory)" "memory is that of all tables"
is "$(all limits):$(all exempts)" 5:2 "limits and exemptions are counted"
shown=$(weir -json source show limit tcp idle | jq '[.[].dropped] | add')
is "$shown" "$(of tcp dropped.packets)" "the refusals of the sources are those of the limit"
finish
