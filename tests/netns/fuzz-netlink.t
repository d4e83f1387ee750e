#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fuzz-netlink.t: random valid and invalid messages, generated from the specification,
# while packets flow. Each is answered; a refusal has a sentence and changes nothing.
# Sent by root, by an unprivileged user, and by root of a user namespace. FUZZ_SEED
# and FUZZ_MESSAGES choose other messages, or more.
. "$(dirname "$0")/lib.sh"
need_cpus 2
. "$(dirname "$0")/python.sh"
need_tool
seed=${FUZZ_SEED:-1}
messages=${FUZZ_MESSAGES:-5000}
groups=/sys/fs/cgroup

# fuzz NAME OPTION...: send messages in $rx, through the command in $by
fuzz() {
	local name=$1
	shift
	rx "${by[@]}" python3 "$here/fuzz_netlink.py" -s "$seed" "$@" >"$tmp/fuzz" 2>"$tmp/fault"
	ok $? "$name ($(tail -n 1 "$tmp/fuzz"))" || diag "$(head -c 4000 "$tmp/fault")"
}

# never accepted|refused: the operations for which that never happened
never() { awk -v w="$1" '$3 == "done" && !$(w == "accepted" ? 2 : 4) { print $1 }' "$tmp/fuzz" | xargs; }

# state: all that a message can change
state() {
	weir save
	weir -json stats show | jq -c '.[0] | {memory, limits, exempts}'
	weir -json source show idle | jq -c '.[] | {limit, source, count, dropped_packets}' | sort
}

# On a debug kernel more packets would leave no time for messages.
rate=2000
[ ! -e /sys/kernel/debug/kmemleak ] || rate=200

floods() {
	flooding -s 10.0.0.0 -n 64 -R -r $((2 * rate))
	flooding -s 198.51.100.0 -n 8 -P tcp -D 80 -r $rate
	flooding -s 2001:db8::1 -n 16 -R -B 64 -r $rate
}

# as_user COMMAND...: run it without privileges
as_user() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }

# lasting NAME: check that the floods and the listener are still running
lasting() {
	local pid gone=0
	for pid in "${pids[@]}"; do kill -0 "$pid" || gone=1; done
	ok $gone "$1" || diag "$(cat "$tmp/monitor")"
}

begin
# Changes wait for grace periods, which would take most of the time.
echo 1 >/sys/kernel/rcu_expedited
floods
weir monitor >/dev/null 2>"$tmp/monitor" &
pids+=($!)
fuzz "root: every message is answered" -n "$messages" -m "$messages"
# Any other change drops a configuration that is held to be published.
is "$(never accepted | grep -v config-publish)" "" "every operation was done"
is "$(never refused)" "" "every operation was refused"
# Two processes at once, whose changes interfere.
rx python3 "$here/fuzz_netlink.py" -s $((seed + 1)) -n $((messages / 4)) -o >/dev/null 2>"$tmp/second" &
second=$!
fuzz "... also while another process changes the configuration" -f "$messages" -n $((messages / 4)) -o
holds "... and so are those of the other process" wait "$second" || diag "$(head -c 4000 "$tmp/second")"
lasting "floods and a listener kept running"
quiet

config <<-'WORDS'
	limit add a budget 20/1h sources 64
	limit add b budget 10k/1h bytes from 198.51.100.0/24 proto tcp dport 80
	exempt add 10.0.0.0/30
WORDS
ok $? "a configuration for readers"
flood -s 10.0.0.0 -n 64 -c 2000
state >"$tmp/before"
by=(as_user)
fuzz "unprivileged user: every message is answered" -n $((messages / 4)) -r
state >"$tmp/after"
holds "... and none changes anything" cmp -s "$tmp/before" "$tmp/after" || diag "$(diff "$tmp/before" "$tmp/after")"

allow_users
# In a user namespace, while a limit of the host stays in force.
config <<<'limit add host budget 50/1h sources 4096'
ok $? "a configuration for the host"
weir save >"$tmp/before"
recount
before=$(stats seen)
flooding -s 10.0.0.0 -n 16 -R -r $rate
by=(as_user unshare -Urn)
# The host's root is answered all the time.
(while [ ! -e "$tmp/enough" ]; do
	timeout 120 weir limit show >/dev/null && echo answered || echo failed
done) >"$tmp/watched" &
watch=$!
fuzz "root of a user namespace: every message is answered" -n $((messages / 2)) -m "$messages"
: >"$tmp/enough"
wait "$watch"
is "$(sort -u "$tmp/watched")" answered "... and so is root of the host meanwhile"
is "$(never accepted | grep -v config-publish)" "" "... and every operation was done"
: >"$tmp/monitor"
lasting "a flood kept running"
quiet
is "$(weir save)" "$(<"$tmp/before")" "the host's configuration is unchanged"
is $(($(stats seen) - before)) "$(arrived)" "the host's packets are seen"
within "$(passed)" 16 800 "... and limited"

# A table is charged to the user's memory control group.
if echo +memory >$groups/cgroup.subtree_control 2>/dev/null && mkdir $groups/weir-user; then
	echo 12M >$groups/weir-user/memory.max
	sh -c "echo \$\$ >$groups/weir-user/cgroup.procs
		exec setpriv --reuid 65534 --regid 65534 --clear-groups unshare -Urn \
			$top/userspace/weir limit add huge budget 1000/s sources 196608" >"$tmp/said" 2>&1
	is $? 2 "a table beyond the memory of one's control group is refused"
	like "$(<"$tmp/said")" "memory" "... with a sentence"
	is "$(awk '$1 == "oom_kill" { print $2 }' $groups/weir-user/memory.events)" 0 "... and no process is killed"
	rmdir $groups/weir-user
else
	skip "no memory controller" "a table beyond the memory of one's control group is refused"
fi
flood -s 10.0.0.1 -c 200
within "$(weir -json source get 10.0.0.1 | json count)" 50 50 "the host's limit stays in force"
finish
