#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# events.t: a limited source causes one event, and another after a pause; a namespace
# receives only its own events; without listeners no event is lost
. "$(dirname "$0")/lib.sh"
begin
# listen FILE [OPTION...]: start monitor; add and delete a limit until it shows an event
listen() {
	local file=$1
	shift
	command weir "$@" -json monitor >"$file" 2>&1 &
	pids+=($!)
	hears() {
		command weir "$@" limit add zero budget 5/1s >/dev/null 2>&1
		command weir "$@" limit del zero
		[ -s "$file" ]
	}
	wait_for 20 hears "$@" || bail "monitor shows nothing"
}
listen "$tmp/events"
listen "$tmp/other" -netns "$tx"
weir limit add one budget 5/500ms slots 4 >/dev/null 2>&1
told() { [ "$(jq -c 'select(.event == "source") | [.source, .limit, .budget, .action]' "$tmp/events" | uniq -c | xargs)" = "$1" ]; }
flood -s 198.51.100.7 -c 20
holds "a source that becomes limited causes one event" wait_for 20 told '1 [198.51.100.7,one,5,drop]' || diag "$(<"$tmp/events")"
let_pass 800
flood -s 198.51.100.7 -c 20
holds "... and another after a pause of more than a window" wait_for 20 told '2 [198.51.100.7,one,5,drop]' || diag "$(<"$tmp/events")"
weir limit add own budget 5/1s >/dev/null 2>&1
heard() { grep -q '"own"' "$tmp/events"; }
wait_for 20 heard
is "$(jq -r .limit "$tmp/other" | sort -u)" zero "a namespace receives only events of its own limits"
quiet
before=$(stats events_lost)
flood -s 10.2.0.1 -n 5000 -c 10000
is "$(stats events_lost)" "$before" "without listeners no event is lost"
finish
