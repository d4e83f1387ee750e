#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# attack-dump.t: endless dumps of a table do not slow its packets; a reader that stalls in a
# dump blocks nothing else
. "$(dirname "$0")/lib.sh"
need_cpus 2
begin_with <<-'WORDS'
	limit add each budget 1G/1h sources 65536
WORDS
flood -s 10.0.0.0 -n 50000 -c 50000

# Another namespace has as many sources under as large a limit. Its dumps take the same from the
# machine, whatever else that does, but wait for other locks.
other='' && space other
rx=$other link tx1 rx1 02:00:00:00:00:01
weir -n "$other" limit add each budget 1G/1h sources 65536 >/dev/null
send -z "$tx" -i tx1 -s 10.0.0.0 -d 192.0.2.1 -n 50000 -c 50000 >/dev/null
is "$(weir -brief -n "$other" source show limit each | wc -l)" 50000 "another namespace has as many sources"

# dumping OPTION...: dump in endless loops, in the background
dumping() {
	while :; do command weir "$@" source show limit each; done >/dev/null 2>&1 &
	pids+=($!)
	while :; do command weir "$@" -s limit show; done >/dev/null 2>&1 &
	pids+=($!)
}

# costs: CPU time of 10,000 packets in µs, which go through weir in the sender's context. What
# others run meanwhile does not count, waiting for a lock does.
costs() {
	local TIMEFORMAT='%3U %3S' user system
	read -r user system <<<"$({ time flood -s 10.0.0.0 -n 50000 -R -c 10000; } 2>&1)"
	echo $((10#${user/./} * 1000 + 10#${system/./} * 1000))
}
# least NAME NUMBER: keep the smallest; an interrupt may lengthen any of them
least() { [ "${!1:-$2}" -lt "$2" ] || printf -v "$1" %s "$2"; }
others='' own=''
for ((i = 0; i < 8; i++)); do
	dumping -n "$other"
	least others "$(costs)"
	quiet
	dumping
	least own "$(costs)"
	quiet
done
diag "10,000 packets take $others µs with the other's dumps, $own µs with dumps of their own table"
within $((100 * own / others)) 20 300 "CPU time of packets during endless dumps (percent of that during the other's)"
is "$(stats seen)" "$(stats admitted)" "... and no packet is dropped"

# A stalled reader: a pipe that is never read.
mkfifo "$tmp/full"
exec 7<>"$tmp/full"
command weir -brief source show limit each >"$tmp/full" 2>/dev/null &
stalled=$!
pids+=("$stalled")
asleep() { [ "$(awk '{ print $3 }' /proc/$stalled/stat)" = S ]; }
holds "a dump stalls on its reader" wait_for 60 asleep
before=$(stats seen)
flood -s 10.0.0.0 -n 50000 -R -c 5000
is $(($(stats seen) - before)) 5000 "packets still pass weir"
weir limit set each sources 1024 >/dev/null && weir limit set each budget 5/1h >/dev/null 2>&1 && weir limit del each
ok $? "the dumped limit can be changed and deleted"
holds "... and another one added" quietly weir limit add each budget 5/1h sources 64
quiet
holds "the module unloads once the reader is gone" quietly wait_for 60 unload
finish
