#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# block-prefix.t: prefixes that are blocked as a whole, under all limits or under one: what limits
# match of them is dropped, exemptions come first, and they are part of the configuration
. "$(dirname "$0")/lib.sh"
begin_with <<-WORDS
	limit add udp budget 100k/1h proto udp per 24 sources 64
	limit add six budget 100k/1h family ipv6 sources 64
	limit add observe budget 100k/1h action observe sources 64
WORDS
tcp() { recount; flood -s "$1" -c 10 -P tcp; passed; }
blocks() { weir block show | xargs; }
dropped() { weir -j -s block show | jq -c '[.[].stats.packets]'; }

is "$(through 203.0.113.9)" 10 "a source passes"
narrow="weir: note: of the packets from there, only those that match a limit, as 'udp', are dropped; to drop all: weir limit add NAME blocks 1"
is "$(weir source block 203.0.113.8 for 1h 2>&1 | grep 'of the packets')" "$narrow" "a source's block is of what limits match, which is said"
like "$(weir block show 2>&1)" "^weir: note: single sources are blocked, too \([12]\): see 'source show blocked'$" "... and no prefix's"
quietly weir source forget 203.0.113.8
is "$(weir source block 203.0.113.0/24 for 1h 2>&1)" "203.0.113.0/24 blocked for 1h
$narrow" "its prefix is blocked, which is as long as a source of a limit"
like "$(blocks)" '^203\.0\.113\.0/24 for (1h|59m[0-9]*s?|3[0-9]+s)$' "... as block show says"
is "$(through 203.0.113.9):$(through 203.0.113.255):$(through 203.0.112.255):$(through 203.0.114.0)" 0:0:10:10 "all its sources are refused, and no others"
is "$(dropped):$(stat_of udp dropped.packets):$(stat_of udp blocked_now):$(stats dropped)" "[20]:20:0:20" "... which block and limit count, and no place is taken"
is "$(stat_of udp dropped_by_prefix.packets):$(stats dropped_by_prefix):$(stat_of observe dropped_by_prefix.packets)" 20:20:0 "... as drops by a prefix"
like "$(weir -s limit show udp | grep 'by prefix')" '^ *dropped by prefix +20 packets' "... which limit show tells"
is "$(weir -j stats | jq -c '.[] | [.exempt_count, .blocked_prefix_count]')" '[0,1]' "a block is not counted as an exemption"
like "$(weir metrics | grep -E '^weir_(exemptions|blocked_prefixes|prefix_dropped_packets_total|limit_prefix_dropped_packets_total.*udp.*) ' | sed 's/.* //' | xargs)" '^0 1 20 20$' "... nor in the metrics"
is "$(stat_of observe matched.packets)" 30 "limits behind the one that drops do not see them"
is "$(tcp 203.0.113.9)" 10 "what no limit that drops matches passes"
like "$(weir source get 203.0.113.9 limit udp)" '^203.0.113.0/24 limit udp blocked by 203.0.113.0/24 for ' "source get tells it"
is "$(weir -j source get 203.0.113.9 limit udp | jq -c '.[0].blocked_by | [.prefix, .block]')" '["203.0.113.0/24",true]' "... in JSON, too"
is "$(weir -j source get 203.0.113.9 limit udp | jq -c '.[0] | [.blocked, .blocked_ms > 3400000, .blocked_ms <= 3600000]')" '[true,true,true]' "... as a source that is blocked, and how long"
like "$(weir source charge 203.0.113.9 limit udp 2>&1)" "not charged: the source is blocked\$" "... and a program is refused what it asks for it"
is "$(weir -j source charge 203.0.113.9 limit udp 2>"$tmp/said" | jq -c '.[0] | [.taken, .blocked, .blocked_ms > 3400000, .wait_ms > 3400000]')" '[0,true,true,true]' "... until the block ends"
weir exempt add 203.0.113.9 limit udp 2>"$tmp/said"
is "$(<"$tmp/said")" "weir: warning: sources of the prefix are blocked, which an exemption comes before" "an exemption of one of its sources says what it does"
is "$(weir source charge 203.0.113.9 limit udp | grep -c 'taken 1'):$(weir source charge 203.0.113.9 limit observe | grep -c 'taken 1')" 1:1 "... and it is granted, as by a limit that observes"
weir exempt del 203.0.113.9 limit udp
weir source forget 203.0.113.9 >/dev/null
like "$(weir source get 203.0.113.9 limit observe)" '^203.0.113.9 limit observe count ' "a limit that observes blocks nobody"
is "$(weir -j source get 203.0.113.9 limit observe | jq -c '.[0] | [.blocked, .blocked_by]')" '[false,null]' "... in JSON, too"
is "$(weir source release 203.0.113.9 2>&1; echo $?)" "weir: source release: ADDR 203.0.113.9: blocked as 203.0.113.0/24; 'weir block del 203.0.113.0/24' ends that
2" "release of an address names the prefix"
is "$(weir source release 203.0.113.0/25 limit udp 2>&1; weir source release 203.0.113.0/25 2>&1)" "weir: source release: ADDR 203.0.113.0/25: limit 'udp' counts each /24 as a source; 'source show limit udp' lists them
weir: source release: ADDR 203.0.113.0/25: blocked as 203.0.113.0/24; 'weir block del 203.0.113.0/24' ends that" "... of a part, too"
weir source block 203.0.113.9 limit udp for 2h >/dev/null
is "$(weir -j source get 203.0.113.9 limit udp | jq -c '.[0] | [.blocked, .blocked_ms > 7000000]')" '[true,true]' "the later end of two blocks counts"
is "$(weir source release 203.0.113.9 limit udp 2>&1 | grep note)" "weir: note: 203.0.113.9 is still blocked as 203.0.113.0/24; 'weir block del 203.0.113.0/24' ends that" "... and a note says which one is left"
is "$(weir source release 203.0.114.9 2>&1)" "weir: source release: ADDR 203.0.114.9: the source is not blocked; what it sent is counted until it is forgotten" "what nothing blocks"
is "$(weir exempt show; weir exempt get 203.0.113.9 2>&1 | grep -c 'no exemption')" 1 "it is no exemption"
like "$(weir source block 203.0.113.0/24 for 1h 2>&1)" 'already blocked; replace it to prolong it' "it cannot be blocked twice"
weir -exist block add 203.0.113.0/24 for 2h
like "$(blocks):$(dropped)" '^203\.0\.113\.0/24 for (2h|1h59m[0-9]*s?):\[20\]$' "... but -exist gives it a new end, and keeps its counters"
is "$(weir -exist source block 203.0.113.0/24 for ever)" "203.0.113.0/24 blocked for ever" "... but for longer"
is "$(blocks)" "203.0.113.0/24" "... also source block"
is "$(weir -exist source block 203.0.113.0/24 for 1h 2>&1)" "weir: warning: it has a later end, which stays unless this one is forced
203.0.113.0/24 blocked for ever
$narrow" "... and not a shorter one"
is "$(printf 'block add 203.0.113.%s\n' 0/24 0/25 0/26 | sed 's/$/ for 1h/' | weir -exist -batch - 2>&1 | grep later)" "weir: warning: -:1: it has a later end, which stays unless this one is forced" "... as a batch says of each"
weir block del 203.0.113.0/25
weir block del 203.0.113.0/26
like "$(weir -exist -force source block 203.0.113.0/24 for 2h)" "^203.0.113.0/24 blocked for (2h|1h59m)\$" "... unless it is forced"
is "$(weir -j -exist source block 203.0.113.0/24 for ever)" '[{"source":"203.0.113.0/24","blocked":true}]' "... in JSON, too"
is "$(weir -j source get 203.0.113.9 limit udp | jq -c '.[0] | [.blocked, .blocked_ms]')" '[true,null]' "... for ever, says source get"
like "$(weir block add 203.0.113.0/24 limit none 2>&1)" "limit 'none': no limit of that name to block under" "a limit that does not exist"
like "$(weir exempt add 203.0.113.8/29 2>&1; weir block add 203.0.0.0/16 2>&1)" 'exempt, which comes before blocks' "a block with exempt sources is made with a warning"
is "$(through 203.0.113.9):$(through 203.0.113.1):$(through 203.0.5.1)" 10:0:0 "an exemption wins"
is "$(weir exempt flush 2>&1)" "weir: note: exemptions that go: 1" "exempt flush says how many go"
is "$(through 203.0.113.9):$(weir block show | wc -l)" 0:2 "... and leaves blocks"
weir block add 198.51.100.0/24 limit udp dev rx0
before() { weir exempt add 198.51.100.9 "$@" 2>&1 | grep -c 'comes before'; }
is "$(before limit observe):$(before dev rx1):$(before dev rx0):$(before limit udp)" 0:0:1:1 "a warning is of the block's limit and device"
weir exempt flush
weir block del 198.51.100.0/24 limit udp dev rx0
weir save "$tmp/before"
weir exempt add 203.0.113.8/29 && weir block flush 2>"$tmp/err"
is "$(<"$tmp/err")" "weir: note: blocks of prefixes that end: 2" "... and block flush, too"
is "$(through 203.0.113.1):$(blocks):$(weir exempt show)" 10::203.0.113.8/29 "block flush leaves exemptions"
is "$(weir block flush 203.0.113.0/24 2>&1 | head -n 1)" "weir: block flush: unexpected argument '203.0.113.0/24'" "... and takes no words"
weir -file "$tmp/before"
is "$(weir source release 203.0.0.0/16 2>&1):$(through 203.0.113.9):$(through 203.0.5.1)" "203.0.0.0/16 released:0:10" "the outer one is released"
is "$(weir block del 203.0.113.0/24):$(through 203.0.113.9):$(blocks)" :10: "... and the inner one"
like "$(weir source release 203.0.113.0/24 2>&1)" 'the prefix is not blocked' "what is not blocked cannot be released"

# Under one limit; of IPv6; with device
weir block add 198.51.101.0/22 2>/dev/null
is "$?:$(blocks)" 1: "host bits are refused"
is "$(weir source block 198.51.0.0/16 limit udp for ever)" "198.51.0.0/16 limit udp blocked for ever" "a prefix under one limit"
weir exempt add 198.51.7.0/24 limit udp
is "$(through 198.51.1.1):$(through 198.51.7.1)" 0:10 "a block under one limit, and an exemption from it"
ends="blocked as 198.51.0.0/16 limit udp; 'weir block del 198.51.0.0/16 limit udp' ends that"
is "$(weir source release 198.51.0.0/16 2>&1; echo $?)" "weir: source release: ADDR 198.51.0.0/16: $ends
2" "... is not released without the limit, which is named"
is "$(weir source release 198.51.1.1 2>&1; weir source release 198.51.1.0/24 limit udp 2>&1)" "weir: source release: ADDR 198.51.1.1: $ends
weir: source release: ADDR 198.51.1.0/24: $ends" "... nor are sources within"
is "$(weir source release 198.51.1.1 limit six 2>&1)" "weir: source release: ADDR 198.51.1.1: the source is not blocked under this limit; name no limit" "... nor under another limit"
weir limit set udp proto tcp >/dev/null 2>&1
is "$(through 198.51.1.1):$(tcp 198.51.1.1)" 10:0 "... follows the limit"
weir limit rename udp tcp && is "$(blocks)" "198.51.0.0/16 limit tcp" "... also its name"
weir limit del tcp
is "$(blocks)$(weir exempt show)" "" "... and goes with it"
weir source block 2001:db8::/32 for ever >/dev/null
is "$(through 2001:db8:ffff::1):$(through 2001:db9::1)" 0:10 "a prefix of IPv6"
weir limit set six action observe >/dev/null
is "$(through 2001:db8:ffff::1)" 10 "a limit that observes blocks nobody"
weir limit set six action drop >/dev/null
weir block add ::/0 dev rx1 2>/dev/null
is "$(through 2001:db9::1)" 10 "packets on another device"
weir block add ::/0 dev rx0 2>/dev/null
is "$(through 2001:db9::1)" 0 "... and on the one that is named"
weir block del ::/0 dev rx0 && weir block del ::/0 dev rx1

# Configuration
weir block add 192.88.99.0/24 limit six comment "no tunnels" for 1d
weir save "$tmp/one"
like "$(grep '^block' "$tmp/one" | xargs -d '\n')" '^block add 192.88.99.0/24 limit six comment "no tunnels" until 20[-0-9]+T[0-9:]+Z block add 2001:db8::/32$' "save has them" || cat "$tmp/one"
was=$(weir -j -s block show | jq -c '.[1].stats')
weir -file "$tmp/one" && is "$(weir -j -s block show | jq -c '.[1].stats')" "$was" "a file that has them keeps their counters"
grep -v 2001:db8 "$tmp/one" >"$tmp/two" && weir -file "$tmp/two"
is "$(through 2001:db8:ffff::1)" 10 "a file without one ends it"
weir -file "$tmp/one" && is "$(through 2001:db8:ffff::1):$(weir block show | wc -l)" 0:2 "... and the former one has it"
echo 'block add 2001:db8::/32 limit none' >>"$tmp/two"
weir -file "$tmp/two" 2>/dev/null
is "$?:$(through 2001:db8:ffff::1)" 1:0 "an invalid file changes nothing"
weir limit flush
is "$(weir block show)" "2001:db8::/32" "a block under all limits stays without any"
is "$(weir block add 2001:db9::/32 2>&1)" "weir: note: nothing is blocked yet: there is no limit whose packets could be dropped" "... and another one gets a note"
is "$(weir source block 203.0.113.1 for 1m 2>&1):$?" "weir: source block: ADDR 203.0.113.1: a source is blocked by limits, and there is none; first: weir limit add ban blocks 10000:2" "a source is not blocked without limits"
weir block del 2001:db9::/32
echo 'limit add every budget 100k/1h' | weir -b -
is "$(through 2001:db8:ffff::1):$(through 2001:db9::1)" 0:10 "... and is in force with the next"

# The end
"$top/userspace/weir" monitor >"$tmp/events" &
pids+=($!)
wait_for 60 grep -q present "$tmp/events" || bail "monitor shows nothing"
weir block add 100.64.0.0/10 for 2s
is "$(through 100.64.0.1)" 0 "a block that ends"
ended() { [ "$(through 100.64.0.1)" = 10 ]; }
wait_for 60 ended
ok $? "... has ended"
is "$(blocks)" "2001:db8::/32" "... and is not listed any more"
told() { grep -q 'removed 100.64' "$tmp/events"; }
wait_for 60 told
is "$(grep 'removed 100.64' "$tmp/events")" "block-prefix removed 100.64.0.0/10" "... and monitor tells no time that was left"

let_pass $((1000 - $(now_ms) % 1000))
weir block add 100.64.0.0/10 for 1h
weir save >"$tmp/saved"
for n in {1..3}; do
	let_pass 350
	weir save >"$tmp/again"
	cmp -s "$tmp/saved" "$tmp/again" || break
done
is "$n $(diff "$tmp/saved" "$tmp/again")" "3 " "an end is the same point in time whenever it is saved"
like "$(weir block show | grep ^100)" '^100\.64\.0\.0/10 for (1h|59m[0-9]+s)$' "... and what is left is shown in seconds"
weir block del 100.64.0.0/10

weir limit add tcp budget 100k/1h proto tcp >/dev/null 2>&1
weir limit del every
# Of another limit or device it is another block, or another exemption.
weir block flush
weir exempt flush
quietly weir block add 100.64.0.0/10 limit tcp
quietly weir exempt add 100.65.0.0/16 dev rx0 limit tcp
is "$(weir block del 100.64.0.0/10 2>&1; echo $?)" "weir: block del: PREFIX 100.64.0.0/10: blocked as 100.64.0.0/10 limit tcp; 'weir block del 100.64.0.0/10 limit tcp' ends that"$'\n2' "a block that names a limit is not ended without it, and the error says how"
is "$(weir block del 100.64.9.0/24 limit tcp 2>&1; echo $?)" "weir: block del: PREFIX 100.64.9.0/24: blocked as 100.64.0.0/10 limit tcp; 'weir block del 100.64.0.0/10 limit tcp' ends that"$'\n2' "... nor a part of it, which names the whole"
like "$(weir exempt del 100.65.0.0/16 2>&1)" "exempt as 100.65.0.0/16 dev rx0 limit tcp; 'weir exempt del 100.65.0.0/16 dev rx0 limit tcp' ends that" "... nor is an exemption"
is "$(weir -check limit del tcp 2>&1)" "weir: warning: deleting limit 'tcp' also deletes its exemptions (1) and blocked prefixes (1)" "... and a limit that goes says what goes with it"
quietly weir block add 100.128.0.0/10
like "$(weir -check limit set tcp action observe 2>&1)" "limit 'tcp' no longer drops all packets of blocked sources \(0\) and prefixes \(2\)" "... and one that is to observe, that it blocks nobody"
like "$(weir -check limit set tcp not from 100.64.0.0/10 2>&1)" "limit 'tcp' no longer drops all packets of blocked sources \(0\) and prefixes \(1\), such as 100.64.0.0/10" "... nor does one that leaves a blocked prefix out"
for limit in udp six observe seen; do quietly weir limit del $limit; done
is "$(weir -check limit flush 2>&1)" "weir: warning: deleting all limits also deletes their exemptions (1) and blocked prefixes (1)
weir: warning: no limit will be left, so prefixes that are blocked under all limits (1) get through" "... and so does limit flush"
like "$(weir -check limit del tcp 2>&1 | tail -n 1)" "limit 'tcp' goes, and no other one drops its packets of prefixes that are blocked under all \(1\), such as 100.128.0.0/10" "... and the last one, what has no effect then"
quietly weir block del 100.128.0.0/10
is "$(weir -exist block del 100.64.0.0/10 2>&1; echo $?)" "weir: note: 100.64.0.0/10 is still blocked as 100.64.0.0/10 limit tcp; 'weir block del 100.64.0.0/10 limit tcp' ends that"$'\n0' "... with -exist a note says so"
is "$(weir -exist block del 100.64.0.0/12 2>&1 | grep -c "still blocked as 100.64.0.0/10 limit tcp;")" 1 "... also of a part of it"
is "$(weir -exist block del 100.0.0.0/8 2>&1; echo $?)" 0 "... but not of another prefix"
like "$(weir -brief source show blocked 2>&1)" "weir: note: prefixes are blocked, too \(1\): see 'block show'" "a list of blocked sources says that prefixes are blocked, too"

# A prefix that is one of a limit's sources
weir limit flush 2>/dev/null
weir block flush
quietly weir limit add net budget 100k/1h per 24
quietly weir limit add host budget 100k/1h
quietly weir source block 203.0.113.5 limit net for 1h
is "$(weir source release 203.0.113.0/24 2>&1)" "203.0.113.0/24 limit net released" "a prefix releases the source that it is"
quietly weir source block 203.0.113.5 for 1h
quietly weir source block 203.0.113.0/24 for 1h
is "$(weir -j source release 203.0.113.0/24 | jq -c 'map([.source, .limit, .blocked])') $(blocks)" '[["203.0.113.0/24",null,false],["203.0.113.0/24","net",false]] ' "... and ends the block of the prefix as a whole"
is "$(weir -brief source show blocked | cut -d ' ' -f 1-3)" "203.0.113.5 limit host" "... but not those of sources within it"
is "$(weir source release 203.0.113.0/24 2>&1; echo $?)" "weir: source release: PREFIX 203.0.113.0/24: the prefix is not blocked; release a source by its address"$'\n2' "... and if neither is blocked, it fails"
is "$(weir save "$tmp/saved" 2>&1; weir save 2>&1 >"$tmp/out")" "weir: note: single sources are blocked, too (1): 'weir save -state FILE' has these blocks, a configuration not
weir: note: single sources are blocked, too (1): 'weir save -state FILE' has these blocks, a configuration not" "a file of the configuration lacks it, which is said"
is "$(weir save 2>&1 >/dev/null; weir save -state "$tmp/saved" 2>&1)" "" "... but not of a pipe or a state"
quietly weir source release 203.0.113.5

# Link-local sources are single addresses
is "$(weir source block fe80::5 dev rx0 for 1h 2>&1 | grep -v 'blocked for')" "" "a link-local source is blocked alone, and nothing else is said"
is "$(weir source release fe80::5 dev rx0)" "fe80::5 dev rx0 limit net released"$'\n'"fe80::5 dev rx0 limit host released" "... and released"
is "$(weir source block fe80::/64 dev rx0 limit net for 1h) $(blocks)" "fe80::/64 dev rx0 limit net blocked for 1h fe80::/64 dev rx0 limit net for 1h" "their prefix is blocked as a whole"
is "$(weir source release fe80::/64 dev rx0 limit net 2>&1; blocks)" "fe80::/64 dev rx0 limit net released" "... and released as that"

end=$(date -u -d +1day +%FT%TZ)
is "$(weir block add 192.0.2.9 until "$end" 2>&1; weir -exist block add 192.0.2.9 until "$end" 2>&1)" "" "one end that is given twice is not a later one"
while [ "${EPOCHREALTIME#*.}" -lt 300000 ]; do :; done
is "$(weir block add 192.0.2.10 until "$(date -ud "1 second" +%FT%TZ)" 2>&1)" "" "an end in less than a second is one in a second"

# Limits that observe
quietly weir limit set host action observe
is "$(weir source block 203.0.113.5 for 1h 2>&1 >/dev/null | grep warning)$(weir block add 203.0.113.0/24 2>&1)" "" "under a limit that observes and another one that drops, a block is no news"
quietly weir limit set net action observe
warned="weir: warning: nothing is blocked: limit 'net' observes, and none drops packets from there"
is "$(weir -exist block add 203.0.113.0/24 2>&1)" "$warned" "... unless none does"
is "$(weir source block 203.0.112.0/24 limit net for 1h 2>&1 >/dev/null)" "weir: warning: nothing is blocked: limit 'net' observes, and none drops packets from there" "... or the limit that is named"
is "$(printf 'block add 192.0.2.%s\n' 1 2 | weir -batch - 2>&1)" "${warned/warning: /warning: -:1: }" "... said once in a batch"
like "$(weir source get 203.0.113.5 2>&1)" $'\n'"a packet now: passes" "... and a packet passes"
quietly weir limit add other budget 1/s from 203.0.113.7/32
is "$(weir -exist block add 203.0.113.0/24 2>&1)" "${narrow/udp/other}" "of a limit that drops some of them, a note says so"
weir block flush
printf '%s\n' '; Last: Fri, 28 Nov' '192.0.2.0/24 ; SBL1,x' ' 198.51.100.0/24 , 2001:db8::/32 # y'$'\r' $'203.0.113.1\t203.0.113.8' >"$tmp/drop"
said=$(weir block add "$tmp/drop" 2>&1)
eval "${said#*for those of a file: }" >/dev/null 2>&1
is "$(weir -brief block show | cut -d' ' -f1 | sort | paste -sd,)" 192.0.2.0/24,198.51.100.0/24,2001:db8::/32,203.0.113.1,203.0.113.8 "the command for those of a file, with comments" || diag "$said"
weir block flush
weir limit add nets budget 1/s family ipv4 from 198.51.0.0/16 dev rx0 >/dev/null 2>&1
is "$(weir source block 203.0.113.0/24 limit nets for 1h 2>&1)" "203.0.113.0/24 limit nets blocked for 1h
weir: warning: nothing is blocked: limit 'nets' never matches packets from there" "a limit that cannot match the prefix is warned of"
for words in '2001:db8::/32 limit nets' '198.51.100.0/24 dev rx1 limit nets'; do
	# shellcheck disable=SC2086 # words
	like "$(weir block add $words 2>&1)" "nothing is blocked: limit 'nets' never matches" "... also as a block: $words"
done
is "$(weir block add 198.0.0.0/8 limit nets 2>&1; weir block add 198.51.100.0/24 dev rx0 limit nets 2>&1)" "" "... but not one that matches some of it"
weir save "$tmp/unmatched"
is "$(weir -check -file "$tmp/unmatched" 2>&1 | grep -c "nothing is blocked: limit 'nets' never matches")" 1 "... and in a file, once"
weir -quiet -file - <<<'limit add nets budget 1/s from 198.51.0.0/16'
is "$(weir block add 203.0.113.0/24 2>&1)" "weir: warning: nothing is blocked: no limit matches packets from there" "... as is a prefix that no limit matches"

# Limits by lists
weir -quiet -file - <<-WORDS
	prefix-list add drop 203.0.113.0/24
	prefix-list add good 198.51.100.0/24
	limit add drop from-list drop blocks 1
	limit add web budget 1/s not from-list good udp dport 9,10
WORDS
never="weir: warning: nothing is blocked: limit 'drop' never matches packets from there"
is "$(weir block add 192.0.2.0/24 limit drop 2>&1; weir source block 192.0.3.0/24 limit drop for 1h 2>&1 >/dev/null)" "$never
$never" "a limit of a list that lacks the prefix is warned of"
is "$(weir block add 198.51.100.0/25 2>&1)" "weir: warning: nothing is blocked: no limit matches packets from there" "... and a prefix of a list that all limits leave out"
is "$(weir block add 203.0.113.0/25 2>&1; weir block add 0.0.0.0/0 limit drop 2>&1)" "" "... but not one that the list has, or of which it has some"
is "$(weir -check exempt add 203.0.113.128/25 2>&1; weir -check exempt add 192.0.9.0/24 2>&1)" "weir: warning: limit 'drop' blocks sources of 203.0.113.128/25, which the exemption comes before" "... and an exemption of what it has is told"
is "$(weir source release 203.0.113.9 2>&1 | sed -n 's/.*blocked as //p' | sort)" "0.0.0.0/0 limit drop; 'weir exempt add 203.0.113.9 limit drop' lets it pass
203.0.113.0/25; 'weir block del 203.0.113.0/25' ends that" "all prefixes are named as which a source is blocked, and no list disarmed for one"
is "$(weir block add 192.0.4.0/24 2>&1)" "${narrow/udp/web}" "a limit of another list drops nothing of a prefix"
is "$(weir source release 192.0.4.9 2>&1 | grep -c 'blocked as')" 1 "... nor is one named there that does not match the source"
weir save "$tmp/listed"
is "$(weir -check -file "$tmp/listed" 2>&1 | grep -oE "(nothing is blocked: (limit '[a-z]+'|no limit)|of the packets from there)" | sort | uniq -c | xargs)" "1 nothing is blocked: limit drop 1 nothing is blocked: no limit 1 of the packets from there" "... as a file says of each"
is "$(weir -check prefix-list add good 192.0.4.128/25 2>&1 | grep blocked; weir -check limit set web not from 192.0.4.0/25 2>&1 | grep blocked)" "weir: warning: limit 'web' no longer drops all packets of blocked sources (0) and prefixes (1), such as 192.0.4.0/24
weir: warning: limit 'web' no longer drops all packets of blocked sources (0) and prefixes (1), such as 192.0.4.0/24" "a part of a blocked prefix that a limit is to leave out is told"
is "$(weir -check limit set web dport 9 2>&1 | grep blocked)" "weir: note: limit 'web' drops only those packets of blocked sources and prefixes that match its new conditions" "... and so are other conditions"
is "$(weir -check limit set web dport 9-11 2>&1 | grep blocked; weir -check limit set web budget 2/s 2>&1 | grep blocked)" "weir: note: limit 'web' drops only those packets of blocked sources and prefixes that match its new conditions" "... but not another budget"
is "$(weir -check limit del web 2>&1; grep -v 'add web' "$tmp/listed" | weir -check -file - 2>&1 | grep goes)" "weir: warning: limit 'web' goes, and no other one drops its packets of prefixes that are blocked under all (1), such as 192.0.4.0/24
weir: warning: -: limit 'web' goes, and no other one drops its packets of prefixes that are blocked under all (1), such as 192.0.4.0/24" "a limit that goes says which prefixes get through though another limit is left"
quietly weir limit add every budget 100k/1h
is "$(weir -check limit del web 2>&1)" "" "... unless that drops from them"
finish
