#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# confirm-faults.t: weir -confirm, confirm and confirm revert, killed at each system call, or while
# one fails, there is no memory, /run is full or read-only, or another -confirm is made: what was in
# force still is, or the change is with a deadline that takes it back, or it was confirmed; never is
# it in force without one. Needs strace.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/killed.sh"
begin_with <<-WORDS
	limit add one budget 20/1h penalty 1h from 10.1.0.0/16
	exempt add 10.3.0.0/16
WORDS
rm -rf /run/weir-confirm
flood -s 10.1.0.1 -n 5 -c 100
tool=$top/userspace/weir
change=(limit add new budget 5/h from 10.2.0.0/16)

# calls COMMAND...: list the system calls that it makes itself, by name and how many of that name
# were before, from the first on that has to do with it
calls() {
	strace -o "$tmp/calls" "$@" >"$tmp/out" 2>&1 || bail "$(<"$tmp/out")"
	awk -F '(' '/^[a-z0-9_]+\(/ { n = ++seen[$1]; on = on || /weir-confirm/; if (on) print $1, n }' "$tmp/calls" >"$tmp/list"
}
facts() {
	"$tool" -brief source show idle | sed 's/ \(blocked\|limited\) for.*//' | sort
	"$tool" save
}
facts >"$tmp/facts"
same() { facts | diff "$tmp/facts" - >"$tmp/diff"; }
# look: is the change in force, and does it wait? Both are shown at once.
look() { said=$("$tool" limit show 2>&1); }
changed() { [[ $said == *$'\n'"new budget "* ]]; }
waits() { [[ $said == *" waits for 'weir confirm'"* ]]; }
# fault WHAT NAME N: report it
fault() { bad=$((bad + 1)) && diag "killed at $2 $3: $1" "$(tail -n 2 "$tmp/calls")" "$(<"$tmp/diff")"; }

calls "$tool" -confirm 1h "${change[@]}"
"$tool" confirm revert 2>/dev/null
same
ok $? "-confirm makes $(wc -l <"$tmp/list") system calls"
bad=0 nothing=0 made=0
while read -r name n; do
	killed "$name" "$n" "$tool" -confirm 1h "${change[@]}"
	look
	if changed; then
		made=$((made + 1))
		{ waits && [ "$(pgrep -cx weir)" = 1 ]; } || fault "the change stays" "$name" "$n"
	else
		nothing=$((nothing + 1))
	fi
	waits || continue
	"$tool" confirm revert 2>/dev/null || fault "it cannot be taken back" "$name" "$n"
	same || fault "something else is changed" "$name" "$n"
done <"$tmp/list"
is "$bad" 0 "killed at each of them, nothing is changed ($nothing times), or the change waits, with a deadline ($made times)"
holds "... both happen" [ $((nothing * made)) -gt 0 ]
same
ok $? "... and nothing else is changed"

"$tool" -confirm 1h "${change[@]}" >/dev/null 2>&1
calls "$tool" confirm
"$tool" limit del new
bad=0 waiting=0 kept=0
while read -r name n; do
	"$tool" -confirm 1h "${change[@]}" >/dev/null 2>&1 || fault "no other change can wait" "$name" "$n"
	killed "$name" "$n" "$tool" confirm
	look
	changed || fault "the change is gone" "$name" "$n"
	if waits; then
		waiting=$((waiting + 1))
		[ "$(pgrep -cx weir)" = 1 ] || fault "it waits, but without a deadline" "$name" "$n"
		"$tool" confirm || fault "it cannot be confirmed" "$name" "$n"
	else
		kept=$((kept + 1))
	fi
	"$tool" limit del new
done <"$tmp/list"
is "$bad" 0 "confirm, killed at each of $(wc -l <"$tmp/list"): the change still waits ($waiting times), or is confirmed ($kept times)"
holds "... both happen" [ $((waiting * kept)) -gt 0 ]
"$tool" -confirm 1h "${change[@]}" >/dev/null 2>&1
"$tool" confirm revert 2>/dev/null
is "$(pgrep -cx weir)" 0 "... and then no deadline is left"

"$tool" -confirm 1h "${change[@]}" >/dev/null 2>&1
calls "$tool" confirm revert
bad=0 waiting=0 done=0
while read -r name n; do
	"$tool" -confirm 1h "${change[@]}" >/dev/null 2>&1 || fault "no other change can wait" "$name" "$n"
	killed "$name" "$n" "$tool" confirm revert
	look
	if waits; then
		waiting=$((waiting + 1))
		[ "$(pgrep -cx weir)" = 1 ] || fault "it waits, but without a deadline" "$name" "$n"
		"$tool" confirm revert 2>/dev/null || fault "it cannot be taken back" "$name" "$n"
	else
		done=$((done + 1))
	fi
	same || fault "other sources or limits" "$name" "$n"
done <"$tmp/list"
is "$bad" 0 "confirm revert, killed at each of $(wc -l <"$tmp/list"): the deadline goes on ($waiting times), or all is as it was ($done times)"
holds "... both happen" [ $((waiting * done)) -gt 0 ]

deadline() { [ "$(pgrep -cx weir)" = 1 ]; }
# wrong WHAT: report it
wrong() { bad=$((bad + 1)) && diag "$1: status $status $(<"$tmp/out")" "$said" "$(<"$tmp/diff")"; }
# whole WHAT: after -confirm, the change waits with a deadline, or nothing is changed, which its
# status says; then nothing is left of it. If the module has not answered, what waits may be nothing.
whole() {
	look
	if changed || waits; then
		made=$((made + 1))
		{ { changed || [ "$status" = 3 ]; } && waits && deadline; } || wrong "$1: half"
		"$tool" confirm revert 2>"$tmp/out" || wrong "$1: not taken back"
	else
		nothing=$((nothing + 1))
		{ [ "$status" -gt 0 ] && [ -s "$tmp/out" ]; } || wrong "$1: not said"
		! deadline || wrong "$1: a deadline is left"
	fi
	same || wrong "$1: something else is changed"
}
# still WHAT: after confirm or revert, the change waits with a deadline unless the status is 0; what
# was restored waits as long as its record is there
still() {
	look
	if waits; then
		waiting=$((waiting + 1))
		{ [ "$status" -gt 0 ] && [ -s "$tmp/out" ] && { changed || [ $verb = revert ]; } && deadline; } || wrong "$1: half"
	else
		done=$((done + 1))
		[ "$status" = 0 ] || wrong "$1: done, but not said"
	fi
}
# ends WHAT: whatever confirm or revert left, it can be done again
ends() {
	look
	if waits; then "$tool" confirm revert 2>"$tmp/out" || wrong "$1: not taken back"; fi
	"$tool" -exist limit del new
	same || wrong "$1: something else is changed"
}
# starts: a change waits
starts() { "$tool" -confirm 1h "${change[@]}" >"$tmp/out" 2>&1 || wrong "no change can wait"; }
# faults WORDS...: where a command may fail, in $tmp/list; fails WHERE WORDS...: it does
some='^(open|openat|write|fchmod|fsync|rename|unlink|mkdir|sendto|sendmsg|recvmsg|fcntl|pipe2|clone)$'
faults() {
	calls "$tool" "$@"
	case $way in
	once) awk -v some="$some" '$1 ~ some' "$tmp/list" >"$tmp/some" && mv "$tmp/some" "$tmp/list" ;;
	*) points weir-confirm ;;
	esac
}
fails() {
	case $way in
	once) strace -qq -o "$tmp/calls" -e "inject=${1% *}:error=EIO:when=${1#* }" "$tool" "${@:2}" >"$tmp/out" 2>&1 ;;
	*) starved "$1" "$tool" "${@:2}" ;;
	esac
	status=$?
}
for way in once always; do
	text="one of its system calls fails"
	[ $way = once ] || text="it gets no memory, nor a process, from one of its system calls on"
	bad=0 nothing=0 made=0
	faults -confirm 1h "${change[@]}"
	"$tool" confirm revert 2>/dev/null
	while read -r where; do
		fails "$where" -confirm 1h "${change[@]}"
		whole "$where"
	done <"$tmp/list"
	is "$bad" 0 "-confirm, $text ($(wc -l <"$tmp/list")): nothing is changed ($nothing times), or the change waits ($made times)"
	for verb in keep revert; do
		bad=0 waiting=0 done=0
		starts
		faults confirm $verb
		ends before
		while read -r where; do
			starts
			fails "$where" confirm $verb
			still "$where"
			ends "$where"
		done <"$tmp/list"
		is "$bad" 0 "confirm $verb, $text ($(wc -l <"$tmp/list")): the change still waits ($waiting times), or that is done ($done times)"
	done
done

# /run without room: for so many files, or pages
bad=0 nothing=0 made=0
for room in nr_inodes={1..6} size={4..24..4}k; do
	mount -t tmpfs -o "mode=700,$room" none /run/weir-confirm || bail "no tmpfs"
	"$tool" -confirm 1h "${change[@]}" >"$tmp/out" 2>&1
	status=$?
	[ "$status" = 0 ] || grep -q 'cannot .*No space left on device' "$tmp/out" || wrong "$room: another sentence"
	whole "$room"
	umount /run/weir-confirm || bail "busy"
done
is "$bad" 0 "-confirm, and /run has no room: nothing is changed ($nothing times), or the change waits ($made times)"
holds "... both happen" [ $((nothing * made)) -gt 0 ]
bad=0
mount -t tmpfs -o mode=700,size=64k none /run/weir-confirm || bail "no tmpfs"
for verb in keep revert; do
	starts
	head -c 100000 /dev/zero >/run/weir-confirm/fill 2>/dev/null
	# shellcheck disable=SC2016 # the inner shell's
	unshare -m bash -c 'mount --bind /run/weir-confirm /run/weir-confirm && mount -o remount,bind,ro /run/weir-confirm && exec "$0" confirm "$1"' \
		"$tool" $verb >"$tmp/out" 2>&1
	status=$?
	look
	is "$status $(grep -c 'cannot use .*: Read-only file system' "$tmp/out")" "2 1" "confirm $verb, and /run is read-only: it is refused" || diag "$(<"$tmp/out")"
	waits && changed && deadline
	ok $? "... and the change still waits" || diag "$said"
	"$tool" confirm $verb >"$tmp/out" 2>&1
	status=$?
	look
	is "$status" 0 "confirm $verb, and /run is full: it is done" || diag "$(<"$tmp/out")"
	! waits && ! deadline
	ok $? "... and nothing waits" || diag "$said"
	"$tool" -exist limit del new
	same
	ok $? "... nor is anything else changed" || diag "$(<"$tmp/diff")"
	rm -f /run/weir-confirm/fill
done
umount /run/weir-confirm

# Two at once: one is made, and has its deadline
other=(limit add other budget 5/h from 10.4.0.0/16)
bad=0
for _ in {1..20}; do
	"$tool" -confirm 1h "${change[@]}" >"$tmp/out" 2>&1 &
	first=$!
	"$tool" -confirm 1h "${other[@]}" >"$tmp/second" 2>&1
	second=$?
	wait "$first"
	status="$? and $second"
	cat "$tmp/second" >>"$tmp/out"
	look
	has=new
	[[ $said != *$'\n'"other budget"* ]] || has=other
	! changed || [ $has = new ] || has=both
	{ [[ "$status $has" == @("0 and 2 new"|"2 and 0 other") ]] && waits && deadline; } || wrong "two at once: $has"
	grep -qE "^weir: limit add: (another change with -confirm is being made|'limit add (new|other) .*' waits to be confirmed, )" "$tmp/out" || wrong "two at once: another sentence"
	"$tool" confirm revert 2>"$tmp/out" || wrong "not taken back"
	same || wrong "something else is changed"
done
is "$bad" 0 "two -confirm at once: one change waits, with its deadline, and the other is refused"
# ... while the first one makes its change
strace -qq -o "$tmp/calls" -e inject=rename:delay_exit=3000000:when=2 "$tool" -confirm 5s "${change[@]}" >"$tmp/out" 2>&1 &
first=$!
recorded() { compgen -G '/run/weir-confirm/*/change' >/dev/null; }
holds "a change is being made" wait_for 60 recorded
"$tool" -confirm 1h "${other[@]}" >"$tmp/second" 2>&1
is "$? $(<"$tmp/second")" "2 weir: limit add: another change with -confirm is being made, confirmed or taken back" "... another one meanwhile is refused"
wait "$first"
is "$?" 0 "... the first one is made" || diag "$(<"$tmp/out")"
holds "... and taken back by its own deadline" wait_for 60 same || diag "$(<"$tmp/diff")"

# The deadline comes, and what was saved cannot be read
"$tool" -confirm 2s "${change[@]}" >"$tmp/out" 2>&1
saved=$(compgen -G '/run/weir-confirm/*/state')
mv "$saved" "$tmp/saved"
strace -qq -o "$tmp/deadline" -e trace=openat -p "$(pgrep -x weir)" 2>"$tmp/err" &
tracer=$!
tried() { grep -qs '/state".* ENOENT' "$tmp/deadline"; }
holds "a deadline comes, and the state cannot be read" wait_for 60 tried || diag "$(<"$tmp/err")"
look
waits && changed
ok $? "... so the change still waits" || diag "$said"
mv "$tmp/saved" "$saved"
holds "... and is taken back as soon as it can be" wait_for 60 same || diag "$(<"$tmp/diff")"
wait "$tracer"
is "$(pgrep -cx weir)" 0 "... which is the end"
finish
