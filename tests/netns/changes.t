#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# changes.t: dumps of what changed (state-get with since-ns) tell, slot by slot, each packet that was
# admitted, also while others' counts are added; and what is added finds its place
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/python.sh"
begin
export SEND="send -z $tx -i tx0 -d 192.0.2.1" WEIR="$top/userspace/weir"
python changes.py

# Of the limit itself: a word, which changes nothing that is counted
weir limit flush >/dev/null
weir limit add group budget 5/1h budget 1M/1d bytes lenient shared from 198.51.100.0/24 >/dev/null
like "$(weir save)" "limit add group .* shared from " "a limit that is shared is saved so"
like "$(weir limit show group)" "^group .* shared " "... and shown"
is "$(weir -json limit show group | json sharing)" shared "... and so in JSON"
is "$(through 198.51.100.1)" 5 "... and counts as any other"
weir limit set group unshared >/dev/null
is "$(weir save | grep -c shared):$(through 198.51.100.1)" 0:0 "set unshared, it keeps its counts"
weir limit set group shared budget 7/1h >/dev/null
like "$(weir save)" "budget 7/h .* shared" "set shared"
is "$(through 198.51.100.1)" 2 "... with another budget"
like "$(weir limit set group budget 5/1h bucket 2>&1)" "cannot be shared" "a budget that is set must not be a bucket"
weir limit set group unshared only budget 5/1h exact >/dev/null
like "$(weir limit set group shared 2>&1)" "cannot be shared" "an exact budget cannot be shared"
weir limit add least budget 1/10ms slots 1 shared per 0 >/dev/null
weir limit add most budget 72057594037927936/month bytes fixed shared >/dev/null
is "$(weir save | grep -c shared)" 2 "the smallest and the largest budget are shared"
finish
