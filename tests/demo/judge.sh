#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh DIR HZ: print the result and the verdict of the demo. Status 1 if a source
# got more than its budget in any window, or weir dropped a packet of an honest host;
# else 2 if that cannot be decided. DIR has
#	hook		the hook's charges and drops, in ticks of 1/HZ seconds
#	receiver	what reached the protected host, as charges in ticks of a microsecond
#	sent.KIND	how many packets the honest hosts, the flooder, the spoofer sent
#
# Two clocks are compared: the hook's, the exact tick of each charge, and the
# receiver's, the kernel's timestamp of the packet, a little before or after that tick.
# The i-th packet that a source got through is its i-th charge, so the jitter between
# the clocks can be measured, and a window shorter by the jitter must not hold more
# than the budget. If every source lost a packet behind weir, the jitter is unknown:
# then too many packets in a window, or none at all, decide nothing.
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 2
# shellcheck source=cast.sh
. "$here/cast.sh"
# shellcheck source=stage.sh
. "$here/stage.sh"
PATH=$here/../../.cache/build/netns:$PATH	# window
export LC_ALL=C
dir=${1:?usage: judge.sh DIR HZ} hz=${2:?usage: judge.sh DIR HZ}

fail() { printf '%sdemo: %s%s\n' "$red" "$*" "$off" >&2; exit 2; }

# most FILE LIMIT TICKS: the most that a source was charged within TICKS ticks
most() { window -l "$2" -T "$3" <"$dir/$1" | sed -n 's/.* max=\([0-9]*\).*/\1/p'; }

# judge LIMIT SECONDS: print "MAX AT-THE-RECEIVER JITTER-MS EXCESS" of a limit; EXCESS counts
# packets that arrived without a charge; JITTER-MS is "unknown" if every source lost packets
judge() {
	local jitter excess most got ticks
	read -r jitter excess < <(awk -v us=$((1000000 / hz)) -v want="limit=$1" '
		$2 != want { next }
		{ sub("tick=", "", $4) }
		FNR == NR { tick[$3, ++n[$3]] = $4; next }
		{ stamp[$3, ++m[$3]] = $4 }
		END {
			for (s in m) {
				if (m[s] > n[s]) excess += m[s] - n[s]
				if (m[s] != n[s]) continue # unknown which were lost
				for (i = 1; i <= n[s]; i++) {
					d = stamp[s, i] - tick[s, i] * us
					if (!seen++) lo = hi = d
					if (d < lo) lo = d
					if (d > hi) hi = d
				}
			}
			printf "%s %d\n", seen ? hi - lo : "unknown", excess
		}' <(grep weir_charge "$dir/hook" | sort -k4,4) <(sort -k4,4 "$dir/receiver"))
	# A window of T includes the tick T after its first.
	most=$(most hook "$1" $((hz * $2 + 1)))
	ticks=$((1000000 * $2))
	if [ "$jitter" != unknown ]; then
		ticks=$((ticks > jitter ? ticks - jitter : 1)) jitter=$(((jitter + 999) / 1000))
	fi
	got=$(most receiver "$1" "$ticks")
	echo "${most:-0} ${got:-0} $jitter $excess"
}

# kinds FILE FIELD: sums over the sources of each kind: honest flooder spoofer known new
kinds() {
	window -s <"$dir/$1" | awk -v field="$2" '
		{ kind = $2 ~ /=10\.1\./ ? 0 : $2 ~ /=10\.6\./ ? 1 : $2 ~ /=10\.2\./ ? 3 : $2 ~ /=10\.3\./ ? 4 : 2
		  for (i = 3; i <= NF; i++) { split($i, v, "="); if (v[1] == field) sum[kind] += v[2] } }
		END { printf "%d %d %d %d %d\n", sum[0], sum[1], sum[2], sum[3], sum[4] }'
}

table() {
	local i names=("$HONEST honest hosts" "1 flooding host" "$(thousands "$SPOOFED") spoofed sources"
		"1 host known before" "1 host that comes new")
	printf '\n%s%-26s %12s %14s %12s %14s%s\n' "$bold" "" sent "weir dropped" got "lost by the VM" "$off"
	for i in 0 1 2 3 4; do
		printf '%-26s %12s %14s %12s %14s\n' "${names[i]}" "$(thousands "${sent[i]}")" \
			"$(thousands "${dropped[i]}")" "$(thousands "${got[i]}")" \
			"$(thousands $((sent[i] - dropped[i] - got[i])))"
	done
}

# first_try: seconds from the new host's first packet to the first that was charged
first_try() {
	awk -v from="saddr=::ffff:$NEW_FROM" -v hz="$hz" '
		$3 == from { sub("tick=", "", $4); first = first ? first : $4 }
		$3 == from && $1 == "weir_charge:" { printf "%.1f\n", ($4 - first) / hz; exit }' "$dir/hook"
}

# word_kept WINDOW: status 0, 1 or 2 of a limit's promise
word_kept() {
	[ "$most" -gt 0 ] && [ "$most" -le "$budget" ] && [ "$excess" = 0 ] || return 1
	if [ "$jitter" = unknown ]; then
		[ "$received" -gt 0 ] && [ "$received" -le "$budget" ] || return 2
	else
		[ "$received" -le "$budget" ] && [ "$jitter" -lt $((1000 * $1)) ]
	fi
}

command -v window >/dev/null || fail "window is not built"
for file in hook receiver; do [ -r "$dir/$file" ] || fail "nothing to judge in $dir"; done
read -ra sent < <(cat "$dir"/sent.{honest,flooder,spoofer,known,new} | tr '\n' ' ')
[ ${#sent[@]} = 5 ] || fail "the senders did not say what they sent"
read -ra dropped < <(kinds hook dropped)
read -ra got < <(kinds receiver amount)
table
status=0
for limit in "${LIMITS[@]}"; do
	read -r name budget window _ <<<"$limit"
	read -r most received jitter excess < <(judge "$name" "$window")
	word_kept "$window"
	kept=$? clocks="clocks within $jitter ms"
	[ "$jitter" != unknown ] || clocks="clocks not compared"
	verdict "$kept" "$name: at most $most of $budget in any $window s; received $received ($clocks)"
	[ "$kept" != 2 ] || echo "        undecided: every source lost packets behind weir"
	[ "$excess" = 0 ] || echo "        $excess packets came that weir did not charge"
done
[ "${sent[0]}" -gt 0 ] && [ "${dropped[0]}" = 0 ]
verdict $? "weir dropped ${dropped[0]} packets of honest hosts"
[ "${sent[3]}" -gt 0 ] && [ "${dropped[3]}" = 0 ]
verdict $? "the host that was known before lost ${dropped[3]} of ${sent[3]} attempts to connect"
[ "${got[4]}" -gt 0 ]
verdict $? "the host that came during the flood connected $(first_try) s after its first attempt"
# A window of T includes the tick T after its first.
most=$(grep 'saddr=::ffff:11\.' "$dir/hook" | window -l syn -p 0,0 -T $((hz + 1)) | sed -n 's/.* max=\([0-9]*\).*/\1/p')
[ "${most:-0}" -gt 0 ] && [ "$most" -le $((2 * NEWCOMERS)) ]
verdict $? "spoofed sources: at most ${most:-0} of $NEWCOMERS newcomers and as many second tries in any 1 s"
exit "$status"
