#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fixed.t: a fixed budget admits its amount in each aligned window, up to twice as much in
# an interval of that length, and never more; a change into another way loses no count
. "$(dirname "$0")/lib.sh"
begin_with <<-WORDS
	limit add fixed budget 20/400ms fixed from 198.18.0.0/24
	limit add still budget 10/1d fixed from 198.19.0.0/24
WORDS
is "$(weir -json limit show fixed | json most)" 40 "limit show states the most in any window"
like "$(weir limit show fixed)" "^fixed budget 20/400ms .*slots 1 .*fixed.* at most 40 " "... and in text"

# The adversary: all of it just before a window ends, and just after, in every other window; beside
# one that never pauses
trace_start weir_charge weir_uncharge weir_drop
flooding -s 198.18.0.2 -r 1000 -t 60000
for _ in 1 2 3 4; do
	later -s 198.18.0.1 -c 30 -A 800,340
	later -s 198.18.0.1 -c 30 -A 800,420
done
deliver
quiet
trace_stop
ticks=$(ms_ticks 400)
line=$(traced -l fixed -T "$ticks" -L 40)
ok $? "no window has more than twice the budget" || diag "$line"
is "$(value max "$line")" 40 "... and one has that"
is "$(value early "$(traced -l fixed -R "$ticks,0,20")")" 0 "... and nothing is refused that fits"
# The tick of a charge tells its window.
tick() { sed -nE "s/.* weir_charge: limit=fixed saddr=::ffff:$1 .*tick=([0-9]+).*/\1/p" "$tmp/trace"; }
for source in 198.18.0.1 198.18.0.2; do
	is "$(tick $source | awk -v t="$ticks" '{ if (++n[int($1 / t)] > most) most = n[int($1 / t)] } END { print most }')" 20 \
		"$source: an aligned window has the budget, and no more"
done

# Counts go with a change of the way to count.
flood -s 198.19.0.1 -c 7
weir limit set still strict >/dev/null
admits 3 "from fixed to strict: what was counted stays" -s 198.19.0.1 -c 10
weir limit set still fixed >/dev/null
admits 0 "... and back" -s 198.19.0.1 -c 10
is "$(weir -json limit show still | json slots)" 1 "a fixed window is one slot"
weir limit set still lenient >/dev/null
is "$(weir -json limit show still | json slots)" 15 "... and another has its default number again"
finish
