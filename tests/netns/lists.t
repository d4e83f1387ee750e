#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lists.t: conditions with several ports or prefixes, of both families, in one limit
# with one budget; packets not listed do not match, even next to listed or refused ones
. "$(dirname "$0")/lib.sh"
begin_with <<-WORDS
	limit add nets budget 5/1h from 203.0.113.0/25,203.0.113.192/26,2001:db8:5::/48 per 24,48
	limit add ports budget 20/1h proto udp dport 53,80,8000-8100
	limit add others budget 100k/1h proto udp not dport 53,8000-8100 not from 203.0.113.0/25,2001:db8::/32 action observe
	limit add tos budget 100k/1h to 192.0.2.1,2001:db8::/64 proto udp sport 7,9 action observe
WORDS
weir save >"$tmp/before"

passes 15 -s 198.51.100.1 -c 15 -D 53
passes 5 -s 198.51.100.1 -c 15 -D 8100
passes 0 -s 198.51.100.1 -c 15 -D 80
passes 15 -s 198.51.100.1 -c 15 -D 81
passes 15 -s 198.51.100.1 -c 15 -D 7999
is "$(met ports)" 45 "ports between those listed do not match"
is "$(met others)" 30 "'not' with a list matches none of its ports"
passes 5 -s 203.0.113.1 -c 50 -D 9
passes 0 -s 203.0.113.200 -c 50 -D 9
passes 50 -s 203.0.113.129 -c 50 -D 9
passes 0 -s 203.0.113.2 -c 50 -D 9
passes 5 -s 2001:db8:5::1 -c 10 -D 9
passes 10 -s 2001:db8:6::1 -c 10 -D 9
is "$(met nets)" 160 "prefixes between those listed do not match"
is "$(met others)" 80 "'not from', with both families"
is "$(met tos)" 0 "sport with a list: no match"
passes 10 -s 198.51.100.9 -c 10 -S 9 -D 9
passes 10 -s 2001:db8:7::1 -c 10 -S 7 -D 9
is "$(met tos)" 20 "to, with both families, and sport with a list"

weir save >"$tmp/after"
is "$(<"$tmp/after")" "$(<"$tmp/before")" "save writes the lists unchanged"
weir -file "$tmp/after" >"$tmp/said" 2>&1
passes 0 -s 198.51.100.1 -c 5 -D 80
ok $? "... and -file of it keeps the counts"
is "$(weir -j limit show ports | jq -c '.[0].match.dport')" \
	'[{"first":53,"last":53},{"first":80,"last":80},{"first":8000,"last":8100}]' "JSON lists the ports"
is "$(weir -j limit show nets | jq -r '.[0].match.from | join(" ")')" \
	"203.0.113.0/25 203.0.113.192/26 2001:db8:5::/48" "... and the prefixes"
is "$(weir -j source get 2001:db8:5::1 | jq -r '[.[].limit] | join(" ")')" "nets ports tos" \
	"source get shows limits whose lists contain a source"
is "$(weir -j source get 203.0.113.129 | jq -r '[.[].limit] | join(" ")')" "ports others tos" "... and not the others"

quietly weir limit set ports dport 53
passes 5 -s 198.51.100.1 -c 5 -D 80
passes 0 -s 198.51.100.1 -c 5 -D 53
quietly weir limit set ports dport 80,443
passes 0 -s 198.51.100.1 -c 5 -D 80
passes 5 -s 198.51.100.1 -c 5 -D 53
finish
