#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vlan.t: a VLAN packet is one packet, of the VLAN's device, whether the driver or the
# stack strips the tag; stacked tags; priority tags
. "$(dirname "$0")/lib.sh"
begin
# vlan DEVICE VID [PROTOCOL]: add one in $rx
vlan() {
	ip_rx link add link "$1" name "$1.$2" type vlan id "$2" ${3:+protocol "$3"} &&
		ip_rx link set "$1.$2" addrgenmode none && ip_rx link set "$1.$2" up
}
if ! vlan rx0 5 || ! vlan rx0 6 || ! vlan rx0.5 7; then
	skip_all "this kernel has no VLAN"
fi
ip_tx link add link tx0 name tx0.5 type vlan id 5
ip_tx link set tx0.5 addrgenmode none && ip_tx link set tx0.5 up
config <<-WORDS || bail "cannot configure"
	limit add each budget 20/1h
	limit add plain budget 1k/1h dev rx0 action observe
	limit add five budget 10/1h dev rx0.5
	limit add six budget 1k/1h dev rx0.6 action observe
	limit add inner budget 1k/1h dev rx0.5.7 action observe
	limit add vlans budget 1k/1h not dev rx0 action observe
WORDS
packet "no tag" ::ffff:198.51.100.1 "each plain"
packet "a VLAN" ::ffff:198.51.100.2 "each six vlans" -V 6
packet "another" ::ffff:198.51.100.3 "each five vlans" -V 5
packet "another, tagged by a VLAN device" ::ffff:198.51.100.4 "each five vlans" -i tx0.5
packet "a VLAN in a VLAN" ::ffff:198.51.100.5 "each inner vlans" -i tx0.5 -V 7
packet "a priority tag" ::ffff:198.51.100.6 "each plain" -V 0
packet "a VLAN without a device" ::ffff:198.51.100.7 "" -V 8
packet "IPv6" 2001:db8:1::1 "each plain"
packet "IPv6 in a VLAN" 2001:db8:1::2 "each five vlans" -V 5
packet "IPv6, a VLAN in a VLAN" 2001:db8:1::3 "each inner vlans" -i tx0.5 -V 7
packets_meet
is "$(stats seen)" 9 "each is seen once"

# A source in two VLANs has one budget; a link-local one has two.
recount
flood -s 198.51.101.1 -V 5 -c 15
flood -s 198.51.101.1 -V 6 -c 15
is "$(stat_of five dropped.packets)" 5 "a limit on a VLAN"
is "$(passed)" 20 "one budget for both VLANs"
recount
flood -s fe80::1:1 -d ff02::99 -V 6 -c 25
flood -s fe80::1:1 -d ff02::99 -c 25
is "$(passed)" 40 "a link-local source has a budget in each VLAN"
is "$(weir -json source show limit each | jq -r '.[] | select(.source == "fe80::1:1") | .dev' | sort | xargs)" \
	"rx0 rx0.6" "... and is shown with its device"
finish
