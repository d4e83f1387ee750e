#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# in-guest.sh [FILE...]: in a guest, run test files one after the other, or those whose names come on
# file descriptor 3, until an empty line, and unload the module after each. Around the output of each
# are "@begin FILE" and "@end STATUS"; "@end STATUS last" if the guest can run no other.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd -P) && cd "$top" || exit 1
most=900 # seconds, for what hangs
PATH=$top/userspace:$PATH
[ $# = 0 ] || exec 3< <(printf '%s\n' "$@")

# keep_hooks: a namespace whose hooks stay registered. The kernel patches the packet path when the
# first hook is added or the last one removed, and QEMU's TCG sometimes still executes the old code.
keep_hooks() {
	local ready fifo=/run/weir-keep
	mkfifo "$fifo"
	# shellcheck disable=SC2016 # expanded by sh
	unshare -n sh -c 'nft -f - && ready=yes; echo "$ready" >"$0"; exec tail -f /dev/null' "$fifo" 3<&- <<-RULES &
		table netdev keep { chain in { type filter hook ingress device lo priority 0; }; }
		table inet keep { chain pre { type filter hook prerouting priority 0; }; }
	RULES
	read -r -t 20 ready <>"$fifo" && [ "$ready" = yes ] || echo "# keep_hooks failed"
}

# leftovers: what a test may leave in the initial network namespace, where the next one begins
leftovers() {
	nft list tables
	ip -o link show | cut -d ' ' -f 2
}

keep_hooks
found=$(leftovers)
while read -r t <&3 && [ -n "$t" ]; do
	echo "weir-test: $t" >/dev/kmsg
	echo "@begin $t"
	cpus=0
	! grep -q '^need_cpus' "$t" || cpus=0-$(($(nproc) - 1))
	timeout -k 5 "$most" taskset -c "$cpus" "$t" </dev/null 3<&-
	status=$?
	[ "$status" != 124 ] || printf '\nnot ok - it ends within %d s\n' "$most"
	ip -all netns delete
	left=$(leftovers)
	if [ "$left" != "$found" ]; then
		printf '\nnot ok - nothing is left behind\n'
		status=1
		diff <(echo "$found") <(echo "$left") | sed 's/^/# /'
		nft flush ruleset
		found=$(leftovers)
	fi
	if [ -d /sys/module/weir ] && ! rmmod weir; then
		printf '\nnot ok - the module can be removed\n@end 1 last\n'
		break
	fi
	printf '\n@end %d\n' "$status"
done
cat /run/weir.json.* >"$OUT/json" 2>/dev/null
exit 0
