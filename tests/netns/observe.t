#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# observe.t: a limit with action observe drops nothing and counts what it would drop
. "$(dirname "$0")/lib.sh"
begin_with <<-WORDS
	limit add watch budget 10/1m action observe
	limit add wide budget 1000/1m action observe
	limit add real budget 50/1m from 198.51.100.128/25
	limit add bytes budget 460/1m bytes action observe
WORDS
flood -s 198.51.100.1 -c 200
is "$(passed)" 200 "nothing is dropped"
is "$(stat_of watch matched.packets)" 200 "all are matched"
is "$(stat_of watch admitted.packets):$(stat_of watch would_drop.packets):$(stat_of watch dropped.packets)" \
	10:190:0 "what would be dropped is counted"
is "$(stat_of bytes admitted.bytes):$(stat_of bytes would_drop.bytes)" 460:8740 "... in bytes, too"
recount
flood -s 198.51.100.200 -c 100
is "$(passed)" 50 "another limit drops"
is "$(stat_of wide elsewhere.packets):$(stat_of wide admitted.packets)" 50:250 "packets that another limit drops are not charged"
is "$(stat_of watch would_drop.packets):$(stat_of watch admitted.packets)" 280:20 "... but are counted if they would be dropped here too"
is "$(stat_of real dropped.packets)" 50 "... and are counted by the limit that dropped them"
# of SOURCE KEY...: values of a source under the limit watch
of() {
	local source=$1
	shift
	for key; do weir -json source get "$source" limit watch | json "$key"; done | paste -sd :
}
is "$(of 198.51.100.1 {dropped,would_drop}_packets)" 0:190 "a source's observed drops do not count as drops"
quietly weir limit set watch action drop
is "$(of 198.51.100.1 {dropped,would_drop}_packets)" 0:0 "... nor after the action changes to drop"
recount
flood -s 198.51.100.1 -c 5
flood -s 198.51.100.2 -c 20
is "$(passed)" 10 "with action drop the limit drops by its existing counts"
is "$(of 198.51.100.1 {dropped,would_drop}_packets)" 5:0 "... and its drops count from zero"
quietly weir source block 198.51.100.1 limit watch for 1h
quietly weir limit set watch action observe
like "$(weir source show limit watch 198.51.100.1 | tail -n 1)" ' over 1h' "of who is blocked by a limit that observes, the table says for how long it would be"
finish
