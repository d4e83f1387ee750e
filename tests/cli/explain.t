#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# explain of a file, which needs no module; tests/netns/explain.t has the rest.
. "$(dirname "$0")/lib.sh"
[ ! -e /sys/module/weir ] || skip_all "the module is loaded"

cat >conf <<'CONF'
prefix-list add few 203.0.113.0/24
limit add web budget 20/1m tcp dport 443 penalty 1h
limit add host budget 5000/s per 0
limit add dns budget 50/s per 24,56 udp dport 53
limit add bulk budget 1000/s bytes bucket burst 3k to 192.0.2.0/24
limit add list budget 3/1m budget 9/1h from-list few not to-list few newcomers 2/10s
limit add count budget 1/1m action observe mark 4/6
exempt add 203.0.113.7 limit web
exempt add 203.0.113.7 limit host dev eth1
exempt add 10.0.0.0/8
block add 198.51.100.0/24 limit host
early dev lo
CONF
# explains WORDS TEXT TEST: what explain says, lines joined by |
explains() {
	# shellcheck disable=SC2086 # words
	run explain $1 file conf
	is "$status $err|$(paste -sd '|' out)" "0 |$2" "$3"
}
explains "from 203.0.113.9 dev eth0 to 192.0.2.1 tcp dport 443 mark 0 len 1500" "exempt: no\
|1 web    budget 20/m\
|2 host   budget 5000/s, shared by all sources\
|- dns    not met: proto udp, dport 53\
|3 bulk   budget 1000/s bytes bucket burst 3000\
|4 list   budget 3/m budget 9/h; not known yet: also in the newcomers' budget 2/10s\
|- count  not met: mark 0x4/0x6\
|passes|if it floods: first refused by bulk after 2 packets|early: no, eth0 has no XDP program; one is on lo" "a packet of which all is given"
explains "from 203.0.113.7 mark 4" "exempt: no\
|1 web    may be met: proto, dport not given; exempt by 203.0.113.7 limit web\
|2 host   may be met: dev not given; budget 5000/s, shared by all sources; or exempt by 203.0.113.7 dev eth1 limit host\
|3 dns    may be met: proto, dport not given; budget 50/s, shared by 203.0.113.0/24\
|4 bulk   may be met: to not given; budget 1000/s bytes bucket burst 3000\
|5 list   may be met: to not given; budget 3/m budget 9/h; not known yet: also in the newcomers' budget 2/10s\
|6 count  budget 1/m; action observe\
|passes|if it floods: depends on to: first refused by list after at most 2 packets, the newcomers' budget; else depends on to: first refused by bulk after 3000 bytes; else no limit refuses it|early: no, dev not given" "... and one of which little is"
explains "from 192.0.2.77 dev eth0 tcp dport 443 mark 0" "exempt: no\
|1 web    budget 20/m\
|2 host   budget 5000/s, shared by all sources\
|- dns    not met: proto udp, dport 53\
|3 bulk   may be met: to not given; budget 1000/s bytes bucket burst 3000\
|- list   not met: from-list few\
|- count  not met: mark 0x4/0x6\
|passes|if it floods: depends on to: first refused by bulk after 3000 bytes; else first refused by web after 20 packets|early: no, eth0 has no XDP program; one is on lo" "a limit that may be met refuses before one that is"
explains "from 198.51.100.9 udp dport 53 dev lo0" "exempt: no\
|- web    not met: proto tcp, dport 443\
|1 host   would refuse: blocked by 198.51.100.0/24 limit host, shared by all sources\
|2 dns    budget 50/s, shared by 198.51.100.0/24\
|3 bulk   may be met: to not given; budget 1000/s bytes bucket burst 3000\
|- list   not met: from-list few\
|4 count  may be met: mark not given; budget 1/m; action observe\
|dropped by limit host|if it floods: first refused by host, now|early: no, lo0 has no XDP program; one is on lo" "a blocked prefix"
explains "from 2001:db8:1:2:3::4 to 2001:db8::1 tcp dport 443 mark 0" "exempt: no\
|1 web    budget 20/m, shared by 2001:db8:1:2::/64\
|2 host   budget 5000/s, shared by all sources\
|- dns    not met: proto udp, dport 53\
|- bulk   not met: to 192.0.2.0/24\
|- list   not met: from-list few\
|- count  not met: mark 0x4/0x6\
|passes|if it floods: first refused by web after 20 packets|early: no, dev not given" "IPv6: the source is a /64"
explains "from 203.0.113.9 dev eth0 to 192.0.2.1 len 3001 icmp mark 0" "exempt: no\
|- web    not met: proto tcp\
|1 host   budget 5000/s, shared by all sources\
|- dns    not met: proto udp\
|2 bulk   would refuse: its size of 3001 bytes is larger than the whole budget 3000 bytes\
|3 list   budget 3/m budget 9/h; not known yet: also in the newcomers' budget 2/10s\
|- count  not met: mark 0x4/0x6\
|dropped by limit bulk|if it floods: first refused by bulk, now|early: no, eth0 has no XDP program; one is on lo" "a packet that never fits"
explains "from 0.0.0.0 udp sport 68 dport 67" "exempt: no\
|- web    not met: proto tcp, dport 443\
|- host   not met: names no protocol\
|- dns    not met: dport 53\
|- bulk   not met: names no protocol\
|- list   not met: from-list few, names no protocol\
|- count  not met: names no protocol\
|passes|if it floods: no limit refuses it" "what keeps the link alive"
explains "from 10.1.2.3 tcp" "exempt: by 10.0.0.0/8|passes" "an exemption from all"
explains "from 127.0.0.1 dev lo tcp" "exempt: no\
|1 web    may be met: dport not given; budget 20/m\
|2 host   budget 5000/s, shared by all sources\
|- dns    not met: proto udp\
|3 bulk   may be met: to not given; budget 1000/s bytes bucket burst 3000\
|- list   not met: from-list few\
|4 count  may be met: mark not given; budget 1/m; action observe\
|passes: nothing is limited on the loopback device" "the loopback device"
run -brief explain from 10.1.2.3 to 192.0.2.1 dev eth0 udp file conf
is "$out" $'exempt: by 10.0.0.0/8\npasses' "... briefly"
run -brief explain from 192.0.2.3 to 198.51.100.1 dev eth0 icmp mark 0 file conf
is "$(paste -sd '|' out)" "exempt: no|1 host   budget 5000/s, shared by all sources|passes|if it floods: first refused by host after 5000 packets|early: no, eth0 has no XDP program; one is on lo" "briefly, only what is met"

# The same as JSON
run -json explain from 203.0.113.9 to 192.0.2.1 tcp dport 443 mark 0 file conf
is "$status $(jq -c '[.verdict, .up_to_bytes, .first_refusals, .early_drop, (.limits | map([.limit, .met, .says]))]' out)" \
	'0 ["passes",3000,[{"limit":"list","left_packets":2,"as_newcomer":true},{"limit":"bulk","left_bytes":3000}],false,[["web","yes","admit"],["host","yes","admit"],["dns","no","nothing"],["bulk","yes","admit"],["list","yes","admit"],["count","no","nothing"]]]' "in JSON"
is "$(jq -c '.packet, (.limits[1, 2] | [.position, .unmet, .source, .configured, .budgets])' out | paste -sd,)" \
	'{"family":"ipv4","from":["203.0.113.9"],"to":["192.0.2.1"],"proto":["tcp"],"dport":[{"first":443,"last":443}],"mark":0,"mark_mask":4294967295},[2,null,"all",[{"budget":5000,"window_ms":1000,"unit":"packets","mode":"strict"}],null],[null,"proto udp, dport 53",null,null,null]' "... with the packet, and no counts"
run -json explain from 192.0.2.77 tcp dport 443 mark 0 file conf
is "$(jq -c .first_refusals out)" \
	'[{"limit":"web","left_packets":20},{"limit":"bulk","left_bytes":3000,"not_given":"to"}]' "... what is refused first, and on what that depends"
run -json explain from 198.51.100.9 tcp file conf
is "$(jq -c '[.verdict, .dropped_by, (.limits[1] | [.met, .says, .reason, .blocked_by])]' out)" \
	'["dropped","host",["yes","refuse","prefix",{"prefix":"198.51.100.0/24","limit":"host","block":true}]]' "... a block"
echo '# none' >none
run -json explain from ::1 file none
is "$(jq -c '[.limits, .verdict]' out)" '[[],"passes"]' "a file without limits"
"$weir" explain from 10.0.0.1 file - <conf >out
is "$? $(paste -sd '|' out)" "0 exempt: by 10.0.0.0/8|passes" "a file from stdin"

# What may not be: a block on a device, and none if an exemption holds
cat >devs <<'CONF'
limit add a budget 5/1h
limit add b budget 3/1h
block add 203.0.113.0/24 dev eth1
exempt add 203.0.113.0/25 limit a dev eth1
exempt add 203.0.113.9 dev eth2
CONF
run explain from 203.0.113.9 file devs
is "$(sed -n '2,4p' out | paste -sd '|')" "1 a  may be met: dev not given; would refuse: blocked by 203.0.113.0/24 dev eth1; or exempt by 203.0.113.9 dev eth2\
|2 b  may be met: dev not given; would refuse: blocked by 203.0.113.0/24 dev eth1; or exempt by 203.0.113.9 dev eth2\
|depends on dev: limit a would drop it" "it depends on the device"
run explain from 203.0.113.9 dev eth1 file devs
is "$(sed -n '2,4p' out | paste -sd '|')" "1 a  exempt by 203.0.113.0/25 dev eth1 limit a|2 b  would refuse: blocked by 203.0.113.0/24 dev eth1|dropped by limit b" "... on that of the block"
run explain from 203.0.113.9 dev eth2 file devs
is "$(paste -sd '|' out)" "exempt: by 203.0.113.9 dev eth2|passes" "... on that of an exemption"

printf 'limit add a budget 100/1h bytes\nlimit add b budget 3/1h\nblock add 203.0.113.0/24 limit b\n' >first
run explain from 203.0.113.9 len 200 file first
is "$(sed -n '2,4p' out | paste -sd '|')" "1 a  would refuse: its size of 200 bytes is larger than the whole budget 100/h bytes|2 b  would refuse: blocked by 203.0.113.0/24 limit b|dropped by limit b" "blocked prefixes come before all limits"

printf 'limit add ssh budget 20/1m tcp dport 22 syn\nlimit add web budget 100/1s tcp not syn\n' >first
run explain from 203.0.113.9 to 192.0.2.1 not syn dport 22 file first
is "$(sed -n '2,4p' out | paste -sd '|')" "- ssh  not met: syn|1 web  budget 100/s|passes" "a packet that opens no connection"
run -j explain from 203.0.113.9 to 192.0.2.1 not syn dport 22 file first
is "$(jq -c .packet.not out)" '{"syn":true}' "... in JSON"

says <<'LINES'
1 | explain | ^weir: explain: required: from ADDR$
1 | explain 203.0.113.9 | ^weir: explain: '203.0.113.9' is a value of 'from': write 'from 203.0.113.9'$
1 | explain from | ^weir: explain: 'from' requires a value: ADDR$
1 | explain from 203.0.113.0/24 | ^weir: explain: from: .*address
1 | explain from ::1 dport 53 | ^weir: explain: dport requires a protocol with ports
1 | explain from ::1 udp syn | ^weir: explain: syn requires proto tcp
1 | explain from ::1 to 192.0.2.1 | ^weir: explain: to is not an address of the source's family$
1 | explain from ::1 from ::2 | ^weir: explain: 'from' given twice$
1 | explain from ::1 limit web | ^weir: explain: unknown word 'limit'
1 | explain from ::1 len 19 | ^weir: explain: len: .*20
1 | explain from ::1 file '' | ^weir: explain: file: a file's name cannot be empty$
3 | explain from ::1 | ^weir: kernel module not loaded
1 | explain from ::1 file nosuch | ^weir: nosuch: cannot open: No such file or directory.weir: explain: nothing is explained: nosuch cannot be applied$
LINES
printf '# one\nlimit add a budget 5\n' >bad
run explain from ::1 file bad
is "$status $err" "1 weir: bad:2:20: limit add: budget: '5' has no time; for example 5/s or 5/10s
  limit add a budget 5
                     ^
weir: explain: nothing is explained: bad cannot be applied" "an error in the file"
printf 'explain from 10.0.0.1 file conf\nexplain from ::1 file none\n' >'batch'
run -batch batch
is "$status $(grep -c ^passes out)" "0 2" "in a batch"
finish
