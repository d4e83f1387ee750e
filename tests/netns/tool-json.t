#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tool-json.t: all JSON output is valid under weir -schema: keys, types and ranges;
# and never coloured
. "$(dirname "$0")/lib.sh"
begin

# tells COUNT WORD...: expect an array of COUNT, identical with -pretty and -color; the
# function weir keeps both for schema.py
tells() {
	local count=$1
	shift
	weir -j "$@" >"$tmp/out" 2>"$tmp/err"
	weir -jp -color=always "$@" >"$tmp/pretty" 2>>"$tmp/err"
	[ "$(jq length "$tmp/out")" = "$count" ] && [ "$(jq length "$tmp/pretty")" = "$count" ]
	ok $? "weir -j, -jp -color=always $*" || diag "$(<"$tmp/out")" "$(tail -n 30 "$tmp/err")"
}

tells 0 limit show
tells 0 exempt show
tells 0 source show
tells 1 stats show
tells 0 limit show nosuch
weir limit add web budget 20/30d to 192.0.2.0/24 dport 9 proto udp sources 64 >"$tmp/out" 2>&1
weir limit add every budget 100k/30d bytes not dev lo not from 10.0.0.0/8 not mark 1/3 not frag not syn not family ipv6 lenient per 24,56 >"$tmp/out" 2>&1
weir limit add everybody budget 2/30d per 0 action observe >"$tmp/out" 2>&1
weir exempt add 203.0.113.0/24 limit web
weir exempt add 2001:db8::/32 dev rx0
flood -s 10.0.0.1 -n 200 -c 400
flood -s 198.51.100.1 -c 50
tells 3 limit show
tells 3 -s limit show
tells 1 limit show web
tells 1 -s limit show everybody
tells 2 exempt show
tells 1 exempt get 2001:db8::1 dev rx0
tells 1 source get 198.51.100.1 limit every
tells 3 source get 203.0.113.1
tells 1 source show top 1
tells 1 source charge 198.51.100.9 limit web packets 3
tells 1 stats
tells 1 source forget 203.0.113.77
tells 1 save
tells 1 limit set web budget 21/30d
tells 1 -Version
unload
ok $? "the module unloads"
finish
