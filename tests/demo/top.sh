#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# top.sh: draw weir top, in a guest whose limits are flooded, as Documentation/top.svg
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) && cd "$top" || exit 1
kernel=6.12
out=$(mktemp -d) && trap 'rm -rf "$out"' EXIT || exit 1
{ make -s tool && make -s -C tests/netns && tests/vm/kernel-build.sh "$kernel"; } >"$out/log" 2>&1 ||
	{ tail -n 20 "$out/log" >&2; exit 1; }
tests/vm/guest.sh -r -k "$kernel" -t 200 -o "$out" -- tests/demo/top-scene.sh &&
	Documentation/demo.py <"$out/screen" >"$out/top.svg" && cp "$out/top.svg" Documentation/top.svg
