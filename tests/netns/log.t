#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# log.t: a log admits its budget in every window, whenever it begins, and refuses nothing
# that fits; a change into another way to count loses no count
. "$(dirname "$0")/lib.sh"
begin_with <<-WORDS
	limit add log budget 20/400ms exact from 198.18.0.0/24
	limit add still budget 10/1d exact from 198.19.0.0/24
WORDS
is "$(weir -json limit show log | json most)" 20 "limit show states the most in any window"
like "$(weir limit show log)" "^log budget 20/400ms exact from 198.18.0.0/24 sources 256"$'\n' "... and in text, without slots"
weir save "$tmp/saved" && weir -file "$tmp/saved" && weir save "$tmp/again" && cmp "$tmp/saved" "$tmp/again"
ok $? "what is saved can be read"

# Bursts in every phase, and a steady flood: no window has more, and each refusal had a full one.
trace_start weir_charge weir_uncharge weir_drop
flooding -s 198.18.0.1 -b 30,90 -r 2000 -t 6000
flooding -s 198.18.0.2 -r 1000 -t 6000
flooded
trace_stop
ticks=$(ms_ticks 400)
line=$(traced -l log -T "$ticks" -L 20)
ok $? "no window has more than the budget" || diag "$line"
is "$(value max "$line")" 20 "... and one has that"
# The tick of a charge, by source; the 20th last tells whether one more fits.
early=$(sed -nE 's/.* weir_(charge|drop): .*limit=log saddr=([^ ]+) .*tick=([0-9]+).*/\1 \2 \3/p' "$tmp/trace" |
	awk -v t="$ticks" '
		$1 == "charge" { at[$2, n[$2]++] = $3; next }
		{ drops++; if (n[$2] < 20 || $3 - at[$2, n[$2] - 20] > t) early++ }
		END { print (drops > 1000 ? early + 0 : "only " drops) }')
is "$early" 0 "nothing is refused that fits"

# Counts go with a change of the way to count, and with one of the table.
flood -s 198.19.0.1 -c 7
weir limit set still strict >/dev/null
admits 3 "from exact to strict: what was counted stays" -s 198.19.0.1 -c 10
weir limit set still exact >/dev/null
admits 0 "... and back" -s 198.19.0.1 -c 10
flood -s 198.19.0.2 -c 7
weir limit set still sources 1024 >/dev/null
admits 3 "a larger table" -s 198.19.0.2 -c 10
weir limit set still budget 12/1d >/dev/null
admits 2 "a larger budget" -s 198.19.0.2 -c 10


# More entries, and a longer window: who sent nothing has the whole budget.
weir limit add grows budget 5/1m exact from 198.20.0.0/24
flood -s 198.20.0.1 -c 10
weir limit set grows budget 50/1m exact >/dev/null
admits 45 "a budget beyond the entries: what was counted stays" -s 198.20.0.1 -c 100
admits 50 "... and it is a limit" -s 198.20.0.2 -c 100
weir limit set grows budget 50/1h exact >/dev/null
admits 50 "a longer window: strangers have the whole budget" -s 198.20.0.3 -c 100
admits 0 "... and the others what they had left" -s 198.20.0.2 -c 100

# What a log cannot have changes nothing.
weir save "$tmp/saved"
refused() {
	local why=$1 text
	shift
	text=$(weir limit add no "$@" 2>&1 >/dev/null)
	is $? 1 "refused: $*"
	like "$text" "$why" "... with the reason"
}
refused "at most 56 packets" budget 57/m exact
refused "at most 56 packets, 54 if" budget 55/m exact per 32,128
refused "counts packets" budget 20/m bytes exact
refused "leave slots out" budget 20/m slots 4 exact
refused "a total has none" budget 20/total exact
weir save "$tmp/again" && cmp "$tmp/saved" "$tmp/again"
ok $? "... and the configuration is as it was"
weir limit add most budget 56/m exact && weir limit add most6 budget 54/m exact per 32,128
ok $? "the most of both"
finish
