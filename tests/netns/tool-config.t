#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tool-config.t: save, -file, -batch: a saved configuration is restored exactly;
# -file applies all of a file or nothing
. "$(dirname "$0")/lib.sh"
need_tool
load || bail "cannot load"

# file NAME STATUS PATTERN: run -file on stdin; expect STATUS and PATTERN on stderr
file() {
	local name=$1 must=$2 pattern=$3 status
	cat >"$tmp/conf"
	weir -file "$tmp/conf" >"$tmp/out" 2>"$tmp/err"
	status=$?
	like "$status $(<"$tmp/err")" "^$must $pattern" "$name"
}

weir save >"$tmp/empty"
is "$(<"$tmp/empty")" '#!/usr/sbin/weir -file' "an empty configuration is saved as a comment"

file "a whole configuration is applied" 0 "weir: warning: $tmp/conf:3: limit 'every': nothing is limited on the loopback device" <<-'CONF'
	#!/usr/sbin/weir -file
	# in the order of the lines, except before
	limit add every budget 123457/90s bytes not from 10.0.0.0/8 not mark 0x10/0xf0 dev lo
	limit add web budget 1000/s to 192.0.2.0/24 proto tcp dport 443 sources 64 comment "public web, ticket 123"
	limit add odd budget 100/h comment " # \"it's\" \\ é🚀 \\" to ff00::/8 dev '#x' sources 64
	limit add first budget 7M/s per 24,56 to ff00::/8 not syn proto tcp lenient slots 3 before every
	limit add frag budget 100/250ms frag family ipv6 action observe per 0 to ff00::/8 sources 100k
	exempt add 192.0.2.1 comment '\'
	exempt add 2001:db8::/32 dev lo comment "\"'#"
	exempt add 10.0.0.0/8 limit web
	exempt add 10.0.0.0/8 dev lo limit web comment "monitoring"
	exempt add 10.0.0.0/8 dev '"y\'
	exempt add 10.0.0.0/8 dev "'z"
	exempt add 10.0.0.0/8
CONF
is "$(weir -j limit show | jq -r '[.[].limit] | join(" ")')" "first every web odd frag" "... in order"
is "$(weir -j limit show | jq -r '.[] | .comment // "-"' | paste -sd,)" "-,-,public web, ticket 123, # \"it's\" \\ é🚀 \\,-" \
	"... with its comments unchanged"
weir save >"$tmp/one"
weir -file "$tmp/one" 2>"$tmp/err"
is $? 0 "the saved configuration is applied" || diag "$(<"$tmp/err")"
weir save - >"$tmp/two"
holds "save, restore, save: identical output" cmp "$tmp/one" "$tmp/two"
is "$(grep -c '^exempt add' "$tmp/one")" 7 "save writes all exemptions"
like "$(<"$tmp/one")" ' comment " # \\"it.s\\" \\\\ é🚀 \\\\"'$'\n' "... comments in quotes"
grep '^exempt add' "$tmp/one" | sed 's/exempt add //' >"$tmp/order"
is "$(paste -sd, "$tmp/order")" \
	"10.0.0.0/8,10.0.0.0/8 limit web,10.0.0.0/8 dev \"\\\"y\\\\\",10.0.0.0/8 dev \"'z\",10.0.0.0/8 dev lo limit web comment \"monitoring\",192.0.2.1 comment \"\\\\\",2001:db8::/32 dev lo comment \"\\\"'#\"" "... the exemptions sorted"
holds "a saved configuration passes -check" quietly weir -check -file "$tmp/one"
ip netns add weir-copy && spaces+=(weir-copy)
weir -n weir-copy -file - <"$tmp/one" 2>/dev/null
is "$(weir -n weir-copy save | cksum)" "$(cksum <"$tmp/one")" "... and is restored in another namespace"

# save FILE
is "$(weir save "$tmp/saved" 2>&1; echo $?) $(cksum <"$tmp/saved")" "0 $(cksum <"$tmp/one")" "save FILE is silent, and writes the same"
weir -j save | weir -n weir-copy -file - 2>"$tmp/err"
is "$? $(grep -o 'this is JSON.*' "$tmp/err")" "1 this is JSON, which -json prints; a file has commands, as 'weir save' writes them" "JSON is no file"

# What other files have would be lost without a word: a file that uses them is not overwritten.
for line in "include '$tmp/none.d/*.conf'" quiet '# the last'; do
	case $line in i*) has='includes others' ;; q*) has="has 'quiet'" ;; *) has='has a comment' ;; esac
	printf '#!weir\nexempt add 192.0.2.9 \\\n  comment "include x # y"\n\n%s\n' "$line" >"$tmp/uses"
	cp "$tmp/uses" "$tmp/used"
	said=$(weir save "$tmp/uses" 2>&1)
	is "$? $said" "1 weir: save: $tmp/uses $has on line 5, which a saved file does not have: save to another file, or overwrite it with -force" \
		"save does not overwrite a file with: $line"
	like "$(weir -j save "$tmp/uses" 2>&1)" 'uses is not JSON' "... nor with JSON"
	holds "... which stays as it was" cmp "$tmp/uses" "$tmp/used"
	weir -force save "$tmp/uses"
	is "$? $(cksum <"$tmp/uses")" "0 $(cksum <"$tmp/one")" "... unless with -force"
done
printf 'exempt add 192.0.2.9  # a router\n' >"$tmp/uses"
like "$(weir save "$tmp/uses" 2>&1)" 'has a comment on line 1,' "... nor one with a comment behind words"
printf '#!/include x\nexempt add 192.0.2.9\n\0\n' >"$tmp/uses"
like "$(weir save "$tmp/uses" 2>&1)" 'has an error on line 3,' "... nor one that is no text"
{ cat "$tmp/one" && head -c 68000000 /dev/zero | tr '\0' '\n'; } >"$tmp/uses"
like "$(weir save "$tmp/uses" 2>&1)" 'uses: larger than 64 MiB: save to another file' "... nor one that is too large"
printf '#!/include x\nexempt add 192.0.2.9\nlimit no\n' >"$tmp/uses"
weir save "$tmp/uses"
is "$? $(cksum <"$tmp/uses")" "0 $(cksum <"$tmp/one")" "a file without such lines is overwritten"

weir limit add rack budget 5/1s to ff00::/8 comment "rack #12" >"$tmp/out"
for words in -j '-p -j'; do
	# shellcheck disable=SC2086 # options
	is "$(weir $words save "$tmp/json" 2>&1 && weir $words save "$tmp/json" 2>&1; echo $?)" 0 "weir $words save FILE overwrites JSON"
	rm -f "$tmp/json"
done
weir limit del rack

# the order is saved, however it was set
weir limit set frag before web >"$tmp/out"
weir save >"$tmp/one"
weir -file "$tmp/one" 2>/dev/null
is "$(weir save | cksum)" "$(cksum <"$tmp/one")" "the order of set before is saved"

# deleting a limit deletes exemptions from it
weir exempt add 203.0.113.0/24 limit frag
weir limit del frag
is "$(weir exempt show | grep -c 'limit frag')" 0 "deleting a limit deletes the exemptions from it"
is "$(weir save | grep -c '^exempt add')" 7 "... and no others"
weir -file "$tmp/one" 2>/dev/null

# counts of limits that stay
weir source charge 198.51.100.1 limit web packets 10 >"$tmp/out"
weir -file "$tmp/one" 2>/dev/null
is "$(weir -j source get 198.51.100.1 limit web | json count)" 10 "a limit that stays keeps its counts"
# kept: all that a comment must not change: counts, order, memory, words
kept() { weir -j source get 198.51.100.1 limit odd | json count && weir -j -s limit show | jq -c '[.[].limit], (.[] | select(.limit == "odd") | del(.comment))'; }
weir source charge 198.51.100.1 limit odd packets 10 >"$tmp/out"
was=$(kept)
like "$was" '^10'$'\n''.*"sources_now":1' "a limit with a comment counts"
weir limit set odd comment 'another # "one"' >"$tmp/out" 2>&1
like "$(<"$tmp/out")" '^odd budget 100/h .* comment "another # \\"one\\""'$'\n' "set changes the comment, and shows it"
is "$(kept)" "$was" "... and nothing else"
sed 's/it.s/a third/' "$tmp/one" >"$tmp/two"
weir -file "$tmp/two" 2>/dev/null
is "$(weir -j limit show odd | jq -r '.[0].comment') $(kept)" " # \"a third\" \\ é🚀 \\ $was" "... so does a file"
weir limit set odd budget 100/h >"$tmp/out" 2>&1
is "$(weir -j limit show odd | jq -r '.[0].comment')" " # \"a third\" \\ é🚀 \\" "other changes keep the comment"
weir limit set odd comment "" >"$tmp/out" 2>&1
is "$(weir -j limit show odd | jq '.[0] | has("comment")') $(kept)" "false $was" "an empty comment removes it"
like "$(weir -exist limit add web budget 1000/s to 192.0.2.0/24 proto tcp dport 443 sources 64 comment x 2>&1)" \
	"limit 'web' exists and differs in comment; nothing was changed" "-exist compares the comment if one is given"
like "$(weir exempt add 10.0.0.0/8 limit web comment new 2>&1)" 'already exempt; replace it to prolong' "an exemption exists regardless of its comment"
weir -exist exempt add 10.0.0.0/8 limit web comment new
is "$? $(weir exempt show | grep -c new)" "0 1" "... and gets it with -exist"
weir -file "$tmp/one" 2>/dev/null

# limits that the file does not have, or has with other sources
quietly weir -file "$tmp/one"
limits=$(weir -j limit show | jq length)
sed '/^limit add odd /d' "$tmp/one" >"$tmp/two"
gone="the counts of limit 'odd', of 1 source, go, as the file does not have it"
is "$(weir -check -file "$tmp/two" 2>&1 | grep -o 'the counts of.*') $(weir -j limit show | jq length)" "$gone $limits" "-check says which limit the file deletes"
is "$(weir -file "$tmp/two" 2>&1 | grep -o 'the counts of.*') $(weir -j limit show | jq length)" "$gone $((limits - 1))" "... and so does applying it"
is "$({ weir -file "$tmp/one"; weir -quiet -file "$tmp/two"; weir -quiet -file "$tmp/one"; } 2>&1 | grep -o 'the counts of.*')" "" "... but not of one that is new, nor with -quiet"
sed '/^limit add odd /s/$/ per 24,64/' "$tmp/one" >"$tmp/two"
is "$(weir -check -file "$tmp/two" 2>&1 | grep -o 'the counts of.*')" "the counts of limit 'odd' go, as the file has it with another 'per'" "... and of one with other sources"

# budgets of limits that stay
quietly weir limit add mail budget 5/s budget 20/1m budget 40/1h dport 25 tcp before web
weir save >"$tmp/three"
sed 's/^limit add mail .*/limit add mail budget 5\/s dport 25 tcp/' "$tmp/three" >"$tmp/single"
line=$(grep -n '^limit add mail' "$tmp/single" | cut -d : -f 1)
loses="weir: note: $tmp/single:$line: limit 'mail' loses its budget 20/m packets
weir: note: $tmp/single:$line: limit 'mail' loses its budget 40/h packets"
is "$(weir -check -file "$tmp/single" 2>&1 | grep mail)" "$loses" "-check says which budgets a limit of a file loses"
is "$(weir -file "$tmp/single" 2>&1 | grep mail)" "$loses" "... and so does applying it"
is "$(weir -file "$tmp/single" 2>&1 | grep mail)" "" "... once"
quietly weir limit del mail

# what else the file does not have
{
	grep '^limit add' "$tmp/one"
	echo 'exempt add 10.9.0.0/16 limit odd'
	printf 'exempt add 10.8.%d.0/24\n' {1..50}
	printf 'block add 10.7.%d.0/24\n' {1..3}
	printf 'prefix-list add l%d 10.0.0.0/8\n' 1 2
} >"$tmp/many"
quietly weir -file "$tmp/many"
lost() { weir "$@" 2>&1 >/dev/null | sed -n "s,^weir: [a-z]*: $tmp/two: \\(.* as the file does not have \\(it\\|them\\)\\)\$,\\1,p"; }
sed '/^limit add odd /d; /^exempt\|^block\|^prefix-list/d' "$tmp/many" >"$tmp/two"
ends="51 exemptions go, as the file does not have them
3 blocked prefixes go, as the file does not have them"
gone="${gone/, of 1 source,}
$ends
2 lists go, as the file does not have them"
is "$(lost -check -file "$tmp/two")" "$gone" "-check says how many exemptions, blocks and lists the file lacks"
is "$(weir diff "$tmp/two" 2>&1 >/dev/null | grep -o 'exemption.*')" "exemption of 10.9.0.0/16 limit odd goes, as the file does not have it" \
	"... and diff, which exemption goes with its limit"
is "$(lost -file "$tmp/two")" "$gone" "... and so does applying it"
quietly weir -file "$tmp/many"
is "$(lost -quiet -file "$tmp/two")" "$ends" "... of exemptions and blocks also with -quiet, as a warning"
# One rule: what was made by hand goes as well, also a limit with blocked sources, and nothing is refused
quietly weir -file "$tmp/two"
quietly weir limit add hand budget 5/s from 198.51.100.0/24
quietly weir source block 198.51.100.7 limit hand for 1h
quietly weir source block 198.51.100.8 limit hand for 1h
quietly weir source block 203.0.113.0/24 for 1h
quietly weir exempt add 203.0.113.7
weir -quiet -file "$tmp/two" 2>"$tmp/err"
is "$? $(sed "s,$tmp/two: \?,," "$tmp/err")" "0 weir: warning: the counts of limit 'hand' go with 2 blocks, as the file does not have it
weir: warning: the exemption of 203.0.113.7 goes, as the file does not have it
weir: warning: the block of 203.0.113.0/24 goes, as the file does not have it
weir: warning: 2: limit 'every': nothing is limited on the loopback device" "what was made by hand goes, and the file says how much"
quietly weir -file "$tmp/many"
sed '/^block add 10.7.1/d' "$tmp/many" >"$tmp/two"
is "$(lost -file "$tmp/two")" "the block of 10.7.1.0/24 goes, as the file does not have it" "... and of which if it is one"
weir -file "$tmp/one" 2>/dev/null

# all or nothing
weir save >"$tmp/before"
file "a syntax error: its line" 1 "weir: $tmp/conf:3:[0-9]+: limit add: budget: '5' has no time" <<-'CONF'
	limit add a budget 1/s
	limit add b budget 1/s
	limit add c budget 5
CONF
file "a refusal by the kernel: its line" 2 "weir: $tmp/conf:4:29: limit add: slots: slots would be shorter than a clock tick" <<-'CONF'
	# one
	limit add a budget 100/s to ff00::/8
	exempt add 10.0.0.0/8
	limit add b budget 100/10ms slots 10 to ff00::/8
	limit add c budget 100/s to ff00::/8
CONF
is "$(tail -n 2 "$tmp/err")" '  limit add b budget 100/10ms slots 10 to ff00::/8
                              ^~~~~' "... and the word"
cat <"$tmp/conf" | weir -file - 2>"$tmp/piped"
is "$? $(<"$tmp/piped")" "2 $(sed "s|$tmp/conf|-|" "$tmp/err")" "... also through a pipe"
{
	echo 'limit add a budget 100/s to ff00::/8'
	seq -f 'limit add l%.0f budget 1G/s bytes slots 64 sources 16M to ff00::/8' 9
} >"$tmp/memory"
file "more memory than the machine has" 2 \
	"weir: $tmp/conf:2:41: limit add: sources: not enough memory for the table; try a smaller one \(requires [1-9][0-9]{9,} bytes, [1-9][0-9]{3,} MiB\)"$'\n' <"$tmp/memory"
{
	seq -f '# comment %.0f' 99998
	echo 'limit add a budget 100/s to ff00::/8'
	echo 'limit add a budget 100/s to ff00::/8'
} >"$tmp/long"
file "an error in line 100,000" 1 "weir: $tmp/conf:100000:11: limit add: limit 'a' was already defined on line 99999" <"$tmp/long"
is "$(weir save | cksum)" "$(cksum <"$tmp/before")" "none of these changed anything"
head -n 99999 "$tmp/long" >"$tmp/100k"
file "a file of 100,000 lines is applied" 0 "weir: note: $tmp/conf: the counts of limit 'first' \(and of [0-9]+ more\) go, as the file does not have it"$'\n'".* 7 exemptions go, as the file does not have them\$" <"$tmp/100k"
is "$(weir -j limit show | jq -r '[.[].limit] | join(" ")')" a "... completely"

# the kernel's warnings: limit, line, number of repeats
{
	echo 'limit add large budget 1000/s to ff00::/8'
	seq -f 'limit add small%.0f budget 5/s to ff00::/8' 3
} >"$tmp/small"
gro='up to 64 packets merged by GRO may not fit the budget: ethtool -K DEV gro off'
ip link add gro0 type dummy
weir limit flush
file "limits with a warning" 0 '' <"$tmp/small"
is "$(<"$tmp/err")" "weir: warning: $tmp/conf:2: limit 'small1': $gro
weir: warning: $tmp/conf: each of 2 more limits: $gro" "in a file: the first limit, its line, and how many more"
head -n 2 "$tmp/small" >"$tmp/one-small"
weir limit flush
file "a single limit with a warning" 0 "weir: warning: $tmp/conf:2: limit 'small1': $gro\$" <"$tmp/one-small"
weir limit flush
weir -batch "$tmp/small" >"$tmp/out" 2>"$tmp/err"
is "$(<"$tmp/err")" "weir: warning: $tmp/small:2: limit 'small1': $gro
weir: warning: $tmp/small: each of 2 more limits: $gro" "in a batch: once, with the number of others"
ip link del gro0

# the largest configuration, in one message
{
	seq -f 'limit add a-limit-with-a-long-name-%04.0f budget 123457/90s per 24,56 slots 3 sources 64 dev lo from 10.0.0.0/8 to 10.0.0.0/8 proto tcp sport 1-2 dport 3-4 syn mark 0x10/0xf0' 0 255
	for i in {0..255}; do printf "exempt add 2001:db8:0:$i::%x dev a-long-device-1 limit a-limit-with-a-long-name-0000\n" {0..255}; done
} >"$tmp/large"
weir -file "$tmp/large" 2>"$tmp/err"
is $? 0 "256 limits and 65536 exemptions" || diag "$(head -n 3 "$tmp/err")"
is "$(weir -j limit show | jq length),$(weir -j exempt show | jq length)" 256,65536 "... all exist"
weir save >"$tmp/one"
weir -file "$tmp/one" 2>/dev/null
is "$(weir save | cksum)" "$(cksum <"$tmp/one")" "... and are restored"
like "$(weir limit add more budget 1/s 2>&1)" 'a namespace has at most 256 limits' "a further limit is refused"
like "$(weir exempt add 11.0.0.0/8 2>&1)" 'a namespace has at most 65536 exemptions' "a further exemption is refused"

# the largest lists
many=$(seq -s , 1 2 29)
nets=$(seq -f '10.%.0f.0.0/16' -s , 0 15)
weir limit flush
quietly weir limit add most budget 5/1h proto udp from "$nets" dport "$many" sport "$many" to "${nets//10./172.}"
is "$(weir -j -s limit show | jq '.[0].match | [.from, .to, .dport, .sport] | map(length) | join(" ")' -r)" "16 16 15 15" \
	"two lists of 16 prefixes and two of 15 ports fit into a dump"
weir save >"$tmp/one"
weir -file "$tmp/one" 2>/dev/null
is "$(weir save | cksum)" "$(cksum <"$tmp/one")" "... and are restored"

weir -file "$tmp/empty"
is "$(weir -j limit show)$(weir -j exempt show)" '[][]' "a saved empty configuration removes everything"

# batch
cat >"$tmp/batch" <<-'BATCH'
	# a comment
	limit add a budget 100/s to ff00::/8
	limit add a budget 200/s to ff00::/8
	limit add b budget 100/s to ff00::/8
BATCH
like "$(weir -batch "$tmp/batch" 2>&1 >/dev/null; echo $?)" "^weir: $tmp/batch:3: limit add: NAME 'a': a limit of that name exists.*2$" \
	"a batch ends at a refusal"
is "$(weir -j limit show | jq -r '[.[].limit] | join(" ")')" a "... the lines before it are done"
weir limit flush
weir -force -batch "$tmp/batch" >/dev/null 2>&1
is "$?,$(weir -j limit show | jq -r '[.[].limit] | join(" ")')" "2,a b" "with -force it continues, and still fails"
like "$(weir -exist -batch "$tmp/batch" 2>&1 >/dev/null; echo $?)" \
	"^weir: $tmp/batch:3: limit add: limit 'a' exists and differs in budget; .*2$" "with -exist a limit that differs is a failure"
is "$(weir -j limit show a | json budget)" 100 "... and stays unchanged"
sed -i 3d "$tmp/batch"
weir -exist -batch "$tmp/batch" >/dev/null 2>"$tmp/err"
is "$?$(<"$tmp/err")" 0 "... one that does not differ is a success"
is "$(weir -exist -json -batch "$tmp/batch" | jq -c 'map(.limit)' | xargs)" "[a] [b]" "a batch in JSON"
is "$(weir -json -batch - <<<'limit show' | jq -c 'map(.limit)')" '["a","b"]' "... from stdin"
weir limit flush >/dev/full && weir limit show >/dev/full 2>"$tmp/err"
is $? 0 "without output a full disk is no failure"
weir limit add full budget 100/s to ff00::/8 >/dev/full 2>"$tmp/err"
is "$? $(<"$tmp/err")" "4 weir: write error: No space left on device" "a full disk has its own status"
is "$(weir -j limit show full | json limit)" full "... as the command was done"
weir limit add full budget 100/s to ff00::/8 >/dev/full 2>"$tmp/err"
is $? 2 "... but a refusal keeps its status"

# -fallback: what was applied is kept, and used where nothing is in force
last() { weir -file "$tmp/conf" -fallback "$tmp/last" >"$tmp/out" 2>"$tmp/err"; }
limits() { weir -j limit show | jq -r '[.[].limit] | join(" ")'; }
quietly weir -file /dev/null
is "$? $(limits)" "0 " "/dev/null is the empty configuration"
rm -f "$tmp/last"
echo 'limit add web budget 1/x' >"$tmp/conf"
last
is "$? $(limits)" "1 " "-fallback: an invalid file, and nothing is kept"
like "$(<"$tmp/err")" "weir: $tmp/last: cannot open: No such file or directory
weir: warning: $tmp/conf: not applied, nor was $tmp/last, which was to replace it: nothing is limited; correct the file and restart the service\$" "... which it says"
echo 'limit add web budget 10/1s to ff00::/8 dport 443 tcp' >"$tmp/conf"
last
is "$? $(limits) $(<"$tmp/err")" "0 web " "a valid file is applied"
is "$(<"$tmp/last")" "$(weir save)" "... and kept"
printf 'limit add web budget 10/1s\nlimit add web budget 10/1s\n' >"$tmp/conf"
weir exempt add 192.0.2.77
last
is "$? $(limits) $(weir -j exempt show | jq length)" "1 web 1" "an invalid one changes nothing"
is "$(grep -c fallback "$tmp/err") $(grep -c 192.0.2.77 "$tmp/last")" "0 0" "... nor what is kept"
echo '# none' | quietly weir -file -
last
is "$? $(limits) $(weir -j exempt show | jq length)" "1 web 0" "... and where nothing is in force, what was kept is applied"
like "$(<"$tmp/err")" "weir: warning: $tmp/conf: not applied: $tmp/last, the last configuration that was, is in force instead; correct the file and restart the service, or remove everything: weir -file /dev/null\$" "... which it says"
echo '# none' | quietly weir -file -
weir -check -file "$tmp/conf" -fallback "$tmp/last" 2>/dev/null
is "$? $(limits)" "1 " "-check applies neither"
echo 'limit add web budget 10/1s to ff00::/8 dport 443 tcp' >"$tmp/conf"
weir -file "$tmp/conf" -fallback /nowhere/last 2>"$tmp/err"
is "$? $(limits)" "0 web" "what cannot be kept is applied"
like "$(<"$tmp/err")" "warning: $tmp/conf: applied, but not kept for the next boot: cannot write /nowhere/last: No such file" "... with a warning"

# Without the module neither can be applied, and what was kept stays for the next boot.
echo 'limit add kept budget 5/1s to ff00::/8' >"$tmp/last"
cp "$tmp/last" "$tmp/was"
unload || bail "cannot unload"
why="the kernel module cannot be loaded; run 'modprobe weir', in a container on its host, to see why"
last
is "$? $(<"$tmp/err")" "3 weir: $tmp/conf: $why
weir: warning: $tmp/conf: not applied, nor was $tmp/last: $why" "-fallback without the module: neither is applied"
echo 'limit add web budget 1/x' >"$tmp/conf"
last
is "$? $(tail -n 1 "$tmp/err")" "1 weir: warning: $tmp/conf: not applied, nor was $tmp/last: $why" "... nor if the file has an error"
holds "... and what is kept stays" cmp "$tmp/was" "$tmp/last"
finish
