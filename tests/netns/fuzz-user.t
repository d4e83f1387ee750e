#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fuzz-user.t: a user without rights, as root of a user and network namespace of its own,
# sends sequences of requests that interfere, with numbers from the ends of their ranges
# (fuzz_sequence.py). Meanwhile the host's root is answered: for another namespace, and where
# a family of generic netlink is registered, which waits for every request that runs.
# FUZZ_SEED and FUZZ_BATCHES choose other requests, or more; FUZZ_FIRST the first batch.
. "$(dirname "$0")/lib.sh"
need_cpus 2
. "$(dirname "$0")/python.sh"
need_tool
load userns=1 || bail "cannot load"
space rx
# Changes wait for grace periods, which would take most of the time.
echo 1 >/sys/kernel/rcu_expedited
: >"$tmp/watched"

# did COMMAND...: run a command of the host's root, and leave a byte
did() {
	"$@" >"$tmp/did" 2>&1 || echo "$*: $(<"$tmp/did")" >>"$tmp/failed"
	printf . >>"$tmp/watched"
}
# The smallest module that has a family
family=psample
modinfo $family >/dev/null 2>&1 || family=''
watch() {
	while [ ! -e "$tmp/enough" ]; do
		did weir limit add watch budget 10/1s sources 64
		did weir limit show watch
		did weir limit del watch
		[ -z "$family" ] || did modprobe $family
		[ -z "$family" ] || did modprobe -r $family
	done
}
watch &
watch=$!
setpriv --reuid 65534 --regid 65534 --clear-groups unshare -Urn python3 "$here/fuzz_sequence.py" \
	-s "${FUZZ_SEED:-1}" -f "${FUZZ_FIRST:-0}" -n "${FUZZ_BATCHES:-20}" -w 3 -p 5 3<"$tmp/watched" 2>"$tmp/fault" | tee "$tmp/fuzz" | sed -u 's/^/# /'
ok "${PIPESTATUS[0]}" "every request is answered, and the host's root meanwhile ($(tail -n 1 "$tmp/fuzz"))" || diag "$(head -c 4000 "$tmp/fault")"
: >"$tmp/enough"
wait "$watch"
is "$(cat "$tmp/failed" 2>/dev/null)" "" "... with success"
[ -n "$family" ] || skip "no module psample" "a family is registered meanwhile"
is "$(weir limit show)" "" "nothing is left in the other namespace"
finish
