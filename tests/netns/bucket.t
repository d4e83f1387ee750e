#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# bucket.t: a bucket admits its burst at once and the budget a window in the long run: no window
# has more than both, and one has; two CPUs, floors, changes
. "$(dirname "$0")/lib.sh"
need_cpus 2
begin_with <<-WORDS
	limit add bucket budget 40/800ms bucket burst 10 from 198.18.0.0/24
	limit add bytes budget 20000/800ms bytes bucket burst 8000 from 198.18.1.0/24
	limit add small budget 4/800ms bucket burst 2 from 198.18.2.0/23 sources 64
	limit add long budget 5/1d bucket from 198.19.0.0/24
	limit add host budget 100/800ms bucket burst 50 from 203.0.113.0/24 per 0
WORDS
is "$(weir -json limit show bucket | json most)" 50 "limit show states the most in any window"
like "$(weir limit show bucket)" "^bucket budget 40/800ms bucket burst 10 .*"$'\n'" +slot [0-9]+ms at most 50 " "... and in text"
is "$(weir -json limit show long | json burst)" 5 "the burst is the budget by default"
weir save "$tmp/saved" && weir -file "$tmp/saved" && weir -check -file "$tmp/saved"
ok $? "what is saved can be read"
# In JSON, too
weir -json limit show >"$tmp/shown" && ! grep -q '"slots"' "$tmp/shown"
ok $? "a bucket has no slots"

# The adversary sends all the time, from both CPUs; others in bursts. More sources than places
# have themselves evicted.
trace_start weir_charge weir_uncharge weir_drop
flooding -s 198.18.0.1 -r 800 -t 5000
flooding -s 198.18.0.1 -r 800 -t 5000
flooding -s 198.18.0.2 -n 3 -R -r 2000 -b 120,120 -t 5000
flooding -s 198.18.1.1 -n 2 -R -r 2000 -b 120,120 -t 5000 -l 700
flooding -s 198.18.2.0 -n 300 -R -r 3000 -t 5000
flooding -s 203.0.113.1 -n 100 -R -r 1500 -t 5000
flooded
trace_stop
ticks=$(ms_ticks 800)
# kept LIMIT BUDGET BURST WINDOW-OPTION...: each tick leaks as much as the budget has in a window
kept() {
	local limit=$1 budget=$2 burst=$3 line
	shift 3
	line=$(traced -l "$limit" -T "$ticks" -L $((budget + burst)) -B "$budget,$ticks,$burst" "$@")
	ok $? "$limit: no window has more than the burst and a budget" || diag "$line"
	holds "... and excess packets are dropped" [ "$(value drops "$line")" -gt 0 ]
	case $limit in
	small) ;; # floors refuse for others
	host) within "$(value max "$line")" "$burst" $((budget + burst)) "... and one has the burst" ;; # CPUs take parts in advance
	*) is "$(value early "$line")" 0 "... but none that fits" ;;
	esac
}
kept bucket 40 10
kept bytes 20000 8000 -b
like "$(weir -check limit set bytes budget 30/1s packets 2>/dev/null)" "^bytes budget 30/s bucket burst 30 from" "another unit ends the burst of the old one"
kept small 4 2
kept host 100 50 -p 0,0
line=$(traced -S 198.18.0.1 -T "$ticks")
whole=$((10 + 40 * ($(value last "$line") - $(value first "$line")) / ticks))
within "$(value amount "$line")" 10 $((whole + 1)) "a source that never pauses gets the budget in the long run, and no more"
is "$(value cpus "$(traced -l bucket)")" 2 "... on two CPUs"

# source get: until when, and how much is left
flood -s 198.19.0.1 -c 9
like "$(weir source get 198.19.0.1 limit long)" "count 5 of 5 left 0 limited for [0-9h]+m? dropped 4" "source get tells the wait"
within "$(weir -json source get 198.19.0.1 limit long | json next_ms | cut -d. -f1)" $((17270 * 1000)) $((17290 * 1000)) "... until a packet has leaked"

weir source charge 198.19.0.9 limit long packets 3 >/dev/null
is "$(weir -json source charge 198.19.0.9 limit long packets 30 mode drain | json taken)" 2 "source charge takes what is left"

# Changes lose no count.
weir limit set long budget 10/1d burst 6 >/dev/null
admits 1 "another budget and burst" -s 198.19.0.1 -c 9
weir limit set long strict >/dev/null
admits 4 "from a bucket to a window: its level stays" -s 198.19.0.1 -c 9
weir limit set long bucket >/dev/null
admits 0 "... and back" -s 198.19.0.1 -c 9
weir limit set long budget 20/total strict >/dev/null
admits 10 "... into a total" -s 198.19.0.1 -c 30
finish
