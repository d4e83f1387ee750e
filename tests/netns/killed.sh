# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# killed.sh: kill a command at each system call that changes anything outside of it, so not at dumps
# either. At any other one it leaves what it leaves at the next of these. And give it no memory.
command -v strace >/dev/null || skip_all "no strace"

# calls COMMAND...: list them in $tmp/list, by name and how many of that name were before, which
# is how strace finds them again
calls() {
	strace -o "$tmp/calls" "$@" >"$tmp/out" 2>&1 || bail "$(<"$tmp/out")"
	awk -F '(' '/^[a-z0-9_]+\(/ { n = ++seen[$1] }
		/^(write|pwrite64|ftruncate|f?ch(mod|own)|fsync|rename|unlink|mkdir|rmdir|send(to|msg)|bpf|delete_module|clone3?|v?fork|exit_group)\(|O_CREAT/ && !/NLM_F_DUMP|nlctrl/ { print $1, n }' "$tmp/calls" >"$tmp/list"
}
# killed NAME N COMMAND...: run it up to its system call N of that name
killed() {
	{ strace -qq -o "$tmp/calls" -e "inject=$1:signal=KILL:when=$2" "${@:3}" >"$tmp/out" 2>&1; } 2>/dev/null
}

# points PATTERN: where a command that was traced asks for memory or a process, from the system call
# on that matches, in $tmp/list: how many mmap, brk and clone it has called then
points() {
	awk -F '(' -v pattern="$1" '{ on = on || $0 ~ pattern }
		/^(mmap|brk|clone)\(/ { if (on) print n["mmap"] + 1, n["brk"] + 1, n["clone"] + 1; n[$1]++ }' "$tmp/calls" >"$tmp/list"
}
# starved "MMAP BRK CLONE" COMMAND...: run it without either from there on; brk does not return errors
starved() {
	local m b c
	read -r m b c <<<"$1"
	strace -qq -o "$tmp/calls" -e "inject=mmap:error=ENOMEM:when=$m+" -e "inject=brk:retval=0:when=$b+" \
		-e "inject=clone:error=EAGAIN:when=$c+" "${@:2}" >"$tmp/out" 2>&1
}
# least: the KiB of memory with which the tool begins, rounded up to 200
least() { for ((kib = 200; ; kib += 200)); do (ulimit -v "$kib" && exec "$weir" -V) >/dev/null 2>&1 && echo "$kib" && return; done; } 2>/dev/null

# begin_with_two: two limits, and five sources that the first one has counted and limits
begin_with_two() {
	begin_with <<-WORDS
		limit add one budget 20/1h from 10.1.0.0/16
		limit add two budget 20/1h from 10.2.0.0/16
	WORDS
	flood -s 10.1.0.1 -n 5 -c 50
	weir=$top/userspace/weir
}
# wrong WORDS...: a case that is not as it should be
wrong() {
	bad=$((bad + 1))
	diag "$@"
}
counts() { command weir -brief source show idle | sed 's/limited for.*//' | sort; }
