#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# floors.t: with a table that is too small no source exceeds its budget, the tool
# suggests a size, and newcomers lose no more than design.rst states
. "$(dirname "$0")/lib.sh"
begin_with <<<"limit add f budget 20/2s slots 4 sources 64"
nft -f - <<<'table netdev probe { counter spoofed { }; chain in { ip saddr 10.0.0.0/8 counter name spoofed; }; }' || bail "no nft"
wheel 2000 4
trace_start weir_charge weir_uncharge
flooding -s 198.51.100.1 -n 5 -R -r 3000 -b 150,150 -t 30000
flood -s 10.0.0.1 -n 100000 -c 100000 -r 25000 -k
quiet
trace_stop
is "$(counter netdev spoofed)" 100000 "100,000 spoofed sources send one packet each"
line=$(traced -T "$window" -L 20)
ok $? "... with a table of 64, no source exceeds its budget" || diag "$line"
spoofed=$(traced -s | awk '$2 ~ /=10\./ { n++ } END { print n + 0 }')
diag "$spoofed of them were charged"
holds "evictions are counted" [ "$(stat_of f evictions)" -gt 1000 ]
holds "newcomers refused by floors are counted" [ "$(stat_of f floor_refused.packets)" -gt 100 ]
holds "a table size is suggested" [ "$(stat_of f sources_wanted)" -gt 64 ]
like "$(weir -check limit set f sources 4096 2>&1)" "note: limit 'f' still refuses sources that it could not tell apart, for a window; 'weir source forget all limit f' ends that" "... and what a larger table does not end at once"
is "$(passed)" "$(value amount "$line")" "the packets charged are those that passed"
line=$(traced -s | awk '$2 ~ /=198\.51/ { n++ } END { print n + 0 }')
diag "$line of 5 sources that stay were let through at all"

# Losses of newcomers: every packet of the flood has a new source, as a repeated one would be
# refused by its own count. In a window and a slot the floors admit at least entries x (L - 3) of those
# that came, whenever they came: window -F says how many that is of all.
rate=3000 ms=800
for twice in 1 2 4 8; do
	budget=$((rate * ms * twice / 2 / 64 / 1000))
	config <<<"limit add f$twice budget $budget/${ms}ms slots 4 sources 64" || bail "cannot configure"
	wheel "$ms" 4
	trace_start weir_charge weir_drop
	flood -s 10.0.0.1 -n 16000000 -c 10000 -r "$rate" -k
	trace_stop
	entries=$(weir -json limit show "f$twice" | json entries)
	line=$(traced -F $((window + slot)),$((entries * (budget - 3))) -l "f$twice")
	lost=$(value drops "$line") came=$(($(value charges "$line") + lost)) most=$((came - $(value least "$line")))
	diag "sources x L = $(bc <<<"scale=1; $twice / 2") x flood x T: $lost of $came newcomers lost, bound $most"
	is "$came" 10000 "sources x L at $twice/2 of flood x T: 10,000 newcomers come"
	within "$lost" 0 $((most + came / 50)) "... and losses are within the bound"
	is "$(stat_of "f$twice" floor_refused.packets):$(stat_of "f$twice" floor_refused.bytes)" "$lost:$((lost * 46))" \
		"... all by floors, and counted as such"
	[ "$twice" != 1 ] || within "$most" 1 "$came" "... which is some of them, as the table is too small"
done

# The suggested sizes lead to one that suffices for 12,000 sources in a window.
config <<<"limit add w budget 5/1m slots 4 sources 64" || bail "cannot configure"
spoofed() {
	local amount
	amount=$(stat_of w evictions)
	flood -s 10.0.0.1 -n 12000 -r 20000 -c 12000
	pressure=$(($(stat_of w evictions) - amount))
}
spoofed
holds "12,000 sources are too many for a table of 64" [ "$pressure" -gt 0 ]
# Floors hide further sources from the estimate, so it may take several steps.
steps=0
while advice=$(stat_of w sources_wanted) && [ "${advice:-null}" != null ] && [ "$steps" -lt 8 ]; do
	steps=$((steps + 1)) size=$advice
	weir limit set w sources "$advice" >/dev/null
	weir source forget all limit w >/dev/null
	spoofed
done
diag "after $steps steps: $size"
within "$size" 8192 32768 "... and following the suggestions leads to a size that suffices"
is "$pressure" 0 "... without evictions"
spoofed
is "$(stat_of w sources_wanted)" "" "... and no further suggestion"
finish
