#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# exempts.t: changes of exemptions wait for expedited grace periods, so that many can be made one by
# one; consecutive ones of a batch are added in one request, with the results of as many; ends that
# follow each other closely are one change
. "$(dirname "$0")/lib.sh"
begin_with <<<'limit add web budget 1000/h to 192.0.2.0/24'
# The requests that the tool sends, and the grace periods that they wait for
untraced='this kernel traces no system calls'
if { echo 'p:ordinary synchronize_rcu' && echo 'p:expedited synchronize_rcu_expedited'; } >"$TRACING/kprobe_events" &&
	requests_start kprobes/ordinary kprobes/expedited; then
	untraced=''
else
	requests() { "$@"; }
fi 2>/dev/null
# number WANTED EVENT NAME: how many of the last request
number() {
	if [ -z "$untraced" ]; then is "$(requested "$2")" "$1" "$3"; else skip "$untraced" "$3"; fi
}
seq -f 'limit set web budget %.0f/h' 1001 1064 >"$tmp/limits"
for a in {0..255}; do printf "exempt add 10.$a.%d.0/24\n" {0..255}; done >"$tmp/exempts"
head -n 128 "$tmp/exempts" | sed 'p; s/add/del/' >"$tmp/first"
# waits ORDINARY EXPEDITED BATCH NAME: a batch waits for so many grace periods
waits() {
	requests quietly weir -batch "$3"
	number "$1" ordinary "$4: ordinary ones"
	number "$2" expedited "$4: expedited ones"
}
waits 64 0 "$tmp/limits" "grace periods of 64 changes of a limit"
waits 0 256 "$tmp/first" "grace periods of 256 changes of exemptions"
quietly weir -batch "$tmp/exempts"
is "$(weir -j stats show | json exempt_count)" 65536 "a batch of all exemptions that may exist"
like "$(weir exempt add 11.0.0.0/8 2>&1)" 'at most 65536 exemptions$' "... and one more is refused"
sed 's/exempt/block/' "$tmp/exempts" | weir -quiet -batch -
is "$(weir -j stats show | json blocked_prefix_count)" 65536 "blocked prefixes have places of their own"
like "$(weir block add 11.0.0.0/8 2>&1)" 'at most 65536 blocked prefixes$' "... and one more is refused"
weir save | sed "/^\(exempt\|block\)/s/\$/ comment $(printf %0127d 0)/" >"$tmp/full"
all() { weir -j stats show | jq -c '.[0] | [.exempt_count, .blocked_prefix_count]'; }
weir -quiet -file "$tmp/full"
is "$?:$(all)" 0:[65536,65536] "a file may have all of them, with long comments"
weir save -state "$tmp/state" && weir -force restore "$tmp/state"
is "$?:$(all)" 0:[65536,65536] "... and a saved state"
weir exempt del 10.7.7.0/24
weir exempt add 11.0.0.0/8
is "$?" 0 "one can be exempt although no more can be blocked"
weir block flush
is "$(weir -j exempt get 10.255.255.7 | json prefix)" 10.255.255.0/24 "the last of them applies"

# What a worker makes anew is paid for by the cgroup that has paid for it before
none_blocked() { [ "$(weir -j stats show | json blocked_prefix_count)" = 0 ]; }
weir exempt flush
group=/sys/fs/cgroup/payer
mkdir "$group" && echo +memory >/sys/fs/cgroup/cgroup.subtree_control || bail "no cgroup"
# pays WORD...: weir, whose memory is the group's
pays() { (echo "$BASHPID" >"$group/cgroup.procs" && weir -quiet "$@"); }
pays -batch "$tmp/exempts"
pays block add 11.0.0.0/8 for 1s
paid() { sed -n 's/^kernel //p' "$group/memory.stat"; }
before=$(paid)
holds "a block ends among 65536 exemptions" wait_for 60 none_blocked
within "$(paid)" $((before * 3 / 4)) "$before" "... and their index is still paid for"
# ... and if it has no room for that, nobody in it is ended
mkfifo "$tmp/nothing"
bash -c 'echo "$$" >"$0/cgroup.procs"; read -r <"$1"' "$group" "$tmp/nothing" &
pids+=($!)
in_it() { grep -qx "${pids[-1]}" "$group/cgroup.procs"; }
wait_for 60 in_it || bail "nobody is in the cgroup"
pays block add 11.0.0.0/8 for 3s
of_group() { sed -n "s/^$1 //p" "$group/memory.events"; }
echo $(($(<"$group/memory.current") + (2 << 20))) >"$group/memory.max"
pressed() { [ "$(of_group max)" -gt 0 ]; }
holds "a block ends where there is no room for the index" wait_for 60 pressed
is "$(of_group oom_kill):$(in_it; echo $?)" 0:0 "... which ends no process of the cgroup"
echo max >"$group/memory.max"
holds "... and ends when there is" wait_for 60 none_blocked
weir exempt flush
within "$(paid)" 0 $((before / 10)) "the index is freed"
rmdir "$group"

# A batch: requests that the tool sends, counted by the kernel. One looks up the family.
weir exempt flush
head -n 1024 "$tmp/exempts" >"$tmp/many"
# By another name: its requests are not those of the batches.
cp "$top/userspace/weir" "$tmp/listener"
"$tmp/listener" monitor >"$tmp/events" &
pids+=($!)
wait_for 60 grep -q present "$tmp/events" || bail "monitor shows nothing"
requests weir -batch "$tmp/many"
number 2 sys_sendto "1024 lines of a batch are one request"
requests weir -exist -batch "$tmp/many"
number 2 sys_sendto "... also if they all exist"
told() { [ "$(grep -c "^exempt $1" "$tmp/events")" = "$2" ]; }
holds "... and an event each" wait_for 60 told added 1024 || diag "$(grep -c . "$tmp/events")"
sed 's/add/del/' "$tmp/many" >"$tmp/gone"
requests weir -batch "$tmp/gone"
number 2 sys_sendto "1024 lines that remove them are one request"
is "$(weir -j stats show | json exempt_count)" 0 "... and none is left"
holds "... with an event each" wait_for 60 told removed 1024 || diag "$(grep -c . "$tmp/events")"
sed 's/exempt/block/' "$tmp/many" >"$tmp/blocks"
requests weir -quiet -batch "$tmp/blocks"
number 4 sys_sendto "1024 blocks are one request, and one for each of two notes"
is "$(weir -j stats show | json blocked_prefix_count)" 1024 "... and all are there"
sed 's/exempt/block/' "$tmp/gone" >"$tmp/freed"
requests weir -batch "$tmp/freed"
number 2 sys_sendto "... and one ends them"
holds "... all" none_blocked
# Their ends lie within a second, one in each 5 ms.
for n in {0..199}; do echo "block add 10.9.$n.0/24 for $((1000 + 5 * n))ms"; done >"$tmp/ends"
[ -n "$untraced" ] || echo 0 >"$requests/events/kprobes/expedited/filter" # of all tasks
requests weir -quiet -batch "$tmp/ends"
holds "200 blocks end" wait_for 60 none_blocked
if [ -z "$untraced" ]; then
	within "$(requested expedited)" 3 7 "grace periods of the batch and of all ends in a second"
else
	skip "$untraced" "grace periods of ends"
fi
if [ -z "$untraced" ]; then requests_stop; fi
# A configuration that is published again for another reason has none that have ended.
count=$(grep -c '^block-prefix removed' "$tmp/events")
weir -quiet -batch "$tmp/ends"
until none_blocked; do weir exempt add 10.8.0.1 && weir exempt del 10.8.0.1; done
ends_told() { [ "$(grep -c '^block-prefix removed' "$tmp/events")" = $((count + 200)) ]; }
holds "each end is told, also while exemptions change" wait_for 60 ends_told
quiet

# said FILE: status and messages of a batch from stdin
said() {
	weir "${@:2}" -batch - <"$1" 2>"$tmp/err"
	echo "$? $(<"$tmp/err")"
}
exempts() { weir -j stats show | json exempt_count; }
# middle NAME LINE PATTERN: a batch of 40, of which the 20th fails. The messages are
# those of a batch that has only that one.
middle() {
	local alone
	{
		seq -f 'exempt add 10.1.%.0f.0/24' 19
		echo "$2"
		seq -f 'exempt add 10.1.%.0f.0/24' 21 40
	} >"$tmp/middle"
	{
		yes '' | head -n 19
		echo "$2"
	} >"$tmp/alone"
	weir exempt flush
	said "$tmp/middle" >"$tmp/said"
	is "$(exempts) $(weir exempt show | tail -n 1)" "19 10.1.19.0/24" "$1: the lines before it are done, none after it"
	alone=$(said "$tmp/alone")
	is "$(<"$tmp/said")" "$alone" "... the messages are those of one line"
	like "$alone" "^$3" "... as they should be"
	weir exempt flush
	is "$(said "$tmp/middle" -force | sed 's/(-exist -force)/(-exist)/')" "$alone" "... also with -force"
	is "$(exempts)" 39 "... which does all others"
}
middle "a duplicate" 'exempt add 10.1.3.0/24' '2 weir: -:20: exempt add: PREFIX 10.1.3.0/24: already exempt; replace it to prolong it [(]-exist[)]$'
middle "an unknown limit" 'exempt add 10.2.0.0/16 limit none' "2 weir: -:20: exempt add: limit 'none': no limit of that name"
middle "host bits" 'exempt add 10.2.0.1/16' '1 weir: -:20:12: exempt add: .*10.2.0.1/16'
middle "another command" 'limit del none' "2 weir: -:20: limit del: NAME 'none': no limit of that name"
middle "a quotation mark" 'exempt add 10.2.0.0/16 comment "' '1 weir: -:20:'
weir exempt flush
weir exempt add 10.1.7.0/24 comment seven for 1h
weir exempt add 10.1.8.0/24 comment eight for 1h
{
	seq -f 'exempt add 10.1.%.0f.0/24 comment many' 7
	echo 'exempt add 10.1.8.0/24 for 1d'
	seq -f 'exempt add 10.1.%.0f.0/24 comment many' 9 40
} >"$tmp/middle"
is "$(said "$tmp/middle" -exist) $(exempts) $(weir exempt show | grep -c many)" "0  40 39" "-exist: one that exists is no failure, and gets the comment"
like "$(weir exempt show | sed -n 7,8p | xargs -d '\n')" '^10.1.7.0/24 comment "many" 10.1.8.0/24 comment "eight" for (1d|24h|23h59m[0-9]*s?|863[0-9][0-9]s)$' "... and the end, and keeps a comment if none is given"
is "$(said "$tmp/middle" -exist) $(exempts)" "0  40" "... nor are all a failure"
is "$(printf 'exempt add 10.5.0.0/16%s\n' '' '' ' for 1h' | weir -exist -force -b - 2>&1; weir exempt get 10.5.0.1)" "10.5.0.0/16 for 1h" "... nor one that the batch itself has added" || weir exempt get 10.5.0.1 | diag
weir exempt del 10.5.0.0/16
# removed NAME WORDS: the 20th of 40 lines cannot be removed
removed() {
	{
		seq -f 'exempt del 10.1.%.0f.0/24' 19
		echo "$2"
		seq -f 'exempt del 10.1.%.0f.0/24' 21 40
	} >"$tmp/gone"
	is "$(said "$tmp/gone") $(exempts)" "2 weir: -:20: exempt del: PREFIX $1: no such exemption 21" "$3: the lines before it are done"
	weir -exist -batch "$tmp/middle"
}
removed 10.2.0.0/16 'exempt del 10.2.0.0/16' "an exemption that does not exist"
removed 10.1.3.0/24 'exempt delete 10.1.3.0/24' "one that is removed already"
is "$(said "$tmp/gone" -exist) $(exempts)" "0  1" "with -exist that is no failure"

weir exempt flush
printf 'exempt add %s\n' 10.1.0.0/16 0.0.0.0/0 10.2.0.0/16 '10.3.0.0/16 dev nosuch' >"$tmp/notes"
is "$(said "$tmp/notes" | sed 's/ source:.*//')" "0 weir: warning: -:2: 0.0.0.0/0 is every IPv4
weir: warning: -:4: device 'nosuch' does not exist (yet)" "warnings name their lines"

weir exempt flush
cat >"$tmp/order" <<-'BATCH'
	exempt add 10.1.0.0/16
	limit add other budget 1000/h to ::/0
	exempt add 10.2.0.0/16
	exempt add 10.3.0.0/16 limit other
	exempt show
	exempt del 10.2.0.0/16
	exempt add 10.4.0.0/16
	limit del other
	exempt add 10.2.0.0/16 comment again
	exempt show
BATCH
is "$(weir -batch "$tmp/order" | grep '^10' | paste -sd,)" \
	'10.1.0.0/16,10.2.0.0/16,10.3.0.0/16 limit other,10.1.0.0/16,10.2.0.0/16 comment "again",10.4.0.0/16' \
	"other commands see all lines before them, and none after"

# A writer that pauses, at the end of a line and within one.
weir exempt flush
mkfifo "$tmp/pipe"
weir -batch "$tmp/pipe" &
pids+=($!)
exec {writer}>"$tmp/pipe"
there() { [ "$(exempts)" = "$1" ]; }
echo 'exempt add 10.1.0.0/16' >&"$writer"
holds "a line of a pipe is done when its writer pauses" wait_for 60 there 1
printf 'exempt add 10.2.0.0/16\nexempt add 10.3' >&"$writer"
holds "... also in the next line" wait_for 60 there 2
echo '.0.0/16' >&"$writer"
exec {writer}>&-
wait "${pids[@]}"
is "$? $(weir exempt show | paste -sd,)" "0 10.1.0.0/16,10.2.0.0/16,10.3.0.0/16" "... which is done when it is complete"
pids=()

allow_users
# In a user namespace a message is at most as large as the host's limit.
printf -v long %127s ''
{
	sed "s/\$/ comment '${long// /x}'/" "$tmp/many"
	echo 'stats show'
} >"$tmp/long"
room=$(sysctl -n net.core.wmem_max)
sysctl -qw net.core.wmem_max=8192
is "$(unshare --user --map-root-user --net "$top/userspace/weir" -batch "$tmp/long" 2>&1 | grep -o "exempts [0-9]*")" \
	"exempts 1024" "a batch may be larger than a message"
sysctl -qw "net.core.wmem_max=$room"

# Refusals cached in the old configuration are counted for their source.
weir exempt flush
flood -s 198.51.100.1 -c 3000
weir exempt add 203.0.113.0/24
flood -s 198.51.100.1 -c 100
weir exempt del 203.0.113.0/24
is "$(weir -j source get 198.51.100.1 | json dropped_packets)" "$(stat_of web dropped.packets)" "no refusal is lost"
weir exempt add 203.0.113.0/24
weir limit del web
weir exempt add 203.0.114.0/24
holds "the module unloads right after a change" unload
finish
