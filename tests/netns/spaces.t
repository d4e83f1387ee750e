#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# spaces.t: limits, exemptions and counters of a namespace are nothing to another,
# where the same sources meet limits of the same name
. "$(dirname "$0")/lib.sh"
begin
other=''
space other
(rx=$other && link tx1 rx1 02:00:00:00:00:01) || bail "no veth"
# there COMMAND...: in that namespace
there() { (rx=$other && "$@"); }
config <<-WORDS || bail "cannot configure"
	limit add a budget 10/1h
	limit add here budget 10/1h from 203.0.113.0/24
	exempt add 10.0.0.0/8
WORDS
there config <<-WORDS || bail "cannot configure"
	limit add a budget 20/1h
	exempt add 198.51.100.0/24
WORDS
# both SOURCE: 50 packets to each
both() {
	flood -s "$1" -c 50
	flood -i tx1 -s "$1" -c 50
}
# these WHAT...: values of JSON
these() {
	local text what
	IFS= read -rd '' text
	for what; do json "$what" <<<"$text"; done | paste -sd' '
}
# What became of the packets here, or there: in all, at a limit, and by source
counts() { weir -json stats show | these seen exempt unmatched admitted dropped; }
fate() { weir -json -stats limit show "$1" | these matched.packets admitted.packets dropped.packets; }
told() { weir source show limit a | sed -E 's/ limit a count ([0-9]+) .*dropped ([0-9]+).*/ \1 \2/' | sort | paste -sd,; }

both 198.51.100.1
both 10.0.0.1
is "$(counts)" "100 50 0 10 40" "here one is exempt"
is "$(there counts)" "100 50 0 20 30" "there the other"
is "$(fate a):$(there fate a)" "50 10 40:50 20 30" "each is counted by its own limit"
is "$(told):$(there told)" "198.51.100.1 10 40:10.0.0.1 20 30" "... and in its own table"
both 203.0.113.1
is "$(fate a):$(fate here):$(there fate a)" "100 20 80:10 10 0:100 40 60" "a limit of ours is met here alone"

# What changes here changes nothing there.
there weir save >"$tmp/before"
weir limit set a budget 30/1h >"$tmp/said"
weir exempt flush
weir exempt add 198.51.100.0/24
weir source forget all >"$tmp/said"
is "$(there weir save)" "$(<"$tmp/before")" "changes here are not seen there"
is "$(told):$(there told)" ":10.0.0.1 20 30,203.0.113.1 20 30" "what is forgotten here is not there"
both 198.51.100.1
both 10.0.0.1
is "$(counts)" "250 100 0 50 100" "here all is by the new words"
is "$(there counts)" "250 100 0 40 110" "... there by the old"
weir limit flush
both 10.0.0.1
is "$(counts):$(there counts)" "250 100 0 50 100:300 100 0 40 160" "and without limits here, there goes on"
there weir limit flush
is "$(there weir -json stats show | json limits)" 0 "... until it has none"
unload
ok $? "the module goes"
finish
