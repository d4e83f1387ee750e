#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fleet-canary.t: a configuration that one of two hosts tries first: it is good, is refused, drops
# too much, limits a source that was exempt, cuts its host off; who pushes it is killed, and so is
# the agent
. "$(dirname "$0")/lib.sh"
. "$here/fleet.sh"
fleet_begin 2
to='to 10.77.0.0/24 udp dport 9'

# try LIMIT WORD...: push the configuration on stdin with a canary, and wait until web1 has LIMIT
try() {
	local limit=$1
	shift
	cat >"$tmp/try.conf"
	# Not in a shell of its own, to be killed.
	weir-fleet -server "$url" -group edge push "$tmp/try.conf" canary 1 "$@" >"$tmp/tried" 2>&1 &
	pusher=$!
	pids+=($!)
	wait_for 60 limits_are web1 "$limit"
}
# tried: wait until that is over, and set $tried to what became of it
tried() {
	wait "$pusher"
	tried=$?:$(<"$tmp/tried")
}
# datagrams NUMBER: from 10.77.0.1 to the first host
datagrams() { for ((i = 0; i < $1; i++)); do echo . >/dev/udp/10.77.0.11/9; done 2>/dev/null; }

server
push canary 1 for 2s <<<"limit add a budget 100000/s $to"
is "$?:$(<"$tmp/said")" "2:weir-fleet: push: group 'edge' has 0 hosts that are not silent, fewer than the canaries" "there is no host to try it"
agent web1
agent web2
push <<<"limit add a budget 100000/s $to"
{ all_have a web1 web2 && wait_for 60 state_is web1 accepted true && wait_for 60 state_is web2 accepted true; } || bail "nothing is applied"

try b for 8s <<<"limit add b budget 100000/s $to"
ok $? "the first host tries it"
is "$(limits web2)" a "... the other one does not"
push canary 1 for 4s <<<"limit add x budget 1/s $to"
is "$?:$(sed -E 's/ (3[0-9]|4[0-9])(\.[0-9]+)?s at most$/ T at most/' "$tmp/said")" "2:weir-fleet: push: another push tries canaries of this group, for another T at most" "... nor can anybody try another meanwhile"
tried
like "$tried" '^0:group edge has revision [0-9]+$' "nothing is wrong with it"
holds "... so all have it" all_have b web1 web2
is "$(grep -c returned "$tmp/web1.log")" 0 "... and the first host goes on with it"
holds "... which is no canary any more" wait_for 60 state_is web1 canary null

older web1
try b for 20s <<<"limit add b budget 1G/s bytes $to"
tried
like "$tried" "^2:weir-fleet: push: taken back: web1 refused it: -:.* unknown word 'octets'" "a canary that the host refuses is taken back"
is "$(limits web1):$(limits web2)" b:b "... and nobody has it"
newer web1

try d for 60s drops 10% <<<"limit add d budget 5/1m $to"
ok $? "a canary with a small budget"
wait_for 60 state_is web1 canary.accepted true
datagrams 50
tried
like "$tried" "^2:weir-fleet: push: taken back: web1 dropped [0-9.]+% of the packets, of known sources; 'drops' allows 10%\$" "... that drops too much is taken back"
holds "... and the host returns to what it had" all_have b web1

push <<<"limit add e budget 5/1m $to"$'\nexempt add 10.77.0.0/28'
all_have e web1 web2
try f for 60s drops 100% <<<"limit add f budget 5/1m $to"
wait_for 60 state_is web1 canary.accepted true
datagrams 50
tried
is "$tried" "2:weir-fleet: push: taken back: web1 limits sources that were exempt (1)" "one that limits who was exempt is taken back"
all_have e web1
on web1 weir -brief exempt show | grep -q 10.77.0.0/28
ok $? "... and the exemption is there again"

try g for 60s <<<"limit add g budget 100000/s $to"
kill -TERM "$pusher"
tried
is "$tried" "2:weir-fleet: push: taken back: interrupted" "who pushes is told to end, and takes it back"
holds "... from the host, too" all_have e web1

# A host that is slow to take it has it for as long as the others.
kill -STOP "${agents[web1]}"
weir-fleet -server "$url" -group edge push - canary 1 for 2s <<<"limit add late budget 100000/s $to" >"$tmp/tried" 2>&1 &
pusher=$!
pids+=($!)
let_pass 4000
kill -CONT "${agents[web1]}"
all_have late web1
begin=$(now_ms)
tried
like "$tried" '^0:group edge has revision [0-9]+$' "a canary that takes it after the time is good"
within $(($(now_ms) - begin)) 1500 60000 "... when its own time is over"
push <<<"limit add e budget 5/1m $to"
all_have e web1 web2

begin=$(now_ms)
try evil for 10s drops 100% <<<"limit add evil budget 3/1h"
ok $? "a canary that cuts its host off"
tried
is "$tried" "2:weir-fleet: push: taken back: web1 fell silent" "... is taken back"
is "$(limits web2)" e "... and does not reach others"
holds "the host returns without a connection" wait_for 60 limits_are web1 e
within $(($(now_ms) - begin)) 38000 60000 "... half a minute after the time"
holds "... and is connected again" wait_for 60 state_is web1 canary null

try h for 5s <<<"limit add h budget 100000/s $to"
kill -9 "$pusher"
wait "$pusher" 2>/dev/null
is "$(limits web1)" h "who pushes is killed: the host has it for now"
agent_end -9 web1
: >"$tmp/web1.log"
agent web1
wait_for 60 grep -q 'returned to what' "$tmp/web1.log"
holds "... and tries it again when its agent was killed, too" all_have h web1
holds "... but returns when the time is over" wait_for 60 limits_are web1 e
agent_end -TERM web1
agent web1
wait_for 60 state_is web1 canary null
is "$(limits web1)" e "... for good"
push canary 1 for 8s <<<"limit add i budget 100000/s $to"
is $? 0 "another canary can be tried"
holds "... for all to have it" all_have i web1 web2
finish
