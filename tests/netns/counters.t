#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# counters.t: at rest the counters agree with the trace of weir's hook, and with
# nftables counters before and after weir
. "$(dirname "$0")/lib.sh"
begin
# Counters in front of weir, one per limit; some are corrected below.
nft -f - <<-'RULES' || bail "no nft"
	table inet probe {
		counter for_watch { }
		counter for_tcp { }
		counter for_bytes { }
		counter for_tiny { }
		counter for_six { }
		chain front {
			type filter hook prerouting priority -460;
			ip saddr 198.51.100.0/24 ip saddr != 198.51.100.3 counter name for_watch
			ip saddr != 192.168.0.0/16 ip saddr != 10.0.0.0/8 meta l4proto tcp counter name for_tcp
			ip saddr 198.51.100.0/24 counter name for_bytes
			ip saddr 192.168.0.0/16 counter name for_tiny
			meta nfproto ipv6 counter name for_six
		}
	}
RULES
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
	$(jq -r '.[] | .limit as $n | .stats | paths(scalars) as $p | "\($n).\($p | join(".")) \(getpath($p))"' "$tmp/limits"
	jq -r '.[0] | to_entries[] | "all.\(.key) \(.value)"' "$tmp/stats")
LINES
of() { echo "${counter[$1.$2]:-0}"; }
all() { of all "$1_packets"; }
# A GRO packet here is 5 segments, each with 40 bytes of headers. Packets that tcp
# dropped did not reach the limits behind it.
declare -A came
nft list counters table inet probe | awk '$1 == "counter" { name = $2 } $1 == "packets" { print name, $2, $4 }' >"$tmp/came"
while read -r name packets bytes; do came[${name#for_}]="$packets $bytes"; done <"$tmp/came"
read -r packets bytes <<<"${came[tiny]}"
came[tiny]="$((packets * 5)) $((bytes + packets * 4 * 40))"
read -ra more <<<"${came[tiny]} ${came[tcp]}"
came[tcp]="$((more[0] + more[2])) $((more[1] + more[3]))"
read -ra less <<<"$(awk '/ weir_drop: .*limit=tcp saddr=::ffff:198\.51\.100\./ {
	match($0, /bytes=[0-9]+/); packets++; bytes += substr($0, RSTART + 6, RLENGTH - 6) } END { print packets + 0, bytes + 0 }' "$tmp/trace")"
read -r packets bytes <<<"${came[bytes]}"
came[bytes]="$((packets - less[0])) $((bytes - less[1]))"
for limit in watch tcp bytes tiny six; do
	packets=$(traced -l "$limit") bytes=$(traced -l "$limit" -b)
	is "$(of $limit admitted.packets):$(of $limit admitted.bytes)" "$(value amount "$packets"):$(value amount "$bytes")" \
		"$limit: admitted is what was charged and not uncharged"
	is "$(of $limit dropped.packets):$(of $limit dropped.bytes)" "$(value dropped "$packets"):$(value dropped "$bytes")" \
		"$limit: dropped agrees with the trace"
	is "$(of $limit matched.packets) $(of $limit matched.bytes)" "${came[$limit]}" "$limit: matched agrees with nftables"
done
[ "$(of watch would_drop.packets)" -gt 0 ] &&
	[ "$(of tcp elsewhere.packets)" -gt 0 ] && [ "$(of six floor_refused.packets)" -gt 0 ]
ok $? "each counter has counted something" || diag "$(<"$tmp/limits")"
is "$(of six floor_refused.bytes)" $(($(of six floor_refused.packets) * 66)) "... in bytes, too"
is "$(of tcp would_drop.packets):$(of watch dropped.packets)" 0:0 "would_drop is 0 with action drop, dropped is 0 with observe"
is "$(of tiny too_large.packets)" "$(of tiny dropped.packets)" "packets larger than the budget are counted as too_large"
is "$(of tiny admitted.packets)" 0 "... and never admitted"
is "$(all seen)" "$(arrived)" "seen is the number that arrived"
is "$(all dropped)" "$(grep -c ' weir_drop: ' "$tmp/trace")" "dropped agrees with the trace"
is "$(passed)" $(($(all seen) - $(all dropped))) "all others passed"
is "$(all exempt)" 200 "exempt packets are counted"
is "$(all unmatched)" 200 "packets that match no limit are counted"
is "$(all unparsable)" 20 "truncated packets are counted"
is "$(jq '[.[].memory] | add' "$tmp/limits")" "$(of all memory)" "memory is the sum of all tables"
is "$(of all limit_count):$(of all exempt_count)" 5:2 "limits and exemptions are counted"
shown=$(weir -json source show limit tcp idle | jq '[.[].dropped_packets] | add')
is "$shown" "$(of tcp dropped.packets)" "the sources' drops add up to the limit's"
# Each source sends one packet: if admitted, it is in the table, or was evicted.
config <<<"limit add full budget 20/1h sources 64" || bail "cannot configure"
flood -s 203.0.113.0 -n 5000 -c 5000
is "$(stat_of full admitted.packets)" $(($(stat_of full evictions) + $(stat_of full sources_now))) \
	"evictions are the admitted sources no longer in the table"
holds "... some hundreds" [ "$(stat_of full evictions)" -gt 100 ] || weir -s limit show
finish
