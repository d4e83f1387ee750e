# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # of lib.sh, and of the tests
# fleet.sh: hosts with agents of weir-fleet, and a server of NATS.
#
#	initial namespace: nats-server, weir-fleet      web1, web2, ...: weir, weir-fleet agent
#	         hub 10.77.0.1/24 ------------ veth --- eth0 10.77.0.11, .12, ...

PATH=$top/userspace/fleet:$PATH
nats=10.77.0.1:4222
url=nats://$nats
operator=() hosts=() # options of who pushes; all hosts
server_pid=''
declare -A agents

# fleet_begin N: the module, N hosts, no server
fleet_begin() {
	local i name
	need_tool
	[ -x "$top/userspace/fleet/weir-fleet" ] || skip_all "weir-fleet is not built"
	command -v nats-server >/dev/null || skip_all "nats-server is not installed"
	load || bail "cannot load"
	# The test's own commands reach the server, not a weir of theirs.
	rx=''
	trap 'ip link del hub; cleanup' EXIT
	ip link set lo up
	ip link add hub type bridge && ip addr add 10.77.0.1/24 dev hub && ip link set hub up || bail "no bridge"
	for ((i = 1; i <= $1; i++)); do
		space web$i
		hosts+=("web$i")
		name=web$i
		ip link add hub$i master hub type veth peer name eth0 netns "${!name}" && ip link set hub$i up || bail "no veth"
		ip -n "${!name}" -batch - <<-WORDS
			addr add 10.77.0.1$i/24 dev eth0
			link set eth0 up
			link set lo up
		WORDS
	done
}

# begins: statuses count from now on, by the server's clock
begins() { since=$(date -u +%FT%TZ); }
# server [WORD]...: start nats-server, without words with JetStream's files in $tmp/js
server() {
	[ $# -gt 0 ] || set -- -js -sd "$tmp/js" -a 10.77.0.1 -p 4222
	begins
	nats-server "$@" >>"$tmp/nats.log" 2>&1 &
	server_pid=$!
	pids+=("$server_pid")
	wait_for 60 answers || { tail -n 5 "$tmp/nats.log" | sed 's/^/# /'; bail "nats-server does not start"; }
}
answers() { (exec 3<>"/dev/tcp/${nats/://}") 2>/dev/null; }
server_kill() {
	kill -9 "$server_pid"
	wait "$server_pid" 2>/dev/null
}

# on HOST COMMAND...: in its namespace
on() { inside "${!1}" "${@:2}"; }

# agent HOST [OPTION]...: start its agent
agent() {
	begins
	# Its pid, not that of a shell around it.
	(PATH=$tmp/$1.bin:$PATH && exec ip netns exec "${!1}" weir-fleet -server "$url" -group edge -host "$1" -state "$tmp/$1" "${@:2}" agent) >>"$tmp/$1.log" 2>&1 &
	agents[$1]=$!
	pids+=($!)
}
# older HOST: its weir is one that does not know the word bytes; newer HOST: not any more
older() {
	mkdir "$tmp/$1.bin"
	printf '#!/bin/sh\nsed "s/ bytes/ octets/" | %s "$@"\n' "$top/userspace/weir" >"$tmp/$1.bin/weir"
	chmod 755 "$tmp/$1.bin/weir"
}
newer() { rm -r "$tmp/$1.bin"; }
# agent_end SIGNAL HOST
agent_end() {
	kill "$1" "${agents[$2]}"
	wait "${agents[$2]}" 2>/dev/null
}

# fleet WORD...: weir-fleet, as who pushes
fleet() { weir-fleet -server "$url" "${operator[@]}" -group edge "$@"; }

# state HOST KEY: of its status
state() { fleet -json status | jq -r --arg host "$1" ".[] | select(.host == \$host) | .$2"; }
state_is() { [ "$(state "$1" "$2")" = "$3" ]; }
# limits HOST: names of its limits
limits() { on "$1" weir -brief limit show | awk '{ print $1 }' | xargs; }
limits_are() { [ "$(limits "$1")" = "$2" ]; }
# all_have LIMITS HOST...: wait until each has these limits
all_have() {
	local host
	for host in "${@:2}"; do wait_for 60 limits_are "$host" "$1" || return 1; done
}
# push WORD...: push the configuration on stdin
push() { fleet push - "$@" >"$tmp/said" 2>&1; }
