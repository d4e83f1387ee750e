#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# xdp-life.t: with the XDP program on the device, no window has more than the budget, also
# while the configuration is replaced; a namespace that goes; virtio_net
. "$(dirname "$0")/lib.sh"
need_cpus 2
begin
[ -e /sys/kernel/btf/weir ] || skip_all "the module has no BTF"
weir xdp show >/dev/null 2>&1 || skip_all "this weir has no XDP program"
mount -t bpf bpf /sys/fs/bpf || bail "no bpffs"
nft delete table netdev probe

cat >"$tmp/a" <<-WORDS
	limit add one budget 20/400ms from 198.51.100.0/24 slots 4
	limit add six budget 20/400ms from 2001:db8:6::/48 slots 4
	limit add each budget 20/400ms from 203.0.113.0/24 per 0 slots 4
	early dev rx0
WORDS
cat >"$tmp/b" <<-WORDS
	limit add before budget 1M/1s action observe
	limit add each budget 20/400ms from 203.0.113.0/24 per 0 slots 4 sources 200
	limit add six budget 10/400ms from 2001:db8:6::/48 slots 4
	limit add one budget 15/400ms from 198.51.100.0/24 slots 4 sources 500
	early dev rx0
WORDS
weir -file "$tmp/a" || bail "cannot configure"
is "$(weir xdp show)" "$(weir -exist xdp attach dev rx0; weir xdp show)" "the program is attached by the file"
trace_start weir_charge weir_uncharge weir_early weir_drop
senders() {
	flooding -s 198.51.100.1 -n 3 -R -r 3000 -b 120,120 -t "$1"
	flooding -s 2001:db8:6::1 -n 3 -B 64 -R -r 3000 -b 120,120 -t "$1"
	flooding -s 203.0.113.1 -n 200 -R -r 3000 -b 120,120 -t "$1"
}
# kept WORD: no window has more than the budget, and what was not charged was dropped once
kept() {
	local limit line prefix
	trace_stop
	wheel 400 4
	for limit in one six each; do
		prefix=32,64 && [ $limit != each ] || prefix=0,0
		line=$(traced -l $limit -T "$window" -L 20 -p $prefix)
		ok $? "$1: limit $limit holds" || diag "$line"
	done
	is "$(passed)" "$(awk '/limit=before/ { next } / weir_charge: / { n++ } / weir_uncharge: / { n-- } END { print n }' "$tmp/trace")" \
		"$1: what was charged passed"
	within "$(grep -c ' weir_early: ' "$tmp/trace")" 100 1000000 "$1: much was dropped early"
}
senders 3000
flooded
kept "a flood"
is "$(stats dropped)" "$(grep -cE ' weir_(early|drop): ' "$tmp/trace")" "a flood: each drop is counted once"
is "$(weir -json -stats limit show | jq '[.[].stats | .dropped.packets - .dropped_early.packets] | add')" \
	"$(grep -c ' weir_drop: ' "$tmp/trace")" "a flood: the limits count what was dropped early, and apart"
let_pass 900

recount
trace_start weir_charge weir_uncharge weir_early weir_drop
senders 4000
end=$(($(now_ms) + 4000)) bad=0
while [ "$(now_ms)" -lt "$end" ]; do
	weir -file "$tmp/b" 2>/dev/null || bad=$((bad + 1))
	weir -file "$tmp/a" 2>/dev/null || bad=$((bad + 1))
done
flooded
is "$bad" 0 "the configuration is replaced"
kept "replaced"
weir xdp detach dev rx0

# Where packets may be steered to another CPU, that may have the room of a budget that all share.
config <<-WORDS
	limit add each budget 20/1h from 203.0.113.0/24 per 0
	limit add one budget 20/1h from 198.51.100.0/24
	limit add new budget 5/1h newcomers 3/1h known 1s from 198.18.0.0/15
WORDS
weir -exist xdp attach dev rx0
let_pass 1300
# early_of LIMIT: packets of a flood that XDP drops
early_of() {
	local was
	was=$(stat_of "$1" dropped_early.packets)
	flood -s "${2}1" -n "$3" -c 50
	flood -s "${2}60" -n "$3" -c 100
	echo $(($(stat_of "$1" dropped_early.packets) - was))
}
# steer CPUS: of RPS
steer() { echo "$1" >/sys/class/net/rx0/queues/rx-0/rps_cpus; }
for cpus in 2 0; do
	steer $cpus
	flood -s 198.51.100.1 -c 50
	within "$(early_of one 198.51.100. 1)" 10 150 "RPS $cpus: one source is dropped early"
	if [ $cpus = 0 ]; then
		within "$(early_of each 203.0.113. 1)" 10 150 "RPS $cpus: and so is everybody"
		within "$(early_of new 198.18.$cpus. 40)" 10 150 "RPS $cpus: and newcomers"
	else
		is "$(early_of each 203.0.113. 1)" 0 "RPS $cpus: not everybody"
		is "$(early_of new 198.18.$cpus. 40)" 0 "RPS $cpus: nor newcomers"
	fi
done
weir xdp detach dev rx0

# The limits go while packets are asked about; then the namespace with the program.
gone=''
space gone
ip link add g0 netns "$tx" type veth peer name g1 address 02:00:00:00:00:07 netns "$gone"
ip -n "$tx" link set g0 up && ip -n "$gone" link set g1 up
command weir -netns "$gone" limit add a budget 5/1s >/dev/null 2>&1
holds "another namespace" command weir -netns "$gone" xdp attach dev g1
send -z "$tx" -i g0 -m 02:00:00:00:00:07 -s 198.51.100.1 -d 192.0.2.1 -t 3000 >/dev/null 2>&1 &
pids+=($!)
for _ in 1 2 3; do
	command weir -netns "$gone" limit flush
	command weir -netns "$gone" limit add a budget 5/1s >/dev/null 2>&1
	let_pass 200
done
is "$(command weir -netns "$gone" -json -stats limit show | jq '.[0].stats.dropped_early.packets > 0')" true "... drops early"
holds "... and goes under the flood" ip netns delete "$gone"
flooded

# A driver that moves packets by DMA: two devices on one wire
if modprobe virtio_net && [ -e /sys/class/net/eth1 ]; then
	ip link set eth0 netns "$tx" && ip -n "$tx" link set eth0 addrgenmode none up
	ip link set eth1 addrgenmode none up
	# Is the link up, and the source known to be refused?
	sees() { flood -i eth0 -m 02:00:00:00:01:02 -s 198.51.100.1 -c 10 && [ "$(stat_of a dropped_early.packets)" -gt 0 ]; }
	all_in() { [ "$(stat_of a dropped_early.packets)" = $((was + 500)) ]; }
	weir -file - <<<"limit add a budget 5/1h" 2>/dev/null
	for mode in native generic; do
		weir limit reset
		holds "virtio_net, $mode" weir xdp attach dev eth1 mode $mode
		wait_for 60 sees || bail "nothing is dropped early: $(weir -stats limit show)"
		was=$(stat_of a dropped_early.packets)
		flood -i eth0 -m 02:00:00:00:01:02 -s 198.51.100.1 -c 500 -r 2000
		wait_for 60 all_in || diag "$(weir -stats limit show)"
		is "$(($(stat_of a dropped_early.packets) - was))" 500 "... drops early what is refused"
		weir xdp detach dev eth1
	done
	modprobe -r virtio_net
else
	skip "no virtio_net" "virtio_net, native and generic"
fi
umount /sys/fs/bpf
finish
