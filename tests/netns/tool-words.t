#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tool-words.t: the kernel's refusals and the tool's messages for them; no refusal changes anything
. "$(dirname "$0")/lib.sh"
need_tool

# run WORD...: run weir; sets $status, $out and $err
run() {
	weir "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
	out=$(<"$tmp/out") err=$(<"$tmp/err")
}

# refused PATTERN WORD...: expect status 2, the sentence, and no change
refused() {
	local pattern=$1 before
	shift
	before=$(weir save)
	run "$@"
	like "$status $err" "^2 weir: $pattern" "weir $*"
	[ "$(weir save)" = "$before" ] || ok 1 "weir $* changes nothing"
}

# done_with PATTERN WORD...: expect status 0, and PATTERN on stderr
done_with() {
	local pattern=$1
	shift
	run "$@"
	like "$status $err" "^0 $pattern" "weir $*"
}

run -j stats
is "$status$out" 3 "no module: no JSON output"
begin

# the examples of design.rst
done_with '$' limit add web budget 1000/s to 192.0.2.0/24 proto tcp dport 443
like "$out" '^web budget 1000/s slots [0-9]+ to 192.0.2.0/24 proto tcp dport 443 sources 65536.* memory [0-9.]+MiB places [0-9]+ each 73B blocks 27776$' \
	"the added limit is shown, with its memory"
done_with '$' limit add syn budget 20/10s proto tcp syn per 32,64 sources 4096
done_with "weir: note: limit 'host' has no 'dport' or 'syn'" limit add host budget 2M/s per 0 action observe
done_with '' limit add bulk budget 10M/1s bytes slots 8 lenient before web
is "$(weir -j limit show | jq -r '[.[].limit] | join(" ")')" "bulk web syn host" "before puts a limit in front of another"
done_with '$' limit set web budget 2000/s
done_with '$' limit set host before bulk
like "$(weir -s limit set web slots 9)" ' slots 9 .*'$'\n''    matched  *0 packets ' "set with -s shows the counters"
like "$(weir -j -s -exist limit add tmp budget 1/s to ff00::/8)$(weir -j -s -exist limit add tmp budget 1/s to ff00::/8)" \
	'"stats":.*"stats":' "... and so does add, also of an existing limit"
weir limit del tmp
is "$(weir -j limit show | jq -r '[.[].limit] | join(" ")')" "host bulk web syn" "set moves a limit"
done_with '' limit set bulk match any
done_with '' limit set bulk budget 20M/s
is "$(weir -j limit show bulk | json unit)" bytes "a budget without a unit keeps the unit"

refused "limit add: NAME 'web': a limit of that name exists; use set to change it" limit add web budget 1/s
refused "limit set: NAME 'nosuch': no limit of that name" limit set nosuch budget 1/s
refused "limit del: NAME 'nosuch': no limit of that name" limit del nosuch
done_with '$' -exist limit del nosuch
refused "limit show: NAME 'nosuch': no limit of that name" limit show nosuch

# -exist: success if the limit is the same; one that differs is kept, and is a failure
words="web budget 2000/s to 192.0.2.0/24 proto tcp dport 443"
done_with '$' -exist limit add $words
like "$out" "^web budget 2000/s slots [0-9]+ ${words#* * * } sources " "-exist shows the existing limit"
done_with '$' -exist limit add $words before syn
done_with '$' -exist limit add host budget 2M/s per 0 action observe
done_with '$' -exist limit add web budget 2k/1000ms packets to 192.0.2.0/24 dport 443 proto 6 comment ''
# differs WORD... -- LIST: -exist should report these differences
differs() {
	local limit=$1 all=()
	while [ "$1" != -- ]; do all+=("$1") && shift; done
	refused "limit add: limit '$limit' exists and differs in $2; nothing was changed \(use 'limit set'\)\$" \
		-exist limit add "${all[@]}"
}
differs web budget 1/s -- 'budget, to, proto, dport'
differs web budget 2000/2s to 192.0.2.0/24 proto tcp dport 443 -- budget
differs web budget 2000/s bytes to 192.0.2.0/24 proto tcp dport 443 -- budget
differs web budget 2000/s not to 192.0.2.0/24 proto tcp dport 444 syn -- 'to, dport, syn'
differs web budget 2000/s to 192.0.2.0/24 proto tcp dport 443 per 24 lenient -- 'strict.lenient.fixed.bucket.exact.calendar, per'
differs web budget 2000/s to 192.0.2.0/24 proto tcp dport 443 slots 3 sources 64 action observe -- 'slots, sources, action'
differs web budget 2000/s family ipv4 dev lo from 10.0.0.0/8 to 192.0.2.0/24 proto tcp sport 1 mark 1 comment a -- \
	'family, dev, from, sport, dport, mark, comment'
differs syn budget 20/10s proto tcp not syn sources 4096 -- syn
differs syn budget 20/10s proto tcp syn sources 4096 before web -- before
differs syn budget 20/10s proto tcp syn sources 4096 before nosuch -- before
differs syn budget 20/10s proto tcp syn sources 64 -- sources
done_with '$' -exist limit add syn budget 20/10s proto tcp syn
done_with '$' limit add new budget 20/s proto tcp syn newcomers 2000/s known 5s
done_with '$' -exist limit add new budget 20/s proto tcp syn known 5000ms newcomers 2k/1s flood 100000
differs new budget 20/s proto tcp syn -- 'newcomers, known'
differs new budget 20/s proto tcp syn newcomers none -- 'newcomers, known'
differs syn budget 20/10s proto tcp syn sources 4096 newcomers 2000/s -- newcomers
done_with '$' limit del new
done_with '$' limit add ban blocks 100 per 32,128
done_with '$' -exist limit add ban blocks 100 per 32,128
differs ban blocks 200 -- 'per, blocks'
done_with '$' limit del ban
refused "limit add: before 'nosuch': no limit of that name to place it before" limit add x budget 1/s before nosuch
# Linux 6.1 has no error offset for dump requests.
refused "source show: (limit 'nosuch': )?no limit of that name" source show limit nosuch
refused "source charge: limit 'nosuch': no limit of that name" source charge 10.0.0.1 limit nosuch
refused "source forget: limit 'nosuch': no limit of that name" source forget all limit nosuch
refused "exempt add: limit 'nosuch': no limit of that name to exempt from" exempt add 10.0.0.0/8 limit nosuch
done_with '$' exempt add 10.0.0.0/8 limit web
refused 'exempt add: PREFIX 10.0.0.0/8: already exempt; replace it to prolong it [(]-exist[)]' exempt add 10.0.0.0/8 limit web
done_with '$' -exist exempt add 10.0.0.0/8 limit web
refused 'exempt del: PREFIX 11.0.0.0/8: no such exemption' exempt del 11.0.0.0/8
refused "exempt del: limit 'nosuch': no limit of that name to exempt from" exempt del 10.0.0.0/8 limit nosuch
done_with '$' -exist exempt del 11.0.0.0/8
done_with '$' exempt get 10.1.2.3 limit web
is "$out" "10.0.0.0/8 limit web" "exempt get shows the exemption"
refused 'exempt get: ADDR 10.1.2.3: no exemption from all limits; name a limit for those from it' exempt get 10.1.2.3
done_with "weir: warning: device 'nosuchdev0' does not exist" exempt add 10.0.0.0/8 dev nosuchdev0
done_with "weir: warning: device 'nosuchdev0' does not exist" limit add later budget 100/s to ff00::/8 dev nosuchdev0
# -check reports the kernel's refusals
for words in "limit add web budget 1/s" "limit set nosuch slots 3" "limit del nosuch" "limit add x budget 1/s before nosuch" \
	"source charge 10.0.0.1 limit nosuch" "source forget all limit nosuch" "exempt add 10.0.0.0/8 limit nosuch" \
	"exempt add 10.0.0.0/8 limit web" "exempt del 11.0.0.0/8" "limit set web proto icmp" "limit set web family ipv6" \
	"limit add x budget 1G/s bytes slots 64 sources 16M"; do
	run -check $words
	like "$status $err" "^2 weir: (limit|source|exempt) " "weir -check $words"
	refused "" $words
done
all_there_is() { weir save && weir -j exempt show && weir -j stats | json memory; }
before=$(all_there_is)
for words in "-exist limit del nosuch" "limit del web" "limit reset web" "limit flush" "exempt flush" "-exist exempt add 10.0.0.0/8 limit web" "limit add x budget 1/s before web" \
	"exempt del 10.0.0.0/8 limit web" "limit set web dport 444" "source charge 10.0.0.1 limit web"; do
	done_with "" -check $words
done
echo 'limit add web budget 1/s' >"$tmp/file"
done_with "" -check -file "$tmp/file"
is "$(all_there_is)" "$before" "-check changes nothing"
echo 'limit add x budget 1G/s bytes slots 64 sources 16M to ff00::/8' >"$tmp/file"
refused "$tmp/file:1:40: limit add: sources: not enough memory" -check -file "$tmp/file"
echo 'limit set nosuch slots 3' >"$tmp/batch"
done_with "weir: note: $tmp/batch: not checked by the kernel: a line of a batch may need those before it\$" -check -batch "$tmp/batch"
weir monitor limit nosuch >"$tmp/out" 2>"$tmp/noted" &
pids+=($!)
wait_for 60 test -s "$tmp/noted"
is "$(<"$tmp/noted")" "weir: note: there is no limit 'nosuch' yet" "monitor notes that its limit does not exist"
kill $!
if [ "$HZ" -lt 1000 ]; then
	run -check limit add x budget 100/10ms slots 10
	like "$status $err" "^2 .*slots would be shorter than a clock tick" "... also with -check"
	refused 'limit add: slots: slots would be shorter than a clock tick; use fewer \(at most '$((HZ > 100 ? HZ / 100 : 1))'\)$' \
		limit add x budget 100/10ms slots 10
else
	skip "a tick is as short as the shortest slot" "slots would be shorter than a clock tick"
fi

# the kernel's warnings
joined='up to 64 packets merged by GRO may not fit the budget: ethtool -K DEV gro off'
done_with '$' limit add nogro budget 5/s to ff00::/8
rx ethtool -K rx0 gro on >/dev/null
done_with '$' limit add udp budget 5/s to ff00::/8 proto udp
done_with '$' limit add icmp budget 5/s to ff00::/8 proto icmpv6
done_with '$' limit add syn5 budget 5/s to ff00::/8 proto tcp syn
done_with '$' limit add notrx budget 5/s to ff00::/8 not dev rx0
done_with '$' limit add sixtyfour budget 64/s to ff00::/8
done_with "weir: warning: limit 'small': $joined\$" limit add small budget 5/s to ff00::/8
is "$(weir -check limit set small budget 6/s 2>&1 >"$tmp/out")" "weir: warning: limit 'small': $joined" "-check shows the kernel's warnings"
echo 'limit add small budget 6/s to ff00::/8' >"$tmp/file"
is "$(weir -check -quiet -file "$tmp/file" 2>&1 | head -n 1)" "weir: warning: $tmp/file:1: limit 'small': $joined" "... also of a file"
like "$(weir save)" $'\n''limit add small budget 5/s ' "... and changes nothing"
is "$(weir limit set small budget 6/s 2>&1 | sed -E 's/^(small budget 6).*/\1/; 3d')" "weir: warning: limit 'small': $joined
small budget 6" "... before the limit is shown"
done_with "weir: note: limit 'small' loses its budget 6/s packets; to keep it, give both.weir: warning: limit 'small': $joined" limit set small budget 1500/s bytes
done_with "weir: warning: limit 'small': packets larger than budget or burst" limit set small budget 100/s bytes
done_with '$' -exist limit add small budget 100/s bytes to ff00::/8
done_with "weir: warning: limit 'nosyn': $joined" limit add nosyn budget 5/s to ff00::/8 not syn
done_with "weir: warning: limit 'ends': spoofed packets, and up to 64 merged by GRO, get sources blocked: exempt who must not be; ethtool -K DEV gro off\$" \
	limit add ends budget 5/s penalty 1m to ff00::/8
done_with "weir: warning: limit 'onrx': $joined" limit add onrx budget 5/s to ff00::/8 dev rx0
done_with "weir: warning: limit 'few': up to 64 packets merged by GRO may not fit newcomers: ethtool -K DEV gro off\$" \
	limit add few budget 64/s to ff00::/8 newcomers 63/s
done_with '$' limit set few newcomers 64/s
is "$(weir -j -check limit add size budget 1/s sources 65536 newcomers 64/s 2>/dev/null | jq -c '.[0] | [.entries, .source_bytes, .memory > .entries * .source_bytes]')" \
	'[94208,76,true]' "-check shows what a new limit would take"
is "$(weir -j limit show | jq -r '.[] | select(.limit == "size")')" '' "... and adds nothing"
# may_have SOURCES WORDS: what a table is made for by default
may_have() { is "$(weir -j -check limit add size budget 1/s $2 2>/dev/null | jq -c '.[0].sources')" "$1" "a table for $1: ${2:-all sources}"; }
may_have 65536 ""
may_have 64 "per 0"
may_have 64 "from 192.0.2.1"
may_have 65536 "per 0,64"
may_have 65536 "family ipv4 per 16,0"
may_have 257 "per 8,0"
may_have 256 "from 192.0.2.0/24"
may_have 512 "from 192.0.2.0/24,198.51.100.0/24"
may_have 64 "from 192.0.2.0/24,198.51.100.0/24 per 24"
may_have 65536 "from 10.0.0.0/8"
may_have 65536 "not from 192.0.2.1"
may_have 256 "from 2001:db8::/56"
may_have 64 "from 2001:db8::1"
may_have 65536 "from 192.0.2.1,2001:db8::/32 per 32,128"
is "$(weir -j -check limit add size budget 1/s per 0 | jq '.[0].memory < 10000')" true "... and memory for no more"
is "$(weir -j -check limit add size budget 1/s per 32,128 | jq -c '.[0].source_bytes')" 137 "... an IPv6 address takes two lines"
rx ethtool -K rx0 rx-gro-list on >/dev/null
done_with "weir: warning: limit 'udp': $joined" limit set udp budget 6/s
rx ethtool -K rx0 gro off >/dev/null
done_with "weir: note: limit 'small' loses its budget 100/s bytes; to keep it, give both\$" limit set small budget 6/s packets

# a condition replaces the one of its kind; match replaces all
# set_to MATCH WORD...: after set ssh WORD... it should have this match
set_to() {
	local match=$1
	shift
	run limit set ssh "$@"
	is "$status $(sed -En '1s/^ssh budget 100\/s slots [0-9]+ ?(.*) sources .*/\1/p' "$tmp/out")" "0 $match" "weir limit set ssh $*"
}
done_with '$' limit add ssh budget 100/s to 192.0.2.0/24 proto tcp dport 22
set_to "to 192.0.2.0/24 proto tcp dport 2222" dport 2222
set_to "to 192.0.2.1 proto tcp dport 2222" to 192.0.2.1
set_to "not from 198.51.100.0/24 to 192.0.2.1 proto tcp dport 2222" not from 198.51.100.0/24
set_to "from 198.51.100.0/25 to 192.0.2.1 proto tcp dport 2222" from 198.51.100.0/25
set_to "from 198.51.100.0/25 to 192.0.2.1 proto tcp not dport 2222" not dport 2222 slots 4
refused 'limit set: ports require a protocol with ports' limit set ssh proto icmp
refused 'limit set: source prefix is not of the given address family' limit set ssh family ipv6
set_to "proto udp dport 53" match proto udp dport 53
set_to "" match any
refused 'limit set: dport: ports require a protocol with ports' limit set ssh dport 22
done_with '$' limit del ssh

# completion of existing names
# offers WORD... -- CANDIDATE: completion should offer CANDIDATE
offers() {
	local words=("${@:1:$#-2}")
	weir -complete "${words[@]}" 2>&1 | grep -qxF -- "${!#}"
	ok $? "weir ${words[*]} may be followed by ${!#}"
}
weir exempt add 203.0.113.0/24
weir limit add long budget 100/1h to ff00::/8 >"$tmp/out"
weir source charge 198.51.100.77 limit long >"$tmp/out"
weir source charge 198.51.100.77 limit host >"$tmp/out"
is "$(weir -complete source forget | grep ' ')" "" "no candidate contains a blank"
offers limit set -- small
offers exempt add ::/0 limit -- small
offers exempt del -- 203.0.113.0/24
offers source get -- 198.51.100.77
offers source show -- 198.51.100.77
offers source forget -- all
weir exempt del 203.0.113.0/24
weir limit del long

# over ssh, a change that drops packets has a line of advice
advice="note: over ssh, 'weir -confirm 60s \.\.\.' takes a change back unless you confirm it"
advised() { SSH_TTY=/dev/pts/7 "$top/userspace/weir" "$@" 2>&1 | grep -c "$advice"; }
echo 'block add 198.51.100.64/26' >"$tmp/one"
weir save >"$tmp/saved"
for words in 'limit add ssh budget 100/s to ff00::/8' 'limit set ssh budget 101/s' 'block add 198.51.100.0/26' \
	'source block 198.51.100.200 for 1h' "-batch $tmp/one"; do
	# shellcheck disable=SC2086 # words
	is "$(advised -check $words)$(advised $words)" 11 "$words: over ssh, advice"
done
is "$(advised -confirm 60s limit set ssh budget 102/s)$(advised confirm)" 00 "a change with -confirm has no advice"
is "$(advised exempt add 198.51.100.7)$(advised block del 198.51.100.0/26)$(advised limit del ssh)" 000 "... nor one that lets more packets through"
is "$(advised exempt del 198.51.100.7)" 1 "... but the end of an exemption has"
weir -file "$tmp/saved" 2>/dev/null
weir source release 198.51.100.200 >"$tmp/out"

# colour: with always, or on a terminal that supports it
# colours WORD...: does weir write escape sequences?
colours() { [[ $("$@") == *$'\e['* ]]; }
# terminal WORD...: run weir on a terminal
terminal() { script -qec "$top/userspace/weir $* limit show" /dev/null; }
holds "-c colours any output" colours weir -c limit show
! colours weir -c=auto limit show && ! colours weir limit show && ! colours weir -c=never limit show
ok $? "auto colours only a terminal; without -c there is no colour"
colours terminal -c=auto && ! NO_COLOR=1 colours terminal -c=auto && NO_COLOR=1 colours terminal -c && ! colours terminal
ok $? "auto colours a terminal, unless NO_COLOR is set"

# unprivileged users
mere() { setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$top/userspace/weir" "$@" 2>&1; }
before=$(weir save)
for words in "limit add x budget 1/s" "limit set web budget 1/s" "limit del web" "limit flush" \
	"source show" "source get 10.0.0.1" "source charge 10.0.0.1 limit web" "source forget all" \
	"exempt add 11.0.0.0/8" "exempt flush" "-file -" monitor \
	"limit show" "limit show web" "exempt show" "stats show" save; do
	like "$(mere $words <<<'# nothing'; echo $?)" '^weir: .*permission denied: requires CAP_NET_ADMIN .*\(run it as root\).*2$' "weir $words needs CAP_NET_ADMIN"
done
is "$(weir save)" "$before" "... and nothing changes"
for words in "limit add x budget 1/s to ff00::/8" "limit del web" "exempt add 11.0.0.0/8" "-file -"; do
	like "$(mere -check $words <<<"limit add x budget 1/s to ff00::/8"; echo $?)" \
		'^weir: note: (-: )?not checked by the kernel: permission denied: .*'$'\n''0$' "weir -check $words does not, and says that it did not ask"
done

# another namespace
ip netns add weir-tool && spaces+=(weir-tool)
done_with '' -netns weir-tool limit add other budget 100/s to ff00::/8
is "$(weir -n /run/netns/weir-tool -j limit show | json limit)" other "-netns by path"
ip netns exec weir-tool bash -c "echo; read -r" <"$tmp/never" >"$tmp/up" &
pids+=($!)
wait_for 60 test -s "$tmp/up"
is "$(weir -n $! -j limit show | json limit)" other "-netns by process"
refused "limit add: NAME 'other': a limit of that name exists" -n weir-tool -check limit add other budget 1/s
done_with '$' -check limit add other budget 1/s to ff00::/8
like "$(weir -n $$ limit show other 2>&1)" 'no limit of that name' "... not in the caller's namespace"

done_with 'weir: warning: deleting all limits also deletes their exemptions \(1\) and blocked prefixes \(0\)$' limit flush
done_with 'weir: note: exemptions that go: 1$' exempt flush
is "$(weir -j limit show)$(weir -j exempt show)$(weir -j source show)" '[][][]' "nothing configured: empty arrays"
is "$(weir limit show; weir exempt show; weir source show)" '' "... and no text"
finish
