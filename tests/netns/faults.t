#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# faults.t: fault injection. In every operation, in a new namespace and at module
# load, each allocation and each other step that can fail fails alone, and fails
# together with all later ones. The result is an error with a sentence and no
# change, or success. kmemleak reports leaks. Needs a kernel with fault injection.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/python.sh"
debug=/sys/kernel/debug
[ -d $debug/failslab ] || skip_all "this kernel makes no faults"
fault=$top/.cache/build/$WEIR_KERNEL/fault/weir_fault.ko

harmless() {
	local point
	for point in failslab fail_page_alloc; do echo 0 >$debug/$point/probability; done
}
trap 'harmless; [ ! -d /sys/module/weir_fault ] || rmmod weir_fault; cleanup' EXIT

expect_log '^weir: (sources=64 takes |cannot make the limit )'
holds "the module loads" load
for kind in slab rest; do
	python fault_config.py $kind
	python fault_load.py $kind netns
done

# An event without memory is counted as lost; packets need no memory.
pair init
config <<<'limit add one budget 10/1h sources 64'
command weir monitor >"$tmp/events" &
pids+=($!)
wait_for 60 grep -q one "$tmp/events"
lost=$(stats events_lost)
echo N >$debug/failslab/task-filter
echo 1 >$debug/failslab/times
echo 100 >$debug/failslab/probability
flood -s 198.51.100.1 -c 50
failed() { [ "$(<$debug/failslab/times)" = 0 ]; }
holds "an event's allocation fails" wait_for 60 failed
harmless
is "$(stats events_lost)" $((lost + 1)) "... and the event is counted as lost"
is "$(passed)" 10 "... packets still pass"
is "$(stat_of one dropped.packets)" 40 "... or are refused and counted as before"
kill "${pids[@]}"
unload

for kind in slab rest; do
	python fault_load.py $kind load "$stripped"
done
harmless

# Faults that the kernel cannot inject itself: functions made to return 0 or -ENOMEM.
while read -r symbol result; do
	if ! { [ -r "$fault" ] && insmod "$fault" symbol="$symbol" result="$result"; }; then
		skip "no weir_fault.ko for this kernel" "faults of $symbol"
		continue
	fi
	case $symbol in
	pcpu_alloc_noprof | nf_register_net_hooks)
		load
		python fault_config.py call
		;;&
	pcpu_alloc_noprof) python fault_load.py call netns ;;
	esac
	unload
	python fault_load.py call load "$stripped"
	rmmod weir_fault
done <<-WORDS
	pcpu_alloc_noprof 0
	nf_register_net_hooks -12
	register_pernet_subsys -12
	genl_register_family -12
WORDS
finish
