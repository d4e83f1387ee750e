#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# attack-flood.t: under a flood from spoofed addresses memory does not grow and
# configuration changes still work
. "$(dirname "$0")/lib.sh"
need_cpus 2
begin_with <<-'WORDS'
	limit add small budget 10/10s sources 64
	limit add large budget 100/1s sources 65536
WORDS
tables() { stats memory; }

# kernel_kib: the kernel memory that a module can affect
kernel_kib() { awk '/^(Slab|Percpu|VmallocUsed|PageTables|KernelStack):/ { sum += $2 } END { print sum }' /proc/meminfo; }

# calls: an operator's changes
calls() {
	local i
	for ((i = 0; i < 10; i++)); do
		weir limit set large budget $((100 + i))/1s >/dev/null || return
		weir limit add new budget 5/1s sources 1024 >/dev/null 2>&1 || return
		weir limit show >/dev/null || return
		weir limit del new || return
		weir exempt add 192.0.2.$((100 + i)) || return
	done
	weir exempt flush >/dev/null
}
# counted COMMAND...: run it; the number of messages of its weirs in $sent
counted() { requests "$@" && sent=$(requested sys_sendto); }
untraced='this kernel traces no system calls'
if requests_start; then untraced=''; else counted() { "$@"; }; fi

# Warm up: caches are filled the first time.
flood -s 10.0.0.0 -n 16777216 -R -c 20000
holds "the configuration can be changed without a flood" counted calls
idle=${sent:-}
tables_before=$(tables)
kernel_before=$(kernel_kib)
flooding -s 10.0.0.0 -n 16777216 -R
flooding -s 2001:db8:: -n 4294967295 -R -B 64
holds "... and under a flood" counted calls
if [ -z "$untraced" ]; then
	is "$sent" "$idle" "... with as many requests, of which none is sent again"
	within "$sent" 51 204 "... of 51 calls"
	requests_stop
else
	skip "$untraced" "... with as many requests, of which none is sent again"
fi
most=0
for ((i = 0; i < 20; i++)); do
	let_pass 100
	now=$(kernel_kib)
	[ "$now" -le "$most" ] || most=$now
done
holds "a table grows under the flood" quietly weir limit set small sources 4096
holds "... and shrinks" quietly weir limit set small sources 64
quiet
is "$(tables)" "$tables_before" "the tables' memory is unchanged"
within "$((most - kernel_before))" -100000 8192 "the kernel holds at most 8 MiB more (KiB)"
# In any window floors admit entries x (L - 3) newcomers, all but the first by eviction.
entries=$(weir -json limit show small | json entries)
within "$(stat_of small evictions)" $((entries * (10 - 3 - 1))) 100000000 "evictions are counted"
within "$(stat_of small floor_refused.packets)" 1000 100000000 "... and refusals by floors"
finish
