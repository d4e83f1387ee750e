#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# attack-dump.t: endless dumps do not slow packets; a reader that stalls in a
# dump blocks nothing else
. "$(dirname "$0")/lib.sh"
need_cpus 2
begin_with <<-'WORDS'
	limit add each budget 1G/1h sources 65536
WORDS
flood -s 10.0.0.0 -n 50000 -c 50000

# dumping: dump in endless loops, in the background
dumping() {
	while :; do command weir source show limit each; done >/dev/null 2>&1 &
	pids+=($!)
	while :; do command weir -s limit show; done >/dev/null 2>&1 &
	pids+=($!)
}

# Count one sender's packets in 300 ms, alternately with and without dumps.
busy=0 idle=0
for ((i = 0; i < 6; i++)); do
	recount
	flood -s 10.0.0.0 -n 50000 -R -t 300
	idle=$((idle + $(arrived)))
	dumping
	recount
	flood -s 10.0.0.0 -n 50000 -R -t 300
	busy=$((busy + $(arrived)))
	quiet
done
diag "$idle packets without, $busy with dumps"
# Three processes share two CPUs.
within $((100 * busy / idle)) 25 1000 "packet rate during endless dumps (percent)"
is "$(stats seen)" "$(stats admitted)" "... and no packet is dropped"

# A stalled reader: a pipe that is never read.
mkfifo "$tmp/full"
exec 7<>"$tmp/full"
command weir source show limit each >"$tmp/full" 2>/dev/null &
stalled=$!
pids+=("$stalled")
asleep() { [ "$(awk '{ print $3 }' /proc/$stalled/stat)" = S ]; }
holds "a dump stalls on its reader" wait_for 10 asleep
before=$(stats seen)
flood -s 10.0.0.0 -n 50000 -R -c 5000
is $(($(stats seen) - before)) 5000 "packets still pass weir"
weir limit set each sources 1024 >/dev/null && weir limit set each budget 5/1h >/dev/null 2>&1 && weir limit del each
ok $? "the dumped limit can be changed and deleted"
holds "... and another one added" quietly weir limit add each budget 5/1h sources 64
quiet
holds "the module unloads once the reader is gone" quietly wait_for 10 unload
finish
