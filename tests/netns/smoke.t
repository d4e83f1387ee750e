#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# smoke.t: the shortest test, for any kernel: a flood is limited to its budget, a
# slow sender loses nothing
. "$(dirname "$0")/lib.sh"
holds "the module loads" load packets=100 window_ms=1000 slots=4
pair init
trace_start weir_charge weir_uncharge weir_limited weir_drop
flooding -s 198.51.100.1 -t 2600 -r 20000 -k
flood -s 198.51.100.2 -t 2600 -r 50
flood -s 2001:db8:1::1 -c 150
flooded
trace_stop

line=$(traced -L 100 -T "$(ms_ticks 1000)")
ok $? "no source has more than 100 packets in any second" || diag "$line"
flooder=$(traced -S 198.51.100.1)
honest=$(traced -S 198.51.100.2)
ipv6=$(traced -S 2001:db8:1::)
within "$(value amount "$flooder")" 200 300 "a flood gets its budget, and no more"
is "$(value drops "$honest")" 0 "a slow sender loses nothing"
is "$(value amount "$ipv6"):$(value drops "$ipv6")" 100:50 "IPv6 is limited likewise"
is "$(passed)" "$(value amount "$line")" "the packets charged are those that passed"
is "$(arrived)" "$(($(value amount "$line") + $(value dropped "$line")))" "every packet was charged or dropped"
holds "the module unloads" unload
finish
