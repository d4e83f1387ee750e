#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vrf.t: a packet that a VRF hands to the hooks twice is charged once
. "$(dirname "$0")/lib.sh"
begin
end_not_here
ip_rx link add vrf0 type vrf table 10 2>/dev/null || skip_all "this kernel has no VRF"
ip_rx -batch - <<-WORDS
	link set vrf0 up
	link set rx0 master vrf0
	addr replace 192.0.2.1/24 dev rx0
	addr replace 2001:db8::1/64 dev rx0 nodad
	route replace 198.51.100.0/24 dev rx0 table 10
	route replace 2001:db8:1::/48 dev rx0 table 10
WORDS
rx nft -f - <<-RULES || bail "no nft"
	table inet probe {
		counter taken { }
		chain local { type filter hook input priority 0; udp dport 9 counter name taken drop; }
	}
RULES
taken() { rx counter inet probe taken; }
config <<-WORDS || bail "cannot configure"
	limit add port budget 1k/1h dev rx0 action observe
	limit add master budget 1k/1h dev vrf0 action observe
	limit add each budget 20/1h
WORDS
trace_start weir_charge weir_drop
flood -s 198.51.100.1 -c 30
flood -s 2001:db8:1::1 -c 30
trace_stop
is "$(stats seen)" 60 "60 packets are seen, each once"
is "$(taken)" 40 "the whole budget of either is delivered"
is "$(passed)" 80 "... though each has come by twice"
is "$(value amount "$(traced -l each -S 198.51.100.1)")" 20 "IPv4 is charged once"
is "$(value amount "$(traced -l each -S 2001:db8:1::)")" 20 "IPv6 is charged once"
is "$(stat_of port matched.packets)" 60 "with the device that it came by"
is "$(stat_of master matched.packets)" 0 "... not the master"

# Out of the VRF again, they are counted by the device as before.
ip_rx link set rx0 nomaster
ip_rx addr replace 192.0.2.1/24 dev rx0
flood -s 198.51.100.2 -c 30
is "$(stat_of each admitted.packets):$(stat_of each dropped.packets)" 60:30 "without the VRF all is the same"
finish
