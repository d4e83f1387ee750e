#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# attack-events.t: in a flood the number of events is bounded, and lost ones are
# counted; a listener that does not read costs the others nothing
. "$(dirname "$0")/lib.sh"
need_cpus 2
begin_with <<<'limit add one budget 1/1h sources 65536'
kernel_kib() { awk '/^(Slab|VmallocUsed):/ { sum += $2 } END { print sum }' /proc/meminfo; }

command weir -json monitor >"$tmp/heard" 2>/dev/null &
pids+=($!)
mkfifo "$tmp/full"
exec 7<>"$tmp/full"
command weir monitor >"$tmp/full" 2>/dev/null &
deaf=$!
pids+=("$deaf")
heard() { grep -c '"event":"source"' "$tmp/heard"; }
hears() {
	weir limit add zero budget 5/1s >/dev/null 2>&1
	weir limit del zero >/dev/null 2>&1
	[ -s "$tmp/heard" ]
}
holds "monitor listens" wait_for 60 hears
kill -STOP "$deaf"
lost=$(stats events_lost)
trace_start weir_limited
before=$(kernel_kib)
# Each source is limited by its second packet. Debug kernels are so slow that only
# real-time senders fill the ring.
senders=() alone=()
[ ! -e /sys/kernel/debug/kmemleak ] || alone=(chrt -f 10)
for source in 10.0.0.0 10.1.0.0; do
	send_args -s $source -n 10000 -c 20000
	"${alone[@]}" send "${args[@]}" >/dev/null &
	senders+=($!)
done
wait "${senders[@]}"
trace_stop
limited=$(grep -c weir_limited: "$tmp/trace")
is "$limited" 20000 "twenty thousand sources become limited"
lost=$(($(stats events_lost) - lost))
# The listener itself may be too slow, and reports it.
all_told() { [ "$(heard)" -ge $((limited - lost)) ] || grep -q '"event":"lost"' "$tmp/heard"; }
holds "all other events arrive, or the listener reports a loss" wait_for 60 all_told
diag "$(heard) heard, $lost found the ring full"
within "$(($(heard) + lost))" 1 "$limited" "no event arrives twice"
within "$lost" 1 "$limited" "events for which the ring has no room are counted"
told_lost() { [ "$(grep -o '"events_lost":[0-9]*' "$tmp/heard" | awk -F: '{ n += $2 } END { print n + 0 }')" = "$lost" ]; }
holds "... and reported to the listener" wait_for 60 told_lost || diag "$(grep -v '"event":"source"' "$tmp/heard")"
# kmemleak needs memory for each allocation.
most=16384
[ ! -e /sys/kernel/debug/kmemleak ] || most=65536
within "$(($(kernel_kib) - before))" -1000000 $most "a stopped listener costs no more than its socket buffer (KiB)"
is "$(stats seen)" 40000 "every packet was seen"
is "$(stats admitted)" 20000 "... and half were admitted"

weir limit add few budget 100/1h sources 64 before one >/dev/null 2>&1
pressure() { grep -c '"event":"pressure"' "$tmp/heard"; }
pressed() { [ "$(pressure)" -ge 2 ]; }
SECONDS=0
flooding -s 10.2.0.0 -n 65536 -R
holds "a flood of sources is pressure, again and again" wait_for 60 pressed
kill "${pids[-1]}"
within "$(pressure)" 2 $((SECONDS + 2)) "... at most one event per second"
kill -CONT "$deaf"
quiet
finish
