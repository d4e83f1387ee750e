#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# metrics.t: weir metrics agrees with what limit, stats and source show, promtool accepts it, and
# alerts and dashboard name what there is
. "$(dirname "$0")/lib.sh"
begin
promtool=$top/.cache/prometheus/promtool
[ -x "$promtool" ] || skip "no promtool"

# of NAME [LABELS]: the value of a series of $tmp/metrics
of() {
	local key=$1${2:+\{$2\}}
	awk -v key="$key" '$1 == key { print $2 }' "$tmp/metrics"
}
read_metrics() { weir metrics "$@" >"$tmp/metrics" 2>"$tmp/said"; }

weir limit add web budget 20/1h budget 1M/total bytes newcomers 100/1s known none penalty 5m sources 64 >"$tmp/out" 2>&1
weir limit add host budget 5/1h action observe per 0 >"$tmp/out" 2>&1
weir limit add tight budget 1k/1h sources 64 proto udp >"$tmp/out" 2>&1
weir limit add ban blocks 10
weir exempt add 10.9.0.0/16
flood -s 198.51.100.1 -c 30
flood -s 198.51.100.2 -c 23
flood -s 10.0.0.1 -n 400 -c 400
flood -s 10.9.0.1 -c 7
read_metrics top 3
ok $? "metrics" || diag "$(<"$tmp/said")"
"$promtool" check metrics <"$tmp/metrics" >"$tmp/judge" 2>&1
is "$?:$(<"$tmp/judge")" "0:" "promtool accepts them"
is "$(of weir_up)" 1 "the module is there"
for limit in web host tight; do
	for row in packets:dropped:dropped packets:admitted:admitted bytes:admitted:admitted packets:would_drop:would_drop \
		packets:dropped_elsewhere:elsewhere; do
		IFS=: read -r unit verdict key <<<"$row"
		is "$(of "weir_limit_${unit}_total" "limit=\"$limit\",verdict=\"$verdict\"")" "$(stat_of "$limit" "$key.$unit")" \
			"$limit: $unit, $verdict"
	done
	is "$(of weir_limit_sources "limit=\"$limit\"")" "$(stat_of "$limit" sources_now)" "$limit: sources"
	is "$(of weir_limit_evictions_total "limit=\"$limit\"")" "$(stat_of "$limit" evictions)" "$limit: evictions"
done
holds "something was dropped" [ "$(of weir_limit_packets_total 'limit="web",verdict="dropped"')" -ge 10 ]
holds "... and would have been" [ "$(of weir_limit_packets_total 'limit="host",verdict="would_drop"')" -ge 10 ]
for verdict in admitted dropped exempt unmatched; do
	is "$(of weir_packets_total "verdict=\"$verdict\"")" "$(stats "$verdict")" "in all, $verdict"
done
is "$(of weir_packets_total 'verdict="exempt"')" 7 "... an exempt source's packets"
is "$(of weir_limit_budget 'limit="web",budget="1",unit="packets"')" 20 "a budget"
is "$(of weir_limit_budget_window_seconds 'limit="web",budget="1",unit="packets"')" 3600 "... its window, in seconds"
is "$(of weir_limit_budget_window_seconds 'limit="web",budget="2",unit="bytes"')" +Inf "... one that never ends"
holds "the budget that refused is told" [ "$(of weir_limit_budget_refused_packets_total 'limit="web",budget="1",unit="packets"')" -ge 1 ]
is "$(of weir_limit_budget_refused_packets_total 'limit="host",budget="1",unit="packets"')" "" "... but of a single budget nothing is"
is "$(of weir_limit_sources_blocked 'limit="web"')" "$(stat_of web blocked_now)" "blocked sources"
is "$(of weir_limit_observes 'limit="host"'):$(of weir_limit_observes 'limit="web"')" 1:0 "which limit observes"
is "$(of weir_limit_newcomers_window_packets 'limit="tight"')" "" "what a limit does not have is not told"
is "$(grep -c '^weir_source_dropped_packets_total' "$tmp/metrics"):$(of weir_source_top)" 3:3 "three sources, and that it is three at most"
read_metrics top 100
is "$(grep '^weir_source_dropped' "$tmp/metrics" | grep -c ' 0$')" 0 "... none of which lost nothing"
read_metrics state "$tmp/state"
is "$(grep -c weir_source_ "$tmp/metrics")" 0 "no sources unless asked for"
is "$(grep -c saved "$tmp/metrics")" 0 "a state that is not there has no time"
changes=$(of weir_generation)
weir exempt add 10.9.1.0/24
weir save -state "$tmp/state"
read_metrics state "$tmp/state"
is "$(of weir_state_saved_timestamp_seconds)" "$(stat -c %Y "$tmp/state")" "when the state was saved"
holds "a change of the configuration is another generation" [ "$(of weir_generation)" -gt "$changes" ]
is "$(of weir_limit_blocks 'limit="web"')" "$(weir -j -s limit show web | jq '.[0].blocks')" "for how many blocks there is room"
is "$(of weir_limit_blocks 'limit="ban"')" 10 "... also in a limit that only blocks"

# With -netns each series has a label, and nothing else differs.
ln -s /proc/self/ns/net "$tmp/o\"n\\e"
label="netns=\"$tmp/o\\\"n\\\\e\""
read_metrics top 3 state "$tmp/state"
weir -netns "$tmp/o\"n\\e" metrics top 3 state "$tmp/state" >"$tmp/named"
"$promtool" check metrics <"$tmp/named" >"$tmp/judge" 2>&1
is "$?:$(<"$tmp/judge")" "0:" "promtool accepts those of a namespace"
is "$(grep -v '^#' "$tmp/named" | grep -vF "{$label")" "" "... each with its name"
named=$(<"$tmp/named") named=${named//"{$label} "/ }
is "${named//"{$label,"/"{"}" "$(<"$tmp/metrics")" "... and otherwise as without"
space blue
weir -netns "$blue" limit add web budget 20/1h sources 64 >"$tmp/out" 2>&1
weir -netns "$blue" metrics top 3 | cat - "$tmp/metrics" | grep -v '^#' | sed 's/ [^ ]*$//' | sort >"$tmp/both"
is "$(grep -c '^weir_limit_sources{.*limit="web"' "$tmp/both"):$(uniq -d "$tmp/both")" 2: "two namespaces have no series in common"

/usr/bin/python3 "$top/tests/metrics/check.py" --names >"$tmp/names"
holds "alerts and dashboard name metrics" [ "$(grep -c . "$tmp/names")" -ge 15 ]
sed -nE 's/^# TYPE ([^ ]*) .*/\1/p' "$tmp/metrics" | sort -u >"$tmp/there"
is "$(comm -23 "$tmp/names" "$tmp/there")" "" "... and all of them exist"

# A file, which readers see whole
weir metrics -output "$tmp/weir.prom"
is "$(grep -v '^weir_packets_total\|^weir_limit.*_total' "$tmp/weir.prom" | head -n 2 | tail -n 1)" "# TYPE weir_up gauge" "into a file"
exec 7<"$tmp/weir.prom"
weir metrics output "$tmp/weir.prom"
is "$(tail -n 1 <&7)" "$(tail -n 1 "$tmp/weir.prom")" "the old file stays whole for who reads it"
holds "... which is another one" [ "$(stat -L -c %i /proc/$$/fd/7)" != "$(stat -c %i "$tmp/weir.prom")" ]
exec 7<&-
is "$(weir metrics output /proc/none/x 2>&1):$?" "weir: metrics: cannot write /proc/none/x: No such file or directory:4" "a file that cannot be written"
is "$(find "$tmp" -name 'weir.prom.*' | wc -l)" 0 "nothing is left beside it"

# A scrape
printf 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n' | weir metrics http state "$tmp/state" | tr -d '\r' >"$tmp/answer"
is "$(head -n 1 "$tmp/answer")" "HTTP/1.0 200 OK" "HTTP"
sed '1,/^$/d' "$tmp/answer" | "$promtool" check metrics >"$tmp/judge" 2>&1
is "$?:$(grep -cE '^weir_(up 1$|state_saved)' "$tmp/answer")" 0:2 "... the metrics follow"
is "$(printf 'POST / HTTP/1.1\r\n\r\n' | weir metrics http 2>"$tmp/said" | head -n 1 | tr -d '\r')" "HTTP/1.0 405 Method Not Allowed" "another method"
is "$(weir metrics http </dev/null 2>&1):$?" "weir: metrics: there was no request of HTTP:2" "no request"
yes | head -n 100000 | weir metrics http >"$tmp/answer" 2>&1
is "$?" 2 "a request without end, and without sense"

# Limits that come and go meanwhile: what stays is told, once, and nothing of what went.
comes_and_goes() {
	until [ -e "$tmp/stop" ]; do
		printf 'limit %s\n' "add first budget 1/1h sources 64 before web" "add last budget 1/1h sources 64" "del first" "del last"
	done
}
comes_and_goes | weir -quiet -batch - >"$tmp/out" 2>&1 &
wrong=0 changed=0 of_some=0
for _ in {1..100}; do
	read_metrics top 100 || { wrong=$((wrong + 1)) && cat "$tmp/said"; }
	grep -o '^weir_limit_memory_bytes{limit="[^"]*' "$tmp/metrics" | cut -d'"' -f2 | sort >"$tmp/told"
	grep -v '^#' "$tmp/metrics" | sed 's/ [^ ]*$//' | sort | uniq -d >"$tmp/twice"
	grep -oE '[{,]limit="[^"]*' "$tmp/metrics" | cut -d'"' -f2 | sort -u | comm -23 - "$tmp/told" >"$tmp/gone"
	what="$(of weir_limits):$(grep -cxE 'web|host|tight' "$tmp/told"):$(<"$tmp/twice"):$(<"$tmp/gone")"
	[ "$what" = "$(wc -l <"$tmp/told"):3::" ] || { wrong=$((wrong + 1)) && echo "$what"; }
	changed=$((changed + $(grep -cE 'first|last' "$tmp/told")))
	of_some=$((of_some + ($(grep -c weir_source_dropped "$tmp/metrics") > 0)))
done
touch "$tmp/stop"
wait $!
is "$wrong" 0 "limits that come and go make nothing wrong"
holds "... of which some were told" [ "$changed" -gt 0 ]
is "$of_some" 100 "... and sources of those that stay"

# A device may have nearly any name.
flood -s fe80::7 -c 30
rx ip link set rx0 down
rx ip link set rx0 name $'r"\\\x01\xff'
read_metrics top 100
"$promtool" check metrics <"$tmp/metrics" >"$tmp/judge" 2>&1
is "$?:$(<"$tmp/judge")" "0:" "promtool accepts devices with odd names"
is "$(grep -cF 'weir_source_dropped_packets_total{limit="web",source="fe80::7%r\"\\\\x01\\xff"} 10' "$tmp/metrics")" 1 "... each of which can be told"

rmmod weir
read_metrics
is "$?:$(of weir_up):$(grep -vc '^#' "$tmp/metrics")" 0:0:2 "without the module weir_up is 0"
is "$(weir -netns "$blue" metrics | grep -c "^weir_[a-z]*{netns=\"$blue\"")" 2 "... also of a namespace"
holds "... which is not loaded for it" [ ! -e /sys/module/weir ]
finish
