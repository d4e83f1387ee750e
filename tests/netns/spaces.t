#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# spaces.t: limits, exemptions and counters of two namespaces are independent, even
# with the same sources and limits of the same name
. "$(dirname "$0")/lib.sh"
begin
other=''
space other
(rx=$other && link tx1 rx1 02:00:00:00:00:01) || bail "no veth"
# there COMMAND...: run it for the other namespace
there() { (rx=$other && "$@"); }
config <<-WORDS || bail "cannot configure"
	limit add a budget 10/1h
	limit add here budget 10/1h from 203.0.113.0/24
	exempt add 10.0.0.0/8
WORDS
there config <<-WORDS || bail "cannot configure"
	limit add a budget 20/1h
	exempt add 198.51.100.0/24
WORDS
# both SOURCE: send 50 packets to each namespace
both() {
	flood -s "$1" -c 50
	flood -i tx1 -s "$1" -c 50
}
# these KEY...: their values in the JSON on stdin
these() {
	local text what
	IFS= read -rd '' text
	for what; do json "$what" <<<"$text"; done | paste -sd' '
}
# Packet counts of a namespace: in total, of a limit, and by source
counts() { weir -json stats show | these {seen,exempt,unmatched,admitted,dropped}_packets; }
fate() { weir -json -stats limit show "$1" | these matched.packets admitted.packets dropped.packets; }
told() { weir -brief source show limit a | sed -E 's/ limit a count ([0-9]+) .*dropped ([0-9]+).*/ \1 \2/' | sort | paste -sd,; }

both 198.51.100.1
both 10.0.0.1
is "$(counts)" "100 50 0 10 40" "one source is exempt here"
is "$(there counts)" "100 50 0 20 30" "... the other one there"
is "$(fate a):$(there fate a)" "50 10 40:50 20 30" "each namespace's limit counts its packets"
is "$(told):$(there told)" "198.51.100.1 10 40:10.0.0.1 20 30" "... and in its own table"
both 203.0.113.1
is "$(fate a):$(fate here):$(there fate a)" "100 20 80:10 10 0:100 40 60" "a limit that exists here matches here only"

# Changes here do not affect the other namespace.
there weir save >"$tmp/before"
weir limit set a budget 30/1h >"$tmp/said"
weir exempt flush
weir exempt add 198.51.100.0/24
weir source forget all >"$tmp/said"
is "$(there weir save)" "$(<"$tmp/before")" "changes here leave the configuration there"
is "$(told):$(there told)" ":10.0.0.1 20 30,203.0.113.1 20 30" "sources forgotten here are kept there"
both 198.51.100.1
both 10.0.0.1
is "$(counts)" "250 100 0 50 100" "the new configuration applies here"
is "$(there counts)" "250 100 0 40 110" "... and the old one there"
weir limit flush
both 10.0.0.1
is "$(counts):$(there counts)" "250 100 0 50 100:300 100 0 40 160" "without limits here, those there stay in force"
there weir limit flush
is "$(there weir -json stats show | json limit_count)" 0 "... until they are deleted"

# A namespace of a user, who is its root, and the host's root in there
mkfifo "$tmp/hold" && exec 8<>"$tmp/hold"
setpriv --reuid 65534 --regid 65534 --clear-groups unshare -Urn sh -c 'echo; read -r _' >"$tmp/up" <&8 &
holder=$!
pids+=($!)
wait_for 60 test -s "$tmp/up"
user() { nsenter -t "$holder" -U -n "$top/userspace/weir" "$@" 2>&1; echo "$?"; }
host() { nsenter -t "$holder" -n "$top/userspace/weir" "$@" 2>&1; echo "$?"; }
off=': limits in user namespaces are off; load weir with userns=1'
for words in "limit add a budget 1/s" "limit show" "limit flush" "source show" "source get 192.0.2.1" "exempt show" "exempt add 192.0.2.1" \
	"source charge 192.0.2.1 limit a" "source forget all" "stats show"; do
	# shellcheck disable=SC2086 # words
	like "$(user $words)" "$off"$'\n'"2$" "without userns=1, a user's root is refused: $words"
done
is "$(</sys/module/weir/parameters/userns)" N "... which is the default"
is "$(host limit add a budget 1/s | tail -n 1)" 0 "... but not the host's"
is "$(host limit flush)" 0 "... who may remove it"
allow_users
is "$(user limit add mine budget 1/s | tail -n 1)" 0 "with userns=1 a user's namespace has limits"
# What a user holds waits for nobody but users.
nsenter -t "$holder" -U -n env PYTHONPATH="$here" python3 -c 'import sys, wire
socket = wire.Wire()
print(socket.ask("config-replace", [("hold", True)]).error, flush=True)
sys.stdin.read()' >"$tmp/held" <"$tmp/never" &
pids+=($!)
wait_for 60 test -s "$tmp/held"
like "$(<"$tmp/held") $(user limit set mine budget 2/s)" "^0 .*another process restores a state" "while something is held, another process of the user has to wait"
is "$(timeout 5 nsenter -t "$holder" -n "$top/userspace/weir" limit set mine budget 3/s >"$tmp/out"; echo "$?")" 0 "... but not the host's root"
is "$(user limit set mine budget 1/s | tail -n 1)" 0 "... who ends that"
until=/sys/module/weir/parameters/frozen_until
echo $(($(cut -d. -f1 /proc/uptime) + 600)) >"$until"
# hold LIMIT...: what a user who wants to hold limits, as the wire's dicts, is told
hold() {
	nsenter -t "$holder" -U -n env PYTHONPATH="$here" python3 -c 'import sys, wire
print(wire.Wire().ask("config-replace", [("hold", True), *(("limit", eval(arg)) for arg in sys.argv[1:])]))' "$@"
}
like "$(hold)" "the module is being replaced and its state restored" "a user holds nothing while the module is being replaced"
echo 0 >"$until"
# 64 MiB are room for one such table
memory() { user -j stats show | head -n 1 | json memory; }
most=$((65536 * (45 << 20) / $(memory)))
is "$(user limit del mine) $(user limit add mine budget 1/h sources "$most" | tail -n 1)" "0 0" "... a large one"
within "$(memory)" $((33 << 20)) $((64 << 20)) "... which takes more than half of what its namespace may have"
user source charge 192.0.2.9 limit mine packets 1 >/dev/null
of_user=$(mktemp -d) && chown 65534 "$of_user"
is "$(user save -state "$of_user/state") $(user -force restore "$of_user/state" | tail -n 1)" "0 0" "a state replaces it, which has as much room again"
is "$(user -j source get 192.0.2.9 | head -n 1 | json count)" 1 "... with its counts"
for i in a b; do large+=("{'name': '$i', 'sources': $most, 'budget': {'budget': 1, 'window-ms': 1000}}"); done
like "$(hold "${large[@]}")" "tables of a user's namespace hold 64 MiB" "... but no more"
user source forget all >/dev/null
echo 0 >/sys/module/weir/parameters/userns
like "$(user limit flush)" "$off"$'\n'"2$" "when it is 0 again, the user cannot remove them"
like "$(host limit show)" "^mine budget 1/h" "... which stay in force"
is "$(host limit flush)$(host limit show)" 00 "... until the host's root removes them"
finish
