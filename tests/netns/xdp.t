#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# xdp.t: an XDP program that asks drops what the hook would refuse, before the hook, and
# nothing else; what is dropped is counted once
. "$(dirname "$0")/lib.sh"
program=$top/userspace/bpf/weir_xdp.o
[ -e "$program" ] || skip_all "no XDP program is built: no clang or libbpf"
command -v bpftool >/dev/null || skip_all "no bpftool"
begin_apart
[ -e /sys/kernel/btf/weir ] || skip_all "the module has no BTF"
mkdir "$tmp/bpf"
mount -t bpf bpf "$tmp/bpf" || bail "no bpffs"
# attach native|generic, detach: the program at rx0
attach() {
	mode=xdpdrv
	[ "$1" = native ] || mode=xdpgeneric
	bpftool prog load "$program" "$tmp/bpf/$1" && rx bpftool net attach "$mode" pinned "$tmp/bpf/$1" dev rx0
}
detach() { rx bpftool net detach "$mode" dev rx0 && rm -f "$tmp"/bpf/*; }
early() { stat_of "$1" early.packets; }
driver() { rx ethtool -S rx0 | awk '/xdp_drops:/ { n += $2 } END { print n + 0 }'; }

weir limit add a budget 10/10s from 198.51.100.0/24 >/dev/null
flood -s 198.51.100.1 -c 100
is "$(early a)" 0 "without a program nothing is dropped early"
# nft's ingress chain may take packets: what passes it is not sure.
holds "the program is attached in native mode" attach native
flood -s 198.51.100.1 -c 100
is "$(early a)" 0 "nothing behind an ingress chain"
rx nft delete table netdev probe
flood -s 198.51.100.1 -c 100
is "$(early a)" 100 "what is refused is dropped early"
is "$(driver)" 100 "... as the driver tells"
is "$(stat_of a dropped.packets)" 290 "... and counted once at the limit"
is "$(weir -json source get 198.51.100.1 limit a | json dropped)" 290 "... and at the source"
is "$(stats dropped)" 290 "... and in all"
is "$(passed)" 10 "the budget is as ever"
fails() { ! "$@" 2>/dev/null; }
holds "the module stays while a program needs it" fails rmmod weir
flood -s 198.51.100.2 -c 100
is "$(passed)" 20 "another source has its own"
is "$(early a)" 189 "... and is dropped early once the hook has refused it"

trace_start weir_early
flood -s 198.51.100.2 -c 5
trace_stop
is "$(grep -c 'weir_early: limit=a saddr=::ffff:198.51.100.2 .*packets=1 bytes=46' "$tmp/trace")" 5 "a tracepoint tells"
holds "the program is detached" detach
holds "... and attached in generic mode" attach generic
was=$(early a)
flood -s 198.51.100.2 -c 50
is "$(($(early a) - was))" 50 "generic mode drops, too"
holds "the program is detached" detach
umount "$tmp/bpf"
finish
