#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ipsec.t: packets that traverse the hooks twice because of IPsec are charged once:
# ESP and AH in transport mode, with GRO too. In tunnel mode outer and inner are two.
. "$(dirname "$0")/lib.sh"
begin_apart
# The sender needs addresses here, as its own stack sends.
mac=$(ip_tx -json link show dev tx0 | json address)
# Suppress its MLD reports, which would be counted.
inside "$tx" nft -f - <<-RULES || bail "no nft"
	table ip6 silent { chain out { type filter hook output priority 0; icmpv6 type mld2-listener-report drop; }; }
RULES
ip_tx -batch - <<-WORDS
	addr add 192.0.2.2/24 dev tx0
	addr add 2001:db8::2/64 dev tx0 nodad
	neigh add 192.0.2.1 lladdr 02:00:00:00:00:01 nud permanent dev tx0
	neigh add 2001:db8::1 lladdr 02:00:00:00:00:01 nud permanent dev tx0
WORDS
ip_rx neigh add 192.0.2.2 lladdr "$mac" nud permanent dev rx0
ip_rx neigh add 2001:db8::2 lladdr "$mac" nud permanent dev rx0
taking

# secure PROTOCOL MODE [WORDS...]: set up IPsec states on both sides, a policy at the sender
key=0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
secure() {
	local protocol=$1 mode=$2 two side algorithms
	shift 2
	algorithms=(auth-trunc 'hmac(sha256)' "$key" 96)
	[ "$protocol" = ah ] || algorithms+=(enc 'cbc(aes)' "${key:0:34}")
	for side in ip_tx ip_rx; do
		"$side" xfrm state flush
		"$side" xfrm policy flush
		for two in "192.0.2.2 192.0.2.1" "2001:db8::2 2001:db8::1"; do
			"$side" xfrm state add src "${two% *}" dst "${two#* }" proto "$protocol" \
				spi 1 mode "$mode" reqid 1 "${algorithms[@]}" "$@" || return
		done
	done
	for two in "192.0.2.2 192.0.2.1" "2001:db8::2 2001:db8::1"; do
		ip_tx xfrm policy add src "${two% *}" dst "${two#* }" dir out \
			tmpl src "${two% *}" dst "${two#* }" proto "$protocol" mode "$mode" reqid 1 || return
	done
}
# charged NAME TIMES PASSES: send 30 packets of each family, with a budget of 20. Each is
# charged TIMES times; an IPv4 and an IPv6 packet together traverse the hooks PASSES times
charged() {
	local name=$1 times=$2 passes=$3 seen before taken passed
	config <<<"limit add each budget 20/1h" || bail "cannot configure"
	weir source forget all >/dev/null
	seen=$(stats seen) before=$(arrived) taken=$(taken) passed=$(passed)
	trace_start weir_charge weir_drop
	say 30 192.0.2.1
	say 30 2001:db8::1
	trace_stop
	is "$(value amount "$(traced -l each -S 192.0.2.2)")" 20 "$name: IPv4, the budget is charged"
	is "$(value amount "$(traced -l each -S 2001:db8::)")" 20 "$name: IPv6, the budget is charged"
	is "$(($(taken) - taken))" $((40 / times)) "$name: each packet is charged $times times"
	is "$(($(passed) - passed))" $((20 * passes / times)) "$name: an IPv4 and an IPv6 packet traverse the hooks $passes times"
	# In tunnel mode the inner packets also arrive on the device.
	[ "$times" = 1 ] || return 0
	is "$(($(arrived) - before))" 60 "$name: 60 packets arrive"
	is "$(($(stats seen) - seen))" 60 "$name: each is seen once"
}
secure esp transport 2>"$tmp/said" || skip_all "this kernel has no ESP: $(<"$tmp/said")"
charged "ESP, transport mode" 1 4
# secured PROTOCOL MODE COMMAND...
secured() { secure "$1" "$2" || bail "no $1 in mode $2"; "${@:3}"; }
secured ah transport charged "AH, transport mode" 1 4
secured esp tunnel charged "ESP, tunnel mode" 2 4
# hidden NAME: limits on encrypted fields match the decrypted packet, others the encrypted
hidden() {
	local before
	config <<-WORDS || bail "cannot configure"
		limit add every budget 1k/1h action observe
		limit add other budget 1k/1h not proto tcp action observe
		limit add udp budget 5/1h proto udp dport 9
	WORDS
	weir source forget all >/dev/null
	weir limit reset
	before=$(taken)
	say 30 192.0.2.1
	say 30 2001:db8::1
	is "$(($(taken) - before))" 10 "$1: a limit on ports applies"
	is "$(stat_of udp matched.packets)" 60 "$1: ... to each packet"
	is "$(stat_of every matched.packets) $(stat_of other matched.packets)" "60 60" "$1: limits that matched it encrypted count it once"
}
secured esp transport hidden "ESP hides the port"
secured ah transport hidden "AH hides the port of IPv4"
# The inner packet of a tunnel within IPsec's transport mode is another packet.
if secure esp transport && ip_rx link add vx type vxlan id 5 local 192.0.2.1 dstport 4789 2>/dev/null; then
	ip_tx link add vx type vxlan id 5 local 192.0.2.2 remote 192.0.2.1 dstport 4789
	ip_rx link set vx address 02:00:00:00:00:01 addrgenmode none
	ip_tx link set vx addrgenmode none
	ip_rx link set vx up
	ip_tx link set vx up
	config <<-WORDS || bail "cannot configure"
		limit add out budget 1k/1h dev rx0 proto esp action observe
		limit add in budget 20/1h dev vx
	WORDS
	flood -i vx -s 10.1.1.1 -c 30
	is "$(stat_of out matched.packets)" 30 "VXLAN in ESP: the outer packets are charged once"
	is "$(stat_of in admitted.packets):$(stat_of in dropped.packets)" 20:10 "... and so are the inner ones"
	ip_rx link delete vx
	ip_tx link delete vx
else
	skip "no VXLAN" "VXLAN in ESP: outer and inner packets are charged once"
fi
if secure esp transport && modprobe -a esp4_offload esp6_offload 2>/dev/null && { rx ethtool -K rx0 gro on && tx ethtool -K tx0 tso off gso off; } 2>/dev/null; then
	charged "ESP, transport mode, decrypted by GRO" 1 2
else
	skip "no GRO of ESP" "ESP, transport mode, decrypted by GRO"
fi
if ip_rx link add vrf0 type vrf table 10 2>/dev/null; then
	rx ethtool -K rx0 gro off 2>/dev/null
	into_vrf rx0
	ip_rx -batch - <<-WORDS
		neigh replace 192.0.2.2 lladdr $mac dev rx0
		neigh replace 2001:db8::2 lladdr $mac dev rx0
	WORDS
	# IPv6 traverses the hooks once more.
	secured esp transport charged "ESP, transport mode, in a VRF" 1 7
	# The inner packets traverse the hooks on the port and on the VRF's device.
	secured esp tunnel charged "ESP, tunnel mode, in a VRF" 2 8
else
	skip "no VRF" "ESP in a VRF"
fi
finish
