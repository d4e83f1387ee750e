#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# netem.t: on a path that duplicates, delays and reorders packets (the kernel's netem) no window has
# more than its budget, each copy is counted as a packet, and the copy of a newcomer's packet is no
# second try
. "$(dirname "$0")/lib.sh"
begin_with <<-WORDS
	limit add strict budget 20/400ms slots 4 from 198.51.100.0/24
	limit add log budget 20/400ms exact from 198.18.0.0/24
	limit add new budget 20/1s slots 4 from 10.0.0.0/8 newcomers 20/400ms known 1s
WORDS
tx tc qdisc add dev tx0 root netem limit 100000 delay 8ms 6ms 25% duplicate 30% reorder 30% 50% ||
	bail "no netem"
# sent SEND-OPTION...: through the device's queue, where netem is; all of it has arrived afterwards
came=0
sent() {
	send_args -q "$@"
	came=$((came + $(send "${args[@]}")))
	wait_for 60 empty || bail "netem keeps packets"
}
empty() { tx tc -s qdisc show dev tx0 | grep -q 'backlog 0b 0p'; }

trace_start weir_charge weir_uncharge weir_drop
sent -s 198.51.100.1 -n 3 -R -r 1500 -c 3000
sent -s 198.18.0.1 -n 3 -R -r 1500 -c 3000
trace_stop
within "$(arrived)" $((came + came / 5)) $((came + came / 2)) "a part of $came packets arrives twice"
is "$(grep -cE ' weir_(charge|drop): ' "$tmp/trace")" "$(arrived)" "... and each copy is charged or dropped"
is "$(passed)" "$(grep -c ' weir_charge: ' "$tmp/trace")" "... those charged pass"
wheel 400 4
line=$(traced -l strict -T "$window" -L 20 -R "$slot,4,20")
ok $? "strict: no window has more than its budget" || diag "$line"
is "$(value early "$line")" 0 "... and nothing is refused that fits"
line=$(traced -l log -T "$(ms_ticks 400)" -L 20)
ok $? "a log: no window has more than its budget" || diag "$line"

# Once the limit has learned: sources that send one packet, of which some come twice
let_pass 1300
recount
refused() { stat_of new newcomers_refused.packets; }
send_args -q -s 10.0.0.1 -n 1000000 -r 4000 -c 4000
new=$(send "${args[@]}")
wait_for 60 empty || bail "netem keeps packets"
copies=$(($(arrived) - new))
holds "a flood of sources that send once, with copies" [ "$copies" -gt 800 ] || diag "$copies"
holds "... is refused as newcomers" [ "$(refused)" -gt 2000 ] || diag "$(refused)"
# A fingerprint may be that of another source.
within "$(stat_of new second_tries.packets)" 0 $((copies / 100)) "... and no copy is taken for a second try"
is "$(stat_of new matched.packets)" "$(arrived)" "... each of them is counted"
finish
