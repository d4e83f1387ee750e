#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# soak.sh SECONDS: in a guest, run floods, spoofed floods, fragments, changes, dumps and
# listeners together, repeatedly, with namespaces that come and go and module reloads.
# Memory must not grow and the promise must be kept. TAP; FUZZ_SEED selects another course.
. "$(dirname "$0")/../netns/lib.sh"
seconds=${1:?usage: soak.sh SECONDS}
RANDOM=${FUZZ_SEED:-1}
need_tool
did=() # how often each kind of change was done
rounds=0 reloads=0 most_kept=0 windows=0 calls=0 passing=0
figures=$tmp/figures
: >"$figures"

# Kernel memory that a module can increase, by kind, in KiB
memory() {
	awk '/^(Slab|Percpu|VmallocUsed|PageTables|KernelStack):/ { sub(":", "", $1); print $1, $2 }' /proc/meminfo |
		sort | awk '{ printf "%s ", $2 }'
	weir -json stats show | jq -r '.[0].memory / 1024 | floor'
}

base() {
	config <<-'WORDS'
		prefix-list add few 10.0.0.0/12,2001:db8:0:1::/64
		limit add kept budget 50/1s slots 16 from 198.51.100.0/24 sources 1024
		limit add small budget 20/2s sources 64 not from 198.51.100.0/24
		limit add crowd budget 100/1s sources 32768 not from 198.51.100.0/24
		limit add frags budget 100/1s frag per 0
		limit add listed budget 10/1s from-list few sources 64
		exempt add 10.200.0.0/16
		block add 10.201.0.0/16
	WORDS
}

start() {
	# shellcheck disable=SC2119 # no parameters
	load || bail "cannot load"
	for event in weir_charge weir_uncharge; do
		echo 'limit == "kept"' >"$TRACING/events/weir/$event/filter"
	done
	trace_start weir_charge weir_uncharge
	base || bail "cannot configure"
}

floods() {
	flooding -s 198.51.100.1 -n 4 -R -r 3000 -b 200,200
	flooding -s 10.0.0.0 -n 16777216 -R -r 12000
	flooding -s 2001:db8:: -n 1000000 -R -B 64 -r 4000 -P tcp
	flooding -s 192.88.99.1 -n 200 -F 80+ -R -r 2000
	flooding -s 192.0.2.9 -n 16 -R -G 1000 -l 8000 -r 300
}

# change: a random operation of an administrator, which may be refused
change() {
	local n=$((RANDOM % 40)) end=$((1 + RANDOM % 3))s kind=$((RANDOM % 16))
	case $kind in
	0) weir limit add "x$n" budget $((n + 1))/1s sources 1024 ;;
	1) weir limit del "x$n" ;;
	2) weir limit set small sources $((64 << RANDOM % 8)) ;;
	3) weir limit set crowd budget $((100 + n))/$((1 + RANDOM % 3))s slots $((1 + RANDOM % 16)) ;;
	4) weir exempt add "10.$n.0.0/16" ;;
	5) weir exempt del "10.$n.0.0/16" ;;
	6) weir source forget 10.0.0.0/8 ;;
	7) weir source charge "203.0.113.$n" limit crowd packets 7 ;;
	8) weir limit set frags budget $((n + 1))k/1s per 0 ;;
	9) base ;;
	10) weir prefix-list add few "10.$n.0.0/16,2001:db8:$n::/48" ;;
	11) weir prefix-list del few "10.$n.0.0/16" ;;
	12) weir prefix-list set few "10.$n.0.0/16,10.$n.128.0/17,10.0.0.0/12" ;;
	13) weir block add "10.$n.0.0/16" for "$end" ;;
	14) weir block del "10.$n.0.0/16" ;;
	15) seq -f "exempt add 10.%.0f.$n.0/24 for $end" 0 99 | weir -exist -batch - ;;
	esac >/dev/null 2>&1 && did[kind]=$((${did[kind]:-0} + 1))
	calls=$((calls + 1))
}

ask() {
	weir source show limit crowd top 10 by count
	weir source get 198.51.100.1
	weir -s limit show
	weir save
	weir exempt show
	weir block show
	weir prefix-list show few
} >/dev/null 2>&1

# Make a namespace with its own limit and packets, and delete it.
passing_space() {
	local name=weir-pass-$rounds
	ip netns add "$name" && ip -n "$name" link set lo up || return
	ip link add pass0 type veth peer name pass1 netns "$name" && ip link set pass0 up &&
		ip -n "$name" link set pass1 up && ip -n "$name" addr add 192.0.2.130/25 dev pass1
	command weir -n "$name" limit add mine budget 10/1s sources 4096 >/dev/null 2>&1
	send -i pass0 -s 10.0.0.0 -n 1000 -d 192.0.2.130 -m "$(ip -n "$name" -json link show pass1 | jq -r '.[0].address')" \
		-c 3000 >/dev/null 2>&1
	ip netns delete "$name"
	passing=$((passing + 1))
}

# look: once it is quiet, check that every window of the trace is within the budget,
# restore the initial configuration and record how much memory is used.
look() {
	local line max
	trace_stop
	line=$(window -l kept -T "$window" <"$tmp/trace")
	max=$(value max "$line")
	windows=$((windows + $(value charges "$line")))
	[ "${max:-0}" -le "$most_kept" ] || most_kept=$max
	base
	memory >>"$figures"
	diag "round $rounds: $(tail -n 1 "$figures") KiB; ${line#limit=}"
}

round() {
	local i
	floods
	weir monitor >/dev/null 2>&1 &
	pids+=($!)
	for i in {1..12}; do
		change
		ask
		[ $((i % 4)) != 0 ] || passing_space
	done
	quiet
	rounds=$((rounds + 1))
	look
	if [ $((rounds % 3)) = 0 ]; then
		wait_for 20 unload 2>/dev/null || return
		reloads=$((reloads + 1))
		start
	else
		trace_start weir_charge weir_uncharge
	fi
}

pair
wheel 1000 16
start
end=$((SECONDS + seconds))
while [ "$SECONDS" -lt "$end" ]; do
	round || { ok 1 "the module can be removed"; break; }
done
is "$([ "$rounds" -ge 2 ]; echo $?)" 0 "$rounds rounds, $calls changes, $passing namespaces, $reloads reloads in $SECONDS s"
diag "how often each kind of change was done: $(declare -p did)"
within "$most_kept" 1 50 "no window of $windows charges has more than its budget"

# The first round fills caches and is ignored. The minimum of each kind in the last third
# is compared with its maximum in the first third.
flat() {
	awk -v column="$1" -v slack="$2" 'NR > 1 { v[++n] = $column }
		END { third = int(n / 3); if (!third) { print "short"; exit }
			for (i = 1; i <= third; i++) if (v[i] > first) first = v[i]
			last = v[n]; for (i = n - third + 1; i <= n; i++) if (v[i] < last) last = v[i]
			print (last - first <= slack) ? "flat" : "grows from " first " to " last " KiB" }' "$figures"
}
column=0
for kind in "kernel stacks:1024" "page tables:2048" "per-CPU memory:512" "slab:8192" "vmalloc:4096" "tables of weir:0"; do
	column=$((column + 1))
	grown=$(flat $column "${kind#*:}")
	case $grown in
	short) skip "too few rounds" "${kind%:*} stays" ;;
	*) is "$grown" flat "${kind%:*} stays" ;;
	esac
done
unload
ok $? "the module goes"
finish
