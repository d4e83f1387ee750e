#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fuzz-netlink.t: messages made by lot from the specification, right and wrong,
# while packets flow: each is answered, refused with a sentence, and changes
# nothing then; by root, by a user without rights, and by one who is root in a
# namespace of their own. FUZZ_SEED and FUZZ_MESSAGES choose others, or more.
. "$(dirname "$0")/lib.sh"
need_cpus 2
. "$(dirname "$0")/python.sh"
need_tool
seed=${FUZZ_SEED:-1}
messages=${FUZZ_MESSAGES:-5000}
groups=/sys/fs/cgroup

# fuzz NAME OPTION...: in $rx, by the command in $by
fuzz() {
	local name=$1
	shift
	rx "${by[@]}" python3 "$here/fuzz_netlink.py" -s "$seed" "$@" >"$tmp/fuzz" 2>"$tmp/fault"
	ok $? "$name ($(tail -n 1 "$tmp/fuzz"))" || diag "$(head -c 4000 "$tmp/fault")"
}

# never WORD: the operations of which no message was WORD, accepted or refused
never() { awk -v w="$1" '$3 == "done" && !$(w == "accepted" ? 2 : 4) { print $1 }' "$tmp/fuzz" | xargs; }

# What a message can change.
state() {
	weir save
	weir -json stats show | jq -c '.[0] | {memory, limits, exempts}'
	weir -json source show idle | jq -c '.[] | {limit, address, count, dropped}' | sort
}

# A kernel that complains would carry more packets, and do nothing else.
rate=2000
[ ! -e /sys/kernel/debug/kmemleak ] || rate=200

floods() {
	flooding -s 10.0.0.0 -n 64 -R -r $((2 * rate))
	flooding -s 198.51.100.0 -n 8 -P tcp -D 80 -r $rate
	flooding -s 2001:db8::1 -n 16 -R -B 64 -r $rate
}

# as_user COMMAND...: one who may do nothing here
as_user() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }

# lasting: floods, and who listens, are there to the end
lasting() {
	local pid gone=0
	for pid in "${pids[@]}"; do kill -0 "$pid" || gone=1; done
	ok $gone "$1" || diag "$(cat "$tmp/monitor")"
}

begin
# A change waits for a grace period: that would be most of the time.
echo 1 >/sys/kernel/rcu_expedited
floods
weir monitor >/dev/null 2>"$tmp/monitor" &
pids+=($!)
fuzz "root: every message is answered" -n "$messages"
is "$(never accepted)" "" "every operation was done"
is "$(never refused)" "" "every operation was refused"
# Two at once, whose changes meet.
rx python3 "$here/fuzz_netlink.py" -s $((seed + 1)) -n $((messages / 4)) -o >/dev/null 2>"$tmp/second" &
second=$!
fuzz "and where others change the configuration, too" -f "$messages" -n $((messages / 4)) -o
wait "$second"
ok $? "so are those of the other" || diag "$(head -c 4000 "$tmp/second")"
lasting "floods and a listener went on meanwhile"
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
fuzz "without rights: every message is answered" -n $((messages / 4)) -r
state >"$tmp/after"
cmp -s "$tmp/before" "$tmp/after"
ok $? "and nothing is changed by any" || diag "$(diff "$tmp/before" "$tmp/after")"

# In a namespace of one's own, beside a limit that goes on.
config <<<'limit add host budget 50/1h sources 4096'
ok $? "and one for neighbours"
weir save >"$tmp/before"
recount
before=$(stats seen)
flooding -s 10.0.0.0 -n 16 -R -r $rate
by=(as_user unshare -Urn)
fuzz "root of a namespace of one's own: every message is answered" -n $((messages / 2))
is "$(never accepted)" "" "and every operation was done"
: >"$tmp/monitor"
lasting "a flood went on meanwhile"
quiet
is "$(weir save)" "$(<"$tmp/before")" "the host's configuration is as it was"
is $(($(stats seen) - before)) "$(arrived)" "the host's packets are seen"
within "$(passed)" 16 800 "and held to their limit"

# What they may hold is what their control group may.
if echo +memory >$groups/cgroup.subtree_control 2>/dev/null && mkdir $groups/weir-user; then
	echo 12M >$groups/weir-user/memory.max
	sh -c "echo \$\$ >$groups/weir-user/cgroup.procs
		exec setpriv --reuid 65534 --regid 65534 --clear-groups unshare -Urn \
			$top/userspace/weir limit add huge budget 1000/s sources 196608" >"$tmp/said" 2>&1
	is $? 2 "a table beyond the memory of one's control group is refused"
	like "$(<"$tmp/said")" "memory" "with a sentence"
	is "$(awk '$1 == "oom_kill" { print $2 }' $groups/weir-user/memory.events)" 0 "nobody is killed for it"
	rmdir $groups/weir-user
else
	skip "no memory controller" "a table beyond the memory of one's control group is refused"
fi
flood -s 10.0.0.1 -c 200
within "$(weir -json source get 10.0.0.1 | json count)" 50 50 "the host's limit goes on"
unload
ok $? "the module goes"
finish
