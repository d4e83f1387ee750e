#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# xdp-faults.t: weir upgrade with an XDP program, which calls the module, killed between its steps, or
# as one of its processes that list, detach and attach the program: limits are in force, or can be
# restored, and the program is on the device, or gone, as the tool says. Needs strace.
# shellcheck disable=SC2046 # words
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/killed.sh"
. "$(dirname "$0")/upgrades.sh"
[ -e /sys/kernel/btf/weir ] || skip_all "the module has no BTF"
command weir xdp attach dev rx0 2>"$tmp/err" || skip_all "no XDP program: $(<"$tmp/err")"
xdp() { command weir xdp show | grep -o '^dev rx0'; }
on_device() { ip link show rx0 | grep -q 'prog/xdp'; }
# again WHAT: xdp show says whether it is attached; it is attached by hand, and another upgrade takes
# it along
again() {
	if on_device; then [ "$(xdp)" ]; else [ ! "$(xdp)" ]; fi || wrong "$1: $(ip link show rx0) $(xdp)"
	command weir -exist xdp attach dev rx0 >"$tmp/err" 2>&1 || wrong "$1: $(<"$tmp/err")"
	command weir upgrade $(files) >"$tmp/err" 2>&1 || wrong "$1, again: $(<"$tmp/err")"
	{ on_device && [ "$(xdp)" ]; } || wrong "$1, again: the program is gone"
	same || wrong "$1, again: $(<"$tmp/diff")"
}
idle() { ! pgrep -x weir >/dev/null; }

# Before the program is detached, after that, without the module, with one that has nothing, with one
# that has everything but the program, and at the end
calls "$weir" upgrade $(files)
sed -n '/^mkdir/,$p' "$tmp/list" | awk '{ line[NR] = $0 } /^delete/ { gone = NR } /^clone/ { clone = NR } /^rmdir/ { last = NR }
	END { print line[1]; for (i = 0; i < 3; i++) print line[gone + i]; print line[clone]; print line[last] }' >"$tmp/points"
bad=0 gone=0 on=0
while read -r name n; do
	killed "$name" "$n" "$weir" upgrade $(files)
	wait_for 60 idle || wrong "$name $n: a process is left"
	if on_device; then on=$((on + 1)); else gone=$((gone + 1)); fi
	go_on 2>"$tmp/err" || wrong "killed at $name $n: $(<"$tmp/err")"
	again "killed at $name $n"
done <"$tmp/points"
is "$bad" 0 "killed at $(paste -sd , "$tmp/points"), the program is on the device ($on times), or gone, which is said ($gone times)"
holds "... both happen" [ $((gone * on)) -gt 0 ]

# The processes that detach and attach it. strace counts the calls of each apart, and the tool has some
# of its own, before it begins.
strace -ff -e bpf -o "$tmp/trace" "$weir" upgrade $(files) >"$tmp/out" 2>&1 || bail "$(<"$tmp/out")"
mapfile -t calls_of < <(grep -c '^bpf' "$tmp"/trace.* | sed 's/.*://' | sort -nu | tail -n 3)
detach=${calls_of[1]} attach=${calls_of[2]}
bad=0
times=()
for n in "$detach" $(((detach + attach) / 2)) "$attach"; do
	{ strace -f -qq -o "$tmp/calls" -e "inject=bpf:signal=KILL:when=$n" "$weir" upgrade $(files) >"$tmp/out" 2>&1; } 2>/dev/null
	status=$?
	put "bpf $n"
	like "$(<"$tmp/out")" "^weir: upgrade: the process for its XDP programs was ended by signal 9" "a process that has called bpf $n times is killed, as upgrade says"
	again "bpf $n"
done
is "$bad" 0 "... everything else is in force, and the program is on the device, or gone, as xdp show says"
is "${times[2]:-0} $(tail -n 1 "$tmp/out")" "2 weir: upgrade: limits, counts and blocks are in force, but not all XDP programs are attached: see 'weir xdp show'" "... which upgrade says if it was not attached again"
command weir xdp detach dev rx0
finish
