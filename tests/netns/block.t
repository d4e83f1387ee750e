#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# block.t: blocked sources are refused until their time has come, and no others; they
# survive changes of the table and of the limit, and are dropped early
. "$(dirname "$0")/lib.sh"
begin_apart
config <<-WORDS || bail "cannot configure"
	limit add a budget 1000/1h from 198.51.100.0/24 sources 64
	limit add wide budget 1000/1h from 198.51.100.0/25 per 26
	limit add six budget 1000/1h family ipv6
	limit add sum budget 100k/1h per 0
WORDS
blocked() { weir -json source show blocked | jq -rc 'map([.source, .limit])'; }
# refused SENTENCE WORDS...: by the kernel, with the sentence
refused() {
	local status
	weir source "${@:2}" >"$tmp/said" 2>&1
	status=$?
	is "$status:$(<"$tmp/said")" "2:weir: source $2: $1" "refused: $2 ${*:3}"
}

is "$(through 198.51.100.129)" 10 "a source passes"
is "$(weir source block 198.51.100.129 limit a for 20m)" "198.51.100.129 limit a blocked for 20m" "it is blocked"
is "$(through 198.51.100.129):$(through 198.51.100.130)" 0:10 "... and refused, and its neighbour is not"
like "$(weir source get 198.51.100.129 limit a)" \
	'^198.51.100.129 limit a count 10 of 1000 left 990 blocked for (20m|19m[0-9]+s) dropped 10' "... as source get tells"
is "$(weir -json source get 198.51.100.129 limit a | jq -c '.[0] | [.blocked, .limited, .next_ms == .blocked_ms]')" \
	'[true,true,true]' "... also in JSON"
is "$(stat_of a blocked_now):$(stat_of a dropped.packets)" 1:10 "... and the counters of the limit"
like "$(weir source charge 198.51.100.129 limit a 2>&1)" 'not charged: the source is blocked$' "... and it cannot be charged"
refused "ADDR 198.51.100.129: already blocked; replace it to prolong it (-exist)" block 198.51.100.129 limit a for 1h
like "$(weir -force source block 198.51.100.129 limit a for 1m 2>&1)" "to prolong it \(-exist -force\)" "... and -force alone does not help"
is "$(weir -exist source block 198.51.100.129 limit a for 1h)" "198.51.100.129 limit a blocked for 1h" "with -exist the later end holds"
like "$(weir -exist source block 198.51.100.129 limit a for 10m)" '^198.51.100.129 limit a blocked for (1h|59m[0-9.]*s?)$' "... and not an earlier one"
is "$(weir -exist -force source block 198.51.100.129 limit a for 10m)" "198.51.100.129 limit a blocked for 10m" "... unless it is forced"
is "$(weir -exist source block 198.51.100.129 limit a for ever; weir -exist source block 198.51.100.129 limit a for 1h)" \
	"198.51.100.129 limit a blocked for ever"$'\n'"198.51.100.129 limit a blocked for ever" "for ever is the latest"
is "$(weir source release 198.51.100.129)" "198.51.100.129 limit a released" "it is released"
is "$(through 198.51.100.129)" 10 "... and passes"
refused "ADDR 198.51.100.129: the source is not blocked; what it sent is counted until it is forgotten" release 198.51.100.129
holds "... which -exist allows" weir -exist source release 198.51.100.129

is "$(weir source block 198.51.100.9 for ever)" "198.51.100.9 limit a blocked for ever
198.51.100.0/26 limit wide blocked for ever" "one that has sent nothing, under all limits that may match it"
is "$(through 198.51.100.9):$(through 198.51.100.10):$(through 198.51.100.70)" 0:0:10 "... with its prefix"
is "$(blocked)" '[["198.51.100.9","a"],["198.51.100.0/26","wide"]]' "source show blocked lists them"
refused "limit: the limit counts all addresses as one source; block under another" block 198.51.100.9 limit sum for 1m
refused "ADDR 203.0.113.1: no limit could block it; a source is blocked under a limit that matches it" block 203.0.113.1 for 1m
refused "limit 'none': no limit of that name" block 203.0.113.1 limit none for 1m
refused "limit: the limit cannot match the address; block under another" block 203.0.113.1 limit a for 1m
refused "limit: the limit cannot match the address; block under another" block 198.51.100.1 limit six for 1m
weir exempt add 198.51.100.77 limit a >/dev/null
like "$(weir source block 198.51.100.77 limit a for 1m 2>&1)" "weir: warning: the source is exempt, which comes before blocks" "an exempt source is blocked with a warning"
is "$(through 198.51.100.77)" 10 "... and passes"
weir exempt del 198.51.100.77 limit a >/dev/null
is "$(through 198.51.100.77)" 0 "... until it is not exempt"
passing="weir: warning: limit 'a' no longer drops all packets of blocked sources (1) and prefixes (0), such as 198.51.100.77"
is "$(weir -check exempt add 198.51.100.76/31 2>&1; weir -check exempt add 198.51.100.77 limit a dev nope0 2>&1 | grep 'no longer')" "$passing
$passing" "a check of an exemption of a blocked source says so, of one on a device, too"
is "$(weir exempt add 198.51.100.76/31 2>&1; weir -exist exempt add 198.51.100.76/31 2>&1)" "$passing" "... and so does the exemption, but not if it was there"
like "$(weir -brief source show blocked | grep 100.77)" '^198\.51\.100\.77 limit a exempt by 198\.51\.100\.76/31 blocked for [0-9.]+s$' "... and so does the list of those that are blocked"
is "$(weir exempt del 198.51.100.76/31; weir exempt add 198.51.100.76/31 limit wide 2>&1; weir exempt del 198.51.100.76/31 limit wide; weir -j source show blocked | jq '[.[].exempt_by] | unique')" \
	"$(jq <<<'[null]')" "... but not one from another limit"
weir source release 198.51.100.77 >/dev/null
is "$(weir source block 2001:db8:7::1 for 1d 2>"$tmp/said")" "2001:db8:7::/64 limit six blocked for 1d" "IPv6, with its /64"
is "$(<"$tmp/said")" "weir: note: limit 'six' counts each /64 as one source, and blocks the whole /64 of 2001:db8:7::1" "... which it says"
nat64="weir: note: 64:ff9b::/64 is all of IPv4, translated by NAT64: count each address in a limit 'from 64:ff9b::/96 per 32,128', and leave them out of this one, 'not from 64:ff9b::/96'"
is "$(weir source block 64:ff9b::192.0.2.1 limit six for 1m 2>&1 >"$tmp/out" | sed -n 1p)" "$nat64" "all of IPv4 behind NAT64 is one source, which is told"
is "$(weir source show 64:ff9b::/96 limit six 2>&1 >"$tmp/out")" "$nat64" "... wherever it is shown"
is "$(weir source get 64:ff9b::1 limit six 2>&1 >"$tmp/out")" "$nat64" "... or asked for"
is "$(weir block add 64:ff9b::/96 limit six 2>&1)" "${nat64/64:ff9b::\/64/64:ff9b::\/96}" "... or blocked as a prefix"
weir block flush && weir source release 64:ff9b::1 limit six >"$tmp/out" 2>&1
is "$(weir limit add nat budget 5/1h from 64:ff9b::/96 dport 9 udp 2>&1 >"$tmp/out"; weir limit del nat)" "weir: note: limit 'nat' counts a network of 'from' as one source: 'per 32,128' counts each address" "a limit of a network within one source says so"
is "$(weir limit add nat budget 5/1h from 64:ff9b::/96 per 32,128 dport 9 udp 2>&1 >"$tmp/out")" "" "... and not if it counts addresses"
is "$(for words in "dport 1-8,10" "dport 1-9" "dport 3,9 not from 10.0.0.0/8"; do weir -check limit set nat $words 2>&1 | grep loses; done)" "weir: note: limit 'nat' loses 'dport 9'; to keep it, give all" "a port that goes is told"
is "$(weir -check limit set nat match not dev lo dport 9 tcp 2>&1 | grep loses; weir -check limit set nat match icmp 2>&1 | grep loses; weir limit del nat)" "weir: note: limit 'nat' loses 'from'; to keep that, give all
weir: note: limit 'nat' loses 'from', 'dport'; to keep that, give all" "... and so is any other condition"
is "$(through 2001:db8:7::2):$(through 2001:db8:8::2)" 0:10 "... is refused"
weir source release 2001:db8:7::ffff >/dev/null
is "$(through 2001:db8:7::2)" 10 "... until it is released by another address of that"
weir source forget 198.51.100.9 limit wide >/dev/null
is "$(through 198.51.100.10):$(through 198.51.100.9)" 10:0 "source forget releases, too, where it is asked to"
is "$(weir -check limit set a from 198.51.100.0/29 2>&1 | grep '^weir:'; weir -check limit set a from 198.51.0.0/16,10.0.0.0/8 dport 9 udp 2>&1 | grep '^weir:')" "weir: note: limit 'a' loses 'from 198.51.100.0/24'; to keep it, give all
weir: warning: limit 'a' no longer drops all packets of blocked sources (1) and prefixes (0), such as 198.51.100.9
weir: note: limit 'a' drops only those packets of blocked sources and prefixes that match its new conditions" "other conditions on the source release it, wider ones do not"
for prefix in 0.0.0.0/0 198.51.100.8/31 198.51.100.9 all; do
	like "$(weir -check source forget "$prefix" 2>&1)" "warning: limit 'a' has blocked 1 source, which this releases" "... which is said before, of $prefix"
done
is "$(weir -check source forget 198.51.100.0/29 2>&1 | grep warning; weir -check source forget 198.51.100.8/31 limit wide 2>&1 | grep warning)" "" "... and not of others"

# Changes, with the block under limit a in force
for words in "sources 100000" "budget 50/10s" "slots 5" "budget 100000/10s bytes" "budget 50/10s packets" \
	"bucket" "strict" "newcomers 1000/s" "newcomers none" "sources 64" "action drop" "from 198.51.0.0/16"; do
	weir limit set a $words >/dev/null 2>&1 || bail "cannot set $words"
	[ "$(through 198.51.100.9)" = 0 ] || break
done
is "$words" "from 198.51.0.0/16" "a block survives changes of its limit"
weir save "$tmp/saved" && weir -file "$tmp/saved" 2>/dev/null
is "$(through 198.51.100.9)" 0 "... and a configuration that has the limit again"
# file WORDS [LINE]: how often a file with these words for the limit, and the line, says that the source gets through
file() {
	{ echo "${2:-}"; sed "s|^\(limit add a .*\) from 198.51.0.0/16|\1 $1|" "$tmp/saved"; } >"$tmp/other"
	weir "${@:3}" -file "$tmp/other" 2>&1 | grep -cE "warning: $tmp/other:[0-9]+: limit 'a' no longer drops all packets of blocked sources \\(1\\) and prefixes \\(0\\), such as 198.51.100.9\$"
}
is "$(file "not from 198.51.100.8/29" "" -check)$(file "from 198.51.0.0/16 action observe" "" -check)$(file "from 198.51.0.0/16" "exempt add 198.51.100.0/24" -check)$(file "not from-list good" "prefix-list add good 198.51.100.8/29" -check)" 1111 \
	"a file under which who is blocked gets through says so: by a condition, an action, an exemption, a list"
is "$(file "from 198.51.0.0/16" "" -check)" 0 "... and is silent if nobody does"
is "$(file "from 198.51.0.0/16 per 24" "exempt add 198.51.100.0/24" -check)" 0 "... or the block goes with its source"
is "$(file "from 198.51.0.0/16" "exempt add 198.51.100.9 limit a" -check)" 1 "an exemption from the limit alone is one, too"
is "$(sed 's|from 198.51.0.0/16|& icmp-type 8,0,3|' "$tmp/saved" >"$tmp/order"; weir -file "$tmp/order" 2>/dev/null; weir -check -file "$tmp/order" 2>&1 | grep -c "only those packets")" 0 "conditions in another order are the same"
weir -file "$tmp/saved" 2>/dev/null
is "$(file "not from 198.51.100.8/29"):$(through 198.51.100.9)" 1:10 "... also when it is applied, and nobody is blocked"
weir -file "$tmp/saved" 2>/dev/null
is "$(through 198.51.100.9)" 0 "... until the limit matches the source again"
weir limit set a action observe >/dev/null 2>&1
is "$(through 198.51.100.9):$(weir -json source get 198.51.100.9 limit a | json would_drop_packets)" 10:10 "a limit that observes only counts"
weir limit set a action drop >/dev/null 2>&1

# Time
trace_start weir_charge weir_drop
flood -s 198.51.100.20 -c 1
weir source block 198.51.100.20 limit a for 1s >/dev/null
flooding -s 198.51.100.20 -r 100 -t 3000
flooded
trace_stop
# Ticks from the charge before the block to the next one, and from the first drop between to the last
ticks=$(sed -nE 's/.* weir_(charge|drop): .*saddr=::ffff:198\.51\.100\.20 .*tick=([0-9]+).*/\1 \2/p' "$tmp/trace" | awk '
	$1 == "drop" { first = first ? first : $2; last = $2 }
	$1 == "charge" && first { print $2 - before, last - first; exit }
	$1 == "charge" { before = $2 }')
within "${ticks% *}" "$(ms_ticks 1000)" 100000 "a block of a second lasts for a second"
within "${ticks#* }" 1 "$(ms_ticks 1250)" "... and at most a quarter more"
is "$(weir -json source get 198.51.100.20 limit a | json blocked)" false "... by itself"
weir limit set a budget 3/1h >/dev/null 2>&1
trace_start weir_limited
flood -s 198.51.100.21 -c 5
weir source block 198.51.100.21 limit a for 1h >/dev/null
weir source release 198.51.100.21 >/dev/null
flood -s 198.51.100.21 -c 5
trace_stop
is "$(grep -c 'weir_limited: limit=a' "$tmp/trace")" 2 "the first refusal after a block is told as one"

# The quota: half of the entries of a set
weir limit add few budget 10/1h sources 64 from 203.0.113.0/24 >/dev/null 2>&1
held=0
for ((i = 1; i < 255; i++)); do
	weir source block "203.0.113.$i" limit few for 1h >/dev/null 2>"$tmp/said" || break
	held=$((held + 1))
done
entries=$(weir -json limit show few | json entries) most=$(weir -json limit show few | json blocks)
within "$held" 4 $((entries / 2)) "at most half of the entries are blocked"
like "$(<"$tmp/said")" "no place is left for the block; raise the limit's sources \(made for $most\)$" "... which is told"
is "$(stat_of few blocked_now)" "$held" "... and nobody else is"
is "$(through 203.0.113.254)" 10 "a newcomer finds an entry"
flood -s 203.0.113.100 -n 150 -c 600
is "$(stat_of few blocked_now):$(through 203.0.113.1)" "$held:0" "a flood evicts none of them"
weir limit set few budget 1000/1h >/dev/null 2>&1
refused "ADDR: no place is left for the block; raise the limit's sources (made for $most)" block "203.0.113.$i" for 1h
is "$(through "203.0.113.$i")" 10 "... and under no limit if one has no room"

# The end that a failed replacement puts back is the former one, however often
weir limit add first budget 10/1h sources 64 from 203.0.113.0/24 before few >/dev/null 2>&1
weir source block "203.0.113.$i" limit first for 1h >/dev/null
left() { weir -json source get "203.0.113.$i" limit first | json blocked_ms; }
was=$(left)
for n in {1..12}; do
	weir -exist source block "203.0.113.$i" for 2h >/dev/null 2>&1 && break
done
is "$n" 12 "a block that has no room under one of two limits fails"
within $((was - $(left))) 0 3600000 "... and leaves the end under the other as it was"
weir limit del first >/dev/null

# Totals and blocks in all entries: newcomers have none, blocked or not, and that is told
weir limit add once budget 10/total sources 64 from 10.7.0.0/16 >/dev/null 2>&1
for i in {1..16}; do weir source block 10.7.0.$i limit once for 20m >/dev/null; done # in each set
flood -s 10.7.1.0 -n 500 -c 500
is "$(through 10.7.8.9)" 0 "among totals and blocked sources a newcomer finds no entry"
like "$(weir source get 10.7.8.9 limit once)" "count 10 of 10 left 0 limited for " "... as source get tells"
refused "ADDR: no place is left for the block; raise the limit's sources (made for $(weir -json limit show once | json blocks))" block 10.7.8.9 limit once for 1h
holds "... and the counters" [ "$(stat_of once floor_refused.packets)" -ge 10 ]
like "$(weir -s limit show once)" "try sources [0-9]" "... with a size to try"
weir limit del once >/dev/null

# Events
command weir -netns "$rx" -json monitor sources >"$tmp/events" &
pids+=($!)
heard() { grep -q "$1" "$tmp/events"; }
blocks() { weir -exist source block 198.51.100.30 limit a for 1h >/dev/null && heard '"event":"block"'; }
holds "a block is an event" wait_for 60 blocks
weir source release 198.51.100.30 limit a >/dev/null
holds "... and so is a release" wait_for 60 heard '"event":"release"'
is "$(grep '"block"' "$tmp/events" | head -n 1 | jq -c '[.source, .limit, .blocked]')" '["198.51.100.30","a",true]' "... with the source"
quiet

# Before the stack
if [ -e /sys/kernel/btf/weir ]; then
	holds "the program is attached" weir xdp attach dev rx0
	rx nft delete table netdev probe
	weir limit del few && weir limit del wide && weir limit del sum
	weir source block 198.51.100.40 limit a for 1h >/dev/null
	was=$(stat_of a dropped_early.packets)
	flood -s 198.51.100.40 -c 50
	flood -s 198.51.100.40 -c 50
	within $(($(stat_of a dropped_early.packets) - was)) 99 100 "a blocked source is dropped early"
	weir source release 198.51.100.40 >/dev/null
	is "$(through 198.51.100.40)" 3 "... until it is released"
	weir xdp detach dev rx0
else
	skip "the module has no BTF" "a blocked source is dropped early"
fi
weir limit flush
refused "ADDR 203.0.113.1: no limit could block it; a source is blocked under a limit that matches it" release 203.0.113.1
finish
