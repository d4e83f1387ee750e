#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh save|restore: save the state of sources that are counted in every way, and what is known of
# each, in OUT; or restore it from there, and compare. TAP.
. "$(dirname "$0")/../netns/lib.sh"
. "$here/state_kinds.sh"
echo "$HZ" >"$OUT/$1.hz"
case $1 in
save)
	fill
	look saved
	holds "a state is saved" weir save -state "$OUT/state"
	weir save >"$OUT/config"
	cp "$tmp"/{facts,ends}.saved "$OUT"
	echo "${lag[saved]}" >"$OUT/lag"
	;;
restore)
	begin
	lag[saved]=$(<"$OUT/lag")
	cp "$OUT"/{facts,ends}.saved "$tmp"
	chown 0:0 "$OUT/state" && chmod 600 "$OUT/state"
	holds "it is restored" quietly weir restore "$OUT/state"
	look restored
	# a slot of newcomers, who have no base; of a bucket two, and what it rounds its window up to
	alike saved restored "another kernel" 120000 "$([ "$HZ" = "$(<"$OUT/save.hz")" ] || echo 25000)"
	is "$(weir save | sed 's/ until [-0-9T:]*Z//')" "$(sed 's/ until [-0-9T:]*Z//' "$OUT/config")" "... and the configuration is what it was"
	;;
esac
finish
