#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# attack-flood.t: under a flood from spoofed addresses memory stays as it is,
# and whoever configures gets on
. "$(dirname "$0")/lib.sh"
need_cpus 2
begin
config <<-'WORDS' || bail "cannot configure"
	limit add small budget 10/10s sources 64
	limit add large budget 100/1s sources 65536
WORDS
tables() { stats memory; }

# kernel_kib: what the kernel holds that a module can make grow
kernel_kib() { awk '/^(Slab|Percpu|VmallocUsed|PageTables|KernelStack):/ { sum += $2 } END { print sum }' /proc/meminfo; }

# calls: what an operator does; milliseconds
calls() {
	local begin i
	begin=$(now_ms)
	for ((i = 0; i < 10; i++)); do
		weir limit set large budget $((100 + i))/1s >/dev/null || return
		weir limit add new budget 5/1s sources 1024 >/dev/null 2>&1 || return
		weir limit show >/dev/null || return
		weir limit del new || return
		weir exempt add 192.0.2.$((100 + i)) || return
	done
	weir exempt flush >/dev/null || return
	calls_ms=$(($(now_ms) - begin))
}

# What is kept for the next time is there from the first time on.
flood -s 10.0.0.0 -n 16777216 -R -c 20000
calls
ok $? "without a flood the configuration changes"
idle_ms=$calls_ms
tables_before=$(tables)
kernel_before=$(kernel_kib)
flooding -s 10.0.0.0 -n 16777216 -R
flooding -s 2001:db8:: -n 4294967295 -R -B 64
calls
ok $? "under a flood it changes as well"
diag "51 calls: $idle_ms ms without, $calls_ms ms with a flood"
within "$calls_ms" 0 $((20 * idle_ms + 2000)) "and in no time of another kind"
most=0
for ((i = 0; i < 20; i++)); do
	let_pass 100
	now=$(kernel_kib)
	[ "$now" -le "$most" ] || most=$now
done
weir limit set small sources 4096 >/dev/null 2>&1
ok $? "a table grows under the flood"
weir limit set small sources 64 >/dev/null 2>&1
ok $? "and shrinks"
quiet
is "$(tables)" "$tables_before" "tables are as large as they were"
within "$((most - kernel_before))" -100000 8192 "the kernel holds at most 8 MiB more (KiB)"
# Floors let in ways x (L - 3) in any window; all but the first for another's way.
ways=$(weir -json limit show small | json ways)
within "$(stat_of small evictions)" $((ways * (10 - 3 - 1))) 100000000 "the pressure is counted"
within "$(stat_of small floor_refused.packets)" 1000 100000000 "and so is what floors refused"
finish
