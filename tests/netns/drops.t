#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# drops.t: source get tells the last drop of an address: when, by which limit, and why
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

is "$(drop 203.0.113.9 udp .)" null "what was never dropped has no last drop"
flood -s 203.0.113.9 -c 20
is "$(drop 203.0.113.9 udp .)" null "... nor has what was admitted"
begun=$(now_ms)
flood -s 203.0.113.9 -c 1
is "$(drop 203.0.113.9 udp)$(recent 203.0.113.9 udp "$begun")" '["budget",null,null,true]true' "over the budget"
is "$(drop 203.0.113.8 udp .)$(drop 203.0.113.9 shared .)" nullnull "... and no other address, at no other limit"
ago() { [ "$(drop 203.0.113.9 udp '.before_ms >= 1000 and .within_ms - .before_ms < 1300')" = true ]; }
wait_for 10 ago
ok $? "a while later it is known to within 1.25 s" || drop 203.0.113.9 udp .
like "$(tells 203.0.113.9 udp)" '^last dropped about [0-9]+s ago: over its budget 20/m$' "... as text"
begun=$(now_ms)
flood -s 203.0.113.9 -c 1
like "$(tells 203.0.113.9 udp)" '^last dropped (within the last|about) [0-9]+s( ago)?: over its budget 20/m$' "a drop just now"
is "$(recent 203.0.113.9 udp "$begun")" true "the next drop is the last one"

# Several budgets: which, and packets that are too large
flood -s 203.0.113.1 -c 4 -P tcp
is "$(drop 203.0.113.1 two)" '["budget",2,null,true]' "the second budget is exceeded"
flood -s 203.0.113.2 -c 1 -P tcp -l 1000
is "$(drop 203.0.113.2 two)" '["size",1,1040,true]' "a packet larger than the first one"

like "$(tells 203.0.113.1 two)" '^last dropped (within the last|about) [0-9]+s( ago)?: over its budget 3/h$' "the text names the budget"
like "$(tells 203.0.113.2 two)" '^last dropped (within the last|about) [0-9]+s( ago)?: its size of 1040 bytes is larger than the whole budget 1000/m bytes$' "... and the size"

# What was dropped is not measured by a budget that has been changed since.
quietly weir limit set two budget 300/1h
like "$(tells 203.0.113.1 two)" ': over its budget, which is 300/h now$' "a budget that was changed since"
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
weir block del 203.0.112.0/24 && weir block add 203.0.112.0/24
is "$(weir -j source get 203.0.112.6 limit udp | jq -c '.[0] | [.blocked, .blocked_ms]')" '[true,null]' "... for ever"
is "$(weir -j source get 203.0.112.6 limit watch | jq -c '.[0].blocked')" false "... but not where a limit observes"

# What is kept
weir limit set udp budget 30/1m >/dev/null
is "$(drop 203.0.113.6 udp)" '["block",null,null,true]' "a change of the limit keeps it"
weir limit del udp && weir limit add udp budget 20/1m proto udp dport 9
is "$(drop 203.0.113.6 udp .)" null "another limit of that name does not"
weir limit set two only budget 50/1h >/dev/null 2>&1
is "$(drop 203.0.113.1 two)" '["budget",null,null,true]' "a budget that there is no more is not named"

# No place, and newcomers
flood -s 10.0.0.1 -n 4000 -c 4000 -D 14
let_pass 300
flood -s 203.0.113.7 -c 1 -D 14
is "$(drop 203.0.113.7 full)" '["floor",null,null,true]' "a table that is full"
like "$(tells 203.0.113.7 full)" '^last dropped (within the last|about) [0-9]+s( ago)?: no place in the table, and no room under the floor$' "... as text"
learned() { [ "$(weir -j limit show new | jq '.[0].learning_ms')" = null ]; }
wait_for 60 learned || bail "it does not end to learn"
flood -s 203.0.113.60 -n 4 -c 4 -D 15
is "$(drop 203.0.113.63 new)" '["newcomers",null,null,true]' "a newcomers' budget that is used up"
like "$(tells 203.0.113.63 new)" '^last dropped (within the last|about) [0-9]+s( ago)?: not known yet, and the newcomers. budget was used up$' "... as text"
is "$(drop 203.0.113.1 two .own)" false "a flood takes the notes of others, of which the slot still tells"
finish
