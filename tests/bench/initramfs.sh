#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# initramfs.sh NAME OUT FILE...: make OUT, the initramfs of the bench's guest of kernel NAME: init,
# busybox, the peers and their modules, the results of build.sh, FILEs in /bench.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd -P) || exit 1
kernel=$top/.cache/kernels/${1:?usage: initramfs.sh NAME OUT FILE...} out=$2 built=$top/.cache/build
shift 2
PATH=$PATH:/sbin:/usr/sbin
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT || exit 1
fail() { echo "bench: $*" >&2; exit 1; }

mkdir -p "$tmp"/{bin,sbin,dev,proc,sys,run,tmp,modules,bench} || exit 1
cp "$top/tests/bench/init" "$tmp/" && cp "$@" "$tmp/bench/" || exit 1

# program NAME PLACE: copy it with the libraries that it links to
program() {
	local lib path
	path=$(command -v "$1") || fail "there is no $1 here"
	cp -L "$path" "$tmp/$2" || exit 1
	while read -r lib; do
		mkdir -p "$tmp${lib%/*}" && cp -nL "$lib" "$tmp$lib" || exit 1
	done < <(ldd "$path" 2>/dev/null | grep -o '/[^ ]*')
}
program busybox bin/
program nft sbin/
program ip sbin/
program iptables-legacy-restore sbin/iptables-legacy-restore
program ip6tables-legacy-restore sbin/ip6tables-legacy-restore
program "$top/userspace/weir" bin/
xdp=$built/bench/${kernel##*/}/xdp
if [ -e "${xdp}_run" ]; then
	program "${xdp}_run" bench/
	cp "${xdp}_peers.o" "$tmp/bench/" || exit 1
fi
# Matches and targets are loaded by name.
for lib in /usr/lib/*/xtables/lib{xt_hashlimit,xt_udp,xt_standard}.so; do
	[ -e "$lib" ] || fail "there is no $lib here"
	mkdir -p "$tmp${lib%/*}" && cp "$lib" "$tmp$lib" || exit 1
done

n=10
while read -r m; do
	n=$((n + 1))
	cp "$m" "$tmp/modules/$n-${m##*/}" || exit 1
done < <(
	for m in nf_tables nft_limit iptable_raw ip6table_raw xt_hashlimit xt_tcpudp veth pktgen; do
		modprobe -d "$kernel" -S "$(<"$kernel/version")" --show-depends "$m" || echo "no module $m" >&2
	done | sed -n 's/^insmod //p' | awk '!/-intel/ && !seen[$1]++ { print $1 }' # the CPU has no SSE 4.2
	echo "$built/${kernel##*/}/weir.ko"
	echo "$built/bench/${kernel##*/}/weir_bench.ko"
)
strip -g "$tmp"/modules/*-weir.ko "$tmp"/modules/*-weir_bench.ko || exit 1
# Fix the numbers in the archive: parsing time depends on their digits.
chmod -R a=rX,u+w "$tmp" && find "$tmp" -exec touch -h -d @0 {} + || exit 1
(cd "$tmp" && find . | LC_ALL=C sort | busybox cpio -o -H newc -R 0:0 --renumber-inodes --ignore-devno >"$out.$$" 2>/dev/null) &&
	mv "$out.$$" "$out"
