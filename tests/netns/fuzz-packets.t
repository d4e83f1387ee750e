#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fuzz-packets.t: malformed packets: wrong headers and lengths, options, chains of
# extension headers, fragments that are too short, overlap or nest, stacked tags.
# Each matches the limits that a simple reference parser predicts, and all are
# counted. FUZZ_SEED and FUZZ_PACKETS choose other packets, or more.
. "$(dirname "$0")/lib.sh"
PATH=$top/.cache/build/fuzz:$PATH
need_tool
command -v fuzz-packets >/dev/null || skip_all "tests/fuzz is not built"
seed=${FUZZ_SEED:-1}
packets=${FUZZ_PACKETS:-16000}
round=8000

load
pair
ip_rx link add link rx0 name rx0.5 type vlan id 5 && ip_rx link set rx0.5 addrgenmode none &&
	ip_rx link set rx0.5 up
ok $? "a VLAN on the device"

# thrown FUZZ-OPTION...: send the packets; save the predicted counts
thrown() {
	recount
	tx fuzz-packets -s "$seed" -i tx0 "$@" >"$tmp/told" || bail "cannot send"
	sent=$(sed -n 's/^sent=//p' "$tmp/told")
	grep -v ^sent= "$tmp/told" >"$tmp/foreseen"
	wait_for 60 all_in || bail "of $sent packets $(arrived) arrive"
}
all_in() { [ "$(arrived)" = "$sent" ]; }

# counted: weir's counts since the last call, in fuzz-packets' format
count_now() {
	weir -json stats show | jq -r '.[0] | "seen=\(.seen_packets)", "exempt=\(.exempt_packets)", "unmatched=\(.unmatched_packets)",
		"unparsable=\(.unparsable_packets)"'
	weir -json -stats limit show | jq -r '.[] | "\(.limit)=\(.stats.matched.packets)"'
}
counted() {
	count_now >"$tmp/new"
	awk -F= 'FNR == NR { was[$1] = $2; next } { print $1 "=" $2 - was[$1] }' "$tmp/old" "$tmp/new"
	mv "$tmp/new" "$tmp/old"
}

# differs FIRST COUNT: do these packets match other limits than predicted?
differs() {
	thrown -f "$1" -n "$2"
	counted >"$tmp/counted"
	! diff "$tmp/foreseen" "$tmp/counted" >"$tmp/diff"
}

# culprit FIRST COUNT: bisect for a packet that does
culprit() {
	local first=$1 count=$2 half
	while [ "$count" -gt 1 ]; do
		half=$((count / 2))
		if differs "$first" "$half"; then count=$half; else first=$((first + half)) count=$((count - half)); fi
	done
	differs "$first" 1
	diag "packet $first:" "$(fuzz-packets -s "$seed" -f "$first" -n 1 -x 2>&1 >/dev/null)" "$(<"$tmp/diff")"
}

fuzz-packets -s "$seed" -l >"$tmp/words"
config <"$tmp/words"
ok $? "random limits (seed $seed)"
count_now >"$tmp/old"
for ((first = 0; first < packets; first += round)); do
	! differs $first $round
	ok $? "packets $first to $((first + round - 1)) match the predicted limits" || {
		diag "$(<"$tmp/diff")"
		culprit $first $round
	}
done
within "$(sed -n 's/^unparsable=//p' "$tmp/old")" 1 "$packets" "some of them cannot be parsed"

# Packets that the kernel's stack may drop; what weir passes continues through it.
end_not_here
config <<'WORDS'
exempt add 10.9.0.0/16
limit add few budget 20/10s sources 64 proto tcp
limit add bytes budget 100k/1h bytes sources 64 frag
limit add each budget 1M/1h sources 4096 action observe
WORDS
recount
count_now >"$tmp/old"
before=$(weir -json stats show | jq -c '.[0]')
holds "arbitrary packets are sent" quietly tx fuzz-packets -s "$seed" -i tx0 -w -n "$packets"
after=$(weir -json stats show | jq -c '.[0]')
is "$(jq -n --argjson a "$before" --argjson b "$after" \
	'[$a, $b] | map(.seen_packets - .exempt_packets - .unmatched_packets - .admitted_packets - .dropped_packets) | unique | tostring')" '"[0]"' \
	"each is exempt, unmatched, admitted or dropped"
within "$(jq -n --argjson a "$before" --argjson b "$after" '$b.seen_packets - $a.seen_packets')" $((packets / 3)) "$packets" \
	"many of them are seen"
is "$(weir -json -stats limit show | jq -c '[.[].stats | .matched.packets - .admitted.packets - .dropped.packets
	- .would_drop.packets - .elsewhere.packets] | unique')" "[0]" "each limit accounts for every packet it matched"
is "$(weir -json -stats limit show | jq '[.[].stats.dropped.packets] | add')" \
	"$(jq -n --argjson a "$before" --argjson b "$after" '$b.dropped_packets - $a.dropped_packets')" "... and every drop is one limit's"
finish
