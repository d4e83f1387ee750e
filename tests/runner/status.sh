#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# status.sh COMMAND...: report the status of a command that does not write TAP; 4 is a skip.
said=$("$@" 2>&1 </dev/null)
status=$?
if [ "$status" = 4 ]; then
	echo "1..0 # SKIP $(tail -n 1 <<<"$said")"
elif [ "$status" = 0 ]; then
	printf '1..1\nok 1 - %s\n' "$*"
else
	printf '1..1\nnot ok 1 - %s\n' "$*"
	tail -n 60 <<<"$said" | sed 's/^/# /'
fi
exit "$status"
