#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# exempt.t: exemptions from all limits, on a device, from one limit; nested prefixes
. "$(dirname "$0")/lib.sh"
begin
link tx1 rx1 02:00:00:00:00:01
config <<-WORDS || bail "cannot configure"
	limit add a budget 100k/m action observe
	limit add b budget 100k/m action observe
	exempt add 198.51.100.0/24
	exempt add 198.18.0.0/15 limit a
	exempt add 198.18.1.0/24 limit b
	exempt add 198.18.1.16/28 dev rx1
	exempt add 203.0.113.7 dev rx0
	exempt add 203.0.113.0/24 dev rx1 limit b
	exempt add 203.0.113.0/24 dev rx2
	exempt add 2001:db8:1::/48
	exempt add 2001:db8::/32 limit b
	exempt add fe80::1:0/112 dev rx1
WORDS
# both NAME SOURCE LIMITS/LIMITS: that should charge it on rx0 / on rx1
both() {
	packet "$1" "$2" "${3/\// }"
	later -s "${2/::ffff:/}" -i tx1 -c 1
}
both "before a prefix" ::ffff:198.51.99.255 "a b/a b"
both "first address of a prefix" ::ffff:198.51.100.0 "/"
both "last address of a prefix" ::ffff:198.51.100.255 "/"
both "after a prefix" ::ffff:198.51.101.0 "a b/a b"
both "from one limit" ::ffff:198.18.0.1 "b/b"
both "a longer prefix exempt from the other limit: both apply" ::ffff:198.18.1.1 "/"
both "... and on a device, a prefix within" ::ffff:198.18.1.17 "/"
both "after the inner prefix the outer still applies" ::ffff:198.18.2.1 "b/b"
both "the end of the outer prefix" ::ffff:198.19.255.255 "b/b"
both "on a device" ::ffff:203.0.113.7 "/a"
both "on a device, from one limit" ::ffff:203.0.113.8 "a b/a"
both "IPv6, nested" 2001:db8:1:2::3 "/"
both "IPv6, the outer prefix" 2001:db8:2::1 "a/a"
both "IPv6, not exempt" 2001:db9::1 "a b/a b"
both "link-local, on a device" fe80::1:2 "a b/"
both "link-local, not exempt" fe80::2:2 "a b/a b"
packets_meet
is "$(stats exempt)" 9 "packets exempt from all limits are counted" ||
	weir stats show

answer() { weir -json exempt get "$@" 2>/dev/null | json prefix; }
is "$(answer 198.51.100.9)" 198.51.100.0/24 "exempt get finds a prefix"
is "$(answer 198.18.1.17 dev rx1)" 198.18.1.16/28 "... the longest, on a device"
is "$(answer 198.18.1.17 limit b)" 198.18.1.0/24 "... for a limit"
is "$(answer 198.18.1.17 dev rx0)" "" "... none from all limits on another device"

# Programs log IPv4 clients of an IPv6 socket as ::ffff:203.0.113.65.
weir exempt add ::ffff:203.0.113.64/122
is "$(answer 203.0.113.65) $(answer ::ffff:203.0.113.65)" "203.0.113.64/26 203.0.113.64/26" "an IPv4-mapped address is the IPv4 address"
weir source charge ::ffff:203.0.113.9 limit a packets 3 >/dev/null
is "$(weir -json source get 203.0.113.9 limit a | json count)$(weir -json source get ::ffff:203.0.113.9 limit a | json source)" 3203.0.113.9 "... as a source to charge and get"
weir source forget ::ffff:203.0.113.9 >/dev/null
is "$(weir -json source get 203.0.113.9 limit a | json count)" 0 "... and to forget"

# Under a flood.
weir limit add c budget 10/m from 192.88.99.0/24 >/dev/null 2>&1
flooding -s 192.88.99.1 -t 30000 -r 3000
full() { [ "$(weir -json source get 192.88.99.1 limit c | json limited)" = true ]; }
holds "a flood is limited" wait_for 60 full
weir exempt add 192.88.99.1
before=$(stat_of c dropped.packets)
more() { [ "$(stats exempt)" -gt "$((exempt + 200))" ]; }
exempt=$(stats exempt)
holds "once exempt, it passes" wait_for 60 more
is "$(stat_of c dropped.packets)" "$before" "... without drops"
weir exempt del 192.88.99.1
dropped() { [ "$(stat_of c dropped.packets)" -gt "$before" ]; }
holds "no longer exempt, it is limited again" wait_for 60 dropped
quiet
is "$(stat_of c admitted.packets)" 10 "... by its previous count"

# For a time
weir limit flush
config <<<"limit add t budget 5/1h from 198.51.100.0/24" || bail "cannot configure"
command weir monitor exempts >"$tmp/events" &
pids+=($!)
for words in "999ms" "0s" "3651d"; do
	weir exempt add 198.51.100.7 for "$words" 2>"$tmp/said"
	is "$?" 1 "not for $words" || diag "$(<"$tmp/said")"
done
listens() { weir exempt del 192.0.2.9 2>/dev/null; weir exempt add 192.0.2.9 for 3650d && grep -q added "$tmp/events"; }
holds "monitor listens" wait_for 60 listens
weir exempt add 198.51.100.8 for 1h comment "an hour"
weir exempt add 198.51.100.7 for 2s
like "$(weir exempt show)" $'198.51.100.7 for [12]s\n198.51.100.8 comment "an hour" for (59m5[0-9]s|1h)$' "show says for how long still"
like "$(weir -j exempt show | jq -c '.[1].for_ms')" '^(1[0-9]{3}|2000)$' "... in JSON"
holds "an exemption for a time exempts" [ "$(through 198.51.100.7)" = 10 ]
ended() { ! weir exempt get 198.51.100.7 >/dev/null 2>&1; }
holds "... until it has ended" wait_for 60 ended
is "$(through 198.51.100.7):$(through 198.51.100.8)" 5:10 "... and another one does still"
removed() { grep -q "exempt removed 198.51.100.7" "$tmp/events"; }
holds "... which is told" wait_for 60 removed
is "$(weir -j stats show | json exempt_count)" 2 "... and it is there no more"
quiet

# What is saved ends when it would have, whenever it is applied: after a reload, and a reboot
weir exempt del 192.0.2.9
weir block add 203.0.113.0/24 for 2h
left() { weir -j "$1" show | jq -c 'map(select(.for_ms).for_ms / 60000 | ceil)'; }
date=$(date -u +%s)
# after MINUTES: of 60 and 120 minutes, what is left to a host on which nothing is in force
after() {
	echo '#' | weir -quiet -file -
	date -u -s "@$((date + 60 * $1))" >/dev/null || bail "the clock cannot be set"
	weir -file "$tmp/saved" 2>"$tmp/said"
	echo "$? $(left exempt) $(left block) $(grep -o 'exemptions and blocks that .*' "$tmp/said")"
}
date -u -s "@$date" >/dev/null
weir -exist exempt add 198.51.100.8 for 1h comment "an hour"
weir -exist block add 203.0.113.0/24 for 2h
weir save "$tmp/saved" || bail "cannot save"
is "$(after 50)" "0 [10] [70] " "an hour and two, saved and applied 50 minutes later"
is "$(after 70)" "0 [] [50] exemptions and blocks that have ended are left out (1)" "... and 70 minutes later"
is "$(after 130)" "0 [] [] exemptions and blocks that have ended are left out (2)" "... and 130"
date -u -s "@$date" >/dev/null
weir -quiet -file "$tmp/saved" && weir -exist exempt add 198.51.100.8 for 5m comment "an hour"
weir -quiet -file "$tmp/saved"
is "$(left exempt)" "[60]" "a file that says when ends it then, whatever is in force"
weir -exist exempt add 198.51.100.8 && weir -quiet -file "$tmp/saved"
is "$(left exempt)" "[60]" "... also what was for ever"
is "$(weir save | diff - "$tmp/saved")" "" "... and what is saved again is the same" || weir save | diag
echo 'exempt add 198.51.100.9 for 1h' | weir -file - 2>"$tmp/said"
like "$(<"$tmp/said")" "note: .*begin now, and again if the file is applied once they have ended \(1\)" "a file with 'for' is told of"
weir -exist -force exempt add 198.51.100.9 for ever
like "$(echo 'exempt add 198.51.100.9 for 1h' | weir -check -file - 2>&1)" "note: .*begin now, and again if the file is applied once they have ended \(1\)" "... also where it ends what was for ever"
finish
