#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ban.t: refused packets are not charged, by one limit or by two
. "$(dirname "$0")/lib.sh"
begin
# 20 packets in 800 ms with n = 4 slots: n/(n+1) of the rate is 20 per second.
config <<-WORDS || bail "cannot configure"
	limit add even budget 20/800ms slots 4 from 198.18.0.0/15
	limit add first budget 1000/1m slots 4 from 198.51.100.0/24
	limit add second budget 10/1m slots 4 from 198.51.100.0/24
WORDS
trace_start weir_charge weir_uncharge weir_drop weir_limited
flooding -s 198.18.0.1 -r 19.4 -c 78
flooding -s 198.18.0.2 -r 25 -t 4000
flooding -s 198.18.0.3 -r 3000 -t 4000
flooding -s 198.51.100.1 -r 2000 -t 2000
flood -s 198.51.100.1 -t 500
flooded
trace_stop

line=$(traced -S 198.18.0.1)
is "$(value drops "$line")" 0 "a source that sends evenly at n/(n+1) of the rate is never refused"
is "$(value charges "$line")" 78 "... however slow it is"
line=$(traced -S 198.18.0.2)
within "$(value drops "$line")" 2 30 "a source at the full rate is refused sometimes"
sent=$(($(value charges "$line") + $(value drops "$line")))
within "$(value amount "$line")" $((sent * 77 / 100)) $((sent - 2)) "... and n/(n+1) of its packets pass"
line=$(traced -S 198.18.0.3)
wheel 800 4
spans=$((($(value last "$line") - $(value first "$line")) / (window + slot)))
# A pause of the sender costs it a budget.
within "$(($(value amount "$line") / 20 - spans))" 0 2 "a flooding source also gets n/(n+1) of the rate: it is not banned" || diag "$line"

first=$(traced -l first -S 198.51.100.1) second=$(traced -l second -S 198.51.100.1)
is "$(value amount "$second")" 10 "the second of two limits refuses"
is "$(value amount "$first")" 10 "... and the first has no charge for packets that it refused"
is "$(weir -json source get 198.51.100.1 limit first | json count)" 10 "... in source get"
is "$(stat_of first admitted.packets):$(stat_of first dropped.packets)" 10:0 "... and in the counters"
is "$(stat_of first elsewhere.packets)" "$(stat_of second dropped.packets)" "the first counts the others as dropped elsewhere"
recount
weir limit del second && flood -s 198.51.100.1 -c 2000
is "$(passed)" 990 "without the second limit the first admits up to its budget"
finish
