#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lenient.t: lenient mode never refuses a source whose sliding count is below the
# budget, and admits up to twice the budget in a window
. "$(dirname "$0")/lib.sh"
begin_with <<-WORDS
	limit add lenient budget 20/800ms slots 4 lenient from 198.18.0.0/16
	limit add burst budget 50/200ms slots 1 lenient from 198.51.100.0/24
	limit add strict budget 20/800ms slots 4 from 198.19.0.0/16
WORDS
trace_start weir_charge weir_uncharge weir_drop
flooding -s 198.18.0.1 -r 24.3 -t 4000
flooding -s 198.19.0.1 -r 24.3 -t 4000
flooding -s 198.51.100.1 -b 150,150 -r 5000 -t 4000
flooded
trace_stop
line=$(traced -S 198.18.0.1 -T "$(ms_ticks 800)")
within "$(value max "$line")" 15 20 "a source always below its budget"
is "$(value drops "$line")" 0 "... is never refused"
line=$(traced -S 198.19.0.1)
within "$(value drops "$line")" 2 30 "... but by a strict limit"
line=$(traced -l burst -T "$(ms_ticks 200)" -L 100)
ok $? "no window has more than twice the budget" || diag "$line"
within "$(value max "$line")" 51 100 "... but more than the budget, with bursts at slot boundaries"
finish
