#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# queue.t: packets that user space had in its hands (NFQUEUE) go on in the context
# of who gave them back, and are counted there beside those of softirqs
. "$(dirname "$0")/lib.sh"
need_cpus 2
begin
rx nft -f - 2>/dev/null <<-RULES || skip_all "this kernel has no NFQUEUE"
	table inet probe {
		chain hold { type filter hook prerouting priority -460; ip saddr 198.51.100.0/24 queue num 5; }
	}
RULES
config <<<"limit add q budget 20/1h sources 64" || bail "cannot configure"
mkfifo "$tmp/says"
python3 "$here/nfqueue.py" 5 >"$tmp/says" &
queue=$!
read -r said <"$tmp/says"
is "$said" ready "somebody takes what is queued"
trace_start weir_charge
# Both kinds meet in the two buckets of the table, on one CPU and on two.
flooding -s 203.0.113.1 -n 40 -R -t 60000
flood -s 198.51.100.1 -n 10 -r 2000 -c 2000
quiet
all_seen() { [ "$(stats seen)" = "$(arrived)" ]; }
wait_for 20 all_seen
ok $? "each packet is seen" || diag "$(stats seen) of $(arrived)"
trace_stop
line=$(traced -T "$((3600 * HZ))" -L 20)
ok $? "nobody is let through more than 20 times" || diag "$line"
[ "$(traced -s | grep -c '=198\.51\.100\.')" = 10 ]
ok $? "... of those that were queued either, who were all let through" || diag "$(traced -s)"
is "$(stat_of q matched.packets)" "$(($(stat_of q admitted.packets) + $(stat_of q dropped.packets)))" "all were admitted or dropped"
is "$(passed)" "$(value amount "$line")" "what was charged is what went on"

# Netfilter drops what waits when a hook goes: with the last limit, and no sooner.
waiting() { awk '$1 == 5 { print $3 }' /proc/net/netfilter/nfnetlink_queue; }
kill -STOP "$queue"
flood -s 198.51.100.1 -c 10
all_wait() { [ "$(waiting)" = 10 ]; }
wait_for 5 all_wait
is "$(waiting)" 10 "ten wait in the queue"
config <<<"limit add other budget 20/1h" && weir limit add another budget 20/1h && weir limit del another
is "$(waiting)" 10 "... also when limits take the place of others"
weir limit flush
is "$(waiting)" 0 "... until there is none"
kill -KILL "$queue"
wait "$queue" 2>/dev/null
finish
