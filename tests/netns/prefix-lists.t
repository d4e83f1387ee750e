#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# prefix-lists.t: named lists of prefixes, of both families, overlapping and 10,000 long, from
# a file; inverted, as destinations, changed under load, saved and loaded
. "$(dirname "$0")/lib.sh"
begin

quietly weir prefix-list add customers 203.0.113.0/25,203.0.113.0/26,203.0.113.200,2001:db8:5::/48
quietly weir prefix-list add hosts 192.0.2.1,2001:db8::/64
weir -file - <<-WORDS
	prefix-list add customers 203.0.113.0/25,203.0.113.0/26,203.0.113.200
	prefix-list add hosts 192.0.2.1,2001:db8::/64
	prefix-list add customers 2001:db8:5::/48
	limit add listed budget 5/1h from-list customers per 24,48
	limit add others budget 100k/1h not from-list customers action observe
	limit add tos budget 100k/1h to-list hosts not from-list customers sport 7 udp action observe
WORDS
ok $? "a file with lists, parts of one apart, replaces those of the same name"
passes 5 -s 203.0.113.1 -c 50 -D 9
passes 0 -s 203.0.113.127 -c 5 -D 9
passes 0 -s 203.0.113.200 -c 5 -D 9
passes 5 -s 203.0.113.128 -c 5 -D 9
passes 5 -s 203.0.113.201 -c 5 -D 9
passes 5 -s 2001:db8:5::1 -c 10 -D 9
passes 10 -s 2001:db8:6::1 -c 10 -S 7 -D 9
is "$(met listed)" 70 "from-list, with both families and prefixes in one another"
is "$(met others)" 20 "not from-list"
is "$(met tos)" 10 "to-list"
is "$(weir -j source get 203.0.113.200 | jq -r '[.[].limit] | join(" ")')" "listed" \
	"source get shows limits whose lists contain a source"
is "$(weir -j source get 203.0.113.201 to 192.0.2.1 sport 7 udp | jq -r '[.[].limit] | join(" ")')" "others tos" \
	"... and those with its destination"
is "$(weir -j source get 203.0.113.201 to 192.0.2.2 sport 7 udp | jq -r '[.[].limit] | join(" ")')" "others" \
	"... but not with another"
is "$(weir -j limit show listed | jq -r '.[0].match.from_list')" customers "JSON names the list"
is "$(weir -j prefix-list show customers | jq -r '[.[].prefixes[]] | join(" ")')" \
	"203.0.113.0/25 203.0.113.0/26 203.0.113.200 2001:db8:5::/48" "... and has its prefixes"

# Saved and loaded: nothing changes, and no count is lost.
weir save >"$tmp/before"
quietly weir -file "$tmp/before"
is "$(weir save)" "$(<"$tmp/before")" "save and -file"
passes 0 -s 203.0.113.2 -c 5 -D 9

quietly weir prefix-list add customers 203.0.113.201
passes 0 -s 203.0.113.201 -c 5 -D 9
quietly weir prefix-list del customers 203.0.113.201,203.0.113.0/25
passes 5 -s 203.0.113.201 -c 5 -D 9
passes 5 -s 203.0.113.127 -c 5 -D 9
passes 0 -s 203.0.113.63 -c 5 -D 9
quietly weir prefix-list set customers 203.0.113.64/26
passes 5 -s 203.0.113.63 -c 5 -D 9
passes 0 -s 203.0.113.127 -c 5 -D 9
is "$(weir prefix-list show customers)" "customers 203.0.113.64/26" "prefix-list set"

code=2
refuses "limit 'listed' uses the list" weir prefix-list del customers
refuses "limit 'listed' uses the list" weir prefix-list del customers 203.0.113.64/26
refuses "10.0.0.0/8: " weir prefix-list del customers 203.0.113.64/26,10.0.0.0/8
refuses "no list of that name" weir prefix-list del nobody
refuses "no list of that name" weir prefix-list show nobody
refuses "limit add: from-list: no list 'costumers' in force; did you mean 'customers'" weir limit add bad budget 1/1s from-list costumers
refuses "limit add: to-list: no list 'x1' in force; there are: customers" weir limit add bad budget 1/1s to-list x1
refuses "limit set: budgets-by: no list 'x1' in force; there are: customers" weir limit set listed budgets-by x1
refuses "limit add: from-list: no list 'customer' in force; did you mean 'customers'" weir -check limit add bad budget 1/1s from-list customer
is "$(weir prefix-list show customers)" "customers 203.0.113.64/26" "... and changes nothing"
quietly weir -check prefix-list set customers 10.0.0.0/8
is "$(weir prefix-list show customers)" "customers 203.0.113.64/26" "... neither does -check"

# From a file: 10,000 prefixes, and bad lines of it.
code=1
printf '# customers\n10.0.0.0/8 # all\n  10.0.0.300\n' >"$tmp/bad"
refuses "$tmp/bad:3:3:" weir prefix-list add customers file "$tmp/bad"
printf '10.0.0.1/8\n' >"$tmp/bad"
refuses "$tmp/bad:1:1:" weir prefix-list add customers file "$tmp/bad"
refuses "no prefixes" weir prefix-list add customers file /dev/null
refuses "not both" weir prefix-list add customers 10.0.0.0/8 file "$tmp/bad"
printf 'prefix-list add a 10.0.0.0/8\nlimit add x budget 1/1s from-list b\n' >"$tmp/bad"
code=1 refuses "$tmp/bad:2:" weir -file "$tmp/bad"
is "$(weir prefix-list show customers)" "customers 203.0.113.64/26" "bad files change nothing"

# Files of others: comments behind ';', and commas
printf '; DROP 2026\n10.1.16.0/20 ; SBL1\n10.2.0.0/16;SBL2, x\n10.3.0.1, 10.3.0.2,10.3.0.3\n' >"$tmp/drop"
quietly weir prefix-list add drop file "$tmp/drop"
is "$(weir -brief prefix-list show)" "customers prefixes 1
hosts prefixes 2
drop prefixes 5" "a file with other comments, and commas; show counts the prefixes"
is "$(weir -brief prefix-list show drop)" "drop prefixes 5" "... of one list, too"
code=2 refuses "no list of that name" weir -brief prefix-list show nobody
# What is told of a file or a list is a line that works.
eval "$(weir block add "$tmp/drop" 2>&1 | sed -n 's/.* for those of a file: //p')"
is "$(weir -brief block show | cut -d' ' -f1 | xargs)" "10.1.16.0/20 10.2.0.0/16 10.3.0.1 10.3.0.2 10.3.0.3" "block add says how to block a file's prefixes"
said=$(printf 'prefix-list add drop file %s\n' "$tmp/drop" | weir -check -file - 2>&1 | sed -n 's/.* of one to include: //p')
is "${said##*>} $(eval "${said%>*}" | xargs -n 4)" "/etc/weir.d/drop.conf $(printf 'prefix-list add drop %s\n' 10.1.16.0/20 10.2.0.0/16 10.3.0.{1,2,3})" "... and a file how to include those of another"
quietly weir prefix-list add drop 10.4.0.0/16=7
eval "$(weir exempt add from-list drop 2>&1 | sed -n 's/.* for those of a list: //p' | sed 's/NAME/drop/')"
is "$(weir -brief exempt show | cut -d' ' -f1 | xargs)" "10.1.16.0/20 10.2.0.0/16 10.3.0.1 10.3.0.2 10.3.0.3 10.4.0.0/16" "... and exempt add those of a list"
quietly weir block flush
quietly weir exempt flush
quietly weir prefix-list del drop
{
	echo "# many"
	for i in {0..38}; do printf "198.18.$i.%d/32\n" {0..255}; done
	printf '198.18.39.%d/32\n' {0..15}
	echo "198.51.100.0/24"
} >"$tmp/many"
quietly weir prefix-list set customers file "$tmp/many"
is "$(weir -j prefix-list show customers | jq '[.[].prefixes[]] | length')" 10001 "10,001 prefixes of a file"
passes 5 -s 198.51.100.77 -c 20 -D 9
passes 5 -s 198.51.101.77 -c 5 -D 9
weir save >"$tmp/before"
quietly weir -file "$tmp/before"
is "$(weir save)" "$(<"$tmp/before")" "... saved and loaded"
passes 0 -s 198.51.100.78 -c 5 -D 9
quietly weir prefix-list del hosts 2001:db8::/64
quietly weir limit del tos
quietly weir prefix-list del hosts

# Replaced under load: the source is in both lists, and never gets more.
echo 198.51.100.0/24 >"$tmp/few"
quietly weir limit add one budget 100/1h from-list customers dport 53 udp
recount
flooding -s 198.51.100.9 -c 20000 -D 53
for ((i = 0; i < 10; i++)); do
	quietly weir prefix-list set customers file "$tmp/few"
	quietly weir prefix-list set customers file "$tmp/many"
done
flooded
(($(passed) <= 5))
ok $? "lists replaced under load admit no more"

# The smallest and the largest: everything, one prefix many times, 64 lists.
quietly weir prefix-list add world 0.0.0.0/0,10.0.0.0/8
quietly weir limit add every budget 3/1h from-list world dport 99 udp
passes 3 -s 198.51.101.1 -c 5 -D 99
passes 5 -s 2001:db8:7::1 -c 5 -D 99
quietly weir prefix-list add world ::/0
passes 3 -s 2001:db8:7::1 -c 5 -D 99
memory() { weir -j stats show | jq '.[0].memory'; }
quietly weir prefix-list add many file "$tmp/many"
before=$(memory)
quietly weir prefix-list set many 10.0.0.0/8,10.0.0.0/8,10.0.0.0/8
is "$(weir prefix-list show many)" "many 10.0.0.0/8" "a prefix three times is one"
is "$((before - $(memory)))" $((10000 * 32 + (65536 - 256) * 8 + 48)) "a list that becomes shorter frees memory"
quietly weir prefix-list del many
for ((i = 0; i < 62; i++)); do echo "prefix-list add list$i 10.0.0.0/8"; done >"$tmp/lists"
weir save | cat - "$tmp/lists" | quietly weir -file -
code=2 refuses "at most 64 lists" weir prefix-list add another 10.0.0.0/8
is "$(weir -j prefix-list show | jq 'map(.list) | unique | length')" 64 "64 lists"
quietly weir limit del every
quietly weir prefix-list del world
for ((i = 0; i < 62; i++)); do quietly weir prefix-list del "list$i"; done

# At most 65,536 prefixes.
for i in {0..255}; do printf "100.64.$i.%d\n" {0..255}; done >"$tmp/most"
code=2 refuses "65536 prefixes" weir prefix-list add customers file "$tmp/most"
quietly weir prefix-list set customers file "$tmp/most"
is "$(weir -j prefix-list show | jq '[.[].prefixes[]] | length')" 65536 "65,536 prefixes"
begun=$EPOCHREALTIME
quietly weir prefix-list add customers file "$tmp/most"
spent=$((${EPOCHREALTIME/./} - ${begun/./}))
echo "# 65,536 prefixes added again in $((spent / 1000)) ms"
weir save >"$tmp/before"
quietly weir -file "$tmp/before"
is "$(weir save | md5sum)" "$(md5sum <"$tmp/before")" "... saved and loaded"
# The owner of another namespace has no more room in a message than the host gives.
allow_users
cat >"$tmp/owner" <<-'DONE'
	"$1" prefix-list add l file "$3" && echo "allowed"
	"$1" prefix-list add m file "$2"
	"$1" -j prefix-list show | jq 'map(.list) | unique | join(" ")'
DONE
head -n 10000 "$tmp/most" >"$tmp/half"
is "$(unshare --user --map-root-user --net bash "$tmp/owner" "$top/userspace/weir" "$tmp/most" "$tmp/half" 2>&1 |
	sed 's/.*exceeds the send buffer; //')" $'allowed\nraise net.core.wmem_max\n"l"' "the owner of a namespace"
echo "# empty" | weir -file - 2>"$tmp/said"
is "$(weir prefix-list show)" "" "a file without lists removes them"
like "$(<"$tmp/said")" "note: -: the list 'customers' goes, as the file does not have it" "... and says so"

# What customers lose, which the commands themselves do not say: with -check before
# said WORDS...: notes and warnings of weir WORDS
said() { weir "$@" 2>&1 >"$tmp/out" | sed -n 's/^weir: \(note\|warning\): //p'; }
{
	printf '10.0.%d.0/24=50\n' {0..199}
	echo 10.0.0.128/25 10.2.0.0/16=7
} >"$tmp/budgets"
quietly weir prefix-list add customers file "$tmp/budgets"
shared="limit 'cust': 201 prefixes of 'customers' hold several of its sources, of which each has the whole budget: 10.0.0.0/24, 10.0.1.0/24, 10.0.2.0/24, ..."
# several WORDS...: what they are told of sources of which each has the whole budget
several() { said "$@" | grep 'of its sources'; }
is "$(several limit add cust budget 10/1m budgets-by customers)" "$shared" "without per, a prefix holds several sources"
is "$(several limit set cust budgets-by customers)" "$shared" "... also of a limit that there is"
is "$(several limit set cust budgets-by customers per 32)" "" "... but not if that is asked for"
would() { is "$(said -check prefix-list "${@:3}" | grep -v "of its sources\|no prefix of its list")" "list 'customers' would have $1${2:+$'\n'$2}" "-check prefix-list ${*:3}"; }
would "1 prefix: 0 added, 201 removed, 1 with another budget" "200 prefixes lose their budgets under limit 'cust': 10.0.0.0/24, 10.0.1.0/24, 10.0.2.0/24, ..." \
	set customers 10.0.7.0/24=5
would "202 prefixes: 0 added, 0 removed, 1 with another budget" "1 prefix loses its budget under limit 'cust': 10.0.7.0/24" add customers 10.0.7.0/24
would "203 prefixes: 1 added, 0 removed, 1 with another budget" "" add customers 10.0.7.0/24=6,10.1.0.0/24
would "200 prefixes: 0 added, 2 removed, 0 with another budget" "2 prefixes lose their budgets under limit 'cust': 10.0.7.0/24, 10.0.9.0/24" \
	del customers 10.0.7.0/24,10.0.9.0/24
would "3 prefixes: 2 added, 201 removed, 0 with another budget" "1 prefix loses its budget under limit 'cust': 10.2.0.0/16" \
	set customers 10.0.0.0/16=50,10.2.0.0/15,10.0.9.0/24=50
is "$(weir -j prefix-list show customers | jq '[.[].prefixes[]] | length')" 202 "... changes nothing"
is "$(said prefix-list add customers 10.0.7.0/24 | grep -c "1 prefix loses its budget under limit 'cust': 10.0.7.0/24\$")" 1 "without -check the loss is told, too"
is "$(said -quiet prefix-list add customers 10.0.9.0/24)" "" "... but not with -quiet"
weir save | sed '/10.0.1[0-9].0/d' >"$tmp/file"
is "$(said -file "$tmp/file" | grep -v "of its sources\|it also counts" | sed 's/[0-9]* prefixes lose/N prefixes lose/')" \
	"$tmp/file:$(grep -n '^limit add cust' "$tmp/file" | cut -d: -f1): N prefixes lose their budgets under limit 'cust': 10.0.0.0/24, 10.0.1.0/24, 10.0.2.0/24, ..." "a file that takes them away says so"

# A customer's limit, but not out of those for others
weir -file - <<-'CONF' 2>"$tmp/said"
	prefix-list add c29 198.51.100.8/29=500
	prefix-list add customers 203.0.113.0/24,198.51.100.8/29
	limit add c29 budget 100/s budgets-by c29 from-list c29 per 29
	limit add c24 budget 100/s from 203.0.113.0/24 per 24
	limit add others budget 100/s not from-list customers
CONF
both="limit 'others' is for all but list 'customers', which lacks 1 prefix of list 'c2[89]', so it applies to them beside limit 'c2[89]': 198.51.100"
like "$(said -check prefix-list del customers 198.51.100.8/29)" "$both.8/29" "-check says who is met by the limit for others, too"
quietly weir prefix-list add c28 198.51.100.32/28=600
like "$(said limit add c28 budget 100/s budgets-by c28 from-list c28 per 28)" "$both.32/28" "... and so does a limit that is added"
is "$(several limit set c28 budgets-by c28)" "" "a prefix that is a source does not hold several"
weir save | sed '/customers/s/198.51.100.8.29,//' >"$tmp/file"
like "$(weir diff "$tmp/file" 2>&1)" "$both.8/29" "... and diff"
finish
