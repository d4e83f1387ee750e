#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# history.t: changes of a limit or of exemptions keep the sources' counts
. "$(dirname "$0")/lib.sh"
begin_with <<<"limit add h budget 50/2h slots 6"
flood -s 198.51.100.1 -c 30
is "$(passed)" 30 "30 of 50 are sent"

# more COUNT NAME: send 200, of which COUNT should pass
sum=30
more() {
	local before=$sum
	flood -s 198.51.100.1 -c 200
	sum=$(passed)
	is "$((sum - before))" "$@"
}
# now WORDS: change the limit
now() { weir limit set h "$@" >/dev/null 2>"$tmp/said" || diag "$(<"$tmp/said")"; }
now budget 40/2h
more 10 "budget 40: there is room for 10"
now budget 60/2h
more 20 "budget 60: room for 20"
now action observe
more 200 "observe: nothing is dropped"
now action drop
more 0 "drop: there is no room"
now to 203.0.113.1
more 200 "another match: not limited"
now match any
more 0 "matching again: no room"
weir exempt add 198.51.100.0/24
more 200 "exempt: let through"
weir exempt del 198.51.100.0/24
more 0 "no longer exempt: no room"
now budget 70/2h sources 1024
more 10 "a smaller table and budget 70: room for 10"
now budget 80/2h sources 200000
more 10 "a larger table: room for 10"
now budget 90/2h slots 12
more 10 "more slots: room for 10"
now budget 100/2h slots 1
more 10 "one slot: room for 10"
now budget 100000/2h
more 200 "a budget that needs wider counts: room for all"
now budget 310/2h
more 10 "... and back: room for 10"
now budget 320/3h
more 10 "a longer window: room for 10"
now lenient
more 0 "lenient: no room"
now budget 330/3h
more 10 "lenient, budget 330: room for 10"
now strict
more 0 "strict again: no room"
weir limit add wide budget 100000/10m from 203.0.113.0/24 before h >/dev/null 2>&1
weir source charge 203.0.113.1 limit wide packets 90000 >/dev/null
weir limit set wide budget 1000/10m sources 2048 >/dev/null 2>&1
weir limit set wide budget 100000/10m sources 1024 >/dev/null 2>&1
is "$(weir -json source get 203.0.113.1 limit wide | json count)" 90000 "a count of 90,000 survives a small budget and two resizes"
weir limit del wide
weir limit add other budget 1000/s before h >/dev/null 2>&1
more 0 "another limit added: no room"
now before other
more 0 "another order: no room"
{ echo "limit add h budget 340/3h slots 1 sources 200000"; echo "exempt add 10.0.0.0/8"; } | config
more 10 "replaced by a file that contains the limit: room for 10"
is "$(weir -json source get 198.51.100.1 | jq -c '.[0].budgets[0] | [.count, .left]')" "[340,0]" "source get shows the whole count"
now budget 100k/3h bytes
more 0 "in bytes: a source without room still has none"
weir source forget 198.51.100.1 >/dev/null
more 200 "forgotten: room for all"
now budget 9200/3h bytes
more 0 "budget of 200 packets of 46 bytes: no room"
weir limit del h
weir limit add two budget 60/1s budget 1000/1d from 203.0.113.0/24 >/dev/null 2>&1
weir source charge 203.0.113.1 limit two packets 60 >/dev/null
elapsed() { [ "$(weir -json source get 203.0.113.1 limit two | jq '.[0].budgets[0].count')" = 0 ]; }
wait_for 60 elapsed
weir limit set two slots 7 >/dev/null 2>&1
is "$(weir -json source get 203.0.113.1 limit two | jq -c '[.[0].budgets[].count]')" "[0,60]" "other slots: each budget keeps its own count"
weir limit del two
weir limit add pair budget 60000/total budget 1M/total bytes from 203.0.113.0/24 >/dev/null 2>&1
flood -s 203.0.113.1 -c 2000
weir limit set pair budget 2000/total bytes budget 1M/total bytes >/dev/null 2>&1
weir limit set pair budget 2000/total bytes budget 1M/total bytes budget 10/1s >/dev/null 2>&1
is "$(weir -json source get 203.0.113.1 limit pair | jq '.[0].budgets[1].count')" 92000 "a count survives beside a smaller budget of the same window"
finish
