#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Run the given programs, one per CPU at a time, and print their tests as one TAP
# stream in the given order. A program that ends before its last test fails.
set -u
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT || exit 1

export CMOCKA_MESSAGE_OUTPUT=TAP
number=0
failed=0

say() { # ok|'not ok' NAME
	number=$((number + 1))
	[ "$1" = ok ] || failed=$((failed + 1))
	printf '%s %d - %s\n' "$1" "$number" "$2"
}

# shellcheck disable=SC2016 # expanded by sh
printf '%s\n' "$@" | xargs -P "$(nproc)" -I @ sh -c '
	out=$0/$(echo "$1" | tr / :)
	timeout "${UNIT_TIMEOUT:-300}" "$1" >"$out" 2>&1
	echo "exit $?" >>"$out"' "$tmp" @

for program in "$@"; do
	build=${program%/*}
	name=${build##*/}/${program##*/}
	planned=-1
	seen=0
	before=$failed
	status=0
	while IFS= read -r line; do
		case $line in
		1..*)
			planned=${line#1..} ;;
		'ok '[0-9]*)
			seen=$((seen + 1))
			say ok "$name: ${line#*- }" ;;
		'not ok '[0-9]*)
			seen=$((seen + 1))
			say 'not ok' "$name: ${line#*- }" ;;
		'# ok -'* | '# not ok -'*) ;;
		'exit '[0-9]*)
			status=${line#exit } ;;
		*)
			printf '# %s\n' "${line#\# }" ;;
		esac
	done <"$tmp/${program//\//:}"
	if [ "$seen" != "$planned" ]; then
		say 'not ok' "$name: ended after $seen of $planned tests"
	elif [ "$status" != 0 ] && [ "$failed" = "$before" ]; then
		say 'not ok' "$name: exit status $status"
	fi
done
echo "1..$number"
[ "$failed" = 0 ] && [ "$number" != 0 ]
