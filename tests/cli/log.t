#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# log.t: what of a guest's kernel log fails it
. "$(dirname "$0")/lib.sh"

# complains NAME WANTED: the lines of stdin that are a complaint, by their last word
complains() {
	is "$(awk -f "$top/tests/vm/complaints.awk" | awk '{ print $NF }' | xargs)" "$2" "$1"
}
complains "a sound log" "" <<-'LOG'
	[    2.100000] weir: loading out-of-tree module taints kernel.
	[    2.200000] weir: module verification failed: signature and/or required key missing - tainting kernel
	[    2.300000] weir-test: tests/netns/one.t
	[    2.400000] IPv6: ADDRCONF(NETDEV_CHANGE): rx0: link becomes ready
	[    2.500000] weir-mark-1
LOG
while IFS= read -r line; do
	complains "${line%[!a-z]*}" "tests/netns/two.t here behind" <<-LOG
		[    1.000000] weir-test: tests/netns/one.t
		[    1.100000] before
		[    1.200000] weir-test: tests/netns/two.t
		[    1.300000] $line here
		[    1.400000] behind
	LOG
done <<-'LINES'
	BUG: kernel NULL pointer dereference, address:
	WARNING: CPU: 0 PID: 1 at net/core/dev.c:1
	BUG: KASAN: slab-use-after-free in
	WARNING: possible circular locking dependency detected
	unregister_netdevice: waiting for rx0 to become free. Usage count
	rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
	weir-guest: lockdep has turned itself off
	weir: cannot make the limit "default"
LINES
complains "the module's words, but those that the test expects, until the next test" \
	"tests/netns/one.t other tests/netns/two.t unexpected" <<-'LOG'
	weir-test: tests/netns/one.t
	weir-expects: ^weir: (slots|sources)=
	[   13.000000] weir: slots=0 is expected
	weir-test: of the test's own
	weir: sources=0 is expected
	weir-test: tests/netns/one.t
	weir-expects: ^weir: slots=
	weir: other
	weir-test: tests/netns/two.t
	weir: slots=0 is unexpected
LOG
printf '%s\r\n' 'weir-expects: ^weir: (.* is not)$' 'weir: one is not' 'weir: one is not wanted' |
	complains "a console's lines, too" wanted
finish
