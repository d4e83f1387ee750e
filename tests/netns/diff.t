#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016 # $ is the tool's
# diff.t: the commands that diff prints, run as a batch, lead to exactly the configuration of the
# file, from each configuration to others; what they keep, and their words. DIFF_ALL=1: from each
# to each other one; DIFF_FILES=N, DIFF_SEED=N: more random ones, or others.
. "$(dirname "$0")/lib.sh"
need_tool
load || bail "cannot load"

# apply NAME: make file NAME the configuration
apply() { weir -force -file "$tmp/$1" 2>"$tmp/err" || diag "$(<"$tmp/err")"; }

# differs NAME PATTERN TEST: what diff prints of a file
differs() {
	weir diff "$tmp/$1" >"$tmp/out" 2>"$tmp/err"
	like "$? $(paste -sd '|' "$tmp/out")" "^$2\$" "$3" || diag "$(<"$tmp/err")"
}

cat >"$tmp/none" <<<'# nothing'
cat >"$tmp/base" <<'CONF'
define lan = { 10.0.0.0/8, 2001:db8:1::/48 }
prefix-list add few 203.0.113.0/25,203.0.113.200,2001:db8:5::/48
prefix-list add gone 198.51.100.0/24
limit add web budget 1000/s to 192.0.2.0/24 proto tcp,udp dport 443
limit add mail budget 20/s budget 500/1m budget 10k/1d to ::/0 proto tcp dport 25
limit add bucket budget 100/s bucket burst 300 from $lan
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

# leads FROM TO: the commands turn the one into the other
leads() {
	local status
	apply "$1"
	weir diff "$tmp/$2" >"$tmp/batch" 2>"$tmp/err"
	status=$?
	weir save >"$tmp/now"
	cmp -s "$tmp/now" "$tmp/$1.saved" || status="$status, and changed what it compared"
	weir -batch - <"$tmp/batch" >"$tmp/out" 2>>"$tmp/err"
	status="$status $?"
	weir save >"$tmp/now"
	is "$status $(diff "$tmp/$2.saved" "$tmp/now")" "1 0 " "$1 to $2: $(wc -l <"$tmp/batch") commands" ||
		diag "$(<"$tmp/err")" "$(<"$tmp/batch")"
}

for to in "${files[@]}"; do
	stays "$to"
	weir -j save >"$tmp/$to.json"
	differs "$to.json" '0 ' "... in JSON"
done
count=${#files[@]} steps=2
[ -z "${DIFF_ALL:-}" ] || steps=$((count - 1))
for ((i = 0; i < count; i++)); do
	for ((step = 1; step <= steps; step++)); do
		leads "${files[i]}" "${files[(i + step) % count]}"
	done
done

count=${DIFF_FILES:-20}
python3 "$here/diff_files.py" "$tmp" "$count" "${DIFF_SEED:-1}"
for ((to = 0; to < count; to++)); do
	stays "$to"
	[ "$to" = 0 ] || leads $((to - 1)) "$to"
done

# words
limits() { printf 'limit add %s to ::/0\n' "$@"; }
# changes FROM TO COMMANDS TEST: two files of one limit, or of several lines
changes() {
	echo "$1" >"$tmp/from" && echo "$2" >"$tmp/to"
	apply from
	differs to "1 $3" "$4"
}
changes 'limit add a budget 1/s to ::/0' 'limit add a budget 2/s to ::/0' 'limit set a budget 2/s' "a budget"
changes 'limit add a budget 1/s to ::/0' 'limit add a budget 1/1m to ::/0' 'limit set a budget 1/m slots 15' "... its window"
changes 'limit add a budget 1/s to ::/0' 'limit add a budget 1/s bytes to ::/0' 'limit set a budget 1/s bytes' "... its unit"
changes 'limit add a budget 1/s slots 3 to ::/0' 'limit add a budget 1/s to ::/0' 'limit set a budget 1/s slots 1[05]' "slots that are no longer given"
changes 'limit add a budget 1/s sources 64 to ::/0' 'limit add a budget 1/s to ::/0' 'limit set a sources 65536' "sources that are not"
changes 'limit add a budget 1/s to ::/0 dport 80 tcp' 'limit add a budget 1/s to ::/0 dport 80,443 tcp' 'limit set a dport 80,443' "a condition"
changes 'limit add a budget 1/s to ::/0 syn' 'limit add a budget 1/s to ::/0' 'limit set a match to ::/0' "a condition that goes"
changes 'limit add a budget 1/s syn' 'limit add a budget 1/s' 'limit set a match any' "the last condition"
changes 'limit add a budget 1/s syn' 'limit add a budget 1/s not syn' 'limit set a not syn' "a condition that is inverted"
changes 'limit add a budget 1/s penalty 1h' 'limit add a budget 1/s' 'limit set a penalty none' "no penalty"
changes 'limit add a budget 1/s newcomers 5/s flood 9/s' 'limit add a budget 1/s' 'limit set a newcomers none' "no newcomers"
weir limit set a newcomers none >"$tmp/out" 2>&1
differs from '1 limit set a newcomers 5/s flood 9/s known 10s' "... and again"
changes 'limit add a budget 1/s comment x' 'limit add a budget 1/s' 'limit set a comment ""' "no comment"
changes 'limit add a budget 1/d calendar tz UTC' 'limit add a budget 1/d calendar' 'limit del a\|limit add a .* calendar.*' "a zone that is not given"
changes "$(limits {a,b,c}' budget 1/s')" "$(limits {b,c,a}' budget 1/s')" 'limit set b before a\|limit set c before a' "a limit that gets the last"
changes "$(limits {a,b,c,d}' budget 1/s')" "$(limits {b,c,a,d}' budget 1/s')" 'limit set a before d' "as few moves as possible"
changes "$(limits {a,b}' budget 1/s')" "$(limits {a,x,b,y,z}' budget 1/s')" 'limit add x .* before b\|limit add y [^|]*\|limit add z [^|]*' "new limits"
echo 'exempt add ::1 for 1h' >"$tmp/to" && apply to
let_pass 1100
differs to '1 exempt del ::1\|exempt add ::1 for 1h' "an end is one from now on"

# what stays
echo 'limit add a budget 100/1h to ::/0' >"$tmp/from" && apply from
weir source charge 2001:db8::7 limit a packets 10 >"$tmp/out"
echo 'limit add a budget 200/1h to ::/0' >"$tmp/to"
weir diff "$tmp/to" | weir -batch - >"$tmp/out" 2>&1
is "$(weir -j source get 2001:db8::7 limit a | json count)" 10 "counts are kept where set can change a limit"
is "$(weir -j diff "$tmp/from" | jq -c)" '[{"command":"limit set a budget 100/h"}]' "JSON"
is "$(weir -j diff "$tmp/to"; echo $?)" $'[]\n0' "... of no change"
is "$(weir -batch - <<<"diff $tmp/from" 2>&1)" "limit set a budget 100/h" "in a batch"
is "$(weir diff - <"$tmp/from")" "limit set a budget 100/h" "a file from stdin"
is "$(weir -check diff "$tmp/from")" "limit set a budget 100/h" "with -check"

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
differs none '2 ' "a file that would end a block is refused"
like "$(<"$tmp/err")" "the 1 block of limit 'l1' would end, as the file does not have it; 'weir -force -file " "... and says so"
weir -force diff "$tmp/none" >"$tmp/batch"
is "$? $(wc -l <"$tmp/batch")" "1 256" "... but not with -force"
is "$(weir -batch - <"$tmp/batch" 2>&1)" "weir: warning: -:$(sed -n '/ l1$/=' "$tmp/batch"): limit 'l1' has blocked 1 source, which this releases" "... whose commands warn"
echo 'early dev nosuch0' >"$tmp/bad"
differs bad '2 ' "a device that does not exist"
like "$(<"$tmp/err")" "^weir: $tmp/bad:1:11: early: there is no device 'nosuch0'" "... is an error of its line"
apply none
rmmod weir
differs base '1 prefix-list add .*' "without the module nothing is in force"
like "$(<"$tmp/err")" "^weir: note: the module is not loaded: nothing is in force\$" "... which a note says"
holds "... and it is not loaded" [ ! -e /sys/module/weir ]
finish
