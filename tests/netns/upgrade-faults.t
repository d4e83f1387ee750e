#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# upgrade-faults.t: weir upgrade, killed at each system call that changes anything, or failing there,
# or without memory or room in /run: everything is in force, or can be restored; and others that run
# meanwhile. xdp-faults.t kills it with an XDP program. Needs strace.
# shellcheck disable=SC2046 # words
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/killed.sh"
. "$(dirname "$0")/upgrades.sh"
calls "$weir" upgrade $(files)
all | diff "$tmp/all" - >"$tmp/diff"
rc=$?
is "$(cat /sys/kernel/rcu_expedited)" 0 "after an upgrade grace periods are as long as before"
ok $rc "upgrade makes $(sed -n '/^mkdir/,$p' "$tmp/list" | wc -l) system calls that change anything" || diag "$(<"$tmp/diff")"
bad=0
times=()
while read -r name n; do
	killed "$name" "$n" "$weir" upgrade $(files)
	left=module
	[ -d /sys/module/weir ] || left=none
	((times[$left]++))
	{ go_on 2>"$tmp/err" && all | diff "$tmp/all" - >"$tmp/diff"; } || wrong "killed at $name $n, $left: $(<"$tmp/err")" "$(<"$tmp/diff")" "$(ls "$dir" 2>&1)"
done < <(sed -n '/^mkdir/,$p' "$tmp/list")
is "$bad" 0 "killed at each of them, what is in force and the states in $dir have everything (${times[none]:-0} times no module is loaded)"
holds "... with the old module, with none, and with the new one" [ "${times[none]:-0}" -gt 0 -a "${times[module]:-0}" -gt 1 ]

# The removal fails, or what follows it, among that each request to the new module
bad=0
times=()
while read -r name n; do
	strace -qq -o "$tmp/calls" -e "inject=$name:error=EPERM:when=$n" "$weir" upgrade $(files) >"$tmp/out" 2>&1
	status=$?
	((times[$status]++))
	all | diff "$tmp/all" - >"$tmp/diff" || wrong "$name $n fails: $status $(<"$tmp/out")" "$(<"$tmp/diff")" "$(ls "$dir" 2>&1)"
	case $name in
	rmdir) rmdir "$dir" ;;
	*) [ ! -e "$dir" ] || { wrong "$name $n fails: $dir stays"; rm -rf "$dir"; } ;;
	esac
done < <(sed -n '/^delete_module/,$p' "$tmp/list" | grep -E '^(delete|send|rmdir)')
is "$bad" 0 "if one of them fails, everything is in force (status 0 ${times[0]:-0} times, 2 ${times[2]:-0} times)"
holds "... mostly by the old module" [ "${times[2]:-0}" -gt 3 ]

# No memory, nor any process, from some system call on; and little memory
bad=0
times=()
strace -o "$tmp/calls" "$weir" upgrade $(files) >"$tmp/out" 2>&1
points '^mkdir'
while read -r where; do
	starved "$where" "$weir" upgrade $(files)
	status=$?
	put "no memory from $where on"
done <"$tmp/list"
is "$bad" 0 "without memory from one of $(wc -l <"$tmp/list") system calls on, everything is in force (status 0 ${times[0]:-0} times, 2 ${times[2]:-0}, 4 ${times[4]:-0}), or can be restored (3 ${times[3]:-0})"
bad=0
times=()
for ((kib = $(least), end = kib + 4000; kib < end; kib += 400)); do
	{ (ulimit -v "$kib" && exec "$weir" upgrade $(files)) >"$tmp/out" 2>&1; } 2>/dev/null
	status=$?
	put "$kib KiB"
done
is "$bad" 0 "with too little memory everything is in force (status 0 ${times[0]:-0} times, 2 ${times[2]:-0}, 4 ${times[4]:-0})"
is "${times[3]:-0}" 0 "... and the module is not removed then"

# No room in /run, for so many files or pages, or it is read-only
cp "$stripped" "$tmp/old.ko"
run_with() {
	# shellcheck disable=SC2016 # the inner shell's
	unshare -m bash -c '
		mount --rbind /run "$0/run" && mount -t tmpfs -o "mode=755,size=128k,$1" none /run && mkdir /run/netns || exit 9
		mount --rbind "$0/run/netns" /run/netns || exit 9
		if [ "$2" != ro ]; then
			head -c 200000 /dev/zero >/run/fill 2>/dev/null
			truncate -s "-$(($2 * 4096))" /run/fill
		else
			mount -o remount,ro /run || exit 9
		fi
		"${@:3}"
		status=$?
		[ ! -e /run/weir-upgrade ] || { ls -R /run/weir-upgrade && exit 8; }
		exit $status' "$tmp" "$@" >"$tmp/out" 2>&1
	status=$?
}
mkdir "$tmp/run"
bad=0
times=()
for room in nr_inodes=99\ {{0..6},ro} nr_inodes={4..8}\ 20; do
	# shellcheck disable=SC2086 # words
	run_with $room "$weir" upgrade $(files | sed "s:$stripped:$tmp/old.ko:")
	put "$room"
	[ "$status" = 0 ] || grep -qE ': (No space left on device|Read-only file system)$' "$tmp/out" || wrong "$room: $status $(<"$tmp/out")"
done
is "$bad" 0 "if /run has no room, or is read-only, the module stays, and everything is in force (${times[2]:-0} and ${times[4]:-0} times)"
holds "... with enough it is replaced" [ "${times[0]:-0}" -gt 1 ]

# Others, before the module is removed
{ command weir save && echo 'limit add three budget 5/h from 10.3.0.0/16'; } >"$tmp/new"
strace -qq -o /dev/null -e inject=delete_module:delay_enter=6000000 "$weir" upgrade $(files) >"$tmp/out" 2>&1 &
pids+=($!)
holds "an upgrade runs" wait_for 60 [ -e "$dir/$far" ]
command weir -q -file "$tmp/new" >"$tmp/said" 2>&1 &
pids+=($!)
"$weir" upgrade $(files) >"$tmp/second" 2>&1
is "$? $(<"$tmp/second")" "2 weir: upgrade: another 'weir upgrade' is running" "another upgrade is refused"
flooded
like "$(<"$tmp/out")" "packets were not limited" "the first one ends"
like "$(command weir limit show | paste -sd ' ')" "^one .* two .* three " "-file has waited, and what it applied is in force" || diag "$(<"$tmp/said")"
is "$(counts | wc -l)" 5 "... with the counts"
strace -qq -o /dev/null -e inject=delete_module:delay_enter=14000000 "$weir" upgrade $(files) >"$tmp/out" 2>&1 &
pids+=($!)
wait_for 60 [ -e "$dir/$far" ]
is "$(command weir save -state "$tmp/now" 2>&1; echo $?)" "weir: 'weir upgrade' is replacing the module, and takes long; try again after that
3" "after ten seconds, who waits changes and saves nothing"
flooded
finish
