#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# attack-dump.t: who dumps without end slows no packet; who stalls in the
# middle of a dump holds up nobody
. "$(dirname "$0")/lib.sh"
need_cpus 2
begin
config <<-'WORDS' || bail "cannot configure"
	limit add each budget 1G/1h sources 65536
WORDS
flood -s 10.0.0.0 -n 50000 -c 50000

# dumping: from here on, without end
dumping() {
	while :; do command weir source show limit each; done >/dev/null 2>&1 &
	pids+=($!)
	while :; do command weir -s limit show; done >/dev/null 2>&1 &
	pids+=($!)
}

# Packets of one sender in 300 ms, with dumps and without, in turn.
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
# There are two CPUs for three.
within $((100 * busy / idle)) 25 1000 "dumps without end leave packets their time (percent)"
is "$(stats seen)" "$(stats admitted)" "and drop none"

# A reader that stops reading: a pipe that nobody empties.
mkfifo "$tmp/full"
exec 7<>"$tmp/full"
command weir source show limit each >"$tmp/full" 2>/dev/null &
stalled=$!
pids+=("$stalled")
asleep() { [ "$(awk '{ print $3 }' /proc/$stalled/stat)" = S ]; }
wait_for 10 asleep
ok $? "a dump stalls"
before=$(stats seen)
flood -s 10.0.0.0 -n 50000 -R -c 5000
is $(($(stats seen) - before)) 5000 "packets go on"
weir limit set each sources 1024 >/dev/null && weir limit set each budget 5/1h >/dev/null 2>&1 && weir limit del each
ok $? "its limit can be changed and removed"
weir limit add each budget 5/1h sources 64 >/dev/null 2>&1
ok $? "and another one made"
quiet
wait_for 10 unload 2>/dev/null
ok $? "when the reader is gone, the module goes"
finish
