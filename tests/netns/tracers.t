#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tracers.t: perf, bpftrace and dropwatch see what limits drop, and why: each command that weir(4)
# shows for that is run as it stands there
. "$(dirname "$0")/lib.sh"
begin_with <<-WORDS
	limit add web budget 5/1h from 198.51.100.0/24,2001:db8:1::/48 sources 1024
	block add 198.51.100.128/25
WORDS

# One file a command, and what is typed into it beside
sed -n '/^\.Sh TRACEPOINTS/,/^\.Sh FILES/p' "$top/Documentation/weir.4" |
	awk -v at="$tmp/command" '
		/^\.Ed/ { on = 0 }
		!on { on = /^\.Bd -literal/; next }
		{ gsub(/\\\(aq/, "\x27"); to = at n }
		sub(/^# /, "") { n++; to = at n }
		sub(/^[a-z]+> /, "") { to = at n ".in" }
		{ print >to }'
commands=("$tmp"/command?)
is "$(cat "${commands[@]}" | sed -n 's/^\([a-z]* [a-z-]*\).*/\1/p' | xargs)" \
	"perf record perf script bpftrace -e perf record perf script bpftrace -e dropwatch -l" "weir(4) shows seven commands"

for source in 198.51.100.1 198.51.100.200 2001:db8:1::7; do
	flooding -s "$source" -r 50 -t 600000
done
cd "$tmp" || bail "no directory"

# runs NUMBER: run this command of the page
runs() {
	local program rest
	read -rd '' program rest <"$tmp/command$1"
	if ! command -v "$program" >/dev/null; then
		skip "no $program" "weir(4): $program ${rest//$'\n'/}"
		return 1
	fi
	bash "$tmp/command$1" >"$tmp/out" 2>"$tmp/err" </dev/null
	ok $? "weir(4): $program ${rest//$'\n'/}" || diag "$(tail -n 5 "$tmp/err")"
}
# finds PATTERN NAME: in what it printed
finds() { holds "$2" grep -Eq -- "$1" "$tmp/out" || head -n 5 "$tmp/out" | diag "$(cat)"; }

if runs 1 && runs 2; then
	finds ' weir:weir_drop: .* limit=web saddr=::ffff:198\.51\.100\.1 .* packets=1 bytes=46 reason=budget budget=1$' "... has limit, sender and reason"
	finds ' limit=web saddr=2001:db8:1::7 .* reason=budget budget=1$' "... also of IPv6"
	finds ' saddr=::ffff:198\.51\.100\.200 .* reason=block ' "... and of a prefix that is blocked"
fi
if runs 3; then
	finds '^@\[web, ::ffff:198\.51\.100\.1, 0\]: [1-9][0-9]*$' "... has limit, sender and reason"
	finds '^@\[web, 2001:db8:1::7, 0\]: ' "... also of IPv6"
	finds '^@\[web, ::ffff:198\.51\.100\.200, 1\]: ' "... and of a prefix that is blocked"
fi
if runs 4 && runs 5; then
	finds ' skb:kfree_skb: .* location=.* reason: NETFILTER_DROP' "... has the kernel's reason"
fi
runs 6 && finds '^@\[weir_hook_ipv4, [0-9]+\]: ' "... has weir's function"

read -ra dropwatch <"$tmp/command7"
if command -v "${dropwatch[0]}" >/dev/null; then
	mkfifo "$tmp/typed"
	"${dropwatch[@]}" <"$tmp/typed" >"$tmp/out" 2>&1 &
	pids+=($!)
	exec {typed}>"$tmp/typed"
	cat "$tmp/command7.in" >&"$typed"
	dropped() { grep -A 7 '^drop at: weir_hook_ipv4+' "$tmp/out" | grep -q '^drop reason: NETFILTER_DROP'; }
	holds "weir(4): ${dropwatch[*]}" wait_for 60 dropped || head -n 20 "$tmp/out" | diag "$(cat)"
	exec {typed}>&-
else
	skip "no ${dropwatch[0]}" "weir(4): ${dropwatch[*]}"
fi
quiet
finish
