#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# in-guest.sh FILE...: in a guest, run test files one after the other, and unload the module after
# each. Around the output of each are "@begin FILE" and "@end STATUS SECONDS". "@late" instead of
# the latter: WEIR_UNTIL came before it or during it.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd -P) && cd "$top" || exit 1
most=900 # for what hangs
PATH=$top/userspace:$PATH

# left SECONDS: are they left before WEIR_UNTIL?
left() { [ -z "${WEIR_UNTIL:-}" ] || [ $(($(date +%s) + $1)) -lt "$WEIR_UNTIL" ]; }

# keep_hooks: a namespace whose hooks stay registered. The kernel patches the packet path when the
# first hook is added or the last one removed, and QEMU's TCG sometimes still executes the old code.
keep_hooks() {
	local ready fifo=/run/weir-keep
	mkfifo "$fifo"
	# shellcheck disable=SC2016 # expanded by sh
	unshare -n sh -c 'nft -f - && ready=yes; echo "$ready" >"$0"; exec tail -f /dev/null' "$fifo" <<-RULES &
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
for t; do
	echo "weir-test: $t" >/dev/kmsg
	echo "@begin $t"
	if ! left 60; then
		echo "@late"
		continue
	fi
	start=$SECONDS seconds=$most
	left "$most" || seconds=$((WEIR_UNTIL - $(date +%s)))
	timeout -k 5 "$seconds" "$t" </dev/null
	status=$?
	ip -all netns delete
	left=$(leftovers)
	if [ "$left" != "$found" ]; then
		printf '\nnot ok - nothing is left behind\n'
		status=1
		diff <(echo "$found") <(echo "$left") | sed 's/^/# /'
		nft flush ruleset
		found=$(leftovers)
	fi
	if [ "$status" = 124 ] && [ "$seconds" != "$most" ]; then
		printf '\n@late the deadline ended it\n'
	elif [ -d /sys/module/weir ] && ! rmmod weir; then
		printf '\nnot ok - the module can be removed\n@end %d %d\n' "$status" $((SECONDS - start))
		exit # the remaining tests need a fresh guest
	else
		printf '\n@end %d %d\n' "$status" $((SECONDS - start))
	fi
done
cat /run/weir.json.* >"$OUT/json" 2>/dev/null
exit 0
