#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# explain.t: what explain says of a packet is what then becomes of one: in many configurations,
# which limits it meets, which one drops it, how many more pass, and whether XDP drops it early.
# EXPLAIN_ROUNDS=N, FUZZ_SEED=N: more configurations, or others.
# shellcheck disable=SC2034 # one reads the lists
. "$(dirname "$0")/lib.sh"
begin

# Words of a packet, and how send sends it: 18 bytes of payload.
packets=(
	"from 203.0.113.7 dev rx0 to 192.0.2.1 udp sport 1024 dport 9 mark 0 len 46|-s 203.0.113.7"
	"from 203.0.113.8 dev rx0 to 192.0.2.1 udp sport 53 dport 53 mark 0 len 546|-s 203.0.113.8 -S 53 -D 53 -l 518"
	"from 203.0.113.8 dev rx0 to 192.0.2.2 tcp sport 1024 dport 443 syn mark 0 len 58|-s 203.0.113.8 -d 192.0.2.2 -P tcp -D 443"
	"from 198.51.100.1 dev rx0 to 192.0.2.1 tcp sport 1024 dport 22 syn mark 0 len 58|-s 198.51.100.1 -P tcp -D 22"
	"from 198.51.100.1 dev rx0 to 192.0.2.1 icmp icmp-type echo-request mark 0 len 28|-s 198.51.100.1 -P icmp -x 0800000000000000"
	"from 2001:db8:1::7 dev rx0 to 2001:db8::1 udp sport 1024 dport 9 mark 0 len 66|-s 2001:db8:1::7"
	"from 2001:db8:1::8 dev rx0 to 2001:db8::1 tcp sport 1024 dport 443 syn mark 0 len 78|-s 2001:db8:1::8 -P tcp -D 443"
	"from 2001:db8:1::8 dev rx0 to 2001:db8::1 icmpv6 icmpv6-type echo-request mark 0 len 48|-s 2001:db8:1::8 -P icmpv6 -x 8000000000000000"
	"from 2001:db8:2::8 dev rx0 to 2001:db8::1 proto 47 mark 0 len 66|-s 2001:db8:2::8 -P 47"
	"from 0.0.0.0 dev rx0 to 192.0.2.1 udp sport 68 dport 67 mark 0 len 46|-s 0.0.0.0 -S 68 -D 67"
)
conditions=("" "udp" "not proto udp,47" "tcp dport 443" "tcp not dport 22-80" "syn" "not syn" "udp sport 53,1024"
	"icmp-type echo-request" "not icmp-type echo-request" "icmpv6-type 1,echo-request" "frag" "not frag" "mark 4/6" "not mark 4/6"
	"from 203.0.113.0/24,2001:db8:1::/48" "not from 203.0.113.8,2001:db8:1::/64" "to 192.0.2.2" "not to 2001:db8::/32" "dev rx0" "not dev rx0"
	"dev rx1 udp" "family ipv6" "not family ipv6 udp" "from-list few" "not from-list few" "to-list few" "not to-list few tcp"
	"proto tcp,udp" "family ipv4 from-list few")
budgets=("1/1h" "2/1h" "3/1h" "2/1h per 24,48" "3/1h per 0" "4/1h budget 2/1d" "200/1h bytes" "60/1h bytes budget 3/1h" "9/1h bytes"
	"3/1h bucket burst 2" "2/1h exact" "3/total" "2/1h fixed" "1/1h action observe" "60/1h bytes action observe" "1/1h penalty 1h" "5/1h newcomers 2/1h known 1h")
prefixes=("203.0.113.0/24" "203.0.113.8" "203.0.113.7 dev rx0" "0.0.0.0/0 dev rx1" "2001:db8:1::/64" "2001:db8::/32 dev rx0" "198.51.100.1")
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

# Of the limits before, what explain said, and the limits after it: what does not agree; and how
# many packets ought to have passed.
cat >"$tmp/agree.jq" <<'JQ'
def did($before; $after): [range($before | length) | . as $i | {limit: $before[.].limit}
	+ ([$before[$i], $after[$i]] | map(.stats | {matched, dropped, would_drop} | map_values(.packets))
		| . as [$b, $a] | $a | with_entries(.value -= $b[.key]))];
def differs($e; $did): ($did | map(select(.dropped > 0).limit)) as $droppers
	| if $e.limits | any(.met == "maybe") then "it is not sure"
	elif $droppers != [$e | select(.verdict == "dropped").dropped_by] then "dropped by \($droppers)"
	elif $e.verdict == "dropped" then empty
	else [$did, $e.limits] | transpose[] | . as [$is, $said]
		| (if $said.met == "yes" and $said.says != "exempt" then 1 else 0 end) as $met
		| (if $met == 1 and $said.says == "refuse" then 1 else 0 end) as $would
		| select($is.matched != $met or $is.would_drop != $would) | "\($is)" end;
. as $all | [range(length) | select($all[.] | type == "object")]
| map($all[.].verdict | select(. == "passes")) as $passes
| "\($passes | length)", (.[] as $i | did($all[$i - 1]; $all[$i + 1]) as $did
	| differs($all[$i]; $did) | "\($i): \(.) after \($all[$i])")
JQ
# agree PACKET...: does what explain says agree with what becomes of three such packets?
agree() {
	local packet i
	recount
	for packet; do
		for i in 1 2 3; do
			printf 'limit show\nexplain %s\n' "${packet%|*}" | weir -json -stats -batch -
			# shellcheck disable=SC2086 # options
			flood -c 1 ${packet#*|}
		done
	done >"$tmp/told"
	weir -json -stats limit show >>"$tmp/told"
	jq -srf "$tmp/agree.jq" "$tmp/told" >"$tmp/differs"
	[ "$(paste -sd, "$tmp/differs")" = "$(passed)" ]
}
# says WORDS TEXT TEST: what explain says of the limits and after them, lines joined by |
says() {
	# shellcheck disable=SC2086 # words
	weir explain $1 >"$tmp/out" 2>"$tmp/err"
	like "$(sed 1d "$tmp/out" | paste -sd '|')" "^$2\$" "$3" || diag "$(<"$tmp/err")"
}
config <<-WORDS || bail "cannot configure"
	limit add web budget 20/1h udp dport 9
	limit add net budget 25/1h per 24 udp
	limit add new budget 9/1h newcomers 4/1h known 1s udp dport 10
	limit add ban budget 2/1h penalty 1h udp dport 11
	limit add full budget 1/total sources 64 udp dport 12
	limit add bytes budget 1000/1h bytes udp dport 13
WORDS
rest="- new    not met: dport 10|- ban    not met: dport 11|- full   not met: dport 12|- bytes  not met: dport 13"
early="early: no, rx0 has no XDP program"
says "from 203.0.113.7 dev rx0 udp dport 9" "1 web    would admit: 20 of 20/h left|2 net    would admit: 25 of 25/h left, shared by 203.0.113.0/24|$rest|passes|if it floods: first refused by web after 20 packets|$early" "a source that has sent nothing"
admits 20 "... so many pass" -s 203.0.113.7 -c 30
says "from 203.0.113.7 dev rx0 udp dport 9" "1 web    would refuse: over its budget 20/h for 1h[0-9a-z.]*|2 net    would admit: 5 of 25/h left, shared by 203.0.113.0/24|$rest|dropped by limit web|if it floods: first refused by web, now|$early" "... and it is over its budget"
says "from 203.0.113.8 dev rx0 udp dport 9" "1 web    would admit: 20 of 20/h left|2 net    would admit: 5 of 25/h left, shared by 203.0.113.0/24|$rest|passes|if it floods: first refused by net after 5 packets|$early" "... another one of its network"
admits 5 "... so many pass" -s 203.0.113.8 -c 9
flood -s 198.51.100.2 -c 3 -D 11
says "from 198.51.100.2 dev rx0 udp dport 11" ".*\|2 ban    would refuse: blocked for 1h|.*|dropped by limit ban|.*" "a penalty"
flood -s 10.0.0.1 -n 4000 -c 4000 -D 12
says "from 203.0.112.7 dev rx0 udp dport 12" ".*\|2 full   would refuse: no place in the table, and no room under the floor|.*|dropped by limit full|.*" "a table that is full"
flood -s 203.0.113.7 -c 1
says "from 203.0.113.7 dev rx0 udp" "1 web    may be met: dport not given; would refuse: over its budget 20/h for .*|depends on dport: limit web would drop it|if it floods: depends on dport: first refused by web, now; else first refused by net after .*" "a limit that refuses already, if it is met"
flood -s 198.51.101.2 -l 372 -c 2 -D 13
says "from 198.51.101.2 dev rx0 udp dport 13" ".*\|2 bytes  would admit: 200 of 1000/h bytes left|passes if it has at most 200 bytes|if it floods: first refused by net after 23 packets, or by bytes after 200 bytes|$early" "bytes that are left"
says "from 198.51.101.2 dev rx0 udp dport 13 len 201" ".*\|2 bytes  would refuse: 201 bytes do not fit: 200 of 1000/h bytes are left|dropped by limit bytes|.*" "... are too few"
learned() { [ "$(weir -j limit show new | jq '.[0].learning_ms')" = null ]; }
wait_for 60 learned || bail "it does not end to learn"
says "from 198.51.102.2 dev rx0 udp dport 10" ".*\|2 new    would admit: 9 of 9/h left; not known yet: also in the newcomers' budget 4/h|.*|if it floods: first refused by new after at most 4 packets, the newcomers' budget|.*" "a newcomer"
flood -s 198.51.103.2 -n 5 -c 5 -D 10
says "from 198.51.102.2 dev rx0 udp dport 10" ".*\|2 new    would refuse: not known yet, and the newcomers' budget 4/h is used up for .*|dropped by limit new|.*" "... and a budget of them that is used up"
like "$(weir explain from fe80::7 udp 2>&1)" "^weir: explain: dev: a link-local address requires its device" "a link-local address requires its device"

# XDP
if weir xdp show >/dev/null 2>&1 && weir xdp attach dev rx0 2>/dev/null; then
	early() { weir explain from 203.0.113.7 dev rx0 udp dport 9 | sed -n '$p'; }
	is "$(early)" "early: no, the device has an nft ingress chain" "a program that drops nothing early, and why"
	rx nft delete table netdev probe
	is "$(early)" "early: yes, by the program on rx0" "... and one that does"
	flood -s 203.0.113.7 -c 50
	ok $(($(stat_of web dropped_early.packets) < 40)) "... as happens"
	like "$(weir explain from 203.0.113.7 udp dport 9 | sed -n '$p')" "^early: no, dev not given\$" "... if the device is known"
	quietly weir block add 203.0.113.0/24
	is "$(early)" "early: no, blocked prefixes are looked up after it" "... but no blocked prefix"
	quietly weir xdp detach dev rx0
fi

rounds=${EXPLAIN_ROUNDS:-8}
for ((round = 1; round <= rounds; round++)); do
	until make_config >"$tmp/made" && weir -file "$tmp/made" 2>"$tmp/err"; do :; done
	for ((j = 0; j < 3; j++)); do pick packets && chosen[j]=$one; done
	agree "${chosen[@]}"
	ok $? "configuration $round: what explain says happens" || diag "$(passed) passed, not $(<"$tmp/differs")" "$(<"$tmp/made")"
done
finish
