#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# match.t: each condition with and without "not", extension headers, fragments,
# truncated headers, VLAN
. "$(dirname "$0")/lib.sh"
begin
ip_rx link add link rx0 name rx0.7 address 02:00:00:00:00:01 type vlan id 7
ip_rx link set rx0.7 addrgenmode none up
rx nft 'add rule netdev probe in ip saddr 198.51.100.5 meta mark set 0x15'

# All observe, so that each packet is charged by every limit that it matches.
config <<-WORDS || bail "cannot configure"
	limit add any budget 100k/m action observe
	limit add fam4 budget 100k/m family ipv4 action observe
	limit add fam4- budget 100k/m not family ipv4 action observe
	limit add dev budget 100k/m dev rx0 action observe
	limit add dev- budget 100k/m not dev rx0 action observe
	limit add from budget 100k/m from 198.51.100.0/28 action observe
	limit add from- budget 100k/m not from 198.51.100.0/28 action observe
	limit add from6 budget 100k/m from 2001:db8:5::/48 per 32,128 action observe
	limit add to budget 100k/m to 192.0.2.0/24 action observe
	limit add to- budget 100k/m not to 192.0.2.0/24 action observe
	limit add tcp budget 100k/m proto tcp action observe
	limit add tcp- budget 100k/m not proto tcp action observe
	limit add sport budget 100k/m proto udp sport 5353 action observe
	limit add sport- budget 100k/m proto udp not sport 5353 action observe
	limit add dport budget 100k/m proto udp dport 50-60 action observe
	limit add dport- budget 100k/m proto udp not dport 50-60 action observe
	limit add syn budget 100k/m syn action observe
	limit add syn- budget 100k/m not syn action observe
	limit add frag budget 100k/m frag action observe
	limit add frag- budget 100k/m not frag action observe
	limit add mark budget 100k/m mark 0x15 action observe
	limit add mark- budget 100k/m not mark 0x15 action observe
	limit add mask budget 100k/m mark 0x10/0xf0 action observe
	limit add two budget 100k/m proto tcp dport 443 syn to 192.0.2.1 action observe
WORDS
v4="any fam4 dev to mark-"		# match the IPv4 packets below but one
v6="any fam4- dev from- to- mark-"	# match the IPv6 packets

packet "UDP" ::ffff:198.51.100.1 "$v4 from tcp- sport- dport- frag-"
packet "UDP to a port in the range" ::ffff:198.51.100.2 "$v4 from tcp- sport- dport frag-" -D 60
packet "UDP behind the range" ::ffff:198.51.100.3 "$v4 from tcp- sport- dport- frag-" -D 61
packet "UDP from a port" ::ffff:198.51.100.4 "$v4 from tcp- sport dport- frag-" -S 5353
packet "a mark" ::ffff:198.51.100.5 "${v4/mark-/mark} from mask tcp- sport- dport- frag-"
packet "the last source of a prefix" ::ffff:198.51.100.15 "$v4 from tcp- sport- dport- frag-"
packet "the next source" ::ffff:198.51.100.16 "$v4 from- tcp- sport- dport- frag-"
packet "another destination" ::ffff:198.51.101.1 "${v4/to/to-} from- tcp- sport- dport- frag-" -d 192.0.3.1
packet "TCP SYN" ::ffff:198.51.101.2 "$v4 from- tcp syn frag-" -P tcp
packet "TCP SYN and ACK" ::ffff:198.51.101.3 "$v4 from- tcp syn- frag-" -P tcp -f SA
packet "TCP SYN and RST" ::ffff:198.51.101.4 "$v4 from- tcp syn- frag-" -P tcp -f SR
packet "TCP SYN and FIN" ::ffff:198.51.101.5 "$v4 from- tcp syn- frag-" -P tcp -f SF
packet "TCP SYN and PSH" ::ffff:198.51.101.6 "$v4 from- tcp syn frag-" -P tcp -f SP
packet "TCP ACK" ::ffff:198.51.101.7 "$v4 from- tcp syn- frag-" -P tcp -f A
packet "four conditions" ::ffff:198.51.101.8 "$v4 from- tcp syn frag- two" -P tcp -D 443
packet "three of them" ::ffff:198.51.101.9 "$v4 from- tcp syn- frag-" -P tcp -D 443 -f A
packet "ICMP" ::ffff:198.51.101.10 "$v4 from- tcp- frag-" -P icmp
packet "VLAN" ::ffff:198.51.101.11 "${v4/dev/dev-} from- tcp- sport- dport- frag-" -V 7
packet "first fragment" ::ffff:198.51.101.12 "$v4 from- tcp- sport- dport frag-" -D 55 -F 0+ -l 32
packet "later fragment" ::ffff:198.51.101.13 "$v4 from- tcp- frag" -D 55 -F 40+ -l 32
packet "last fragment" ::ffff:198.51.101.14 "$v4 from- tcp- frag" -F 80
packet "later fragment of TCP" ::ffff:198.51.101.15 "$v4 from- tcp frag" -P tcp -F 80
packet "first fragment of TCP, cut in the ports" ::ffff:198.51.101.16 \
	"$v4 from- tcp syn syn- frag- two" -P tcp -x 0400 -F 0+
packet "first fragment of TCP, cut behind the ports" ::ffff:198.51.101.17 \
	"$v4 from- tcp syn syn- frag- two" -P tcp -x 040001bb00000000 -F 0+
packet "... that names another port" ::ffff:198.51.101.18 \
	"$v4 from- tcp syn syn- frag-" -P tcp -x 0400005000000000 -F 0+
packet "UDP cut in the ports" ::ffff:198.51.101.19 \
	"$v4 from- tcp- sport sport- dport dport- syn syn- frag-" -x 04
packet "nothing behind the header" ::ffff:198.51.101.20 \
	"$v4 from- tcp- sport sport- dport dport- syn syn- frag-" -x -

packet "IPv6 UDP" 2001:db8:1::1 "$v6 tcp- sport- dport- frag-"
packet "IPv6 prefix" 2001:db8:5::1 "$v6 from6 tcp- sport- dport- frag-"
packet "IPv6 TCP SYN" 2001:db8:1::2 "$v6 tcp syn frag-" -P tcp
packet "IPv6 extension headers, then UDP" 2001:db8:1::3 "$v6 tcp- sport- dport frag-" -D 53 -E hop,dst,rt,ah
packet "eight extension headers, then TCP" 2001:db8:1::4 "$v6 tcp syn frag-" -P tcp -E hop,dst,dst,dst,dst,dst,rt,dst
packet "nine extension headers" 2001:db8:1::5 \
	"$v6 tcp tcp- sport sport- dport dport- syn syn- frag frag-" -P tcp -E hop,dst,dst,dst,dst,dst,rt,dst,dst
packet "IPv6 first fragment" 2001:db8:1::6 "$v6 tcp- sport- dport frag-" -D 53 -F 0+ -l 32
# Reassembly ignores the protocol field of later fragments.
packet "IPv6 later fragment" 2001:db8:1::7 "$v6 tcp tcp- frag" -D 53 -F 40+ -l 32
packet "IPv6 later fragment behind extension headers" 2001:db8:1::8 "$v6 tcp tcp- frag" -P tcp -F 40 -E hop,dst,frag
packet "IPv6 later fragment of no next header" 2001:db8:1::d "$v6 tcp tcp- frag" -P 59 -F 40 -l 32
packet "IPv6 atomic fragment" 2001:db8:1::9 "$v6 tcp- sport- dport frag-" -D 53 -F 0
packet "IPv6 first fragment of TCP, cut in the ports" 2001:db8:1::a \
	"$v6 tcp syn syn- frag-" -P tcp -x 0400 -F 0+
packet "IPv6 later fragment of what begins with extension headers" 2001:db8:1::b \
	"$v6 tcp tcp- frag" -P tcp -F 40 -E frag,dst
packet "no next header" 2001:db8:1::c "$v6 tcp- frag-" -P 59 -x -
packets_meet
is "$(stats unparsable)" 7 "truncated and too deeply nested packets are counted"

# Lists of protocols and types
names=() sources=() wanted=()
config <<-WORDS || bail "cannot configure"
	limit add protos budget 100k/m proto icmp,icmpv6,tcp,255 action observe
	limit add protos- budget 100k/m not proto icmp,icmpv6,tcp,255 action observe
	limit add ports budget 100k/m proto tcp,udp dport 443,53 action observe
	limit add ping budget 100k/m icmp-type echo-request,0,255 action observe
	limit add ping- budget 100k/m not icmp-type 8,0,255 action observe
	limit add ping6 budget 100k/m icmpv6-type echo-request,echo-reply action observe
	limit add ping6- budget 100k/m not icmpv6-type 128,129 action observe
	limit add query budget 100k/m udp dport 27015 mark 1 action observe
WORDS
sed 's/eth0/rx0/' "$top/Documentation/examples/mark.nft" | rx nft -f - || bail "no marks"
packet "what the example marks" ::ffff:198.51.102.20 "protos- query" -P udp -x 04d26987000d0000ffffffff54
packet "what it does not" ::ffff:198.51.102.21 protos- -P udp -x 04d26987000d0000ffffffff55
packet "what it drops" ::ffff:198.51.102.22 "" -P udp -x 04d2698700080000
packet "TCP of tcp,udp" ::ffff:198.51.102.1 "protos ports" -P tcp -D 443
packet "UDP of tcp,udp" ::ffff:198.51.102.2 "protos- ports" -D 53
packet "UDP to another port" ::ffff:198.51.102.3 protos-
packet "SCTP" ::ffff:198.51.102.4 protos- -P 132 -D 53
packet "the largest protocol" ::ffff:198.51.102.5 protos -P 255
packet "the smallest protocol" ::ffff:198.51.102.6 protos- -P 0
packet "ICMP echo request" ::ffff:198.51.102.7 "protos ping" -P icmp -x 0800000000000000
packet "ICMP echo reply, the smallest type" ::ffff:198.51.102.8 "protos ping" -P icmp -x 0000000000000000
packet "ICMP, the largest type" ::ffff:198.51.102.9 "protos ping" -P icmp -x ff00000000000000
packet "ICMP unreachable" ::ffff:198.51.102.10 "protos ping-" -P icmp -x 0301000000000000
packet "ICMP without a type" ::ffff:198.51.102.11 "protos ping ping-" -P icmp -x -
packet "ICMP, later fragment" ::ffff:198.51.102.12 protos -P icmp -F 40 -x 0800000000000000
packet "ICMPv6 over IPv4" ::ffff:198.51.102.13 "protos ping6" -P icmpv6 -x 8000000000000000
packet "ICMPv6 echo request" 2001:db8:2::1 "protos ping6" -P icmpv6 -x 8000000000000000
packet "... behind extension headers" 2001:db8:2::2 "protos ping6" -P icmpv6 -E hop,dst -x 8000000000000000
packet "ICMPv6 unreachable" 2001:db8:2::3 "protos ping6-" -P icmpv6 -x 0100000000000000
packet "ICMPv6 without a type" 2001:db8:2::4 "protos ping6 ping6-" -P icmpv6 -x -
packet "ICMPv6, later fragment" 2001:db8:2::5 "protos protos-" -P icmpv6 -F 40 -x 8000000000000000
packet "neighbour discovery, which only limits that name its protocol match" 2001:db8:2::6 protos \
	-P icmpv6 -T 255 -x 870000000000000000000000000000000000000000000000
packet "IPv6, headers that nest too deeply" 2001:db8:2::7 "protos protos- ports ping ping- ping6 ping6-" \
	-P tcp -E hop,dst,dst,dst,dst,dst,rt,dst,dst
packets_meet
rx nft delete table netdev weir_mark
finish
