#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh [-m WEIR.KO] [-o DIR]: the demo. Boot a guest, let scene.sh play in it, and
# judge what it left: the status is 1 if a source got more than its budget in
# any window, or weir dropped a packet of an honest host.
#
# Two clocks, and neither is trusted alone. The hook's: the tick of each charge,
# exact. The receiver's: the time at which the kernel stamped the packet, a
# little before or after the tick that the hook read. The i-th packet that a
# source got through is its i-th charge, so how far the two differ is measured,
# and a window that is shorter by that must not hold more than the budget.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) && cd "$top" || exit 1
# shellcheck source=cast.sh
. tests/demo/cast.sh
kernel=6.12 module='' out=.cache/demo
while getopts m:o: opt; do
	case $opt in
	m) module=$(realpath "$OPTARG") || exit 1 ;;
	o) out=$(realpath -m "$OPTARG") || exit 1 ;;
	*) exit 1 ;;
	esac
done
PATH=$PWD/.cache/build/demo:$PWD/.cache/build/netns:$PATH
export LC_ALL=C

fail() { printf '%sdemo: %s%s\n' "$red" "$*" "$off" >&2; exit 1; }

build() {
	local ko=.cache/build/$kernel/weir.ko
	mkdir -p "$out" .cache/build
	if [ -z "$module" ] && { [ ! -e "$ko" ] || [ -n "$(find module Kbuild -newer "$ko" -print -quit)" ]; }; then
		echo "demo: building weir.ko for Linux $kernel"
		tests/vm/kernel-build.sh "$kernel" || fail "the module does not build"
	fi
	{ make -C userspace && make -C tests/netns && make -C tests/demo; } >"$out/build.log" 2>&1 ||
		{ tail -n 20 "$out/build.log" >&2; fail "the tools do not build"; }
}

play() {
	local tty=()
	[ ! -t 0 ] || [ ! -t 1 ] || tty=(-i)
	rm -f "$out"/{received,trace.*,sent.*,events}
	tests/vm/guest.sh -k "$kernel" -t 120 -o "$out" "${tty[@]}" -- \
		env ${module:+"WEIR_KO=$module"} ${NO_COLOR:+"NO_COLOR=$NO_COLOR"} tests/demo/scene.sh
}

# judge LIMIT SECONDS: "MAX AT-THE-RECEIVER JITTER-MS EXCESS" of a limit; EXCESS
# counts packets that came without a charge
judge() {
	local hz jitter excess most got
	hz=$(sed -n 's/^CONFIG_HZ=//p' .cache/kernels/$kernel/kdir/include/config/auto.conf)
	read -r jitter excess < <(awk -v us=$((1000000 / hz)) -v want="limit=$1" '
		$2 != want { next }
		{ sub("tick=", "", $4) }
		FNR == NR { tick[$3, ++n[$3]] = $4; next }
		{ stamp[$3, ++m[$3]] = $4 }
		END {
			for (s in m) {
				if (m[s] > n[s]) excess += m[s] - n[s]
				if (m[s] != n[s]) continue # some were lost: which?
				for (i = 1; i <= n[s]; i++) {
					d = stamp[s, i] - tick[s, i] * us
					if (!seen++) lo = hi = d
					if (d < lo) lo = d
					if (d > hi) hi = d
				}
			}
			printf "%d %d\n", hi - lo, excess
		}' <(grep weir_charge "$out/hook" | sort -k4,4) <(sort -k4,4 "$out/receiver"))
	# A window of T ends with the tick that is T after its first.
	most=$(window -l "$1" -T $((hz * $2 + 1)) <"$out/hook" | sed -n 's/.* max=\([0-9]*\).*/\1/p')
	got=$(window -l "$1" -T $((1000000 * $2 - jitter)) <"$out/receiver" | sed -n 's/.* max=\([0-9]*\).*/\1/p')
	echo "${most:-0} ${got:-0} $(((jitter + 999) / 1000)) $excess"
}

# kinds FILE FIELD: sum over the sources of each kind: honest flooder spoofer
kinds() {
	window -s <"$1" | awk -v field="$2" '
		{ kind = $2 ~ /=10\.1\./ ? 0 : $2 ~ /=10\.6\./ ? 1 : 2
		  for (i = 3; i <= NF; i++) { split($i, v, "="); if (v[1] == field) sum[kind] += v[2] } }
		END { printf "%d %d %d\n", sum[0], sum[1], sum[2] }'
}

table() {
	local i names=("$HONEST honest hosts" "1 flooding host" "$(thousands "$SPOOFED") spoofed sources")
	printf '\n%s%-24s %12s %14s %12s %14s%s\n' "$bold" "" sent "weir dropped" got "machine lost" "$off"
	for i in 0 1 2; do
		printf '%-24s %12s %14s %12s %14s\n' "${names[i]}" "$(thousands "${sent[i]}")" \
			"$(thousands "${dropped[i]}")" "$(thousands "${got[i]}")" \
			"$(thousands $((sent[i] - dropped[i] - got[i])))"
	done
}

# verdict STATUS TEXT
verdict() {
	if [ "$1" = 0 ]; then
		printf '%sok%s      %s\n' "$green" "$off" "$2"
	else
		printf '%sNOT OK%s  %s\n' "$red$bold" "$off" "$2"
		status=1
	fi
}

build
echo "${dim}demo: booting Linux $kernel with weir in a machine of its own (QEMU)$off"
play || fail "the guest ended with status $?"
# shellcheck disable=SC2046 # numbers
unpack $(<"$out/events") < <(cat "$out"/trace.*) >"$out/hook" || fail "the trace cannot be read"
receive -p dns syn <"$out/received" >"$out/receiver"
read -ra sent < <(cat "$out"/sent.{honest,flooder,spoofer} | tr '\n' ' ')
read -ra dropped < <(kinds "$out/hook" dropped)
read -ra got < <(kinds "$out/receiver" amount)
[ ${#sent[@]} = 3 ] || fail "the senders did not say what they sent"
table
status=0
for limit in "${LIMITS[@]}"; do
	read -r name budget window _ <<<"$limit"
	read -r most received jitter excess < <(judge "$name" "$window")
	[ "$most" -gt 0 ] && [ "$most" -le "$budget" ] && [ "$received" -le "$budget" ] &&
		[ "$excess" = 0 ] && [ "$jitter" -lt $((1000 * window)) ]
	verdict $? "$name: at most $most of $budget in any $window s; by the receiver's clock $received, +-$jitter ms"
	[ "$excess" = 0 ] || echo "        $excess packets came that weir did not charge"
done
[ "${sent[0]}" -gt 0 ] && [ "${dropped[0]}" = 0 ]
verdict $? "weir dropped ${dropped[0]} packets of honest hosts"
exit "$status"
