#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fleet-spread.t: packets of a source that ECMP spreads over three hosts of one address; one of them is cut
# off from the server of NATS by nft, and comes back
. "$(dirname "$0")/lib.sh"
. "$here/fleet_counts.sh"
command -v nft >/dev/null || skip_all "nft is not installed"
fleet_begin 3
address=10.99.0.1
ip addr add 10.77.0.99/32 dev hub
for host in "${hosts[@]}"; do on "$host" ip addr add $address/32 dev lo; done
# By ports.
echo 1 >/proc/sys/net/ipv4/fib_multipath_hash_policy
ip route add $address/32 nexthop via 10.77.0.11 nexthop via 10.77.0.12 nexthop via 10.77.0.13 || bail "no route of several hops"
server
push < <(for limit in "spread 9" "cut 10" "again 11"; do echo "limit add ${limit% *} budget $budget/${period}ms sources 256 shared udp dport ${limit#* }"; done)
for host in "${hosts[@]}"; do agent "$host"; done
all_have "spread cut again" "${hosts[@]}" || bail "nothing is applied"
shared 3 2 "${hosts[@]}"
ok $? "all hosts hear each other"

# matched LIMIT: packets of it on each host
matched() { for host in "${hosts[@]}"; do on "$host" weir -json -stats limit show | jq ".[] | select(.limit == \"$1\").stats.matched.packets"; done | xargs; }
# passed LIMIT HOST: packets of it that the host admitted
passed() { on "$2" weir -json -stats limit show "$1" | jq '.[].stats.admitted.packets'; }
# only HOST...: of those, wait for statuses
only() { for host; do echo "$host - - -"; done; }
read -ra all < <(only "${hosts[@]}" | xargs)
read -ra two < <(only web1 web2 | xargs)

trace_start weir_charge weir_uncharge
watched 9 12 "${all[@]}" - route $address -
together 90 spread "${hosts[@]}"
shares=$(matched spread)
sent=$(value sent "$(head -n 1 "$tmp/delays")")
diag "packets of each host: $shares, of $sent"
for at in 1 2 3; do within "$(cut -d ' ' -f $at <<<"$shares")" $((sent / 5)) "$sent" "ECMP gives each host a fifth at least"; done

# A host that is cut off has a budget of its own, and the others another one.
cut_off web3
wait_for 60 grep -q 'goes on with what it has' "$tmp/web3.log"
ok $? "a host that is cut off notices"
trace_start weir_charge weir_uncharge
watched 10 14 "${two[@]}" - route $address -
know cut "$budget" web1 web2
is "$(passed cut web3)" "$budget" "it admits a budget"

before=$(counted cut web1)
reconnect web3
shared 3 2 "${hosts[@]}"
ok $? "it comes back"
holds "... without a jump" [ "$(counted cut web1)" -le "$before" ]
trace_start weir_charge weir_uncharge
watched 11 12 "${all[@]}" - route $address -
together 90 again "${hosts[@]}"
finish
