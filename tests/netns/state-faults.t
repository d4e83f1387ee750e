#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# state-faults.t: save -state and restore, killed at each system call that changes anything: the
# file is the old one or the new one, whole; either nothing is in force, or all with its counts,
# and what was killed can be done again. Needs strace.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/killed.sh"
begin_with <<-WORDS
	limit add one budget 20/1h from 10.1.0.0/16
	limit add two budget 20/1h penalty 1h from 10.2.0.0/16
	exempt add 10.3.0.0/16
WORDS
for net in 1 2; do flood -s "10.$net.0.1" -n 10 -c 50; done
flood -s 10.2.1.1 -c 30
state=$tmp/dir/state
mkdir "$tmp/dir"

# has FILE: what it has
has() { command weir -check restore "$1" 2>&1 | grep -o 'limits.*'; }

command weir save -state "$tmp/old"
sources() { command weir -j source show idle | jq -c '.[] | del(.next_ms, .blocked_ms) | del(.budgets[]?.next_ms)' | sort; }
sources >"$tmp/all"
whole() { sources | diff "$tmp/all" - >"$tmp/diff"; }
former='limits 2 exempts 1 blocked prefixes 0 sources 21'
is "$(has "$tmp/old")" "$former" "a state"

# A source and a limit more: the new state is another one.
weir limit add three budget 5/h from 10.4.0.0/16 >/dev/null
weir source charge 10.4.0.1 limit three >/dev/null
new='limits 3 exempts 1 blocked prefixes 0 sources 22'
cp -p "$tmp/old" "$state"
calls "$top/userspace/weir" save -state "$state"
is "$(has "$state")" "$new" "save -state makes $(wc -l <"$tmp/list") system calls"
bad=0 olds=0 news=0
while read -r name n; do
	cp -p "$tmp/old" "$state"
	killed "$name" "$n" "$top/userspace/weir" save -state "$state"
	case $(has "$state") in
	"$former") olds=$((olds + 1)) ;;
	"$new") news=$((news + 1)) ;;
	*) bad=$((bad + 1)) && diag "killed at $name $n: $(has "$state")" "$(tail -n 2 "$tmp/calls")" ;;
	esac
done <"$tmp/list"
is "$bad" 0 "killed at each of them, the file is the old one ($olds times) or the new one ($news times)"
holds "... both happen" [ $((olds * news)) -gt 0 ]
killed fsync 1 "$top/userspace/weir" save -state "$state"
is "$(ls "$tmp/dir")" $'state\nstate.weir-new' "killed before the new file was renamed, it leaves that"
command weir save -state "$state"
is "$(ls "$tmp/dir")" state "... which the next one removes"
while read -r name n; do
	rm -f "$state"
	killed "$name" "$n" "$top/userspace/weir" save -state "$state"
	[ ! -e "$state" ] || [ "$(has "$state")" = "$new" ] || { bad=$((bad + 1)) && diag "killed at $name $n: $(ls -l "$tmp/dir")"; }
done <"$tmp/list"
is "$bad" 0 "... and where there was none, there is none or the new one"

weir -file - <<<'# none' 2>/dev/null
calls "$top/userspace/weir" restore "$tmp/old"
whole
ok $? "restore makes $(wc -l <"$tmp/list") system calls" || diag "$(<"$tmp/diff")"
nothing=0 done=0
while read -r name n; do
	weir -file - <<<'# none' 2>/dev/null
	killed "$name" "$n" "$top/userspace/weir" restore "$tmp/old"
	if [ "$(command weir save | wc -l)" = 1 ]; then
		nothing=$((nothing + 1))
		command weir restore "$tmp/old" 2>"$tmp/err" || { bad=$((bad + 1)) && diag "again after $name $n: $(<"$tmp/err")"; }
	else
		done=$((done + 1))
	fi
	whole || { bad=$((bad + 1)) && diag "killed at $name $n: other sources" "$(tail -n 2 "$tmp/calls")"; }
done <"$tmp/list"
is "$bad" 0 "killed at each of them, nothing is in force ($nothing times), and it can be done again, or all of it ($done times)"
holds "... both happen" [ $((nothing * done)) -gt 0 ]

# Power that is lost after the rename: the file and the folder were synced, in this order.
strace -e trace=openat,write,fsync,rename,close,fchmod -o "$tmp/calls" "$top/userspace/weir" save -state "$state"
is "$(grep -oE '^(fchmod|fsync|rename)' "$tmp/calls" | paste -sd ' ')" "fchmod fsync rename fsync" "the file is synced before it is renamed, and the folder after that"
finish
