#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# 32bit.sh NAME...: build the module for 6.1-i386 or 6.1-armhf, whose headers fetch.sh has
# downloaded. Nothing warns, and nothing of the compiler's library is called that the
# kernel does not have, such as a division of 64 bits. TAP.
. "$(dirname "$0")/tap.sh"
top=$(cd "$(dirname "$0")/.." && pwd -P) || exit 1
log=$(mktemp) && trap 'rm -f "$log"' EXIT || exit 1
library='__u?(div|mod|divmod)[dt]i[34]|__aeabi_u?ldivmod|__(ashl|ashr|lshr|mul)ti3'
for name; do
	[ -e "$top/.cache/kernels/$name/version" ] || skip_all "no headers of $name here"
	"$top/tests/vm/kernel-build.sh" -w "$name" >"$log" 2>&1
	status=$?
	[ "$status" != 4 ] || skip_all "$(tail -n 1 "$log")"
	ok "$status" "the module is built for $name, without a warning" || diag "$(cat "$log")"
	# ARM's kernel has those that divide 32 bits.
	nm -u "$top/.cache/build/$name/weir.o" >"$log" && ! grep -qE "$library" "$log"
	ok $? "... and divides 64 bits by the kernel's functions" || diag "$(grep -E "$library" "$log")"
done
finish
