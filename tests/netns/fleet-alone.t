#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fleet-alone.t: hosts that share a limit and do not hear each other admit what it gives for that: one is cut
# off from the server of NATS by nft, its agent is killed, the server is, and the other hosts end
. "$(dirname "$0")/lib.sh"
. "$here/fleet_counts.sh"
command -v nft >/dev/null || skip_all "nft is not installed"
fleet_begin 3
alone=50
names=(joined cut again killed gone last)
server
push < <(for at in "${!names[@]}"; do echo "limit add ${names[at]} budget $budget/${period}ms alone $alone sources 256 shared udp dport $((at + 9))"; done)
ok $? "limits are pushed" || diag "$(<"$tmp/said")"
# The first agent has nobody to hear; the next ones hear it.
is_alone() { [ "$(on "$1" weir -json limit show "$2" | jq '.[0].alone_now // false')" = "$3" ]; }
turns() {
	local host
	for host in "${@:3}"; do wait_for 120 is_alone "$host" "$1" "$2" || { diag "$host: $(on "$host" weir limit show "$1")"; return 1; }; done
}
agent web1
all_have "${names[*]}" web1 || bail "nothing is applied"
holds "a fleet of one host is not alone" turns last false web1
for host in web2 web3; do agent "$host"; done
all_have "${names[*]}" "${hosts[@]}" || bail "nothing is applied"
holds "all hosts hear each other" shared 6 2 "${hosts[@]}"
holds "... and are not alone" turns last false "${hosts[@]}"
on web3 weir monitor limit cut >"$tmp/events" &
pids+=($!)

to_hosts "${hosts[@]}"
# passed LIMIT: packets of it that each host admitted
passed() { for host in "${hosts[@]}"; do on "$host" weir -json -stats limit show "$1" | jq '.[].stats.admitted.packets'; done | xargs; }

trace_start weir_charge weir_uncharge
watched 9 12 "${all[@]}"
together 70 joined "${hosts[@]}"

# One host is cut off, and the others are not alone.
cut_off web3
holds "a host that is cut off is alone" turns cut true web3
holds "... and not the others" is_alone web1 cut false
trace_start weir_charge weir_uncharge
flood 10 10 "${all[@]}"
trace_stop
read -r _ _ third < <(passed cut)
is "$third" $alone "it admits so much"
within "$(most cut)" $((budget / 2 + alone)) $((2 * budget + alone)) "... and the others their budget"
reconnect web3
holds "it comes back" turns cut false web3
heard() { [ "$(sed -n 's/^limit \([a-z]*\) cut .*/\1/p' "$tmp/events" | xargs)" = "present alone joined" ]; }
wait_for 60 heard
ok $? "... which are events" || diag "$(<"$tmp/events")"
shared 6 2 "${hosts[@]}"
trace_start weir_charge weir_uncharge
watched 11 12 "${all[@]}"
together 70 again "${hosts[@]}"

# An agent is killed, and nobody tells the module.
agent_end -9 web3
holds "a host without an agent is alone" turns killed true web3
flood 12 10 "${all[@]}"
read -r _ _ third < <(passed killed)
is "$third" $alone "... and admits so much"
agent web3
holds "its next agent joins" turns killed false web3

# The server is.
server_kill
holds "without a server all hosts are alone" turns gone true "${hosts[@]}"
flood 13 10 "${all[@]}"
is "$(passed gone)" "$alone $alone $alone" "... and admit so much each"
server
shared 6 2 "${hosts[@]}"
holds "with a server they join again" turns last false "${hosts[@]}"
trace_start weir_charge weir_uncharge
watched 14 12 "${all[@]}"
together 70 last "${hosts[@]}"

# The others end: are they cut off? When they have been silent for long, or nobody has their status, they are not there.
agent_end -9 web2
agent_end -9 web3
holds "a host that hears nobody is alone" turns last true web1
like "$(<"$tmp/web1.log")" "limit 'last' is alone: no other host is heard" "... which its log says"
wait_for 60 state_is web1 counts.alone 6
like "$(fleet status | grep web1)" ' alone: 6 limits,.* accepted$' "... and its status"
exec 3<>"/dev/tcp/${nats/://}"
printf '%s\r\n' 'CONNECT {"verbose":false,"headers":true}' "HPUB \$KV.weir-status.web2 31 31" $'NATS/1.0\r\nKV-Operation: DEL\r\n' "" PING >&3
while read -rt 60 line <&3 && [[ $line != PONG* ]]; do :; done
exec 3>&-
is "$(state web2 host)" "" "a status is deleted"
holds "... and the other host not silent yet" is_alone web1 last true
holds "when no other host is there it is not alone" turns last false web1
finish
