#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tool-faults.t: what the tool leaves when it is killed, gets no memory or disk, is not alone, or
# the power is lost: what was, or what was to be, whole. state-faults.t kills save and restore,
# upgrade-faults.t upgrade. Needs strace.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/killed.sh"
begin_with_two
counts >"$tmp/counts"
kept() { counts | diff "$tmp/counts" - >"$tmp/diff"; }
holds "there are counts to lose" [ "$(wc -l <"$tmp/counts")" = 5 ]

# weir -file: the old configuration or the new one, and the counts of what stays
mkdir "$tmp/dir"
old=$tmp/old new=$tmp/new last=$tmp/dir/last
command weir save "$old"
{ cat "$old" && echo 'limit add three budget 5/h from 10.3.0.0/16'; } >"$new"
weir -q -file "$new" && command weir save "$new" && weir -q -file "$old"
calls "$weir" -q -file "$new" -fallback "$last"
cmp "$new" "$last" >"$tmp/diff" 2>&1
ok $? "-file with -fallback makes $(wc -l <"$tmp/list") system calls that change anything" || diag "$(<"$tmp/diff")"
# is_one FILE: is it the old or the new configuration?
is_one() { cmp -s "$1" "$old" || cmp -s "$1" "$new"; }
bad=0
declare -A times=()
while read -r name n; do
	command weir -q -file "$old" -fallback "$last"
	killed "$name" "$n" "$weir" -q -file "$new" -fallback "$last"
	command weir save >"$tmp/is"
	{ kept && is_one "$tmp/is" && is_one "$last"; } || wrong "killed at $name $n:" "$(<"$tmp/is")" "$(<"$last")" "$(<"$tmp/diff")"
	((times[$(cmp -s "$tmp/is" "$new"; echo $?)]++))
done <"$tmp/list"
is "$bad" 0 "killed at each of them, it leaves the old configuration (${times[1]:-0} times) or the new one (${times[0]:-0} times), in force and in the file, and the counts"
holds "... both happen" [ "$((${times[0]:-0} * ${times[1]:-0}))" -gt 0 ]

# No room on the disk, or a file system that cannot be written: /etc
weir -q -file "$old"
for options in size=8k ro; do
	{ mkdir -p "$tmp/etc" && mount -t tmpfs tmpfs "$tmp/etc" && cp "$old" "$tmp/etc/last" && mount -o "remount,$options" "$tmp/etc"; } || bail "no file system"
	[ "$options" = ro ] || head -c 100000 /dev/zero >"$tmp/etc/fill" 2>/dev/null
	weir -q -file "$new" -fallback "$tmp/etc/last" >"$tmp/out" 2>&1
	like "$? $(<"$tmp/out")" "^0 weir: warning: .*applied, but not kept for the next boot: cannot write $tmp/etc/last: (No space left on device|Read-only file system)" "$options: -file applies, and warns that -fallback could not"
	weir save "$tmp/etc/last" >"$tmp/out" 2>&1
	like "$? $(<"$tmp/out")" "^4 weir: save: cannot write $tmp/etc/last: " "... save fails"
	is "$(cmp "$tmp/etc/last" "$old" 2>&1; echo "$tmp/etc"/*new*)" "$tmp/etc/*new*" "... and leaves the old file, and nothing beside it"
	weir -q -file "$old"
	umount "$tmp/etc"
done

# No memory for the tool
command weir save -state "$tmp/state"
bad=0 fine=0
for ((kib = $(least), end = kib + 4000; kib < end; kib += 400)); do
	for words in "save -state $tmp/dir/state" "-q -file $new" "-force restore $tmp/state"; do
		cp -p "$tmp/state" "$tmp/dir/state"
		# shellcheck disable=SC2086 # words
		{ (ulimit -v "$kib" && exec "$weir" $words) >"$tmp/out" 2>&1 && fine=$((fine + 1)); } 2>/dev/null
		command weir save >"$tmp/is"
		{ kept && is_one "$tmp/is" && command weir -check restore "$tmp/dir/state" >/dev/null 2>&1; } ||
			wrong "$kib KiB, $words: $(<"$tmp/out")" "$(<"$tmp/is")" "$(<"$tmp/diff")"
		command weir -q -file "$old"
	done
done
is "$bad" 0 "with too little memory save, -file and restore leave what was or what was to be"
within "$fine" 3 27 "... and with enough do it"

# Two at once
for _ in {1..10}; do
	command weir -q -file "$old" &
	command weir -q -file "$new" &
	command weir save -state "$tmp/dir/state" &
	command weir save -state "$tmp/dir/state" &
	wait
	command weir save >"$tmp/is"
	{ is_one "$tmp/is" && command weir -check restore "$tmp/dir/state" >/dev/null 2>&1 && kept && [ ! -e "$tmp/dir/state.weir-new" ]; } ||
		wrong "$(<"$tmp/is")" "$(ls "$tmp/dir")"
done
is "$bad" 0 "two that apply, and two that save to one file: one of both, whole"
weir -q -file "$old"
for _ in {1..5}; do
	command weir -q -force restore "$tmp/state" &
	command weir save -state "$tmp/dir/state" 2>"$tmp/err"
	status=$?
	wait
	{ kept && command weir -check restore "$tmp/dir/state" >/dev/null 2>&1; } || wrong "$status $(<"$tmp/err") $(<"$tmp/diff")"
done
is "$bad" 0 "save and restore at once: the counts are there, and the file is whole"

# Power lost at each system call: what the disk has then. auto_da_alloc would hide a missing fsync.
disk() { mount -o loop,noauto_da_alloc "$1" "$2"; }
# power_lost WHAT FILE OLD COMMAND...: the power is lost at each system call of a command that replaces
# FILE on the disk, which was OLD; "which FILE" says 2 for the old one, and 3 for the new one
power_lost() {
	local what=$1 file=$2 before=$3 name n seen=''
	shift 3
	cp -p "$before" "$tmp/disk/$file" && sync
	begin_anew
	calls "$@"
	echo "exit_group 1" >>"$tmp/list"
	bad=0
	while read -r name n; do
		begin_anew
		cp -p "$before" "$tmp/disk/$file" && sync
		killed "$name" "$n" "$@"
		cp "$tmp/image" "$tmp/cut"
		disk "$tmp/cut" "$tmp/after" || bail "$name $n: no disk"
		has=$(which "$tmp/after/$file")
		case $has in
		2 | 3) seen+=$has ;;
		*) wrong "$name $n: $has" ;;
		esac
		umount "$tmp/after"
	done <"$tmp/list"
	is "$bad" 0 "power lost at each system call of $what: the disk has the old file or the new one, whole"
	like "$seen" '^2+3+$' "... first the old one, at the end the new one"
}
if command -v mkfs.ext4 >/dev/null && modprobe loop && modprobe ext4; then
	mkdir "$tmp/disk" "$tmp/after"
	truncate -s 8M "$tmp/image"
	{ mkfs.ext4 -q "$tmp/image" && disk "$tmp/image" "$tmp/disk"; } || bail "no disk"
	weir -q -file "$new"
	begin_anew() { :; }
	which() { command weir -check restore "$1" 2>&1 | sed -n 's/.*limits \([23]\) .*/\1/p'; }
	power_lost "save -state" state "$tmp/state" "$weir" save -state "$tmp/disk/state"
	begin_anew() { command weir -q -file "$old"; }
	which() { if cmp -s "$1" "$old"; then echo 2; elif cmp -s "$1" "$new"; then echo 3; else echo "$(<"$1")"; fi; }
	power_lost "-file with -fallback" last "$old" "$weir" -q -file "$new" -fallback "$tmp/disk/last"
	umount "$tmp/disk"
else
	skip "no ext4" "power lost"
fi
finish
