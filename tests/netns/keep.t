#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# keep.t: a change that loses blocks, or live sources, warns with their number, as a check does, in
# a file of the first limit and all others; a file says how many go with a limit that it leaves out;
# a check, or a change of other words, costs no budget; a limit that is renamed keeps all
. "$(dirname "$0")/lib.sh"
begin_with <<-WORDS
	limit add ban budget 1000/1h sources 4096 from 198.18.0.0/15
	limit add web budget 1000/1h sources 256 from 203.0.113.0/24
WORDS
exempt_from() { weir -j exempt show | jq -r 'map("\(.prefix) \(.limit)") | join(" ")'; }
# refused SENTENCE COMMAND...: by the kernel, also when it is only checked
refused() {
	local word
	for word in "" "-check "; do
		weir $word "${@:2}" >"$tmp/said" 2>&1
		is "$?:$(grep -v note: "$tmp/said")" "2:weir: $1" "refused: $word${*:2}"
	done
}
block() { for i in "$@"; do echo "source block $i limit ban for 1h"; done | weir -batch - >/dev/null; }

block 198.18.{1..5}.{1..100}
is "$(stat_of ban blocked_now)" 500 "500 sources are blocked"
within "$(weir -json limit show ban | json blocks)" 1345 2048 "limit show says how many blocks fit"
like "$(weir limit set ban action drop 2>&1)" " blocks 1[0-9]+" "... and so does the answer of set"
ends="blocks find no room and end; a larger number keeps them"
warned=$(weir -check limit set ban sources 64 2>&1 >/dev/null)
lost=${warned##*(} lost=${lost%% *}
within "$lost" 450 460 "a check says how many blocks a smaller table ends"
is "$warned" "weir: warning: limit 'ban': $ends ($lost of them)" "... as a warning"
is "$(stat_of ban blocked_now):$(stat_of ban blocks_lost)" 500:0 "... and none has ended"
for words in "sources 65536" "sources 4096" "sources 2048" "slots 3" "budget 2000/10s"; do
	quietly weir limit set ban $words || break
done
is "$words:$(stat_of ban blocked_now)" "budget 2000/10s:500" "changes that lose none are made"
weir save "$tmp/saved"
sed -i 's/sources 2048/sources 64/' "$tmp/saved"
warning="weir: warning: $tmp/saved:$(grep -n "^limit add ban" "$tmp/saved" | cut -d: -f1): limit 'ban': $ends \($lost of them\)"
like "$(weir -check -file "$tmp/saved" 2>&1)" "$warning" "... and of a file"
weir diff "$tmp/saved" >"$tmp/out" 2>"$tmp/said"
like "$? $(grep '^+limit' "$tmp/out") $(<"$tmp/said")" "1 [+]limit add ban .* sources 64 $warning" "... which diff gives, too"
sed -i '/limit add ban/d' "$tmp/saved"
quietly weir source block 203.0.113.77 limit web for ever # which stays
ends() { weir "$@" -file "$tmp/saved" 2>&1 | grep -v note; }
is "$(ends -check)" "weir: warning: $tmp/saved: the counts of limit 'ban' go with 500 blocks, as the file does not have it" "a file that leaves the limit out says how many blocks end"
sed -i 's/^limit add web/limit add ban budget 1\/1s per 24 from 198.18.0.0\/15\n&/' "$tmp/saved"
is "$(ends -check)" "weir: warning: $tmp/saved: the counts of limit 'ban' go with 500 blocks, as the file has it with another 'per'" "... also if it has other sources"
is "$(grep -v 'add web' "$tmp/saved" | weir -check -file - 2>&1 | grep 'the counts')" "weir: warning: -: the counts of limit 'web' go with 1 block, as the file does not have it
weir: warning: -: the counts of limit 'ban' go with 500 blocks, as the file has it with another 'per'" "... each with its reason"
is "$(stat_of ban blocked_now)" 500 "... and loses none"
is "$(weir limit set ban sources 64 2>&1 >/dev/null)" "$warned" "... and so does the change"
like "$(weir -check limit set ban action observe 2>&1)" "weir: warning: limit 'ban' no longer drops all packets of blocked sources \($((500 - lost))\) and prefixes \(0\), such as " "... and a check of a limit that is to observe, how many get through"
is "$(stat_of ban blocks_lost):$(stat_of ban blocked_now)" "$lost:$((500 - lost))" "... which ends as many as it said"
is "$(ends -quiet)" "weir: warning: $tmp/saved: the counts of limit 'ban' go with $((500 - lost)) blocks, as the file has it with another 'per'" "... and ends them, also quietly"
is "$(stat_of ban blocked_now):$(stat_of web blocked_now)" 0:1 "... and of no other limit"
quietly weir source release 203.0.113.77

# Live sources
few="sources with small counts, or idle, find no room; a larger number keeps them"
flood -s 203.0.113.0 -n 200 -c 200
warned=$(weir -check limit set web sources 64 2>&1 >/dev/null)
is "$(weir limit set web sources 64 2>&1 >/dev/null)" "$warned" "a check says the same as a change"
is "$warned" "weir: warning: limit 'web': $few ($((200 - $(stat_of web sources_now))) of them)" "... which is how many sources find no room"
is "$(weir -check limit del web 2>&1)" "weir: note: the counts of $(stat_of web sources_now) sources go" "limit del says how many counts go"
# In a file, what is lost comes before other warnings, the first with how many others
quietly weir limit set web sources 256
quietly weir limit add web2 budget 1000/1h sources 256 from 10.98.0.0/16
for from in 203.0.113.0 10.98.0.0; do flood -s "$from" -n 200 -c 200; done
weir save | sed -E '1,/^limit add/s/^limit add/limit add small budget 1400\/1s bytes from 10.99.0.0\/16\n&/; /add web2? /s/ sources [0-9]*/ sources 64/' >"$tmp/both"
like "$(weir -check -file "$tmp/both" 2>&1 >/dev/null)" "weir: warning: $tmp/both:[0-9]+: limit 'web' and 1 more: $few \([0-9]+ of them\)" "a file warns of what limits lose together"
for ((i = 0; i < 70; i++)); do echo "source block 10.98.0.$i limit web2 for 1h"; done | weir -batch - >/dev/null
like "$(weir -check -file "$tmp/both" 2>&1 >/dev/null)" "limit 'web' and 1 more: blocks, counts or sources are lost; each limit alone says which \([0-9]+ of them\)" "... and of several kinds"
quietly weir limit del web2

# Known ones, which do not send any more
quietly weir limit add know budget 1000/10ms sources 256 newcomers 1000/s known 1s from 10.0.0.0/8
flood -s 10.0.0.0 -n 100 -c 100
known() { flood -s 10.0.0.0 -n 100 -c 100 && [ "$(stat_of know known_now)" = 100 ]; }
holds "100 sources become known" wait_for 60 known
forgotten="weir: note: (the counts of [0-9]+ sources go, and )?100 known sources are forgotten"
like "$(weir -check limit del know 2>&1)" "^$forgotten\$" "limit del says how many known ones are forgotten"
like "$(weir -check limit flush 2>&1)" "^weir: note: the counts of [0-9]+ sources go, and 100 known sources are forgotten\$" "... and so does limit flush"
is "$(weir -check limit set know newcomers none 2>&1 >/dev/null | grep known)" "weir: note: limit 'know' forgets which sources are known (100)" "... and 'newcomers none'"
weir save | sed '/^limit add know /s/ newcomers [^ ]*//; /^limit add know /s/ known [^ ]*//' >"$tmp/none"
is "$(weir -check -file "$tmp/none" 2>&1 | grep known)" "weir: note: $tmp/none:$(grep -n 'add know' "$tmp/none" | cut -d : -f 1): limit 'know' forgets which sources are known (100)" "... and a file in which the limit has none"
weir save | sed '/^limit add know /d' >"$tmp/none"
is "$(weir -check -file "$tmp/none" 2>&1 | grep known)" "weir: note: $tmp/none: the counts of limit 'know' go, as the file does not have it, and 100 known sources are forgotten" "... and one without the limit"
weir save | sed '/^limit add know /s/ known [^ ]*/ known none/' >"$tmp/none"
is "$(weir -check -file "$tmp/none" 2>&1 | grep knows)" "weir: note: $tmp/none:$(grep -n 'add know' "$tmp/none" | cut -d : -f 1): limit 'know' keeps the 100 sources that it knows; if they belong to a flood: weir source forget all limit know" "a file with 'known none' says that they stay known"
weir save | sed '/^limit add web /s/$/ newcomers 5\/s/' >"$tmp/none"
is "$(weir -check -file "$tmp/none" 2>&1 | grep learn)" "weir: note: $tmp/none:$(grep -n 'add web' "$tmp/none" | cut -d : -f 1): limit 'web' does not learn: it knows the sources that are in its table ($(stat_of web sources_now) that count now, and idle ones), also those of a flood; 'known none' knows nobody, 'weir source forget all limit web' learns" "a file with newcomers for a limit that has sources says who is known"
weir save >"$tmp/none"
is "$(weir -check -file "$tmp/none" 2>&1 | grep -c know)" 0 "... and nothing if nothing changes"
idle() { [ "$(stat_of know sources_now)" = 0 ]; }
holds "... and are idle" wait_for 60 idle
warned=$(weir limit set know sources 64 2>&1 >/dev/null)
is "$warned" "weir: warning: limit 'know': $few ($((100 - $(stat_of know known_now))) of them)" "... of whom a smaller table keeps as many as it says"

# What CPUs have taken in advance of a budget, and not spent
quietly weir limit add whole budget 10k/1h per 0 from 198.51.100.0/24 before web
flood -s 198.51.100.1 -c 100
shared() { weir -j source get 198.51.100.1 limit whole | json count; }
is "$(shared)" 100 "a budget for all sources counts what was sent"
quietly weir -check limit set whole budget 20k/1h
is "$(shared)" 100 "... as before when a change was checked"
quietly weir limit set whole comment new
is "$(shared)" 100 "... when a change leaves the budget alone"
quietly weir limit set whole budget 20k/1h
within "$(shared)" 101 2600 "... and what was taken counts when it changes"
quietly weir limit del whole

# A new name
quietly weir limit add old budget 20/1h sources 64 from 198.51.100.0/24 before web
quietly weir exempt add 198.51.100.7 limit old
quietly weir source block 198.51.100.9 limit old for 1h
is "$(through 198.51.100.1)" 10 "a source has sent half of its budget"
command weir ${rx:+-netns "$rx"} monitor limits >"$tmp/events" &
pids+=($!)
there() { grep -q "limit present know" "$tmp/events"; }
holds "monitor listens" wait_for 60 there
refused "limit rename: NEW-NAME 'web': a limit of that name exists; choose another" limit rename old web
refused "limit rename: NEW-NAME 'old': a limit of that name exists; choose another" limit rename old old
refused "limit rename: NAME 'none': no limit of that name" limit rename none new
quietly weir -check limit rename old new
is "$?:$(weir -j limit show | jq -r 'map(.limit) | join(" ")')" "0:ban old web know" "a check renames nothing"
is "$(weir limit rename old new-and-31-characters-._:+12345 2>&1; echo $?)" "weir: note: rename it in the file that is applied later, too: one with a limit 'old' makes it anew, and deletes 'new-and-31-characters-._:+12345'
0" "a limit is renamed, which its file has to follow"
is "$(weir -j limit show | jq -r 'map(.limit) | join(" ")')" "ban new-and-31-characters-._:+12345 web know" "... and stays where it is"
quietly weir limit rename new-and-31-characters-._:+12345 new
is "$(through 198.51.100.1):$(through 198.51.100.1)" 10:0 "... keeps the counts"
is "$(through 198.51.100.9):$(through 198.51.100.7)" 0:10 "... the blocks and exemptions"
is "$(stat_of new admitted.packets):$(stat_of new dropped.packets):$(exempt_from)" "20:20:198.51.100.7 new" "... and the counters"
renamed() { grep -q "limit renamed old to new-and-31-characters-._:+12345" "$tmp/events"; }
holds "monitor tells it" wait_for 60 renamed
quiet
finish
