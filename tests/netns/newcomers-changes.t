#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# newcomers-changes.t: under a flood that nobody knows the limit is changed, and the whole
# configuration replaced: who is known loses nothing, and the budget of newcomers is not exceeded
. "$(dirname "$0")/lib.sh"
need_cpus 2
begin_with <<<"limit add e budget 5000/1s slots 4 sources 512 newcomers 40/400ms known 1s per 32,128"
window=$(ms_ticks 400)
known=(198.51.100.1 2001:db8:5::7 fe80::7)
unknown() { weir -json source get "$@" | json unknown; }
all_known() { is "$(unknown "${known[0]}")$(unknown "${known[1]}")$(unknown "${known[2]}" dev rx0)" falsefalsefalse "$1"; }
for source in "${known[@]}"; do flooding -s "$source" -n 1 -c 60 -r 30 -k; done
flooded
let_pass 500
all_known "IPv4, IPv6 and link-local sources are known"
is "$(unknown 2001:db8:5::8)$(unknown fe80::8 dev rx0)" truetrue "... but not those beside"
weir save >"$tmp/one"
weir -file "$tmp/one" 2>/dev/null
weir save >"$tmp/two"
is "$(cat "$tmp/two")" "$(cat "$tmp/one")" "save, file, save: the same"
all_known "... and who was known still is"
sed 's/sources 512/sources 2048/; s/budget 5000/budget 6000/' "$tmp/one" >"$tmp/other"
trace_start weir_charge weir_uncharge weir_drop
for cpu in 0 1; do
	send_args -s 10.$((128 * cpu)).0.1 -n 8000000 -t 60000 -r 4000 -k
	taskset -c $cpu send "${args[@]}" >/dev/null &
	pids+=($!)
	send_args -s 2001:db8:$((8 + cpu))::1 -n 8000000 -t 60000 -r 2000 -k
	taskset -c $cpu send "${args[@]}" >/dev/null &
	pids+=($!)
done
for source in "${known[@]}"; do flooding -s "$source" -t 60000 -r 200 -k; done
times=0 bad=0 end=$(($(now_ms) + 5000))
while [ "$(now_ms)" -lt "$end" ]; do
	weir -file "$tmp/other" 2>/dev/null || bad=$((bad + 1))
	weir limit set e sources 1024 >/dev/null || bad=$((bad + 1))
	weir limit set e slots 5 flood 300k/s >/dev/null || bad=$((bad + 1))
	weir limit set e newcomers 40/500ms slots 4 >/dev/null || bad=$((bad + 1))
	weir limit set e newcomers 40/400ms flood 100k/s known 2s >/dev/null || bad=$((bad + 1))
	weir -file "$tmp/one" 2>/dev/null || bad=$((bad + 1))
	times=$((times + 1))
done
quiet
trace_stop
diag "changed $((6 * times)) times"
is "$bad" 0 "each change is accepted"
sees() { grep -c " weir_$1: .*saddr=$2 " "$tmp/trace"; }
for source in "::ffff:${known[0]}" "${known[1]}" "${known[2]}"; do
	is "$(sees drop "$source")" 0 "$source loses nothing"
	holds "... of what it sent" [ "$(sees charge "$source")" -gt 300 ]
done
grep ' weir_[a-z]*: .*saddr=\(::ffff:10\.\|2001:db8:[89]:\)' "$tmp/trace" >"$tmp/strangers"
# None comes twice, but a fingerprint may.
line=$(window -p 0,0 -T "$window" -L 44 <"$tmp/strangers")
ok $? "newcomers never exceed their budget in any window" || diag "$line"

# Learning is told, and may be left out
weir limit flush
like "$(weir limit add l budget 10/1s newcomers 5/10s from 198.51.100.0/24 2>/dev/null)" " learning for (9\.[0-9]+s|10s)" "a new limit says for how long it learns"
like "$(weir limit show l)" " learning for [0-9.]+s" "... and so does limit show"
within "$(weir -json limit show l | json learning_ms)" 1000 10000 "... in JSON"
like "$(weir limit set l known 1m 2>/dev/null)" " learning for [0-9.]+s" "... and set"
is "$(through 198.51.100.1)" 10 "it refuses no newcomer"
said=$(weir limit set l known none 2>/dev/null)
like "$said" " known none" "one that need not learn"
is "$(grep -c learning <<<"$said")" 0 "... does not, as the reply says"
weir limit set l newcomers none >/dev/null 2>&1
is "$(weir -json limit set l newcomers 5/10s 2>/dev/null | jq -c '.[0] | [.known_ms, .flood]')" "[10000,100000]" "... but only as long as it has newcomers"
weir limit set l known none >/dev/null 2>&1
learns_not() { [ "$(weir -json limit show "$1" | json learning_ms)" = "" ]; }
holds "... ends it" learns_not l
flood -s 198.51.100.2 -c 5
is "$(through 198.51.100.3)" 0 "... and refuses newcomers"
weir limit add n budget 10/1s newcomers 5/10s known none from 203.0.113.0/24 >/dev/null 2>&1
holds "nor does one that is added so" learns_not n
is "$(through 203.0.113.1)" 5 "... which refuses them at once"
for known in none 10s; do
	weir limit add "old$known" budget 10/1h from 198.18.0.0/24 >/dev/null 2>&1
	flood -s 198.18.0.1 -n 3 -c 3
	weir limit set "old$known" newcomers 5/10s known "$known" >/dev/null 2>"$tmp/err"
	is "$(<"$tmp/err")" "$([ "$known" = none ] || echo "weir: note: limit 'old10s' does not learn: it knows the sources that are in its table (3 that count now, and idle ones), also those of a flood; 'known none' knows nobody, 'weir source forget all limit old10s' learns")" \
		"newcomers for a limit that has sources: it says who is known $known"
	is "$(stat_of "old$known" sources_now) $(stat_of "old$known" known_now)" "3 $([ "$known" = none ] && echo 0 || echo 3)" \
		"... and who is"
	is "$(weir limit set "old$known" known none 2>&1 >"$tmp/out")" "$([ "$known" = none ] || echo "weir: note: limit 'old10s' keeps the 3 sources that it knows; if they belong to a flood: weir source forget all limit old10s")" \
		"... and that they stay so"
	weir limit del "old$known"
done
weir save "$tmp/none" && grep -q "limit add n .* known none" "$tmp/none" && weir -file "$tmp/none" 2>/dev/null
ok $? "what is saved says it, too"
weir source forget limit n >/dev/null
holds "... and it does not learn when all are forgotten" learns_not n
finish
