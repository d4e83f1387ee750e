#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# initramfs.sh NAME: make .cache/build/initramfs-NAME, which mounts the host's /
# over 9p. It has busybox, a few modules and the file init.
set -u
here=$(cd "$(dirname "$0")" && pwd -P) || exit 1
cache=$(realpath "$here/../../.cache") && kernel=$(realpath "$cache/kernels/${1:?usage: initramfs.sh NAME}") || exit 1
out=$cache/build/initramfs-$1
[ "$out" -nt "$here/init" ] && [ "$out" -nt "$kernel/version" ] && exit
PATH=$PATH:/sbin:/usr/sbin
busybox=$kernel/root/bin/busybox # for another architecture
[ -e "$busybox" ] || busybox=$(command -v busybox) || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

mkdir -p "$cache/build" "$tmp"/{bin,dev,proc,sys,lower,upper,root,modules} &&
	cp "$busybox" "$tmp/bin/" && cp "$here/init" "$tmp/init" || exit 1
n=10
for m in virtio_pci virtio_console 9pnet_virtio 9p overlay; do
	modprobe -d "$kernel" -S "$(<"$kernel/version")" --show-depends "$m" || exit 1
done | sed -n 's/^insmod //p' | awk '!seen[$1]++ { print $1 }' | while read -r m; do
	n=$((n + 1))
	cp "$m" "$tmp/modules/$n-${m##*/}" || exit 1
done || exit 1
(cd "$tmp" && find . | busybox cpio -o -H newc >"$out.$$" 2>/dev/null) && mv "$out.$$" "$out"
