#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# replace.t: the whole configuration is replaced under a flood: every packet is counted,
# and none is dropped that neither configuration would drop
. "$(dirname "$0")/lib.sh"
need_cpus 2
begin
# Two configurations whose limits have the same names but hardly a word in common,
# and one that is refused. Either admits at most 40 packets of the flood in a
# window; the honest source stays below every budget.
cat >"$tmp/a" <<-WORDS
	limit add flood budget 40/200ms from 198.51.100.0/24 slots 4 newcomers 20/200ms
	limit add each budget 5000/200ms slots 4
	exempt add 10.0.0.0/8
WORDS
cat >"$tmp/b" <<-WORDS
	limit add first budget 4000/200ms slots 4 sources 1000
	limit add each budget 5000/200ms slots 4 sources 300
	limit add flood budget 30/200ms from 198.51.100.0/24 slots 4 sources 500 newcomers 20/200ms
	exempt add 10.0.0.0/8
	exempt add 192.168.0.0/16 limit flood
WORDS
cat >"$tmp/c" <<-WORDS
	limit add flood budget 3000/200ms from 198.51.100.0/24 slots 4
	limit add each budget 5/200ms
	exempt add 10.0.0.0/8 limit nobody
WORDS
weir -file "$tmp/a" 2>/dev/null || bail "cannot configure"
trace_start weir_charge weir_uncharge
flooding -s 198.51.100.1 -n 4 -R -r 5000 -t 30000
flooding -s 203.0.113.1 -r 400 -t 30000
times=0 bad=0 refused=0 end=$(($(now_ms) + 4000))
while [ "$(now_ms)" -lt "$end" ]; do
	weir -file "$tmp/b" 2>/dev/null || bad=$((bad + 1))
	weir -file "$tmp/c" 2>/dev/null || refused=$((refused + 1))
	weir -file "$tmp/a" 2>/dev/null || bad=$((bad + 1))
	times=$((times + 1))
done
quiet
trace_stop
diag "replaced $((2 * times)) times"
is "$bad" 0 "each valid configuration is accepted"
is "$refused" "$times" "the invalid one is always refused"
wheel 200 4
line=$(traced -l flood -T "$window" -L 40)
ok $? "no window has more than the larger budget" || diag "$line"
is "$(value sources "$line")" 4 "... of the four flooding sources"
is "$(weir -json stats show | jq -c '.[0] | [.unmatched_packets, .exempt_packets, .seen_packets - .admitted_packets - .dropped_packets]')" "[0,0,0]" \
	"every packet matched a limit"
is "$(stats seen)" "$(arrived)" "every packet that arrived was seen"
honest=$(traced -l each -S 203.0.113.1)
# A charge of a packet that the other limit drops stays, if its table was replaced between the two.
within "$(value amount "$(traced -l each)")" "$(passed)" "$(($(passed) + 2 * times))" "no packet passed without a charge by the limit on all"
sent=$(value amount "$honest")
is "$((sent + $(value amount "$line")))" "$(passed)" "... or by the flood's limit"
is "$(($(arrived) - $(stats dropped) - $(value amount "$line")))" "$sent" "an honest source loses nothing"
dropped=$(weir -json -stats limit show | jq '[.[] | select(.limit == "each") | .stats.dropped.packets] | add')
is "$dropped" 0 "... by the limit on all"
finish
