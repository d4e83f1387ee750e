#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ynl.t: the kernel's YNL client performs every operation with only the specification,
# and the kernel's policies agree with it
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/python.sh"
source=$top/.cache/source
[ -e "$source/tools/net/ynl/pyynl/cli.py" ] || skip_all "the mirror has no newest kernel source, where the YNL client is"
python3 -c 'import jsonschema' 2>/dev/null || skip_all "python3-jsonschema is not installed"

mkdir -p "$tmp/netlink/specs"
cp "$source"/Documentation/netlink/*.yaml "$tmp/netlink/"
cp "$top/Documentation/netlink/specs/weir.yaml" "$tmp/netlink/specs/"
begin
modprobe -q nfnetlink_log
export SEND="send -z $tx -i tx0 -s 198.51.100.77 -d 192.0.2.1 -c 3"
PYTHONDONTWRITEBYTECODE=1 python ynl.py "$source/tools/net/ynl/pyynl" "$tmp/netlink/specs/weir.yaml"
finish
