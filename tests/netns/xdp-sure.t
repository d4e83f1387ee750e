#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# xdp-sure.t: an XDP program asks and lets all packets pass; the hook then refuses each
# that it was told is refused: malformed packets under all conditions, and devices where
# something may take the packets on their way
. "$(dirname "$0")/lib.sh"
PATH=$top/.cache/build/fuzz:$PATH
program=$top/.cache/build/netns/xdp_ask.o
need_tool
{ command -v fuzz-packets && command -v bpftool; } >/dev/null || skip_all "no bpftool, or tests/fuzz is not built"
[ -e "$program" ] || skip_all "no XDP program is built: no clang or libbpf"
seed=${FUZZ_SEED:-1} packets=${FUZZ_PACKETS:-800}

begin_apart
[ -e /sys/kernel/btf/weir ] || skip_all "the module has no BTF"
rx nft -f - <<-RULES
	delete table netdev probe
	table inet marks {
		counter wrong { }
		chain pre { type filter hook prerouting priority -449; ether saddr 02:00:00:00:00:ee counter name wrong; }
	}
RULES
ip_rx link add link rx0 name rx0.5 type vlan id 5 && ip_rx link set rx0.5 addrgenmode none up
ok $? "a VLAN on the device"
mkdir "$tmp/bpf"
mount -t bpf bpf "$tmp/bpf" || bail "no bpffs"
bpftool prog load "$program" "$tmp/bpf/ask" || bail "cannot load the program"
wrong() { rx nft list counter inet marks wrong | sed -n 's/.*packets \([0-9]*\).*/\1/p'; }
early() { weir -json -stats limit show | awk -v RS='"dropped_early":{"packets":' 'NR > 1 { n += $0 + 0 } END { print n + 0 }'; }
ask() { rx bpftool net attach "$1" pinned "$tmp/bpf/ask" dev "${2:-rx0}"; }
unask() { rx bpftool net detach "$1" dev "${2:-rx0}"; }

# Each condition and its opposite, with each way to count in turn. No slot ends between question
# and hook, and none of them gives room, in windows of an hour.
conditions=("" "frag" "not frag" "tcp syn" "tcp not syn" "family ipv4" "not family ipv4" "dev rx0" "not dev rx0"
	"from 10.0.0.0/8" "not from 10.0.0.0/8" "to 192.0.2.0/24" "not to 192.0.2.0/24" "proto 6" "not proto 6"
	"proto 17 dport 0-1024" "proto 17 not dport 0-1024" "proto 17 sport 53" "proto 17 not sport 53" "mark 0" "not mark 1")
ways=("2/1h" "2/1h penalty 1h" "1500/1h bytes" "20/1h per 0" "9/1h budget 2/1d exact budget 3k/1d bytes"
	"2/1h lenient" "2/1h fixed" "2/1d calendar" "2/total" "2/1h exact" "2/1h bucket burst 3")
fuzz-packets -s "$seed" -l >"$tmp/words"
grep ^exempt "$tmp/words" >"$tmp/exempts"
told=0 first=0 turn=0
for mode in xdpdrv xdpgeneric; do
	# Native mode sees no tag that is in the packet's buffer.
	rx ethtool -K rx0 rxvlan off >/dev/null
	ask $mode || bail "cannot attach in mode $mode"
	for condition in "${conditions[@]}"; do
		# Where the modes differ is before all of that.
		[ $mode = xdpdrv ] || [ $((turn % 3)) = 0 ] || { ((turn++)); continue; }
		budget=${ways[turn++ % ${#ways[@]}]}
		{ cat "$tmp/exempts" && echo "limit add a budget $budget sources 64 $condition"; } | config
		tx fuzz-packets -s "$seed" -i tx0 -f $((first += packets)) -n "$packets" >/dev/null
		told=$((told + $(early)))
		[ "$(wrong)" = 0 ] || { diag "budget $budget $condition"; break; }
	done
	is "$(wrong)" 0 "$mode: what was told to be refused is refused"
	within "$told" 500 10000000 "$mode: ... and that is told of many packets"
	# All limits at once, observing ones between, and packets that the stack may drop.
	awk '/^limit/ && n++ % 3 { sub(" action observe", "") } { sub("1G/1h per 0", "20/1h"); print }' "$tmp/words" | config
	tx fuzz-packets -s "$seed" -i tx0 -n $((packets * 4)) >/dev/null
	tx fuzz-packets -s "$seed" -w -i tx0 -n $((packets * 4)) >/dev/null
	is "$(wrong)" 0 "$mode: ... also by many limits"
	unask $mode
	told=0
done

# A flood of one source, refused: how many of 50 packets are told to be?
config <<<"limit add a budget 5/1h from 198.51.100.0/24"
told() {
	local was now
	was=$(early)
	# After a pause the hook refuses the first, which may also be told.
	flood -s 198.51.100.1 -c 1 "$@"
	flood -s 198.51.100.1 -c 50 "$@"
	now=$(($(early) - was))
	echo $((now == 51 ? 50 : now))
}
flood -s 198.51.100.1 -c 20
ask xdpdrv
is "$(told)" 50 "a device by itself"
is "$(told -V 5)" 50 "a VLAN on it"
is "$(told -V 6)" 0 "a VLAN without a device"
is "$(told -d 192.0.2.1 -m 02:00:00:00:00:05)" 0 "another host's MAC address"
is "$(told -d 192.0.2.1 -m ff:ff:ff:ff:ff:ff)" 50 "everybody's"
rx ethtool -K rx0 rxvlan on >/dev/null
is "$(told)" 0 "a driver that may have stripped a VLAN's tag"
ip_rx link del rx0.5
is "$(told)" 50 "... where there is no VLAN"

# Each way to count, and blocks
for budget in "${ways[@]}" "9/1h budget 5/1d bucket budget 1M/total bytes"; do
	config <<<"limit add a budget ${budget/#2/5} sources 64 from 198.51.100.0/24"
	flood -s 198.51.100.1 -c 50
	is "$(told)" 50 "refused by budget ${budget/#2/5}"
done
config <<<"limit add a budget 1000/1h budget 9k/1d from 198.51.100.0/24"
weir source block 198.51.100.1 for 1h >/dev/null
is "$(told)" 50 "a blocked source"
flood -s 198.51.100.2 -c 50
is "$(told -s 198.51.100.2)" 0 "... and no other"
weir source release 198.51.100.1 >/dev/null
is "$(told)" 0 "... until it is released"
weir -exist source block 198.51.100.1 for 5s >/dev/null
is "$(told)" 50 "a blocked source, again"
ended() { [ "$(weir -json source get 198.51.100.1 limit a | json blocked)" = false ]; }
wait_for 60 ended
is "$(told)" 0 "... until its time has come"
weir block add 198.51.100.0/25
is "$(told):$(told -s 198.51.100.200)" 50:0 "a blocked prefix"
weir exempt add 198.51.100.1 limit a 2>/dev/null
is "$(told):$(told -s 198.51.100.3)" 0:50 "... except for a source that is exempt"
weir block flush && weir exempt flush
is "$(told)" 0 "... until it is not blocked"
is "$(wrong)" 0 "... and the hook refused all that was told to be"

# Newcomers, when the limit has learned. They are told at their first try, and charged at the
# second; the hook sees the same packet soon after, which is no second try.
config <<<"limit add n budget 5/1h newcomers 3/1h known 1s"
let_pass 1300
flood -s 198.18.0.1 -n 20 -c 20
# The hook is the first to refuse each. What comes an eighth of a second later is a second try, so
# few come between the two packets of a source: more than the eight that the kernel hands on together.
for n in 1 11 21 31 41; do later -s 198.18.1.$n -n 10 -c 20; done
was=$(early)
deliver
is $(($(early) - was)) 50 "newcomers without room"
let_pass 300
second=$(stat_of n second_tries.packets)
flood -s 198.18.1.1 -n 3 -c 3
is "$(($(early) - was)):$(($(stat_of n second_tries.packets) - second))" 50:3 "... but not at their second try"
is "$(wrong)" 0 "... and the hook refused all of them"
config <<<"limit add a budget 5/1h from 198.51.100.0/24"
flood -s 198.51.100.1 -c 20
ip_rx link add vrf0 type vrf table 10 && ip_rx link set vrf0 up && ip_rx link set rx0 master vrf0
is "$(told)" 0 "in a VRF"
ip_rx link set rx0 nomaster
ip_rx link add br0 type bridge && ip_rx link set br0 up && ip_rx link set rx0 master br0
is "$(told)" 0 "in a bridge"
ip_rx link set rx0 nomaster && ip_rx link del br0
if ip_rx link add link rx0 name mac0 type macvlan mode bridge; then
	is "$(told)" 0 "below a macvlan"
	ip_rx link del mac0
else
	skip "no macvlan" "below a macvlan"
fi
rx nft 'add table netdev t; add chain netdev t in { type filter hook ingress device rx0 priority 0; }'
is "$(told)" 0 "with an ingress chain of nft"
rx nft delete table netdev t
rx nft 'add table ip t; add chain ip t pre { type filter hook prerouting priority -500; }'
is "$(told)" 0 "with a chain before the hook"
is "$(told -s 198.51.100.1)" 0 "... which may drop packets"
rx nft delete table ip t
if rx tc qdisc add dev rx0 clsact 2>/dev/null && rx tc filter add dev rx0 ingress matchall action pass; then
	is "$(told)" 0 "with a filter of tc"
	rx tc qdisc del dev rx0 clsact
else
	skip "no filters of tc" "with a filter of tc"
fi
is "$(told)" 50 "a device by itself, again"
is "$(told -x 0400000900080000 -P udp)" 50 "with the headers alone"
# The stack drops what claims more than arrived, and the hook does not see it.
is "$(told -L 1)" 0 "one byte less than the header claims"
for end in tx rx; do ip_$end link set ${end}0 mtu 9000 || bail "no jumbo frames"; done
is "$(told -l 8000)" 50 "a frame of several buffers"
is "$(told -l 8000 -L 1)" 0 "... of one byte less than the header claims"

config <<-WORDS
	exempt add 198.51.100.9
	exempt add 198.51.100.8 limit b
	limit add seen budget 1k/1h action observe
	limit add marked budget 5/1h mark 1
	limit add a budget 5/1h from 198.51.100.0/24
	limit add b budget 5/1h
WORDS
is "$(told -s 198.51.100.9 -n 1)" 0 "an exempt source"
flood -s 198.51.100.8 -c 20
is "$(told -s 198.51.100.8)" 50 "one that is exempt from another limit than the one that refuses"
weir limit set a action observe
flood -s 198.51.100.7 -c 20
was=$(stat_of a dropped_early.packets)
is "$(told -s 198.51.100.8)" 0 "... and that is not exempt from one that observes"
is "$(stat_of a dropped_early.packets)" "$was" "what observes drops nothing early"
weir limit del b
is "$(told -s 198.51.100.7)" 0 "... alone, too"
is "$(wrong)" 0 "in all: what was told to be refused is refused"
unask xdpdrv
umount "$tmp/bpf"
finish
