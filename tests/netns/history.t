#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# history.t: changing a limit or the exemptions loses no count
. "$(dirname "$0")/lib.sh"
begin
config <<<"limit add h budget 50/2m slots 6" || bail "cannot configure"
flood -s 198.51.100.1 -c 30
is "$(passed)" 30 "30 of 50 are sent"

# more COUNT WHAT: send 200, of which COUNT have room
sum=30
more() {
	local before=$sum
	flood -s 198.51.100.1 -c 200
	sum=$(passed)
	is "$((sum - before))" "$@"
}
# now WORDS: change the limit
now() { weir limit set h "$@" >/dev/null 2>"$tmp/said" || diag "$(<"$tmp/said")"; }
now budget 40/2m
more 10 "budget 40: there is room for 10"
now budget 60/2m
more 20 "budget 60: for 20"
now action observe
more 200 "observe: nothing is dropped"
now action drop
more 0 "drop: there is no room"
now to 203.0.113.1
more 200 "another match: not met"
now match any
more 0 "met again: no room"
weir exempt add 198.51.100.0/24
more 200 "exempt: let through"
weir exempt del 198.51.100.0/24
more 0 "no more: no room"
now budget 70/2m sources 1024
more 10 "a smaller table and budget 70: for 10"
now budget 80/2m sources 200000
more 10 "a larger table: for 10"
now budget 90/2m slots 12
more 10 "more slots: for 10"
now budget 100/2m slots 1
more 10 "one slot: for 10"
now budget 100000/2m
more 200 "a budget that needs wider counts: for all"
now budget 310/2m
more 10 "... and back: for 10"
now budget 320/3m
more 10 "a longer window: for 10"
now lenient
more 0 "lenient: none"
now budget 330/3m
more 10 "lenient, budget 330: for 10"
now strict
more 0 "strict again: none"
weir limit add wide budget 100000/10m from 203.0.113.0/24 before h >/dev/null 2>&1
weir source charge 203.0.113.1 limit wide packets 90000 >/dev/null
weir limit set wide budget 1000/10m sources 2048 >/dev/null 2>&1
weir limit set wide budget 100000/10m sources 1024 >/dev/null 2>&1
is "$(weir -json source get 203.0.113.1 limit wide | json count)" 90000 "a small budget between, and two tables: 90,000 are 90,000"
weir limit del wide
weir limit add other budget 1000/s before h >/dev/null 2>&1
more 0 "another limit: none"
now before other
more 0 "another order: none"
{ echo "limit add h budget 340/3m slots 1 sources 200000"; echo "exempt add 10.0.0.0/8"; } | config
more 10 "replaced by a file that names it: for 10"
is "$(weir -json source get 198.51.100.1 | jq -c '[.[0].count, .[0].left]')" "[340,0]" "source get knows them all"
now budget 100k/3m bytes
more 0 "in bytes: a source that had no room has none"
weir source forget 198.51.100.1 >/dev/null
more 200 "forgotten: silence"
now budget 9200/3m bytes
more 0 "200 packets of 46 bytes"
finish
