#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# newcomers.t: a flood of addresses that are not seen twice costs known sources nothing, and
# all newcomers together never exceed their budgets; who tries again has a budget of its own
. "$(dirname "$0")/lib.sh"
need_cpus 2
begin_with <<<"limit add e budget 20/1s slots 4 sources 512 newcomers 40/400ms flood 20k/s known 1s"
window=$(ms_ticks 400) known=198.51.100.1 idle=198.51.100.2
weir limit show e | grep -q 'newcomers 40/400ms flood 20000/s known 1s' || bail "the limit is not so: $(weir limit show e)"

# state ADDRESS NAME: of source get
state() { weir -json source get "$1" | json "$2"; }
refused() { stat_of e newcomers_refused.packets; }

# A limit that was just made learns for as long as it takes to be known.
flood -s 198.18.0.1 -n 200 -c 200
is "$(refused)" 0 "a new limit refuses no newcomer while it learns"
let_pass 1300

# Two sources send for longer than a second: both are known then.
is "$(state $known unknown)" true "a source that has sent nothing is not known"
flood -s $known -c 1
is "$(state $known unknown)" true "... nor after its first packet"
flood -s $known -n 2 -c 60 -r 30
is "$(state $known unknown)$(state $idle unknown)" falsefalse "... but when it goes on for longer than known"
is "$(stat_of e known_now)" 2 "limit show counts those that are known"
flood -s 198.18.1.1 -n 200 -c 200
holds "when it has learned it refuses newcomers without room" [ "$(refused)" -ge 110 ]

like "$(weir source show top 3 by dropped 2>&1 >"$tmp/out"; weir source show limited limit e 2>&1 >"$tmp/out")" "^(weir: note: limit 'e' has refused newcomers, which are not among its sources: 'log' samples them"$'\n'"?){2}\$" "source show says that they are not among the sources"
before=$(refused)
let_pass 800 # an event tells only the first refusal in a window

# A flood from each CPU, no address twice, while one of the two sends on and the other is idle.
trace_start weir_charge weir_uncharge weir_drop
"$top/userspace/weir" monitor limits newcomers >"$tmp/events" &
pids+=($!)
wait_for 60 grep -q present "$tmp/events" || bail "monitor shows nothing"
for cpu in 0 1; do
	send_args -s 10.$((128 * cpu)).0.1 -n 8000000 -t 60000 -r 6000 -k
	taskset -c $cpu send "${args[@]}" >/dev/null &
	pids+=($!)
done
flooded_by() { [ "$(refused)" -gt "$1" ]; }
wait_for 60 flooded_by 5000 || bail "no flood"
# never two closer: after a delay it catches up with nothing, which would exceed its own budget
flood -s $known -c 60 -r 15
# At the begin of a slot there is room for a few.
why() { weir source get 203.0.113.7 | grep -Eq "not known yet: the newcomers' budget is used up, next in [0-9.]+ms"; }
holds "source get says why a newcomer has no room" wait_for 60 why
flood -s 203.0.113.7 -c 1
like "$(weir source get 203.0.113.7)" "what the newcomers' budget refuses is not counted as dropped here" "... and what it counts as dropped"
flood -s 203.0.113.1 -n 8 -c 8
let_pass 300
flood -s 203.0.113.1 -n 8 -c 8
let_pass 20
kill "${pids[@]:1}" && wait "${pids[@]:1}" 2>/dev/null
trace_stop
sees() { grep -c " weir_$1: .*saddr=::ffff:$2 " "$tmp/trace"; }
is "$(sees drop "$known")" 0 "a known source loses nothing in the flood"
is "$(sees charge "$known")" 60 "... and all of its packets were charged"
holds "most of the flood is dropped" [ "$(sees drop '10\.[0-9.]*')" -gt "$((10 * $(sees charge '10\.[0-9.]*')))" ]
came() { grep " weir_$1: .*saddr=::ffff:203" "$tmp/trace" | grep -o 'saddr=[^ ]*' | sort -u | grep -c .; }
holds "newcomers are refused at their first try" [ "$(came drop)" -ge 4 ]
is "$(came charge)" 8 "... and get through at their second"
grep ' weir_[a-z]*: .*saddr=::ffff:\(10\|203\)\.' "$tmp/trace" >"$tmp/strangers"
line=$(window -p 0,0 -T "$window" -L 80 <"$tmp/strangers")
ok $? "newcomers never exceed their two budgets in any window" || diag "$line"
within "$(value max "$line")" 38 80 "... and use the first up"
holds "second tries are counted" [ "$(stat_of e second_tries.packets)" -ge $(($(came drop) / 2)) ]
is $(($(refused) - before)) "$(grep -c ' weir_drop: ' "$tmp/trace")" "every drop was one of a newcomer"
is "$(stat_of e evictions):$(stat_of e floor_refused.packets)" 0:0 "nobody was evicted, no floor rose"
is "$(state $idle unknown)" false "an idle source is still known after the flood"
holds "an event says that the newcomers' budget is used up" wait_for 60 grep -Eq \
	'^newcomers limit e refused [0-9]+' "$tmp/events"
within "$(grep -c ^newcomers "$tmp/events")" 1 15 "... at most once a window"
like "$(weir -s limit show e)" 'known sources are remembered while idle' "limit show says how long idle sources are remembered"

# Changes keep who is known, and the newcomers' count.
weir limit set e sources 1024 newcomers 50/500ms >/dev/null
is "$(state $idle unknown)" false "who is known stays so in a table of another size"
weir limit set e newcomers none >/dev/null
flood -s $known -c 1
is "$(state 203.0.113.9 unknown)" false "without newcomers there are no unknown sources"
weir limit set e newcomers 50/500ms known 1s >/dev/null
is "$(state $known unknown)$(state 203.0.113.9 unknown)" falsetrue "who was there when newcomers are distinguished is known"

# When all are forgotten, it learns anew. Nobody is live, but some are known.
let_pass 1300
is "$(weir -json source get $known | jq -c '.[0].budgets[0].count')$(state $known unknown)" 0false "a known source is idle"
within "$(weir -json source forget all limit e | json forgotten)" 1 10000 "what forget all forgets of idle sources is that they are known"
amount=$(refused)
flood -s 198.18.2.1 -n 250 -c 250
is "$(refused)" "$amount" "a limit that forgot all sources learns anew"
let_pass 1300

# A limit that observes drops nothing.
weir limit set e action observe >/dev/null
recount
flood -s 10.0.0.1 -n 1000000 -c 2000
is "$(passed)" 2000 "an observing limit admits newcomers without room"
holds "... and counts what it would drop" [ "$(stat_of e would_drop.packets)" -gt 1000 ]
finish
