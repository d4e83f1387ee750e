#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# amounts.t: sources with budgets of their own, by a list: strict in every window, the longest
# prefix wins, a change keeps what was sent; two thousand from a file at once; bad input
. "$(dirname "$0")/lib.sh"
need_cpus 2
begin_with <<-WORDS
	prefix-list add customers 198.18.0.0/24=40,198.18.0.64/26,198.18.0.128/25=90,198.18.0.200=7
	prefix-list add customers 2001:db8:5::/48=6,2001:db8:5:1::/64=9
	limit add each budget 20/400ms budget 300/4s budgets-by customers dport 53 udp
	limit add day budget 10/1d budgets-by customers dport 9 udp
	limit add log budget 5/1d exact budgets-by few dport 7 udp
	limit add bytes budget 1000/1d bytes fixed budgets-by few dport 8 udp penalty 1h
	limit add see budget 3/1d budgets-by few dport 6 udp action observe
	limit add new budget 4/1d budgets-by few newcomers 12/1d known none dport 5 udp
	prefix-list add few 198.19.0.0/24=12
WORDS
weir save >"$tmp/before"
quietly weir -file "$tmp/before"
is "$(weir save)" "$(<"$tmp/before")" "what is saved is read again"
is "$(weir -j prefix-list show customers | jq -r '[.[].prefixes[]] | join(" ")')" \
	"198.18.0.0/24=40 198.18.0.64/26 198.18.0.128/25=90 198.18.0.200=7 2001:db8:5::/48=6 2001:db8:5:1::/64=9" \
	"JSON has the budgets of prefixes"
like "$(weir limit set bytes budgets-by few 2>&1)" "reads the budgets of list 'few' as bytes, of which 1 prefix has less than a full packet: 198.19.0.0/24" "few bytes are told"
like "$(weir limit show each)" "20/400ms: .* at most 90" "limit show states the most of any source"

admits 40 "a source has the budget of its prefix" -s 198.18.0.1 -c 50 -D 9
admits 90 "... of the longest" -s 198.18.0.130 -c 100 -D 9
admits 7 "... which may be a host" -s 198.18.0.200 -c 100 -D 9
admits 10 "... or have none, and then it is the limit's" -s 198.18.0.65 -c 100 -D 9
admits 10 "... as in no prefix" -s 198.18.1.65 -c 100 -D 9
admits 6 "a source of IPv6" -s 2001:db8:5::1 -c 100 -D 9
admits 9 "... in a longer prefix" -s 2001:db8:5:1::1 -c 100 -D 9
admits 10 "... and in none" -s 2001:db8:6:1::1 -c 100 -D 9
like "$(weir source get 198.18.0.130 limit day)" "count 90 of 90 left 0 limited .* dropped 10" \
	"source get has the budget of the source"
is "$(weir -brief source show limit day | sed -E 's/ limit .* of ([0-9]+) left 0 .*/=\1/' | sort | xargs)" \
	"198.18.0.130=90 198.18.0.1=40 198.18.0.200=7 198.18.0.65=10 198.18.1.65=10 2001:db8:5:1::/64=9 2001:db8:5::/64=6 2001:db8:6:1::/64=10" \
	"... and source show"
like "$(weir source get 198.18.0.1 limit day)" "its budget is that of 198.18.0.0/24 in the list 'customers'" "... with its prefix"
is "$(weir -j source get 198.18.0.1 limit day | jq -r '.[].budget_by')" 198.18.0.0/24 "... in JSON, too"
is "$(weir -j source get 198.18.0.65 | jq -r '[.[].budget_by] | unique | join(" ")')" "" "... if it has its budget from one"

# An exact budget, one in bytes with a penalty, one that only observes, and newcomers
admits 12 "exact" -s 198.19.0.1 -c 20 -D 7
admits 5 "... and the limit's own" -s 198.19.1.1 -c 20 -D 7
admits 0 "a packet larger than the source's budget" -s 198.19.0.1 -c 2 -D 8
admits 21 "... and not than the limit's own" -s 198.19.1.1 -c 30 -D 8
like "$(weir source get 198.19.1.1 limit bytes)" "blocked for" "... which has a penalty"
like "$(weir source get 198.19.0.1 limit bytes len 46)" "never fits: it is larger than the whole budget 12/d bytes" "source get says so"
admits 20 "observe admits all" -s 198.19.0.1 -c 20 -D 6
is "$(stat_of see would_drop.packets)" 8 "... and counts what the source has no budget for"
admits 12 "newcomers" -s 198.19.0.1 -c 20 -D 5

# What a list has for nobody, or has no more
weir limit add some budget 5/1d budgets-by customers from-list few dport 3 udp 2>"$tmp/said" >/dev/null
like "$(<"$tmp/said")" "limit 'some' does not match packets from 5 prefixes of 'customers' with a budget: 198.18.0.0/24, 198.18.0.128/25, 198.18.0.200, ..." \
	"a note on budgets that are for nobody"
for how in -check "" -quiet; do
	# shellcheck disable=SC2086 # none or an option
	weir $how prefix-list set few 198.18.0.0/24=12 2>"$tmp/said"
	if [ "$how" = -quiet ]; then
		is "$(<"$tmp/said")" "" "... but not with -quiet"
	else
		like "$(<"$tmp/said")" "limit 'some' does not match packets from 1 prefix then, which the list has no more: 198.19.0.0/24" \
			"... and on prefixes that set leaves out: $how"
		like "$(<"$tmp/said")" "from 2 prefixes of 'customers' with a budget: 2001:db8:5::/48, 2001:db8:5:1::/64" "... after which fewer are"
	fi
	weir prefix-list set few 198.19.0.0/24=12 2>/dev/null
done
weir prefix-list set few 198.19.0.0/25,198.19.0.128/25,198.18.0.0/24=12 2>"$tmp/said"
is "$(grep -c 'has no more' "$tmp/said")" 0 "... and none if others hold them"
weir prefix-list del few 198.18.0.0/24,198.19.0.0/25 2>"$tmp/said"
like "$(<"$tmp/said")" "limit 'some' does not match packets from 2 prefixes then, which the list has no more: 198.18.0.0/24, 198.19.0.0/25" "... or del removes"
quietly weir prefix-list set few 198.19.0.0/24=12
quietly weir prefix-list add others 198.19.0.0/24,203.0.113.0/24
weir limit add rest budget 5/1d not from-list others dport 3 udp 2>"$tmp/said" >/dev/null
like "$(weir -check prefix-list set others 203.0.113.0/25,203.0.113.128/25 2>&1)" "limit 'rest' counts packets from 1 prefix then, which the list has no more: 198.19.0.0/24" "a note on those that a list does not leave out any more"
like "$(<"$tmp/said")" "warning: limit 'rest' leaves out list 'others', of which no other limit matches 1 prefix, so that nothing limits it: 203.0.113.0/24" "a warning of who has no limit"
weir limit add part budget 5/1d from 192.88.99.0/24 not from-list others before rest dport 3 udp >/dev/null 2>&1
weir source block 203.0.112.9 limit rest for 1h >/dev/null
weir block add 203.0.112.8/31 limit rest
is "$(weir -check prefix-list set others 203.0.112.8/31,203.0.113.0/24 2>&1 | grep rest)" "weir: note: limit 'rest' counts packets from 1 prefix then, which the list has no more: 198.19.0.0/24
weir: warning: limit 'rest' no longer drops all packets of blocked sources (1) and prefixes (1), such as 203.0.112.9" "... of the limit that matches them, and a blocked source that it does not match then"
quietly weir limit del part
weir -check prefix-list add others 203.0.113.9 2>"$tmp/said"
like "$(<"$tmp/said")" "no other limit matches 2 prefixes, so that nothing limits them: 203.0.113.0/24, 203.0.113.9" "... which -check gives before"
weir prefix-list add few 203.0.113.0/24 2>"$tmp/said"
is "$(grep -c warning "$tmp/said")" 0 "... and not if he gets one"
weir -check prefix-list del few 203.0.113.0/24 2>"$tmp/said"
like "$(<"$tmp/said")" "no other limit matches 1 prefix, so that nothing limits it: 203.0.113.0/24" "... or again if he loses it"
like "$(weir limit add ban blocks 1 from-list others 2>&1)" "note: limit 'ban' blocks no IPv4 source of its list by itself: 'block add 0.0.0.0/0 limit ban' blocks all" "a limit that only blocks, of a list"
quietly weir limit del rest
quietly weir limit del ban
quietly weir limit del some
quietly weir prefix-list del others
quietly weir prefix-list set few 198.19.0.0/24=12

# A change of a budget keeps what was sent; the rest follows the larger one.
change() {
	quietly weir prefix-list add customers "$1"
	admits "$2" "after a change: $1" -s "$3" -c 50 -D 9
}
change 198.18.0.0/24=60 20 198.18.0.1
change 198.18.0.0/24=50 0 198.18.0.1
change 198.18.0.0/24=70000 50 198.18.0.1
change 198.18.0.0/24=111 1 198.18.0.1
change 198.18.0.200=8 1 198.18.0.200
change 198.18.0.64/26=13 3 198.18.0.65
quietly weir prefix-list del customers 198.18.0.200
admits 50 "without a prefix the next longer one has it" -s 198.18.0.200 -c 50 -D 9
lose=" prefixes lose their budgets under limit 'day': 198.18.0.0/24, 198.18.0.64/26, "
like "$(weir -check limit set day budgets-by none 2>&1 >/dev/null)" "^weir: note: [0-9]+$lose" "a limit that gets no list for budgets: -check says which go"
weir save | sed '/^limit add day/s/budgets-by customers//' >"$tmp/file"
like "$(weir -check -file "$tmp/file" 2>&1 | grep "limit 'day'")" "^weir: note: $tmp/file:[0-9]*: [0-9]+$lose" "... and so does a file"
like "$(weir limit set day budgets-by none 2>&1 >/dev/null)" "^weir: note: [0-9]+$lose" "... and doing it"
is "$(weir source get 198.18.0.65 limit day | grep -o 'count .* left [0-9]*')" "count 13 of 10 left 0" "without the list the limit's own"
quietly weir limit set day budgets-by customers
quietly weir limit add two budget 50/1h budget 40/1d budgets-by few dport 4 udp
weir source charge 198.18.0.9 limit two packets 41 >/dev/null 2>"$tmp/said"
like "$(<"$tmp/said")" "41 exceeds the remaining 40;" "a charge by request names what is left of the tightest budget"
quietly weir limit del two
admits 30 "... and with it again" -s 198.18.0.200 -c 30 -D 9

# What is saved goes on, with the rest of each source.
quietly weir save -state "$tmp/state"
quietly weir -force restore "$tmp/state"
admits 2 "restored" -s 198.18.0.200 -c 50 -D 9
admits 0 "... also a source that has no rest" -s 198.18.0.65 -c 50 -D 9
is "$(weir prefix-list show customers)" \
	"customers 198.18.0.0/24=111,198.18.0.64/26=13,198.18.0.128/25=90,2001:db8:5::/48=6,2001:db8:5:1::/64=9" "... and the list"

# diff: the commands that change only what differs
weir save >"$tmp/now"
sed 's/=111/=112/; s/198.18.0.64.26=13,//' "$tmp/now" >"$tmp/wanted"
budgets() { tr ' ' ',' <"$1" | tr ',' '\n' | grep '=' | sort; }
diff <(budgets "$tmp/now") <(budgets "$tmp/wanted") | sed -n 's/^[<] /-/p; s/^[>] /+/p' | sort >"$tmp/lines"
is "$(weir diff "$tmp/wanted" 2>"$tmp/said" | sed -n 's/^\([-+]\)prefix-list add [^ ]* /\1/p' | sort)" "$(<"$tmp/lines")" "diff shows the prefixes with another budget"

# Strict in every window, on two CPUs, also while the budget changes
trace_start weir_charge weir_uncharge weir_drop
flooding -s 198.18.0.65 -D 53 -r 800 -t 6000
flooding -s 198.18.0.130 -D 53 -r 800 -t 6000
flooding -s 198.18.0.130 -D 53 -r 800 -t 6000
flooding -s 198.18.1.1 -D 53 -r 400 -t 6000
for n in 60 25 111 30 111,198.18.7.0/24=70000 25; do
	quietly weir prefix-list add customers "198.18.0.128/25=$n"
	let_pass 300
done
flooded
trace_stop
# kept SOURCE LEAST MOST: the most of a source in any window
kept() {
	local line
	line=$(traced -l each -S "$1" -T "$(ms_ticks 400)")
	within "$(value max "$line")" "$2" "$3" "no window of $1 has more than $3" || diag "$line"
	within "$(value drops "$line")" 1 10000 "... of which packets were dropped" || diag "$line"
}
kept 198.18.0.65 13 13
kept 198.18.0.130 25 111
kept 198.18.1.1 20 20

# Two thousand customers from a file: atomic, and soon
for ((i = 0; i < 2000; i++)); do echo "10.$((i / 250)).$((i % 250)).0/24=$((20 + i % 17))k # customer $i"; done >"$tmp/list"
quietly weir prefix-list set customers file "$tmp/list"
like "$(weir source get 10.3.7.9 limit day)" "of 29000 left 29000" "one of them"
is "$(weir -j prefix-list show customers | jq '[.[].prefixes[]] | length')" 2000 "all of them"
weir save >"$tmp/now"
quietly weir -file "$tmp/now"
is "$(weir save | md5sum)" "$(md5sum <"$tmp/now")" "... saved and loaded"
quietly weir diff "$tmp/now"

code=2
quietly weir prefix-list add hosts 10.0.0.1=5,2001:db8:9::1=7
quietly weir prefix-list add large 10.0.0.0/8=57,10.1.0.0/16=5G
refuses "2001:db8:9::1 is a part of a source of limit 'day', a /64: put it into" weir limit set day budgets-by hosts
refuses "2001:db8:9::1 is a part of a source of limit 'log', a /64: put it into the list of another limit" weir prefix-list add few 10.0.0.2,2001:db8:9::1=7,10.0.0.1
refuses "10.1.0.0/16=5G, by limit 'day': a budget of packets is at most 4294967295 a window" weir limit set day budgets-by large
refuses "10.1.0.0/16=5G, by limit 'each': a budget of packets is at most" weir prefix-list add customers 10.0.0.0/8=6,10.1.0.0/16=5G
refuses "198.19.0.0/16=57, by limit 'log': exact counts at most 56 packets" weir prefix-list add few 198.19.0.0/16=57
refuses "10.0.0.0/24=20000, by limit 'bad': exact counts at most 56 packets" weir limit add bad budget 5/1s exact budgets-by customers
unit="with budgets-by, another unit of the first budget ends all counts"
like "$(weir -check limit set day budget 1000/1d bytes 2>&1)" "warning: limit 'day': $unit \([1-9][0-9]* of them\)" "another unit with a list ends all counts, which a warning says"
like "$(weir -check limit set bytes budget 9/1d packets budgets-by none 2>&1)" "warning: limit 'bytes': $unit" "... also if the list goes"
quietly weir exempt add 198.19.0.77 limit bytes
weir save | sed 's/add bytes budget 1000B/add bytes budget 1000/; s/\(add bytes .*\) bytes/\1/' >"$tmp/unit"
like "$(weir -file "$tmp/unit" 2>&1)" "warning: $tmp/unit:[0-9]+: limit 'bytes': $unit" "... and of a file"
is "$(stat_of bytes blocked_now):$(stat_of bytes sources_now):$(weir exempt show | grep -c 'limit bytes')" 1:0:1 "... and blocks and exemptions stay"
like "$(weir -check limit set day budget 1000/1h 2>&1)" "note: limit 'day': the budgets of list 'customers' \(2000\) are then packets per 1h instead of packets per 1d" "another window is that of the list's budgets, too"
weir save | sed -E 's,^(limit add day budget [0-9a-zA-Z]+)/1?d,\1/2h,' >"$tmp/unit"
like "$(weir -check -file "$tmp/unit" 2>&1)" "limit 'day': the budgets of list 'customers' \(2000\) are then packets per 2h" "... in a file, too"
is "$(weir -check limit set day budget 999/1d 2>&1 | grep -c "budgets of list")" 0 "... but not said if it stays"
refuses "203.0.113.1=5: the prefix is given twice, with two budgets; give it one" weir prefix-list add few 203.0.113.1=5,203.0.113.1
refuses "a bucket drains alike for all sources" weir limit set day budget 10/1d bucket
refuses "no list 'nobody' in force" weir limit set day budgets-by nobody
refuses "uses the list; change or delete the limit first" weir prefix-list del customers
refuses "'none' means no list" weir prefix-list add none 10.0.0.0/8
code=1
refuses "a prefix length of 0 makes one source of all" weir limit add bad budget 5/1s per 0 budgets-by few
refuses "a bucket drains alike for all sources" weir limit add bad budget 5/1s bucket budgets-by few
refuses "out of range" weir prefix-list add few 10.0.0.0/8=0
refuses "'x': a budget in a list is a number" weir prefix-list add few 10.0.0.0/8=x
refuses "prefix" weir prefix-list add few =5
# One bad line among two thousand changes nothing.
sed '1000s/=/=9000000/' "$tmp/list" >"$tmp/bad"
code=2 refuses "line 1000: 10.3.249.0/24=900.000033G, by limit 'each': a budget of packets" weir prefix-list set customers file "$tmp/bad"
sed '1000s/=.*/=5y/' "$tmp/list" >"$tmp/bad"
code=1 refuses "$tmp/bad:1000:" weir prefix-list set customers file "$tmp/bad"
weir save >"$tmp/now"
sed 's,10.0.0.0/24=[^ ,]*,10.0.0.0/24=5G,' "$tmp/now" >"$tmp/bad"
code=1 refuses "10.0.0.0/24=5G, by limit 'day': a budget of packets is at most" weir -file "$tmp/bad"
is "$(weir save | md5sum)" "$(md5sum <"$tmp/now")" "what is refused changes nothing"
finish
