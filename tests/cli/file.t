#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# -check -file and -batch: valid files, and the reported position of errors.
. "$(dirname "$0")/lib.sh"
# good NAME: the file on stdin should pass
good() {
	cat >conf
	run -check -file conf
	is "$status" 0 "$@" || diag "$err"
}

# bad PATTERN NAME: the file on stdin should fail; PATTERN may omit the column
bad() {
	local pattern=$1
	shift
	[[ $pattern =~ ^([0-9]+):(.*)$ ]] && pattern="${BASH_REMATCH[1]}:([0-9]+:)?${BASH_REMATCH[2]}"
	cat >conf
	run -check -file conf
	like "$status ${err%%$'\n'*}" "^1 weir: conf:$pattern" "$@"
}

# checks WORDS TEXT NAME: status and stderr of weir -check WORDS
checks() {
	# shellcheck disable=SC2086 # words
	run -check $1
	is "$status $err" "$2" "$3"
}

good "comments, blank lines, continued lines, tabs and CRLF" <<-'CONF'
	#!/usr/sbin/weir -file
	# the web server

	limit add web budget 1000/s \
		to 192.0.2.0/24 proto tcp dport 443   # https
		limit	add	dns	budget 20/10s to 192.0.2.0/24 proto udp dport 53
	exempt add 10.0.0.0/8 limit web
	exempt add 10.0.0.0/8
	limit add early budget 1/s before web to ::/0
CONF
printf 'early dev nosuch0\nlimit add web budget 1/s to ::/0\nearly mode generic dev nosuch1\n' | good "devices that drop early"
bad "2: early: device 'x0' was already given on line 1" "a device given twice" < <(printf 'early dev x0\nearly dev x0 mode generic\n')
bad "1: early: required: dev IFACE" "no device" <<<'early mode generic'
bad "1: early: mode: unknown word 'fast'" "a mode that does not exist" <<<'early dev x0 mode fast'
printf 'xdp attach dev nosuch0\nlimit add web budget 1/s to ::/0\nxdp attach mode generic dev nosuch1\n' | good "... also as the command"
bad "2: xdp attach: device 'x0' was already given on line 1" "... a device given twice" < <(printf 'early dev x0\nxdp attach dev x0\n')
bad "1: 'xdp detach' cannot be used here" "xdp detach is not accepted in a file" <<<'xdp detach dev x0'
printf 'limit add web budget 1/s to ::/0\r\nexempt add ::/0\r\n' | good "CRLF line ends"
printf 'limit add web budget 1/s to ::/0' | good "a last line without newline"
printf '\xef\xbb\xbflimit add web budget 1/s to ::/0\r\n' | good "a byte order mark"
echo '# nothing' | good "only a comment: an empty configuration"

bad ' the file is empty' "an empty file" </dev/null
printf '\n \t\n' | bad ' the file is empty' "a file of blanks"
printf '\xef\xbb\xbf\r\n' | bad ' the file is empty' "only a byte order mark"
printf '# one\n\xef\xbb\xbflimit add web budget 1/s\n' | bad "2: .* cannot be used here" "a byte order mark is accepted only at the beginning"
printf '\xff\xfel\0i\0m\0i\0t\0\n\0' | bad '1: NUL byte: not a text file' "UTF-16"
bad "3: limit add: to: '192.0.2.1/24' has host bits set" "an error names its line" <<-'CONF'
	# one
	limit add a budget 1/s
	limit add b budget 1/s to 192.0.2.1/24
CONF
bad "3: limit add: budget: '5' has no time" "an error in a continuation line names that line" <<-'CONF'
	# one
	limit add a \
		budget 5
CONF
bad "2: unknown word 'limt'" "a comment does not continue on the next line" <<-'CONF'
	limit add web budget 1/s to ::/0 # all \
	limt add dns budget 1/s
CONF
bad "1: 'limit set' cannot be used here" "limit set is not accepted in a file" <<<'limit set web budget 1/s'
bad "1: 'monitor'" "... nor monitor" <<<'monitor'
bad "1: unknown word 'limt'; did you mean 'limit'" "an unknown object" <<<'limt add web budget 1/s'
bad "1: limit add: 'bud' abbreviates 'budget'; files do not allow abbreviations" "no abbreviations in files" <<<'limit add web bud 1/s'
bad "1: 'l' abbreviates 'limit'; files do not allow abbreviations" "... not of objects" <<<'l add web budget 1/s'
bad "1: 'ad' abbreviates 'add'; files do not allow abbreviations" "... nor of verbs" <<<'limit ad web budget 1/s'
bad "1: omit 'weir'" "a line as it is typed in a shell" <<<'weir limit add web budget 1/s'
bad "1: 'rate' cannot be used here; expected 'limit add', 'exempt add', 'block add', 'prefix-list add', 'early dev', 'define' or 'include'\$" "a word that begins no line" <<<'rate 5'
good "help may be a name, as weir save may have written it" <<<'limit add help budget 1/s to ::/0'
bad "1: limit add: unknown word ';'; the nearest are: .*; help lists all\$" "what follows a command" <<<'limit add web budget 1/s ; x'
bad "2: limit add: limit 'web' was already defined on line 1" "a name twice" <<-'CONF'
	limit add web budget 1/s
	limit add web budget 2/s
CONF
bad "3: exempt add: already exempted on line 1" "an exemption twice" <<-'CONF'
	exempt add 10.0.0.0/8
	exempt add 11.0.0.0/8
	exempt add 10.0.0.0/8
CONF
printf 'limit add "a\nexempt add ::1\nexempt add ::1\n' >conf
run -check -file conf
like "$err" $'\nweir: conf:3:12: exempt add: already exempted on line 2\n' "... behind an open quotation mark"
bad "1: exempt add: limit: no limit 'web' in this file" "an exemption of no limit" <<<'exempt add 10.0.0.0/8 limit web'
bad "1: limit add: before: no limit 'b' is defined above this line" "before what does not stand yet" <<-'CONF'
	limit add a budget 1/s before b
	limit add b budget 1/s
CONF
printf 'limit add a budget 1/s\0\n' | bad '1: NUL byte' "a binary file"
printf 'x %.0s' {1..200} | bad '1: more than 128 words' "too many words"
{ echo 'limit add web budget 1/s to ::/0' && yes '# 4567 9' | head -c $((16777216 - 33)); } | good "a file of 16 MiB"
{ echo 'limit add web budget 1/s to ::/0' && yes '# 4567 9' | head -c $((16777217 - 33)); } | bad " larger than 16 MiB" "a file of one byte more"
# without a limit on memory, input without end would take all of it
without_end() { yes "$1" 2>/dev/null | (ulimit -v 400000 && "$weir" -check "${@:2}" 2>&1); }
like "$(without_end '# x' -file -)" "^weir: -: larger than 16 MiB\$" "a file without end"
like "$(without_end '{' -json -file -)" "^weir: -: larger than 16 MiB\$" "... of JSON"
like "$(yes 2>/dev/null | tr -d '\n' 2>/dev/null | (ulimit -v 400000 && "$weir" -check -batch - 2>&1))" "^weir: -:1: more than 16 MiB on one line\$" "a batch of one line without end"
echo 'limit add web budget 1/s' >conf
checks "-quiet -file conf" "0 " "-quiet: no notes"
checks "-quiet limit add web budget 1/s dev nosuchdev0" "0 weir: warning: device 'nosuchdev0' does not exist (yet)" "... but warnings"
printf 'quiet\nlimit add web budget 1/s\n' | good "... nor in a file that says quiet"
bad "1: 'quiet' cannot be used here" "... alone on its line" <<<'quiet please'
checks "-file nosuchfile" "1 weir: nosuchfile: cannot open: No such file or directory" "no such file"
run -check -file .
like "$status $err" '^1 weir: \.: cannot read: Is a directory' "a directory"

# words in quotes
good "quotes: spaces, #, quotes and backslashes" <<-'CONF'
	limit add web budget 1/s to ::/0 comment "a # \"b\" \\" # a comment
	limit add "dns" budget 1/s to ::/0 comment '\' before web # \
	exempt add 10.0.0.0/8 comment "# c" \
		limit web
	exempt add 11.0.0.0/8 comment ""
CONF
printf '%s\n' 'exempt add ::/0 limit a comment "b c' 'exempt add 10.0.0.0/8 comment "a"b' 'exempt add 10.0.0.1/8' \
	$'exempt add 11.0.0.0/8 comment "a\tb" dev lo' $'exempt add 12.0.0.0/8 comment \'\xff\'' \
	'exempt add 13.0.0.0/8 comment two words' >conf
checks "-file conf" "1 weir: conf:1:33: expected a closing quotation mark, and a space or the end of the line after it
  exempt add ::/0 limit a comment \"b c
                                  ^~~~
weir: conf:2:31: expected a closing quotation mark, and a space or the end of the line after it
  exempt add 10.0.0.0/8 comment \"a\"b
                                ^~~~
weir: conf:3:12: exempt add: '10.0.0.1/8' has host bits set; did you mean 10.0.0.0/8?
  exempt add 10.0.0.1/8
             ^~~~~~~~~~
weir: conf:4:31: exempt add: comment: control character or invalid UTF-8 at byte 2; a comment is printable text on one line
  exempt add 11.0.0.0/8 comment \"a b\" dev lo
                                ^~~~~
weir: conf:5:31: exempt add: comment: control character or invalid UTF-8 at byte 1; a comment is printable text on one line
  exempt add 12.0.0.0/8 comment '\xff'
                                ^~~
weir: conf:6:35: exempt add: 'words' stands behind a comment of one word; put one of several in quotes
  exempt add 13.0.0.0/8 comment two words
                                    ^~~~~" "quotes that do not end, and bad comments"
bad "1: exempt add: comment: control character .* at byte 6" "a quoted word does not continue on the next line" <<-'CONF'
	exempt add 10.0.0.0/8 comment "a b \
		c"
CONF
like "$err" ':1:31: .*'$'\n''  exempt add 10.0.0.0/8 comment "a b'$'\n'' {32}\^~~~$' "... and is marked on its first"
printf 'exempt add 10.0.0.0/8 comment "%0128d"\n' 0 | bad "1: exempt add: comment: at most 127 bytes, not 128" "a long comment"
echo '"" x' | bad "1: '' cannot be used here; expected 'limit add', 'exempt add', 'block add', 'prefix-list add', 'early dev', 'define' or 'include'" "an empty word"

# each invalid line is reported; a missing limit may be defined on one of them
cat >conf <<-'CONF'
	limit add a budget 5
	limit add b budget 1/s before a
	exempt add 10.0.0.1/8 limit a
	limit add c budget 1/s surces
	limit add d budget 1/s
	exempt add 10.0.0.2 limit a
	limit add d budget 2/s
	exempt add 10.0.0.2 limit a
CONF
checks "-file conf" "1 weir: conf:1:20: limit add: budget: '5' has no time; for example 5/s or 5/10s
  limit add a budget 5
                     ^
weir: conf:3:12: exempt add: '10.0.0.1/8' has host bits set; did you mean 10.0.0.0/8?
  exempt add 10.0.0.1/8 limit a
             ^~~~~~~~~~
weir: conf:4:24: limit add: unknown word 'surces'; did you mean 'sources'?
  limit add c budget 1/s surces
                         ^~~~~~
weir: conf:7:11: limit add: limit 'd' was already defined on line 5
  limit add d budget 2/s
            ^
weir: conf:8:12: exempt add: already exempted on line 6
  exempt add 10.0.0.2 limit a
             ^~~~~~~~" "five invalid lines, with column and caret"
printf 'limit\tadd d\xc3\xb6 \\\r\n\tbudget 1/s # \xc3\xb6\r\n' >conf
checks "-file conf" "1 weir: conf:1:11: limit add: a name may contain only letters, digits and _-.:+@
  limit add dö
            ^~" "tabs and multibyte letters take one column"
printf 'limit\radd d\r5\n' >conf
run -check -file conf
like "$err" "conf:1:13: .*"$'\n''  limit add d 5'$'\n''              \^$' "... and carriage returns"
for conf in 'limit add a budget 1/s dport 80|24|dport requires' 'limit add a budget 1/s syn proto udp|24|syn requires' \
	'limit add a budget 1/s dev lo slots 3 budget|39|.budget. requires a value' 'exempt add|0|required: PREFIX' \
	'limit add a budget 1/s byte|24|.byte. abbreviates .bytes.' 'limit add a budget 1/10ms slots 20|27|slots: 20 do not fit' \
	'limit add a budget 1/s from ::/0 family ipv4|24|family is IPv4 but from is IPv6'; do
	IFS='|' read -r words column pattern <<<"$conf"
	echo "$words" >conf
	run -check -file conf
	like "$err" "^weir: conf:1:${column/#0/}:? ?(limit|exempt) add: $pattern" "$words: column $column"
done
seq -f 'exempt add line%.0f' 100000 >conf
run -check -file conf
is "$status $(grep -c ^weir <<<"$err") $(tail -n 1 <<<"$err")" "1 17 weir: conf: 16 invalid lines; the rest was not checked" "at most 16 invalid lines are reported"

# conflicts with other lines are reported for each line
cat >conf <<-'CONF'
	exempt add 10.0.0.1 limit gone dev lo
	limit add web budget 1/s to ::/0
	exempt add 10.0.0.1 dev lo limit web
	exempt add 10.0.0.1 limit web dev lo
CONF
checks "-file conf" "1 weir: conf:1:27: exempt add: limit: no limit 'gone' in this file
  exempt add 10.0.0.1 limit gone dev lo
                            ^~~~
weir: conf:4:12: exempt add: already exempted on line 3
  exempt add 10.0.0.1 limit web dev lo
             ^~~~~~~~" "two lines that conflict with others"
cat <conf | "$weir" -check -file - 2>piped
is "$(<piped)" "${err//conf:/-:}" "... also through a pipe"
mkfifo fifo
cat conf >fifo &
run -check -file fifo
is "$(sed 's/fifo/-/' err)" "$(<piped)" "... and a FIFO"
echo 'limit add a budget 1/s before later syn' >conf
run -check -file conf
like "$err" "^weir: conf:1:31: limit add: before: no limit 'later'" "the word after before is marked"
printf '{\n"limits":[]\n}\n' >conf
checks "-file conf" "1 weir: conf:1: this is JSON; use 'weir -json -file conf'" "JSON without -json, once"

# sizes
seq -f 'limit add l%.0f budget 1/s to ::/0' 256 | good "256 limits"
seq -f 'limit add l%.0f budget 1/s to ::/0' 257 | bad '257: limit add: more than 256 limits' "257 limits"
for i in {0..255}; do printf "exempt add 10.0.$i.%d\n" {0..255}; done >full
good "65536 exemptions" <full
(cat full && echo 'exempt add 11.0.0.0') | bad '65537: exempt add: more than 65536 exemptions' "65537 exemptions"
seq -f '# comment %.0f' 100000 | good "100,000 lines"
(seq -f '# comment %.0f' 99999 && echo "limit") | bad "100000: 'limit' cannot be used" "an error in line 100,000"
for a in {1..10}; do seq -f "exempt add 2001:db8::$a:%.0f" 0 9999; done | bad '65537: exempt add: more than 65536' "100,000 exemptions"

# from stdin, and as an interpreter
"$weir" -check -file - <<<'limit add web budget 1/s to ::/0' >out 2>err
is "$?$(said err)" 0 "a file from stdin"
printf '#!%s -file\nlimit add web budget 5\n' "$weir" >script && chmod +x script
err=$(./script 2>&1)
is "$? ${err%%$'\n'*}" "1 weir: ./script:2:22: limit add: budget: '5' has no time; for example 5/s or 5/10s" "an executable file"

# JSON, as written by weir -json save
# json STATUS PATTERN JSON: check a file with JSON; « marks the expected position,
# which PATTERN has as @
json() {
	local before=${3%%«*} where=- last
	last=${before##*$'\n'}
	[ "$before" = "$3" ] || where=-:$(grep -c '' <<<"$before"):$((${#last} + 1))
	"$weir" -check -json -file - <<<"${3/«/}" >out 2>err
	like "$? $(said err)" "^$1 ${2/@/$where}" "JSON $3"
}
budgets='"budgets":[{"budget":1000,"window_ms":1000}]'
web='"limit":"web",'$budgets
json 0 '$' '{"limits":[{'"$web"',"match":{"to":["192.0.2.0/24","198.51.100.7"],"proto":["tcp"],"dport":[{"first":80,"last":80},{"first":443,"last":443}]}}],"exempts":[{"prefix":"10.0.0.0/8","limit":"web"}]}'
json 0 '$' '[{"limits": [], "exempts": []}]'
json 0 '$' '{}'
json 0 '$' '{"limits":[{"limit":"w\u0065b","budgets":[{"budget":1,"window_ms":2000,"unit":"bytes","mode":"lenient"}],"match":{"syn":true,"to":["::/0"],"not":{"dev":"lo"}}}]}'
json 0 '$' '{"limits":[{'"$web"',"match":{"to":["::/0"]},"comment":"\u00e9\ud83d\ude80 \" \\ # '"'x'"'"}],"exempts":[{"prefix":"::1","comment":""}]}'
json 1 "weir: @: comment: control character .* at byte 2" '{"exempts":[{"prefix":"::1","comment":«"a\u0007"}]}'
json 1 "weir: @: comment: at most 127 bytes, not 128" '{"exempts":[{"prefix":"::1","comment":«"'"$(printf %0128d 0)"'"}]}'
json 1 "weir: @: comment: expected a string" '{"exempts":[{"prefix":"::1","comment":«1}]}'
json 1 'weir: @: match: to: expected an array' '{"limits":[{'"$web"',"match":{"to":«"::/0"}}]}'
json 1 "weir: @: budgets: budget and window_ms must be given together"$'\n' '{"limits":[{"limit":"web","match":{"syn":true},"budgets":[«{"budget":1000}]}]}'
json 1 "weir: @: budgets: budget: expected a whole number"$'\n' '{"limits":[{"limit":"web","budgets":[{"budget":«-1}]}]}'
json 1 "weir: @: budgets: expected an array" '{"limits":[{"limit":"web","budgets":«{"budget":1,"window_ms":1000}}]}'
json 1 "weir: @: budgets: empty array"$'\n' '{"limits":[{"limit":"web","budgets":«[]}]}'
json 1 "weir: @: budgets: more than 4 elements" '{"limits":[{"limit":"web","budgets":«[{},{},{},{},{}]}]}'
json 1 "weir: @: limit add: budget 2 slots: a fixed or calendar window or a total is a single slot" \
	'{"limits":[{"limit":"web","budgets":[{"budget":1,"window_ms":1000,"slots":2},{"budget":5,"window_ms":0,"slots":«3}]}]}'
json 1 "weir: @: budgets: slots: 65 is out of range 1..64"$'\n' '{"limits":[{"limit":"web","budgets":[{"budget":1,"window_ms":1000,"slots":«65}]}]}'
json 1 "weir: @: match: dport: expected an array"$'\n''  ,"match":\{"dport":1}}]}'$'\n'' {20}\^$' $'{"limits":[\n{'"$web"$'}\n,{"limit":"b"\n,"match":{"dport":«1}}]}'
json 1 "weir: @: unknown key 'foo'" '{"limits":[{'"$web"',"match":{"syn":true,"dev":"]}\"{"}}'$'\n'',{«"foo":1}]}'
json 1 "weir: -:1:31: not JSON: duplicate object key near '\"limit\"'" '{"limits":[{"limit":"a","limit":"b"}]}'
json 1 "weir: @: match: mark and mark_mask must be given together" '{"limits":[{'"$web"',"match":«{"mark":1}}]}'
json 1 "weir: @: match: mark and mark_mask must be given together" '{"limits":[{'"$web"',"match":«{"mark_mask":1}}]}'
for mark in '"mark":5,"mark_mask":3' '"mark_mask":3,"mark":5'; do
	json 1 "weir: @: limit add: mark: '0x5/0x3' has bits outside its mask; did you mean 0x1/0x3" '{"limits":[{'"$web"',"match":{'"${mark/:5/:«5}"'}}]}'
done
json 1 "weir: @: match: mark: 4294967296 is out of range 0..4294967295" '{"limits":[{'"$web"',"match":{"mark":«4294967296,"mark_mask":1}}]}'
for list in from to sport dport; do
	json 1 "weir: @: match: $list: empty array; to match any, leave out the key" '{"limits":[{'"$web"',"match":{"proto":["tcp"],"'$list'":«[]}}]}'
done
json 1 "weir: @: match: dport: first and last must be given together" '{"limits":[{'"$web"',"match":{"proto":["tcp"],"dport":[«{}]}}]}'
json 1 "weir: @: match: to: expected a string" '{"limits":[{'"$web"',"match":{"to":[«{"address":"::/0"}]}}]}'
for not in '"syn"' '["syn"]' true null 1; do
	json 1 "weir: @: match: not: expected an object" '{"limits":[{'"$web"',"match":{"syn":true,"not":«'"$not"'}}]}'
done
json 1 "weir: @: match: not: a condition is given twice" '{"limits":[{'"$web"',"match":{"syn":true,"not":«{"syn":true}}}]}'
json 1 "weir: @: match: not: a condition is given twice" '{"limits":[{'"$web"',"match":{"not":{"not":«{"syn":true}}}}]}'
json 1 "weir: @: match: unknown key 'prot'" '{"limits":[{'"$web"',"match":{"not":{«"prot":1},"syn":true}}]}'
json 1 "weir: @: match: mark and mark_mask must be given together" '{"limits":[{'"$web"',"match":{"not":«{"mark_mask":3}}}]}'
json 1 "weir: @: match: from: more than 16 elements" '{"limits":[{'"$web"',"match":{"from":['"$(printf '"10.0.0.%d",' {0..8})"'"::1"],"not":{"from":«['"$(printf '"10.0.1.%d",' {0..8})"'"::2"]}}}]}'
json 0 '$' '{"limits":[{'"$web"',"match":{"not":{},"syn":true}},{"limit":"a","before":"web","match":{"syn":true},'"$budgets"'}]}'
json 1 "weir: @: limit add: before: no limit 'a' is defined above" '{"limits":[{'"$web"',"before":«"a"}]}'
json 1 "weir: @: budgets: budget: 72057594037927937 is out of range 1..72057594037927936" \
	'{"limits":[{"limit":"a","budgets":[{"budget":«72057594037927937,"unit":"bytes","window_ms":1000}]}]}'
json 1 "weir: -:1:52: not JSON: too big integer" '{"limits":[{"limit":"a","budget":9223372036854775808,"unit":"bytes","window_ms":1000}]}'
for number in 1.0 0.5 1e3 '"1"' null true '[1]'; do
	json 1 "weir: @: budgets: slots: expected a whole number" '{"limits":[{"limit":"web","budgets":[{"slots":«'"$number"'}]}]}'
done
json 1 "weir: @: match: proto: .*"$'\n''weir: -:2:10: limit: .*'$'\n''weir: -:3:28: exempt add: already exempted on line 2'$'\n' '{"limits":[{"limit":"a","match":{"proto":[«"x"],"to":[]}},'$'\n''{"limit":"w b"}],"exempts":[{"prefix":"::1"},'$'\n''{"prefix":"::2"},{"prefix":"::1"}]}'
json 1 "weir: @: unknown key 'want_stats'" '{"limits":[{«"want_stats":true}]}'
json 1 "weir: @: unknown key 'address'" '{"exempts":[{«"address":"::1"}]}'
json 1 "weir: @: match: syn: expected true" '{"limits":[{"limit":"web","match":{"syn":«1}}]}'
json 1 "weir: @: unknown key 'memory'" '{"limits":[{«"memory":1}]}'
json 1 "weir: @: budgets: mode: unknown word 'rolling'; expected one of: strict, lenient, fixed, bucket, exact, calendar" \
	'{"limits":[{"limit":"web","budgets":[{"mode":«"rolling"}]}]}'
json 1 "weir: @: budgets: mode: unknown word 'lenent'; did you mean 'lenient'" '{"limits":[{"limit":"web","budgets":[{"mode":«"lenent"}]}]}'
json 1 "weir: @: exempt add: already exempted on line 1" '{"exempts":[{"prefix":"10.0.0.1"},{"prefix":«"10.0.0.1"}]}'
json 1 "weir: @: limit add: required: budget" '{"limits":[«{"limit":"web"}]}'
json 1 "weir: -:1:5: not JSON: '\[' or '\{' expected near 'limit'" 'limit add web budget 1/s'
json 1 "weir: -:1:22: not JSON: unexpected newline near" '{"limits":[{"limit":"a'
json 1 "weir: @: expected an object with prefix_lists, limits, exempts, blocked_prefixes and early" '«[]'
json 1 "weir: -:1:4: not JSON: end of file expected near 'x'" '{} x'
json 1 "weir: @: unknown key 'limit'; expected prefix_lists, limits, exempts, blocked_prefixes or early" '{«"limit":[]}'
json 1 "weir: -: the file is empty; an empty configuration is \{\}" ''
for conf in '\0' '\0{}' '{}\0' '{"exempts"\0:[]}' '{"exempts\0":[]}' ' \0'; do
	printf %b "$conf" >conf
	run -check -json -file conf
	like "$status $err" '^1 weir: conf:1:[0-9]+: not JSON: NUL byte' "JSON with a NUL byte: $conf"
done
{
	printf '{"exempts":['
	printf '{"prefix":"192.0.2.%d","comment":"\xc3\xb6"},' {0..99}
	printf '{"prefix":"192.0.2.256"},{"prefix":"192.0.2.100"},{"prefix":"192.0.2.101"}]}'
} >conf
checks "-json -file conf" "1 weir: conf:1:3913: prefix: invalid IPv4 or IPv6 address '192.0.2.256'
  :\"192.0.2.99\",\"comment\":\"ö\"},{\"prefix\":\"192.0.2.256\"},{\"prefix\":\"192.0.2.100\"},
                                         ^~~~~~~~~~~~~" "of a long line the part around the value is shown"

# batch
cat >'batch' <<-'CONF'
	# one command a line
	limit add a budget 5
	limit show
	limit ad b budget 1/s
CONF
checks "-batch batch" "1 weir: batch:2:20: limit add: budget: '5' has no time; for example 5/s or 5/10s
  limit add a budget 5
                     ^" "a batch ends at a failure"
run -check -force -batch batch
like "$status $err" "^1 .*batch:2:20: .*batch:4:7: limit: 'ad' abbreviates 'add'; files do not allow abbreviations" "with -force it continues"
printf '%s\n' 'exempt add 10.0.0.0/8 comment "a' 'limit show x y' >'batch'
run -check -force -batch batch
like "$status $err" '^1 weir: batch:1:31: expected a closing quotation mark.*'$'\n'' {32}\^~'$'\n''weir: batch:2:14: ' "... also after a missing quotation mark"
# a line that is too long is just another failure; the first failure's status is kept
{ seq -s ' ' 200 && echo && echo 'limit show'; } >'batch'
checks "-force -batch batch" "1 weir: batch:1: more than 128 words on one line" "with -force it continues after a line that is too long"
{ printf 'limit show x y\n' && head -c 100 /dev/zero; } >'batch'
run -check -force -batch batch
like "$status $err" "^1 weir: batch:1:14: .*batch:2: NUL byte" "... and after a line with a NUL byte"
[ -e /sys/module/weir ] || {
	{ echo 'limit show' && seq -s ' ' 200; } >'batch'
	run -force -batch batch
	is "$status" 3 "a batch exits with the first failure's status"
}
checks "-batch nosuchfile" "1 weir: nosuchfile: cannot open: No such file or directory" "no such batch"
printf '\xef\xbb\xbflimit show\r\nlimit add a budget 5\r\n' >'batch'
run -check -batch batch
like "$status $err" "^1 weir: batch:2:20: limit add: budget: '5' has no time" "a batch with byte order mark and CRLF"
: >'batch'
checks "-batch batch" "0 " "an empty batch succeeds"
echo 'limit show -j' >'batch'
run -check -batch batch
like "$err" "options precede the object" "options are not accepted in a batch"
seq -f 'limit add l%.0f budget 1/s to ::/0' 100000 >'batch'
checks "-batch batch" "0 " "a batch of 100,000 lines"

# a note on many limits is printed for the first, and the others are counted
seq -f 'limit add l%.0f budget 1/s' 3 >conf
for option in -file -batch; do
	run -check $option conf
	is "$status $err" "0 weir: note: conf:1: limit 'l1' has no 'to', 'dport' or 'syn': it also counts replies to this host's own connections
weir: note: conf: each of 2 more limits has no 'to', 'dport' or 'syn': it also counts replies to this host's own connections" \
		"a note on many limits ($option)"
done

printf 'limit add a budget 1/s\nlimit add hst budget 1/s\n' >conf
run -check -file conf
like "$err" $'\n'"weir: note: conf:2: limit 'hst' has no 'to'" "... or, for one more, with its line and name"

# the caller's own ssh connection
export SSH_CONNECTION='198.51.100.7 50123 192.0.2.1 22'
echo 'limit add host budget 1/s to 192.0.2.1' | good "a limit that matches the caller's ssh connection"
is "$err" "weir: warning: conf:1: limit 'host' applies to your own ssh connections; to exempt them: weir exempt add 198.51.100.7" "... causes a warning"
seq -f 'limit add l%.0f budget 1/s to 192.0.2.1' 3 | good "several limits that match it"
is "$err" "weir: warning: conf:1: limit 'l1' applies to your own ssh connections; to exempt them: weir exempt add 198.51.100.7
weir: warning: conf: each of 2 more limits applies to your own ssh connections; to exempt them: weir exempt add 198.51.100.7" "... cause one warning, with the number of the others"
printf 'limit add host budget 1/s to 192.0.2.1\nexempt add 198.51.100.0/24\n' | good "a limit with the ssh peer exempt"
is "$err" "" "... causes no warning"
# ssh_meets yes|no LINE...: does a file of these lines cause the warning?
ssh_meets() {
	local wanted=$1 warned=no
	shift
	printf '%s\n' "$@" >conf
	run -check -file conf
	[[ $err != *"applies to your "@(own|new)" ssh connections"* ]] || warned=yes
	is "$status $warned" "0 $wanted" "$SSH_CONNECTION: $*" || diag "$err"
}
for words in '' 'family ipv4' 'from 198.51.100.0/24' 'proto tcp' \
	'to 192.0.2.0/24 proto tcp dport 22' 'proto tcp sport 50000-60000' 'not from 10.0.0.0/8' \
	'not proto udp' 'not syn' 'proto tcp dport 22 syn' 'not frag' 'not to 2001:db8::/32' 'dev eth0' \
	'not dev eth0' 'mark 7'; do
	ssh_meets yes "limit add web budget 1/s $words"
done
for words in 'family ipv6' 'from 198.51.100.0/30' 'proto udp' 'to 192.0.3.0/24' \
	'to 192.0.2.0/24 proto tcp dport 23-65535' 'proto tcp not dport 22' 'proto tcp dport 80 syn' \
	'frag' 'not from 198.51.100.0/24' 'not proto tcp' 'from 2001:db8::/32'; do
	ssh_meets no "limit add web budget 1/s $words"
done
web='limit add web budget 1/s to 192.0.2.1'
ssh_meets no "$web" 'exempt add 198.51.100.0/24 limit web'
ssh_meets yes "$web" 'exempt add 198.51.100.8/31'
ssh_meets yes "$web" 'exempt add 198.51.100.0/24 dev eth0' # packets may arrive on another device
ssh_meets yes "$web" 'limit add dns budget 1/s syn' 'exempt add 198.51.100.0/24 limit dns'
SSH_CONNECTION='fe80::7%eth1 50123 fe80::1%eth1 22'
ssh_meets yes 'limit add web budget 1/s dev eth1'
ssh_meets yes 'limit add web budget 1/s from fe80::/10'
ssh_meets no 'limit add web budget 1/s dev eth0'
ssh_meets no 'limit add web budget 1/s not dev eth1'
for SSH_CONNECTION in '198.51.100.7 1 2' 'a 1 b 2' '198.51.100.7 x 192.0.2.1 22' 'UNKNOWN 65535 UNKNOWN 65535'; do
	run -check -file conf
	is "$status" 0 "SSH_CONNECTION='$SSH_CONNECTION' is ignored"
done
SSH_CONNECTION='198.51.100.7 50123 192.0.2.1 22'
[ -e /sys/module/weir ] || says <<'LINES'
0 | -check limit add host budget 1/s to 192.0.2.1 | ^weir: warning: limit 'host' applies to your own ssh connections; to exempt them: weir exempt add 198.51.100.7$
0 | -check limit set host match to 192.0.2.1 action drop | ^weir: warning: limit 'host' applies to your own ssh connections
0 | -check limit add ssh budget 1/s to 192.0.2.1 tcp dport 22 syn | ^weir: warning: limit 'ssh' applies to your new ssh connections; to exempt them: weir exempt add 198.51.100.7$
0 | -check limit add host budget 1/s to 192.0.2.1 action observe |
LINES
# A process that is there until its input ends
coproc elsewhere { unshare -rn bash -c 'echo $$; read -r' 2>/dev/null; }
if read -r other <&"${elsewhere[0]}"; then
	run -check -n "$other" limit add host budget 1/s to 192.0.2.1
	is "$status$err" 0 "no warning in another namespace"
	echo >&"${elsewhere[1]}"
else
	skip "no user namespaces" "no warning in another namespace"
fi
finish
