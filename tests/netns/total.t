#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# total.t: a total admits its amount until the source is forgotten; whoever was counted
# keeps the place, and a full table refuses newcomers and says so
. "$(dirname "$0")/lib.sh"
begin_with <<-WORDS
	limit add ever budget 5/total from 198.18.0.0/16 sources 64
	limit add bytes budget 10k/total bytes from 198.19.0.0/16 sources 64
	limit add second budget 5/1s from 198.51.100.0/24
WORDS
like "$(weir limit show ever)" "^ever budget 5/total .*sources 64 *"$'\n'" *memory" "limit show has neither slot nor window"
like "$(weir -s limit show ever)" " [0-9]+ packets from spoofed addresses would fill the table: new sources refused until they are forgotten" \
	"... but what a flood may do"
is "$(weir -s limit show | grep -c 'would fill the table')" 1 "... for long, unlike with a window of a second"
quietly weir limit add three budget 10/10s budget 60/1h budget 200/1d
like "$(weir -s limit show three | sed -n 's/.*new sources refused //p' | paste -sd,)" '^for 1h4m by budget 60/h,for 1d1h by budget 200/d$' "... of each long one of several budgets"
weir limit del three
is "$(weir -json limit show ever | json window_ms)" 0 "a total has no window"
weir save "$tmp/saved" && weir -file "$tmp/saved" && weir -check -file "$tmp/saved"
ok $? "what is saved can be read"

flood -s 198.18.0.1 -c 20
is "$(passed)" 5 "the budget is admitted"
let_pass 1500
flood -s 198.18.0.1 -c 20
is "$(passed)" 5 "... once"
like "$(weir source get 198.18.0.1 limit ever)" "count 5 of 5 left 0 limited dropped 35" "source get: limited, without an end"
is "$(weir -json source get 198.18.0.1 limit ever | json next_ms)" "" "... in JSON, too"
flood -s 198.19.0.1 -c 1000 -l 100
is "$(passed)" $((5 + 10000 / 128)) "a total of bytes"

# More sources than places: those that were there stay.
recount
flood -s 198.18.1.0 -n 1000 -c 1000
entries=$(weir -json limit show ever | json entries)
within "$(passed)" $((entries * 8 / 10)) $((entries - 1)) "as many sources as there are places"
is "$(stat_of ever evictions)" 0 "... and nobody is evicted"
is "$(stat_of ever floor_refused.packets)" $((1000 - $(passed))) "the others are refused"
like "$(weir -s limit show ever)" "full, refuses newcomers: forget some, or try sources 1?[0-9]+" "... and limit show says so"
is "$(weir -json source get 198.18.0.1 limit ever | json count)" 5 "the first source is still counted"
like "$(weir source get 198.18.1.255 limit ever)$(weir source get 198.18.3.231 limit ever)" \
	"count 5 of 5 left 0 limited .*floor" "source get: one without a place is limited"
for n in 1 2 3 4 5 6 7 8; do timeout 20 weir source charge "198.19.2.$n" limit ever || echo "$?"; done >"$tmp/charged" 2>&1
holds "... and is not charged" grep -q 'nothing is left' "$tmp/charged"
is "$(grep -c 124 "$tmp/charged")" 0 "... which does not take for ever" || diag "$(<"$tmp/charged")"
weir limit set ever sources 4096 >/dev/null
admits 1000 "a larger table has places for all" -s 198.18.1.0 -n 1000 -c 1000
is "$(weir -json source get 198.18.0.1 limit ever | json count)" 5 "... and keeps the counts"

# Into another way to count, and back
weir limit set ever budget 6/1d >/dev/null
admits 1 "from a total to a window: what was counted stays" -s 198.18.0.1 -c 20
weir limit set ever budget 7/total >/dev/null
admits 1 "... and back" -s 198.18.0.1 -c 20
weir source forget 198.18.0.1 limit ever >/dev/null
admits 7 "who is forgotten starts anew" -s 198.18.0.1 -c 20

# A smaller table, all full of those that stay; of the others its floors know.
weir limit add small budget 5/total from 198.20.0.0/16 sources 4096 >/dev/null
flood -s 198.20.1.0 -n 1000 -c 1000
weir limit set small sources 64 >/dev/null
said=$(timeout 20 weir source charge 198.20.100.1 limit small 2>&1)
like "$said $?" "nothing is left.* 2$" "a smaller table has no place for a newcomer"
weir source forget 198.20.1.0/24 limit small >/dev/null
for n in {1..8}; do timeout 20 weir source charge "198.20.100.$n" limit small; done >"$tmp/charged" 2>&1
is "$(grep -c 'taken 1' "$tmp/charged")" 8 "... but for one that finds a place of those who were forgotten" || diag "$(<"$tmp/charged")"
finish
