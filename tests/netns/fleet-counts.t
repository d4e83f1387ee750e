#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fleet-counts.t: hosts that share a limit admit one budget of a source together: real packets to two
# and to four of them, and the worst window over all; an agent is killed, the server is, a peer lies
. "$(dirname "$0")/lib.sh"
. "$here/fleet_counts.sh"
fleet_begin 4
server
limit() { echo "limit add $1 budget $budget/${period}ms sources 256 ${2:-} udp dport $3"; }
push < <(limit four shared 9; limit own "" 10; limit two shared 11; limit dead shared 12; limit lone shared 13; limit lied shared 14)
ok $? "limits are pushed" || diag "$(<"$tmp/said")"
for host in "${hosts[@]}"; do agent "$host"; done
all_have "four own two dead lone lied" "${hosts[@]}" || bail "nothing is applied"

shared 5 3 "${hosts[@]}"
ok $? "all hosts hear each other"

# lie MESSAGES: a peer that lies has more sources than it may, or says what is wrong
lie() {
	python3 - "$nats" "$1" <<-'PYTHON'
	import socket
	import struct
	import sys

	name, port = sys.argv[1].split(":")
	nats = socket.create_connection((name, int(port)))
	nats.sendall(b'CONNECT {"verbose":false}\r\n')

	def message(number, body, run=1, version=1, interval=200):
	    return struct.pack(">BQIHHBB", version, run, number, interval, 0, 1, 4) + b"liar" + body

	def group(value):
	    out = b""
	    while value > 127:
	        out += bytes([128 | value & 127])
	        value >>= 7
	    return out + bytes([value])

	def source(last, value):
	    return bytes([4, 32, 192, 0, 2, last]) + value

	if sys.argv[2] == "full":
	    sent = [message(n, b"".join(bytes([4, 32, 11, n]) + struct.pack(">H", i) + group(1) for i in range(5000)), run=2) for n in range(1, 8)]
	else:
	    sent = [message(1, source(1, group(1 << 57))), message(2, source(2, b"\xff" * 9 + b"\1")), message(2, b"", version=2), b"", b"\0" * 61000,
	            message(3, source(1, group(1)) * 3), message(3, b"")]
	    sent += [message(n, b"") for n in range(10, 60)]
	for data in sent:
	    nats.sendall(b"PUB weir.edge.counts.lied %d\r\n" % len(data) + data + b"\r\n")
	nats.sendall(b"PING\r\n")
	while b"PONG" not in nats.recv(65536):
	    pass
	PYTHON
}
# table HOST REGEX: does the table have that of it?
table() { fleet status | grep -Eq "^$1 .*$2"; }
no_room="no room for all sources in the books of limit lied"

# More sources than it may have: the agents say so once, and later that it is over.
# A status tells what is new since the one before: look before it comes.
lie full &
liar=$!
wait_for 60 table web1 ' capped: [0-9]+ sources,.* accepted$'
ok $? "the table shows that there is no room for sources" || diag "$(fleet status; state web1 counts)"
for host in "${hosts[@]}"; do wait_for 15 grep -q "$no_room" "$tmp/$host.log" || missing+=" $host"; done
is "${missing:-}" "" "... and the agents say so"
wait "$liar"

to_hosts "${hosts[@]}"
read -ra two <<<"${words[*]:0:2}"
trace_start weir_charge weir_uncharge
watched 9 50 "${all[@]}"
together 75 four "${hosts[@]}"
is "$(for host in "${hosts[@]}"; do state "$host" counts.malformed; state "$host" counts.lost; done | xargs)" "0 0 0 0 0 0 0 0" "nothing was malformed, nor lost"
trace_start weir_charge weir_uncharge
watched 11 12 "${two[@]}"
together 50 two web1 web2
trace_start weir_charge weir_uncharge
flood 10 16 "${all[@]}"
trace_stop
is "$(most own)" $((4 * budget)) "four hosts of a limit that is not shared admit four"

# An agent is killed in the flood: the others go on, and it comes back without a jump.
agent_end -9 web4
trace_start weir_charge weir_uncharge
watched 12 15 "${two[@]}" web4 - - -
agent web4
shared 5 3 web4
ok $? "an agent that was killed hears the others again"
together 50 dead web1 web2
holds "web4 tells nothing that others admitted" [ "$(state web4 counts.announced)" = 0 ]
holds "... but heard it" [ "$(state web4 counts.heard)" -gt 0 ]

# The server is gone: each host alone. Then together again.
server_kill
for host in "${hosts[@]}"; do wait_for 60 grep -q 'goes on with what it has' "$tmp/$host.log"; done
trace_start weir_charge weir_uncharge
flood 13 10 "${two[@]}"
trace_stop
is "$(most lone)" $((2 * budget)) "without a server each host admits a budget"
server
shared 5 3 "${hosts[@]}"
ok $? "with a server they share again"

for host in "${hosts[@]}"; do wait_for 90 grep -q "${no_room#no }.* again" "$tmp/$host.log" || missing+=" $host"; done
is "${missing:-}:$(cat "$tmp"/web?.log | grep -c "$no_room")" ":4" "... once, and when that is over"
wait_for 60 table web1 'Z (pressure: sources [0-9]+, )?accepted$'
ok $? "the table shows what is so, not what was" || diag "$(fleet status; state web1 counts)"

# A peer that lies.
capped=$(state web1 counts.capped)
lie wrong &
liar=$!
wait_for 60 table web1 ' lost: [0-9]+ messages,'
ok $? "the table shows that messages were lost"
wait "$liar"
lied() { [ "$(on web1 weir -json source get 192.0.2.1 limit lied | json count)" = "$1" ]; }
# The first message has 2^57 packets, the third well-formed one a packet, three times.
wait_for 15 lied $((budget + 1))
ok $? "a message adds a budget at most, and a source once" || diag "$(on web1 weir -json source get 192.0.2.1 limit lied)"
is "$(on web1 weir -json source show limit lied | grep -c 192.0.2.2)" 0 "... and nothing by a malformed message"
for host in "${hosts[@]}"; do wait_for 60 state_is "$host" counts.malformed 4 || missing+=" $host"; done
is "${missing:-}" "" "malformed messages are counted and dropped"
holds "... and what is too much" [ "$(state web1 counts.capped)" -ge $((capped + 3)) ]
holds "... and what comes too often" [ "$(state web1 counts.repeated)" -ge 30 ]
finish
