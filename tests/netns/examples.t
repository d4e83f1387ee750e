#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# examples.t: the programs of Documentation/examples that charge sources, as they are
. "$(dirname "$0")/lib.sh"
greeter=$top/.cache/build/netns/greeter
[ -x "$greeter" ] || skip_all "no greeter was built"
begin
end_not_here
ip_rx link set lo up
# A bucket of 2, of which one leaks in an hour, and one of which one leaks in 500 ms
weir limit add smtp budget 1/1h bucket burst 2 from 255.255.255.255 >"$tmp/out" 2>&1 || bail "no limit"
weir limit add ssh budget 2/1s bucket burst 2 from 255.255.255.255 >"$tmp/out" 2>&1 || bail "no limit"

# hello ADDRESS PORT: what a client that connects is told
hello() { rx bash -c "exec 3<>/dev/tcp/$1/$2 && head -n 1 <&3" 2>/dev/null | tr -d '\r'; }
listens() { rx ss -Hltn "sport = $1" | grep -q .; }
count() { weir -j source get "$1" limit "$2" | json count; }
# serve PORT WORD...: run the server until the test ends
servers=()
serve() {
	rx "$greeter" "$@" >"$tmp/out$1" 2>>"$tmp/served" &
	servers+=("$!")
	wait_for 60 listens "$1" || bail "no server on port $1"
}
serve 2525 smtp
serve 2222 ssh reserve
serve 2526 nosuch

trap 'kill "${servers[@]}"; cleanup' EXIT
is "$(for _ in 1 2; do hello 127.0.0.1 2525; done)" $'220 ready\n220 ready' "a server in C serves a client within its budget"
like "$(hello 127.0.0.1 2525)" '^421 come again in 3(600|[45][0-9][0-9]) s$' "... and tells one beyond it when to come again"
is "$(count 127.0.0.1 smtp)" 2 "... who was charged, by IPv4 on a socket of IPv6"
is "$(hello ::1 2525)" '220 ready' "another client has a budget of its own"
is "$(hello 127.0.0.1 2526)" '220 ready' "without an answer it serves"
like "$(<"$tmp/served")" '^greeter: No such file or directory$' "... and says why there was none"
weir source charge 127.0.0.1 limit ssh packets 2 >"$tmp/out"
start=$(now_ms)
is "$(for _ in 1 2; do hello 127.0.0.1 2222; done)" $'220 ready\n220 ready' "with a reservation it serves when that is due"
within "$(($(now_ms) - start))" 700 20000 "... and not before"

source=$top/.cache/source
if [ -e "$source/tools/net/ynl/pyynl/cli.py" ] && python3 -c 'import jsonschema, yaml' 2>/dev/null; then
	mkdir -p "$tmp/netlink/specs"
	cp "$source"/Documentation/netlink/*.yaml "$tmp/netlink/"
	cp "$top/Documentation/netlink/specs/weir.yaml" "$tmp/netlink/specs/"
	# charge WORD...: what the example in Python says, and its status
	charge() {
		PYTHONDONTWRITEBYTECODE=1 rx python3 "$top/Documentation/examples/charge.py" \
			"$source/tools/net/ynl/pyynl" "$tmp/netlink/specs/weir.yaml" "$@"
		echo "$?"
	}
	weir source forget all limit smtp >"$tmp/out"
	is "$(charge smtp 127.0.0.1 2)" $'taken 2 left 0 wait 0.000\n0' "the program in Python charges"
	like "$(charge smtp 127.0.0.1)" $'^taken 0 left 0 wait 3[0-9]+\\.[0-9]+\n1$' "... is told when there is room"
	is "$(charge smtp 127.0.0.1 5)" $'taken 0 left 0 wait never\n1' "... or that there never is"
	weir source charge 127.0.0.1 limit ssh packets 2 mode drain >"$tmp/out"
	is "$(charge ssh 127.0.0.1 2 wait)" 0 "... and waits"
	within "$(count 127.0.0.1 ssh)" 1 2 "... until all is granted"
else
	skip "no YNL client" "the program in Python charges"
fi
finish
