#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fleet-blocks.t: blocks, releases and penalties of shared limits reach all hosts of a group, and end
# there; hosts are away, cut off, join late; the server is killed, and loses its files; the module
# is replaced
. "$(dirname "$0")/lib.sh"
. "$here/fleet.sh"
fleet_begin 3
to='udp dport'
share=(-share "ban,pen,every")

# blocked HOST SOURCE LIMIT: is it?
blocked() { on "$1" weir -json source show blocked limit "$3" | grep -qF "\"source\":\"$2\""; }
released() { ! blocked "$@"; }
# everywhere blocked|released SOURCE LIMIT HOST...: wait until it is on these hosts
everywhere() {
	local host
	for host in "${@:4}"; do wait_for 60 "$1" "$host" "$2" "$3" || { diag "not on $host"; return 1; }; done
}
block() { on "$1" weir source block "$2" limit "$3" for "$4" >/dev/null; }
release() { on "$1" weir source release "$2" limit "$3" >/dev/null; }
# datagrams COUNT ADDRESS PORT: from web2; the server's own address is not blocked on others
# shellcheck disable=SC2016 # for the shell there
datagrams() { on web2 bash -c 'for ((i = 0; i < $1; i++)); do echo . >"/dev/udp/$2/$3"; done 2>/dev/null' - "$@"; }
joined() { [ "$(state "$1" blocks.now)" -ge "$2" ]; }

server
config=$(printf '%s\n' "limit add ban budget 100000/s $to 9" "limit add pen budget 5/1m penalty 10m $to 10" "limit add own budget 100000/s $to 11" "limit add every budget 1000000/s")
push <<<"$config"
for host in "${hosts[@]}"; do agent "$host" "${share[@]}"; done
all_have "ban pen own every" "${hosts[@]}" || bail "nothing is applied"
for host in "${hosts[@]}"; do wait_for 60 state_is "$host" accepted true; done

begin=$(now_ms)
block web1 192.0.2.1 ban 10m
everywhere blocked 192.0.2.1 ban "${hosts[@]}"
ok $? "a block reaches all hosts"
diag "blocked on 3 hosts in $(($(now_ms) - begin)) ms"
left=$(on web2 weir -json source get 192.0.2.1 limit ban | json blocked_ms)
within "${left%.*}" 580000 601000 "... with its end, to a second"
block web2 2001:db8::1 ban ever
everywhere blocked 2001:db8::/64 ban "${hosts[@]}"
ok $? "so does one of IPv6, without an end"
release web3 192.0.2.1 ban
everywhere released 192.0.2.1 ban "${hosts[@]}"
ok $? "a release reaches all hosts"
is "$(on web1 weir -json source show blocked limit ban | grep -c 2001:db8)" 1 "... and only that source"

datagrams 10 10.77.0.11 10
everywhere blocked 10.77.0.12 pen "${hosts[@]}"
ok $? "a penalty reaches all hosts"
release web1 10.77.0.12 pen
everywhere released 10.77.0.12 pen "${hosts[@]}"
ok $? "... and its release, too"

block web1 192.0.2.2 own 10m
block web1 192.0.2.3 ban 10m
everywhere blocked 192.0.2.3 ban "${hosts[@]}"
released web2 192.0.2.2 own
ok $? "a block of a limit that is not shared stays where it is"

on web2 weir exempt add 192.0.2.50 limit ban >/dev/null
block web1 192.0.2.50 ban 10m
wait_for 60 grep -q 'block of another host: warning: .*192.0.2.50\|block of another host: warning: .*exempt' "$tmp/web2.log"
ok $? "a host that is told to block an exempt source says so" || diag "$(tail -n 3 "$tmp/web2.log")"

block web1 192.0.2.4 ban 6s
everywhere blocked 192.0.2.4 ban "${hosts[@]}"
everywhere released 192.0.2.4 ban "${hosts[@]}"
ok $? "a block ends everywhere"

# No host tells what it was told.
wait_for 15 state_is web1 blocks.told 6
is "$(for host in "${hosts[@]}"; do state "$host" blocks.told; done | xargs)" "6 1 1" "each block and release was told once" ||
	diag "$(for host in "${hosts[@]}"; do state "$host" blocks; done)"

# away
agent_end -9 web3
release web1 2001:db8::1 ban
block web1 192.0.2.5 ban 10m
block web3 192.0.2.6 ban 10m
agent web3 "${share[@]}"
everywhere released 2001:db8::/64 ban web3
ok $? "a host that was away releases what was released"
everywhere blocked 192.0.2.5 ban web3
ok $? "... takes over what was blocked"
everywhere blocked 192.0.2.6 ban web1 web2
ok $? "... and tells of its own"

# cut off
ip link set hub1 down
block web1 192.0.2.7 ban 10m
block web2 192.0.2.8 ban 10m
release web1 192.0.2.5 ban
wait_for 60 grep -q 'lost\|Timeout' "$tmp/web1.log"
ok $? "a host that is cut off notices"
ip link set hub1 up
everywhere blocked 192.0.2.8 ban web1
ok $? "... and is told later"
everywhere blocked 192.0.2.7 ban web2 web3
ok $? "... as are others of its block"
everywhere released 192.0.2.5 ban web2 web3
ok $? "... and of its release"

# what happened last holds, whoever was told first
: >"$tmp/web1.log"
ip link set hub1 down
block web2 192.0.2.10 ban 10m
everywhere blocked 192.0.2.10 ban web2 web3
block web1 192.0.2.10 ban 10m
release web1 192.0.2.10 ban
wait_for 60 grep -q 'lost\|Timeout' "$tmp/web1.log"
ip link set hub1 up
everywhere released 192.0.2.10 ban "${hosts[@]}"
ok $? "a release on a host that is cut off counts more than an older block of others"

# the server's own address
: >"$tmp/web1.log"
exempt=$(state web2 blocks.exempt)
block web1 10.77.0.1 every ever
wait_for 60 grep -q 'a block of 10.77.0.1 under limit every is not applied: it holds a server' "$tmp/web2.log"
ok $? "a block of the server is not applied by others"
{ released web2 10.77.0.1 every && released web3 10.77.0.1 every; }
ok $? "... which can reach it"
wait_for 15 state_is web2 blocks.exempt $((exempt + 1))
ok $? "... and is counted"
wait_for 60 grep -q 'lost\|Timeout' "$tmp/web1.log"
release web1 10.77.0.1 every
block web2 192.0.2.11 ban 10m
everywhere blocked 192.0.2.11 ban "${hosts[@]}"
ok $? "a release brings the host back that had cut itself off"
everywhere released 10.77.0.1 every "${hosts[@]}"
ok $? "... for good"

# the server, and a host that joins
server_kill
agent_end -9 web3
on web3 weir limit flush >/dev/null
server
agent web3 "${share[@]}"
everywhere blocked 192.0.2.8 ban web3
ok $? "a host that joins takes the blocks over, from a server that was killed"
server_kill
rm -r "$tmp/js"
agent_end -9 web3
on web3 weir limit flush >/dev/null
server
push <<<"$config"
wait_for 60 state_is web1 accepted true
agent web3 "${share[@]}"
everywhere blocked 192.0.2.8 ban web3
ok $? "... and from one that has lost its files: the others tell it again"

{ unload && load; } || bail "the module cannot be replaced"
all_have "ban pen own every" "${hosts[@]}"
ok $? "with a new module all hosts apply the configuration"
everywhere blocked 192.0.2.8 ban "${hosts[@]}"
ok $? "... and the blocks"

# other sources
block web1 192.0.2.9 ban 10m
everywhere blocked 192.0.2.9 ban "${hosts[@]}"
push <<<"${config/ban budget/ban per 24,64 budget}"
for host in "${hosts[@]}"; do
	wait_for 60 grep -q "192.0.2.9 under limit ban is not applied: the limit has other sources, by 'per'" "$tmp/$host.log"
	ok $? "$host does not block a network for the address that was blocked" || diag "$(tail -n 3 "$tmp/$host.log")"
done
is "$(for host in "${hosts[@]}"; do on $host weir -json source show blocked limit ban; done | jq -c 'map(.source)' | xargs)" "[] [] []" "... with a configuration of other sources"
push <<<"$config"
everywhere blocked 192.0.2.9 ban "${hosts[@]}"
ok $? "... but for the address, if it is one again"

# a name that is wrong
agent_end -9 web3
agent web3 -share ban,bann
push <<<"$config
limit add last budget 100000/s $to 12"
wait_for 60 grep -q "share: there is no limit 'bann' on this host" "$tmp/web3.log"
ok $? "an agent says which limit it is to share, and does not have"
is "$(grep -c "there is no limit 'ban'" "$tmp/web3.log")" 0 "... and not of others"

# no room
exec 3<>"/dev/tcp/${nats/://}"
# ask WHAT DATA: sets line to what the server answers of the bucket
ask() {
	printf '%s\r\n' "PUB \$JS.API.STREAM.$1.KV_weir-blocks-edge answers ${#2}" "$2" >&3
	while read -rt 60 line <&3 && [[ $line != '{'* ]]; do :; done
}
printf '%s\r\n' 'CONNECT {"verbose":false}' 'SUB answers 1' >&3
ask INFO ''
ask UPDATE "$(jq -c '.config + { max_msgs: .state.messages }' <<<"$line")"
exec 3>&-
is "$(jq .error <<<"$line")" null "a bucket takes no more blocks"
for at in 12 13 14; do block web1 192.0.2.$at ban 10m; done
wait_for 30 state_is web1 blocks.left_out 3
ok $? "what it refuses is counted"
is "$(grep -c 'no room for all blocks of the group' "$tmp/web1.log"):$(grep -c 'is not told of a block' "$tmp/web1.log")" 1:1 "... and said once"
finish
