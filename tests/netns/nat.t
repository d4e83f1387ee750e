#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# nat.t: a router that translates addresses: limits count senders as they were before, what is refused
# leaves no entry in conntrack, and replies go back
. "$(dirname "$0")/lib.sh"
begin_apart
space inner
# shellcheck disable=SC2154 # space sets it
ip link add in0 netns "$inner" type veth peer name out0 netns "$rx" || bail "no veth"
ip -n "$inner" -batch - <<-WORDS
	addr add 10.9.0.2/24 dev in0
	link set in0 up
	route add default via 10.9.0.1
WORDS
ip_rx addr add 10.9.0.1/24 dev out0
ip_rx link set out0 up
# Replies go back to where the sender is, which answers to no ARP.
ip_rx route add 198.51.100.0/24 dev rx0
mac=$(ip_tx -json link show dev tx0 | json address)
for n in 1 2 3; do ip_rx neigh add 198.51.100.$n lladdr "$mac" nud permanent dev rx0; done
# shellcheck disable=SC2016 # the inner shell's
rx sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward; echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter; echo 0 >/proc/sys/net/ipv4/conf/rx0/rp_filter'
rx nft -f - <<-RULES || bail "no NAT"
	table ip nat {
		chain pre { type nat hook prerouting priority dstnat; iifname rx0 udp dport 9 dnat to 10.9.0.2:99; }
		chain post { type nat hook postrouting priority srcnat; oifname out0 masquerade; }
	}
RULES
inside "$inner" nft -f - <<-RULES || bail "no nft"
	table ip probe {
		counter translated { }
		counter others { }
		chain in {
			type filter hook prerouting priority 0
			ip saddr 10.9.0.1 udp dport 99 counter name translated
			ip saddr != 10.9.0.1 counter name others
		}
	}
RULES
inner() { inside "$inner" nft list counter ip probe "$1" | sed -n 's/.*packets \([0-9]*\).*/\1/p'; }
entries() { rx cat /proc/sys/net/netfilter/nf_conntrack_count; }
arrive() { [ "$(inner translated)" -ge "$1" ]; }

flood -s 198.51.100.1 -n 3 -c 30
wait_for 60 arrive 30
is "$(inner translated):$(inner others)" 30:0 "without a limit all is translated"
is "$(entries)" 3 "... each sender's in an entry"

config <<<'limit add web budget 5/1h from 198.51.100.0/24'
flood -s 198.51.100.1 -n 3 -c 60
wait_for 60 arrive 45
is "$(inner translated):$(inner others)" 45:0 "behind a limit each sender has its budget, as it was before"
is "$(weir -json source get 198.51.100.2 limit web | json count)" 5 "... and is shown by its address"
is "$(weir -json source get 10.9.0.1 limit web 2>/dev/null | json count)" 0 "... not by the router's"

# In all, five of a hundred: the others cost conntrack nothing.
config <<<'limit add new budget 5/1h per 0 from 203.0.113.0/24'
before=$(entries)
flood -s 203.0.113.1 -n 100 -c 100
wait_for 60 arrive 50
is "$(inner translated)" 50 "of a hundred senders five pass"
is "$(($(entries) - before))" 5 "... and what is refused leaves no entry"

# A reply, translated back: the router's limits see the server's address.
config <<-WORDS
	limit add web budget 5/1h from 198.51.100.0/24
	limit add server budget 3/1h from 10.9.0.0/24
WORDS
tx nft -f - <<-RULES || bail "no nft"
	table netdev probe {
		counter replies { }
		chain in { type filter hook ingress device tx0 priority 0; ip saddr 192.0.2.1 ip daddr 198.51.100.0/24 udp sport 9 counter name replies; }
	}
RULES
replies() { tx nft list counter netdev probe replies | sed -n 's/.*packets \([0-9]*\).*/\1/p'; }
replied() { [ "$(replies)" -ge 3 ]; }
send -z "$inner" -i in0 -m "$(ip_rx -json link show dev out0 | json address)" -s 10.9.0.2 -d 10.9.0.1 -S 99 -D 1024 -c 10 >"$tmp/out"
wait_for 60 replied
is "$(replies)" 3 "replies go back to a sender, within the budget of the server"
is "$(weir -json source get 10.9.0.2 limit server | json count)" 3 "... by whose address they are counted"
finish
