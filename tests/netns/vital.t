#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vital.t: neighbour discovery, MLD and IGMP match only limits that name their protocol;
# link-local sources are counted by full address and device
. "$(dirname "$0")/lib.sh"
begin
link tx1 rx1 02:00:00:00:00:01
config <<-WORDS || bail "cannot configure"
	limit add each budget 100k/m action observe
	limit add icmp6 budget 100k/m proto icmpv6 action observe
	limit add igmp budget 100k/m proto igmp action observe
	limit add to budget 100k/m to ff02::/16 action observe
	limit add udp budget 100k/m proto udp action observe
	limit add nottcp budget 100k/m not proto tcp action observe
	limit add local budget 5/m from fe80::/10 to ff02::99 proto udp
	limit add local4 budget 5/m from 169.254.0.0/16 per 16,64 proto udp dport 5000
WORDS
body=000000000000000000000000000000000000000000
n=0
for type in 133 134 135 136 137; do
	n=$((n + 1)) hex=$(printf %02x "$type")
	packet "neighbour discovery, type $type" "fe80::$n" icmp6 -P icmpv6 -T 255 -d ff02::1 -x "$hex$body"
	packet "... that a router has passed on" "fe80::1:$n" "each icmp6 nottcp to" \
		-P icmpv6 -T 254 -d ff02::1 -x "$hex$body"
done
for type in 130 131 132 143; do
	n=$((n + 1)) hex=$(printf %02x "$type")
	packet "MLD, type $type" "fe80::2:$n" icmp6 -P icmpv6 -T 1 -d ff02::16 -E hop -x "$hex$body"
	packet "... not link-local" "2001:db8:1::$n" "each icmp6 nottcp to" -P icmpv6 -T 1 -d ff02::16 -E hop -x "$hex$body"
	packet "... not hop limit 1" "fe80::3:$n" "each icmp6 nottcp to" -P icmpv6 -T 2 -d ff02::16 -E hop -x "$hex$body"
done
packet "IGMP query" ::ffff:198.51.100.1 igmp -P 2 -T 1 -d 224.0.0.1 -x 11640000
packet "... report to a group" ::ffff:198.51.100.2 igmp -P 2 -T 1 -d 239.1.2.3 -x 1600fdfb
packet "... that a router could forward" ::ffff:198.51.100.3 "each igmp nottcp" -P 2 -T 2 -d 224.0.0.1 -x 11640000
packet "... to a host" ::ffff:198.51.100.4 "each igmp nottcp" -P 2 -T 1 -x 11640000
packet "UDP with TTL 1 to a group" ::ffff:198.51.100.5 "each nottcp udp" -T 1 -d 224.0.0.1
packet "global neighbour solicitation" 2001:db8::2 icmp6 -P icmpv6 -T 255 -x "87$body"
packet "echo request" fe80::4:1 "each icmp6 nottcp to" -P icmpv6 -T 255 -d ff02::1 -x "80$body"
packet "duplicate address detection" :: icmp6 -P icmpv6 -T 255 -d ff02::1:ff00:1 -x "87$body"
packet "DHCP from 0.0.0.0" ::ffff:0.0.0.0 udp -d 255.255.255.255 -S 68 -D 67
# Reassembly has memory for few: no fragment keeps a link alive
packet "a first fragment of IGMP" ::ffff:198.51.100.6 "each igmp nottcp" -P 2 -T 1 -d 224.0.0.1 -F 0+ -x "11640000$body"
packet "... of neighbour discovery" fe80::5:1 "each icmp6 nottcp to" -P icmpv6 -T 255 -d ff02::1 -E frag -F 0+ -x "87$body"
packet "... behind options, of MLD" fe80::5:2 "each icmp6 nottcp to" -P icmpv6 -T 1 -d ff02::16 -E hop,frag -F 0+ -x "83$body"
packets_meet
# counted OPTIONS: how many such packets the limit for all counts
counted() { was=$(stat_of each matched.packets); flood $1 -c 1; echo $(($(stat_of each matched.packets) - was)); }
is "$(counted "-s :: -P icmpv6 -T 255 -d ff02::1:ff00:1 -E frag -F 0+ -x 87$body")$(counted "-s :: -P icmpv6 -T 255 -d ff02::1 -E frag -F 72 -x 00$body")$(counted "-s :: -T 64 -d ff02::1 -E hop,frag -F 0+ -l 64")$(counted "-s 0.0.0.0 -d 255.255.255.255 -F 0+ -l 64")" 1111 "... without an address, through a router or not"

# Budgets of 5: two hosts on one link, one address on two links.
sum=$(passed)
# through COUNT SEND-OPTIONS NAME...: COUNT packets should pass
through() {
	local count=$1 before=$sum
	flood $2
	sum=$(passed)
	is "$((sum - before))" "$count" "${@:3}"
}
through 5 "-s fe80::a -d ff02::99 -c 10" "a link-local source has a budget"
through 5 "-s fe80::b -d ff02::99 -c 10" "... its neighbour its own, though they share a /64"
through 5 "-i tx1 -s fe80::a -d ff02::99 -c 10" "... and the same address on another link its own"
through 0 "-s fe80::a -d ff02::99 -c 10" "the first one has nothing left"
through 5 "-s 169.254.1.1 -D 5000 -c 10" "169.254.1.1 has a budget"
through 5 "-s 169.254.1.2 -D 5000 -c 10" "... its neighbour its own, though a /16 is counted"
through 5 "-i tx1 -s 169.254.1.1 -D 5000 -c 10" "... and on another link its own"
is "$(weir -json source show limit local | jq -c '[.[] | .source + " " + .dev] | sort')" \
	'["fe80::a rx0","fe80::a rx1","fe80::b rx0"]' "source show tells them apart"
finish
