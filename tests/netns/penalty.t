#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# penalty.t: who exceeds a limit with a penalty is refused for that long, refusals prolong it
# only with renew, and half of the entries stay for others
. "$(dirname "$0")/lib.sh"
need_cpus 2
begin
link tx1 rx1 02:00:00:00:00:01
ack() { flood -P tcp -f A -D 22 "$@"; }
# through SOURCE: how many of 10 segments pass
through() {
	local was
	was=$(passed)
	ack -s "$1" -c 10
	echo $(($(passed) - was))
}
# left SOURCE: for how many ms it is blocked, or 0
left() { weir -json source get "$1" limit p | jq '.[0].blocked_ms // 0 | floor'; }
free() { [ "$(left "$1")" = 0 ]; }
spoofed="weir: warning: limit 'p': spoofed packets get others blocked: exempt who must not be blocked"
warned() { weir limit add p budget 3/1h penalty 1m "$@" 2>&1 >/dev/null | grep warning; weir limit del p; }

is "$(warned)" "$spoofed" "a penalty for any packets is made with a warning"
is "$(warned proto udp dport 53)" "$spoofed" "... and for datagrams"
is "$(warned tcp dport 22 syn)" "$spoofed" "... and for the SYN"
is "$(warned not proto tcp)" "$spoofed" "... and for all but TCP"
is "$(warned tcp dport 22)" "weir: warning: limit 'p': open connections and spoofed packets count, too: syn counts attempts alone; exempt who must not be blocked" \
	"... and for TCP with it, also of who is logged in"
is "$(warned tcp dport 22 not syn)$(warned action observe)" "" "... but not for TCP beyond it, or if nobody is blocked"

weir limit add p budget 3/1s penalty 1h tcp dport 22 from 198.51.100.0/24 >/dev/null
trace_start weir_limited weir_blocked
is "$(through 198.51.100.1)" 3 "the first packets pass"
within "$(left 198.51.100.1)" 3500000 3600300 "... and the source is blocked"
let_pass 1500
was=$(left 198.51.100.1)
is "$(through 198.51.100.1):$(through 198.51.100.2)" 0:3 "the window has passed, and it is still refused, but not another"
let_pass 1500
ack -s 198.51.100.1 -c 10
within "$(left 198.51.100.1)" 3000000 $((was - 1500)) "refusals do not prolong it"
weir -exist -force source block 198.51.100.1 limit p for 1s >/dev/null
wait_for 60 free 198.51.100.1
is "$(through 198.51.100.1)" 3 "when it has ended, the source has its budget again"
trace_stop
is "$(grep -c 'weir_blocked: limit=p saddr=::ffff:198.51.100.1 ' "$tmp/trace")" 2 "... and exceeds and is blocked again"
is "$(stat_of p penalties):$(stat_of p blocks_lost)" 3:0 "the counters tell"
like "$(weir save)" "limit add p budget 3/s .* penalty 1h" "it is saved"

weir limit set p penalty 1h renew >/dev/null
like "$(weir save)" "limit add p budget 3/s .* penalty 1h renew" "renew is saved"
weir save "$tmp/saved" && weir -check -file "$tmp/saved" >/dev/null 2>&1; ok $? "... and read"
like "$(weir -check limit set p penalty 1h 2>&1)" "note: limit 'p': refused packets no longer prolong its blocks; to keep that, add 'renew'" "a penalty without it says so"
is "$(through 198.51.100.3)" 3 "with renew"
weir -exist -force source block 198.51.100.3 limit p for 10m >/dev/null
let_pass 1500
ack -s 198.51.100.3 -c 10
within "$(left 198.51.100.3)" 3500000 3600300 "refusals prolong it"
like "$(weir limit set p penalty 2h renew 2>&1)" "note: limit 'p': who is blocked stays so for as long as before" "another penalty"
within "$(left 198.51.100.3)" 3000000 3600300 "... leaves blocks as they are"
weir limit set p penalty none >/dev/null
within "$(left 198.51.100.3)" 3000000 3600300 "... and so does none"
weir source release 198.51.100.3 >/dev/null

# What was released has no room yet, nor when the block has ended; an event tells when that is.
command weir monitor sources >"$tmp/told" &
pids+=($!)
listening() { awk '$2 == 16 && $4 != "00000000"' /proc/net/netlink | grep -q .; }
wait_for 60 listening
weir limit set p budget 3/1h penalty 10m >/dev/null 2>&1
ack -s 198.51.100.16 -c 4
like "$(weir source get 198.51.100.16 | tail -n 1)" "dropped by limit p for (1h|59m)" "who has no room after its block is refused for longer"
told() { grep '^blocked 198.51.100.16 ' "$tmp/told"; }
holds "an event tells of it" wait_for 60 told
within $(($(date -d "$(sed 's/.* until //' "$tmp/told")" +%s) - $(date +%s))) 500 601 "... with the end of the block"
weir limit set p penalty 1h >/dev/null 2>&1
ack -s 198.51.100.7 -c 4
is "$(weir source release 198.51.100.7 2>&1 | sed -E 's/(another )[0-9hms.]+/\1T/')" "198.51.100.7 limit p released
weir: note: limit 'p' has no room for 198.51.100.7 for another T, and blocks it again if it sends before; 'weir source forget 198.51.100.7 limit p' resets its count" "a release says that the source has no room"
is "$(through 198.51.100.7):$(weir -quiet source release 198.51.100.7 2>&1)" "0:198.51.100.7 limit p released" "... which is so, and not with -quiet"
weir source forget 198.51.100.7 >/dev/null
weir source block 198.51.100.7 limit p for 1h >/dev/null
is "$(weir source release 198.51.100.7 2>&1)" "198.51.100.7 limit p released" "... but not of one that has"
weir limit set p penalty none >/dev/null
is "$(through 198.51.100.7)" 3 "... which sends then"
weir source block 198.51.100.7 limit p for 1h >/dev/null
like "$(weir source release 198.51.100.7 2>&1)" "limit 'p' has no room for 198.51.100.7 for another [0-9hms.]+; 'weir source forget" "... nor does one without a penalty say that it blocks again"

weir limit set p budget 3/1h >/dev/null
flooding -s 198.51.100.4 -P tcp -f A -D 22 -r 200 -t 60000
full() { [ "$(weir -json source get 198.51.100.4 limit p | json count)" = 3 ]; }
wait_for 60 full
weir limit set p penalty 1h >/dev/null
caught() { ! free 198.51.100.4; }
holds "who was limited before the penalty came is caught by it" wait_for 60 caught
quiet
weir limit set p action observe penalty 1h >/dev/null
ack -s 198.51.100.5 -c 20
is "$(left 198.51.100.5)" 0 "a limit that observes blocks nobody"
weir limit set p action drop budget 100/200ms >/dev/null

# Two CPUs: one penalty, and never more than the budget
trace_start weir_charge weir_uncharge weir_blocked
for cpu in 0 1; do
	send_args -i tx$cpu -s 198.51.100.6 -P tcp -f A -D 22 -t 1000
	taskset -c $cpu send "${args[@]}" >/dev/null &
	pids+=($!)
done
flooded
trace_stop
is "$(grep -c 'weir_blocked: ' "$tmp/trace")" 1 "two CPUs punish once"
is "$(value amount "$(traced -S 198.51.100.6)")" 100 "... and admit the budget"

# The quota
weir limit del p
weir limit add p budget 3/1h penalty 1h sources 64 tcp dport 22 >/dev/null
command weir -json monitor pressure >"$tmp/events" &
pids+=($!)
ack -s 203.0.113.1 -n 200 -c 2000
now=$(stat_of p blocked_now)
within "$now" 4 $(($(weir -json limit show p | json entries) / 2)) "a flood of sources has at most half of the entries blocked"
within "$(stat_of p blocks_lost)" 1 10000 "... and it is counted who found no room"
like "$(weir -s limit show p)" "half of the places of a set are blocked, no room for more: try sources 128" "... and told"
lost() { ack -s 203.0.113.1 -n 250 -c 2000; grep -q '"blocks_lost":[1-9]' "$tmp/events"; }
holds "... also as an event" wait_for 60 lost
weir limit set p budget 1000/1h >/dev/null
is "$(through 198.51.100.7)" 10 "a newcomer finds an entry"
weir limit set p sources 65536 >/dev/null
is "$(stat_of p blocked_now)" "$now" "a larger table keeps the blocks"
weir limit set p sources 64 >/dev/null
within "$(stat_of p blocked_now)" $((now / 2)) "$now" "... and a smaller one what it has room for"
quiet

# Before the stack
if [ -e /sys/kernel/btf/weir ]; then
	holds "the program is attached" weir xdp attach dev rx0
	weir limit del p && weir limit add p budget 3/1h penalty 1h renew tcp dport 22 >/dev/null
	rx nft delete table netdev probe
	ack -s 198.51.100.8 -c 20
	weir -exist -force source block 198.51.100.8 limit p for 10m >/dev/null
	was=$(stat_of p dropped_early.packets)
	ack -s 198.51.100.8 -c 20
	within "$(left 198.51.100.8)" 3500000 3600300 "what is dropped early prolongs it, too"
	within "$(($(stat_of p dropped_early.packets) - was))" 19 20 "... and is dropped early"
	weir xdp detach dev rx0
	rx nft add table netdev probe # for the clean-up
else
	skip "the module has no BTF" "what is dropped early prolongs a penalty, too"
fi

# The recipe of weir(8): three in ten seconds, then five in a minute, then a day
weir limit flush
weir limit add day budget 5/1m penalty 1d tcp dport 22 syn 2>/dev/null >/dev/null
weir limit add login budget 3/10s penalty 10s tcp dport 22 syn 2>/dev/null >/dev/null
tries() { local was; was=$(passed); flood -P tcp -D 22 -s 198.51.100.9 -c 4; echo $(($(passed) - was)); }
is "$(tries)" 3 "three attempts"
calm() { [ "$(weir -json source get 198.51.100.9 limit login | jq '.[0] | .limited or .blocked')" = false ]; }
wait_for 60 calm
is "$(tries)" 2 "... and two more when ten seconds have passed"
within "$(weir -json source get 198.51.100.9 limit day | jq '.[0].blocked_ms | floor')" 86390000 86400300 "... and then a day"
finish
