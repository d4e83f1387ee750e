#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# life.t: a namespace, or the whole module, goes away under a flood from both
# CPUs; what follows is as if weir had never been there
. "$(dirname "$0")/lib.sh"
need_cpus 2
need_tool
load || bail "cannot load"
log_mark
words="limit add small budget 2/10s sources 64
limit add bytes budget 10k/100ms bytes sources 600k
limit add six budget 10/1s per 32,128 sources 600k"

# flooded_place: a namespace with limits, and floods into it; ready when weir
# drops there and has made floors
flooded_place() {
	pair
	config <<<"$words" || bail "cannot configure"
	flooding -s 198.51.100.1 -n 1000 -R -r 5000 -k -q
	flooding -s 2001:db8:1::1 -n 1000 -R -r 5000 -k -q
	wait_for 30 dropping
	ok $? "$1: weir drops a flood"
}
dropping() { [ "$(stats dropped)" -gt 500 ]; }
# memory: KiB that are in use beyond those at first. The tables take some 120
# MiB, three times that where lockdep is in each lock, all else that comes and
# stays some 50, and what is let go 30.
used() { awk '{ kib[$1] = $2 } END { print kib["MemTotal:"] - kib["MemAvailable:"] }' /proc/meminfo; }
memory() { echo "$(($(used) - first))"; }
no_memory() { [ "$(memory)" -lt 90000 ]; }
first=$(used)
no_device() { ! ip_tx link show dev tx0 >/dev/null 2>&1; }

for n in 1 2; do
	flooded_place "namespace $n"
	within "$(memory)" 90000 480000 "namespace $n: the tables' memory is seen"
	ip netns delete "$rx"
	wait_for 30 no_device
	ok $? "namespace $n: goes under the flood"
	flooded
	wait_for 30 no_memory
	ok $? "namespace $n: its tables go with it" || diag "$(memory) KiB stay"
	ip netns delete "$tx"
done

# The module, with another namespace's limits and while somebody changes them.
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
		wait_for 30 dropping
		ok $? "module $n: loaded again, drops"
	fi
	while config <<<"$words"; do :; done >/dev/null 2>&1 &
	changing=$!
	wait_for 30 rmmod weir 2>"$tmp/said"
	ok $? "module $n: goes under the flood" || diag "$(tail -n 1 "$tmp/said")"
	wait "$changing"
	wait_for 30 no_memory
	ok $? "module $n: its tables go with it" || diag "$(memory) KiB stay"
	before=$(passed)
	wait_for 30 more $((before + 1000))
	ok $? "module $n: and the flood passes"
done
quiet
is "$(log_since | grep -E 'BUG|WARNING|Oops|weir:.*(leak|busy)|unregister_netdevice')" "" "the kernel has nothing to say"
finish
