#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# xdp-file.t: a file says which devices drop early: limits are in force also where the program cannot
# be attached, what it does not name is detached, save writes what is attached, and the monitor of a
# service attaches it to devices that appear
. "$(dirname "$0")/lib.sh"
begin_apart
[ -e /sys/kernel/btf/weir ] || skip_all "the module has no BTF"
weir xdp show >/dev/null 2>&1 || skip_all "this weir has no XDP program"
mount -t bpf bpf /sys/fs/bpf || bail "no bpffs"
rx nft delete table netdev probe
ip_rx link add d0 type veth peer name d1 || bail "no veth"
ip_rx link add lim type dummy || bail "no dummy"

shown() { weir -json xdp show | jq -c 'map([.dev, .mode])'; }
# file STATUS PATTERN NAME: apply stdin; what STATUS and stderr are
file() {
	local out status
	out=$(weir -file - 2>&1)
	status=$?
	like "$status $out" "^$1 $2" "$3"
}
limits() { weir -j limit show | jq -r '.[].limit' | paste -sd ' '; }
program() { weir -json xdp show | jq ".[] | select(.dev == \"$1\").program"; }

file 0 '' "a file with devices" <<-'CONF'
	early dev d0 mode generic
	limit add a budget 10/1h to ::/0
	limit add b budget 10/1h from 198.51.100.0/24
	early dev rx0
CONF
is "$(shown)" '[["d0","generic"],["rx0","native"]]' "... attaches the program"
flood -s 198.51.100.1 -c 100
is "$(stat_of b dropped_early.packets)" 89 "... which drops early"
weir save >"$tmp/one"
is "$(grep early "$tmp/one" | paste -sd ';')" "early dev d0 mode generic;early dev rx0 mode native" "save writes the devices"
was=$(program rx0)
weir -file "$tmp/one"
weir save | cmp - "$tmp/one"
ok $? "save, restore, save: identical output"
is "$(program rx0)" "$was" "... and the program that stays is the same"
ends='weir: note: (-: )?early drops on'
like "$(weir -check -file - <<<'# none' 2>&1)" "(^|"$'\n'")$ends 2 devices end, as the file does not have them"$'(\n|$)' "-check says which drops would end"
is "$(shown)" '[["d0","generic"],["rx0","native"]]' "... and ends none"
file 0 ".*$ends 2 devices end" "a file without devices" <<<'limit add b budget 10/1h from 198.51.100.0/24'
is "$(shown)" '[]' "... detaches the program"
weir -file "$tmp/one"
is "$? $(weir save | cksum)" "0 $(cksum <"$tmp/one")" "what was saved is restored"

file 0 ".*weir: warning: -:3: early: there is no device 'nosuch'" "a device that does not exist" <<-'CONF'
	limit add c budget 10/1h to ::/0
	early dev d1
	early dev nosuch
	early dev d0 mode native
CONF
is "$(shown) $(limits)" '[["d0","native"],["d1","native"]] c' "... the limits are in force, and the others drop early"
file 0 ".*weir: warning: -:2: early: the driver of 'lim' cannot run this program: Underlying driver does not support XDP in native mode; try 'mode generic'" "a driver that cannot, with the kernel's reason" <<-'CONF'
	limit add d budget 10/1h to ::/0
	early dev lim
	early dev d0 mode generic
CONF
is "$(shown) $(limits)" '[["d0","generic"]] d' "... likewise"
weir -file "$tmp/one"
file 2 "weir: -:3:.* limit add: slots: slots would be shorter" "what the module refuses" <<-'CONF'
	early dev d1
	early dev d0 mode native
	limit add c budget 100/10ms slots 10 to ::/0
CONF
is "$(weir save | cksum)" "$(cksum <"$tmp/one")" "... changes nothing, either"
file 0 ".*$ends 'rx0' end, as the file does not have 'early dev rx0'" "another mode, and another device" <<-'CONF'
	early dev d0
	early dev d1 mode generic
CONF
is "$(shown)" '[["d0","native"],["d1","generic"]]' "... are attached, and what is left out is not"
weir -check -file "$tmp/one"
is "$? $(shown)" '0 [["d0","native"],["d1","generic"]]' "-check attaches nothing"
like "$(weir -check -file - <<<'early dev nosuch' 2>&1; echo $?)" "weir: warning: -:1: device 'nosuch' does not exist \(yet\).*0$" "... and finds a device that does not exist"

# What a service has applied, and devices that come after that
weir -file - -fallback "$tmp/last" 2>/dev/null <<-'CONF'
	limit add a budget 10/1h to ::/0
	early dev d0
	early dev late mode generic
	early dev later
CONF
is "$(shown) $(grep -c early "$tmp/last")" '[["d0","native"]] 3' "a fallback has all lines, also of devices that are not there"
rx "$top/userspace/weir" -fallback "$tmp/last" monitor module 2>"$tmp/err" &
monitor=$!
pids+=("$monitor")
has() { [ "$(shown)" = "$1" ]; }
ip_rx link add late type dummy
holds "a device appears: the program is attached" wait_for 60 has '[["d0","native"],["late","generic"]]'
weir xdp detach dev d0
ip_rx link add l1 type veth peer name l2
ip_rx link set l1 name later
holds "... also when another one gets its name, and not again where it was detached" wait_for 60 has '[["late","generic"],["later","native"]]'
ip_rx link del late
ip_rx link add late type veth peer name late-peer
holds "... and when it comes again" wait_for 60 has '[["late","generic"],["later","native"]]'
is "$(<"$tmp/err")" "" "... without a word"
ip_rx link del later
ip_rx link add later type dummy
warned() { grep -q "weir: warning: early: the driver of 'later' cannot run this program: Underlying" "$tmp/err"; }
holds "... with a warning if it cannot be" wait_for 60 warned
kill "$monitor"
like "$(weir -fallback "$tmp/last" monitor limits 2>&1; echo $?)" "^weir: monitor: '-fallback' requires 'monitor module'.*1$" "other events take no such file"
weir -file "$tmp/one"

# What the kernel lets do those who have CAP_NET_ADMIN, CAP_BPF and CAP_PERFMON
less='permission denied: XDP programs of the module require CAP_SYS_ADMIN '
unsure='weir: warning: (-: )?there are XDP programs, but to see whose '
mere() { rx setpriv --bounding-set=-all,+net_admin,+bpf,+perfmon "$top/userspace/weir" "$@" 2>&1; }
like "$(mere xdp detach dev d0; echo $?)" "^weir: xdp detach: $less.*2$" "without CAP_SYS_ADMIN nothing is detached"
weir xdp detach dev rx0
like "$(mere -file "$tmp/one"; echo $?)" "weir: warning: .*one:4: early: $less.*0$" "... or attached, but the limits are in force"
like "$(mere save)" "$unsure" "... and save says that it cannot tell"
like "$(mere -file - <<<'limit add a budget 100/1h syn'; echo $?)" "$unsure.*0$" "... but limits are replaced"
is "$(shown) $(limits)" '[["d0","generic"]] a' "... and programs stay"
weir -file - <<<'# none'
is "$(mere -file - <<<'limit add b budget 100/1h syn'; echo $?)" 0 "without a program a file without devices takes no such right"
own=$top/.cache/build/netns/xdp.o
if command -v bpftool >/dev/null && bpftool prog load "$own" /sys/fs/bpf/own; then
	rx bpftool net attach xdpdrv name count_passed dev rx0
	file 0 '' "an empty configuration" <<<'# none'
	is "$(shown)" '[]' "... detaches the program"
	like "$(rx bpftool net show dev rx0)" 'rx0\([0-9]+\) driver id' "... and leaves another's"
	rx bpftool net detach xdpdrv dev rx0
	rm /sys/fs/bpf/own
	bpftool prog load "${own%/*}/stranger.o" /sys/fs/bpf/own
	rx bpftool net attach xdpdrv name weir_xdp dev rx0
	like "$(bpftool -j prog show pinned /sys/fs/bpf/own)" '"name":"weir_xdp"' "another's program of the same name"
	is "$(shown)" '[]' "... is not shown"
	is "$(weir xdp detach dev rx0 2>&1)" "weir: xdp detach: the program is not attached to 'rx0'" "... nor detached"
	file 0 '' "... also by an empty configuration" <<<'# none'
	like "$(rx bpftool net show dev rx0)" 'rx0\([0-9]+\) driver id' "... which leaves it"
	rx bpftool net detach xdpdrv dev rx0
	rm /sys/fs/bpf/own
else
	skip "no bpftool, or the program does not load" "another's program stays"
fi
umount /sys/fs/bpf
finish
