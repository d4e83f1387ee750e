#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# only-blocks.t: a limit without a budget has room for all blocks that it is made for, drops their
# packets and no others, counts nobody, and keeps the blocks when it becomes a limit with a budget
. "$(dirname "$0")/lib.sh"
begin_apart
is "$(weir limit add ban blocks 6000 2>&1 | grep -v '^    ')" "ban blocks 6000" "a limit for blocks alone is made without a note"
for ((i = 0; i < 6000; i++)); do echo "source block 10.$((i >> 12)).$((i >> 8 & 63)).$((i & 255)) limit ban for 1h"; done >"$tmp/blocks"
quietly weir -batch "$tmp/blocks" >"$tmp/said"
is "$? $(stat_of ban blocked_now)" "0 6000" "it has room for as many as it is made for"
is "$(through 10.0.0.7):$(through 10.1.20.200):$(through 10.2.0.1)" 0:0:10 "they are dropped, and others pass"
flood -s 203.0.113.1 -n 200 -c 400
is "$(stat_of ban dropped.packets):$(stat_of ban admitted.packets)" 20:410 "... which is counted"
is "$(stat_of ban sources_now):$(stat_of ban evictions):$(weir -j source show idle limit ban | jq length)" 0:0:6000 "who is not blocked takes no place"
is "$(weir source get 10.0.0.7 limit ban | head -n 1 | sed 's/5[89]m[0-9.]*s/1h/')" "10.0.0.7 limit ban blocked for 1h dropped 10" "source get, of one that is blocked"
is "$(weir source get 10.2.0.1 limit ban | paste -sd,)" "10.2.0.1 limit ban dropped 0,a packet now: passes limit ban" "... and of one that is not"
is "$(weir -j source get 10.0.0.7 limit ban | jq -c '.[0] | [.blocked, .budgets, .limited]')" '[true,null,true]' "... in JSON"
weir source release 10.0.0.7 limit ban >/dev/null
is "$(through 10.0.0.7):$(stat_of ban blocked_now)" 10:5999 "one that is released passes"
weir source block 10.0.0.7 limit ban for 1s >/dev/null
ended() { [ "$(through 10.0.0.7)" = 10 ]; }
holds "... and so does one whose block has ended" wait_for 60 ended

# Beside other limits
for place in 'before ban' ''; do
	if [ -n "$place" ]; then counted=10; else counted=0; fi
	weir limit add every budget 1000/1h $place >/dev/null 2>&1
	flood -s 10.0.0.9 -c 10
	is "$(through 10.2.0.1):$(stat_of every admitted.packets):$(stat_of every elsewhere.packets):$(weir -brief source show idle limit every | grep -c '^10.0.0.9 ')" "10:10:$counted:0" "with a limit ${place:-behind it}, which is not charged for what is dropped"
	weir limit del every >/dev/null 2>&1
done
weir limit set ban action observe >/dev/null 2>&1
weir limit add every budget 1000/1h before ban >/dev/null 2>&1
is "$(through 10.0.0.9):$(weir -json source get 10.0.0.9 limit ban | json would_drop_packets)" 10:10 "if it observes, it counts what it would drop"
weir limit del every >/dev/null
weir limit set ban action drop >/dev/null 2>&1

# Changes
like "$(weir -check limit set ban blocks 1500 2>&1 >/dev/null)" "^weir: warning: limit 'ban': blocks find no room and end; a larger number keeps them \([0-9]+ of them\)$" "fewer places than blocks are warned of"
weir limit set ban blocks 9000 >/dev/null
is "$? $(stat_of ban blocked_now):$(through 10.0.0.9)" 0\ 5999:0 "a larger table has them all"
weir save >"$tmp/saved"
weir diff "$tmp/saved" >"$tmp/said"
is "$? $(<"$tmp/said")" "0 " "what is saved is what is in force"
weir save -state "$tmp/state"
echo 'limit add ban budget 1000/1h sources 65536' | weir -file - 2>/dev/null
is "$(stat_of ban blocked_now):$(through 10.0.0.9):$(through 10.2.0.1)" 5999:0:10 "a file that gives it a budget keeps the blocks"
flood -s 203.0.113.7 -c 10
flood -s 203.1.0.1 -n 3000 -c 3000
weir -file "$tmp/saved" 2>/dev/null
is "$?:$(weir source get 203.0.113.7 limit ban | head -n 1):$(stat_of ban limited_now)" "0:203.0.113.7 limit ban dropped 0:0" "... whose counts go with it"
is "$(stat_of ban blocked_now):$(through 10.0.0.9):$(through 10.2.0.1)" 5999:0:10 "... and so does one that takes it away"
weir diff <(echo 'limit add ban blocks 12000') >"$tmp/said"
like "$? $(grep '^[-+]limit' "$tmp/said" | paste -sd,)" '^1 -limit add ban blocks [0-9]+,[+]limit add ban blocks 12000$' "diff says what differs"
weir limit flush 2>/dev/null
weir -quiet restore "$tmp/state" >/dev/null
is "$? $(stat_of ban blocked_now):$(through 10.0.0.9)" 0\ 5999:0 "a saved state has them"

# Refusals
# refused SENTENCE WORDS...: by the kernel, with the sentence
refused() {
	local status
	weir "${@:2}" >"$tmp/said" 2>&1
	status=$?
	is "$status:$(<"$tmp/said")" "2:weir: $2 $3: $1" "refused: ${*:2}"
}
refused "budget: a limit that only blocks has no budget; add another one with it" limit set ban budget 5/s
refused "sources: a limit that only blocks is made for blocks; leave sources out" limit set ban sources 1000
refused "no newcomers, penalty, budgets-by or shared where nobody is counted" limit set ban penalty 1h
refused "limit: the limit only blocks, and has no budget to charge" source charge 10.0.0.1 limit ban
weir limit add web budget 1000/1h sources 64 from 192.0.2.0/24 >/dev/null 2>&1
refused "blocks: the limit has budgets; add another one that only blocks" limit set web blocks 5
weir limit add one blocks 1 from 198.51.100.0/24 >/dev/null
for ((i = 0; i < 256; i++)); do weir source block "198.51.100.$i" limit one for 1h >/dev/null 2>"$tmp/said" || break; done
within "$i" 2 255 "it may have more than it is made for, but not without bound"
is "$(<"$tmp/said")" "weir: source block: ADDR: no place is left for the block; raise the limit's blocks (made for 1)" "... which says what it is made for"
like "$(weir -s limit show one)" "no room was left for a block: try blocks 2$" "... as limit show does"
is "$(stat_of one blocked_now):$(through 198.51.100.0)" "$i:0" "... and ends none"

# All that a limit of a list matches is blocked: nothing is known of who is exempt.
quietly weir prefix-list add bad 10.3.0.0/24
weir limit flush 2>"$tmp/said"
weir limit add drop from-list bad blocks 1 >"$tmp/out" 2>&1
is "$(weir block add 0.0.0.0/0 limit drop 2>&1; weir exempt add 10.9.0.1 2>&1)" "" "an exemption of others than those of a list that is blocked"
unload
finish
