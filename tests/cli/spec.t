#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# spec.c says what the specification says: else refusals name wrong attributes.
. "$(dirname "$0")/lib.sh"

python3 -c 'import yaml' 2>/dev/null || { echo "1..0 # SKIP python3-yaml is not installed"; exit 4; }
err=$(make -s -C "$top/userspace" check-spec 2>&1)
ok $? "userspace/spec.c is what make spec writes" || diag "$err"
finish
