#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# charge.t: programs that charge a source: reserve, and wait until it is granted
. "$(dirname "$0")/lib.sh"
begin

# answer FILTER WORD...: weir's JSON output through jq
answer() {
	local filter=$1
	shift
	weir -j "$@" 2>>"$tmp/err" | jq -rc "$filter"
}
# refused STATUS SENTENCE WORD...: the command fails, and says so
refused() {
	local status=$1 said=$2 out
	shift 2
	out=$({ weir "$@" >/dev/null; echo "$?"; } 2>&1)
	like "$out" "^weir: source charge: $said.*"$'\n'"$status\$" "refused: $*"
}
# took WORD...: the milliseconds that a command took
took() {
	local start=${EPOCHREALTIME/./}
	weir "$@" >"$tmp/out" 2>"$tmp/said"
	status=$?
	took=$(((${EPOCHREALTIME/./} - start) / 1000))
}

# A bucket of 10, of which one leaks in 100 s
weir limit add jobs budget 36/1h bucket burst 10 sources 64 2>/dev/null || bail "no limit"
weir limit add ring budget 100/1h slots 4 sources 64
weir limit add slow budget 2/1h bucket burst 2 sources 64 2>/dev/null

# reserve
is "$(answer '.[0] | [.taken, .wait_ms]' source charge 198.51.100.1 limit jobs packets 10 mode reserve)" '[10,0]' \
	"what there is room for is due at once"
is "$(answer '.[0] | [.taken, .budgets[0].left, .limited, .wait_ms > 300000, .wait_ms <= 400000]' source charge 198.51.100.1 limit jobs packets 4 mode reserve)" \
	'[4,0,true,true,true]' "... and beyond that, when it has leaked"
like "$(weir source charge 198.51.100.1 limit jobs packets 2 mode reserve)" \
	'^198.51.100.1 limit jobs taken 2 count 16 of 10 left 0 limited for 1[0-9]m[0-9.]+s due in (10m|600s|59[0-9](\.[0-9]+)?s)$' "... as text, after what was reserved before"
admits 0 "meanwhile packets of the source are refused" -s 198.51.100.1 -c 5
for i in 2 2; do weir source charge 198.51.100.2 limit slow packets "$i" mode reserve >"$tmp/out"; done
refused 2 "not charged: a burst of 2 is reserved at most; there will be room in [0-9.msh]+" \
	source charge 198.51.100.2 limit slow packets 2 mode reserve
is "$(answer '.[0] | [.taken, .budgets[0].count, .wait_ms > 3500000, .wait_ms <= 3600000]' source charge 198.51.100.2 limit slow packets 2 mode reserve)" \
	'[0,4,true,true]' "a burst more is reserved, and no more"
weir limit add month budget 1/30d bucket burst 4096 sources 64 2>/dev/null
for i in 1 2; do weir source charge 198.51.100.2 limit month packets 4096 mode reserve >"$tmp/out"; done
# 8192 budgets of 30 days are more nanoseconds than 64 bits hold.
refused 2 "not charged: .*; there will be room in [0-9.dhmsy]+" source charge 198.51.100.2 limit month packets 4096
admits 0 "... and a packet is refused" -s 198.51.100.2 -c 1
is "$(answer '.[0] | [.budgets[0].count, .limited, .next_ms > 10000000000000]' source get 198.51.100.2 limit month)" '[8192,true,true]' \
	"... nor for long after"
is "$(answer '.[0] | [.taken, has("wait_ms")]' source charge 198.51.100.3 limit slow packets 3 mode reserve)" '[0,false]' \
	"more than a burst is never granted"
refused 2 "mode: only a bucket reserves: a ring turned ahead forgets what was admitted" \
	source charge 198.51.100.1 limit ring mode reserve
is "$(answer '.[0].budgets[0].count' source get 198.51.100.1 limit ring)" 0 "... and charges nothing"
weir limit set jobs budget 72/1h >"$tmp/out"
is "$(answer '.[0].budgets[0].count' source get 198.51.100.1 limit jobs)" 16 "a change of the budget keeps what is reserved"

# wait: one leaks in 200 ms
weir limit set jobs budget 5/1s >"$tmp/out"
weir source forget all limit jobs >"$tmp/out"
weir source charge 198.51.100.1 limit jobs packets 10 >"$tmp/out"
took -j source charge 198.51.100.1 limit jobs packets 3 wait
is "$status $(jq -rc '.[0] | [.taken, .wait_ms]' "$tmp/out")" '0 [3,0]' "wait sleeps until it is granted" || diag "$(<"$tmp/said")"
holds "... which takes its time" [ "$took" -ge 300 ]
weir source charge 198.51.100.4 limit slow packets 2 >"$tmp/out"
took -timeout 100ms source charge 198.51.100.4 limit slow packets 2 wait
like "$status $(<"$tmp/said")" '^2 weir: source charge: not charged: 100ms is over; there will be room in [0-9.hms]+ at the earliest$' \
	"... but no longer than -timeout says"
within "$took" 100 5000 "... nor shorter"
took -timeout 1h source charge 198.51.100.1 limit jobs packets 11 wait
like "$status $(<"$tmp/said")" '^2 weir: source charge: not charged: 11 is never granted; 10 is all that fits$' "what never fits is not waited for"
took -timeout 1h source charge 198.51.100.1 limit nosuch wait
like "$status $(<"$tmp/said")" "^2 weir: source charge: .*no limit of that name" "nor a limit that is not there"
refused 1 "wait: only mode all waits" source charge 198.51.100.1 limit jobs mode reserve wait
refused 1 "wait: only mode all waits" source charge 198.51.100.1 limit jobs wait mode drain
like "$(weir -timeout 5 source charge 198.51.100.1 limit jobs wait 2>&1; echo $?)" "^weir: .*time '5' has no unit; write 5s.*1$" "a timeout has a unit"
printf 'source charge 198.51.100.4 limit jobs packets 10\nsource charge 198.51.100.4 limit jobs packets 2 wait\n' >"$tmp/batch"
is "$(weir -j -batch "$tmp/batch" | jq -rs 'map(.. | .taken? // empty) | join(" ")')" "10 2" "a batch waits, too"
# Others may be first: both get what they asked for, one after the other.
weir source charge 198.51.100.5 limit jobs packets 10 >"$tmp/out"
weir -j source charge 198.51.100.5 limit jobs packets 2 wait >"$tmp/two1" &
weir -j source charge 198.51.100.5 limit jobs packets 2 wait >"$tmp/two2"
wait $!
is "$(cat "$tmp"/two? | jq -rc '.[0].taken' | paste -sd' ')" "2 2" "two that wait for one source are both granted"
finish
