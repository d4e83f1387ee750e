#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# cross-build.sh NAME: build the tool and the tests' programs for the architecture of
# guest kernel NAME. Puts them and the modules built by kernel-build.sh under
# .cache/build/NAME-guest, at their paths; guest.sh copies them over this machine's files.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd -P) && cd "$top" || exit 1
name=${1:?usage: cross-build.sh NAME}
root=$(realpath ".cache/kernels/$name/root") && work=$top/.cache/build/$name-cross layer=$top/.cache/build/$name-guest || exit 4
cross=aarch64-linux-gnu-
mkdir -p "$work" && exec 9>"$work/.lock" && flock 9 && mkdir -p "$work/userspace" || exit 1
# The tool's objects land beside copies of its sources; deleted sources must not remain.
rm -rf "$work/module" "$work"/userspace/{,*/}*.[ch] && mkdir "$work/module" &&
	(cd userspace && cp -p --parents Makefile kernel/*/* {,*/}*.[ch] "$work/userspace/") && cp -rp module/{main.c,count,config,uapi} "$work/module/" || exit 1
make --no-print-directory -s -C "$work/userspace" "CC=${cross}gcc -I$root/usr/include" \
	LIBRARY_CFLAGS= PCAP= XDP= NCURSES= "LIBRARIES=-L$root/usr/lib/aarch64-linux-gnu -lmnl -ljansson -lz" weir &&
	make --no-print-directory -s -C tests/netns "CC=${cross}gcc" "OUT=$work/netns" "$work"/netns/{send,window} || exit 1
rm -rf "$layer" && mkdir -p "$layer$top"/{userspace,.cache/build/netns} &&
	cp "$work/userspace/weir" "$layer$top/userspace/" && cp "$work"/netns/* "$layer$top/.cache/build/netns/" || exit 1
# The guest lacks strip.
for ko in .cache/build/"$name"{,-table}/*.ko; do
	[ ! -e "$ko" ] || { mkdir -p "$layer$top/${ko%/*}" && "${cross}strip" -g -o "$layer$top/$ko" "$ko"; } || exit 1
done
