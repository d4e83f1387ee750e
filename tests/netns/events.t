#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# events.t: weir monitor tells what becomes limited, of limits, and of pressure
. "$(dirname "$0")/lib.sh"
begin
senders=()
command weir -json monitor >"$tmp/events" 2>"$tmp/said" &
pids+=($!)
# event FILTER: it has been told
event() { jq -c "select($1)" "$tmp/events" 2>/dev/null | grep -q .; }
told() {
	wait_for 20 event "$1"
	ok $? "$2" || diag "$(tail -n 5 "$tmp/events")" "$(<"$tmp/said")"
}
# Until it listens, a limit that comes and goes is what it tells first.
ready() {
	weir limit add zero budget 5/1s >/dev/null 2>&1
	weir limit del zero
	[ -s "$tmp/events" ]
}
wait_for 20 ready
# Another namespace's listener, and limit, meanwhile.
command weir -netns "$tx" -json monitor >"$tmp/other" 2>"$tmp/said" &
pids+=($!)
other_ready() {
	command weir -netns "$tx" limit add own budget 5/1s >/dev/null 2>&1
	command weir -netns "$tx" limit del own
	[ -s "$tmp/other" ]
}
wait_for 20 other_ready
weir limit add one budget 5/500ms slots 4 >/dev/null 2>&1
told '.event == "limit" and .change == "added" and .limit == "one" and .budget == 5' "a limit came"
flood -s 198.51.100.7 -c 20
told '.event == "source" and .source == "198.51.100.7" and .limit == "one" and .budget == 5 and .action == "drop"' \
	"a source became limited"
is "$(jq -c 'select(.event == "source")' "$tmp/events" | grep -c .)" 1 "... once, however much it sends"
let_pass 800
flood -s 198.51.100.7 -c 20
again() { [ "$(grep -c '"event":"source"' "$tmp/events")" = 2 ]; }
wait_for 20 again
ok $? "after a pause for more than a window it is told again"
weir limit set one budget 7/500ms sources 64 >/dev/null 2>&1
told '.event == "limit" and .change == "changed" and .limit == "one" and .budget == 7' "a limit changed"
flood -s 10.0.0.1 -n 5000 -c 30000
told '.event == "pressure" and .limit == "one" and .evictions > 0 and .sources_wanted > 64' "a table is too small"
weir limit del one >/dev/null
told '.event == "limit" and .change == "removed" and .limit == "one"' "a limit went"
jq -es . "$tmp/events" >/dev/null
ok $? "each event is one object of JSON"

# More than the ring holds, from senders that let nobody else run.
weir limit add two budget 1/1m sources 100000 >/dev/null 2>&1
for source in 10.1.0.1 10.3.0.1; do
	send_args -s $source -n 10000 -c 30000
	chrt -f 10 send "${args[@]}" >/dev/null &
	senders+=($!)
done
wait "${senders[@]}"
[ "$(stats events_lost)" -gt 0 ]
ok $? "events that find no room are counted" || weir stats show
quiet
is "$(jq -r .limit "$tmp/other" | sort -u):$(grep -c '"own"' "$tmp/events")" own:0 "a namespace hears of its own limits alone"
before=$(stats events_lost)
flood -s 10.2.0.1 -n 5000 -c 10000
is "$(stats events_lost)" "$before" "with nobody listening nothing is lost"
finish
