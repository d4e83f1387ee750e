#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# drops.t: source get tells the last drop of an address, and explain dropped the latest ones: when,
# by which limit, and why
. "$(dirname "$0")/lib.sh"
begin_with <<-WORDS
	limit add udp budget 20/1m proto udp dport 9
	limit add two budget 1000/1m bytes budget 3/1h proto tcp
	limit add shared budget 5/1h per 0 proto udp dport 10
	limit add net budget 5/1h per 24 proto udp dport 11
	limit add watch budget 5/1h action observe proto udp dport 12
	limit add full budget 1/total sources 64 proto udp dport 14
	limit add new budget 100/1h newcomers 2/10s known 1s proto udp dport 15
	limit add customer budget 5/1h family ipv6 proto udp dport 13
WORDS

# drop ADDRESS LIMIT [FILTER]: the last drop
drop() { weir -j source get "$1" limit "$2" | jq -c ".[0].last_drop | ${3-[.reason, .by_budget, .cost, .own]}"; }
# tells ADDRESS LIMIT: what source get says of it
tells() { weir source get "$1" limit "$2" | grep -E '^    .*(dropped (within|about|between)|address|shared)' | sed 's/^ *//'; }
# recent ADDRESS LIMIT MS: the last drop was after that time
recent() {
	local within
	within=$(drop "$1" "$2" '.within_ms | floor')
	[ "$within" -le $(($(now_ms) - $3 + 20)) ] && echo true
}

# latest WORDS: the latest drops, without when; and of how many the order is that of time
latest() { weir -j explain dropped "$@" | jq -c 'map([.source, .limit, .last_drop.reason, .last_drop.by_budget])'; }
in_order() { weir -j explain dropped "$@" | jq 'map(.last_drop.within_ms) | if . == sort then length else "not sorted" end'; }

is "$(latest) $(weir explain dropped 2>&1)" "[] weir: note: no drop is known; what limits that observe would drop is not listed" "nothing was dropped yet"
is "$(drop 203.0.113.9 udp .)" null "what was never dropped has no last drop"
flood -s 203.0.113.9 -c 20
is "$(drop 203.0.113.9 udp .)" null "... nor has what was admitted"
begun=$(now_ms)
flood -s 203.0.113.9 -c 1
is "$(drop 203.0.113.9 udp)$(recent 203.0.113.9 udp "$begun")" '["budget",null,null,true]true' "over the budget"
is "$(weir source get 203.0.113.9 limit udp 2>&1 >"$tmp/out")" "" "no note says that it was not dropped"
is "$(weir source get 203.0.113.8 udp dport 9 2>&1 >"$tmp/out")" "weir: note: no limit is known to have dropped such packets of 203.0.113.8" "... but of another address one does"
is "$(weir -j source get 203.0.113.8 2>&1 >"$tmp/out"; weir -quiet source get 203.0.113.8 2>&1 >"$tmp/out")" "" "... not with -json, nor with -quiet"
is "$(drop 203.0.113.8 udp .)$(drop 203.0.113.9 shared .)" nullnull "... and no other address, at no other limit"
ago() { [ "$(drop 203.0.113.9 udp '.before_ms >= 1000 and .within_ms - .before_ms < 1300')" = true ]; }
wait_for 60 ago
ok $? "a while later it is known to within 1.25 s" || drop 203.0.113.9 udp .
like "$(tells 203.0.113.9 udp)" '^last dropped about [0-9]+s ago: over its budget 20/m$' "... as text"
before=$(drop 203.0.113.9 udp '.before_ms | floor')
said=$(tells 203.0.113.9 udp | sed -E 's/.* about ([0-9]+)s ago.*/\1000/')
within "$said" "$before" "$(drop 203.0.113.9 udp '.within_ms | ceil')" "... between the bounds that JSON has"
begun=$(now_ms)
flood -s 203.0.113.9 -c 1
like "$(tells 203.0.113.9 udp)" '^last dropped (within the last|about) [0-9]+s( ago)?: over its budget 20/m$' "a drop just now"
is "$(recent 203.0.113.9 udp "$begun")" true "the next drop is the last one"

# Several budgets: which, and packets that are too large
flood -s 203.0.113.1 -c 4 -P tcp
is "$(drop 203.0.113.1 two)" '["budget",2,null,true]' "the second budget is exceeded"
flood -s 203.0.113.2 -c 1 -P tcp -l 1000
is "$(drop 203.0.113.2 two)" '["size",1,1040,true]' "a packet larger than the first one"

is "$(latest)" '[["203.0.113.2","two","size",1],["203.0.113.1","two","budget",2],["203.0.113.9","udp","budget",null]]' "all of them, the latest first"
is "$(latest limit udp)$(latest last 1)" '[["203.0.113.9","udp","budget",null]][["203.0.113.2","two","size",1]]' "... of one limit, and the last one"
is "$(latest from 203.0.113.0/30 last 1)$(latest from 203.0.113.9)" '[["203.0.113.2","two","size",1]][["203.0.113.9","udp","budget",null]]' "... of a prefix, and of an address"
is "$(latest from 203.0.113.1 limit two)$(latest from 203.0.113.1 limit udp)" '[["203.0.113.1","two","budget",2]][]' "... by one limit"
is "$(weir explain dropped from 2001:db8::/32 2>&1)" "weir: note: no drop of such a source is known; what limits that observe would drop is not listed" "... or none"
like "$(weir explain dropped | paste -sd,)" '^[0-9.ms]+ ago 203.0.113.2 limit two: its size of 1040 bytes is larger than the whole budget 1000/m bytes,[0-9.ms]+ ago 203.0.113.1 limit two: over its budget 3/h,[0-9.ms]+ ago 203.0.113.9 limit udp: over its budget 20/m$' "... as text"
like "$(tells 203.0.113.1 two)" '^last dropped (within the last|about) [0-9]+s( ago)?: over its budget 3/h$' "the text names the budget"
like "$(tells 203.0.113.2 two)" '^last dropped (within the last|about) [0-9]+s( ago)?: its size of 1040 bytes is larger than the whole budget 1000/m bytes$' "... and the size"

# What was dropped is not measured by a budget that has been changed since.
quietly weir limit set two budget 300/1h
like "$(tells 203.0.113.1 two)" ': over its budget, 300/h$' "a budget that has room now, and may have been changed since"
quietly weir limit set two budget 9000/1m
like "$(tells 203.0.113.2 two)" ': its size of 1040 bytes was larger than the whole budget, which is 9000/m bytes now$' "... and what would fit now"
quietly weir limit set two budget 1000/1m budget 3/1h

# The address itself, or another of its source
flood -s 203.0.113.3 -c 5 -D 10
flood -s 203.0.113.4 -c 2 -D 10
is "$(drop 203.0.113.4 shared)" '["budget",null,null,true]' "a shared budget dropped packets of the address"
is "$(drop 203.0.113.3 shared)" '["budget",null,null,false]' "... and of which else is not known"
like "$(tells 203.0.113.4 shared | paste -sd,)" '^last dropped (within the last|about) [0-9]+s( ago)?: over the budget 5/h,packets of this address were among those dropped$' "... which the text says"
like "$(tells 203.0.113.3 shared | paste -sd,)" '^last dropped within the last [0-9ms]+: over the budget 5/h,the budget is shared by all sources; whether packets of this one were dropped is not known$' "... of both"
is "$(drop 203.0.113.3 shared '.within_ms >= 1000 and .before_ms == null')" true "... but from which slot on"
flood -s 198.51.100.1 -c 6 -D 11
is "$(drop 198.51.100.1 net)$(drop 198.51.100.2 net)" '["budget",null,null,true]["budget",null,null,false]' "of a source of several addresses"
flood -s 2001:db8:1::1 -c 6 -D 13
is "$(drop 2001:db8:1::1 customer)$(drop 2001:db8:1::2 customer)" '["budget",null,null,true]["budget",null,null,false]' "... of IPv6, too"

# What observes
flood -s 203.0.113.5 -c 6 -D 12
is "$(latest limit watch)" "[]" "what a limit would have dropped is none of the latest drops"
is "$(drop 203.0.113.5 watch)" '["budget",null,null,false]' "what a limit would have dropped is known by its slot"

like "$(tells 203.0.113.5 watch)" '^would last have been dropped within the last [0-9ms]+: over its budget 5/h$' "... as text"

# Blocks: of the source, and of its prefix
weir source block 203.0.113.6 limit udp for 1h >/dev/null
flood -s 203.0.113.6 -c 1
is "$(drop 203.0.113.6 udp)" '["block",null,null,true]' "a blocked source"
weir block add 203.0.112.0/24 for 1h
is "$(drop 203.0.112.6 udp .)" null "nothing of a blocked prefix was sent"
flood -s 203.0.112.6 -c 1
is "$(drop 203.0.112.6 udp)" '["block",null,null,true]' "a blocked prefix"
like "$(tells 203.0.112.6 udp)" '^last dropped (within the last|about) [0-9]+s( ago)?: blocked$' "... as text"
is "$(weir -j source get 203.0.112.6 limit udp | jq -c '.[0] | [.blocked, .blocked_ms > 3500000, .limited]')" '[true,true,null]' "... which blocks the source"
# note ADDRESS WORDS: what source get notes of it
note() { { weir source get "$@" >"$tmp/out"; } 2>&1; }
now="now; if they do not get through, something else drops them, such as nft or routing"
is "$(note 203.0.112.6 udp dport 9)$(note 203.0.113.6 udp dport 9)" "" "blocks drop packets, which no note denies"
weir source release 203.0.113.6 >/dev/null
is "$(note 203.0.113.6 limit udp)" "weir: note: limit 'udp' would drop no packets of 203.0.113.6 ${now/nft/another limit, nft}" "a block that has ended drops none"
is "$(note 203.0.113.6 udp dport 9)" "weir: note: no limit would drop such packets of 203.0.113.6 $now" "... as described"
is "$(weir -j source get 203.0.113.6 limit udp 2>&1 >"$tmp/out"; weir -quiet source get 203.0.113.6 limit udp 2>&1 >"$tmp/out")" "" "... not with -json, nor with -quiet"
flood -s 203.0.113.61 -c 25
is "$(note 203.0.113.61 udp dport 9)" "" "a source over its budget"
quietly weir limit set udp budget 30/1m
is "$(note 203.0.113.61 udp dport 9)" "" "... has room for now, and may go on"
quietly weir limit set udp budget 20/1m
weir source forget 203.0.113.61 >/dev/null
is "$(note 203.0.113.61 udp dport 9)" "weir: note: no limit would drop such packets of 203.0.113.61 $now" "... begins anew when it is forgotten"
# A packet that is larger than what is left does not fit.
weir limit add large budget 1000/1s bytes proto udp dport 7 >/dev/null
flood -s 203.0.113.66 -D 7 -c 60
unused() { [ "$(weir -j source get 203.0.113.66 limit large | json count)" = 0 ]; }
wait_for 20 unused
is "$(note 203.0.113.66 udp dport 7)" "weir: note: no limit would drop such packets of 203.0.113.66 of at most 1000 bytes $now" "... but what is too large"
is "$(note 203.0.113.66 udp dport 7 len 900)" "weir: note: no limit would drop such packets of 203.0.113.66 $now" "... of which nothing is said if the length is known"
is "$(note 203.0.113.99 limit large)" "weir: note: limit 'large' is known to have dropped no packets of 203.0.113.99" "of a limit that is named only that is told"
weir limit del large
weir source block 203.0.113.6 limit udp for 1h >/dev/null
weir block del 203.0.112.0/24 && weir block add 203.0.112.0/24
is "$(weir -j source get 203.0.112.6 limit udp | jq -c '.[0] | [.blocked, .blocked_ms]')" '[true,null]' "... for ever"
is "$(weir -j source get 203.0.112.6 limit watch | jq -c '.[0].blocked')" false "... but not where a limit observes"

# What is kept
weir limit set udp budget 30/1m >/dev/null
is "$(drop 203.0.113.6 udp)" '["block",null,null,true]' "a change of the limit keeps it"
weir limit del udp && weir limit add udp budget 20/1m proto udp dport 9
is "$(drop 203.0.113.6 udp .)$(latest limit udp)" "null[]" "another limit of that name does not"
weir limit set two only budget 50/1h >/dev/null 2>&1
is "$(drop 203.0.113.1 two)" '["budget",null,null,true]' "a budget that there is no more is not named"

# No place, and newcomers
flood -s 10.0.0.1 -n 4000 -c 4000 -D 14
let_pass 300
flood -s 203.0.113.7 -c 1 -D 14
is "$(drop 203.0.113.7 full)" '["floor",null,null,true]' "a table that is full"
like "$(tells 203.0.113.7 full)" '^last dropped (within the last|about) [0-9]+s( ago)?: no place in the table, and no room under the floor$' "... as text"
is "$(latest last 1)" '[["203.0.113.7","full","floor",null]]' "the latest of very many"
is "$(in_order) $(in_order last 300)" "10 300" "... ten of which are told, or as many as are asked for, by time"
[ "$(in_order last 2048)" -gt 1000 ]
ok $? "... or more than a thousand" || in_order last 2048
learned() { [ "$(weir -j limit show new | jq '.[0].learning_ms')" = null ]; }
wait_for 60 learned || bail "it does not end to learn"
flood -s 203.0.113.60 -n 4 -c 4 -D 15
is "$(drop 203.0.113.63 new)" '["newcomers",null,null,true]' "a newcomers' budget that is used up"
like "$(tells 203.0.113.63 new)" '^last dropped (within the last|about) [0-9]+s( ago)?: not known yet, and the newcomers. budget was used up$' "... as text"
is "$(drop 203.0.113.1 two .own)" false "a flood takes the notes of others, of which the slot still tells"
finish
