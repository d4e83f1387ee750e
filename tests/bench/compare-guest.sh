#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# compare-guest.sh: the guest's part of compare.sh. Runs each tool at each size in
# turn, in its own namespaces: a spoofed flood and, once it has filled the table, a
# thousand honest clients, a heavy source and one just over its limit. Prints a line
# per case on stdout; the records go to OUT.
#
#	+--- $tx --------+           +--- $rx ---------------------------+
#	| send, 4 times  |---veth----| first hook, tool, last hook: drop |
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
	weir) rx weir limit add l budget "$LIMIT/1s" sources "$size" >/dev/null 2>&1 ;;
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
	weir | lenient) rx weir -json limit show l | jq '.[0].memory' ;;
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
	weir | lenient)
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

# case_run TOOL SIZE
case_run() {
	local tool=$1 size=$2 before memory text pids=()
	tx=tx-$tool-$size rx=rx-$tool-$size
	{ ip netns add "$tx" && ip netns add "$rx" &&
		ip link add tx0 netns "$tx" type veth peer name rx0 address 02:00:00:00:00:01 netns "$rx" &&
		ip -n "$tx" link set tx0 addrgenmode none up && ip -n "$rx" link set rx0 addrgenmode none up; } ||
		fail "no link for $tool"
	echo "compare: case $rx" >/dev/kmsg
	before=$(small)
	configure "$tool" "$size" || fail "$tool is not to be had"
	rx sh -c "echo start $((4 * 1000 * 1000)) >/proc/weir_record" || fail "no record"
	send -z "$tx" -i tx0 -d 192.0.2.1 -s 10.64.0.0 -n "$FLOOD_SOURCES" -R -r "$FLOOD_RATE" -k -t $((FILL_MS + RUN_MS)) >/dev/null &
	pids+=($!)
	pause "$FILL_MS"
	send -z "$tx" -i tx0 -d 192.0.2.1 -s 10.1.0.0 -n "$HONEST" -r $((HONEST * HONEST_RATE)) -k -t "$RUN_MS" >/dev/null &
	pids+=($!)
	send -z "$tx" -i tx0 -d 192.0.2.1 -s 10.6.6.6 -r "$HEAVY_RATE" -k -t "$RUN_MS" >/dev/null &
	pids+=($!)
	send -z "$tx" -i tx0 -d 192.0.2.1 -s 10.7.7.7 -r "$SLOW_RATE" -k -t "$RUN_MS" >/dev/null &
	pids+=($!)
	pause $((RUN_MS * 3 / 4))
	memory=$(memory "$tool" "$size" "$before")
	wait "${pids[@]}"
	text=$(says "$tool")
	echo stop >/proc/weir_record
	cat /proc/weir_record >"$OUT/records.$tool.$size" || fail "no records of $tool at $size"
	echo "tool=$tool size=$size memory=$memory says=$text"
	ip netns delete "$tx"
	ip netns delete "$rx"
}

echo 20000 >/proc/sys/net/core/netdev_max_backlog
{ strip -g -o weir.ko "$WEIR_KO" && insmod weir.ko; } || fail "cannot load weir"
insmod "$TOP/.cache/build/bench/$WEIR_KERNEL/weir_record.ko" || fail "cannot load weir_record"
for times in "${TIMES[@]}"; do
	for tool in weir lenient hashlimit nft; do
		case_run "$tool" "$(times "$times")"
	done
done
