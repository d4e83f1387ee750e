#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tool-events.t: monitor's events for each change, none without a change or of another namespace,
# filters by kind and limit, floods of events
. "$(dirname "$0")/lib.sh"
begin

# watch NAME WORD...: run weir WORDs into $tmp/NAME, in the background
watch() {
	local file=$tmp/$1
	shift
	"$top/userspace/weir" "$@" >"$file" 2>"$file.err" &
	pids+=($!)
}
# saw PATTERN NAME: wait until $tmp/NAME matches
saw() { wait_for 60 grep -Eq -- "$1" "$tmp/$2"; }
# tells NAME LINE...: check the next lines of $tmp/all
told=0
tells() {
	local name=$1 line
	shift
	for line; do
		told=$((told + 1))
		has() { [ "$(wc -l <"$tmp/all")" -ge "$told" ]; }
		wait_for 60 has
		is "$(sed -n "${told}p" "$tmp/all")" "$line" "$name"
	done
}
# listeners [COMMAND]: of generic netlink; COMMAND enters another namespace
listeners() { "$@" cat /proc/net/netlink | awk '$2 == 16 && $4 != "00000000"' | wc -l; }

weir limit add web budget 100/100s to 192.0.2.0/24 sources 64 >"$tmp/out"
weir limit add net budget 50/100s per 24,48 proto udp sources 64 >"$tmp/out" 2>&1
watch all monitor
watch json -j monitor
watch web monitor limit web
watch limits monitor limits
watch exempts monitor exempts
watch sources monitor sources limit net
watch pressure monitor pressure
watch elsewhere -netns "$tx" monitor
all_listen() { [ "$(listeners)" -ge 7 ] && [ "$(listeners tx)" -ge 1 ]; }
wait_for 60 all_listen || bail "monitor does not listen"
tells "the existing limits, with their conditions" "limit present web budget 100/100s slots 15 to 192.0.2.0/24 sources 64" \
	"limit present net budget 50/100s slots 15 proto udp per 24,48 sources 64"

weir exempt add 10.0.0.0/8 limit web
weir exempt add 2001:db8::/32 dev rx0
weir exempt del 10.0.0.0/8 limit web
weir exempt flush
tells "exemptions" "exempt added 10.0.0.0/8 limit web" "exempt added 2001:db8::/32 dev rx0" \
	"exempt removed 10.0.0.0/8 limit web" "exempt removed 2001:db8::/32 dev rx0"
weir source charge 198.51.100.1 limit net packets 5 >"$tmp/out"
weir source charge 198.51.100.1 limit web >"$tmp/out"
weir source charge 198.51.100.1 limit net packets 46 >"$tmp/out" 2>&1
weir source forget 198.51.100.1 >"$tmp/out"
is "$(<"$tmp/out")" $'198.51.100.1 limit web forgotten 1\n198.51.100.0/24 limit net forgotten 1' "forget says which prefix it forgot"
is "$(weir source forget 198.51.100.1)" "198.51.100.1 forgotten 0 (nothing to forget)" "... and nothing the second time"
tells "charges and forgotten sources" "charge 198.51.100.0/24 limit net taken 5 count 5 of 50 left 45" \
	"charge 198.51.100.1 limit web taken 1 count 1 of 100 left 99"
tells "... one source under two limits" "forget 198.51.100.1 limit web forgotten 1" "forget 198.51.100.0/24 limit net forgotten 1"
for i in 1 2 3; do weir source charge "198.51.100.$i" limit web >"$tmp/out"; done
weir source forget 198.51.100.0/24 limit web >"$tmp/out"
is "$(<"$tmp/out")" "198.51.100.0/24 limit web forgotten 3" "the sources of a prefix"
told=$((told + 3))
tells "... a prefix" "forget 198.51.100.0/24 limit web forgotten 3"
weir source charge 198.51.100.1 limit web >"$tmp/out"
weir source forget all >"$tmp/out"
is "$(<"$tmp/out")" "all limit web forgotten 1" "all sources"
told=$((told + 1))
tells "... all" "forget all limit web forgotten 1"
is "$(weir -j source forget all | jq -c .)" '[{"source":"all","forgotten":0}]' "... none, in JSON"

weir limit add first budget 1/100s bytes not from 10.0.0.0/8 lenient action observe before web sources 64 >"$tmp/out" 2>&1
weir limit set net before web >"$tmp/out"
weir limit set net sources 128 >"$tmp/out"
tells "match and place of a limit" \
	"limit added first budget 1/100s bytes slots 15 lenient not from 10.0.0.0/8 sources 64 action observe before web" \
	"limit changed web budget 100/100s slots 15 to 192.0.2.0/24 sources 64" \
	"limit changed net budget 50/100s slots 15 proto udp per 24,48 sources 64 before web" \
	"limit changed first budget 1/100s bytes slots 15 lenient not from 10.0.0.0/8 sources 64 action observe before net" \
	"limit changed net budget 50/100s slots 15 proto udp per 24,48 sources 128 before web"
weir limit set net sources 128 >"$tmp/out"
weir limit set first comment 'a "b" # c' >"$tmp/out"
weir limit set first comment 'a "b" # c' >"$tmp/out"
weir limit set first comment '' >"$tmp/out"
tells "the comment of a limit" \
	"limit changed first budget 1/100s bytes slots 15 lenient not from 10.0.0.0/8 sources 64 action observe before net comment \"a \\\"b\\\" # c\"" \
	"limit changed first budget 1/100s bytes slots 15 lenient not from 10.0.0.0/8 sources 64 action observe before net"
weir exempt add 11.0.0.0/8 comment one
weir exempt add 12.0.0.0/8 comment two
weir save >"$tmp/saved"
sed -i 's/"one"/"three"/' "$tmp/saved"
weir -file "$tmp/saved" 2>"$tmp/out"
weir exempt flush
tells "... and of exemptions" 'exempt added 11.0.0.0/8 comment "one"' 'exempt added 12.0.0.0/8 comment "two"' \
	'exempt changed 11.0.0.0/8 comment "three"' 'exempt removed 11.0.0.0/8 comment "three"' 'exempt removed 12.0.0.0/8 comment "two"'
weir exempt add 10.0.0.0/8
weir save >"$tmp/saved"
holds "the same configuration again" quietly weir -file "$tmp/saved"
sed -i '/limit add first/d; s/budget 50/budget 51/' "$tmp/saved"
weir -file "$tmp/saved" 2>"$tmp/out"
tells "is no change; another is" "exempt added 10.0.0.0/8" "limit removed first budget 1/100s bytes slots 15 lenient not from 10.0.0.0/8 sources 64 action observe" \
	"limit changed net budget 51/100s slots 15 proto udp per 24,48 sources 128 before web"
weir limit flush
tells "flush" "limit removed net budget 51/100s slots 15 proto udp per 24,48 sources 128" \
	"limit removed web budget 100/100s slots 15 to 192.0.2.0/24 sources 64"

# wait for the last event of each kind
weir limit add web budget 100/100s to 192.0.2.0/24 sources 64 >"$tmp/out"
weir limit add net budget 50/100s per 24,48 proto udp sources 64 >"$tmp/out" 2>&1
weir exempt add 203.0.113.0/24 limit net
weir source charge 203.0.113.1 limit net >"$tmp/out"
weir source charge 203.0.113.1 limit web >"$tmp/out"
saw 'added net' limits && saw 203.0.113.0/24 exempts && saw '^charge 203' sources && saw '^charge 203' web
ok $? "monitor shows the selected kinds of events"
kinds() { awk '{ print $1 }' "$tmp/$1" | sort -u | xargs; }
is "$(kinds limits),$(kinds exempts),$(kinds sources),$(kinds pressure)" "limit,exempt,charge forget," "... and no others"
is "$(grep -vc ' web\b' "$tmp/web"):$(grep -c ' web\b' "$tmp/sources")" "8:0" "... and with a limit its events and those of all limits" ||
	diag "$(grep -v ' web\b' "$tmp/web")"
command weir -n "$tx" limit add there budget 1/s to ::/0 sources 64 >"$tmp/out"
saw there elsewhere
is "$(<"$tmp/elsewhere")" "limit added there budget 1/s slots 15 to ::/0 sources 64" "a namespace has only its own events"
quiet
cat "$tmp/json" >>"$judged.events"
is "$(sort -u "$tmp"/*.err)" "" "no errors"

# A flood: in text a few lines per second and the number of others, in JSON all.
weir limit flush
weir exempt flush
weir limit add flood budget 1/1h to 192.0.2.0/24 sources 16384 >"$tmp/out" 2>&1
watch all monitor sources
watch json -j monitor sources
both_listen() { [ "$(listeners)" -ge 2 ]; }
wait_for 60 both_listen || bail "monitor does not listen"
SECONDS=0
flood -s 10.0.0.1 -n 3000 -c 6000
count_all() { awk '/^limited or blocked [0-9]+ more/ { n += $4 - 1 } /^limited/ { n++ } END { print n + 0 }' "$tmp/all"; }
lost=$(stats events_lost)
whole() { [ "$(count_all)" -ge $((3000 - $(stats events_lost))) ]; }
wait_for 60 whole
is "$(count_all)" $((3000 - lost)) "all newly limited sources are counted"
told_lost() { [ "$(awk '/^[0-9]+ events lost$/ { n += $1 } END { print n + 0 }' "$tmp/all")" = "$lost" ]; }
holds "... $lost events are lost" wait_for 60 told_lost || diag "$(grep -v ^limited "$tmp/all")"
whole_json() { [ "$(grep -c '"event":"source"' "$tmp/json")" -ge $((3000 - lost)) ]; }
holds "... and JSON has all others" wait_for 60 whole_json
within "$(grep -vcE "more|lost" "$tmp/all")" 10 $((10 * SECONDS + 10)) "text shows a few" || diag "$(head -n 30 "$tmp/all")"
like "$(<"$tmp/all")" $'\n''limited or blocked [0-9]+ more sources' "... and the number of others"
like "$(<"$tmp/all")" '^limited 10[0-9.]+ limit flood budget 1/h rate 1/h count 1 until ' "a rate below one per second is shown"
quiet
cat "$tmp/json" >>"$judged.events"
lost=$(stats events_lost)
flood -s 10.2.0.1 -n 5000 -c 10000
is "$(stats events_lost)" "$lost" "without listeners no event is lost"
finish
