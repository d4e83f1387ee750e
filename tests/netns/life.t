#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# life.t: a namespace is deleted, or the module unloaded, under a flood from both
# CPUs; no trace of weir remains
. "$(dirname "$0")/lib.sh"
need_cpus 2
need_tool
load || bail "cannot load"
log_mark
words="limit add small budget 2/10s sources 64
limit add bytes budget 10k/100ms bytes sources 600k
limit add six budget 10/1s per 32,128 sources 600k"

# flooded_place NAME: a namespace with limits, and floods into it; returns once weir drops packets
flooded_place() {
	pair
	config <<<"$words" || bail "cannot configure"
	flooding -s 198.51.100.1 -n 1000 -R -r 5000 -k -q
	flooding -s 2001:db8:1::1 -n 1000 -R -r 5000 -k -q
	holds "$1: weir drops a flood" wait_for 60 dropping
}
dropping() { [ "$(stats dropped)" -gt 500 ]; }
# memory: KiB in use beyond those at the start. The tables take about 120 MiB, with lockdep three
# times that; other lasting allocations about 50 MiB, and freed but not yet returned memory 30.
used() { awk '{ kib[$1] = $2 } END { print kib["MemTotal:"] - kib["MemAvailable:"] }' /proc/meminfo; }
memory() { echo "$(($(used) - first))"; }
no_memory() { [ "$(memory)" -lt 90000 ]; }
first=$(used)
no_device() { ! ip_tx link show dev tx0 >/dev/null 2>&1; }

for n in 1 2; do
	flooded_place "namespace $n"
	within "$(memory)" 90000 480000 "namespace $n: its tables take memory"
	ip netns delete "$rx"
	holds "namespace $n: is deleted under the flood" wait_for 60 no_device
	flooded
	holds "namespace $n: its tables are freed" wait_for 60 no_memory || diag "$(memory) KiB stay"
	ip netns delete "$tx"
done

# Unload the module while another process changes limits.
flooded_place "module"
other=$rx
rx=''
config <<<"$words" || bail "cannot configure"
rx=$other
end_not_here
more() { [ "$(passed)" -gt "$1" ]; }
for n in 1 2 3; do
	if [ "$n" -gt 1 ]; then
		load packets=2 window_ms=10000 || bail "cannot load again"
		config <<<"$words"
		holds "module $n: loaded again, it drops" wait_for 60 dropping
	fi
	while config <<<"$words"; do :; done >/dev/null 2>&1 &
	changing=$!
	wait_for 60 rmmod weir 2>"$tmp/said"
	ok $? "module $n: unloads under the flood" || diag "$(tail -n 1 "$tmp/said")"
	wait "$changing"
	holds "module $n: its tables are freed" wait_for 60 no_memory || diag "$(memory) KiB stay"
	before=$(passed)
	holds "module $n: the flood passes then" wait_for 60 more $((before + 1000))
done
quiet
is "$(log_since | grep -E 'BUG|WARNING|Oops|weir:.*(leak|busy)|unregister_netdevice')" "" "the kernel logs no warning"
finish
