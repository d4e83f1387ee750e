#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# spec.sh [-w]: check that the uapi header, the policies and the operations match the specification;
# -w regenerates them. The kernel's generator, which also checks the specification against its
# schema, comes with the newest kernel source (tests/vm/fetch.sh source).
# Status: 0 they match, 1 they differ, 4 there is no generator.
set -u
top=$(cd "$(dirname "$0")/.." && pwd) || exit 1
source=$top/.cache/source
spec=Documentation/netlink/specs/weir.yaml
gen=$source/tools/net/ynl/pyynl/ynl_gen_c.py

[ -e "$gen" ] || { echo "spec.sh: skipped, no generator in .cache/source; make setup downloads it"; exit 4; }
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT || exit 1
mkdir -p "$tmp/Documentation/netlink/specs" "$tmp/out" || exit 1
cp "$source"/Documentation/netlink/*.yaml "$tmp/Documentation/netlink/" &&
	cp "$top/$spec" "$tmp/$spec" || exit 1
# The generator searches its parent directories for the top of a kernel tree.
: >"$tmp/MAINTAINERS"

# generate MODE PART [FILE]: compare with FILE, which is in the tree. Without FILE, only
# check that it can be generated. Generated code includes a header by its file name.
bad=0
generate() {
	local out=$tmp/out/${3:-user.c}
	mkdir -p "${out%/*}"
	if ! (cd "$tmp" && timeout 60 python3 "$gen" --spec "$spec" --mode "$1" "--$2" -o "$out") || [ ! -s "$out" ]; then
		echo "spec.sh: $spec: no $2 of mode $1 can be generated" >&2
		exit 1
	fi
	if [ "$write" ] && [ "${3-}" ]; then
		mkdir -p "$top/${3%/*}" && cp "$out" "$top/$3" || exit 1
	elif [ "${3-}" ]; then
		diff -u --label "$3" --label "$spec, generated" "$top/$3" "$out" ||
			{ echo "spec.sh: $3 is not what $spec says; tests/spec.sh -w makes it so" >&2; bad=1; }
	fi
}
write=$([ "${1-}" != -w ] || echo 1)
generate uapi header module/uapi/linux/weir.h
generate kernel header module/netlink/gen.h
generate kernel source module/netlink/gen.c
generate user source
exit "$bad"
