#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# guest-file.sh DIR FILE: run tests/FILE.t in the guest of DIR (Guests.pm), and print what it prints.
set -u
dir=$1 test=tests/$2.t part='' on='' silent=0
exec 4<>"$dir/port.out" 6<>"$dir/port.in" && echo "$test" >&6 || exit 1
# in-guest.sh ends a file after 900 s of the guest's time.
while [ "$silent" -lt 720 ]; do
	if ! IFS= read -r -t 5 -u 4 line; then
		[ ! -e "$dir/status" ] || break
		part+=$line silent=$((silent + 1))
		continue
	fi
	line=$part$line part='' silent=0
	case $line in
	"@begin $test") on=1 ;;
	"@end "*)
		[ -n "$on" ] || continue
		read -r _ status last <<<"$line"
		for ((i = 0; i < 60 && ${#last} > 0; i++)); do
			[ ! -e "$dir/status" ] || break
			read -rt 1 -u 6
		done
		exit "$status"
		;;
	*) [ -z "$on" ] || printf '%s\n' "$line" ;;
	esac
done
echo "not ok - the guest survives"
[ ! -e "$dir/said" ] || tail -n 40 "$dir/said" | sed 's/^/# /'
[ -e "$dir/status" ] || { kill -- "-$(<"$dir/pid")" && echo 143 >"$dir/status"; }
exit 1
