# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# state_kinds.sh: sources that are counted in every way, and a comparison of two looks at them. A test
# sources it after lib.sh.
limits='limit add strict budget 20/30m slots 5 from 10.1.0.0/16
limit add lenient budget 20/30m lenient slots 5 from 10.2.0.0/16
limit add fixed budget 20/7d fixed from 10.3.0.0/16
limit add bucket budget 20/100h bucket burst 30 from 10.4.0.0/16
limit add exact budget 20/1800125ms exact from 10.5.0.0/16
limit add calendar budget 20/month calendar from 10.6.0.0/16
limit add total budget 20/total from 10.7.0.0/16
limit add several budget 20/30m budget 30/100h bytes bucket burst 3000 budget 50/1d exact budget 100/total from 10.8.0.0/16
limit add everybody budget 20/30m per 0 from 10.9.0.0/16
limit add nets budget 20/30m per 24,48 from 10.10.0.0/16
limit add new budget 20/30m newcomers 50/30m known 1s from 10.11.0.0/16
limit add penal budget 20/30m penalty 1h from 10.12.0.0/16
limit add blocks budget 20/30m from 10.13.0.0/16
limit add bytes budget 2000/30m bytes from 10.14.0.0/16
limit add six budget 20/30m from 2001:db8:9::/48
limit add local budget 20/30m from fe80::/10
limit add watched budget 20/30m action observe from 10.15.0.0/16
exempt add 10.16.0.1 for 1h comment "an hour"
exempt add 10.16.0.2 for 30m
block add 10.16.1.0/24 limit blocks for 2h
prefix-list add routers 192.0.2.254'

# packets COUNT ADDRESS...: send that many from each
packets() {
	local source
	for source in "${@:2}"; do later -s "$source" -c "$1"; done
}

# fill: load the module and put in force the limits, with sources that wait, are blocked and are new
fill() {
	begin_with <<<"$limits"
	began=$(now_ms)
	for net in {1..9} 10 12 13 14 15; do packets 7 "10.$net.0.1"; packets 30 "10.$net.0.2"; done
	packets 7 2001:db8:9::1 fe80::1
	packets 30 2001:db8:9:1::1 fe80::2
	deliver
	# known once they have sent for more than a second; another CPU would keep a part of the newcomers' budget
	taskset -p 1 $$ >/dev/null
	let_pass 1200
	flood -s 10.11.0.1 -n 2 -c 8
	let_pass 1200
	flood -s 10.11.0.1 -n 2 -c 8
	flood -s 10.11.1.1 -n 20 -c 80
	taskset -p ff $$ >/dev/null
	weir source block 10.13.0.7 limit blocks for ever >/dev/null
	weir source block 10.13.0.8 limit blocks for 300d >/dev/null
	weir source block 10.13.0.1 limit blocks for 1h >/dev/null
}

# look NAME: $tmp/facts.NAME has what is known of each source, without times; $tmp/ends.NAME until when
# each waits or is blocked, in ms
declare -A lag
look() {
	local now
	now=$(now_ms)
	weir -j source show idle >"$tmp/look.$1" || bail "no sources"
	# who has sent nothing yet
	weir -j source get 10.11.9.9 limit new >"$tmp/stranger.$1" || bail "no stranger"
	lag[$1]=$(($(now_ms) - now))
	jq -r --argjson now "$now" '.[] | . as $s |
		[["", .next_ms], ["block", .blocked_ms], ["newcomers", .newcomers_next_ms]] + [(.budgets // []) | to_entries[] | ["budget \(.key)", .value.next_ms]] |
		.[] | select(.[1]) | "\($s.limit) \($s.source) \($s.dev // "")\(.[0])|\(.[1] + $now | floor)"' "$tmp/look.$1" "$tmp/stranger.$1" | sort -t '|' -k 1,1 >"$tmp/ends.$1"
	jq -c '.[] | del(.next_ms, .blocked_ms) | del(.budgets[]?.next_ms)' "$tmp/look.$1" | sort >"$tmp/facts.$1"
}

# alike BEFORE AFTER WHAT [NEWCOMERS_MS [BUCKET_MS]]: the same facts, and the same ends but for some
# ticks and what looking took, or so many ms more; on a slow kernel what ended soon has ended
alike() {
	diff "$tmp/facts.$1" "$tmp/facts.$2" >"$tmp/diff"
	ok $? "$3: each source has what it had" || diag "$(<"$tmp/diff")"
	join -t '|' -a 1 -a 2 -e none -o 0,1.2,2.2 "$tmp/ends.$1" "$tmp/ends.$2" |
		awk -F '|' -v most=$((1000 + lag[$1] + lag[$2])) -v now="$(now_ms)" -v new="${4:-0}" -v bucket="${5:-0}" '
			$3 == "none" && $2 <= now { next }
			{ may = most + ($1 ~ /newcomers$/ ? new : $1 ~ /^(bucket|several) / ? bucket : 0) }
			$2 == "none" || $3 == "none" || $2 - $3 > may || $3 - $2 > may' >"$tmp/diff"
	is "$(<"$tmp/diff")" "" "... and waits, or is blocked, until then"
}
