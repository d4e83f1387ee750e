#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# replace.t: a whole configuration is replaced under a flood: no packet goes by
# uncounted, none is dropped that no configuration would drop
. "$(dirname "$0")/lib.sh"
need_cpus 2
begin
# Two configurations that share their limits by name but hardly a word of them,
# and one that is refused. The flood has at most 40 a window in either; what
# the honest sends is below each budget.
cat >"$tmp/a" <<-WORDS
	limit add flood budget 40/200ms from 198.51.100.0/24 slots 4
	limit add each budget 5000/200ms slots 4
	exempt add 10.0.0.0/8
WORDS
cat >"$tmp/b" <<-WORDS
	limit add first budget 4000/200ms slots 4 sources 1000
	limit add each budget 5000/200ms slots 4 sources 300
	limit add flood budget 30/200ms from 198.51.100.0/24 slots 4 sources 500
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
is "$bad" 0 "each is accepted"
is "$refused" "$times" "the wrong one never is"
wheel 200 4
line=$(traced -l flood -T "$window" -L 40)
ok $? "no window has more than the larger budget" || diag "$line"
is "$(value sources "$line")" 4 "... of the four that flood"
is "$(weir -json stats show | jq -c '.[0] | [.unmatched, .exempt, .seen - .admitted - .dropped]')" "[0,0,0]" \
	"every packet met a limit"
is "$(stats seen)" "$(arrived)" "... that arrived"
honest=$(traced -l each -S 203.0.113.1)
is "$(passed)" "$(value amount "$(traced -l each)")" "none went on that all did not charge"
sent=$(value amount "$honest")
is "$((sent + $(value amount "$line")))" "$(passed)" "... nor that the flood's limit did not"
is "$(($(arrived) - $(stats dropped) - $(value amount "$line")))" "$sent" "an honest source loses nothing"
dropped=$(weir -json -stats limit show | jq '[.[] | select(.name == "each") | .stats.dropped.packets] | add')
is "$dropped" 0 "... to the limit of all"
finish
