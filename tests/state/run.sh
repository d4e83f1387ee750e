#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh [FROM:TO...]: kernel TO restores what kernel FROM saved: from a clock of 100 Hz to one of 250 Hz
# and back, and from the oldest kernel to the newest. TAP.
. "$(dirname "$0")/../tap.sh"
set -u
top=$(cd "$(dirname "$0")/../.." && pwd -P) && cd "$top" || exit 1
[ $# -gt 0 ] || set -- uml-kasan:sid sid:uml-kasan 6.1:sid
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT && trap 'exit 130' INT TERM || exit 1

# kernel NAME: build the module for it, and what is no package's kernel; 4 if it is not here
kernel() {
	[ "$1" != uml-kasan ] || { [ -e .cache/uml/source/version ] || return 4; tests/vm/uml-build.sh kasan || return; }
	[ -e ".cache/kernels/$1/version" ] || return 4
	tests/vm/kernel-build.sh -w "$1"
}

for pair; do
	out=$tmp/$pair
	mkdir "$out"
	for step in save:"${pair%:*}" restore:"${pair#*:}"; do
		name=${step#*:}
		kernel "$name" >"$tmp/log" 2>&1
		status=$?
		[ "$status" != 4 ] || { skip "no guest kernel $name" "$pair"; break; }
		[ "$status" = 0 ] && tests/vm/guest.sh -k "$name" -t 600 -o "$out" -- tests/state/guest.sh "${step%:*}" >"$tmp/log" 2>&1
		ok $? "$pair: ${step%:*}, at $(cat "$out/${step%:*}.hz") Hz" || { diag "$(<"$tmp/log")"; break; }
	done
done
finish
