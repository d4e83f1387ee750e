#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vrf-tunnel.t: packets decapsulated into a VRF are charged there, once; the host's
# packets to itself in a VRF are not charged
. "$(dirname "$0")/lib.sh"
begin_apart
ip_rx link add vrf0 type vrf table 10 2>/dev/null || skip_all "this kernel has no VRF"
# The tunnels' outer packets use tx1 and rx1, outside the VRF.
link tx1 rx1 02:00:00:00:00:02
into_vrf rx0
ip_rx -batch - <<-WORDS
	addr add 198.18.0.1/24 dev rx1
	addr add 2001:db8:f::1/64 dev rx1 nodad
	route add 10.1.1.0/24 dev rx0 table 10
WORDS
rx sysctl -qw net.ipv6.conf.all.forwarding=1 net.ipv4.conf.{all,rx1,vrf0}.rp_filter=0
taking
# into NAME SOURCE COMMAND...: COMMAND sends 30 packets of SOURCE, of which a budget of
# 20 is delivered to the host; through: the same without the check of delivery
into() {
	local taken
	taken=$(taken)
	through "$@"
	is "$(($(taken) - taken))" 20 "$1: as many packets as the budget are delivered"
}
through() {
	local name=$1 source=$2 before
	shift 2
	config <<<"limit add in budget 20/1h per 32,128 from ${source/::ffff:/}" || bail "cannot configure"
	weir source forget all >/dev/null
	before=$(stat_of in matched.packets)
	trace_start weir_charge
	"$@"
	trace_stop
	is "$(($(stat_of in matched.packets) - before))" 30 "$name: each is seen once"
	[[ $source == ::ffff:* ]] || source=${source%::*}::
	is "$(value amount "$(traced -l in -S "$source")")" 20 "$name: the budget is charged"
}

# SRv6, encapsulated by the sender
seg6() { ip_rx -6 route replace "$1" encap seg6local action "${@:2}" dev "$on"; }
on=rx1
if rx sysctl -qw net.vrf.strict_mode=1 net.ipv6.conf.{all,rx1,rx0,vrf0}.seg6_enabled=1 2>/dev/null &&
	seg6 2001:db8:f::4 End.DT4 vrftable 10 && seg6 2001:db8:f::6 End.DT6 vrftable 10; then
	inner=$(inner4 10.1.1.2)
	out="-i tx1 -m 02:00:00:00:00:02 -s 2001:db8:f::2 -c 30"
	into "End.DT4" ::ffff:10.1.1.2 flood $out -d 2001:db8:f::4 -P 4 -x "$inner"
	into "End.DT6" 2001:db8:1::9 flood $out -d 2001:db8:f::6 -P 41 -x "$inner6"
	# With a packet socket on the VRF, its packets get a link-layer header.
	rx timeout 60 tcpdump -i vrf0 -w /dev/null 2>"$tmp/tcpdump" &
	pids+=($!)
	wait_for 60 grep -q listening "$tmp/tcpdump"
	into "End.DT4, with tcpdump on the VRF" ::ffff:10.1.1.2 flood $out -d 2001:db8:f::4 -P 4 -x "$inner"
	into "End.DT6, with tcpdump on the VRF" 2001:db8:1::9 flood $out -d 2001:db8:f::6 -P 41 -x "$inner6"
	quiet
	# Neighbour discovery that the hooks see on the VRF for the first time
	nd=$(printf %s 6000000000183a40 20010db8000100000000000000000009 20010db8000000000000000000000001 8700000000000000 20010db8000000000000000000000001)
	through "End.DT6, neighbour discovery" 2001:db8:1::9 flood $out -d 2001:db8:f::6 -P 41 -x "$nd"
	# Packets from another device of the VRF are charged on that device.
	config <<<"limit add out budget 20/1h dev vrf0" || bail "cannot configure"
	flood $out -d 2001:db8:f::4 -P 4 -x "$inner"
	taken=$(taken)
	flood -s 10.1.1.2 -c 10
	is "$(($(taken) - taken))" 10 "a refusal on the VRF's device does not affect its ports"
else
	skip "no SRv6" "End.DT4 and End.DT6"
fi
# With nf_hooks_lwtunnel, packets that End.DX forwards traverse the hooks.
if rx sysctl -qw net.netfilter.nf_hooks_lwtunnel=1 2>/dev/null && seg6 2001:db8:f::14 End.DX4 nh4 192.0.2.7; then
	through "End.DX4" ::ffff:10.1.1.2 flood $out -d 2001:db8:f::14 -P 4 -x "$inner"
else
	skip "no hooks of lightweight tunnels" "End.DX4"
fi

ip_tx -batch - <<-WORDS
	addr add 198.18.0.2/24 dev tx1
	addr add 2001:db8:f::2/64 dev tx1 nodad
	neigh add 198.18.0.1 lladdr 02:00:00:00:00:02 dev tx1
	neigh add 2001:db8:f::1 lladdr 02:00:00:00:00:02 dev tx1
	neigh add 2001:db8:f::14 lladdr 02:00:00:00:00:02 dev tx1
WORDS

# End.DX4 after IPsec tunnel mode: the inner packet keeps the sec_path.
key=0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
state="xfrm state add src 2001:db8:f::2 dst 2001:db8:f::1 proto esp spi 1 mode tunnel reqid 1"
state+=" auth-trunc hmac(sha256) $key 96 enc cbc(aes) ${key:0:34}"
if rx sysctl -n net.netfilter.nf_hooks_lwtunnel 2>/dev/null | grep -q 1 && modprobe ip6_tunnel 2>/dev/null &&
	ip_tx link add t6 type ip6tnl mode ipip6 local 2001:db8:f::2 remote 2001:db8:f::14 encaplimit none dev tx1 &&
	ip_tx $state && ip_rx $state; then
	ip_rx neigh replace 2001:db8:f::2 lladdr "$(ip_tx -json link show dev tx1 | json address)" dev rx1
	ip_tx link set t6 up
	ip_tx -batch - <<-WORDS
		addr add 10.1.1.2/32 dev t6
		route add 192.0.2.1/32 dev t6 src 10.1.1.2
		xfrm policy add src 2001:db8:f::2 dst 2001:db8:f::14 dir out tmpl src 2001:db8:f::2 dst 2001:db8:f::1 proto esp mode tunnel reqid 1
	WORDS
	through "End.DX4 within IPsec" ::ffff:10.1.1.2 say 30 192.0.2.1
	ip_tx xfrm policy flush
	ip_tx xfrm state flush
	ip_tx link del t6
else
	skip "no hooks of lightweight tunnels, or no IPsec" "End.DX4 within IPsec"
fi
if modprobe -a mpls_router mpls_iptunnel 2>/dev/null && rx sysctl -qw net.mpls.platform_labels=200 net.mpls.conf.rx1.input=1 &&
	ip_rx -f mpls route add 100 dev vrf0 &&
	ip_tx route add 192.0.2.1/32 encap mpls 100 via inet 198.18.0.1 dev tx1 &&
	ip_tx route add 2001:db8::1/128 encap mpls 100 via inet6 2001:db8:f::1 dev tx1; then
	into "MPLS, IPv4" ::ffff:198.18.0.2 say 30 192.0.2.1
	into "MPLS, IPv6" 2001:db8:f::2 say 30 2001:db8::1
else
	skip "no MPLS" "MPLS, IPv4 and IPv6"
fi

# The host's packets to itself
config <<-WORDS || bail "cannot configure"
	limit add own budget 1/1h from 192.0.2.1
	limit add own6 budget 1/1h from 2001:db8::1
WORDS
holds "ping of an address in the VRF from the VRF" quietly rx ping -qc 3 -i 0.01 -I vrf0 192.0.2.1
holds "... IPv6" quietly rx ping -qc 3 -i 0.01 -I vrf0 2001:db8::1
is "$(stat_of own matched.packets):$(stat_of own6 matched.packets)" 0:0 "none of it is charged"
finish
