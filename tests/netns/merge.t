#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# merge.t: what the module says of its sources is merged into another configuration, which is held
# until then; and into limits in force
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/python.sh"
begin
export SEND="send -z $tx -i tx0 -d 192.0.2.1" WEIR="$top/userspace/weir" KO="$WEIR_KO"
python merge.py
finish
