#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tool-source.t: source get, show, charge, forget: their effect, and their output
# as text and as JSON
. "$(dirname "$0")/lib.sh"
begin

# answer FILTER WORD...: weir's JSON output through jq
answer() {
	local filter=$1
	shift
	weir -j "$@" | jq -rc "$filter"
}

weir limit add web budget 100/100s to 192.0.2.0/24 slots 4 sources 4096
weir limit add bulk budget 5000/100s bytes to 192.0.2.0/24 slots 4 sources 64 2>/dev/null
weir limit add net budget 100/100s per 24,48 to 0.0.0.0/0 sources 64
weir limit add host budget 1000/100s per 0 action observe not from fe80::/10 sources 64 2>/dev/null

# charge
is "$(answer '.[0] | [.taken, .budgets[0].count, .budgets[0].left, .limited]' source charge 198.51.100.1 limit web)" '[1,1,99,false]' \
	"charge takes one packet"
is "$(answer '.[0] | [.taken, .budgets[0].count, .budgets[0].left, .limited]' source charge 198.51.100.1 limit web packets 60)" \
	'[60,61,39,false]' "... or the given number"
is "$(answer '.[0] | [.taken, .budgets[0].count, .limited]' source charge 198.51.100.1 limit web packets 60)" '[0,61,false]' \
	"... all or nothing; a refused charge does not limit the source"
is "$(answer '.[0] | [.taken, .budgets[0].count, .budgets[0].left, .limited]' source charge 198.51.100.1 limit web packets 60 mode drain)" \
	'[39,100,0,true]' "... or, with mode drain, what is left"
note() { { weir "$@" >/dev/null; } 2>&1; }
charge() { { weir source charge "$@" >/dev/null; echo "$?"; } 2>&1; }
like "$(charge 198.51.100.1 limit web packets 60)" $'^weir: source charge: not charged: nothing is left; there will be room in [0-9.smh]+\n2$' \
	"a charge that takes nothing fails"
is "$(charge 198.51.100.3 limit web packets 101)" \
	$'weir: source charge: not charged: 101 exceeds the remaining 100; \'mode drain\' takes what is left\n2' \
	"... or suggests mode drain"
is "$(charge 198.51.100.1 limit web mode drain)" $'weir: note: not charged: nothing is left\n0' \
	"with mode drain, to find nothing left is no error"
is "$(charge 198.51.100.3 limit web packets 100 mode drain)" 0 "... and no note if something was taken"
is "$(answer '.[0] | [.taken, .wait_ms > 0, .wait_ms <= 125000]' source charge 198.51.100.1 limit web packets 60)" \
	'[0,true,true]' "a charge that is refused says when it would be granted"
like "$(weir source charge 198.51.100.1 limit web packets 60 2>/dev/null)" ' taken 0 .* granted in [0-9.]+(s|m|ms)( |$)' "... also as text"
is "$(answer '.[0] | has("wait_ms")' source charge 198.51.100.1 limit web packets 101)" false "... unless it never is"
weir source forget 198.51.100.3 >"$tmp/out"
is "$(answer '.[0].taken' source charge 198.51.100.1 limit bulk bytes 4k)" 4000 "charge takes bytes of a limit that counts bytes"
like "$(weir source charge 198.51.100.1 limit bulk packets 4 2>&1; echo $?)" \
	"^weir: source charge: limit 'bulk' counts bytes; use 'bytes N'.*1$" "... only in the limit's unit"
like "$(weir source charge 198.51.100.2 limit web)" \
	'^198.51.100.2 limit web taken 1 count 1 of 100 left 99$' "as text"

like "$(weir source charge 198.51.101.2 limit net)" '^198.51.101.0/24 limit net taken 1 ' "the charged source is the prefix"
like "$(weir source charge 2001:db8:1:2::3 limit host)" '^all limit host taken 1 ' "... or all sources"
is "$(answer '.[0].source' source charge 2001:db8:1:2:3::4 limit bulk)" "2001:db8:1:2::/64" "... also in JSON"
weir source forget all >"$tmp/out"
weir source charge 198.51.100.1 limit web packets 100 >"$tmp/out"
weir source charge 198.51.100.2 limit web >"$tmp/out"
weir source charge 198.51.100.1 limit bulk bytes 4k >"$tmp/out"

# What is shown can be written: source, device and limit, and the time.
weir limit add six budget 100/100s from ::/0 sources 64
weir source charge 2001:db8:1:2::3 limit six >"$tmp/out"
weir source charge 198.51.101.1 limit net >"$tmp/out"
weir -brief source show | grep -Ev '^( |all )' | sort >"$tmp/shown"
is "$(sed 's/ count.*//' "$tmp/shown" | paste -sd ,)" "198.51.100.1 limit bulk,198.51.100.1 limit web,198.51.100.2 limit web,198.51.101.0/24 limit net,2001:db8:1:2::/64 limit six" \
	"addresses and prefixes are shown"
while read -r line; do
	for verb in get "block for 1h36m" release "block for 1.5h" forget charge; do
		# shellcheck disable=SC2086 # words
		weir source ${verb%% *} ${line%% count*} ${verb#"${verb%% *}"} >"$tmp/out" 2>&1 </dev/null
		is "$? $(sed -n "s,^${line%% count*} .*,shown,p" "$tmp/out" | head -n 1)" "0 shown" "source ${verb%% *} of what is shown: $line" || diag "$(<"$tmp/out")"
	done
done <"$tmp/shown"
weir limit del six
weir source charge 198.51.100.1 limit host packets 3 >"$tmp/out"
line=$(weir -brief source show limit host)
like "$line" '^all limit host count [0-9]+ of 1000 ' "the source of a limit of all"
for verb in get charge forget; do
	like "$(weir source $verb ${line%% count*} 2>&1)" '^all limit host ' "source $verb of what is shown: ${line%% count*}"
done
like "$(weir source block ${line%% count*} for 1h 2>&1)" '^weir: source block: limit: the limit counts all addresses as one source' "... but it cannot be blocked, and why" ||
	diag "$(weir source block ${line%% count*} for 1h 2>&1)"
is "$(weir source get all limit net 2>&1; weir source get all 2>&1)" "weir: source get: ADDR all: limit 'net' counts each /24 as a source; 'source show limit net' lists them
weir: source get: 'all' is the source of a limit with 'per 0': add 'limit NAME'" "... and of others there is no such source"
is "$(weir source block 2001:db8:1::/80 limit web for 1h 2>&1; echo $?)" "weir: source block: ADDR 2001:db8:1::/80: limit 'web' counts each /64 as a source; 'source show limit web' lists them
1" "another length is no source"
# but for the slots: one may end between the two
told() { weir source get 198.51.101.0/24 "$@" | sed '/ slots of /d; s/passes limit net/passes/'; echo "${PIPESTATUS[0]}"; }
is "$(told)" "$(told limit net)" "... but of the limit that has such"
weir source forget all >"$tmp/out"
weir source charge 198.51.100.1 limit web packets 100 >"$tmp/out"
weir source charge 198.51.100.2 limit web >"$tmp/out"
weir source charge 198.51.100.1 limit bulk bytes 4k >"$tmp/out"

# get
out=$(weir source get 198.51.100.1)
like "$out" '^198.51.100.1 limit web count 100 of 100 left 0 limited for [0-9.ms]+ dropped [0-9]+'$'\n''    [_.:=+*#-]{5} 5 slots of 25(\.[0-9]+)?s, oldest first'$'\n' \
	"get shows count, rest, time and wheel"
like "$out" $'\n''198.51.100.1 limit bulk count 4000 of 5000 bytes left 1000 ' "... for each limit"
like "$out" $'\n''198.51.100.0/24 limit net count 0 of 100 left 100 dropped 0 idle' "... of the counted prefix"
like "$out" $'\n''all limit host count 0 of 1000 left 1000 would-drop 0 idle' "... or all sources"
like "$(LC_ALL=C.UTF-8 weir source get 198.51.100.1 limit web)" $'\n''    [^ ]{15} 5 slots' "the wheel as block characters in UTF-8"
is "$(answer '[.[] | [.limit, .source, .budgets[0].unit, .action]]' source get 198.51.100.1)" \
	'[["web","198.51.100.1","packets","drop"],["bulk","198.51.100.1","bytes","drop"],["net","198.51.100.0/24","packets","drop"],["host","all","packets","observe"]]' \
	"the same in JSON"
is "$(answer '.[0] | (.budgets[0].slot_counts | length, add), (.next_ms > 0), (.next_ms <= 125000)' source get 198.51.100.1 limit web | paste -sd,)" \
	"5,100,true,true" "the slots are numbers and add up"
before=$(answer '.[0].budgets[0].count' source get 198.51.100.1 limit bulk)
is "$(answer '.[0].budgets[0].count' source get 198.51.100.1 limit bulk)" "$before" "get consumes nothing"
weir exempt add 198.51.100.0/24 limit web
is "$(weir source get 198.51.100.1 limit web | sed 1q)" "198.51.100.1 limit web exempt by 198.51.100.0/24 limit web" "an exemption is shown"
is "$(answer '.[0].exempt_by' source get 198.51.100.1 limit web)" '{"prefix":"198.51.100.0/24","limit":"web"}' "... also in JSON"
weir exempt flush
is "$(answer '.[0].source' source get 2001:db8:1:2:3::4 limit web)" "2001:db8:1:2::/64" "an IPv6 source is a /64"

# show
for i in {1..40}; do echo "source charge 203.0.113.$i limit web packets $i"; done | weir -batch - >/dev/null
ok $? "forty sources are charged"
is "$(answer '[.[] | select(.source | startswith("203."))] | length' source show limit web)" 40 "show lists them"
is "$(answer 'length' source show limit web 203.0.113.32/28)" 9 "... the sources of a prefix"
is "$(answer '[.[].source] | sort' source show limit web limited)" '["198.51.100.1"]' "... the limited sources"
is "$(answer '[.[].budgets[0].count]' source show limit web 203.0.113.0/24 top 3 by count)" '[40,39,38]' "... the top three, the highest first"
is "$(answer '[.[].limit] | unique' source show)" '["bulk","web"]' "... of all limits"
is "$(weir source show limit web limited | sed -E 's/ +[0-9]+ +limit [0-9.]+m?s?$/ N limit T/')" \
	"SOURCE                  LIMIT                     COUNT  DROPPED  STATE
198.51.100.1            web                     100/100 N limit T" "as a table"
like "$(weir)" "^seen .*
web budget .*
SOURCE .*
198\.51\.100\.1 +web .*
'weir help' lists the commands\$" "weir alone is an overview"
is "$(weir -j | jq length)" 1 "... in JSON, of the counters"
like "$(weir -brief source show limit web limited)" '^198.51.100.1 limit web count 100 of 100 left 0 limited for [^ ]+ dropped [0-9]+$' "as text"
is "$(answer 'length' source show limit nosuch 2>/dev/null)" 0 "a failure is an empty array"

# forget
is "$(answer '.[0].forgotten' source forget 203.0.113.1)" 1 "forget one source"
is "$(answer '.[0].forgotten' source forget 203.0.113.0/24 limit web)" 39 "forget a prefix"
is "$(weir source forget all limit bulk)" "all limit bulk forgotten 1" "forget all of a limit"
is "$(answer '[.[].source] | sort' source show)" '["198.51.100.1","198.51.100.2"]' "other sources are kept"
is "$(answer '.[0].budgets[0].left' source get 203.0.113.40 limit web)" 100 "a forgotten source may send again"

# packets: drops are counted for their source
flood -s 198.51.100.7 -c 150
is "$(answer '.[0] | [.budgets[0].count, .budgets[0].left, .limited, .dropped_packets]' source get 198.51.100.7 limit web)" '[100,0,true,50]' \
	"packets and drops are counted"
is "$(answer '.[0].source' source show limit web top 1)" 198.51.100.7 "top is by drops"
# sources of a device
weir limit add local budget 100/100s from fe80::/10 sources 64 2>/dev/null
flood -s fe80::7 -d 2001:db8::1 -c 3
is "$(answer '.[0] | [.source, .dev, .budgets[0].count]' source get fe80::7 dev rx0 limit local)" '["fe80::7","rx0",3]' \
	"a link-local source is a full address on its device"
# device names with terminal escapes are harmless
ip link set rx0 down
ip link set rx0 name $'rx\e[7m'
like "$(weir -brief source show limit local)" '^fe80::7 dev rx\\x1b\[7m limit local ' "a device's name is shown escaped"
ip link set $'rx\e[7m' name rx0
ip link set rx0 up

# ... independent of the same address on another device
link tx1 rx1 02:00:00:00:00:01
flood -i tx1 -s fe80::7 -d 2001:db8::1 -c 2
flood -i tx1 -s fe80::8 -d 2001:db8::1 -c 1
locals() { weir -brief source show limit local | awk '{ print $1, $3, $7 }' | sort | paste -sd,; }
is "$(locals)" "fe80::7 rx0 3,fe80::7 rx1 2,fe80::8 rx1 1" "two devices, two sources of one address"
like "$(weir source forget fe80::7 2>&1; echo $?)" '^weir: source forget: .*link-local.*2$' "a link-local address without a device is refused"
is "$(locals)" "fe80::7 rx0 3,fe80::7 rx1 2,fe80::8 rx1 1" "... and nothing is forgotten"
is "$(note source get fe80::7 dev rx0; note source get 203.0.113.1 dev nosuch0)" \
	"weir: warning: device 'nosuch0' does not exist (yet)" "a device that does not exist causes a warning"
is "$(note exempt get fe80::7)" \
	"weir: exempt get: ADDR fe80::7: no exemption from all limits; name a limit for those from it" \
	"exempt get without dev does not find an exemption on a device"
is "$(weir source forget fe80::7 dev rx0 limit local)" "fe80::7 dev rx0 limit local forgotten 1" "forget an address on its device"
is "$(locals)" "fe80::7 rx1 2,fe80::8 rx1 1" "... and on no other"
is "$(answer '.[0].budgets[0].left' source get fe80::7 dev rx0 limit local)" 100 "... where it may send again"
is "$(weir source forget fe80::/10 dev rx0 limit local)" "fe80::/10 dev rx0 forgotten 0 (nothing to forget)" "a prefix on a device without sources"
is "$(weir source forget fe80::/10 dev rx1 limit local)" "fe80::/10 dev rx1 limit local forgotten 2" "... and on the other"

weir exempt add 198.51.100.0/24
is "$(weir source get 198.51.100.7 | sed 1q)" "198.51.100.7 limit web exempt by 198.51.100.0/24" "exempt from all limits"
weir limit flush
is "$(weir source get 198.51.100.7 2>&1; echo $?)" "weir: source get: ADDR 198.51.100.7: weir drops none of its packets: no limit matches them; it is exempt by 198.51.100.0/24
2" "no limit applies, and the address is exempt"
is "$(weir source get 203.0.113.7 2>&1; echo $?)" "weir: source get: ADDR 203.0.113.7: weir drops none of its packets: no limit matches them
2" "no limit applies"
weir -q limit add only blocks 1 from 203.0.113.0/24 >/dev/null && weir -q block add 0.0.0.0/0 limit only
like "$(weir source get 192.0.2.7 2>&1)" "no limit matches them; it is blocked by 0.0.0.0/0 limit only, but only packets that this limit matches" "... nor does one that would block it"
weir limit flush
weir limit add tcp budget 100/1h tcp per 24 sources 64
is "$(weir source get 198.51.100.7 udp 2>&1)" "a packet now: passes, no limit matches it" "... nor to such packets"
is "$(weir source get 203.0.112.0/22 2>&1; echo $?)" "weir: source get: ADDR 203.0.112.0/22: no limit counts a /22 as a source; name an address of it, or see 'source show 203.0.112.0/22'
2" "no limit counts such a prefix"
is "$(weir source get 198.51.100.0/25 2>&1)" "weir: source get: ADDR 198.51.100.0/25: no limit counts a /25 as a source; it is exempt by 198.51.100.0/24; name an address of it, or see 'source show 198.51.100.0/25'" "... which is exempt"
is "$(weir source get 203.0.113.128/25 limit tcp 2>&1; echo $?)" "weir: source get: ADDR 203.0.113.128/25: limit 'tcp' counts each /24 as a source; 'source show limit tcp' lists them
1" "... nor the limit that is named"
weir limit flush

# Would a packet of a length fit?
quietly weir -b - <<-WORDS
	limit add small budget 1000/100s bytes slots 4
	limit add both budget 100/1h budget 5k/100s bytes slots 4
	limit add burst budget 100/1s bytes bucket burst 2k
	limit add count budget 1/1h
WORDS
weir exempt flush
quietly weir source charge 203.0.113.7 limit small bytes 400
fits() { weir source get 203.0.113.7 len "$@" | grep -E '^[0-9].* limit |never|not' | sed -E 's/^[0-9.]+ limit ([a-z]*) .*/\1/' | paste -sd,; }
is "$(fits 600)" "small,both,burst,count" "a packet that fits everywhere"
is "$(fits 601)" "small,    a packet of 601 bytes does not fit now: 600 of the budget 1000/100s bytes are left,both,burst,count" "... that does not fit now"
is "$(fits 1001)" "small,    a packet of 1001 bytes never fits: it is larger than the whole budget 1000/100s bytes,both,burst,count" "... that never fits"
is "$(fits 9000 udp limit both)" "both,    a packet of 9000 bytes never fits: it is larger than the whole budget 5000/100s bytes" "... one of several budgets"
is "$(fits 2001 limit burst)" "burst,    a packet of 2001 bytes never fits: it is larger than the whole budget 2000 bytes" "... a bucket's burst"
is "$(weir -j source get 203.0.113.7 len 1500 | jq -c 'map(.never_fits)')" '[true,false,false,false]' "... in JSON"
is "$(weir -j source get 203.0.113.7 | jq -c 'map(.never_fits)')" '[null,null,null,null]' "... if a length is given"
weir limit flush

# A budget that many share
quietly weir -b - <<-WORDS
	limit add every budget 5/1h per 0
	limit add net budget 5/1h per 24 action observe before every
	limit add host budget 5/1h
WORDS
flood -s 203.0.113.7 -c 5
is "$(weir source get 203.0.113.8 | grep shared)" "" "no budget has refused a packet yet"
flood -s 203.0.113.7 -c 1
is "$(weir source get 203.0.113.8 | grep -E '^[^ ]|shared' | grep -v '^203.0.113.8 \|^a ' | sed -E 's/ count.*//' | paste -sd,)" "203.0.113.0/24 limit net,    the budget is shared by all addresses of 203.0.113.0/24; whether packets of this one were refused is not known,all limit every,    the budget is shared by all sources; whether packets of this one were dropped is not known" \
	"whose packets a shared budget dropped is not known"
is "$(weir source get 203.0.113.0/24 | grep -c shared):$(weir source get all limit every | grep -c shared)" 0:0 "... but they are those of the prefix"
weir limit flush
weir exempt add 198.51.100.0/24

# get shows the limits that would match the address on the given device, or on any
# device if none is given.
weir exempt flush
config <<-WORDS || bail "cannot configure"
	limit add four budget 1k/1h family ipv4
	limit add nfour budget 1k/1h not family ipv4
	limit add from budget 1k/1h from 198.51.100.0/24
	limit add nfrom budget 1k/1h not from 198.51.100.0/24
	limit add dev budget 1k/1h dev rx0
	limit add ndev budget 1k/1h not dev rx0
	limit add to budget 1k/1h to 2001:db8::/32
	limit add nto budget 1k/1h not to 2001:db8::/32
WORDS
# who WORD...: the limits in weir's output
who() { weir -brief "$@" | sed -n 's/.* limit \([a-z]*\) .*/\1/p' | paste -sd' '; }
# of LIMITS ADDRESS WORD...: the limits that match such packets of a source
of() {
	is "$(who source get "${@:2}" 2>/dev/null)" "$1" "limits that match packets: ${*:2}"
}
quietly weir -b - <<-WORDS
	limit add tcp budget 1k/1h tcp
	limit add web budget 1k/1h tcp dport 80,443
	limit add notweb budget 1k/1h tcp not dport 80,443
	limit add syn budget 1k/1h syn
	limit add frag budget 1k/1h frag
	limit add mark budget 1k/1h mark 4/6
	limit add ping budget 1k/1h icmpv6-type echo-request,1
	limit add noping budget 1k/1h not icmpv6-type echo-request,1
	limit add two budget 1k/1h proto tcp,udp
WORDS
all="nfour nfrom dev ndev to nto"
of "$all tcp web notweb syn frag mark ping noping two" 2001:db8:9::1
of "$all tcp web syn mark two" 2001:db8:9::1 proto tcp dport 443
of "$all tcp notweb syn mark two" 2001:db8:9::1 tcp dport 25
of "$all mark two" 2001:db8:9::1 udp dport 443
of "$all frag mark" 2001:db8:9::1 icmp
of "$all frag mark ping noping" 2001:db8:9::1 icmpv6
of "$all mark ping" 2001:db8:9::1 icmpv6-type 1
of "$all mark noping" 2001:db8:9::1 icmpv6 icmpv6-type echo-reply
of "${all/ to/} tcp web notweb syn frag mark two" 2001:db8:9::1 tcp to 2001:db9::1
of "${all/ nto/} tcp web notweb syn frag mark two" 2001:db8:9::1 tcp to 2001:db8::1
of "$all tcp web notweb syn mark two" 2001:db8:9::1 mark 0xc syn
of "$all tcp web notweb syn two" 2001:db8:9::1 mark 0x2 syn
is "$(weir source get 198.51.100.1 limit web udp 2>&1)" "a packet now: passes limit web, which it does not match" "a limit that no such packet matches"
for name in tcp web notweb syn frag mark ping noping two; do quietly weir limit del $name; done
# meets ADDRESS LIMITS DEVICE LIMITS: the limits that match without a device, and on
# DEVICE, where a packet must match the same ones; IPv6 goes to 2001:db8::1
meets() {
	is "$(who source get "$1")" "$2" "limits that match $1"
	is "$(who source get "$1" dev "$3")" "$4" "... on $3"
	flood -i "tx${3#rx}" -s "$1" -c 1
	is "$(who source show "$1")" "${4/%to nto/to}" "... and charge a packet"
}
meets 198.51.100.1 "four from dev ndev nto" rx0 "four from dev nto"
meets 203.0.113.1 "four nfrom dev ndev nto" rx0 "four nfrom dev nto"
meets 203.0.113.2 "four nfrom dev ndev nto" rx1 "four nfrom ndev nto"
meets 2001:db8:1::1 "nfour nfrom dev ndev to nto" rx1 "nfour nfrom ndev to nto"
weir exempt add 198.51.100.0/24 dev rx0
is "$(weir source get 198.51.100.1 dev rx0 | grep -c ' exempt by 198.51.100.0/24 dev rx0$')" 4 "an exemption on a device is shown for it"
is "$(answer 'map(.exempt_by) | unique' source get 198.51.100.1 dev rx0)" '[{"prefix":"198.51.100.0/24","dev":"rx0"}]' "... also in JSON"
is "$(weir source get 198.51.100.1 dev rx1 | grep -c exempt):$(weir source get 198.51.100.1 | grep -c exempt)" 0:0 \
	"... and neither for another device nor without one"

# What becomes of its packets; source-packet.t has the rest
config <<-WORDS || bail "cannot configure"
	limit add udp budget 20/1m proto udp dport 9
	limit add shared budget 5/1h per 0 proto udp dport 10
WORDS
verdict() { weir source get "$@" | sed -n 's/; in a flood .*//; s/^a packet now: //p'; }
is "$(weir -quiet source get 203.0.113.8 2>&1 | sed -n '$p')" "a packet now: passes" "what becomes of a packet is no note"
flood -s 203.0.113.9 -c 25
like "$(verdict 203.0.113.9 udp dport 9)" "^dropped by limit udp for " "a source over its budget"
quietly weir limit set udp budget 30/1m
is "$(verdict 203.0.113.9 udp dport 9)" "passes" "... has room in a larger one"
quietly weir limit set udp budget 20/1m
weir source forget 203.0.113.9 >"$tmp/out"
is "$(verdict 203.0.113.9 udp dport 9)" "passes" "... and begins anew when it is forgotten"
weir source block 203.0.113.6 limit udp for 1h >"$tmp/out"
like "$(verdict 203.0.113.6)" "^depends on proto, dport: may be dropped by limit udp for (59m|1h)[0-9a-z.]*\$" "a source that is blocked"
weir source release 203.0.113.6 >"$tmp/out"
is "$(verdict 203.0.113.6)" "passes" "... and released"
weir block add 203.0.112.0/24 dev rx0
like "$(weir source release 203.0.112.7 2>&1)" "blocked as 203.0.112.0/24 dev rx0; 'weir block del 203.0.112.0/24 dev rx0' ends that" "release tells of a prefix that is blocked on a device"
weir block flush
flood -s 203.0.113.3 -c 7 -D 10
like "$(weir source get 203.0.113.4 limit shared)" $'\n''    the budget is shared by all sources; whether packets of this one were dropped is not known'$'\n' "a budget that sources share"
finish
