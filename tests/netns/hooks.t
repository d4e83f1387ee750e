#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# hooks.t: weir as seen by the kernel's tools: its hooks, its tracepoints, and the
# location and reason of drops
. "$(dirname "$0")/lib.sh"
begin

# hooks [NAMESPACE]: family, hook and priority of weir's hooks, from nft
hooks() {
	inside "${1-$rx}" nft list hooks 2>/dev/null | awk '
		/^family/ { family = $2 } $1 == "hook" { hook = $2 }
		/\[weir\]/ { print family, hook, $1 }' | xargs
}
# have WANTED NAME: check for no hooks, or for IPv4's and IPv6's
both="ip prerouting -0000000451 ip6 prerouting -0000000451"
have() {
	if [ -n "$nft" ]; then is "$(hooks)" "$@"; else skip "this kernel does not list hooks" "${@:2}"; fi
}
nft=$(rx nft list hooks 2>/dev/null)
have "" "no limit, no hook"
weir exempt add 10.0.0.0/8
have "" "an exemption alone has no hook"
quietly weir limit add a budget 5/1h
have "$both" "a limit has hooks, in front of reassembly"
[ -z "$nft" ] || is "$(hooks "$tx")" "" "... in its own namespace only"
quietly weir limit add b budget 5/1h action observe
quietly weir limit del a
have "$both" "the hooks stay for another limit"
quietly weir limit del b
have "" "... and go with the last one"
flood -s 198.51.100.9 -c 5
is "$(stats seen)" 0 "without hooks no packet is seen"
quietly weir -file - <<<"limit add c budget 5/1h"
have "$both" "a file with a limit adds the hooks"
quietly weir -file - <<<"# none"
have "" "... and one without removes them"

# The fields of the tracepoints.
for event in "weir_limited limit saddr tick budget reason" "weir_drop skbaddr limit saddr tick packets bytes budget reason"; do
	read -r name fields <<<"$event"
	is "$(awk '/field:/ && !/common_/ { sub(/\[.*|;.*/, ""); print $NF }' \
		"$TRACING/events/weir/$name/format" | xargs)" "$fields" "tracepoint weir:$name"
done

# skb:kfree_skb must attribute each drop to weir, by its location if that is printed
# as a symbol, else by the stack trace.
quietly weir limit add d budget 5/1h
freed=$TRACING/events/skb/kfree_skb
# trace_freed TRACEPOINT...: of two floods, with what frees packets
trace_freed() {
	echo stacktrace >"$freed/trigger"
	echo 1 >"$freed/enable"
	trace_start "$@"
	flood -s 198.51.100.1 -c 25
	flood -s 2001:db8:1::1 -c 25
	trace_stop
	echo 0 >"$freed/enable"
	echo '!stacktrace' >"$freed/trigger"
}
trace_freed weir_drop weir_limited
is "$(grep -c ' weir_drop: .*limit=d ' "$tmp/trace")" 40 "weir_drop traces each drop"
is "$(awk '/ weir_limited: / { print $(NF - 3), $(NF - 1) }' "$tmp/trace" | xargs)" \
	"saddr=::ffff:198.51.100.1 reason=budget saddr=2001:db8:1::1 reason=budget" "weir_limited traces each newly limited source once"
# freed_by [all]: function and reason that freed packets: all, or those in weir_drop
freed_by() {
	awk -v all="${1:-}" '
		/ weir_drop: / { match($0, /skbaddr=[^ ]*/); packet = substr($0, RSTART, RLENGTH) " " }
		/ kfree_skb: / { at = "" }
		/ kfree_skb: / && (all || packet && index($0, packet)) {
			match($0, /location=[^ +]*/); at = substr($0, RSTART + 9, RLENGTH - 9)
			match($0, /reason: .*/); why = substr($0, RSTART + 8)
		}
		at && (at ~ /^weir_/ || sub(/^ => weir_/, "weir_")) {
			if (at !~ /^weir_/) at = $1
			print at, why; at = packet = ""
		}' "$tmp/trace" | sort | uniq -c | xargs
}
is "$(freed_by)" "20 weir_hook_ipv4 NETFILTER_DROP 20 weir_hook_ipv6 NETFILTER_DROP" "skb:kfree_skb shows weir's hook and the reason"

# With weir_drop disabled most packets take the early drop.
echo 0 >"$TRACING/events/weir/weir_drop/enable"
trace_freed weir_limited
line=$(freed_by all)
is "$(awk '{ for (i = 1; i < NF; i += 3) n += $i; print n }' <<<"$line")" 50 "... so for early drops"
like "$line" '2[0-9] weir_hook_ipv4 NETFILTER_DROP 2[0-9] weir_hook_ipv6 NETFILTER_DROP' "... of both families"
finish
