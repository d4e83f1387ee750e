#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fleet-cluster.t: a cluster of three servers of NATS, of which the one that leads is killed: a configuration
# and a block still reach all hosts, also when it is back; a bucket that one server keeps is given to all
# three
. "$(dirname "$0")/lib.sh"
. "$here/fleet.sh"
fleet_begin 2
declare -A servers
for at in 2 3; do ip addr add 10.77.0.$at/24 dev hub; done
url=nats://10.77.0.1:4222,nats://10.77.0.2:4222,nats://10.77.0.3:4222

# member NUMBER: start this server of the cluster
member() {
	nats=10.77.0.$1:4222
	server -js -sd "$tmp/js$1" -a "10.77.0.$1" -p 4222 -n "s$1" -cluster_name edge -cluster "nats://10.77.0.$1:6222" \
		-routes nats://10.77.0.1:6222,nats://10.77.0.2:6222,nats://10.77.0.3:6222
	servers[$1]=$server_pid
}
# pushed LIMIT: push a configuration of two limits
pushed() { push <<<"limit add ban budget 10/s
limit add $1 budget 10/s to 192.0.2.0/24"; }
blocked() { on "$1" weir -json source show blocked limit ban | grep -qF "\"source\":\"$2\""; }
keepers() { fleet -replicas "$1" push "$tmp/first" >"$tmp/said" 2>&1; }
printf '%s\n' "limit add ban budget 10/s" "limit add first budget 10/s to 192.0.2.0/24" >"$tmp/first"

for at in 1 2 3; do member $at; done
# They choose one that leads first.
wait_for 120 pushed first || bail "the cluster does not take a configuration: $(<"$tmp/said")"
for host in "${hosts[@]}"; do agent "$host" -share ban; done
all_have "ban first" "${hosts[@]}"
ok $? "a cluster of three servers has a configuration for all hosts"
wait_for 120 keepers 3
ok $? "what one server kept all three are to keep" || diag "$(<"$tmp/said")"
all_have "ban first" "${hosts[@]}"

# reaches LIMIT SOURCE WHEN: does what is new reach all hosts?
reaches() {
	wait_for 120 pushed "$1"
	ok $? "$3 a configuration can be pushed" || diag "$(<"$tmp/said")"
	all_have "ban $1" "${hosts[@]}"
	ok $? "... and all hosts take it"
	quietly on web1 weir source block "$2" limit ban for 1h
	wait_for 120 blocked web2 "$2"
	ok $? "... and a block"
}
quietly on web1 weir source block 198.51.100.9 limit ban for 1h
wait_for 120 blocked web2 198.51.100.9 || bail "no block reaches the other host"
# The server that leads the bucket of blocks says so with its process.
leader=$(sed -n "s/^\[\([0-9]*\)\].* new stream leader for .* > KV_weir-blocks-edge'.*/\1/p" "$tmp/nats.log" | tail -n 1)
for at in 1 2 3; do [ "${servers[$at]}" != "$leader" ] || lost=$at; done
ok $((${lost:-0} == 0)) "one of the servers leads" || bail "nobody"
kill -9 "$leader"
wait "$leader" 2>/dev/null
quietly on web1 weir source release 198.51.100.9 limit ban
released() { ! blocked web2 198.51.100.9; }
wait_for 120 released
ok $? "a release while nobody leads reaches all hosts later" || diag "$(tail -n 3 "$tmp/web1.log")"
reaches without 198.51.100.1 "without server $lost"
member "$lost"
reaches again 198.51.100.2 "with server $lost again"
shown() { [ "$(fleet show)" = $'limit add ban budget 10/s\nlimit add again budget 10/s to 192.0.2.0/24' ]; }
wait_for 60 shown
ok $? "the newest is what was pushed last" || diag "$(fleet show)"
finish
