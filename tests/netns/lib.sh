# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# lib.sh: common code of the guest tests. A test sources it first, then states
# its requirements, and ends with finish.
#
# The default topology, set up by pair:
#
#	+--- $tx -----------+            +--- $rx ------------------------+
#	|           tx0     |----veth----|    rx0  weir -> count -> end   |
#	| send: any source  |            |    02:00:00:00:00:01           |
#	+-------------------+            |    192.0.2.1/24 2001:db8::1/64 |
#	                                 +--------------------------------+
#
# The sender has no address of its own and sends only what send does. In $rx an
# nft table counts the packets that arrive at the device and those that weir
# passed, and drops the latter. After "pair init", $rx is the initial namespace,
# else one with a random name.
#
# make -C tests/netns builds the programs send and window before the guest starts.
set -u
export LC_ALL=C
# shellcheck source=../tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=${here%/tests/netns}
PATH=$top/.cache/build/netns:$top/userspace:$PATH:/usr/sbin:/sbin
: "${WEIR_KO:=$top/.cache/build/${WEIR_KERNEL:-}/weir.ko}"
tmp=$(mktemp -d)
tx='' rx='' # namespaces
pids=() spaces=()
mkfifo "$tmp/never"
exec {never}<>"$tmp/never"
# shellcheck source=trace.sh
. "$here/trace.sh"

# need_cpus N: tests/vm/in-guest.sh keeps the processes of a test without this call on one CPU
need_cpus() { [ "$(nproc)" -ge "$1" ] || bail "this guest has $(nproc) CPU"; }

# ---- time and conditions -------------------------------------------------

# Sleep briefly.
rest() { read -rt 0.02 -u "$never"; }

now_ms() { local t=$EPOCHREALTIME; echo $((${t/./} / 1000)); }

# wait_for SECONDS COMMAND...: retry until it succeeds, less and less often
wait_for() {
	local end=$((SECONDS + $1)) try=0 pauses=(0.02 0.04 0.08 0.16)
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		read -rt "${pauses[try < 3 ? try++ : 3]}" -u "$never"
	done
	true # discard the status of read
}

# let_pass MS: wait
let_pass() {
	local end=$((${EPOCHREALTIME/./} + $1 * 1000)) left
	while left=$((end - ${EPOCHREALTIME/./})) && [ "$left" -gt 0 ]; do
		printf -v left %d.%06d $((left / 1000000)) $((left % 1000000))
		read -rt "$left" -u "$never"
	done
}

# HZ: the kernel shows this sysctl in ticks, and its default is one second.
read -r HZ </proc/sys/net/ipv4/route/error_cost
ms_ticks() { echo $((($1 * HZ + 999) / 1000)); }

# wheel WINDOW_MS SLOTS: set slot and window to the effective values, in ticks
# shellcheck disable=SC2034 # for the tests
wheel() {
	slot=$((($1 * HZ + 1000 * $2 - 1) / (1000 * $2)))
	window=$((slot * $2))
}

# ---- namespaces and devices ----------------------------------------------

# space NAME: add a namespace with a random name, stored in $NAME
space() {
	local name
	name=weir-$1-$RANDOM$RANDOM
	ip netns add "$name" || bail "no namespace"
	spaces+=("$name")
	printf -v "$1" %s "$name"
}

# inside NAMESPACE COMMAND...: NAMESPACE may be empty
inside() {
	local name=$1
	shift
	if [ -n "$name" ]; then ip netns exec "$name" "$@"; else "$@"; fi
}
rx() { inside "$rx" "$@"; }
tx() { inside "$tx" "$@"; }
# ip -n is faster than ip netns exec
ip_rx() { ip ${rx:+-n "$rx"} "$@"; }
ip_tx() { ip -n "$tx" "$@"; }

# weir in $rx. Its JSON output is kept for schema.py, which validates it at the end of
# the guest; one file per shell, as several may write at the same time
judged=/run/weir.json
weir() {
	if [[ " $* " == *" -j"* ]]; then
		command weir ${rx:+-netns "$rx"} "$@" | tee -a "$judged.$BASHPID"
		return "${PIPESTATUS[0]}"
	fi
	command weir ${rx:+-netns "$rx"} "$@"
}
need_tool() { [ -x "$top/userspace/weir" ] || skip_all "userspace/weir is not built"; }

# link TXDEV RXDEV MAC: add a veth between $tx and $rx; without addresses the
# sender's stack sends nothing
link() {
	ip link add "$1" netns "$tx" type veth peer name "$2" address "$3" netns "${rx:-1}" || bail "no veth"
	ip_tx -batch - <<-WORDS
		link set $1 addrgenmode none
		link set $1 up
	WORDS
	ip_rx -batch - <<-WORDS
		link set $2 addrgenmode none
		link set $2 up
	WORDS
}

# pair [init]: set up the default topology
pair() {
	space tx
	if [ "${1:-}" = init ]; then rx=''; else space rx; fi
	echo 20000 >/proc/sys/net/core/netdev_max_backlog
	link tx0 rx0 02:00:00:00:00:01
	ip_rx -batch - <<-WORDS
		addr add 192.0.2.1/24 dev rx0
		addr add 2001:db8::1/64 dev rx0 nodad
	WORDS
	rx nft -f - <<-RULES || bail "no nft"
		table netdev probe {
			counter arrived { }
			chain in { type filter hook ingress device rx0 priority 0; counter name arrived; }
		}
		table inet probe {
			counter passed { }
			chain pre { type filter hook prerouting priority -450; counter name passed; drop; }
		}
	RULES
}

# end_not_here: stop dropping the packets that weir passed
end_not_here() {
	rx nft 'flush chain inet probe pre; add rule inet probe pre counter name passed'
}

# arrived, passed: packets since pair; recount sets both to 0
arrived() { counter netdev arrived; }
passed() { counter inet passed; }
recount() { rx nft reset counters >/dev/null; }
# admits NUMBER NAME SEND-OPTION...: so many packets of a flood pass
admits() {
	local number=$1 name=$2
	shift 2
	recount
	flood "$@"
	is "$(passed)" "$number" "$name"
}
# through SOURCE: how many of 10 packets pass
through() {
	recount
	flood -s "$1" -c 10
	passed
}
# counter FAMILY NAME: packets of a counter of table probe
counter() { rx nft list counter "$1" probe "$2" | sed -n 's/.*packets \([0-9]*\).*/\1/p'; }

# taking: count and drop datagrams to send's port in $rx's input hook; taken: how many
taking() {
	rx nft -f - <<-RULES || bail "no nft"
		table inet probe {
			counter taken { }
			chain local { type filter hook input priority 0; udp dport 9 counter name taken drop; }
		}
	RULES
}
taken() { counter inet taken; }

# say COUNT ADDRESS: send such datagrams through the sender's stack
say() {
	# shellcheck disable=SC2016 # the inner shell's
	tx bash -c 'exec 3>"/dev/udp/$1/9"; for ((i = 0; i < $0; i++)); do echo . >&3; done' "$@"
}

# into_vrf DEVICE: make it a port of vrf0, with the default addresses
into_vrf() {
	ip_rx -batch - <<-WORDS
		link set vrf0 up
		link set $1 master vrf0
		addr replace 192.0.2.1/24 dev $1
		addr replace 2001:db8::1/64 dev $1 nodad
		route replace 198.51.100.0/24 dev $1 table 10
		route replace 2001:db8:1::/48 dev $1 table 10
	WORDS
}

send_args() {
	args=(-z "$tx" -i tx0 "$@")
	# Only an IPv6 source has a colon.
	case " $* " in
	*" -d "*) ;;
	*" -s "*:*) args+=(-d 2001:db8::1) ;;
	*) args+=(-d 192.0.2.1) ;;
	esac
}

# flood SEND-OPTION...: send from tx0 to $rx
flood() {
	send_args "$@"
	send "${args[@]}" >/dev/null
}

# passes N SEND-OPTION...: send; N packets should pass
passes() {
	local through=$1
	shift
	recount
	flood "$@"
	is "$(passed)" "$through" "$*"
}

# flooding SEND-OPTION...: in the background
flooding() {
	send_args "$@"
	send "${args[@]}" >/dev/null &
	pids+=($!)
}

# inner4 SOURCE: a UDP packet from SOURCE to 192.0.2.1, in hexadecimal
inner4() {
	local word sum=0 head a b c d
	IFS=. read -r a b c d <<<"$1"
	head=$(printf '4500 002e 0001 0000 4011 %02x%02x %02x%02x c000 0201' "$a" "$b" "$c" "$d")
	for word in $head; do sum=$((sum + 0x$word)); done
	sum=$(((sum & 0xffff) + (sum >> 16)))
	sum=$(printf %04x $((~(sum + (sum >> 16)) & 0xffff)))
	printf %s "${head/4011 /4011 $sum }" "0400 0009 001a 0000" | tr -d ' '
	printf %036d 0
}
# The same for IPv6, from 2001:db8:1::9 to 2001:db8::1.
inner6=60000000001a1140"20010db8000100000000000000000009""20010db8000000000000000000000001"
inner6+=04000009001a0000$(printf %036d 0)

# later SEND-OPTION...: queue packets for deliver, which sends them all
later() {
	send_args "$@"
	echo "${args[*]}" >>"$tmp/later"
}
deliver() {
	send - <"$tmp/later" >/dev/null
	: >"$tmp/later"
}

# flooded: wait for the background processes; quiet: kill those that have not ended by themselves
flooded() { wait "${pids[@]}"; pids=(); }
quiet() { kill "${pids[@]}" 2>/dev/null; wait "${pids[@]}" 2>/dev/null; pids=(); }

# ---- the module ----------------------------------------------------------

# Stripped of its debug information, once per guest, the module loads ten times as fast.
stripped=/run/${WEIR_KO//\//-}
load() {
	[ -r "$WEIR_KO" ] || skip_all "no $WEIR_KO"
	[ "$stripped" -nt "$WEIR_KO" ] || strip -g -o "$stripped" "$WEIR_KO" || stripped=$WEIR_KO
	insmod "$stripped" "$@"
}
loaded() { [ -d /sys/module/weir ]; }
unload() { ! loaded || rmmod weir; }
# allow_users: let the namespaces of users have limits
allow_users() { echo 1 >/sys/module/weir/parameters/userns; }

# log_mark, log_since: the kernel's log since the mark
log_mark() { echo "weir-mark-$$-$((mark = ${mark:-0} + 1))" >/dev/kmsg; }
log_since() { dmesg -t | awk -v m="weir-mark-$$-$mark" '$0 == m { on = 1; next } on'; }
# expect_log PATTERN: log lines allowed in this test only
expect_log() { echo "weir-expects: $1" >/dev/kmsg; }

# ---- the tool -----------------------------------------------------------

# config: apply the configuration on stdin to $rx
config() {
	cat >"$tmp/config"
	weir -file "$tmp/config" >"$tmp/said" 2>&1 || { diag "$(<"$tmp/said")"; return 1; }
}

# begin: load the module, set up the default topology, configure nothing
begin() {
	need_tool
	load || bail "cannot load"
	pair init
}

# begin_with: begin with the configuration on stdin
begin_with() {
	begin
	config || bail "cannot configure"
}

# begin_apart: begin in a namespace, where packets go on to the stack
begin_apart() {
	need_tool
	load || bail "cannot load"
	pair
	end_not_here
}

# refuses SENTENCE COMMAND...: it exits with $code and says that
refuses() {
	local words=$1
	shift
	"$@" >"$tmp/said" 2>&1
	is "$?" "$code" "refused: ${*:2}"
	grep -qF -- "$words" "$tmp/said" || { ok 1 "... says: $words"; cat "$tmp/said"; }
}

# budget WAY WINDOW NUMBER: calendars and totals have windows of their own
budget() {
	case $1 in
	strict | lenient) echo "budget $3/$2 slots 4 $1" ;;
	bucket) echo "budget $3/$2 bucket burst 6" ;;
	calendar) echo "budget $3/minute calendar" ;;
	total) echo "budget $3/total strict" ;;
	*) echo "budget $3/$2 $1" ;;
	esac
}

# stat_of LIMIT COUNTER: for example dropped.packets
stat_of() { weir -json -stats limit show "$1" | json "stats.$2"; }
met() { stat_of "$1" matched.packets; }
# stats COUNTER: of the namespace; of packets but for events_lost
stats() {
	local unit=_packets
	[ "$1" != events_lost ] || unit=''
	weir -json stats show | json "$1$unit"
}

# Debian 12's jq takes a guest 0.2 seconds to start.
quick=$top/.cache/jq/usr
if [ "$HOSTTYPE" = x86_64 ] && [ -d "$quick" ]; then
	jq() { "$quick/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" --library-path "$quick/lib/x86_64-linux-gnu" "$quick/bin/jq" "$@"; }
fi

# json NAME[.NAME]...: the first such value in weir's JSON; for simple queries, as
# jq is slower
json() {
	local text name
	IFS= read -rd '' text
	for name in ${1//./ }; do
		[[ $text == *"\"$name\":"* ]] || return 1
		text=${text#*"\"$name\":"}
	done
	[[ $text =~ ^\"([^\"\\]*)\" || $text =~ ^([-+.0-9a-z]+) ]] && echo "${BASH_REMATCH[1]}"
}

# value NAME LINE: the value of NAME=value in LINE
value() {
	[[ " $2 " =~ \ "$1"=([^\ ]*)\  ]] && echo "${BASH_REMATCH[1]}"
}

# ---- the end -------------------------------------------------------------

cleanup() {
	local pid name
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
	wait
	echo 0 >"$TRACING/tracing_on"
	[ ! -e "$TRACING/events/weir/enable" ] || echo 0 >"$TRACING/events/weir/enable"
	[ ! -e "$tmp/traces" ] || echo 1 >"$TRACING/buffer_size_kb"
	# One by one: a test may have deleted one, and all commands of a call fail together.
	[ -n "${rx-x}" ] || for name in netdev inet; do nft delete table $name probe 2>/dev/null; done
	for name in "${spaces[@]}"; do ip netns delete "$name" 2>/dev/null; done
	# Its hooks are before weir's in all namespaces, so that XDP decides nothing early.
	[ ! -d /sys/module/br_netfilter ] || rmmod br_netfilter
	unload
	rm -rf "$tmp"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
