#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vrf-macvlan.t: packets that passed the hooks on another namespace's bridge are charged
# in the VRF that they reach through a macvlan
. "$(dirname "$0")/lib.sh"
begin_apart
box=""
space box
if ! modprobe -a br_netfilter macvlan vrf 2>/dev/null || ! ip_rx link add br0 address 02:00:00:00:00:01 type bridge; then
	skip_all "no br_netfilter, macvlan or VRF"
fi
ip_rx -batch - <<-WORDS
	addr flush dev rx0
	link set br0 addrgenmode none up
	link set rx0 master br0
	link add link br0 name mv0 address 02:00:00:00:00:09 type macvlan mode bridge
	link set mv0 netns $box
WORDS
rx sysctl -qw net.bridge.bridge-nf-call-{ip,ip6}tables=1
ip -n "$box" -batch - <<-WORDS
	link add vrf0 type vrf table 10
	link set mv0 addrgenmode none
	link set vrf0 up
	link set mv0 up
	addr add 192.0.2.9/24 dev mv0
	route add 198.51.100.0/24 dev mv0
WORDS
ip netns exec "$box" sysctl -qw net.ipv4.conf.{all,mv0}.rp_filter=0
(rx=$box && taking) || exit
command weir -netns "$box" limit add each budget 20/1h || bail "cannot configure"
are_up() { ip_rx -br link show br0 | grep -q ' UP ' && ip -n "$box" -br link show mv0 | grep -q ' UP '; }
# delivered NAME SOURCE
delivered() {
	local before
	wait_for 60 are_up || bail "br0 or mv0 does not come up"
	before=$(rx=$box && taken)
	flood -m 02:00:00:00:00:09 -s "$2" -d 192.0.2.9 -c 30
	is "$(($(rx=$box && taken) - before))" 20 "$1: as many packets as the budget are delivered"
}
delivered "no VRF" 198.51.100.1
ip -n "$box" -batch - <<-WORDS
	link set mv0 master vrf0
	addr replace 192.0.2.9/24 dev mv0
	route add 198.51.100.0/24 dev mv0 table 10
WORDS
delivered "a VRF" 198.51.100.2
finish
