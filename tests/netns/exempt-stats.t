#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# exempt-stats.t: exemptions count the packets they exempt, over other changes
. "$(dirname "$0")/lib.sh"
begin_with <<-WORDS
	limit add web budget 100k/m to 192.0.2.0/24
	limit add udp budget 100k/m proto udp
	exempt add 198.51.100.0/24
	exempt add 198.51.100.8/29 dev rx0
	exempt add 198.18.0.0/15 limit web
	exempt add 203.0.113.7 limit web
	exempt add 2001:db8:1::/48
WORDS
# counted: prefix and packets of each exemption with a count, in order
counted() { weir -j -s exempt show | jq -r '.[] | select(.stats.packets > 0) | "\(.prefix) \(.stats.packets)"' | xargs; }
weir exempt show >"$tmp/out"
like "$(<"$tmp/out")" '^198\.18\.0\.0/15 limit web'$'\n' "no counters without -stats"
like "$(weir -j exempt show)" '"prefix":"198.18.0.0/15","limit":"web"\}' "... in JSON either"
like "$(weir -s exempt show)" '^198\.18\.0\.0/15 limit web packets 0 bytes 0'$'\n' "zero counters with -stats"
flood -s 198.51.100.1 -n 7 -c 20
flood -s 198.51.100.9 -c 5
flood -s 198.18.0.1 -c 30 -l 100
flood -s 203.0.113.7 -n 2 -c 4
flood -s 2001:db8:1::1 -c 3
bytes=$(weir -j -s exempt get 198.18.0.1 limit web | json bytes)
is "$bytes" $((30 * (20 + 8 + 100))) "bytes are counted"
was="198.18.0.0/15 30 198.51.100.0/24 20 198.51.100.8/29 5 203.0.113.7 2 2001:db8:1::/48 3"
is "$(counted)" "$was" "each exemption counts its own packets" || weir -s exempt show
is "$(stats exempt)" 28 "the namespace counts packets exempt from all limits"
is "$(weir -j -s exempt get 198.51.100.9 dev rx0 | json packets)" 5 "the longest prefix counts, and exempt get shows it"
weir exempt add 10.0.0.0/8
weir exempt add 10.0.0.0/8 2>"$tmp/out"
weir exempt del 2001:db8:1::/48
weir limit set udp budget 90k/m sources 128 >"$tmp/out"
weir limit del udp
was=${was% 2001*}
is "$(counted)" "$was" "other changes keep the counters"
weir save "$tmp/saved"
echo 'exempt add 11.0.0.0/8' >>"$tmp/saved"
weir -file "$tmp/saved"
is "$(counted)" "$was" "... so does a file that contains the exemptions"
like "$(weir exempt add 198.18.0.0/15 limit web comment late 2>&1)" 'already exempt; replace it to prolong' "adding an exemption again does not set a comment"
flood -s 203.0.114.1 -c 6
matched() { weir -j -s limit show web | jq -c '.[0].stats | [.matched.packets, .sources_now]'; }
for comment in ' comment "one"' ' comment "two"' ' comment "two"' ''; do
	sed -i "s| comment .*||; s|\$|$comment|; 1s| comment .*||" "$tmp/saved"
	weir -file "$tmp/saved"
	is "$(weir -s exempt get 198.18.0.1 limit web),$(counted)" "198.18.0.0/15 limit web$comment packets 30 bytes $bytes,$was" "the comment becomes ${comment:-none}, the counters stay"
	is "$(weir save | sed 1d | grep -c -- "$comment\$") $(matched)" "7 [8,2]" "... and so do those of a limit"
done
like "$(weir source get 198.18.0.1 limit web | sed 1q)" ' exempt by 198.18.0.0/15 limit web$' "source get shows the exemption without the comment"
sed -i 's|^exempt add 198.18.*|& comment "who # it is"|' "$tmp/saved"
weir -file "$tmp/saved"
like "$(weir source get 198.18.0.1 limit web | sed 1q)" ' exempt by 198.18.0.0/15 limit web comment "who # it is"$' "... or with it, once there is one"
sed -i '/198.18/d' "$tmp/saved"
weir -file "$tmp/saved"
echo 'exempt add 198.18.0.0/15 limit web' >>"$tmp/saved"
weir -file "$tmp/saved"
is "$(counted)" "${was#*30 }" "an exemption deleted and added again starts at zero"
flooding -s 198.51.100.1 -c 3000 -r 2000
for i in {1..50}; do echo "exempt add 10.1.$i.0/24"; done | weir -batch -
weir exempt flush
for i in {1..8}; do echo "exempt add 10.1.$i.0/24"; done | weir -batch -
flooded
weir exempt add 198.51.100.0/24
flooding -s 198.51.100.1 -c 3000 -r 2000
for i in {9..60}; do echo "exempt add 10.1.$i.0/24"; done | weir -batch -
flooded
is "$(counted)" "198.51.100.0/24 3000" "no packet is lost while others are added and deleted"
# An exemption from one limit also counts packets that a limit behind it drops; of those that one
# before it drops the first, which only a charge refuses
config <<-WORDS || bail "cannot configure"
	limit add first budget 10/h
	limit add second budget 20/h
	limit add third budget 20/h
	exempt add 198.51.100.7 limit first
	exempt add 198.51.100.0/24 limit third
WORDS
flood -s 198.51.100.7 -c 100
is "$(counted) $(stat_of second dropped.packets)" "198.51.100.0/24 21 198.51.100.7 100 80" "packets that a limit drops are counted at exemptions from limits before it"
finish
