# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# lib.sh: common code of the tool's tests, which need neither root nor the module.
# A test sources it first and ends with finish.
#
# says reads lines of
#	STATUS | COMMAND | PATTERN
# STATUS is the exit status, COMMAND the arguments of weir (quotes as in the shell), PATTERN an
# extended regular expression for stderr; if it is empty, stderr must be empty.
set -u
shopt -s lastpipe
export LC_ALL=C
unset SSH_TTY
# shellcheck source=../tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
weir=${WEIR:-$top/userspace/weir}
[ -x "$weir" ] || skip_all "userspace/weir is not built"
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT || exit 1
cd "$tmp" || exit 1

# said FILE: what weir wrote to stderr, but that the kernel was not asked: a test may run without
# the module or the rights, or with them
said() { grep -v '^weir: note: .*not checked by the kernel: ' "$1"; }

# run COMMAND...: run weir; sets $status, $out and $err
# shellcheck disable=SC2034 # for the tests
run() {
	"$weir" "$@" >out 2>err </dev/null
	status=$?
	out=$(<out) err=$(said err)
}

# next WORDS... -- [!]CANDIDATE...: after WORDS it should (not) be offered
next() {
	local words=() candidate
	while [ "$1" != -- ]; do words+=("$1") && shift; done
	shift
	run -complete "${words[@]}"
	for candidate; do
		grep -qxe "${candidate#!}" out
		is "$?" "$([[ $candidate != !* ]]; echo $?)" "${weir##*/} ${words[*]} $candidate"
	done
}

# trim VARIABLE
trim() {
	local text=${!1}
	text=${text#"${text%%[![:space:]]*}"}
	printf -v "$1" %s "${text%"${text##*[![:space:]]}"}"
}

# says: one test per line of stdin
says() {
	local wanted command pattern words
	while IFS='|' read -r wanted command pattern; do
		trim wanted && trim command && trim pattern
		case $wanted in '' | '#'*) continue ;; esac
		# a broken bar stands for | in a command or pattern
		command=${command//¦/|} pattern=${pattern//¦/|}
		eval "words=($command)"
		run "${words[@]}"
		if [ -n "$pattern" ]; then [[ $err =~ $pattern ]]; else [ -z "$err" ]; fi
		ok $((status != wanted || $?)) "weir $command" ||
			diag "status $status, wanted $wanted" "stderr: $err" "wanted: $pattern"
	done
}
