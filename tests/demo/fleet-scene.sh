#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fleet-scene.sh: make demo-fleet's part inside the guest. One source sends eight times its budget to
# an address that three hosts have; the kernel's ECMP spreads it over them. One limit counts on each host
# alone, the other is shared. Then a block and a configuration reach all hosts. Status 1 if the hosts
# admit more than fleet.rst says, or something does not reach them.
#
#	+--- source -----+            +--- web1, web2, web3 -----------+
#	| nats-server    |---bridge---| 10.99.0.1                      |
#	| 10.77.0.99     |            | weir, weir-fleet agent         |
#	+----------------+            +--------------------------------+
# shellcheck disable=SC2154,SC2317 # of lib.sh and fleet.sh; functions are called by their names
. "$(dirname "$0")/../netns/lib.sh"
demo=$(cd "$(dirname "$0")" && pwd) || exit 1
# shellcheck source=stage.sh
. "$demo/stage.sh"
# shellcheck source=../netns/fleet.sh
. "$here/fleet.sh"
budget=200 seconds=10 port=9	# the port of the limit that is shared; the other's is the next
flood=5			# seconds, in which each host is sent more than its budget; less than the window
rate=$((8 * budget / seconds))
interval=$((seconds * 1000 / 50))
source=10.77.0.99 address=10.99.0.1
status=0

pushed() {
	typed "weir-fleet push $1"
	sed "s/^/    $dim/; s/\$/$off/" "$tmp/$1"
	fleet push "$tmp/$1"
}
# admitted HOST: packets of the two limits
admitted() { on "$1" weir -json -stats limit show | jq -r 'map(.stats.admitted.packets) | join(" ")'; }
# row TITLE: what each host has admitted, and all
row() {
	local host a s own=() group=() all=(0 0)
	for host in "${hosts[@]}"; do
		read -r a s < <(admitted "$host")
		own+=("$a") group+=("$s") all=($((all[0] + a)) $((all[1] + s)))
	done
	printf '%-12s %7s %6s %6s %6s %9s %6s %6s %6s\n' "$1" "${own[@]}" "${all[0]}" "${group[@]}" "${all[1]}"
}
# until_all COMMAND...: milliseconds until it is true of each host, whose name it gets
until_all() {
	local begin host
	begin=$(now_ms)
	for host in "${hosts[@]}"; do wait_for 60 "$@" "$host" || return 1; done
	echo $(($(now_ms) - begin))
}
blocked() { on "$1" weir -json source show blocked limit shared | grep -qF "\"source\":\"$source\""; }
has() { limits_are "$2" "$1"; }
is_there() { [ -n "$(state "$1" tool)" ]; }
hears() { state_is "$1" counts.peers 2; }

fleet_begin 3
ip addr add $source/32 dev hub
for host in "${hosts[@]}"; do on "$host" ip addr add $address/32 dev lo; done
echo 1 >/proc/sys/net/ipv4/fib_multipath_hash_policy # by ports
ip route add $address/32 nexthop via 10.77.0.11 nexthop via 10.77.0.12 nexthop via 10.77.0.13 || bail "no route of several hops"

typed "nats-server -js &"
server
cat >"$tmp/edge.conf" <<-WORDS
	limit add alone  budget $budget/${seconds}s udp dport $((port + 1))
	limit add shared budget $budget/${seconds}s udp dport $port shared
WORDS
# The first push makes the buckets, where hosts then say that they are there.
fleet push - <<<"# nothing yet" >"$tmp/said" 2>&1 || bail "nothing can be pushed"
for host in "${hosts[@]}"; do
	typed "ssh $host weir-fleet -server $url -group edge -share shared agent &"
	agent "$host" -share shared
done
until_all is_there >"$tmp/said" || bail "the agents are not there"
pushed edge.conf || exit 1
{ until_all has "alone shared" && until_all hears; } >"$tmp/said" || bail "the agents do not hear each other"

printf '%s# sending for %s s: one source to three hosts, %s/s under each limit; its budget is %s in %s s%s\n' \
	"$dim" "$flood" "$rate" "$budget" "$seconds" "$off"
trace_start weir_charge weir_uncharge
read -ra to <<<"web1 - - - web2 - - - web3 - - - - route $address -"
python3 "$here/fleet_flood.py" -n "$nats" $port $flood $rate "${to[@]}" >"$tmp/sent" &
sender=$!
python3 "$here/fleet_flood.py" $((port + 1)) $flood $rate "${to[@]}" >"$tmp/sent.alone" &
begun() { [ "$(admitted web1 | tr -d ' ')" != 00 ]; }
wait_for 60 begun
begin=$(now_ms)
printf '\n%s%-12s %28s %30s\n%-12s %7s %6s %6s %6s %9s %6s %6s %6s%s\n' "$bold" "" "admitted alone" shared "" "${hosts[@]}" all "${hosts[@]}" all "$off"
while [ $(($(now_ms) - begin)) -lt $((1000 * flood)) ]; do
	let_pass 1000
	row "after $((($(now_ms) - begin + 500) / 1000)) s"
done
wait_for 60 grep -q sent= "$tmp/sent.alone"
trace_stop
printf '\n'
typed "ssh web1 weir source block $source limit shared for 1m"
on web1 weir source block $source limit shared for 1m
blocks=$(until_all blocked)
sed -i 's/shared budget/shared penalty 1m budget/' "$tmp/edge.conf"
sed -i "1s/.*/limit add new budget 5\/s tcp syn/" "$tmp/edge.conf"
pushed edge.conf
configured=$(until_all has "new shared")
typed "weir-fleet status"
fleet status

wait "$sender" # for a status of each host: how late were its agents?
late=$(value late_ms "$(tail -n 1 "$tmp/sent")") way=$(value way_ms "$(tail -n 1 "$tmp/sent")")
wheel $((seconds * 1000)) 16
alone=$(value max "$(traced -l alone -T "$window")") shared=$(value max "$(traced -l shared -T $((window - HZ * (interval + late) / 1000)))")
# What two of three hosts are sent until the third knows of it (fleet.rst)
bound=$((budget + budget / 8 + rate * 2 * (2 * (interval + late) + way) / 3000))

printf '\n'
[ "${alone:-0}" -gt $((2 * budget)) ]
verdict $? "alone: three hosts admit $alone in the worst $seconds s, a budget of $budget each"
# A bound that alone is within tells nothing.
[ "$bound" -lt "${alone:-0}" ] || undecided=2
[ "${shared:-0}" -ge $((budget / 2)) ] && [ "$shared" -le "$bound" ] && (exit "${undecided:-0}")
verdict $? "shared: they admit $shared together; $bound at most with agents $late ms late"
[ -n "$blocks" ]
verdict $? "the block of web1 is on all hosts (after ${blocks:-more than 60000} ms)"
[ -n "$configured" ]
verdict $? "the configuration is on all hosts (after ${configured:-more than 60000} ms)"
exit "$status"
