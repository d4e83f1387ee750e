#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# strict.t: no window of a source has more than its budget, whatever it sends:
# 1, 4 and 16 slots, IPv4, IPv6, prefixes, all sources together, bytes, GRO
. "$(dirname "$0")/lib.sh"
need_cpus 2
begin_with <<-WORDS
	limit add one budget 20/400ms from 198.51.100.0/24 slots 1
	limit add four budget 20/400ms from 198.18.4.0/24 slots 4
	limit add sixteen budget 20/400ms from 198.18.16.0/24 slots 16
	limit add six budget 20/400ms from 2001:db8:6::/48 slots 4
	limit add host budget 20/400ms from 2001:db8:7::/48 per 32,128 slots 5
	limit add net budget 20/400ms from 198.19.0.0/16 per 24,64 slots 10
	limit add each budget 20/400ms from 203.0.113.0/24 per 0 slots 4
	limit add byte budget 10000/400ms bytes from 192.88.99.0/24 slots 4
	limit add merged budget 40/400ms from 192.168.1.0/24 slots 4
	limit add merged6 budget 20000/400ms bytes from 2001:db8:8::/48 slots 5
WORDS
trace_start weir_charge weir_uncharge weir_drop

# Random bursts and pauses, a few sources at a time on either CPU. Small budgets and
# long windows suit kernels that send at a tenth of the usual rate.
ms=4000
senders=(
	"-s 198.51.100.1 -n 3" "-s 198.18.4.1 -n 3" "-s 198.18.16.1 -n 3"
	"-s 2001:db8:6::1 -n 3 -B 64" "-s 2001:db8:7::1 -n 3"
	"-s 198.19.1.1 -n 512" "-s 203.0.113.1 -n 200"
	"-s 192.88.99.1 -n 2 -l 700" "-s 192.168.1.1 -n 2 -l 7000 -G 1000"
	"-s 2001:db8:8::1 -n 2 -B 64 -l 5000 -G 1000"
)
for args in "${senders[@]}"; do
	flooding $args -R -r 4000 -b 120,120 -t "$ms"
done
flooded
# Then, after a pause, a burst of each, which uses up the budgets even if the senders
# above got little time.
let_pass 900
for args in "${senders[@]}"; do later $args -c 300; done
deliver
trace_stop

# kept LIMIT WINDOW_MS SLOTS BUDGET WINDOW-OPTION...
kept() {
	local limit=$1 budget=$4 line least
	wheel "$2" "$3"
	shift 4
	line=$(traced -l "$limit" -T "$window" -L "$budget" "$@")
	ok $? "$limit: never more than the budget" || diag "$line"
	# Large packets leave an unused rest of the budget.
	case $limit in byte) least=$((budget - 727)) ;; merged) least=35 ;; merged6) least=15900 ;; *) least=$budget ;; esac
	within "$(value max "$line")" "$least" "$budget" "$limit: ... and all of it"
	holds "$limit: excess packets are dropped" [ "$(value drops "$line")" -gt 0 ]
}
kept one 400 1 20
kept four 400 4 20
kept sixteen 400 16 20
kept six 400 4 20
kept host 400 5 20 -p 32,128
kept net 400 10 20 -p 24,64
kept each 400 4 20 -p 0,0
kept byte 400 4 10000 -b
kept merged 400 4 40
kept merged6 400 5 20000 -b
is "$(value packets "$(grep -m1 'weir_charge: limit=merged ' "$tmp/trace")")" 7 \
	"a packet of seven segments costs seven packets"
is "$(value bytes "$(grep -m1 'weir_charge: limit=merged6 ' "$tmp/trace")")" $((5 * (60 + 1000))) \
	"a packet of five segments costs the bytes of five packets"
is "$(passed)" "$(grep -c 'weir_charge: ' "$tmp/trace")" "the packets charged are those that passed"
is "$(arrived)" "$(grep -cE 'weir_(charge|drop): ' "$tmp/trace")" "every packet that arrived was charged or dropped"
finish
