#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# confirm.t: weir -confirm: without weir confirm, limits, counts, blocks, exemptions, lists and early
# drops are as they were once the time is over, also if the tool, its terminal or its session is
# killed; with it the change stays. There is no systemd, so a process keeps the deadline.
. "$(dirname "$0")/lib.sh"
begin
rm -rf /run/weir-confirm
# The state has what the sources did before, and how long blocks last.
config <<-WORDS
	prefix-list add friends 10.9.0.0/16
	limit add web budget 20/1h from 10.1.0.0/16
	limit add penal budget 20/1h penalty 1h from 10.2.0.0/16
	limit add most budget 1000/1h from-list friends
	exempt add 10.3.0.0/16 for 1h comment "a friend"
	block add 10.4.0.0/16 for 2h
WORDS
flood -s 10.1.0.1 -n 50 -c 200
flood -s 10.1.1.1 -c 30
flood -s 10.2.0.1 -c 30
weir source block 10.1.7.7 limit web for 1h >/dev/null
xdp=''
[ ! -e /sys/kernel/btf/weir ] || ! rx nft delete table netdev probe || xdp=1

# facts: what is in force, without times; ends: how long exemptions and blocks last
facts() {
	weir -j source show idle | jq -c '.[] | del(.next_ms, .blocked_ms) | del(.budgets[]?.next_ms)' | sort
	weir save | sed 's/ until [-0-9T:]*Z//'
	weir xdp show | sed 's/program.*//'
}
facts >"$tmp/facts"
holds "there is something to lose" [ "$(wc -l <"$tmp/facts")" -gt 55 ]
same() {
	facts >"$tmp/facts.now" 2>&1
	diff "$tmp/facts" "$tmp/facts.now" >"$tmp/diff"
}
# is_as_before NAME: within the time, and a while
is_as_before() { holds "$1" wait_for 60 same || diag "$(<"$tmp/diff")" "$(weir confirm show)"; }
pending() { [ -n "$(weir confirm show)" ]; }
idle() { ! pending; }
# made TIME WORDS...: the change succeeds, and is in force
made() {
	weir -confirm "$@" >"$tmp/out" 2>"$tmp/err"
	is "$?" 0 "-confirm $*" || diag "$(<"$tmp/err")"
	like "$(<"$tmp/err")" "weir: note: this is taken back in [0-9a-z]+, unless 'weir confirm' comes before" "... says so"
	! same
	ok $? "... which is in force"
}
# ends NAME WORDS...: it is taken back by its deadline
ends() {
	made 6s "${@:2}"
	is_as_before "... is taken back: $1"
}
# taken_back NAME WORDS...: it is taken back by hand, at once
taken_back() {
	made 1h "${@:2}"
	weir confirm revert >/dev/null 2>&1
	same
	ok $? "... is taken back by hand: $1" || diag "$(<"$tmp/diff")"
}
ends "a limit goes" limit add new budget 5/h
is "$(weir confirm show)$(ls /run/weir-confirm/*/)" "lock" "... and nothing is left"
taken_back "a budget is as it was" limit set web budget 7/1h
is "$(through 10.1.1.1) $(through 10.1.0.200)" "0 10" "... with counts"
facts >"$tmp/facts"
ends "a limit comes back, with counts and blocks" limit del penal
is "$(through 10.2.0.1)" 0 "... and penalties"
like "$(weir block show)" '^10.4.0.0/16 for 1h5[0-9]m' "... blocked prefixes keep their ends"
like "$(weir exempt show)" '^10.3.0.0/16 comment "a friend" for 5[0-9]m' "... and so do exemptions"
facts >"$tmp/facts"
taken_back "a name is the old one" limit rename web other
taken_back "all limits come back" limit flush
ends "an exemption goes" exempt add 10.1.0.0/16
taken_back "all exemptions come back" exempt flush
taken_back "a blocked prefix goes" block add 10.5.0.0/16
taken_back "blocked prefixes come back" block flush
taken_back "a list is as it was" prefix-list add friends 10.10.0.0/16
taken_back "a block ends" source block 10.1.0.9 limit web for 1h
weir -confirm 1h source block 10.1.0.8 for 1h >/dev/null 2>&1
like "$(weir save -state "$tmp/state" 2>&1)" "^weir: note: 'source block .*' waits for 'weir confirm': the state before it is saved\$" "what waits to be confirmed is not saved"
like "$(weir save "$tmp/words" 2>&1)" "'source block .*' waits for 'weir confirm', and is taken back in" "... and a file of the configuration has it, which is said"
weir confirm revert >/dev/null 2>&1
weir -force restore "$tmp/state" >/dev/null 2>&1
same
ok $? "... but what was before" || diag "$(<"$tmp/diff")"
ends "a block comes back" source release 10.1.7.7 limit web
taken_back "counts come back" source forget all
weir limit add more budget 5/h >/dev/null 2>&1
weir save -state "$tmp/state"
weir limit del more
taken_back "everything is as it was" -force restore "$tmp/state"
printf 'limit add only budget 3/h\n' >"$tmp/file"
ends "a file goes" -file "$tmp/file"
is "$(ls "$tmp"/file*)" "$tmp/file"$'\n'"$tmp/file.unconfirmed" "... with a mark beside it, for the next boot"
taken_back "all goes" -file /dev/null
is "$(echo /dev/null*)" /dev/null "... without a mark beside a device"
printf '%s\n' 'limit del web' 'exempt add 10.8.0.0/16' >"$tmp/batch"
taken_back "a batch is undone" -batch "$tmp/batch"
weir -confirm 6s -batch - <<<$'limit del web\nlimit del nosuch' >"$tmp/out" 2>"$tmp/err"
like "$? $(<"$tmp/err")" "^2 .*no limit.*this is taken back in" "a batch that fails in part"
is_as_before "... is undone, too"
weir -confirm 60s -batch - <<<$'limit del nosuch\nlimit del web' >"$tmp/out" 2>"$tmp/err"
is "$? $(grep -c 'taken back' "$tmp/err") $(weir -q confirm show)" "2 0 " "... but not one that fails at its first line, which changed nothing"
is "$(weir -confirm 60s -batch /dev/null 2>&1; weir -q confirm show)" "" "... nor an empty one"
is "$(weir -confirm 60s -exist limit del nosuch 2>&1; weir -q confirm show)" "" "... nor what -exist finds done"
quietly weir limit add net budget 20/1h per 24
quietly weir source block 10.1.0.7 limit net for 1h
weir -exist -confirm 60s source release 10.1.0.0/24 >/dev/null 2>&1
weir confirm revert >/dev/null 2>&1
is "$? $(weir -j source get 10.1.0.7 limit net | json blocked)" "0 true" "... but sources that are released of a prefix that is not blocked come back"
quietly weir limit del net
if [ "$xdp" ]; then
	taken_back "the program is detached" xdp attach dev rx0
	weir xdp attach dev rx0
	facts >"$tmp/facts"
	ends "the program is attached" xdp detach dev rx0
	weir xdp detach dev rx0
	facts >"$tmp/facts"
else
	skip "the module has no BTF" "early drops are as they were"
fi

# Confirmed
weir -confirm 1m limit add new budget 5/h >/dev/null 2>&1
like "$(weir confirm show)" '^limit add new budget 5/h left ([0-9.]*s|1m) until 20[-0-9]*T[0-9:]*Z$' "what is pending is shown"
weir -j confirm show >"$tmp/out"
is "$(jq -c '.[0] | [.command, (.left_ms > 0), (.until | length)]' "$tmp/out")" '["limit add new budget 5/h",true,20]' "... as JSON, too"
for words in "limit show" "stats show"; do
	# shellcheck disable=SC2086 # words
	like "$(weir $words 2>&1 >/dev/null)" "^weir: note: 'limit add new budget 5/h' waits for 'weir confirm', and is taken back in ([0-9]*s|1m)$" "... and by $words"
done
weir confirm >"$tmp/out" 2>&1
is "$? $(<"$tmp/out") $(pgrep -cx weir)" "0  0" "weir confirm ends the deadline"
is "$(weir save | grep -c 'limit add new ')" 1 "... keeps the change"
is "$(weir confirm show)$(ls /run/weir-confirm/*/)" "lock" "... and nothing is pending"
weir -j confirm show >"$tmp/out"
is "$(jq -c . "$tmp/out")" "[]" "... as JSON, too"
weir confirm >"$tmp/out" 2>&1
is "$? $(<"$tmp/out")" "2 weir: confirm keep: no change waits to be confirmed; one whose time is over has been taken back" "confirmed again, there is nothing"
weir confirm revert >"$tmp/out" 2>&1
is "$? $(<"$tmp/out")" "2 weir: confirm revert: no change waits to be confirmed; one whose time is over has been taken back" "... nor anything to take back"
weir -exist confirm revert >"$tmp/out" 2>&1
is "$? $(<"$tmp/out")" "0 " "... which is no error with -exist"
weir limit del new
facts >"$tmp/facts"

# Taken back by hand, and what comes in between
weir -confirm 1d limit add new budget 5/h >/dev/null 2>&1
weir -check confirm
is "$?" 0 "-check finds it"
weir -confirm 60s limit add another budget 5/h >"$tmp/out" 2>&1
like "$? $(<"$tmp/out")" "^2 weir: limit add: 'limit add new budget 5/h' waits to be confirmed, and is taken back in (1d|23h59m[0-9]*s?): first use 'weir confirm', or 'weir confirm revert'$" "a second change with -confirm is refused"
weir limit add another budget 5/h >"$tmp/out" 2>"$tmp/err"
like "$? $(<"$tmp/err")" "^0 weir: warning: unless 'weir confirm' comes before, this is taken back in (1d|23h59m[0-9]*s?), with 'limit add new budget 5/h'" "one without goes with it, and says so"
weir confirm revert >"$tmp/out" 2>&1
is "$? $(<"$tmp/out")" "0 weir: note: taken back: limit add new budget 5/h
weir: note: counts and blocks are as they were; the counters that -s shows begin at 0" "taken back by hand"
same
ok $? "... with everything" || diag "$(<"$tmp/diff")"
weir confirm show >"$tmp/out" 2>&1
is "$(<"$tmp/out") $(pgrep -cx weir)" "weir: note: no change waits to be confirmed; one whose time is over has been taken back 0" "... and nothing waits any more"
weir -confirm 60s limit add new budget 0/h >"$tmp/out" 2>&1
is "$? $(weir confirm show)$(pgrep -cx weir)" "1 0" "bad words leave nothing pending"
weir -confirm 60s limit del nosuch >"$tmp/out" 2>&1
is "$? $(weir confirm show)$(pgrep -cx weir)" "2 0" "... nor does a change that the kernel refuses"

# Killed: with its session, or stopped, or waiting for a reader that never comes
mkfifo "$tmp/nothing"
# shellcheck disable=SC2016 # the inner shell's
setsid bash -c 'weir -confirm 6s limit add new budget 5/h >/dev/null 2>&1; echo "$$" >"$0"; read -r <"$1"' "$tmp/session" "$tmp/nothing" &
pids+=($!)
started() { [ -s "$tmp/session" ]; }
wait_for 60 started
is "$(weir save | grep -c 'limit add new ')" 1 "a change in a session"
pkill -KILL -s "$(<"$tmp/session")"
is_as_before "... whose processes are all killed is taken back"
if command -v script >/dev/null; then
	# shellcheck disable=SC2016 # likewise
	script -qec 'weir -confirm 6s limit add new budget 5/h; kill -KILL $PPID' "$tmp/typescript" >/dev/null 2>&1 </dev/null
	is "$(weir save | grep -c 'limit add new ')" 1 "a change on a terminal"
	is_as_before "... that ends is taken back"
fi
mkfifo "$tmp/full"
exec {full}<>"$tmp/full"
dd if=/dev/zero bs=64k count=1 >"$tmp/full" 2>/dev/null
"$top/userspace/weir" -confirm 6s limit add new budget 5/h >"$tmp/full" 2>"$tmp/err" &
stuck=$!
pids+=("$stuck")
in_force() { weir save | grep -q 'limit add new '; }
holds "a tool that cannot write" wait_for 60 in_force
holds "... is not gone" kill -0 "$stuck"
is_as_before "... is ended, and its change taken back"
gone() { ! kill -0 "$stuck" 2>/dev/null; }
holds "... so it does not go on" wait_for 60 gone
exec {full}>&-
idle

# Nowhere to keep what was in force: nothing is changed
for options in size=4k ro; do
	mount -t tmpfs -o "mode=700,$options" none /run/weir-confirm || bail "no tmpfs"
	[ "$options" = ro ] || dd if=/dev/zero of=/run/weir-confirm/full bs=4k count=1 2>/dev/null
	weir -confirm 60s limit add new budget 5/h >"$tmp/out" 2>&1
	like "$? $(<"$tmp/out")" "^2 weir: limit add: cannot (use|write) /run/weir-confirm/.*(No space left on device|Read-only file system)" "with $options, a change is refused"
	same
	ok $? "... and not made" || diag "$(<"$tmp/diff")"
	umount /run/weir-confirm
done
is "$(pgrep -cx weir)" 0 "... and no deadline runs"

# A file that is not confirmed, and cannot be marked
mkdir "$tmp/ro"
mount -t tmpfs none "$tmp/ro" && cp "$tmp/file" "$tmp/ro/" && mount -o remount,ro "$tmp/ro"
taken_back "a file in a read-only folder goes" -file "$tmp/ro/file"
like "$(<"$tmp/err")" "^weir: warning: $tmp/ro/file: a reboot before it is confirmed begins with the file: cannot write $tmp/ro/file.unconfirmed: Read-only file system" "... which a warning says"
umount "$tmp/ro"
rm -f "$tmp"/file.unconfirmed
weir -confirm 60s -file "$tmp/file" 2>/dev/null
weir confirm
is "$(ls "$tmp"/file*)" "$tmp/file" "a file that is confirmed has no mark"
weir -confirm 60s -file "$tmp/file" 2>/dev/null
weir confirm revert 2>"$tmp/err"
like "$(<"$tmp/err")" "note: $tmp/file.unconfirmed stays: weir.service does not apply that file until it is edited, or applied by hand\$" "a mark that stays is named"
is "$(ls "$tmp"/file*)" "$tmp/file"$'\n'"$tmp/file.unconfirmed" "... one that was taken back keeps it"
cp "$tmp/file" "$tmp/good" && echo bad >"$tmp/file"
weir -confirm 60s -file "$tmp/file" 2>/dev/null
is "$? $(ls "$tmp"/file*)" "1 $tmp/file"$'\n'"$tmp/file.unconfirmed" "... also if another change with it is refused"
cp "$tmp/good" "$tmp/file"
for name in "$tmp/a"$'\n'b "$tmp/$(printf "%0$((248 - ${#tmp}))d" 0)"; do
	cp "$tmp/good" "$name" && weir -confirm 60s -file "$name" 2>/dev/null
	is "$([ -e "$name.unconfirmed" ] && weir confirm && find "$tmp" -name "${name##*/}.unconfirmed" | wc -l)" 0 "a name that is odd, or long"
done
printf 'limit add third budget 1/h to ff00::/8\nconfirm revert\n' | weir -confirm 60s -batch - 2>"$tmp/err"
like "$? $(<"$tmp/err")" "^[12] weir: -:2: confirm revert: a change cannot confirm itself; confirm it afterwards" "no change confirms itself"
weir confirm revert 2>/dev/null
weir -file "$tmp/file" 2>/dev/null
is "$(ls "$tmp"/file*)" "$tmp/file" "... until it is applied"
echo 'exempt add 10.7.0.0/16' >"$tmp/last"
# boots: with a file, as weir.service does
boots() {
	weir -file - <<<'# none' 2>/dev/null
	weir -file "$tmp/file" -fallback "$tmp/last" >"$tmp/out" 2>&1
}
in_words() { weir save | sed '1d; s/ slots .*//' | paste -sd ';'; }
weir -confirm 60s -file "$tmp/file" 2>/dev/null
weir confirm revert 2>/dev/null
boots
is "$? $(in_words)" "2 exempt add 10.7.0.0/16" "a host that boots with one has what was applied last" || diag "$(<"$tmp/out")"
like "$(<"$tmp/out")" "^weir: $tmp/file: applied with -confirm before, and never confirmed; to apply it: weir -file $tmp/file"$'\n' "... and is told why, and what to do"
weir -file "$tmp/file" -fallback "$tmp/last" >"$tmp/out" 2>&1
is "$? $(in_words) $(<"$tmp/last")" "2 exempt add 10.7.0.0/16 exempt add 10.7.0.0/16" "a restart changes nothing, not even what the next boot has"
like "$(<"$tmp/out")" "never confirmed; to apply it: weir -file $tmp/file"$'\n'".*not applied: the configuration that was in force still is" "... and says the same"
weir -file "$tmp/file" 2>/dev/null
weir -file "$tmp/file" -fallback "$tmp/last" >"$tmp/out" 2>&1
is "$? $(in_words)" "0 limit add only budget 3/h" "once it was applied by hand it counts"
echo 'exempt add 10.7.0.0/16' >"$tmp/last"
echo 'include part' >"$tmp/file"
echo 'limit add only budget 3/h' >"$tmp/part"
weir -confirm 60s -file "$tmp/file" 2>/dev/null
weir confirm revert 2>/dev/null
touch "$tmp/file" "$tmp/part"
boots
is "$? $(in_words)" "2 exempt add 10.7.0.0/16" "one that was touched, and includes the same, does not"
echo 'limit add only budget 4/h' >"$tmp/part"
boots
is "$? $(in_words)" "0 limit add only budget 4/h" "one that includes a file which was edited does"
weir -confirm 60s -file "$tmp/part" 2>/dev/null
weir confirm revert 2>/dev/null
boots
is "$? $(in_words)" "1 limit add only budget 4/h" "one that includes a file which was not confirmed does not"
like "$(<"$tmp/out")" "include: $tmp/part: applied with -confirm before, and never confirmed; to boot with it, remove $tmp/part.unconfirmed"$'\n' "... and is told why, and what to do"
rm "$tmp/part.unconfirmed"
boots
is "$? $(in_words)" "0 limit add only budget 4/h" "... after which it does"
echo 'limit add only budget 5/h' >"$tmp/part"
weir -confirm 60s -file "$tmp/file" 2>/dev/null
weir confirm revert 2>/dev/null
touch -d '+1 day' "$tmp/last"
boots
is "$? $(in_words)" "2 limit add only budget 4/h" "a mark that is older than what was applied last, as the clock was set back, holds"
mount -t tmpfs none "$tmp/ro" && cp "$tmp/part" "$tmp/ro/" && cp "$tmp/part" "$tmp/ro/other" && weir -confirm 60s -file "$tmp/ro/part" 2>/dev/null
mount -o remount,ro "$tmp/ro"
like "$(weir confirm 2>&1)" "^weir: warning: weir.service does not boot with that file, as $tmp/ro/part.unconfirmed cannot be removed: Read-only file system\$" "a mark that cannot be removed is told"
is "$(weir -file "$tmp/ro/other" 2>&1 | grep -c "does not boot")" 0 "... and of a file without one nothing"
umount "$tmp/ro"

# Who takes back waits for who has not written the record of its change yet.
rm -f /run/weir-confirm/*/state
mkfifo "$tmp/go"
( exec 9>"$(echo /run/weir-confirm/*)/change.weir-new" && flock 9 && touch "$tmp/held" && read -r _ <"$tmp/go" ) &
wait_for 60 test -e "$tmp/held"
weir -confirm 60s limit flush 2>/dev/null &
making=$!
wait_for 60 eval 'test -e /run/weir-confirm/*/state'
weir -q -exist confirm revert &
taking_back=$!
let_pass 500
echo >"$tmp/go"
wait "$making" "$taking_back"
is "$? $(weir confirm show) $(in_words)" "0  limit add only budget 5/h" "a change is taken back, even if that comes before its record"
PYTHONPATH=$here python3 -c 'import wire
day = {"budget": 5, "window-ms": 86400000, "mode": 5}
wire.Wire().ask("limit-add", [("name", "l"), ("budget", day), ("zone", {"name": "No/Where"})])'
like "$(weir -confirm 60s limit flush 2>&1):$?" "unknown time zone 'No/Where'.*weir: limit flush: this could not be taken back: the state in .* was not restored:2\$" "what could not be taken back is not made"
is "$(weir confirm show) $(in_words | grep -o 'limit add only')" " limit add only" "... and nothing is pending"
weir limit del l 2>/dev/null
facts >"$tmp/facts"

# Of each namespace its own
space blue
blue=${spaces[-1]}
there() { "$top/userspace/weir" -n "$blue" "$@"; }
there -confirm 6s limit add far budget 5/h >"$tmp/out" 2>"$tmp/err"
like "$? $(<"$tmp/err")" "^0 .*note: this is taken back in [56]s, unless 'weir -n $blue confirm' comes before" "a change in another namespace"
is "$(weir confirm show)" "" "... does not wait here"
like "$(there confirm show)" '^limit add far ' "... but there"
weir -confirm 60s limit add near budget 5/h >/dev/null 2>&1
is "$?" 0 "... so one here is another"
weir confirm
far() { there save | grep -q 'limit add far '; }
near() { ! far; }
holds "... is in force" far
holds "... and taken back" wait_for 60 near
is "$(weir save | grep -c 'limit add near ')" 1 "... alone"
ip netns exec "$blue" weir -confirm 60s limit add far budget 5/h >/dev/null 2>&1
there confirm
holds "confirmed there, it stays" far
finish
