#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# compare-guest.sh sizes|floods: the guest's part of compare.sh. Runs the cases of a table in
# turn, each in its own namespaces.
#   sizes   each tool at each size: a spoofed flood and, once it has filled the table, a
#           thousand honest clients, a heavy source and one just over its limit
#   floods  each tool, of one size, under each spoofed flood: sources that were there
#           before, some of which send rarely, and clients that arrive during the flood
# Prints a line per case on stdout; the records go to OUT.
#
#	+--- $tx --------+           +--- $rx ---------------------------+
#	| send, clients  |---veth----| first hook, tool, last hook: drop |
#	+----------------+           +-----------------------------------+
set -u
here=$(cd "$(dirname "$0")" && pwd) && cd /run || exit 1
# shellcheck source=compare-words.sh
. "$here/compare-words.sh"
export PATH=$TOP/.cache/build/netns:$TOP/userspace:/usr/sbin:/sbin:$PATH
mkfifo never && exec {never}<>never || exit 1
fail() { echo "compare: $*" >&2; exit 1; }
pause() { read -rt "$(($1 / 1000)).$(printf %03d $(($1 % 1000)))" -u "$never"; } # MS
rx() { ip netns exec "$rx" "$@"; }

# configure TOOL SIZE: limit each source to LIMIT packets per second
configure() {
	local tool=$1 size=$2
	case $tool in
	weir | newcomers) rx weir limit add l budget "$LIMIT/1s" sources "$size" >/dev/null 2>&1 ;;
	lenient) rx weir limit add l budget "$LIMIT/1s" sources "$size" lenient >/dev/null 2>&1 ;;
	hashlimit)
		# An entry is needed until its credit is full again, after a second.
		rx iptables-legacy-restore <<-RULES
			*raw
			-A PREROUTING -m hashlimit --hashlimit-name $rx --hashlimit-mode srcip --hashlimit-above $LIMIT/second --hashlimit-burst $LIMIT --hashlimit-htable-size $size --hashlimit-htable-max $size --hashlimit-htable-expire 1000 --hashlimit-htable-gcinterval 250 -j DROP
			COMMIT
		RULES
		;;
	nft)
		rx nft -f - <<-RULES
			table ip t {
				set s { type ipv4_addr; size $size; flags dynamic, timeout; timeout 1s; gc-interval 250ms; }
				chain pre {
					type filter hook prerouting priority raw;
					update @s { ip saddr limit rate over $LIMIT/second burst $LIMIT packets } drop
				}
			}
		RULES
		;;
	esac
}

# slab NAME...: bytes in slab caches whose names match one of these
slab() { awk -v names="^($(IFS='|' && echo "$*"))\$" '$1 ~ names { n += $3 * $4 } END { print n + 0 }' /proc/slabinfo; }

# Bytes in small kmalloc objects: packets use larger ones, or their own caches.
small() { slab 'kmalloc(-cg)?-(8|16|32|64|96|128|192|256)'; }

# memory TOOL SIZE BEFORE: bytes that the tool uses now
memory() {
	local buckets=1
	case $1 in
	weir | lenient | newcomers) rx weir -json limit show l | jq '.[0].memory' ;;
	hashlimit) echo $(($(slab xt_hashlimit) + 8 * $2)) ;;
	nft)
		# The set allocates buckets for 4/3 of its size.
		while [ "$buckets" -lt $(($2 * 4 / 3)) ]; do buckets=$((buckets * 2)); done
		echo $(($(small) - $3 + 8 * buckets))
		;;
	esac
}

# says TOOL: what the tool reports about the flood
says() {
	local text
	case $1 in
	weir | lenient | newcomers)
		text=$(rx weir -stats limit show l | sed -n 's/^ *\(pressure: .*\)/\1/p')
		echo "${text:-nothing}"
		;;
	hashlimit)
		text=$(dmesg | sed -n '/compare: case '"$rx"'/,$ s/.*xt_hashlimit: //p' | sort -u | tail -n 1)
		echo "${text:-nothing}"
		;;
	nft) echo nothing ;;
	esac
}

# begin TOOL SIZE CASE: make namespaces and limit, start to record
begin() {
	tool=$1 size=$2 name=$3 pids=()
	tx=tx-$name rx=rx-$name
	{ ip netns add "$tx" && ip netns add "$rx" &&
		ip link add tx0 address 02:00:00:00:00:02 netns "$tx" type veth peer name rx0 address 02:00:00:00:00:01 netns "$rx" &&
		ip -n "$tx" link set tx0 addrgenmode none up && ip -n "$rx" link set rx0 addrgenmode none up; } ||
		fail "no link for $tool"
	echo "compare: case $rx" >/dev/kmsg
	before=$(small)
	configure "$tool" "$size" || fail "$tool is not to be had"
	rx sh -c "echo start $((4 * 1000 * 1000)) >/proc/weir_record" || fail "no record"
}

# sender MS SOURCE OPTION...: send packets for a while, in the background
sender() {
	send -z "$tx" -i tx0 -d 192.0.2.1 -s "$2" "${@:3}" -k -t "$1" >/dev/null &
	pids+=($!)
}

# end: wait for the senders, keep the records, print the case
end() {
	local text
	wait "${pids[@]}"
	text=$(says "$tool")
	echo stop >/proc/weir_record
	cat /proc/weir_record >"$OUT/records.$name" || fail "no records of $name"
	echo "case=$name tool=$tool size=$size memory=$memory says=$text"
	ip netns delete "$tx"
	ip netns delete "$rx"
}

# size_run TOOL SIZE
size_run() {
	begin "$1" "$2" "$1-$2"
	sender $((FILL_MS + RUN_MS)) 10.64.0.0 -n "$FLOOD_SOURCES" -R -r "$FLOOD_RATE"
	pause "$FILL_MS"
	sender "$RUN_MS" 10.1.0.0 -n "$HONEST" -r $((HONEST * HONEST_RATE))
	sender "$RUN_MS" 10.6.6.6 -r "$HEAVY_RATE"
	sender "$RUN_MS" 10.7.7.7 -r "$SLOW_RATE"
	pause $((RUN_MS * 3 / 4))
	memory=$(memory "$tool" "$size" "$before")
	end
}

# answer: SYN that passes gets a reset, and comes again at 1, 3 and 7 seconds otherwise
answer() {
	{ ip -n "$tx" link set lo up && ip -n "$tx" route add local 10.3.0.0/16 dev lo &&
		ip -n "$tx" route add 192.0.2.1 dev tx0 &&
		ip -n "$tx" neigh add 192.0.2.1 lladdr 02:00:00:00:00:01 dev tx0 &&
		ip netns exec "$tx" sysctl -qw net.ipv4.tcp_syn_linear_timeouts=0 &&
		ip -n "$rx" address add 192.0.2.1/32 dev rx0 &&
		ip -n "$rx" route add default via 192.0.2.2 dev rx0 onlink &&
		ip -n "$rx" neigh add 192.0.2.2 lladdr 02:00:00:00:00:02 dev rx0; } || fail "no way to answer"
}

# flood_run TOOL FLOOD
flood_run() {
	local flood=$2 flood_ms=$FLOOD_MS rate=$CLIENT_RATE
	begin "$1" "$KNOWN_SIZE" "$1-$2"
	answer
	[ "$flood" != burst ] || flood_ms=$BURST_MS rate=$CLIENTS
	sender $((KNOWN_MS + flood_ms)) 10.1.0.0 -n "$SPEAKERS" -r $((SPEAKERS * SPEAK_RATE))
	sender $((KNOWN_MS + flood_ms)) 10.2.0.0 -n "$IDLERS" -r $((IDLERS / IDLE_SECONDS))
	pause $((KNOWN_MS - 1000))
	# All that have come are known.
	[ "$tool" != newcomers ] || rx weir limit set l newcomers "$NEWCOMERS/1s" flood "$FLOOD_RATE/s" >/dev/null ||
		fail "no newcomers"
	pause 1000
	case $flood in
	new) sender "$flood_ms" 11.0.0.0 -n $((1 << 22)) -r "$FLOOD_RATE" ;;
	pool) sender "$flood_ms" 11.0.0.0 -n "$FLOOD_SOURCES" -R -r "$FLOOD_RATE" ;;
	burst) sender 10000 11.0.0.0 -n "$FLOOD_RATE" -c "$FLOOD_RATE" -r "$FLOOD_RATE" ;;
	esac
	sender $((flood_ms - 1000)) 10.6.6.6 -r "$HEAVY_RATE"
	ip netns exec "$tx" "$TOP/.cache/build/bench/clients" 10.3.0.0 "$CLIENTS" "$rate" 192.0.2.1 8 &
	pids+=($!)
	pause $((flood_ms - 2000))
	memory=$(memory "$tool" "$size" "$before")
	end
}

echo 20000 >/proc/sys/net/core/netdev_max_backlog
{ strip -g -o weir.ko "$WEIR_KO" && insmod weir.ko; } || fail "cannot load weir"
insmod "$TOP/.cache/build/bench/$WEIR_KERNEL/weir_record.ko" || fail "cannot load weir_record"
case $1 in
sizes)
	for times in "${TIMES[@]}"; do
		for tool in weir lenient hashlimit nft; do
			size_run "$tool" "$(times "$times")"
		done
	done
	;;
floods)
	for flood in "${FLOODS[@]}"; do
		for tool in newcomers weir hashlimit nft; do
			flood_run "$tool" "$flood"
		done
	done
	;;
esac
