#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# advise.t: limit advise reads captures of each kind and says what is wrong with others; what it proposes
. "$(dirname "$0")/lib.sh"
make=$top/tests/cli/advise.py

# one packet a file: what is read of it is seen by conditions that it meets
python3 "$make" "$tmp" || skip_all "no captures"
says <<'LINES'
1 | limit advise | ^weir: limit advise: required: NAME
1 | limit advise web for | ^weir: limit advise: 'for' requires a value: TIME
1 | limit advise web for 10ms | ^weir: limit advise: for: 10ms is out of range 1s..1d
1 | limit advise web for 1m -pcap udp.pcap | ^weir: limit advise: '-pcap' and 'for' cannot be combined$
1 | limit advise web tcp | ^weir: limit advise: conditions and per are those of the limit; others can be given with -pcap$
1 | limit advise web per 24 | ^weir: limit advise: conditions and per are those of the limit
0 | -check limit advise web for 1m budget 5/s |
1 | limit advise web -pcap | ^weir: limit advise: '-pcap' requires a value: FILE
1 | limit advise web -pcap nosuch | ^weir: limit advise: -pcap: nosuch: No such file or directory$
1 | limit advise web -pcap . | ^weir: limit advise: -pcap: .*irectory
1 | limit advise web -pcap empty | ^weir: limit advise: -pcap: truncated dump file
1 | limit advise web -pcap /dev/zero | ^weir: limit advise: -pcap: unknown file format$
1 | limit advise web -pcap none.pcap | no packet in it would meet the limit \(0 do not match, 0 are not of IP, of 0 too little was captured\)$
1 | limit advise web -pcap arp.pcap | no packet in it would meet the limit \(0 do not match, 1 are not of IP, of 0 too little was captured\)$
1 | limit advise web -pcap wifi.pcap | ^weir: limit advise: wifi.pcap: frames of link type IEEE802_11 are not understood; capture Ethernet, IP or 'any'$
1 | limit advise web -pcap snapped.pcap udp dport 9 | no packet in it would meet the limit \(0 do not match, 0 are not of IP, of 1 too little was captured\)$
1 | limit advise web -pcap snapped.pcap tcp dport 9 | \(1 do not match, 0 are not of IP, of 0 too
0 | limit advise web -pcap snapped.pcap udp dev eth0 |
5 | limit advise web -pcap cut.pcap | ^weir: limit advise: cut.pcap: truncated dump file.*; what precedes was looked at$
1 | limit advise web -pcap udp.pcap tcp | no packet in it would meet the limit \(1 do not match, 0 are not of IP, of 0 too little was captured\)$
1 | limit advise web -pcap udp.pcap budget 5/day calendar | ^weir: limit advise: a calendar is not judged
1 | limit advise web -pcap udp.pcap from-list x | ^weir: limit advise: from-list: lists are in the module; give their prefixes$
1 | limit advise web -pcap udp.pcap dport 53 | ^weir: limit advise: dport requires a protocol with ports
1 | limit advise web -pcap udp.pcap budget 5/10ms slots 15 | ^weir: limit advise: slots: 15 do not fit a window of 10ms
1 | limit advise web -pcap udp.pcap budget 100/1s bytes exact | exact
1 | limit advise web -pcap udp.pcap budget 100/1s sources 7 | ^weir: limit advise: unknown word 'sources'
0 | limit advise web -pcap udp.pcap udp sport 1024 dport 9 from 198.51.100.7 to 192.0.2.1 not frag |
0 | limit advise web -pcap nano.pcap |
0 | limit advise web -pcap swapped.pcap |
0 | limit advise web -pcap ng.pcapng |
0 | limit advise web -pcap vlan.pcap udp dport 9 |
0 | limit advise web -pcap qinq.pcap udp dport 9 |
0 | limit advise web -pcap raw.pcap udp dport 9 |
0 | limit advise web -pcap sll.pcap udp dport 9 |
0 | limit advise web -pcap sll2.pcap udp dport 9 |
0 | limit advise web -pcap null.pcap udp dport 9 |
0 | limit advise web -pcap syn.pcap tcp syn dport 9 |
1 | limit advise web -pcap syn.pcap tcp not syn dport 9 | 1 do not match
0 | limit advise web -pcap later.pcap frag |
1 | limit advise web -pcap later.pcap udp dport 9 | 1 do not match
0 | limit advise web -pcap ipv6.pcap from 2001:db8::/32 udp dport 9 |
0 | limit advise web -pcap ipv6ext.pcap udp dport 9 |
0 | limit advise web -pcap short.pcap udp dport 9 |
LINES
run -j limit advise web -pcap ipv6.pcap
is "$(jq -r '.largest[0].source, .bytes' <<<"$out" | xargs)" "2001:db8:1:2::/64 66" "a source is counted as its /64, and its bytes from the IP header on"
run -j limit advise web -pcap ipv6.pcap per 32,128
is "$(jq -r '.largest[0].source' <<<"$out")" 2001:db8:1:2::7 "... or whole"
run -j limit advise web -pcap udp.pcap per 0
is "$(jq -r '.largest[0].source' <<<"$out")" all "... or all as one"
run limit advise web -pcap udp.pcap dev eth0 mark 7
like "$out" 'match: the device and the mark of packets are not in a capture' "what a capture does not have is said"
run limit advise web -pcap snap.pcap udp dport 9
like "$out" $'^web: 1 packet \\(.* of 1 source in.*\n  *cut: whether 2 packets match, of which too little was captured: they are left out' "a packet that was cut before its ports is not taken to match"
run limit advise web -pcap snap.pcap udp
like "$out" $'^web: 3 packets' "... unless its ports are not asked for"
"$weir" limit advise web -pcap - <udp.pcap >out
is "$?" 0 "- is stdin"
run limit advise web -pcap cut.pcap
like "$out" $'^web: 2 packets .* of 1 source' "of a capture that is cut off the rest is looked at"
run limit advise web -pcap udp.pcap budget 5/s bucket burst 9
like "$out" $'given\n *5/s bucket  ' "what is judged has its way to count"

# Of what many sources send
proposes() { # FILE WORDS NAME
	run limit advise web -pcap "$1"
	is "$(sed -n 's/^    weir limit add web //p' <<<"$out")" "$2" "$3"
}
proposes calm.pcap "budget 70/s sources 1024" "nobody stands out: twice the most"
like "$out" "budget: nobody stands out: the most that one source sent in 1s is 30 packets" "... and why"
proposes flood.pcap "budget 70/s sources 1024" "one that floods is above the budget"
like "$out" "budget: 1 of 11 sources stand out, with [0-9]+ packets or more in 1s; the others sent 30 at most" "... and why"
proposes brief.pcap "budget 5/s budget 20/m sources 1024 newcomers 10/s" "... though others stayed for longer"
proposes few.pcap "budget 7/s budget 20/m sources 1024 newcomers 10/s" "nobody else comes near one that stands out"
like "$out" "budget: 1 of 12 sources stand out, with [0-9]+ packets or more in 1s; the others sent 3 at most" "... and why"
run -j limit advise web -pcap flood.pcap budget 50/1s budget 30k/1s bytes
is "$(jq -r '(.proposal.budgets | length, .[0].budget), (.losses[] | select(.budgets[0].budget == 70).limited_sources)' <<<"$out" | xargs)" "1 70 1" "in JSON, too, which limits one"
is "$(jq -r '[.losses[] | .dropped_packets] | . == (sort | reverse) and last == 0' <<<"$out")" true "what is dropped falls with the budget, down to nothing"
is "$(jq -r '.judged.budgets | length' <<<"$out")" 2 "what is given is judged"
is "$(jq -r '(.judged.dropped_packets as $both | .losses[] | select(.budgets[0].budget == 50) | .dropped_packets <= $both)' <<<"$out")" true "... together"
proposes long.pcap "budget 100/s budget 500/m sources 1024 newcomers 70/s" "a longer budget, if others send in bursts; and newcomers"
like "$out" "burst: one bucket instead of the first two budgets .* budget 500/m bucket burst 100" "... or a bucket"
run limit advise web -pcap flood.pcap budget 5/1h
like "$out" 'weir limit add web budget 70000/h ' "of a window that nobody saw whole as much is expected as of what was seen"
like "$out" "others sent 60 at most, .*"$'\n'" *budget: \.\.\. and 450\.[0-9] times as much in 1h, of which no more than 7.99[0-9]s were seen" "... which is said"
like "$out" "203.0.113.9 sent 8000 packets, at most 8000 in 7.99.*not known"$'\n'" *window: how much a source sends in 1h, .*: only 7.99" "... with what is not known"
run limit advise web -pcap udp.pcap budget 100k/1m bytes
like "$out" "and 60.0 times as much in 60s, of which no more than 1s were seen" "a moment is taken for a second"
# accepted FILE WORDS NAME: what is proposed can be added
accepted() {
	# shellcheck disable=SC2086 # words
	"$weir" limit advise web -pcap "$1" $2 2>&1 | sed -n 's/^    weir //p' >line
	like "$(<line)" "^limit add web budget $3" "limit advise $2: a proposal"
	holds "... that can be added" "$weir" -check -batch line
}
accepted flood.pcap 'budget 5/30d' '50M/month sources 1024$'
accepted udp.pcap 'budget 5/week' '2M/week'
accepted flood.pcap 'budget 1/30d bytes' '2G/month bytes'
accepted long.pcap 'per 0' '1000/s budget 10000/m per 0,0$'
accepted long.pcap 'per 0,64' '1000/s budget 10000/m per 0,64 sources 1024$'
run limit advise web -pcap hours.pcap
like "$out" "and of that in the last hour" "of hours, the last one is shown"
run -j limit advise web -pcap hours.pcap
is "$(jq -r '.losses[] | select(.budgets[0].budget == 50) | "\(.dropped_packets) \(.last_hour_dropped_packets)"' <<<"$out")" "200 50" "... apart"
finish
