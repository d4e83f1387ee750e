#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# state.t: save -state and restore: after the module was loaded anew each source has its counts, by
# every way to count, and waits as long as it would have; blocks, newcomers and floors stay; no
# window has more than the budget; what cannot be restored changes nothing
. "$(dirname "$0")/lib.sh"
. "$here/state_kinds.sh"

# since MS: for how many seconds, rounded up; exempt N: how many of them the n-th exemption lasts
since() { echo $((($(now_ms) - $1) / 1000 + 2)); }
exempt() { weir -j exempt show | jq ".[$1].for_ms / 1000 | floor"; }

fill
look before
is "$(jq 'length' "$tmp/look.before")" "$(wc -l <"$tmp/facts.before")" "the sources"
holds "... of all limits" [ "$(jq -r '.[].limit' "$tmp/look.before" | sort -u | wc -l)" = 17 ]
like "$(<"$tmp/ends.before")" 'blocks 10\.13\.0\.1 block\|' "... one is blocked for a time"
like "$(<"$tmp/ends.before")" 'new 10\.11\.9\.9 newcomers\|' "... newcomers wait"
weir save >"$tmp/config.before"

is "$(weir save -state "$tmp/state" 2>&1; echo $?)" 0 "save -state is silent"
is "$(stat -c '%a %u' "$tmp/state")" "600 0" "... and its file is the owner's alone"
like "$(weir -check restore "$tmp/state" 2>&1)" "^saved .* age .* limits 17 exempts 2 blocked prefixes 1 sources $(wc -l <"$tmp/facts.before")\$" "-check says what it has"
weir restore "$tmp/state" 2>"$tmp/err"
is "$? $(<"$tmp/err")" "2 weir: restore: limits, exemptions or lists are in force; -force replaces them and their counts" "with limits in force nothing is restored"

# anew: load the module anew
anew() { { unload && load; } || bail "cannot load anew"; }
# restore FILE: prints what it says
restore() { weir "${@:2}" restore "$1" >"$tmp/out" 2>&1 || { diag "$(<"$tmp/out")"; return 1; }; }
anew
holds "restore after the module was loaded anew" restore "$tmp/state" -j
like "$(<"$tmp/out")" '"evicted":0,"blocks_lost":0,"skipped":0' "... with all that was saved"
look after
alike before after "loaded anew"
is "$(weir save | sed 's/ until [-0-9T:]*Z//')" "$(sed 's/ until [-0-9T:]*Z//' "$tmp/config.before")" "... and the configuration is what it was"
within "$(exempt 0)" $((3600 - $(since "$began"))) 3600 "... exemptions last as long as they would have"
within "$(exempt 1)" $((1800 - $(since "$began"))) 1800 "... each"

# Once more, without the packets that came between
weir save -state "$tmp/again"
holds "restore with -force replaces what is in force" restore "$tmp/again" -force
look forced
alike before forced "replaced"
weir save -state "$tmp/third"
weir -file - <<<'# none'
holds "restore where nothing is in force" restore "$tmp/third"
look third
alike before third "flushed"
recount
arriving() { [ "$(arrived)" -gt 0 ]; }
flooding -s 10.13.0.7 -r 2000 -t 60000
wait_for 20 arriving
for i in 1 2 3; do restore "$tmp/again" -force; done
quiet
is "$(passed)" 0 "restore with -force: no packet of who is blocked passes meanwhile"

# what passes now is what would have
is "$(through 10.1.0.1) $(through 10.1.0.2) $(through 10.7.0.1)" "10 0 10" "a source may send what it had left"
is "$(through 10.1.0.1) $(through 10.13.0.7) $(through 10.13.0.1)" "3 0 0" "... and no more; a blocked one nothing"

# After a reboot time has passed by the clock on the wall.
file=$top/tests/cli/state_file.py
# left LIMIT SOURCE: how many seconds it still waits, or is blocked
left() { weir -j source get "$2" limit "$1" | jq -r '.[0] | .blocked_ms // .next_ms // 0 | . / 1000 | floor'; }
waits() { echo "$(left lenient 10.2.0.2) $(left strict 10.1.0.2) $(left exact 10.5.0.2) $(left blocks 10.13.0.1)"; }
bucket() { weir -j source get 10.4.0.2 limit bucket | json count; }
stranger() { weir -j source get 10.11.9.9 limit new | jq '.[0].newcomers_next_ms // 0 | . / 1000 | floor'; }
saving=$(now_ms)
weir save -state "$tmp/state"
read -ra before <<<"$(waits)"
waited=$(stranger)
looked=$(since "$saving")
"$file" reboot "$tmp/state" "$tmp/rebooted" 300
anew
holds "restore after a reboot" restore "$tmp/rebooted"
read -ra after <<<"$(waits)"
for i in 0 1 2 3; do within "$((before[i] - after[i]))" 299 $((300 + $(since "$saving"))) "... 300 seconds later each waits so much less"; done
within "$((waited - $(stranger)))" $((299 - 120)) $((420 + $(since "$saving"))) "... and newcomers so much less, but for a slot"
is "$(weir -j source get 10.13.0.7 limit blocks | json blocked)" true "... but who is blocked for ever"
within "$(exempt 0)" $((3300 - $(since "$began"))) 3300 "... exemptions end earlier, too"
within "$(exempt 1)" $((1500 - $(since "$began"))) 1500 "... each"
look rebooted
weir save -state "$tmp/again"
anew
holds "restore what newcomers used some slots ago" restore "$tmp/again"
look again
alike rebooted again "loaded anew"
"$file" reboot "$tmp/state" "$tmp/rebooted" 1800
weir -force restore "$tmp/rebooted"
is "$(weir exempt show | grep -c .)" 1 "... or have ended"
"$file" reboot "$tmp/state" "$tmp/rebooted" $((15 * 3600))
weir -force restore "$tmp/rebooted"
within "$(bucket)" 26 27 "fifteen hours later a bucket has drained by so much"
"$file" reboot "$tmp/state" "$tmp/rebooted" -1000
restored=$(now_ms)
weir -force restore "$tmp/rebooted"
read -ra after <<<"$(waits)"
for i in 0 1 2 3; do within "$((before[i] - after[i]))" "-$looked" "$(since "$restored")" "a clock that went back: each waits as long as it had to"; done
within "$(exempt 0)" $((3600 - $(since "$began"))) 3600 "... and an exemption lasts as long"
for by in 2 -40004 40002; do
	date -s "$by hours" >"$tmp/out" && weir -force restore "$tmp/state"
	within "$(exempt 1)" 1500 1800 "the clock is set by $by hours: an exemption lasts as long"
done
# Longer than any window, and than the module's clock was ahead when the kernel booted, but not than
# the block for ever and the total
for days in 40 150 400; do
	long=';10.13.0.8 blocks'
	[ $days -lt 300 ] || long=''
	"$file" reboot "$tmp/state" "$tmp/rebooted" $((days * 86400))
	weir -force restore "$tmp/rebooted"
	is "$(weir -brief source show | awk '{ print $1, $3 }' | sort | paste -sd ';')" "10.13.0.7 blocks$long;10.6.0.1 calendar;10.6.0.2 calendar;10.7.0.1 total;10.7.0.2 total;10.8.0.1 several;10.8.0.2 several" "$days days later only totals count, and a calendar whose period has not ended, and blocks for ever hold"
done

# A table of another size and slots is a successor.
"$file" replace "$tmp/state" "$tmp/more" 2 'slots 5' 'slots 10'
"$file" replace "$tmp/more" "$tmp/other" 2 'sources 65536' 'sources 1000'
weir -force restore "$tmp/other"
is "$? $(weir save | grep -c 'slots 10 .*sources 1000')" "0 2" "restore with other slots and sizes" || diag "$(weir save)"
is "$(through 10.1.0.2) $(through 10.2.0.2)" "0 0" "... gives nobody more"
within "$(left lenient 10.2.0.2)" $((before[0] - $(since "$saving"))) 1800 "... and nobody waits for longer than a window"

# A floor that a window filled refuses strangers in a total until that window ends.
weir -file - <<<'limit add f budget 10/h slots 5 sources 64 from 10.0.0.0/8'
for i in {1..200}; do echo "source charge 10.0.0.$i limit f packets 9"; done >"$tmp/charges"
weir -force -batch "$tmp/charges" >/dev/null 2>&1
weir save -state "$tmp/more"
"$file" replace "$tmp/more" "$tmp/other" 2 '10/h slots 5 from 10.0.0.0/8 sources 64' '10/total from 10.0.0.0/8 sources 6400'
weir -force restore "$tmp/other"
is "$? $(weir -force -batch "$tmp/charges" 2>/dev/null | grep -c 'taken 9')" "0 0" "a window's floor becomes that of a total"

# What cannot be restored changes nothing.
# none STATUS PATTERN NAME: restore bad
none() {
	weir restore "$tmp/bad" >"$tmp/out" 2>&1
	local status=$?
	like "$status $(<"$tmp/out")" "^$1 $2" "$3"
	is "$(weir save | wc -l)" 1 "... and nothing is in force"
}
weir -file - <<<'# none'
"$file" replace "$tmp/state" "$tmp/bad" 3 watched notheld
none 2 "weir: .*the sources of limit 'notheld': .*weir: restore: the state in $tmp/bad was not restored" "a limit that the configuration does not have"
"$file" replace "$tmp/state" "$tmp/bad" 2 'per 24,48' 'per 25,48'
none 2 "weir: .*the sources of limit 'nets': " "other prefix lengths"
"$file" replace "$tmp/state" "$tmp/bad" 2 ' per 0' ' per 999'
none 1 "weir: .*limit add: per: " "a configuration that is not valid"
head -c "$(($(stat -c %s "$tmp/state") - 1))" "$tmp/state" >"$tmp/bad" && chmod 600 "$tmp/bad"
none 1 "weir: restore: $tmp/bad: truncated at offset" "a truncated file"
weir limit add kept budget 5/h to ::/0 >/dev/null
weir source charge 10.1.0.9 limit kept packets 3 >/dev/null
"$file" replace "$tmp/state" "$tmp/bad" 2 'per 24,48' 'per 25,48'
weir -force restore "$tmp/bad" >"$tmp/out" 2>&1
is "$? $(weir -j source get 10.1.0.9 limit kept | json count)" "2 3" "with -force, what was in force still is, with its counts"
like "$(tail -n 1 "$tmp/out")" "^weir: restore: the state in $tmp/bad was not restored\$" "... which is said"
"$file" replace "$tmp/state" "$tmp/bad" 2 'budget 20/30m slots 5 from 10.1.' 'budget 20/10ms slots 10 from 10.1.'
weir -force restore "$tmp/bad" >"$tmp/out" 2>&1
is "$? $(weir -j source get 10.1.0.9 limit kept | json count)" "2 3" "... likewise if the module would refuse the configuration"
like "$(<"$tmp/out")" "^weir: $tmp/bad:3:33: limit add: slots: slots would be shorter than a clock tick" "... with the reason"

# Senders that go on while the module is loaded anew: in no window more than the budget. The five
# have used it up when the state is saved, and get nothing more before it is restored.
weir -file - <<<'limit add across budget 20/8s slots 4 from 10.20.0.0/16' 2>/dev/null
trace_start weir_charge weir_uncharge
flooding -A 2000,100 -s 10.20.0.1 -n 5 -r 400 -t 15000
used_up() { [ "$(weir -j source show limited | grep -o '"source"' | wc -l)" = 5 ]; }
wait_for 60 used_up || bail "the senders do not use up their budgets"
weir save -state "$tmp/across"
trace_stop
mv "$tmp/trace" "$tmp/trace.before"
anew
trace_start weir_charge weir_uncharge
holds "restore while packets arrive" restore "$tmp/across"
flooded
trace_stop
cat "$tmp/trace" >>"$tmp/trace.before" && mv "$tmp/trace.before" "$tmp/trace"
wheel 8000 4
line=$(traced -l across -T "$window" -L 20)
ok $? "no window has more than the budget" || diag "$line"
is "$(value sources "$line") $(value max "$line")" "5 20" "... of each source"
holds "... which got another one after its window" [ "$(value charges "$line")" -gt 150 ] || diag "$line"

# Newcomers, none of whom comes twice: in no window more than their budget
weir -file - <<<'limit add fresh budget 20/8s newcomers 20/8s known none from 10.22.0.0/15' 2>/dev/null
trace_start weir_charge weir_uncharge
flooding -s 10.22.0.1 -n 100000 -r 400 -t 60000
all_used() { [ "$(stat_of fresh newcomers_now)" = 20 ]; }
admitted() { [ "$(stat_of fresh newcomers_admitted.packets)" -ge 20 ]; }
wait_for 60 all_used || bail "newcomers do not use up their budget"
weir save -state "$tmp/fresh"
trace_stop
mv "$tmp/trace" "$tmp/trace.before"
anew
trace_start weir_charge weir_uncharge
holds "restore while newcomers arrive" restore "$tmp/fresh"
holds "... who get another one" wait_for 40 admitted
quiet
trace_stop
cat "$tmp/trace" >>"$tmp/trace.before" && mv "$tmp/trace.before" "$tmp/trace"
# as the newcomers' slots are
wheel 8000 15
line=$(traced -p 0,0 -l fresh -T "$window" -L 20)
ok $? "no window has more than the budget of all newcomers" || diag "$line"
holds "... and they used it up" [ "$(value max "$line")" -ge 18 ] || diag "$line"

# Floors: a table that is too small; who has no place may not send more than before.
weir -file - <<<'limit add small budget 20/30m sources 64 per 32,64 from 10.21.0.0/16' 2>/dev/null
for i in 1 2 3; do flood -s 10.21.0.1 -n 600 -c 6000; done
floors() {
	local i
	for ((i = 1; i < 40; i++)); do weir source get "10.21.9.$i" | grep -o 'count.*left [0-9]*'; done
}
floors >"$tmp/floors"
holds "strangers are held to floors" grep -q 'left [0-9]$' "$tmp/floors"
weir save -state "$tmp/state.small"
anew
weir limit add there budget 5/h to ::/0 >/dev/null
holds "restore of a full table, under another key" restore "$tmp/state.small" -force -j
is "$(floors | cksum)" "$(cksum <"$tmp/floors")" "... strangers are held to the same floors" || diag "$(floors | diff - "$tmp/floors")" "$(<"$tmp/out")"

# -resume: only where nothing is in force, and then the file counts
echo 'limit add small budget 20/30m sources 64 per 32,64 from 10.21.0.0/16' >"$tmp/file"
weir source block 10.21.0.3 limit small for 1h >/dev/null
weir limit add hand budget 5/h to ::/0 2>/dev/null >&2
weir source block 2001:db8::5 limit hand for 1h >/dev/null
weir save -state "$tmp/hand"
anew
weir -file "$tmp/file" -resume "$tmp/hand" 2>"$tmp/err"
is "$? $(weir limit show | grep -o '^[a-z]*' | paste -sd ' ')" "0 small" "-resume, and then the file" || diag "$(<"$tmp/err")"
like "$(<"$tmp/err")" "the counts of limit 'hand' go with 1 block, as the file does not have it" "... says which blocks that ends"
is "$(floors | cksum) $(weir -brief source show blocked | grep -c 10.21.0.3)" "$(cksum <"$tmp/floors") 1" "... with counts and blocks"
weir source release 10.21.0.3 >/dev/null
is "$(weir -q -file "$tmp/file" -resume "$tmp/hand" 2>&1; weir -brief source show blocked)" "" "... but not where something is in force"
weir -file - <<<'# none'
echo 'limit add small budget 20/10x' >"$tmp/invalid"
weir -file "$tmp/invalid" -resume "$tmp/hand" 2>"$tmp/err"
is "$? $(weir limit show | grep -o '^[a-z]*' | paste -sd ' ')" "1 small hand" "a file that is not valid leaves what was restored"
weir -file - <<<'# none'
echo 'limit add later budget 7/h sources 64' >"$tmp/last"
weir -q -file "$tmp/invalid" -fallback "$tmp/last" -resume "$tmp/hand" 2>"$tmp/err"
is "$? $(weir limit show | grep -o '^[a-z]*')" "1 later" "... but what was applied last, which may be newer" || diag "$(<"$tmp/err")"
weir -file - <<<'# none'
weir -file "$tmp/invalid" -fallback "$tmp/invalid" -resume "$tmp/hand" 2>"$tmp/err"
is "$? $(weir limit show | grep -o '^[a-z]*' | paste -sd ' ')" "1 small hand" "... if that can be applied"
like "$(<"$tmp/err")" "that of the saved state is in force" "... which is said"
weir -file - <<<'# none'
cp -p "$tmp/bad" "$tmp/broken"
weir -q -file "$tmp/file" -resume "$tmp/broken" 2>"$tmp/err"
is "$? $(weir limit show | grep -o '^[a-z]*')" "0 small" "a state that cannot be restored: the file is applied"
like "$(tail -n 1 "$tmp/err")" "^weir: warning: the state in $tmp/broken was not restored: all counts begin anew; the file is kept as $tmp/broken.bad\$" "... and the state set aside"
holds "... under another name" [ ! -e "$tmp/broken" -a -e "$tmp/broken.bad" ]
weir -file - <<<'# none'
is "$(weir -q -file "$tmp/file" -resume "$tmp/broken" 2>&1; echo $?)" 0 "no state: nothing is said"

# A change meanwhile waits, and is not undone.
weir -file - <<<'# none'
merging() { [ -e "$tmp/calls" ] && [ "$(grep -c weir "$tmp/calls")" -ge 10 ]; }
strace -qq -o "$tmp/calls" -e trace=sendto -e inject=sendto:delay_exit=150000:when=8+ "$top/userspace/weir" restore "$tmp/state" >"$tmp/out" 2>&1 &
restoring=$!
holds "a restore that takes some time" wait_for 60 merging || diag "$(<"$tmp/out")"
is "$(weir limit show)" "" "... puts nothing in force before its end"
weir exempt add 10.99.0.1
is "$? $(weir exempt show | grep -c 10.99.0.1) $(weir save | grep -c 'limit add')" "0 1 17" "... an exemption that is added meanwhile stays"
wait "$restoring"

# An upgrade that begins meanwhile ends the restore; what was in force has none of its counts.
weir -file - <<<'# none'
weir limit add strict budget 6/1h to ff00::/8 >"$tmp/out"
rm "$tmp/calls"
strace -qq -o "$tmp/calls" -e trace=sendto -e inject=sendto:delay_exit=150000:when=8+ "$top/userspace/weir" -force restore "$tmp/state" >"$tmp/out" 2>&1 &
restoring=$!
wait_for 60 merging
echo $(($(cut -d. -f1 /proc/uptime) + 600)) >/sys/module/weir/parameters/frozen_until
let_pass 500
echo 0 >/sys/module/weir/parameters/frozen_until
wait "$restoring"
is "$? $(weir -brief source show idle)$(weir save | grep -c 'strict budget 6/')" "2 1" "a restore in which the module is frozen changes nothing" || diag "$(<"$tmp/out")"

# ... also if it comes before the restore has begun to hold: then that is refused.
weir -file - <<<'# none'
looked() { [ -e "$tmp/calls" ] && [ "$(grep -c weir "$tmp/calls")" -ge 6 ]; }
rm "$tmp/calls"
strace -qq -o "$tmp/calls" -e trace=sendto -e inject=sendto:delay_enter=3000000:when=8 "$top/userspace/weir" restore "$tmp/state" >"$tmp/out" 2>&1 &
restoring=$!
wait_for 60 looked
weir exempt add 10.99.0.1
added=$?
wait "$restoring"
is "$added $(weir save | sed 1d)" "0 exempt add 10.99.0.1" "what is added before that stays, and the restore is refused" || diag "$(<"$tmp/out")"
like "$(<"$tmp/out")" "in force; -force replaces them" "... with what would replace that"
weir -file - <<<'# none'
mkfifo "$tmp/lines"
"$top/userspace/weir" -force -batch "$tmp/lines" 2>"$tmp/out" &
batch=$!
exec 7>"$tmp/lines"
"$file" replace "$tmp/state" "$tmp/bad" 3 watched notheld
echo "restore $tmp/bad" >&7
wait_for 60 grep -q 'not restored' "$tmp/out"
holds "a restore that failed keeps nobody from changes" timeout 5 "$top/userspace/weir" exempt add 10.99.0.1
exec 7>&-
wait "$batch"

# A device that is gone; before 6.2, one that is up keeps its name
ip_rx link set rx0 down
ip_rx link set rx0 name rx1
weir -force restore "$tmp/state" 2>"$tmp/err"
is "$? $(tail -n 1 "$tmp/err")" "0 weir: warning: restore: 2 link-local sources were left out, as their device does not exist" "a device that is gone"
weir -force -j restore "$tmp/state" 2>/dev/null >"$tmp/out"
is "$(json skipped <"$tmp/out")" 2 "... in JSON, too"
ip_rx link set rx1 name rx0 up

# No room
run_to() { weir save -state "$1" >"$tmp/out" 2>&1; echo "$? $(<"$tmp/out")"; }
is "$(run_to /dev/full)" "4 weir: save: cannot write /dev/full: No space left on device" "a full device"
mkdir "$tmp/small" && mount -t tmpfs -o size=8k tmpfs "$tmp/small"
echo old >"$tmp/small/state" && chmod 644 "$tmp/small/state"
is "$(run_to "$tmp/small/state") $(<"$tmp/small/state") $(ls "$tmp/small")" "4 weir: save: cannot write $tmp/small/state: No space left on device old state" "a full disk: the old file stays, and nothing else"
umount "$tmp/small"
like "$(run_to "$tmp/nosuch/state")" "^4 weir: save: cannot write .*: No such file or directory\$" "a folder that does not exist"
cp "$tmp/other" "$tmp/open" && chmod 644 "$tmp/open" && chown 1000:1000 "$tmp/open"
weir save -state "$tmp/open"
is "$(stat -c '%a %u %g' "$tmp/open")" "600 0 0" "a file that others could read is replaced by one that they cannot"
ln -s "$tmp/open" "$tmp/link"
weir save -state "$tmp/link"
is "$(stat -c '%F' "$tmp/link") $(weir -check restore "$tmp/link" | grep -o 'limits 17')" "symbolic link limits 17" "a link stays one"
finish
