#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vrf.t: a packet that traverses the hooks twice because of a VRF is charged once
. "$(dirname "$0")/lib.sh"
begin_apart
ip_rx link add vrf0 type vrf table 10 2>/dev/null || skip_all "this kernel has no VRF"
into_vrf rx0
taking
config <<-WORDS || bail "cannot configure"
	limit add port budget 1k/1h dev rx0 action observe
	limit add master budget 1k/1h dev vrf0 action observe
	limit add nd budget 1k/1h proto icmpv6 from 2001:db8:1::/48 action observe
	limit add each budget 20/1h
WORDS
trace_start weir_charge weir_drop
flood -s 198.51.100.1 -c 30
flood -s 2001:db8:1::1 -c 30
trace_stop
is "$(stats seen)" 60 "60 packets are seen, each once"
is "$(taken)" 40 "the whole budget of both sources is delivered"
is "$(passed)" 80 "... though each packet traverses the hooks twice"
is "$(value amount "$(traced -l each -S 198.51.100.1)")" 20 "IPv4 is charged once"
is "$(value amount "$(traced -l each -S 2001:db8:1::)")" 20 "IPv6 is charged once"
is "$(stat_of port matched.packets)" 60 "dev matches the port"
is "$(stat_of master matched.packets)" 0 "... not the VRF"

# The VRF does not change the device of neighbour discovery.
flood -s 2001:db8:1::2 -P icmpv6 -T 255 -c 10 -x 8700000000000000ff020000000000000000000000000001
is "$(stat_of nd admitted.packets)" 10 "neighbour discovery is charged once"
flood -m 33:33:ff:00:00:01 -s 2001:db8:1::2 -d ff02::1:ff00:1 -P icmpv6 -T 255 -c 10 -x 8700000000000000ff020000000000000000000000000001
flood -s 2001:db8:1::2 -d fe80::1 -P icmpv6 -T 255 -c 10 -x 8700000000000000ff020000000000000000000000000001
is "$(stat_of nd admitted.packets)" 30 "... also to multicast and link-local addresses"

# Once the port leaves the VRF, packets are counted by the device again.
ip_rx link set rx0 nomaster
ip_rx addr replace 192.0.2.1/24 dev rx0
flood -s 198.51.100.2 -c 30
is "$(stat_of each admitted.packets):$(stat_of each dropped.packets)" 60:30 "without the VRF packets are charged likewise"

# A device that packets are passed from is warned of, and no answer is of its packets.
in="packets from a VRF arrive on the devices in it: give the name of one"
is "$(weir limit add in budget 5/1h dev vrf0 tcp syn 2>&1 >/dev/null)" "weir: warning: limit 'in': $in" "a limit of a VRF's device is warned of"
is "$(weir source get 198.51.100.1 dev vrf0 2>&1):$?" "weir: source get: dev: $in:2" "... and there is no answer"
ip_rx link add br1 address 02:00:00:00:00:01 type bridge && ip_rx link set rx0 master br1
ip_rx addr flush dev rx0
ip_rx link set br1 addrgenmode none up
of="packets from a port arrive on its bridge or bond: give the name of that"
is "$(weir limit add of budget 5/1h dev rx0 udp dport 9 2>&1 >/dev/null)" "weir: warning: limit 'of': $of" "a limit of a bridge's port is warned of"
is "$(weir limit add bridge budget 5/1h dev br1 udp dport 9 2>&1 | grep -c warning:)" 0 "... of the bridge not"
is "$(weir exempt add 203.0.113.1 dev rx0 2>&1)" "weir: warning: $of" "... an exemption"
is "$(weir source get 198.51.100.1 dev rx0 udp dport 9 2>&1):$?" "weir: source get: dev: $of:2" "... and there is no answer"
like "$(weir source get 198.51.100.200 dev br1 udp dport 9 | tail -n 1)" 'passes; in a flood limit bridge refuses first, after 5 packets' "... but of the bridge's"
wait_for 60 eval "ip_rx -br link show br1 | grep -q ' UP '"
flood -s 198.51.100.200 -D 9 -c 20
is "$(stat_of bridge matched.packets):$(stat_of of matched.packets)" 20:0 "... which packets arrive on"
ip_rx link del br1
weir exempt flush

# With br_netfilter, packets of a bridge in the VRF traverse the hooks a third time.
if ! modprobe br_netfilter 2>/dev/null || ! ip_rx link add br0 address 02:00:00:00:00:01 type bridge 2>/dev/null; then
	skip "no br_netfilter" "a bridge in a VRF"
	finish
fi
ip_rx -batch - <<-WORDS
	addr flush dev rx0
	link set br0 addrgenmode none up
	link set rx0 master br0
WORDS
rx sysctl -qw net.bridge.bridge-nf-call-{ip,ip6}tables=1
is_up() { ip_rx -br link show "$1" | grep -q ' UP '; }
# bridged NAME DEVICE: send 30 packets of each family, which arrive on DEVICE
bridged() {
	wait_for 60 is_up "$2" || bail "$2 does not come up"
	into_vrf "$2"
	config <<<"limit add each budget 20/1h" || bail "cannot configure"
	weir source forget all >/dev/null
	local before seen
	before=$(taken) seen=$(stats seen)
	flood -s 198.51.100.1 -c 30
	flood -s 2001:db8:1::1 -c 30
	is "$(($(stats seen) - seen))" 60 "$1: 60 packets are seen, each once"
	is "$(($(taken) - before))" 40 "$1: the whole budget is delivered"
}
bridged "a bridge in a VRF" br0
ip_rx link set br0 nomaster
ip_rx link add link br0 name br0.1 type vlan id 1
ip_rx link set br0 type bridge vlan_filtering 1
bridge -n "$rx" vlan del dev br0 vid 1 self 2>/dev/null
if bridge -n "$rx" vlan add dev br0 vid 1 self 2>/dev/null; then
	ip_rx link set br0.1 addrgenmode none up
	bridged "a VLAN of a bridge in a VRF" br0.1
else
	skip "bridges have no VLANs" "a VLAN of a bridge in a VRF"
fi
finish
