#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# queue.t: NFQUEUE reinjects packets in the context of the process that accepts them;
# weir counts them correctly beside those in softirq context
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
is "$said" ready "a program accepts queued packets"
trace_start weir_charge
# Packets of both contexts contend for the table's two sets, on one CPU and on two.
flooding -s 203.0.113.1 -n 40 -R -t 60000
flood -s 198.51.100.1 -n 10 -r 2000 -c 2000
quiet
all_seen() { [ "$(stats seen)" = "$(arrived)" ]; }
holds "each packet is seen" wait_for 60 all_seen || diag "$(stats seen) of $(arrived)"
trace_stop
line=$(traced -T "$((3600 * HZ))" -L 20)
ok $? "no source exceeds its budget" || diag "$line"
holds "... nor do queued ones, which all pass" [ "$(traced -s | grep -c '=198\.51\.100\.')" = 10 ] || diag "$(traced -s)"
is "$(stat_of q matched.packets)" "$(($(stat_of q admitted.packets) + $(stat_of q dropped.packets)))" "all were admitted or dropped"
passed=$(passed)
is "$passed" "$(value amount "$line")" "the packets charged are those that passed"
[ "$passed" = "$(value amount "$line")" ] || diag "$(weir -json stats show; weir -s limit show; rx nft list ruleset)"

# When hooks are unregistered, netfilter drops queued packets: only with the last limit.
waiting() { awk '$1 == 5 { print $3 }' /proc/net/netfilter/nfnetlink_queue; }
kill -STOP "$queue"
flood -s 198.51.100.1 -c 10
all_wait() { [ "$(waiting)" = 10 ]; }
wait_for 60 all_wait
is "$(waiting)" 10 "ten wait in the queue"
config <<<"limit add other budget 20/1h" && weir limit add another budget 20/1h && weir limit del another
is "$(waiting)" 10 "... also after limits are replaced by others"
weir limit flush
is "$(waiting)" 0 "... until the last limit is deleted"
kill -KILL "$queue"
wait "$queue" 2>/dev/null
finish
