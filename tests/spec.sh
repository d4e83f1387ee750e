#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# spec.sh [-w]: is the uapi header what the specification says? With -w, make
# it so. The kernel's generator, which also checks the specification against
# its schema, comes with the newest kernel source (tests/vm/fetch.sh source).
# Status: 0 the same, 1 not, 4 the generator is not here.
set -u
top=$(cd "$(dirname "$0")/.." && pwd) || exit 1
source=$top/.cache/source
spec=Documentation/netlink/specs/weir.yaml
header=module/uapi/linux/weir.h
gen=$source/tools/net/ynl/pyynl/ynl_gen_c.py

[ -e "$gen" ] || { echo "spec.sh: skipped, no generator in .cache/source; make setup downloads it"; exit 4; }
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT || exit 1
mkdir -p "$tmp/Documentation/netlink/specs" "$tmp/out" || exit 1
cp "$source"/Documentation/netlink/*.yaml "$tmp/Documentation/netlink/" &&
	cp "$top/$spec" "$tmp/$spec" || exit 1
# The generator looks upwards for the top of a kernel tree.
: >"$tmp/MAINTAINERS"

# generate MODE PART: also what we do not keep must be generated from the
# specification, so that others can
generate() {
	if ! timeout 60 python3 "$gen" --spec "$tmp/$spec" --mode "$1" "--$2" -o "$tmp/out/$1-$2" ||
		[ ! -s "$tmp/out/$1-$2" ]; then
		echo "spec.sh: $spec: no $2 of mode $1 can be generated" >&2
		exit 1
	fi
}
generate uapi header
generate kernel source
generate user source

if [ "${1-}" = -w ]; then
	mkdir -p "$top/${header%/*}" && cp "$tmp/out/uapi-header" "$top/$header"
	exit
fi
diff -u --label "$header" --label "$spec, generated" "$top/$header" "$tmp/out/uapi-header" ||
	{ echo "spec.sh: $header is not what $spec says; tests/spec.sh -w makes it so" >&2; exit 1; }
