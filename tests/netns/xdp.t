#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# xdp.t: the XDP program drops what the hook would refuse, before the hook, and nothing
# else; what is dropped is counted once
. "$(dirname "$0")/lib.sh"
begin_apart
[ -e /sys/kernel/btf/weir ] || skip_all "the module has no BTF"
weir xdp show >/dev/null 2>&1 || skip_all "this weir has no XDP program"
mount -t bpf bpf /sys/fs/bpf || bail "no bpffs"

early() { stat_of "$1" dropped_early.packets; }
dropped() { stat_of "$1" dropped.packets; }
driver() { rx ethtool -S rx0 | awk '/xdp_drops:/ { n += $2 } END { print n + 0 }'; }
shown() { weir -json xdp show | jq -c 'map([.dev, .mode])'; }
fails() { ! "$@" 2>/dev/null; }
# in the namespace, with the same bpffs
here() { nsenter --net="/run/netns/$rx" "$@"; }

weir limit add a budget 10/1h from 198.51.100.0/24 >/dev/null
flood -s 198.51.100.1 -c 100
is "$(early a)" 0 "without a program nothing is dropped early"
holds "the program is attached" weir xdp attach dev rx0
rx ip link add vrf9 type vrf table 9 && rx ip link add port9 type veth peer name end9 && rx ip link set port9 master vrf9
like "$(weir xdp attach dev port9 2>&1)" "^weir: warning: 'port9' belongs to a bridge, bond or VRF: nothing is dropped early\$" "of a device in another namespace it is known that it belongs to a VRF"
is "$(weir xdp attach dev end9 2>&1)" "" "... or does not"
quietly weir xdp detach dev port9
quietly weir xdp detach dev end9
is "$(shown)" '[["rx0","native"]]' "... and shown"
is "$(weir xdp attach dev rx0 2>&1)" "weir: xdp attach: the program is attached to 'rx0' already" "... once"
holds "... which -exist allows" weir -exist xdp attach dev rx0
flood -s 198.51.100.1 -c 100
is "$(early a)" 0 "nothing is dropped early behind an ingress chain, which may take packets"
like "$(weir xdp show)" '^dev rx0 mode native program [0-9]+ off: the device has an nft ingress chain$' "... and xdp show says why"
rx nft delete table netdev probe
flood -s 198.51.100.1 -c 100
is "$(early a)" 100 "what is refused is dropped early"
like "$(weir xdp show)" '^dev rx0 mode native program [0-9]+$' "... and nothing is off"
is "$(driver)" 100 "... as the driver tells"
is "$(dropped a)" 290 "... and counted once at the limit"
is "$(weir -json source get 198.51.100.1 limit a | json dropped_packets)" 290 "... and at the source"
is "$(stats dropped)" 290 "... and in all"
is "$(passed)" 10 "the budget is as ever"
holds "the module stays while a program needs it" fails rmmod weir
flood -s 198.51.100.2 -c 100
is "$(passed)" 20 "another source has its own"
is "$(early a)" 189 "... and is dropped early once the hook has refused it"
trace_start weir_early
flood -s 198.51.100.2 -c 5
trace_stop
is "$(grep -c 'weir_early: limit=a saddr=::ffff:198.51.100.2 .*packets=1 bytes=46' "$tmp/trace")" 5 "a tracepoint tells"

# budgets by a list
# sends SOURCE: send a hundred packets; which of them pass, and how many are dropped early
sends() {
	local was_passed was_early
	was_passed=$(passed) was_early=$(early a)
	flood -s "$1" -c 100
	echo "$(($(passed) - was_passed)) $(($(early a) - was_early))"
}
weir prefix-list add customers 198.51.100.3=30,198.51.100.5=5
weir limit set a budgets-by customers
is "$(sends 198.51.100.3)" "30 69" "a source has the budget that a list gives it, and is dropped early beyond it"
is "$(sends 198.51.100.5)" "5 94" "... or a smaller one"
is "$(sends 198.51.100.4)" "10 89" "... and others that of the limit"
quietly weir prefix-list add customers 198.51.100.3=70
like "$(sends 198.51.100.3)" "^40 (59|60)\$" "a larger one counts at once"
weir limit set a budgets-by none
like "$(sends 198.51.100.3)" "^0 (99|100)\$" "... as does none"
holds "the program is detached" weir xdp detach dev rx0
is "$(shown)" '[]' "... and gone"
is "$(weir xdp detach dev rx0 2>&1)" "weir: xdp detach: the program is not attached to 'rx0'" "... once"

# off WHY COMMAND -- UNDO: what is done turns it off, and what undoes it on again, as xdp show says
weir xdp attach dev rx0
flood -s 198.51.100.2 -c 1
# told: does source get say so?
told() { weir source get 198.51.100.2 dev rx0 | grep -c '^a packet now: dropped by limit a for .*; in a flood early, by XDP$'; }
off() {
	local why=$1 at=("${@:2}") i was
	for ((i = 0; i < ${#at[@]} && ${#at[i]}; i++)); do [ "${at[i]}" != -- ] || break; done
	if ! rx "${at[@]:0:i}" 2>"$tmp/said"; then
		skip "$(head -n 1 "$tmp/said")" "off: $why"
		return
	fi
	was=$(early a)
	flood -s 198.51.100.2 -c 50
	like "$(weir -json xdp show | jq -r '.[0].off // "on"'):$(($(early a) - was)):$(told)" "^$why:0:$([ "$why" != on ]; echo $?)\$" "off: $why"
	rx "${at[@]:i+1}"
	was=$(early a)
	flood -s 198.51.100.2 -c 50
	like "$(weir -json xdp show | jq -r '.[0].off // "on"'):$(($(early a) - was)):$(told)" '^on:(49|50):1$' "... and on again"
}
off 'the device has tc filters' sh -c 'tc qdisc add dev rx0 clsact && tc filter add dev rx0 ingress matchall action ok' -- tc qdisc del dev rx0 clsact
off 'the device has a macvlan device on it' ip link add link rx0 name mac9 type macvlan -- ip link del mac9
off 'the device has an nft flowtable' nft 'table inet fast { flowtable f { hook ingress priority 0; devices = { rx0 }; }; }' -- nft delete table inet fast
# Only with CONFIG_NETFILTER_NETLINK_HOOK, which Debian's 6.1 lacks, the kernel tells the order of hooks.
first="a hook of nf[a-z_]* is before weir's"
compgen -G "/lib/modules/$(uname -r)/kernel/net/netfilter/nfnetlink_hook.ko*" >/dev/null || first=on
off "$first" nft 'table ip first { chain c { type filter hook prerouting priority -451; }; }' -- nft delete table ip first
off "$first" nft 'table inet first { chain c { type filter hook prerouting priority -451; }; }' -- nft delete table inet first
rx ethtool -K rx0 rxvlan on >/dev/null 2>&1
off 'the device strips the tags of its VLANs: ethtool -K rx0 rxvlan off' ip link add link rx0 name rx0.9 type vlan id 9 -- ip link del rx0.9
off 'the device belongs to a bridge, bond or VRF' ip link set rx0 master vrf9 -- ip link set rx0 nomaster
weir save "$tmp/limits"
weir limit flush
is "$(weir -json xdp show | jq -r '.[0].off')" "there are no limits" "off: there are no limits"
quietly weir -file "$tmp/limits"
flood -s 198.51.100.2 -c 12
flood -s 198.51.100.2 -c 50
is "$(weir -json xdp show | jq -r '.[0].off // "on"'):$((50 - $(early a) < 2))" on:1 "... and on again"
rx ip link set rx0 down
is "$(weir -json xdp show | jq -r '.[0].off')" "the device is down" "off: the device is down"
rx ip link set rx0 up
weir xdp detach dev rx0

holds "generic mode" weir xdp attach dev rx0 mode generic
is "$(shown)" '[["rx0","generic"]]' "... is shown"
# again: a packet that the hook may refuse, after a pause, and 50 that are dropped early
again() {
	was=$(early a)
	flood -s 198.51.100.2 -c 1
	flood -s 198.51.100.2 -c 50
}
again
within "$(($(early a) - was))" 50 51 "... and drops early, too"
weir xdp detach dev rx0

# A program of one's own that asks, without and with the dispatcher.
own=$top/.cache/build/netns/xdp.o
if command -v bpftool >/dev/null && bpftool prog load "$own" /sys/fs/bpf/own; then
	rx bpftool net attach xdpdrv name count_passed dev rx0
	again
	flood -s 203.0.113.1 -c 7
	now=$(early a)
	within "$((now - was))" 50 51 "a program of one's own drops early"
	is "$(bpftool -j map dump name passed | jq '[.[].formatted.values[].value] | add')" $((58 - (now - was))) "... and goes on with the others"
	like "$(weir xdp attach dev rx0 2>&1)" "^weir: xdp attach: 'rx0' has another XDP program" "it stays alone"
	is "$(shown)" '[]' "... and is not shown"
	rx bpftool net detach xdpdrv dev rx0
	rm /sys/fs/bpf/own
else
	skip "no bpftool, or the program does not load" "a program of one's own drops early"
fi
if here xdp-loader load -m native rx0 "$own" >/dev/null 2>&1; then
	holds "libxdp chains" weir xdp attach dev rx0
	is "$(shown)" '[["rx0","native"]]' "... and the program is shown"
	again
	within "$(($(early a) - was))" 50 51 "... and drops, and counts once"
	holds "... and is detached" weir xdp detach dev rx0
	like "$(here xdp-loader status rx0 2>&1)" count_passed "... while the other one stays"
	here xdp-loader unload -a rx0 >/dev/null 2>&1
else
	skip "no xdp-loader" "libxdp chains"
fi
here ip link add above type bridge && here ip link set rx0 master above && weir xdp attach dev above mode generic
like "$(weir xdp attach dev rx0 2>&1)" "a device above 'rx0', as its bridge, has an XDP program: detach that first" "a port of a bridge with the program"
weir xdp detach dev above && here ip link del above
is "$(weir xdp attach dev nosuch 2>&1)" "weir: xdp attach: there is no device 'nosuch'" "a device that does not exist"
umount /sys/fs/bpf
finish
