#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# suspend.t: while the machine is suspended the coarse clock stands still: windows, buckets, logs
# and blocks last longer by that, and no window that spans it has more than the most. A calendar
# follows the wall clock: a period that ended meanwhile ends once.
#
# The kernel suspends up to the last step, with devices, CPUs and timekeeping, and waits there
# (/sys/power/pm_test, core). The last step itself would reset QEMU's devices, and the guest's
# files are on one of them. Without a cpuidle driver, suspend to idle leaves the clock running.
. "$(dirname "$0")/lib.sh"
awake=$top/.cache/build/$WEIR_KERNEL/suspend/weir_suspend.ko
if ! { grep -qw core /sys/power/pm_test && grep -qw deep /sys/power/mem_sleep; } 2>/dev/null; then
	skip_all "this kernel cannot test suspend"
fi
[ -r "$awake" ] || skip_all "no $awake"
insmod "$awake" || bail "cannot load weir_suspend"
trap '[ ! -d /sys/module/weir_suspend ] || rmmod weir_suspend; cleanup' EXIT

suspend() { echo mem >/sys/power/state; }
# nap: suspend for at least three seconds
nap() {
	echo 3 >/sys/module/suspend/parameters/pm_test_delay
	echo deep >/sys/power/mem_sleep
	echo core >/sys/power/pm_test
	holds "the kernel suspends and resumes" suspend
	echo none >/sys/power/pm_test
}
# In ms: the coarse clock; the time since boot, which includes suspend
tick_ms() { echo $(($(sed -n '/^jiffies: /{s///p;q}' /proc/timer_list) * 1000 / HZ)); }
boot_ms() { local up; read -r up _ </proc/uptime; echo $((${up/./} * 10)); }
clock() { date -u -s "$1" >/dev/null || bail "the clock cannot be set"; }
date=$(date -u +%s)
began=$(cut -d. -f1 /proc/uptime)

periods=(minute day month)
begin_with <<-WORDS
	limit add strict budget 5/1h from 198.18.0.1
	limit add bucket budget 5/1h bucket burst 3 from 198.18.0.2
	limit add log budget 5/1h exact from 198.18.0.3
	limit add short budget 12/400ms slots 4 from 198.18.1.1
	limit add short-log budget 12/400ms exact from 198.18.1.2
	limit add short-bucket budget 12/400ms bucket burst 6 from 198.18.1.3
	limit add short-fixed budget 12/400ms fixed from 198.18.1.4
	$(for i in "${!periods[@]}"; do echo "limit add ${periods[i]} budget 5/${periods[i]} calendar from 198.18.2.$i"; done)
	limit add block budget 5/1h from 198.18.3.1
WORDS
weir source block 198.18.3.1 limit block for 1h >/dev/null || bail "cannot block"
held=(strict bucket exact)
# left LIMIT: ms until a packet is admitted
left() {
	local i address=198.18.3.1
	for i in "${!held[@]}"; do [ "${held[i]}" != "$1" ] || address=198.18.0.$((i + 1)); done
	weir -json source get $address limit "$1" | json next_ms | cut -d. -f1
}
for i in "${!held[@]}"; do flood -s 198.18.0.$((i + 1)) -c 9; done
for i in "${!periods[@]}"; do admits 5 "${periods[i]}: the budget" -s "198.18.2.$i" -c 9; done
trace_start weir_charge weir_uncharge
flooding -s 198.18.1.1 -n 4 -r 4000
let_pass 1000

declare -A tick before after
for name in "${held[@]}" block; do tick[$name]=$(tick_ms) before[$name]=$(left "$name"); done
clock "2028-02-29 23:59:58"
boot=$(boot_ms) coarse=$(tick_ms)
nap
boot=$(($(boot_ms) - boot)) coarse=$(($(tick_ms) - coarse))
diag "of $boot ms the coarse clock has counted $coarse"
holds "it stood still meanwhile" [ $((boot - coarse)) -ge 2000 ]
for name in "${held[@]}" block; do after[$name]=$(left "$name") tick[$name]=$(($(tick_ms) - tick[$name])); done
for name in "${held[@]}" block; do
	within $((before[$name] - after[$name])) 0 "${tick[$name]}" "$name: waits for as long as before"
done
recount
some_pass() { [ "$(passed)" -gt 100 ]; }
holds "sources that send on are admitted again" wait_for 60 some_pass
quiet
trace_stop
for words in "short 12" "short-log 12" "short-bucket 18" "short-fixed 24"; do
	read -r name most <<<"$words"
	line=$(traced -l "$name" -T "$(ms_ticks 400)" -L "$most")
	ok $? "$name: no window that spans the suspend has more than $most" || diag "$line"
done
for i in "${!held[@]}"; do admits 0 "${held[i]}: still full" -s "198.18.0.$((i + 1))" -c 9; done
admits 0 "block: still blocked" -s 198.18.3.1 -c 9

renews() { date -u -d "$(weir -json limit show "$1" | json renews)" '+%F %T'; }
ends=("2028-03-01 00:01:00" "2028-03-02 00:00:00" "2028-04-01 00:00:00")
let_pass 1100 # for cached refusals
for i in "${!periods[@]}"; do
	is "$(renews "${periods[i]}")" "${ends[i]}" "${periods[i]}: has ended"
	admits 5 "... and is renewed" -s "198.18.2.$i" -c 9
	admits 0 "... once" -s "198.18.2.$i" -c 9
done
clock "@$((date + $(cut -d. -f1 /proc/uptime) - began))"
finish
