# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# tap.sh: results of tests as TAP, for tests/cli/lib.sh and tests/netns/lib.sh, which
# source it. A test ends with finish.
tests=0 failures=0 sentence=''

diag() { printf '%s\n' "$@" | sed 's/^/# /'; }

# ok STATUS NAME...: a name that begins with "..." goes on from the last one that does not, and is
# reported with that, so that each result can be read alone
ok() {
	local status=$1 name
	shift
	name=$*
	case $name in
	"... "?*) name="$sentence $name" ;;
	*) sentence=$name ;;
	esac
	case $name in
	" "* | "" | ...)
		diag "this result has no name: '$*'"
		status=1
		;;
	esac
	tests=$((tests + 1))
	if [ "$status" = 0 ]; then
		echo "ok $tests - $name"
	else
		failures=$((failures + 1))
		echo "not ok $tests - $name"
	fi
	return "$status"
}

# holds NAME COMMAND...: the command should succeed
holds() {
	"${@:2}"
	ok $? "$1"
}

# quietly COMMAND...: what it writes is shown only if it fails
quietly() { "$@" >"$tmp/said" 2>&1 || { diag "$(<"$tmp/said")" && false; }; }

# is GOT WANTED NAME...
is() {
	local got=$1 wanted=$2
	shift 2
	[ "$got" = "$wanted" ]
	ok $? "$@" || diag "got $got, wanted $wanted"
}

# within GOT LEAST MOST NAME...
within() {
	local got=$1 least=$2 most=$3
	shift 3
	[ "${got:-x}" -ge "$least" ] 2>/dev/null && [ "$got" -le "$most" ]
	ok $? "$@" || diag "got $got, wanted $least to $most"
}

# like TEXT PATTERN NAME...: an extended regular expression
like() {
	local text=$1 pattern=$2
	shift 2
	[[ $text =~ $pattern ]]
	ok $? "$@" || diag "got: $text" "wanted: $pattern"
}

# skip REASON NAME...: tests/runner/skips lists where which reasons are permitted
skip() {
	local why=$1
	shift
	tests=$((tests + 1))
	echo "ok $tests - $* # SKIP $why"
}

skip_all() { echo "1..0 # SKIP $*"; exit 4; }

# bail REASON: the rest of this file cannot be tested
bail() { echo "not ok $((tests + 1)) - $*"; exit 1; }

finish() {
	echo "1..$tests"
	[ "$failures" = 0 ]
	exit
}

# stand_in_make: a folder of headers has the module that make builds with them
stand_in_make() {
	cat >/usr/bin/make <<-'END'
		#!/bin/sh
		for word; do
			case $word in
			KDIR=*) headers=${word#*=} ;;
			modules) cp "$headers/weir.ko" . ;;
			clean) rm -f weir.ko ;;
			esac
		done
	END
	chmod 755 /usr/bin/make
}
