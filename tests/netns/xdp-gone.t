#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# xdp-gone.t: a device that goes while the XDP program is on it, alone or with its namespace, leaves
# pins of libxdp, which keep the module, as does one from which another tool takes the program: each
# command about XDP, a file and an upgrade remove them, but none of a device that has the program,
# wherever it is, nor those of other programs
. "$(dirname "$0")/lib.sh"
need_tool
load || bail "cannot load"
[ -e /sys/kernel/btf/weir ] || skip_all "the module has no BTF"
weir xdp show >/dev/null 2>&1 || skip_all "this weir has no XDP program"
mount -t bpf bpf /sys/fs/bpf || bail "no bpffs"
a='' b=''
space a
space b
in_a() { command weir -netns "$a" "$@"; }
in_b() { command weir -netns "$b" "$@"; }
pins() { find /sys/fs/bpf/xdp -name 'prog*-link' 2>/dev/null | wc -l; }
devices() { command weir "${@}" -json xdp show | jq -c 'map(.dev)'; }
unused() { [ "$(cat /sys/module/weir/refcnt)" = 0 ]; }
# put DEVICE [MODE]: the program on a new device
put() {
	ip link add "$1-peer" type veth peer name "$1"
	weir xdp attach dev "$1" mode "${2:-native}" || diag "not attached"
}
removed() { echo "weir: note: the XDP program of '$1', a device ${2:-that is gone}, is removed"; }
taken() { removed "$1" "from which it was detached"; }
put first
[ "$(pins)" = 1 ] || skip_all "without libxdp nothing is pinned"
weir xdp detach dev first
ip link del first

for mode in native generic; do
	put one $mode
	ip link del one
	is "$(weir xdp show 2>&1)" "$(removed one)" "$mode: the device is gone, and xdp show removes its program"
	holds "... which lets the module go" wait_for 60 unused
	is "$(weir xdp show 2>&1) $(find /sys/fs/bpf/xdp -mindepth 1)" " " "... and nothing is left"
	put one $mode
	ip link del one
	weir xdp detach dev one >"$tmp/out" 2>&1
	is "$? $(<"$tmp/out")" "0 $(removed one)" "... as does xdp detach, by the name of the device"
	holds "... the module" wait_for 60 unused
	weir xdp detach dev one >"$tmp/out" 2>&1
	is "$? $(<"$tmp/out")" "2 weir: xdp detach: there is no device 'one'" "... once"
done
put one
ip link del one
is "$(put one 2>&1)" "$(removed one)" "a device of the same name, and what is left of the first"
is "$(devices) $(pins)" '["one"] 1' "... has its own program"
put 'x.@-y'
ip link del 'x.@-y'
echo 'limit add web budget 20/1h tcp syn' >"$tmp/file"
echo 'early dev one' >>"$tmp/file"
is "$(weir -file "$tmp/file" 2>&1)" "$(removed 'x.@-y' | sed "s|note: |&$tmp/file: |")" "a file removes what is left"
is "$(devices) $(pins)" '["one"] 1' "... and what it names stays"
weir xdp detach dev one
ip link del one
weir limit flush

# Many, with their namespace
for i in {1..9}; do
	ip link add "p$i" type veth peer name "g$i" netns "$a"
	in_a xdp attach dev "g$i"
done
is "$(pins)" 9 "nine devices of another namespace"
ip netns del "$a"
gone() { ! ip link show dev p1 >/dev/null 2>&1; }
holds "... go with it" wait_for 60 gone
weir xdp show 2>"$tmp/err"
is "$(sort "$tmp/err")" "$(for i in {1..9}; do removed "g$i"; done)" "... and their programs are removed"
holds "... which lets the module go" wait_for 60 unused

# One that lives in another namespace, with a number that is that of a device which is gone here
ip netns add "$a"
ip link add name away index 77 type veth peer name away-peer
weir xdp attach dev away
ip -n "$b" link add name there index 77 type veth peer name there-peer
in_b xdp attach dev there
ip link del away
is "$(weir xdp show 2>&1)" "$(removed away)" "of two devices of one number, the one that is gone"
is "$(devices -netns "$b") $(pins)" '["there"] 1' "... and not the other"
# One that moves is gone from here, and lives: no namespace has its name any more.
put moved
mkfifo "$tmp/nothing"
# shellcheck disable=SC2016 # the inner shell's
unshare -n bash -c 'echo $$ >"$0"; exec cat "$1"' "$tmp/pid" "$tmp/nothing" &
pids+=($!)
started() { [ -s "$tmp/pid" ]; }
wait_for 60 started
pid=$(<"$tmp/pid")
ip link set moved netns "$pid"
is "$(weir xdp show 2>&1) $(in_b -exist xdp attach dev there 2>&1) $(pins)" "  2" "a device that moved to another namespace keeps its program"
is "$(devices -netns "$pid")" '["moved"]' "... and is shown there"
ip link del moved-peer
is "$(in_b xdp show 2>&1)" "$(removed moved)"$'\n'"$(in_b xdp show)" "... until it is gone, as any namespace tells"
in_b xdp detach dev there

# ip takes programs off a device that stays.
off() { ip "${@:2}" link set dev "$1" xdp off; }
for mode in native generic; do
	put one $mode
	ip link set dev one xdp${mode/native/drv} off
	is "$(weir xdp show 2>&1)" "$(taken one)" "$mode: ip takes the program off, and xdp show removes it"
	holds "... which lets the module go" wait_for 60 unused
	is "$(weir xdp show 2>&1) $(find /sys/fs/bpf/xdp -mindepth 1)" " " "... and nothing is left"
	weir xdp attach dev one mode $mode
	ip link set dev one xdp${mode/native/drv} off
	is "$(weir xdp attach dev one mode $mode 2>&1)" "$(taken one)" "... as does xdp attach"
	is "$(devices) $(pins)" '["one"] 1' "... which attaches it again"
	ip link set dev one xdp${mode/native/drv} off
	weir xdp detach dev one >"$tmp/out" 2>&1
	is "$? $(<"$tmp/out")" "0 $(taken one)" "... and xdp detach"
	weir xdp detach dev one >"$tmp/out" 2>&1
	is "$? $(<"$tmp/out")" "2 weir: xdp detach: the program is not attached to 'one'" "... once"
	ip link del one
done
put one
off one
is "$(weir -file "$tmp/file" 2>&1)" "$(taken one | sed "s|note: |&$tmp/file: |")" "a file removes it"
is "$(devices) $(pins)" '["one"] 1' "... and attaches it again"
weir limit flush
weir xdp detach dev one
ip link del one
# A device of another namespace has the same number.
ip -n "$b" link add name there index 78 type veth peer name there-peer
ip link add name here index 78 type veth peer name here-peer
in_b xdp attach dev there
is "$(weir xdp show 2>&1) $(pins)" " 1" "a device of the same number in another namespace keeps its program"
off there -n "$b"
is "$(weir xdp show 2>&1) $(pins)" " 1" "... what was taken off it is not looked for from here"
is "$(in_b xdp show 2>&1) $(pins)" "$(taken there) 0" "... but there"
ip link del here

# A program of another tool stays in the dispatcher.
own=$top/.cache/build/netns/stranger.o
ip link add two type veth peer name two-peer
if xdp-loader load -m native two "$own" >/dev/null 2>&1; then
	weir xdp attach dev two
	is "$(pins)" 2 "libxdp chains another program"
	off two
	xdp-loader load -m native two "$own"
	is "$(weir xdp show 2>&1) $(pins)" "$(taken two) 2" "ip takes both off, and another tool attaches its own: ours is removed"
	weir xdp attach dev two
	is "$(weir xdp show 2>&1 >/dev/null) $(devices)" ' ["two"]' "... and is attached again"
	# libxdp has pinned the dispatcher that is to replace the one on the device.
	ip link add three type veth peer name three-peer
	strace -qq -o "$tmp/list" -e trace=sendto xdp-loader load -m native three "$own" 2>/dev/null
	n=$(grep -n RTM_SETLINK "$tmp/list" | cut -d : -f 1)
	xdp-loader unload three --all
	weir xdp attach dev three
	strace -qq -o /dev/null -e trace=sendto -e "inject=sendto:error=EIO:signal=KILL:when=$n" xdp-loader load -m native three "$own" 2>/dev/null
	# Its lock would keep it from starting again.
	find /run -name '*xdp-loader*' -delete
	is "$(weir xdp show 2>&1 >/dev/null) $(devices) $(pins)" ' ["three","two"] 6' "a tool dies before it replaces the dispatcher: the program stays in both"
	ip link del three
	is "$(weir xdp show 2>&1 >/dev/null)" "$(removed three)"$'\n'"$(removed three)" "... until the device is gone"
	ip link del two
	is "$(weir xdp show 2>&1) $(pins)" "$(removed two) 3" "the device is gone: the other program stays pinned"
	find /sys/fs/bpf/xdp -name 'prog*' -delete
else
	skip "no xdp-loader" "another program stays"
fi

# An upgrade
put one
put two
in_b xdp attach dev there
off there -n "$b"
ip link del one
command weir -check -force upgrade "$stripped" -old "$stripped" >"$tmp/out" 2>"$tmp/err"
is "$? $(<"$tmp/err") $(pins)" "0 weir: note: the XDP program of 'one', a device that is gone, would be removed
weir: note: the XDP program of 'there', a device from which it was detached, would be removed 3" "upgrade -check finds it, and removes nothing"
command weir -force upgrade "$stripped" -old "$stripped" >"$tmp/out" 2>"$tmp/err"
is "$? $(<"$tmp/err")" "0 $(removed one)"$'\n'"$(taken there)" "upgrade removes it"
is "$(devices) $(pins)" '["two"] 1' "... and the other goes on"
weir xdp detach dev two
ip link del two
holds "the module is unused" wait_for 60 unused
umount /sys/fs/bpf
finish
