#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# reset.t: reset sets a limit's counters to zero, and nothing else, even while packets arrive
. "$(dirname "$0")/lib.sh"
begin_with <<-WORDS
	limit add web budget 100/1h to 192.0.2.0/24
	limit add every budget 1000/1h action observe
	limit add full budget 20/1h sources 64 from 203.0.0.0/16 action observe
WORDS
# counters LIMIT: all counters of a limit
counters() { weir -j -s limit show "$1" | jq -c '[.[0].stats | del(.sources_now, .limited_now, .sources_wanted) | .. | numbers]'; }
weir -j monitor >"$tmp/events" &
pids+=($!)
heard() { [ "$(jq -r 'select(.change == "'"$1"'").limit' "$tmp/events" | xargs)" = "$2" ]; }
wait_for 60 heard present "web every full" || bail "no monitor"
flood -s 198.51.100.1 -c 150
flood -s 203.0.113.0 -n 5000 -c 5000
every=$(counters every) size=$(stat_of full sources_wanted)
is "$(stat_of web dropped.packets) $(stat_of web admitted.packets)" "50 5100" "packets are counted"
holds "... and so is pressure" [ "${size:-0}" -gt 64 ] || weir -s limit show
weir limit reset web
is "$(counters web | jq -c unique)" '[0]' "reset sets all counters of the limit to zero"
is "$(counters every)" "$every" "... and of no other limit"
is "$(weir -j source get 198.51.100.1 limit web | jq -c '.[0] | [.budgets[0].count, .dropped_packets]')" '[100,50]' "... and keeps the sources' counts"
flood -s 198.51.100.1 -c 7
is "$(stat_of web dropped.packets) $(stat_of web matched.packets)" "7 7" "later packets are counted"
weir limit set web budget 107/1h >"$tmp/out"
weir limit set web sources 128 >"$tmp/out"
flood -s 198.51.100.1 -c 3
is "$(stat_of web admitted.packets) $(stat_of web dropped.packets)" "3 7" "... across changes of the limit"
weir limit reset
is "$(for limit in web every full; do counters $limit; done | jq -sc 'add | unique')" '[0]' "without a name, reset sets the counters of all limits to zero"
is "$(stat_of full sources_wanted)" "$size" "the size suggested for a table that is too small is kept"
holds "each reset is an event" wait_for 60 heard reset "web web every full" || diag "$(<"$tmp/events")"
is "$(weir limit reset nosuch 2>&1)" "weir: limit reset: NAME 'nosuch': no limit of that name" "reset of a limit that does not exist"
quiet

# A counter never reads below the base saved by a reset, which would wrap.
flooding -s 198.51.100.9 -r 5000 -t 60000
for i in {1..200}; do echo "limit reset web"; done >"$tmp/resets"
while [ ! -e "$tmp/enough" ]; do weir -batch "$tmp/resets"; done &
resets=$!
for i in {1..20}; do weir -j -s limit show web | jq -c '[.[0].stats | .. | numbers] | max'; done >"$tmp/counts"
is "$(awk '$1 < 1e9' "$tmp/counts" | grep -c .)" 20 "counters never wrap below zero during resets"
touch "$tmp/enough"
wait "$resets"
quiet
weir limit reset
flood -s 198.51.100.10 -c 40
# The first limit, whose small table may refuse some of them, counts all of them.
is "$(stat_of web matched.packets)" 40 "no packet is lost after the resets"
weir limit flush
holds "reset without any limit succeeds" weir limit reset
finish
