#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fleet.t: a configuration is pushed to three hosts: all take it, one refuses it, one is away, some
# try it first; server and agents are killed
. "$(dirname "$0")/lib.sh"
. "$here/fleet.sh"
fleet_begin 3
to='to 192.0.2.0/24'

for host in "${hosts[@]}"; do agent $host; done
wait_for 60 grep -q 'No server' "$tmp/web1.log"
ok $? "an agent without a server says so"
is "$(grep -c 'No server' "$tmp/web1.log")" 1 "... once"
server
fleet status >"$tmp/said" 2>&1
is "$?:$(<"$tmp/said")" "2:weir-fleet: status: there is no bucket 'weir-status' yet: a push makes it" "the bucket is not there at first"
fleet log >"$tmp/said" 2>&1
is "$?:$(<"$tmp/said")" "2:weir-fleet: log: there is no bucket 'weir' yet: a push makes it" "... which log says likewise"

push <<<"limit add a budget 10/s $to"
like "$?:$(grep revision "$tmp/said")" '^0:group edge has revision [0-9]+$' "the first push makes it"
revision=$(sed -n 's/.*revision //p' "$tmp/said")
wait_for 60 grep -q ': connected$' "$tmp/web1.log"
ok $? "... and the agent says that it is connected"
all_have a "${hosts[@]}"
ok $? "all hosts apply the configuration"
for host in "${hosts[@]}"; do
	wait_for 60 state_is $host revision "$revision"
	is "$(state $host accepted):$(state $host error)" "true:null" "$host says that it accepted the revision"
done
is "$(state web1 module):$(state web1 tool)" "$(</sys/module/weir/version):$(weir -version | cut -d ' ' -f 2)" "... and its versions"
like "$(fleet status | grep web2)" '^web2 +edge +[0-9]+ [-0-9]{10}T[:0-9]{8}Z +accepted$' "the table has a line for it"

fleet push - group edge2 <<<"limit add a budget 10/s $to" >"$tmp/said" 2>&1
is "$?:$(grep -v revision "$tmp/said")" "0:weir-fleet: warning: no host is in group 'edge2'" "a push to a group without hosts says so"

weir-fleet -server "$url" -group edge -replicas 3 push - <<<"limit add a budget 10/s $to" >"$tmp/said" 2>&1
is "$?:$(<"$tmp/said")" "2:weir-fleet: push: a server that is in no cluster keeps one replica" "a server alone cannot be told to keep three replicas, with which it would not start again"
weir-fleet -server "tls://$nats" -group edge status >"$tmp/said" 2>&1
like "$?:$(<"$tmp/said")" '^3:weir-fleet: status: tls://.*: Secure' "tls:// does not go on in the clear" || diag "$(<"$tmp/said")"

# Whoever may write a status.
exec 3<>"/dev/tcp/${nats/://}"
bad='{"host":"bad","group":"edge","revision":-1}'
long='{"host":"a-long-name","group":"edge"}'
printf '%s\r\n' 'CONNECT {"verbose":false}' "PUB \$KV.weir-status.bad ${#bad}" "$bad" \
	"PUB \$KV.weir-status.a-long-name ${#long}" "$long" PING >&3
while read -rt 60 line <&3 && [[ $line != PONG* ]]; do :; done
exec 3>&-
fleet status >"$tmp/said" 2>&1
grep -q '1 of the statuses are malformed' "$tmp/said"
ok $? "a status with a negative revision is malformed" || diag "$(<"$tmp/said")"
is "$(grep -c -e '^HOST        GROUP        REVISION WHEN  ' -e '^a-long-name edge                0 20' -e '^web1        edge         .......[0-9] 20' "$tmp/said")" 3 \
	"the columns of the table are those of its header" || diag "$(<"$tmp/said")"

begin=$(now_ms)
push <<<"limit add b budget 10/s $to"
all_have b "${hosts[@]}"
ok $? "another configuration takes the place of the first"
diag "pushed and applied by 3 hosts in $(($(now_ms) - begin)) ms"

# What the pusher's own check finds reaches nobody.
push <<<$'limit add b budget 10/s\nlimit add c bugdet 1/s'
is $? 1 "a file with an error is not pushed"
like "$(<"$tmp/said")" "^weir-fleet: push: -:2:13: limit add: unknown word 'bugdet'" "... its line is named"
push <<<'include /etc/passwd'
is "$?:$(<"$tmp/said")" "1:weir-fleet: push: -:1: 'include' names files of one host; what is pushed has to stand alone" "nor is one that includes others"
is "$(fleet log | wc -l)" 2 "... and the log has only what was pushed"

# A host may refuse what others take.
older web2
push <<<"limit add b budget 1M/s bytes $to"$'\n'"limit add c budget 10/s $to"
all_have "b c" web1 web3
ok $? "two hosts take a third configuration"
wait_for 60 state_is web2 revision "$(state web1 revision)"
is "$(state web2 accepted)" false "the one with an older weir does not"
like "$(state web2 error)" "^-:1:.* unknown word 'octets'" "... and says why"
is "$(limits web2)" b "... and keeps what it has"
like "$(fleet status | grep web2)" 'refused: ' "... as the table shows"
newer web2

# away
agent_end -9 web3
push <<<"limit add d budget 10/s $to"
push <<<"limit add e budget 10/s $to"
all_have e web1 web2
ok $? "without it, a host that had refused one takes the next"
is "$(limits web3)" "b c" "a host whose agent was killed keeps its limits"
: >"$tmp/web3.log"
agent web3
all_have e web3
ok $? "... and takes the newest when it is back"
wait_for 60 grep -q 'is in force' "$tmp/web3.log"
is "$(grep -c 'is in force' "$tmp/web3.log")" 1 "... only that"

# the server
server_kill
wait_for 60 grep -q 'lost' "$tmp/web1.log"
ok $? "an agent notices that the server is gone"
push <<<"limit add f budget 10/s $to"
is $? 3 "nothing can be pushed then"
agent_end -9 web2
on web2 weir limit flush >/dev/null
agent web2
all_have e web2
ok $? "a host that starts without the server applies what it had"
server
push <<<"limit add f budget 10/s $to"
is $? 0 "the server is there again, with its files"
all_have f "${hosts[@]}"
ok $? "... and all hosts follow"
is "$(grep -c ': connected$' "$tmp/web1.log")" 2 "... and say that they are connected again"

server_kill
rm -r "$tmp/js"
server
push <<<"limit add g budget 10/s $to"
like "$(grep revision "$tmp/said")" '^group edge has revision [1-4]$' "the server has lost its files, and counts from 1"
all_have g "${hosts[@]}"
ok $? "... and all hosts follow"

lost=$(grep -c lost "$tmp/web1.log")
tc qdisc add dev hub1 root netem delay 1200ms
push <<<"limit add slow budget 10/s $to"
all_have slow "${hosts[@]}"
ok $? "a host whose server is slow follows, too"
wait_for 60 state_is web1 revision "$(fleet -json log | jq '.[0].revision')"
ok $? "... and says so"
tc qdisc del dev hub1 root
is "$(grep -c lost "$tmp/web1.log")" "$lost" "... without losing the connection"

# shares NAME: it does, forty limits of that name
shares() {
	push < <(for ((i = 1; i <= 40; i++)); do echo "limit add $1$i budget 10/1h sources 64 shared udp dport $i"; done)
	wait_for 60 state_is web1 '| "\(.revision) \(.counts.limits)"' "$(sed -n 's/.*revision //p' "$tmp/said") 40"
}
shares a && shares b
ok $? "limits are shared, and others after them" || diag "$(state web1 counts)"
push <<<"limit add g budget 10/s $to"

# earlier revisions
push <<<"limit add h budget 10/s $to"
all_have h "${hosts[@]}"
like "$(fleet log | head -n 1)" '^ +[0-9]+ [-0-9]{10}T[:0-9]{8}Z +[0-9]+ bytes  root@' "the log says when what was pushed, and by whom"
first=$(fleet -json log | jq '.[1].revision')
is "$(fleet show revision "$first")" "limit add g budget 10/s $to" "a revision can be shown"
fleet rollback >"$tmp/said" 2>&1
ok $? "a rollback is a push of the one before"
all_have g "${hosts[@]}"
ok $? "... which all hosts take"
like "$(fleet log | head -n 1)" ", rollback to $first\$" "... and the log says so"
fleet rollback revision 999 >"$tmp/said" 2>&1
is "$?:$(<"$tmp/said")" "2:weir-fleet: rollback: there is no revision 999 of this group; 'weir-fleet log' lists them" "one that is not there is refused"

agent_end -TERM web2
host=web2
(exec ip netns exec "${!host}" weir-fleet -server "$url" -group edge -host web1 -state "$tmp/web2" agent) >"$tmp/web2.log" 2>&1 &
pids+=($!)
wait_for 60 grep -q 'another agent has the name web1' "$tmp/web1.log"
ok $? "an agent says that another one has its name"
finish
