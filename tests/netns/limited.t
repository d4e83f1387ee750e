#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# limited.t: a source is limited if a packet was refused and would be again, even if
# there is room for a smaller one
. "$(dirname "$0")/lib.sh"
begin_with <<-'WORDS'
	limit add bytes budget 5000/100s bytes from 198.51.100.0/26
	limit add packets budget 20/100s from 198.51.100.64/26
	limit add every budget 100/100s per 0 from 198.51.100.128/26
	limit add seen budget 5000/100s bytes from 198.51.100.192/26 action observe
WORDS
command weir -json monitor >"$tmp/heard" 2>/dev/null &
pids+=($!)
wait_for 60 grep -q seen "$tmp/heard" || bail "monitor shows nothing"

# how SOURCE LIMIT: what is left, whether it is limited, whether it must wait
how() { weir -j source get "$1" limit "$2" | jq -c '.[] | [.budgets[0].left, .limited, (.next_ms // 0) > 0]'; }
flood -s 198.51.100.1 -l 1300 -c 13 # 1,328 bytes each
is "$(how 198.51.100.1 bytes)" "[1016,true,true]" "a large packet refused, with room for a small one"
is "$(weir -j source show limited | jq -r '.[].source')" 198.51.100.1 "... is listed as limited"
flood -s 198.51.100.1 -c 1
is "$(how 198.51.100.1 bytes)" "[970,true,true]" "... and still is after a small packet passed"
flood -s 198.51.100.2 -l 1300 -c 3
is "$(how 198.51.100.2 bytes)" "[1016,false,false]" "without a refusal a source is not limited"
flood -s 198.51.100.65 -P tcp -G 1000 -l 17000 -c 2
is "$(how 198.51.100.65 packets)" "[3,true,true]" "a packet of 17 segments refused, with room for 3"
flood -s 198.51.100.130 -P tcp -G 1000 -l 40000 -c 3
is "$(how 198.51.100.130 every)" "[20,true,true]" "all sources together (per 0)"
flood -s 198.51.100.193 -l 1300 -c 10
is "$(how 198.51.100.193 seen)" "[1016,true,true]" "with action observe, would be limited"
flood -s 198.51.100.66 -c 20
is "$(how 198.51.100.66 packets)" "[0,true,true]" "no room at all"

told() { [ "$(grep -c '"event":"source"' "$tmp/heard")" -ge 4 ]; }
wait_for 60 told
is "$(jq -c 'select(.event == "source") | [.limit, .next_ms > 0]' "$tmp/heard" | paste -sd' ')" \
	'["bytes",true] ["packets",true] ["every",true] ["seen",true]' "events contain the time to wait"
quiet

# A change of the window keeps the refused size.
weir limit set bytes budget 5000/200s >"$tmp/out" 2>&1
is "$(how 198.51.100.1 bytes)" "[970,true,true]" "still limited in the new table"
weir source forget 198.51.100.1 >"$tmp/out"
is "$(how 198.51.100.1 bytes)" "[5000,false,false]" "a forgotten source is not limited"

# Idle sources with drops can be forgotten.
config <<<"limit add brief budget 5/10ms" || bail "cannot configure"
idle() { [ "$(weir -j source show idle limit brief | jq -c '[.[] | .idle, .dropped_packets > 0]')" = "[true,true]" ]; }
for all in 198.51.100.0/24 all; do
	flood -s 198.51.100.3 -c 100
	wait_for 60 idle || bail "no idle source: $(weir -brief source show idle)"
	like "$(weir source forget $all)" "limit brief forgotten 1\$" "an idle source with drops is forgotten with $all"
	like "$(weir source forget $all)" "forgotten 0( .nothing to forget.)?\$" "... once"
done

# So are drops that a CPU has not yet counted for the source.
config <<<"limit add long budget 5/100s" || bail "cannot configure"
drops() { weir -j source get 198.51.100.4 limit long | jq '.[].dropped_packets'; }
flood -s 198.51.100.4 -c 50
is "$(drops)" 45 "drops of the present slot"
weir source forget 198.51.100.4 >"$tmp/out"
is "$(drops)" 0 "... are forgotten"
finish
