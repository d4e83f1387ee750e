#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# package-build.sh DIR: build the Debian packages into DIR, and again with a newer version and
# nothing else changed, as an upgrade. Exit 4 if something to build them with is missing.
# shellcheck disable=SC2015
set -u
top=$(cd "$(dirname "$0")/../.." && pwd -P) && out=$(realpath -m "${1:?usage: package-build.sh DIR}") || exit 1
missing=$(dpkg-checkbuilddeps "$top/debian/control" 2>&1) || { echo "${missing##*: }"; exit 4; }
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT && mkdir "$tmp/tree" || exit 1
umask 022
(cd "$top" && cp -r COPYING Documentation Kbuild Makefile README.md debian dkms.conf module userspace "$tmp/tree") &&
	(cd "$tmp/tree" && dpkg-buildpackage -us -uc -b) >"$tmp/log" 2>&1 || { tail -n 20 "$tmp/log"; exit 1; }
rm -f "$tmp"/*-dbgsym_*
for deb in "$tmp"/*.deb; do
	rm -rf "$tmp/newer"
	dpkg-deb -R "$deb" "$tmp/newer" && sed -i -E 's/^(Version: .*)/\1+newer/' "$tmp/newer/DEBIAN/control" &&
		dpkg-deb --root-owner-group -b "$tmp/newer" "$tmp" >"$tmp/log" || exit 1
done
rm -rf "$out" && mkdir -p "$out" && mv "$tmp"/*.deb "$out/"
