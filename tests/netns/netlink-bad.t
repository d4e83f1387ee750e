#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# netlink-bad.t: what the module says to messages that no tool would send: each
# attribute of each operation missing, too short, too long, out of range,
# repeated, nested wrongly, unknown, and what makes no sense: refused with a
# sentence and the attribute, and nothing changed
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/python.sh"

load
ok $? "the module loads"
python bad_attrs.py
python bad_words.py
by=(unshare --user --map-root-user --net)
python bad_user.py
finish
