#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# scene.sh: the demo's part inside the guest. Load weir, add limits, get flooded from
# namespaces and show the sources meanwhile. Two hosts open connections during the
# flood of spoofed addresses, one of which did before. Leaves its results in OUT:
# sent.*, receiver, and for events.c format.* and raw.*.
#
#	+--- honest ----+
#	| 10.1.0.1..    |--veth--+
#	+---------------+        |   +--- the guest itself ---+
#	+--- flooder ---+        +---| weir                   |
#	| 10.6.6.6      |--veth------| 192.0.2.1              |
#	+---------------+        +---| UDP port 53, TCP 443   |
#	+--- spoofer ---+        |   +------------------------+
#	| 11.0.0.0..    |--veth--+
#	+- known, new --+        |
#	| 10.2.0.1 ...  |--veth--+
#	+---------------+
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
# shellcheck source=cast.sh
. "$here/cast.sh"
# shellcheck source=stage.sh
. "$here/stage.sh"
export PATH=$TOP/.cache/build/netns:$TOP/userspace:$PATH
tracing=/sys/kernel/tracing
live=4		# lines
cd /run && cp "$WEIR_KO" weir.ko && mkfifo never ready && exec {never}<>never || exit 1
[ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd

# The screen has priority over the flood.
renice -n -10 $$ >/dev/null

fail() { printf '%sdemo: %s%s\n' "$red" "$*" "$off"; exit 1; }
# sender NAME: make a namespace with a link to the host
sender() {
	{ ip netns add "$1" &&
		ip link add out0 netns "$1" type veth peer name "$1" address 02:00:00:00:00:01 &&
		ip -n "$1" link set out0 up && ip link set "$1" up; } || fail "no link to $1"
}

# sends NAME MS PRIORITY OPTION...: send in the background; PRIORITY is a command of
# three words; the number of packets goes to sent.NAME
sends() {
	ip netns exec "$1" "${@:3:3}" send -i out0 -d "$HOST" -t "$2" "${@:6}" >"sent.$1" &
}
calls() { sends "$1" "$2" chrt -f 1 -s "$3" -r "$CALLER_RATE" -P tcp -f S -D 443; }

trace_on() {
	local event
	echo 0 >"$tracing/options/record-cmd"
	echo 40960 >"$tracing/buffer_size_kb"
	for event in charge uncharge drop; do
		echo 1 >"$tracing/events/weir/weir_$event/enable" || fail "no event weir_$event"
	done
}

trace_off() {
	local event cpu
	echo 0 >"$tracing/tracing_on"
	grep -Eq '^(overrun|dropped events): [1-9]' "$tracing"/per_cpu/cpu*/stats && fail "the trace buffer is too small"
	for event in charge uncharge drop; do
		cat "$tracing/events/weir/weir_$event/format" >"format.$event"
	done
	# Not blocking, dd ends with an error where the buffer does.
	for cpu in "$tracing"/per_cpu/cpu*; do
		dd "if=$cpu/trace_pipe_raw" "of=raw.${cpu##*/}" bs=4096 iflag=nonblock 2>/dev/null
	done
}

sending() { [ "$(jobs -rp | wc -l)" -gt 1 ]; } # the receiver keeps running

# show_live WORD...: weir's output while they send, updated in place on a terminal
show_live() {
	local lines=() now i color=()
	[ -z "$bold" ] || color=(-c=always) # to a pipe
	typed "weir $*"
	[ ! -t 1 ] || printf '\n%.0s' $(seq "$live")
	while sending; do
		mapfile -t now < <(weir "${color[@]}" "$@" 2>&1)
		# On a slow machine it is too late: the sources are idle already.
		[ ${#lines[@]} = 0 ] || sending || break
		lines=("${now[@]}")
		if [ -t 1 ]; then
			printf '\e[?7l\e[%dA' "$live" # cut what is too long
			for ((i = 0; i < live; i++)); do printf '%s\e[K\n' "${lines[i]:-}"; done
			printf '\e[?7h'
		fi
		pause 0.25
	done
	[ -t 1 ] || printf '%s\n' "${lines[@]:0:live}"
}

{ modprobe veth && ip addr add "$HOST/32" dev lo && ip route add blackhole default; } || fail "no network"
for name in honest flooder spoofer known new; do sender "$name"; done
receive "$OUT/receiver" dns syn >ready &
receiver=$!
read -r _ <ready || fail "no receiver"

typed "insmod weir.ko"
insmod weir.ko || fail "the module does not load"
for limit in "${LIMITS[@]}"; do
	read -r name packets window match <<<"$limit"
	[ "$window" != 1 ] || window=''
	typed "weir limit add $name budget $packets/${window}s $match"
	# shellcheck disable=SC2086 # words
	weir limit add "$name" budget "$packets/${window}s" $match || fail "the limit is refused"
done
trace_on
calls known $((BEFORE_MS + FLOOD_MS)) "$KNOWN_FROM"
printf '%s# one host opens connections, and is known after a second%s\n' "$dim" "$off"
pause "$((BEFORE_MS / 1000)).$((BEFORE_MS % 1000))"
sends honest "$FLOOD_MS" chrt -f 1 -s "$HONEST_FROM" -n "$HONEST" -r $((HONEST * HONEST_RATE)) -D 53
sends flooder "$FLOOD_MS" nice -n 10 -s "$FLOOD_FROM" -r "$FLOOD_RATE" -k -D 53
sends spoofer "$FLOOD_MS" nice -n 19 -s "$SPOOFED_FROM" -n "$SPOOFED" -R -r "$SPOOFED_RATE" -k -P tcp -f S -D 443
{ pause 1; calls new $((FLOOD_MS - 1000)) "$NEW_FROM"; wait; } &
printf '%s# sending: %d hosts up to %s/s each, one flooding up to %s/s, %s spoofed up to %s/s%s\n' "$dim" "$HONEST" "$HONEST_RATE" \
	"$(thousands "$FLOOD_RATE")" "$(thousands "$SPOOFED")" "$(thousands "$SPOOFED_RATE")" "$off"
show_live source show top "$live" by dropped
trace_off
{ kill "$receiver" && wait "$receiver"; } || fail "the receiver failed"
cp sent.* format.* raw.* "$OUT/" || fail "no results"
