#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016 # $ is the tool's
# diff.t: diff shows what differs between the saved form of the configuration in force and that which
# the file has once it is applied, from each configuration to others. DIFF_ALL=1: from each to each other
# one; DIFF_FILES=N, FUZZ_SEED=N: more random ones, or others.
. "$(dirname "$0")/lib.sh"
need_tool
load || bail "cannot load"

# apply NAME: make file NAME the configuration
apply() { weir -file "$tmp/$1" 2>"$tmp/err" || diag "$(<"$tmp/err")"; }

# differs NAME PATTERN TEST: the lines of a file that diff shows
differs() {
	weir diff "$tmp/$1" >"$tmp/out" 2>"$tmp/err"
	like "$? $(sed '1,2d' "$tmp/out" | grep '^[-+]' | paste -sd '|')" "^$2\$" "$3" || diag "$(<"$tmp/err")"
}

cat >"$tmp/none" <<<'# nothing'
cat >"$tmp/base" <<'CONF'
prefix-list add few 203.0.113.0/25,203.0.113.200,2001:db8:5::/48
prefix-list add gone 198.51.100.0/24
limit add web budget 1000/s to 192.0.2.0/24 proto tcp,udp dport 443
limit add mail budget 20/s budget 500/1m budget 10k/1d to ::/0 proto tcp dport 25
limit add bucket budget 100/s bucket burst 300 from 10.0.0.0/8,2001:db8:1::/48
limit add new budget 50/10s newcomers 10k/s flood 5k/s known 1m sources 1024 to ::/0
limit add strict budget 5/1m penalty 1h renew to ::/0 syn comment "a \"b\" \\ # $c"
limit add list budget 100/s from-list few not to-list gone
exempt add 10.0.0.1
exempt add 10.0.0.2 limit web comment "one"
exempt add 2001:db8::/32 dev eth0
block add 203.0.113.0/24 limit strict
CONF
cat >"$tmp/values" <<'CONF'
prefix-list add few 203.0.113.0/25,2001:db8:5::/48,192.0.2.9
prefix-list add other 198.51.100.0/24
limit add web budget 2000/s to 192.0.2.0/24 proto udp,tcp dport 443,80
limit add mail budget 20/s budget 600/1m budget 10k/1d to ::/0 proto tcp dport 25
limit add bucket budget 100/s bucket from 10.0.0.0/8 action observe
limit add new budget 50/10s newcomers 10k/s to ::/0
limit add strict budget 5/1m penalty 1h to ::/0 syn comment ""
limit add list budget 100/s from-list other to-list few
exempt add 10.0.0.1 comment "new"
exempt add 10.0.0.2 limit web
exempt add 2001:db8::/33 dev eth0
block add 203.0.113.0/24 limit web
CONF
cat >"$tmp/modes" <<'CONF'
limit add strict budget 500/1m lenient slots 3 to ::/0
limit add web budget 1M/1d calendar tz Europe/Berlin
limit add mail budget 20/s slots 4 budget 500/1m bytes to ::/0 proto tcp not sport 25
limit add bucket budget 10/total
limit add new budget 20/10s exact to ::/0 mark 0x10/0xf0
limit add list budget 100/s fixed from 10.0.0.0/8
CONF
cat >"$tmp/budgets" <<'CONF'
prefix-list add few 203.0.113.77
limit add list budget 100/s from-list few budget 100/s bytes budget 7/h
limit add strict budget 5/1m bytes bucket burst 3k to ::/0 frag
limit add mail budget 500/1m budget 20/s budget 1k/1d to ::/0
limit add web budget 1M/1d calendar family ipv4
limit add new budget 50/10s slots 7 newcomers 10/m known none to ::/0 icmp-type echo-request,3
limit add bucket budget 10/total bytes dev '$x'
CONF
cat >"$tmp/per" <<'CONF'
limit add mail budget 20/s budget 500/1m budget 10k/1d to ::/0 proto tcp dport 25
limit add web budget 1000/s per 24,48 to 192.0.2.0/24 proto tcp dport 443
limit add first budget 1/s
limit add last budget 1/s
exempt add 10.0.0.2 limit web comment "one"
exempt add 10.0.0.3 limit first
block add 203.0.113.0/24
CONF
{
	seq -f 'limit add l%.0f budget 1/s to ::/0 sources 64' 1 12
	for i in {0..40}; do echo "prefix-list add long 10.$i.0.0/16,2001:db8:$i::/48"; done
	echo 'prefix-list add few 203.0.113.0/24,203.0.113.0/26'
	for i in {1..99}; do echo "exempt add 10.0.0.$i"; done
} >"$tmp/order"
{
	for i in 12 3 4 1 2 20 9 7 8 30 5; do echo "limit add l$i budget 1/s to ::/0 sources 64"; done
	echo 'limit add z budget 1/s from-list long'
	for i in {20..60}; do echo "prefix-list add long 10.$i.0.0/16,2001:db8:$i::/48"; done
	for i in {50..150}; do echo "exempt add 10.0.0.$i"; done
} >"$tmp/order2"
{ seq -f 'limit add l%.0f budget 1/s to ::/0 slots 1 sources 64' 255 -1 1; } >"$tmp/most"
files=(none base values modes budgets per order order2 most)

# stays NAME: diff of a configuration in force and its file, and what save writes of it
stays() {
	apply "$1"
	weir save >"$tmp/$1.saved"
	differs "$1" '0 ' "$1: no change to itself"
	differs "$1.saved" '0 ' "... nor to what save writes of it"
}

# flat NAME: what save has written of it, each prefix of a list on a line
flat() {
	awk '/^prefix-list add / { n = split($4, prefix, ","); for (i = 1; i <= n; i++) print $1, $2, $3, prefix[i]; next } !/^#!/' "$tmp/$1.saved" |
		sed 's/ tz UTC//'
}
# leads FROM TO: with the one in force, the other differs as what is saved of both does
leads() {
	apply "$1"
	weir diff "$tmp/$2" 2>"$tmp/err" | sed '1,2d; s/^@@.*//' >"$tmp/out"
	diff -u <(flat "$1") <(flat "$2") | sed '1,2d; s/^@@.*//' >"$tmp/wanted"
	is "$(diff "$tmp/wanted" "$tmp/out")" "" "$1 to $2: $(grep -c '^[-+]' "$tmp/out") lines" || diag "$(<"$tmp/err")"
	weir save >"$tmp/now"
	cmp -s "$tmp/now" "$tmp/$1.saved" || ok 1 "$1 to $2 changes nothing"
}

for to in "${files[@]}"; do
	stays "$to"
done
count=${#files[@]} steps=2
[ -z "${DIFF_ALL:-}" ] || steps=$((count - 1))
for ((i = 0; i < count; i++)); do
	for ((step = 1; step <= steps; step++)); do
		leads "${files[i]}" "${files[(i + step) % count]}"
	done
done

count=${DIFF_FILES:-20}
python3 "$here/diff_files.py" "$tmp" "$count" "${FUZZ_SEED:-1}"
for ((to = 0; to < count; to++)); do
	stays "$to"
	[ "$to" = 0 ] || leads $((to - 1)) "$to"
done

echo 'exempt add ::1 for 1h' >"$tmp/to" && apply to
is "$(weir diff "$tmp/to" 2>&1)" "" "what has just been applied is no difference, and nothing is said of its end"
let_pass 3100
# left: for how long ::1 is exempt, in ms
left() { weir -j exempt show | json for_ms; }
differs to '0 ' "time that has passed is no difference"
like "$(<"$tmp/err")" "note: .*to:1: the exemption of ::1 keeps its end, in 59m[0-9]+s; to prolong it, delete it first" "... and a note says that it has"
was=$(left)
apply to
holds "... nor does the file prolong it" [ "$(left)" -le "$was" ]
is "$(weir -quiet -file "$tmp/to" 2>&1)" "" "... and with -quiet there is no note"
weir save "$tmp/saved" && differs saved '0 ' "nor is an end that was saved"
later=$(date -u -d '+3 hours' +%FT%TZ)
sed "s/until.*/until $later/" "$tmp/saved" >"$tmp/later"
apply saved
differs later "1 -exempt add ::1 until .*[|][+]exempt add ::1 until $later" "another one is, earlier or later"
apply later
differs saved "1 -exempt add ::1 until ${later}[|][+]exempt add ::1 until .*" "... and back"
apply saved
echo 'exempt add ::1 for 20m' >"$tmp/from"
differs from '1 -exempt add ::1 until [^|]*[|][+]exempt add ::1 until .*' "an end that is nearer than that in force is one"
like "$(<"$tmp/err")" "from:1: the exemption of ::1 ends in 20m instead of in " "... and a note says so"
apply from
within "$(left)" 1000000 1200000 "... which the file sets"
echo 'exempt add ::1 for 1h comment x' >"$tmp/to"
differs to '1 -exempt add ::1 until ([^|]*)[|][+]exempt add ::1 comment "x" until .*' "another comment is one"
is "$(grep -o 'until .*' "$tmp/out" | sort -u | wc -l)" 1 "... and does not prolong it"
apply to
within "$(left)" 1000000 1200000 "... nor does the file"
like "$(weir -j exempt show)" '"comment": *"x"' "... which changes the comment"
weir -exist exempt add ::1
like "$(weir -check -file "$tmp/from" 2>&1)" "the exemption of ::1 ends in 20m, and had no end" "an end where there was none is told"
for what in exempt block; do
	printf '%s\n' 'limit add per budget 9/s udp per 24' "$what add 2001:db8::/32 limit per for 60s" >"$tmp/per" && apply per
	sed -i 's/ per 24/ per 25/; s/60s/1h/' "$tmp/per"
	like "$(weir -check -file "$tmp/per" 2>&1)" "the ${what}[a-z]* of 2001:db8::/32 limit per keeps its end, in" "what names a limit that is made anew keeps its end, as -check says: $what"
	apply per
	within "$(weir -j $what show | json for_ms)" 1000 60000 "... and applying it does"
done
apply to
echo 'exempt add ::1 comment x' >"$tmp/to" && apply to
is "$(left)" "" "... or lasts for ever"
apply from
within "$(left)" 1000000 1200000 "... or no more"
echo 'exempt add ::1' >"$tmp/to"
weir -exist exempt add ::1 comment x
differs to '1 -exempt add ::1 comment "x"[|][+]exempt add ::1' "a comment that goes"
apply from
weir -exist exempt add ::1 for 2h
within "$(left)" 7100000 7200000 "a command prolongs it"

batched() { printf '%s\n' "$@" | weir -batch - 2>&1; echo $?; }
like "$(batched 'exempt add ::5' '-exist -force exempt add ::5 for 1h' 'exempt add ::5' '-exist exempt add ::6')" "^weir: -:3: exempt add: PREFIX ::5: already exempt; [^"$'\n'"]*"$'\n2$' "-exist and -force are for their line of a batch"
is "$(weir exempt show | grep -c '^::5 for\|^::6')" 1 "... which replaces, and the next does not"
like "$(batched '-exist exempt del ::9' '-exist limit del nosuch' 'limit del nosuch')" "^weir: -:3: limit del: .*"$'\n2$' "... also of other commands"
weir -exist exempt del ::5
is "$(printf '%s\n' 'exempt del ::5' 'limit del nosuch' | weir -exist -batch - 2>&1; echo $?)" 0 "before -batch, it is for all"

echo 'limit add a budget 100/1h to ::/0' >"$tmp/from" && apply from
echo 'limit add a budget 200/1h to ::/0' >"$tmp/to" && apply to
differs from '1 -limit add a budget 200/h slots 15 to ::/0 sources 65536[|][+]limit add a budget 100/h slots 15 to ::/0 sources 65536' "a budget, with what the module chooses"
is "$(head -n 2 "$tmp/out" | paste -sd'|')" "--- in force|+++ $tmp/from" "... with names"
for how in "weir -batch - <<<'diff $tmp/from'" "weir diff - <'$tmp/from'" "weir -check diff '$tmp/from'"; do
	is "$(eval "$how" 2>&1 | sed '1,2d')" "$(sed '1,2d' "$tmp/out")" "the same: ${how%%\'*}"
done
echo 'limit set a budget 100/1h' >"$tmp/bad"
differs bad '2 ' "what is no configuration"

# errors
echo 'limit add a budget 100/10ms slots 10 to ::/0' >"$tmp/bad"
differs bad '2 ' "what the module refuses"
like "$(<"$tmp/err")" "^weir: $tmp/bad:1:29: limit add: slots: slots would be shorter" "... is an error of its line"
is "$(wc -l <"$tmp/err")" 4 "... and said once" || diag "$(<"$tmp/err")"
seq -f 'limit add l%.0f budget 1/s to ::/0' 256 >"$tmp/bad"
sed 's/$/ sources 64/' "$tmp/bad" >"$tmp/full" && apply full
differs bad '2 ' "among 256 limits the module cannot be asked what it would choose"
like "$(<"$tmp/err")" "limit 'l1': give slots and sources" "... which is an error"
weir source block 2001:db8::1 limit l1 for ever >"$tmp/out"
weir diff "$tmp/none" >"$tmp/out" 2>"$tmp/err"
is "$? $(grep -c '^-limit' "$tmp/out")" "1 256" "a file that would end a block"
like "$(<"$tmp/err")" "warning: .*: the counts of limit 'l1' \(and of 255 more\) go with 1 block, as the file does not have it" "... is told with a warning"
# Customers with a limit of each length, and one for others
cat >"$tmp/before" <<'CONF'
prefix-list add c24 203.0.113.0/24=2000,203.0.114.0/24=2000
prefix-list add c29 198.51.100.8/29=500
prefix-list add c30 198.51.100.128/30=5
prefix-list add every 203.0.113.0/24,203.0.114.0/24,198.51.100.8/29,198.51.100.128/30
limit add c24 budget 100/s budgets-by c24 from-list c24 per 24
limit add c29 budget 100/s budgets-by c29 from-list c29 per 29
limit add c30 budget 100/s budgets-by c30 from-list c30 per 30
limit add others budget 100/s not from-list every
CONF
cat >"$tmp/after" <<'CONF'
prefix-list add c24 203.0.113.0/24=2000
prefix-list add c28 192.0.2.0/28=7
prefix-list add c29 198.51.100.8/29=500,198.51.100.16/29=500
prefix-list add every 203.0.113.0/24,198.51.100.8/29,198.51.100.16/29,192.0.2.0/28
limit add c24 budget 100/s budgets-by c24 from-list c24 per 24
limit add c28 budget 100/s budgets-by c28 from-list c28 per 28
limit add c29 budget 100/s budgets-by c29 from-list c29 per 29
limit add others budget 100/s not from-list every
CONF
apply before
sed '/^prefix-list add c29/s/,198.51.100.16.*//' "$tmp/after" >"$tmp/forgets"
differs forgets '1 .*' "a file that leaves a customer without a limit"
like "$(<"$tmp/err")" "warning: $tmp/forgets:8: limit 'others' leaves out list 'every', of which no other limit matches 1 prefix, so that nothing limits it: 198.51.100.16/29" "... warns"
sed 's/from-list c29 per 29/from-list c29/' "$tmp/before" >"$tmp/per"
differs per '1 .*' "a file with another per"
like "$(<"$tmp/err")" "note: $tmp/per: the counts of limit 'c29' go, as the file has it with another 'per'" "... says that the counts go"
apply none

echo 'early dev nosuch0' >"$tmp/bad"
differs bad '1 [+]early dev nosuch0 mode native' "a device that does not exist"
apply none
rmmod weir
differs base '1 [+]prefix-list add .*[|][+]block add 203.0.113.0/24 limit strict' "without the module nothing is in force"
like "$(<"$tmp/err")" "^weir: note: the module is not loaded: nothing is in force\$" "... which a note says"
holds "... and it is not loaded" [ ! -e /sys/module/weir ]
finish
