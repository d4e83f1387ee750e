#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# source-packet.t: what source get says of a packet is what then becomes of one: in many
# configurations, which limits it meets, which one drops it, and how many pass.
# PACKET_ROUNDS=N, FUZZ_SEED=N: more configurations, or others.
# shellcheck disable=SC2034 # one reads the lists
. "$(dirname "$0")/lib.sh"
begin

# Words of a packet, and how send sends it: 18 bytes of payload.
packets=(
	"203.0.113.7 dev rx0 to 192.0.2.1 udp sport 1024 dport 9 mark 0 len 46|-s 203.0.113.7"
	"203.0.113.8 dev rx0 to 192.0.2.1 udp sport 53 dport 53 mark 0 len 546|-s 203.0.113.8 -S 53 -D 53 -l 518"
	"203.0.113.8 dev rx0 to 192.0.2.2 tcp sport 1024 dport 443 syn mark 0 len 58|-s 203.0.113.8 -d 192.0.2.2 -P tcp -D 443"
	"198.51.100.1 dev rx0 to 192.0.2.1 tcp sport 1024 dport 22 syn mark 0 len 58|-s 198.51.100.1 -P tcp -D 22"
	"198.51.100.1 dev rx0 to 192.0.2.1 icmp icmp-type echo-request mark 0 len 28|-s 198.51.100.1 -P icmp -x 0800000000000000"
	"2001:db8:1::7 dev rx0 to 2001:db8::1 udp sport 1024 dport 9 mark 0 len 66|-s 2001:db8:1::7"
	"2001:db8:1::8 dev rx0 to 2001:db8::1 tcp sport 1024 dport 443 syn mark 0 len 78|-s 2001:db8:1::8 -P tcp -D 443"
	"2001:db8:1::8 dev rx0 to 2001:db8::1 icmpv6 icmpv6-type echo-request mark 0 len 48|-s 2001:db8:1::8 -P icmpv6 -x 8000000000000000"
	"2001:db8:2::8 dev rx0 to 2001:db8::1 proto 47 not frag mark 0 len 66|-s 2001:db8:2::8 -P 47"
	"0.0.0.0 dev rx0 to 192.0.2.1 udp sport 68 dport 67 mark 0 len 46|-s 0.0.0.0 -S 68 -D 67"
)
conditions=("" "udp" "not proto udp,47" "tcp dport 443" "tcp not dport 22-80" "syn" "not syn" "udp sport 53,1024"
	"icmp-type echo-request" "not icmp-type echo-request" "icmpv6-type 1,echo-request" "frag" "not frag" "mark 4/6" "not mark 4/6"
	"from 203.0.113.0/24,2001:db8:1::/48" "not from 203.0.113.8,2001:db8:1::/64" "to 192.0.2.2" "not to 2001:db8::/32" "dev rx0" "not dev rx0"
	"dev rx1 udp" "family ipv6" "not family ipv6 udp" "from-list few" "not from-list few" "to-list few" "not to-list few tcp"
	"proto tcp,udp" "family ipv4 from-list few")
budgets=("1/1h" "2/1h" "3/1h" "2/1h per 24,48" "3/1h per 0" "4/1h budget 2/1d" "200/1h bytes" "60/1h bytes budget 3/1h" "9/1h bytes"
	"3/1h bucket burst 2" "2/1h exact" "3/total" "2/1h fixed" "1/1h action observe" "60/1h bytes action observe" "1/1h penalty 1h" "5/1h newcomers 2/1h known 1h")
prefixes=("203.0.113.0/24" "203.0.113.8" "203.0.113.7 dev rx0" "0.0.0.0/0 dev rx1" "2001:db8:1::/64" "2001:db8::/32 dev rx0" "198.51.100.1")
link tx1 rx1 02:00:00:00:00:01
RANDOM=${FUZZ_SEED:-1}
# pick LIST: set $one to an element at random
pick() { local -n from=$1; one=${from[RANDOM % ${#from[@]}]}; }

# make_config: a configuration at random
make_config() {
	local i
	echo "prefix-list add few 203.0.113.8,198.51.100.0/24,2001:db8:1::8,192.0.2.2"
	for i in 1 2 3 4 5; do
		pick budgets
		echo -n "limit add l$i budget $one "
		pick conditions
		echo "$one sources 64"
	done
	for i in exempt block; do
		pick prefixes
		[ $((RANDOM % 4)) -gt 0 ] || echo "$i add $one"
		pick prefixes
		[ $((RANDOM % 2)) -gt 0 ] || echo "$i add $one limit l$((1 + RANDOM % 5))"
	done
}

# In order the limits before, the answers of source get, its verdict, and so on, and the limits at
# last: how many ought to have passed, and what does not agree.
cat >"$tmp/agree.jq" <<'JQ'
def did($before; $after): [range($before | length) | . as $i | {limit: $before[.].limit}
	+ ([$before[$i], $after[$i]] | map(.stats | {matched, dropped, would_drop} | map_values(.packets))
		| . as [$b, $a] | $a | with_entries(.value -= $b[.key]))];
def differs($answers; $verdict; $did): ($did | map(select(.dropped > 0).limit)) as $droppers
	| ($verdict | capture("dropped by limit (?<limit>[a-z0-9]+)").limit) as $by
	| if $verdict | test("depends") then "it is not sure"
	elif $droppers != [$by // empty] then "dropped by \($droppers)"
	elif $by then empty
	else $did[] | . as $is | [$answers[] | select(.limit == $is.limit and (has("exempt_by") | not))] as $met
		| ($met | map(select(.action == "observe" and (.limited or .blocked or has("newcomers_next_ms"))))) as $would
		| select(.matched != ($met | length) or .would_drop != ($would | length)) | "\(.)" end;
. as $all | [range(length) | select(. % 3 == 0 and $all[. + 3])]
| "\(map(select($all[. + 2] | test(": passes"))) | length)", (.[] as $i
	| differs($all[$i + 1]; $all[$i + 2]; did($all[$i]; $all[$i + 3])) | "\($i / 3): \(.), but \($all[$i + 2]), \($all[$i + 1])")
JQ
# agree PACKET...: does what source get says agree with what becomes of three such packets?
agree() {
	local packet i words
	recount
	for packet; do
		words=${packet%|*}
		for i in 1 2 3; do
			weir -json -stats limit show
			# shellcheck disable=SC2086 # words, and options
			weir -json source get $words 2>/dev/null
			# shellcheck disable=SC2086 # no limit may match
			{ weir source get $words 2>/dev/null || echo ": passes, no limit"; } | sed -n '$p' | jq -R
			# shellcheck disable=SC2086 # options
			flood -c 1 ${packet#*|}
		done
	done >"$tmp/told"
	weir -json -stats limit show >>"$tmp/told"
	jq -srf "$tmp/agree.jq" "$tmp/told" >"$tmp/differs"
	[ "$(paste -sd, "$tmp/differs")" = "$(passed)" ]
}
# now WORDS LIMITS VERDICT TEST: the limits that answer, and what becomes of the packet
now() {
	# shellcheck disable=SC2086 # words
	weir source get $1 >"$tmp/out" 2>"$tmp/err"
	like "$(sed -nE '/^a packet/d; s/^[^ ].* limit ([a-z]+) .*/\1/p' "$tmp/out" | paste -sd' '): $(sed -n 's/; in a flood .*//; s/^a packet now: //p' "$tmp/out")" "^$2: $3\$" "$4" ||
		diag "$(<"$tmp/out")" "$(<"$tmp/err")"
}
config <<-WORDS || bail "cannot configure"
	limit add web budget 20/1h udp dport 9
	limit add low budget 3/1h sources 64 udp dport 15
	limit add net budget 25/1h per 24 udp
	limit add new budget 9/1h newcomers 4/1h known 1s udp dport 10
	limit add ban budget 2/1h penalty 1h udp dport 11
	limit add full budget 1/total sources 64 udp dport 12
	limit add bytes budget 1000/1h bytes udp dport 13
	limit add watch budget 100/1h bytes action observe udp dport 13
	limit add day budget 1/1d udp dport 14
	limit add old budget 1/1d from 10.0.0.0/8 udp dport 16
	limit add pen budget 1/1h penalty 10m udp dport 14
WORDS
# flooded WORDS: the limit that refuses first, and after how many
# shellcheck disable=SC2086 # words
flooded() { weir source get $1 2>/dev/null | sed -n 's/^a packet now: .*; in a flood limit \(.*\) refuses first, after \(.*\) packets$/\1 \2/p'; }
hour="for (59m|1h)[0-9a-z.]*"
now "203.0.113.7 dev rx0 udp dport 9" "web net" passes "a source that has sent nothing"
is "$(flooded "203.0.113.7 dev rx0 udp dport 9")" "web 20" "... a flood of which meets that limit first"
is "$(flooded "203.0.113.7 dev rx0 udp dport 10")$(flooded "203.0.113.7 dev rx0 udp dport 13")$(flooded "203.0.113.7 dev rx0 udp")" "" "... not known for a newcomer, bytes of no length, or other limits"
is "$(flooded "203.0.113.7 dev rx0 udp dport 13 len 100")" "bytes 10" "... nor one that observes"
admits 20 "... so many pass" -s 203.0.113.7 -c 30
now "203.0.113.7 dev rx0 udp dport 9" "web net" "dropped by limit web $hour" "... and it is over its budget"
now "203.0.113.8 dev rx0 udp dport 9" "web net" passes "... not another one of its network"
is "$(flooded "203.0.113.8 dev rx0 udp dport 9")" "net 5" "... which shares what is left of that"
admits 5 "... so many pass" -s 203.0.113.8 -c 9
now "203.0.113.8 dev rx0 udp dport 9" "web net" "dropped by limit net $hour" "... which its network shares"
now "203.0.113.7 udp" "web low net new ban full bytes watch day pen" "dropped by limit net $hour" "... whatever else the packet meets"
now "203.0.113.7 udp limit web" web "depends on dport: may be dropped by limit web $hour" "... under a limit that it may not meet"
is "$(weir -json source get 203.0.113.7 limit web | jq -c 'map(.undecided)')" '[["proto","dport"]]' "... in JSON, what is not known"
now "203.0.114.7 udp dport 9 limit web" web "passes limit web" "a limit alone"
flood -s 198.51.100.2 -c 3 -D 11
now "198.51.100.2 dev rx0 udp dport 11" "net ban" "dropped by limit ban $hour" "a penalty"
flood -s 10.0.0.1 -n 4000 -c 4000 -D 12
now "203.0.112.7 dev rx0 udp dport 12" "net full" "dropped by limit full" "a table that is full"
flood -s 10.0.0.1 -n 4000 -c 16000 -D 15
now "203.0.113.200 dev rx0 udp dport 15" "low net" "dropped by limit net $hour" "a floor, which is asked after what is known of sources"
flood -s 198.51.101.2 -l 372 -c 2 -D 13
now "198.51.101.2 udp dport 13" "net bytes watch" "passes if it has at most 200 bytes" "bytes that are left"
now "198.51.101.2 udp limit bytes" bytes "passes limit bytes if it has at most 200 bytes" "... also of a packet that the limit may not meet"
now "198.51.101.2 udp dport 13 len 200" "net bytes watch" passes "... are enough"
now "198.51.101.2 udp dport 13 len 201" "net bytes watch" "dropped by limit bytes $hour" "... or too few"
now "198.51.101.2 udp dport 13 len 1001" "net bytes watch" "dropped by limit bytes" "... as any are for one that never fits"
now "198.51.101.3 udp dport 13 len 1000" "net bytes watch" passes "the largest that fits"
learned() { [ "$(weir -j limit show new | jq '.[0].learning_ms')" = null ]; }
wait_for 60 learned || bail "it does not end to learn"
now "198.51.102.2 dev rx0 udp dport 10" "net new" passes "a newcomer"
flood -s 198.51.103.2 -n 5 -c 5 -D 10
now "198.51.102.2 dev rx0 udp dport 10" "net new" "dropped by limit new for [0-9a-z.]*, unless it is a second try" "... and a budget of them that is used up"
now "203.0.113.7 tcp" "" "passes, no limit matches it" "a packet that meets no limit"
is "$(weir -json source get 203.0.113.7 tcp):$?" '[]:0' "... in JSON"
like "$(weir source get 203.0.113.0/25 udp dport 9 2>&1):$?" "no limit counts a /25 as a source.*:2\$" "packets of a prefix"
is "$(weir source get 203.0.113.0/24 udp dport 9 | grep -c 'a packet now')" 0 "... as a packet comes from an address"
now "203.0.113.7 tcp limit web" "" "passes limit web, which it does not match" "... or not the one that is named"
now "203.0.113.7 dev lo udp dport 9" "web net" "passes, nothing is limited on the loopback device" "the loopback device"
flood -s 198.51.104.2 -c 2 -D 14
now "198.51.104.2 udp dport 14" "net day pen" "dropped by limit day for (23h|1d)[0-9hms.]*" "two limits that refuse: the first, for the longest"
now "198.51.104.2 udp dport 14 limit pen" pen "dropped by limit pen for (59m|1h)[0-9ms.]*, and its source then blocked for 10m" "a penalty to come"
flood -s 198.51.105.2 -l 367 -c 2 -D 13
flood -s 198.51.105.2 -l 172 -c 1 -D 13
now "198.51.105.2 udp dport 13" "net bytes watch" "dropped by limit bytes" "fewer bytes than a packet has"
weir exempt add 203.0.113.7 limit web dev rx1
is "$(weir -json source get 203.0.113.7 limit web udp dport 9 | jq -c 'map(.undecided)')" '[["dev"]]' "in JSON, an exemption on a device that is not named"
now "203.0.113.7 udp dport 9" "web net" "dropped by limit net $hour" "an exemption from another limit"
now "203.0.113.7 udp dport 9 limit web" web "depends on dev: may be dropped by limit web $hour" "... on a device that is not named"
now "203.0.113.7 udp dport 9 limit web dev rx0" web "dropped by limit web $hour" "... on another one"
now "203.0.113.7 udp dport 9 limit web dev rx1" web "passes limit web" "... on that one"
weir block add 198.51.100.0/24 dev rx1 for 2h
now "198.51.100.9 udp dport 9" "web net" "depends on dev: may be dropped by limit web for (1h59m|2h)" "a block on a device that is not named"
now "198.51.100.9 udp dport 9 dev rx1" "web net" "dropped by limit web for (1h59m|2h)" "... on that one"
weir exempt add 198.51.100.9 limit net
now "198.51.100.9 udp dport 9 limit net" net "passes limit net" "... which an exemption comes before"
weir exempt del 198.51.100.9 limit net
now "198.51.106.9 limit old" old "passes limit old, which it does not match" "a limit that does not match the source"
is "$(weir -json source get 198.51.106.9 limit old | jq -c 'map(.unmatched)')" "[true]" "... in JSON"
now "198.51.100.9 dev rx1 limit watch" watch "passes limit watch" "a limit that observes blocks nobody"
now "198.51.100.9 limit watch" watch "passes limit watch" "... on any device"
weir exempt add 198.51.101.3 limit bytes
now "198.51.101.3 udp dport 13" "net bytes watch" passes "of an exempt source no length is said"
weir block add 198.51.100.0/25
now "198.51.100.9 udp dport 9 dev rx0" "web net" "dropped by limit web for ever" "a prefix that is blocked for ever"
weir exempt add 198.51.100.9
now "198.51.100.9 udp dport 9 dev rx0" "web net" passes "... but not who is exempt"

# Which limits such packets meet
config <<-WORDS || bail "cannot configure"
	limit add plain budget 9/1h
	limit add icmp budget 9/1h icmpv6
	limit add frag budget 9/1h frag
	limit add mark budget 9/1h mark 4/6
	limit add any budget 9/1h family ipv6 not proto tcp
	limit add syn budget 9/1h not syn
WORDS
now "2001:db8::1 icmpv6-type echo-request mark 4" "plain icmp mark any" passes "ICMPv6"
now "2001:db8::1 icmpv6-type echo-request mark 6" "plain icmp any" passes "... with another mark"
now "fe80::1 dev rx0 icmpv6-type 135 mark 0" icmp passes "neighbour discovery meets limits that name its protocol"
now "2001:db8::1 icmpv6-type 135 mark 0" icmp passes "... from any address"
now "fe80::1 dev rx0 icmpv6-type 143 mark 0" icmp passes "so does the discovery of listeners"
now "2001:db8::1 icmpv6-type 143 mark 0" "plain icmp any" passes "... from a link-local address"
now "198.51.100.1 proto igmp to 224.0.0.1 mark 0" "" "passes, no limit matches it" "nor does IGMP to a group"
now "198.51.100.1 proto igmp to 192.0.2.1 mark 0" "plain frag" passes "... but to a host"
is "$(for words in "198.51.100.1 proto igmp" "2001:db8::1 proto icmpv6"; do weir -json source get $words mark 0 limit plain; done | jq -c '.[0].undecided' | xargs)" "[to] [icmpv6-type]" "... without that it is not decided, nor without a type"
now "2001:db8::1 tcp syn mark 0" plain passes "what opens a connection"
now "2001:db8::1 not syn mark 0" "plain syn" passes "... or not"
now ":: udp mark 0" "" "passes, no limit matches it" "no address: none but limits that name a protocol"
now "2001:db8::1 udp mark 0" "plain frag any" passes "a fragment, or not"
now "2001:db8::1 udp mark 0 frag" "plain icmp frag any" passes "... a later one of IPv6, whose protocol is not to be seen"
now "203.0.113.7 udp mark 0 frag" "plain frag" passes "... of IPv4, where it is"
now "203.0.113.7 tcp mark 0 not frag" "plain syn" passes "... or none"
now "2001:db8::1" "plain icmp frag mark any syn" passes "a packet of which nothing is known"
refused() {
	local told=$2
	# Linux 6.1 does not pass on which attribute of a dump is at fault.
	[[ $(uname -r) != 6.1.* || $told == len:* ]] || told=${told#*: }
	# shellcheck disable=SC2086 # words
	is "$(weir source get $1 2>&1)" "weir: source get: $told" "refused: $1"
}
refused "203.0.113.7 dport 9" "dport: ports require a protocol with ports: tcp, udp, udplite, sctp, dccp"
refused "203.0.113.7 icmp sport 9" "sport: ports require a protocol with ports: tcp, udp, udplite, sctp, dccp"
one="a packet has one value, no range or mask; only syn and frag take not"
refused "203.0.113.7 udp dport 9-10" "dport: $one"
refused "203.0.113.7 udp sport 9-10 dport 9" "sport: $one"
refused "203.0.113.7 frag syn" "frag: later fragments have no ports, flags or types; leave these or frag out"
refused "203.0.113.7 udp syn" "syn: syn is a flag of tcp; name proto tcp or no protocol"
refused "203.0.113.7 mark 4/6" "mark: $one"
refused "203.0.113.7 to 2001:db8::1" "to: the destination is one address, of the family of the source"
refused "all limit pool udp" "ADDR all: words of a packet need the address that it comes from"
refused "203.0.113.7 to 192.0.2.0/24" "to: the destination is one address, of the family of the source"
refused "203.0.113.7 icmp syn" "syn: syn is a flag of tcp; name proto tcp or no protocol"
refused "203.0.113.7 udp icmp-type 8" "icmp-type: icmp-type is of icmp; name proto icmp or no protocol"
refused "203.0.113.7 len 19" "len: 19 is out of range 20..524280"
refused "203.0.113.7 len 524281" "len: 524281 is out of range 20..524280"
now "203.0.113.7 udp len 20 mark 0" "plain frag" passes "the shortest packet"
now "203.0.113.7 len 524280 udp sport 65535 dport 0 mark 0xffffffff" "plain" passes "the largest numbers"

rounds=${PACKET_ROUNDS:-8}
for ((round = 1; round <= rounds; round++)); do
	until make_config >"$tmp/made" && weir -file "$tmp/made" 2>"$tmp/err"; do :; done
	for ((j = 0; j < 3; j++)); do pick packets && chosen[j]=$one; done
	agree "${chosen[@]}"
	ok $? "configuration $round: what source get says happens" || diag "$(passed) passed, not $(<"$tmp/differs")" "$(<"$tmp/made")"
done
finish
