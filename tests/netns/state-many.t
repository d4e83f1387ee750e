#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# state-many.t: 60,000 sources are saved and restored; saving takes no more memory at the end
# than at the beginning
. "$(dirname "$0")/lib.sh"
begin_with <<<"limit add many budget 20/1h budget 30/2h from 10.0.0.0/8"
flood -s 10.1.0.1 -n 60000 -c 60000
mkfifo "$tmp/pipe"
"$top/userspace/weir" save -state "$tmp/pipe" &
saving=$!
exec {pipe}<"$tmp/pipe"

# own BYTES: read so many, and print how many KiB of its own the tool has while it waits
own() {
	head -c "$1" <&"$pipe" >>"$tmp/many"
	wait_for 20 grep -q pipe_write "/proc/$saving/wchan" || diag "the tool does not wait"
	grep -o 'RssAnon.*' "/proc/$saving/status" | tr -dc 0-9
}
early=$(own 200000)
late=$(own 1500000)
echo "# own memory of save after 200 kB $early KiB, after 1.7 MB $late KiB"
within "$((late - early))" -512 256 "save holds nothing of what it has written"
cat <&"$pipe" >>"$tmp/many"
wait "$saving"
ok $? "60,000 sources are saved into a pipe"
exec {pipe}<&-
chmod 600 "$tmp/many"
weir -file - <<<'# none'
weir -force restore "$tmp/many" >"$tmp/out" 2>&1
ok $? "... and restored from what came out" || diag "$(<"$tmp/out")"
within "$(stat_of many sources_now)" 59000 60000 "... all of them"
finish
