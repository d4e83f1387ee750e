#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# budgets.t: a limit with several budgets: no window of any has more than it; which one refuses;
# packets with bytes; what is saved is read again; changes lose no count; bad input
. "$(dirname "$0")/lib.sh"
need_cpus 2
begin_with <<-WORDS
	limit add both budget 20/400ms budget 60/4s budget 40000/4s bytes lenient from 198.18.0.0/24
	limit add floor budget 4/400ms budget 9/4s budget 12/4s bucket burst 3 from 198.18.2.0/23 sources 64
	limit add long budget 3/3s slots 3 budget 5/1d fixed from 198.19.0.0/24
	limit add size budget 100/1d budget 1100/1d bytes from 198.19.1.0/24
	limit add see budget 2/1d budget 1/1d bucket from 198.19.2.0/24 action observe
	limit add whole budget 50/1d budget 30/2d from 198.19.3.0/24 per 0
WORDS
weir save "$tmp/saved" && weir -file "$tmp/saved" && weir save "$tmp/again"
ok $? "what is saved can be read"
holds "... and is saved the same" cmp "$tmp/saved" "$tmp/again"
like "$(weir limit show both)" "^both budget 20/400ms slots 15 budget 60/4s slots 15 budget 40000/4s bytes slots 15 lenient from 198.18.0.0/24 sources 256"$'\n' "limit show has all budgets"
like "$(weir limit show both)" "    40000/4s: slot 2[0-9]+ms window 4[.0-9]*s at most 80000" "... and the most of each in any window"
is "$(weir -json limit show long | jq -c '.[0].budgets[1]')" \
	'{"budget":5,"window_ms":86400000,"unit":"packets","slots":1,"mode":"fixed","slot_ms":86400000,"effective_window_ms":86400000,"most":10}' "... in JSON, too"

# Two adversaries on two CPUs, one that shares its table with too many others.
trace_start weir_charge weir_uncharge weir_drop
flooding -s 198.18.0.1 -r 800 -t 9000
flooding -s 198.18.0.1 -r 800 -t 9000 -l 900
flooding -s 198.18.0.2 -n 3 -R -r 2000 -b 120,120 -t 9000 -l 700
flooding -s 198.18.2.0 -n 300 -R -r 3000 -t 9000
flooded
trace_stop
# kept LIMIT WINDOW_MS MOST WINDOW-OPTION...
kept() {
	local limit=$1 most=$3 line ticks
	ticks=$(ms_ticks "$2")
	shift 3
	line=$(traced -l "$limit" -T "$ticks" -L "$most" "$@")
	ok $? "$limit: no window of $ticks ticks has more than $most" || diag "$line"
}
# fits NUMBER REACH BUDGET WINDOW-OPTION...: budget NUMBER of the limit "both" refuses nothing that fits
fits() {
	local number=$1 reach=$2 budget=$3 ticks line
	ticks=$(weir -json limit show both | jq ".[0].budgets[$number - 1].slot_ms * $HZ / 1000")
	shift 3
	line=$(traced -l both -R "$ticks,$reach,$budget" -n "$number" "$@")
	is "$(value early "$line")" 0 "... and budget $number refuses nothing that fits" || diag "$line"
}
kept both 400 20
fits 1 15 20
kept both 4000 60
fits 2 15 60
kept both 4000 80000 -b
fits 3 14 40000 -b
kept floor 400 4
kept floor 4000 9
for budget in 1 2 3; do
	holds "drops name budget $budget" grep -q "weir_drop: .* limit=both .* budget=$budget\$" "$tmp/trace"
done

# First the short budget refuses, then the long one.
quiet_now() { test "$(weir -json source get 198.19.0.1 limit long | json count)" = 0; }
trace_start weir_limited
"$top/userspace/weir" -j monitor >"$tmp/events" &
pids+=($!)
wait_for 60 grep -q present "$tmp/events"
recount
flood -s 198.19.0.1 -c 9
is "$(passed)" 3 "the short budget refuses"
like "$(weir source get 198.19.0.1 limit long)" " limited for [0-9.]+m?s by budget 1 dropped 6
    budget 1: count 3 of 3 left 0 limited for [0-9.]+m?s
    budget 2: count 3 of 5 left 2" "... source get says so"
wait_for 60 quiet_now
recount
flood -s 198.19.0.1 -c 9
is "$(passed)" 2 "... then the long one"
trace_stop
like "$(weir source get 198.19.0.1 limit long)" " limited for [0-9hms]+ by budget 2 dropped 13
    budget 1: count [0-9] of 3 left [0-9].*
    budget 2: count 5 of 5 left 0 limited for " "... source get says so"
like "$(weir -json source get 198.19.0.1 limit long)" '"count":5,"budget":5,"unit":"packets","left":0,"limited":true,"next_ms":[0-9.]+\}\],"limited":true,"next_ms":[0-9.]+,"limited_by":2,' "... in JSON, too"
is "$(awk '/weir_limited/ { print $NF }' "$tmp/trace" | xargs)" "budget=1 budget=2" "the tracepoint names both"
holds "events name the second" wait_for 60 grep -q '"limited_by":2' "$tmp/events"
holds "... and the first" grep -q '"limited_by":1' "$tmp/events"
quiet
like "$(weir -s limit show long)" "    3/3s: slot 1s refused 6 packets [0-9]+ bytes
    5/d: slot 1d at most 10 refused 7 packets [0-9]+ bytes" "limit show counts what each refused"
weir source get 198.19.0.1 limit long >/dev/null
is "$(weir -json source show limit long limited | json limited_by)" 2 "source show, too"

# packets and bytes: a packet of 300 bytes costs one and 300
recount
flood -s 198.19.1.1 -c 9 -l 300
is "$(passed)" 3 "bytes refuse"
flood -s 198.19.1.1 -c 1 -l 60
is "$(passed)" 4 "... but not what is smaller"
flood -s 198.19.1.1 -c 2 -l 1200
is "$(stat_of size too_large.packets)" 2 "a packet larger than one of the budgets is too large"
is "$(weir -json source charge 198.19.1.2 limit size packets 300 mode drain | json taken)" 100 "source charge is in the unit of the first"
is "$(weir -json source charge 198.19.0.2 limit long packets 9 mode drain | json taken)" 3 "... and takes what all have left"
recount
flood -s 198.19.2.1 -c 5
is "$(passed)" 5 "a limit that observes drops nothing"
is "$(stat_of see would_drop.packets)" 4 "... and counts what the smaller budget refuses"
flood -s 198.19.3.1 -n 40 -c 40
is "$(stat_of whole admitted.packets)" 30 "a budget of all sources"

# Changes lose no count.
wait_for 60 quiet_now
weir limit set long budget 3/3s slots 3 budget 7/1d fixed >/dev/null
recount
flood -s 198.19.0.1 -c 9
is "$(passed)" 2 "a larger budget"
weir limit set long budget 4/3s >/dev/null
like "$(weir limit show long)" "^long budget 4/3s slots 3 budget 7/d .*fixed from" "a budget is named by its window, and the others stay"
like "$(weir -check limit set long only budget 20/1d 2>&1)" "note: limit 'long' loses its budget 4/3s packets" "a check says which budget goes"
weir limit set long only budget 20/1d strict >/dev/null 2>"$tmp/said"
is "$(grep loses "$tmp/said")" "weir: note: limit 'long' loses its budget 4/3s packets" "... as does the change"
like "$(weir -check limit set long budget 20/1h 2>&1)" "note: limit 'long' loses its budget 20/d packets; to keep it, give both" "the only budget gets another window"
is "$(weir -check limit set long budget 30/1d 2>&1 | grep loses)" "" "... but not if its amount changes"
like "$(weir limit show long)" "^long budget 20/d slots 15 from 198.19.0.0/24 sources" "those that are given are the only ones, if that is said"
recount
flood -s 198.19.0.1 -c 30
is "$(passed)" 13 "... which start from those of at least their window"
weir limit set long budget 3/3s budget 30/total budget 25/1h >/dev/null
wait_for 60 quiet_now
recount
flood -s 198.19.0.1 -c 9
is "$(passed)" 3 "... and the shortest that is as long"
like "$(weir source get 198.19.0.1 limit long)" "budget 2: count 23 of 30 .*budget 3: count 23 of 25" "... however many there are" ||
	diag "$(weir source get 198.19.0.1 limit long)"

# budgets LIMIT: each with its window and unit; set LIMIT WORDS: change it, and tell its budgets
budgets() { weir -j limit show "$1" | jq -r '.[0].budgets | map("\(.budget)/\(.window_ms) \(.unit)") | join(", ")'; }
now() { weir limit set $1 >"$tmp/out" 2>&1 || diag "$(<"$tmp/out")"; budgets "${1%% *}"; }
is "$(now "both budget 30k/4s bytes")" "20/400 packets, 60/4000 packets, 30000/4000 bytes" "of two budgets of a window the unit names one"
is "$(now "both budget 70/4s packets budget 25/400ms")" "25/400 packets, 70/4000 packets, 30000/4000 bytes" "several are changed at once, in any order"
is "$(now "both budget 9/10s budget 10k/4s bytes budget 9/1m bytes budget 1k/1d")" \
	"9/10000 packets, 10000/4000 bytes, 9/60000 bytes, 1000/86400000 packets" "as many as there are, or more, replace all"
is "$(now "both budget 8/10s budget 9k/2s budget 7/1m budget 900/2d")" \
	"8/10000 packets, 9000/2000 bytes, 7/60000 bytes, 900/172800000 packets" "without a unit each keeps that of its window, or else of its place"
is "$(now "both only budget 6/1m")" "6/60000 bytes" "... also the only one"
is "$(now "both budget 5k/7s")" "5000/7000 bytes" "... and one that is changed to another window"
weir -q limit set both only budget 9/10s lenient slots 3 >/dev/null
like "$(weir -q limit set both only budget 9/20s)" "^both budget 9/20s bytes slots 3 lenient from" "... and mode and slots"
is "$(now "both only budget 20/400ms packets budget 60/4s packets budget 40000/4s bytes lenient")" \
	"20/400 packets, 60/4000 packets, 40000/4000 bytes" "... unless another is given"

# A new budget starts from the count of a longer window, and refuses until that has expired.
weir limit add start budget 100/1s budget 500/1h from 198.19.4.0/24 >/dev/null
recount
flood -s 198.19.4.1 -c 90
is "$(passed)" 90 "within both budgets"
start="weir: note: limit 'start': its new budget 50/3s packets starts from the count of 500/h packets, and may refuse sources for 3s and a slot; in another limit it would start from 0"
starts() { "$@" 2>&1 | grep starts; }
words="limit set start budget 50/3s budget 500/1h"
is "$(starts weir -check $words)" "$start" "a check says which new budget starts from the count of a longer window"
is "$(starts weir -quiet -check $words)" "" "... but not with -quiet"
weir save - | sed 's/100\/s slots 15/50\/3s/' >"$tmp/start"
where="weir: note: $tmp/start:$(grep -n "add start" "$tmp/start" | cut -d: -f1):${start#weir: note:}"
is "$(starts weir -check -file "$tmp/start")" "$where" "... of a file, too"
is "$(starts weir diff "$tmp/start")" "$where" "... and diff"
is "$(starts weir $words)" "$start" "... and so does the change"
recount
flood -s 198.19.4.1 -c 5
is "$(passed)" 0 "... which refuses the source"
start_ends() { test "$(weir -json source get 198.19.4.1 limit start | jq '.[0].budgets[0].left')" = 50; }
holds "... until that has expired" wait_for 60 start_ends
flood -s 198.19.4.1 -c 60
is "$(passed)" 50 "... and then admits what it says"
is "$(starts weir limit set start budget 50/4s budget 500/1h; starts weir -check limit set start budget 500/5s budget 500/1h)" \
	"${start//3s/4s}" "nothing is said of a budget as large as the longer one"
is "$(starts weir -check limit set start only budget 500/2d)" "" "... nor of one whose window is longer"
like "$(weir -check limit set start only budget 90/1m 2>&1)" "loses its budget 500/h packets.*new budget 90/m packets starts from the count of 500/h packets" \
	"a budget that goes is started from, too"
like "$(weir -check limit set both budget 30/2s budget 60/4s packets budget 40000/4s 2>&1)" "new budget 30/2s packets starts from the count of 60/4s packets, and" \
	"of two longer windows the one in the same unit is named"
weir limit set start only budget 50/1h >/dev/null 2>&1
for words in "slots 5" lenient strict "bucket burst 20" "slots 5"; do
	is "$(weir limit set start $words 2>&1 | grep note)" "" "set $words loses no budget"
done

# refused WORDS PATTERN: bad input changes nothing
refused() {
	weir limit show >"$tmp/before"
	! weir $1 >"$tmp/out" 2>&1
	ok $? "refused: $1"
	like "$(<"$tmp/out")" "$2" "... and why"
	weir limit show | cmp -s - "$tmp/before"
	ok $? "... and nothing has changed"
}
refused "limit add bad budget 1/s budget 1/m budget 1/h budget 1/d budget 2/d" "'budget' is given more than 4 times"
refused "limit add bad budget 1/s budget 0/m" "0 is out of range"
refused "limit add bad budget 1/s budget 5/m slots 3 slots 4" "'slots' given twice"
refused "limit add bad budget 1/s budget 5/m burst 3" "a burst is what a bucket holds"
refused "limit add bad budget 1/s budget 5/total slots 3" "budget 2 slots: a fixed or calendar window or a total is a single slot"
refused "limit add bad budget 1/s budget 5/m bucket slots 3" "budget 2 slots: a bucket has no slots"
refused "limit add bad budget 1/s budget 5/m bucket burst 40000" "budget 2 burst: a burst is at most 4096 times"
refused "limit set both budget 1/s budget 5/20ms slots 21" "slots: 21 do not fit"
refused "limit set both budget 50/4s" "budget: several budgets have that window; say packets or bytes, or give all"
refused "limit set both only budget 30k/4s bytes budget 50/4s" "budget 2: several budgets have that window; say packets or bytes"
refused "limit set both budget 50/5s" "limit 'both' has no budget of that window; to add it: limit set both budget 20/400ms budget 60/4s budget 40000/4s bytes budget 50/5s; to have it alone: limit set both budget 50/5s only"
refused "limit set both budget 50/400ms budget 60/400ms" "this budget is given twice; to add one, give all"
refused "limit set both budget 50/400ms bytes" "budget: the budget of that window is in packets; give all, or 'only' to have it alone"
refused "limit set both budget 30/400ms budget 50/5s" "budget 2: no budget of the limit has that window"
refused "limit set both budget 30/400ms budget 60/4s packets burst 9" "burst: a burst is what a bucket holds"
refused "limit set both budget 30/400ms fixed slots 3" "slots: a fixed or calendar window or a total is a single slot"
refused "limit set both only slots 3" "only: give the budgets that the limit shall have"
cat >"$tmp/bad" <<-WORDS
	limit add bad budget 1/s slots 2 budget 5/total slots 3
WORDS
weir -check -file "$tmp/bad" >"$tmp/out" 2>&1
like "$(<"$tmp/out")" "bad:1:49: .*single slot.*"$'\n'".*"$'\n'" +\^~" "a file's fault is pointed at"
finish
