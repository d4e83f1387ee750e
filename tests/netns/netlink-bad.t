#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# netlink-bad.t: invalid messages, which the tool would not send: each attribute of each operation
# missing, too short, too long, out of range, repeated, wrongly nested or unknown, and
# contradictions. Each is refused with a sentence and the attribute, and changes nothing.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/python.sh"
holds "the module loads" load
python bad_attrs.py
python bad_words.py
allow_users
by=(unshare --user --map-root-user --net)
python bad_user.py
finish
