#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# keep.t: a change that would lose blocks, or the places of live sources, is refused with their
# number unless it is forced, and a check says the same; a check, or a change of other words,
# costs no budget; a limit that is renamed keeps all
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
lost=$(weir limit set ban sources 64 2>&1)
lost=${lost##*(} lost=${lost%% *}
within "$lost" 450 460 "the number that would be lost is told"
refused "limit set: sources: blocks would find no room and end; more sources keep them, or force it ($lost of them)" limit set ban sources 64
is "$(stat_of ban blocked_now):$(stat_of ban blocks_lost)" 500:0 "... and none is"
for words in "sources 65536" "sources 4096" "sources 2048" "slots 3" "budget 2000/10s"; do
	quietly weir limit set ban $words || break
done
is "$words:$(stat_of ban blocked_now)" "budget 2000/10s:500" "changes that lose none are made"
weir save "$tmp/saved"
sed -i 's/sources 2048/sources 64/' "$tmp/saved"
weir -file "$tmp/saved" >"$tmp/said" 2>&1
is "$?:$(tail -n 2 "$tmp/said" | head -n 1)" "2:  limit add ban budget 2000/10s slots 3 from 198.18.0.0/15 sources 64" "a file that would lose some is refused" || diag "$(<"$tmp/said")"
grep -q "would find no room and end.*: weir -force -file $tmp/saved\$" "$tmp/said"
ok $? "... with the sentence"
sed -i '/limit add ban/d' "$tmp/saved"
quietly weir source block 203.0.113.77 limit web for ever # which stays
refused "$tmp/saved: the 500 blocks of limit 'ban' would end, as the file does not have it; 'weir -force -file $tmp/saved' does it" -file "$tmp/saved"
sed -i 's/^limit add web/limit add ban budget 1\/1s per 24 from 198.18.0.0\/15\n&/' "$tmp/saved"
refused "$tmp/saved: the 500 blocks of limit 'ban' would end, as the file has it with another 'per'; 'weir -force -file $tmp/saved' does it" -file "$tmp/saved"
is "$(stat_of ban blocked_now)" 500 "... and loses none"
like "$(weir -force limit set ban sources 64 2>&1)" "weir: warning: limit 'ban' had no room for $lost blocks, which ended" "what is forced says how many blocks ended"
like "$(weir -check limit set ban action observe 2>&1)" "weir: warning: a limit that observes blocks nobody: blocked sources \($((500 - lost))\) and prefixes \(0\) get through 'ban'" "... and a check of a limit that is to observe, how many get through"
is "$(stat_of ban blocks_lost):$(stat_of ban blocked_now)" "$lost:$((500 - lost))" "what is forced loses as many as was said"
is "$(weir -force -file "$tmp/saved" 2>&1 | grep -v note)" "weir: warning: $tmp/saved: limit 'ban' has blocked $((500 - lost)) sources, which this releases" "... also with a file, which says so"
is "$(stat_of ban blocked_now):$(stat_of web blocked_now)" 0:1 "... and of no other limit"
quietly weir source release 203.0.113.77

# Live sources
flood -s 203.0.113.0 -n 200 -c 200
is "$(stat_of web sources_now)" 200 "200 sources live in a table"
refused "limit set: sources: more sources live in the table than that; give as many, or force it (200 of them)" limit set web sources 64
refused "limit set: sources: more sources live in the table than that; give as many, or force it (200 of them)" limit set web sources 199
holds "a table for as many is made" quietly weir limit set web sources 200
holds "... and another one if it is forced" quietly weir -force limit set web sources 64
# Known ones, which do not send any more
quietly weir limit add know budget 1000/10ms sources 256 newcomers 1000/s known 1s from 10.0.0.0/8
flood -s 10.0.0.0 -n 100 -c 100
known() { flood -s 10.0.0.0 -n 100 -c 100 && [ "$(stat_of know known_now)" = 100 ]; }
holds "100 sources become known" wait_for 20 known
idle() { [ "$(stat_of know sources_now)" = 0 ]; }
holds "... and are idle" wait_for 10 idle
refused "limit set: sources: more sources live in the table than that; give as many, or force it (100 of them)" limit set know sources 64

# What CPUs have taken in advance of a budget, and not spent
quietly weir limit add whole budget 10k/1h per 0 from 198.51.100.0/24 before web
flood -s 198.51.100.1 -c 100
shared() { weir -j source get 198.51.100.1 limit whole | json count; }
is "$(shared)" 100 "a budget for all sources counts what was sent"
quietly weir -check limit set whole budget 20k/1h
quietly weir limit set whole budget 20k/1h sources 1
is "$(shared)" 100 "... as before when a change was checked or refused"
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
holds "monitor listens" wait_for 10 there
refused "limit rename: NEW-NAME 'web': a limit of that name exists; choose another" limit rename old web
refused "limit rename: NEW-NAME 'old': a limit of that name exists; choose another" limit rename old old
refused "limit rename: NAME 'none': no limit of that name; limit show lists them" limit rename none new
quietly weir -check limit rename old new
is "$?:$(weir -j limit show | jq -r 'map(.limit) | join(" ")')" "0:ban old web know" "a check renames nothing"
holds "a limit is renamed" quietly weir limit rename old new-and-31-characters-._:+12345
is "$(weir -j limit show | jq -r 'map(.limit) | join(" ")')" "ban new-and-31-characters-._:+12345 web know" "... and stays where it is"
quietly weir limit rename new-and-31-characters-._:+12345 new
is "$(through 198.51.100.1):$(through 198.51.100.1)" 10:0 "... keeps the counts"
is "$(through 198.51.100.9):$(through 198.51.100.7)" 0:10 "... the blocks and exemptions"
is "$(stat_of new admitted.packets):$(stat_of new dropped.packets):$(exempt_from)" "20:20:198.51.100.7 new" "... and the counters"
renamed() { grep -q "limit renamed old to new-and-31-characters-._:+12345" "$tmp/events"; }
holds "monitor tells it" wait_for 10 renamed
quiet
finish
