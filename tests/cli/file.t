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
	limit add early budget 1/s before web to ff00::/8
CONF
printf 'early dev nosuch0\nlimit add web budget 1/s to ff00::/8\nearly mode generic dev nosuch1\n' | good "devices that drop early"
bad "2: early: device 'x0' was already given on line 1" "a device given twice" < <(printf 'early dev x0\nearly dev x0 mode generic\n')
bad "1: early: required: dev IFACE" "no device" <<<'early mode generic'
bad "1: early: mode: unknown word 'fast'" "a mode that does not exist" <<<'early dev x0 mode fast'
printf 'xdp attach dev nosuch0\nlimit add web budget 1/s to ff00::/8\nxdp attach mode generic dev nosuch1\n' | good "... also as the command"
bad "2: xdp attach: device 'x0' was already given on line 1" "... a device given twice" < <(printf 'early dev x0\nxdp attach dev x0\n')
bad "1: 'xdp detach' cannot be used here" "xdp detach is not accepted in a file" <<<'xdp detach dev x0'
printf 'limit add web budget 1/s to ff00::/8\r\nexempt add ::/0\r\n' | good "CRLF line ends"
printf 'limit add web budget 1/s to ff00::/8' | good "a last line without newline"
printf '\xef\xbb\xbflimit add web budget 1/s to ff00::/8\r\n' | good "a byte order mark"
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
	limit add web budget 1/s to ff00::/8 # all \
	limt add dns budget 1/s
CONF
bad "1: 'limit set' cannot be used here" "limit set is not accepted in a file" <<<'limit set web budget 1/s'
bad "1: 'monitor'" "... nor monitor" <<<'monitor'
bad "1: unknown word 'limt'; did you mean 'limit'" "an unknown object" <<<'limt add web budget 1/s'
bad "1: limit add: 'bud' abbreviates 'budget'; files do not allow abbreviations" "no abbreviations in files" <<<'limit add web bud 1/s'
bad "1: 'l' abbreviates 'limit'; files do not allow abbreviations" "... not of objects" <<<'l add web budget 1/s'
bad "1: 'ad' abbreviates 'add'; files do not allow abbreviations" "... nor of verbs" <<<'limit ad web budget 1/s'
bad "1: omit 'weir'" "a line as it is typed in a shell" <<<'weir limit add web budget 1/s'
bad "1: 'rate' cannot be used here; expected 'limit add', 'exempt add', 'block add', 'prefix-list add', 'early dev' or 'include'; for words of other tools see weir-limit\(8\)\$" "a word that begins no line" <<<'rate 5'
good "help may be a name, as weir save may have written it" <<<'limit add help budget 1/s to ff00::/8'
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
{ echo 'limit add web budget 1/s to ff00::/8' && yes '# 4567 9' | head -c $((67108864 - 37)); } | good "a file of 64 MiB"
{ echo 'limit add web budget 1/s to ff00::/8' && yes '# 4567 9' | head -c $((67108865 - 37)); } | bad " larger than 64 MiB" "a file of one byte more"
# without a limit on memory, input without end would take all of it
without_end() { yes "$1" 2>/dev/null | (ulimit -v 400000 && "$weir" -check "${@:2}" 2>&1); }
like "$(without_end '# x' -file -)" "^weir: -: larger than 64 MiB\$" "a file without end"
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
	limit add web budget 1/s to ff00::/8 comment "a # \"b\" \\" # a comment
	limit add "dns" budget 1/s to ff00::/8 comment '\' before web # \
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
echo '"" x' | bad "1: '' cannot be used here; expected 'limit add', 'exempt add', 'block add', 'prefix-list add', 'early dev' or 'include'" "an empty word"

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
	limit add web budget 1/s to ff00::/8
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
for option in -file "-json -file"; do
	checks "$option conf" "1 weir: conf:1: this is JSON, which -json prints; a file has commands, as 'weir save' writes them" "JSON, once: $option"
done

# sizes
seq -f 'limit add l%.0f budget 1/s to ff00::/8' 256 | good "256 limits"
seq -f 'limit add l%.0f budget 1/s to ff00::/8' 257 | bad '257: limit add: more than 256 limits' "257 limits"
for i in {0..255}; do printf "exempt add 10.0.$i.%d\n" {0..255}; done >full
good "65536 exemptions" <full
(cat full && echo 'exempt add 11.0.0.0') | bad '65537: exempt add: more than 65536 exemptions' "65537 exemptions"
seq -f '# comment %.0f' 100000 | good "100,000 lines"
(seq -f '# comment %.0f' 99999 && echo "limit") | bad "100000: 'limit' cannot be used" "an error in line 100,000"
for a in {1..10}; do seq -f "exempt add 2001:db8::$a:%.0f" 0 9999; done | bad '65537: exempt add: more than 65536' "100,000 exemptions"

# from stdin, and as an interpreter
"$weir" -check -file - <<<'limit add web budget 1/s to ff00::/8' >out 2>err
is "$?$(said err)" 0 "a file from stdin"
printf '#!%s -file\nlimit add web budget 5\n' "$weir" >script && chmod +x script
err=$(./script 2>&1)
is "$? ${err%%$'\n'*}" "1 weir: ./script:2:22: limit add: budget: '5' has no time; for example 5/s or 5/10s" "an executable file"

# Lists, against each other and the limits that use them
good "a list is used above its definition" <<-'CONF'
	limit add a budget 5/1s from-list l to-list m budgets-by l dport 9 udp
	prefix-list add l 10.0.0.0/8=7,10.1.0.0/16
	prefix-list add m 2001:db8::/32
CONF
bad "2: limit add: from-list: no list 'm' in this file; did you mean 'l'\?$" "from-list of no list" <<-'CONF'
	prefix-list add l 10.0.0.0/8
	limit add a budget 5/1s from-list m
CONF
bad "1: limit add: to-list: no list 'm' in this file; there is none$" "to-list of no list" <<<'limit add a budget 5/1s to-list m'
bad "1: limit add: budgets-by: no list 'm' in this file" "budgets-by no list" <<<'limit add a budget 5/1s budgets-by m'
{ echo 'limit add a budget 5/1s budgets-by customer' && printf 'prefix-list add %s 10.0.0.0/8\n' mail customers customers; } |
	bad "1: limit add: budgets-by: no list 'customer' in this file; did you mean 'customers'\?$" "... but one of nearly that name"
{ echo 'limit add a budget 5/1s budgets-by x1' && printf 'prefix-list add %s 10.0.0.0/8\n' mail customers mail; } |
	bad "1: limit add: budgets-by: no list 'x1' in this file; there are: customers, mail$" "... or others, each named once"
{ echo 'limit add a budget 5/1s budgets-by x1' && printf 'prefix-list add a-long-name-of-a-list-%s 10.0.0.0/8\n' {10..50}; } |
	bad "1: limit add: budgets-by: no list 'x1' in this file; there are: a-long-name-of-a-list-10, .*, \.\.\.$" "... or too many"
bad "2:35: prefix-list add: 10.0.0.0/8 has another budget in list 'l' on line 1" "a prefix with two budgets" <<-'CONF'
	prefix-list add l 10.0.0.0/8=5
	prefix-list add l 2001:db8::/32=5,10.0.0.0/8=6
CONF
bad "2:19: prefix-list add: 10.0.0.0/8 has another budget in list 'l' on line 1" "... or one and none" <<-'CONF'
	prefix-list add l 10.0.0.0/8=5
	prefix-list add l 10.0.0.0/8
CONF
printf 'prefix-list add %s 10.0.0.0/8=%s\n' l 5 m 6 l 5 | good "a prefix twice with the same budget, and in two lists"
bad "3:19: prefix-list add: 10.0.0.0/25 is a part of a source of limit 'a', a /24: put it into the list of another limit" "a prefix longer than a source" <<-'CONF'
	limit add a budget 5/1s budgets-by l per 24
	prefix-list add l 10.0.0.0/24
	prefix-list add l 10.0.0.0/25
CONF
bad "2:19: prefix-list add: 2001:db8::1 is a part of a source of limit 'a', a /64: put it" "... of IPv6" <<-'CONF'
	limit add a budget 5/1s budgets-by l
	prefix-list add l 2001:db8::1
CONF
bad "2:19: prefix-list add: 10.0.0.0/8=5G, by limit 'a': a budget of packets is at most 4294967295 a window" "a budget out of range" <<-'CONF'
	limit add a budget 5/1s budgets-by l
	prefix-list add l 10.0.0.0/8=5G
CONF
printf 'limit add a budget 5/1s bytes budgets-by l to ff00::/8\nprefix-list add l 10.0.0.0/8=5G\n' | good "... unless it is of bytes"
seq -f 'prefix-list add l%.0f ::/0' 64 | good "64 lists"
seq -f 'prefix-list add l%.0f ::/0' 65 | bad "65: prefix-list add: more than 64 lists" "... and no more"
addresses() { for ((i = 0; i < $1; i++)); do echo "prefix-list add l 10.$((i / 65536)).$((i / 256 % 256)).$((i % 256))"; done; }
addresses 65536 | good "65,536 prefixes"
bad "1:19: prefix-list add: '5/s': a budget in a list is a number, such as 2000 or 10M; its unit and window are those of the limit" \
	"a budget with a window" <<<'prefix-list add l 10.0.0.0/8=5/s'
# shellcheck disable=SC2016 # names of the file
addresses 65537 | bad "65537: prefix-list add: more than 65536 prefixes in lists" "... and no more"

# notes PATTERN NAME: what is said of the valid file on stdin
notes() {
	cat >conf
	run -check -file conf
	like "$status $err" "^0 .*$1" "$2"
}
notes "note: conf:2: limit 'a': no prefix of its list 'l' has a budget, so each source has that of the limit" \
	"budgets-by a list without budgets" <<-'CONF'
	prefix-list add l 10.0.0.0/8
	limit add a budget 5/1s budgets-by l to ff00::/8
CONF
notes "note: conf:3: limit 'a' does not match packets from 2 prefixes of 'l' with a budget: 10.0.2.0/24, 192.0.2.0/24" \
	"budgets that are for nobody" <<-'CONF'
	prefix-list add l 10.0.0.0/24=5,10.0.2.0/24=5,10.0.1.0/24=5,10.0.3.0/24=5,10.0.4.0/24,10.1.0.0/16=9,192.0.2.0/24=5
	prefix-list add m 10.0.0.0/23,10.0.3.7,10.0.1.0/26,10.1.2.0/24
	limit add a budget 5/1s budgets-by l from-list m to ff00::/8
CONF
notes "note: conf:2: limit 'a' does not match packets from 1 prefix of 'l' with a budget: 10.0.0.0/24" \
	"... by their family" <<-'CONF'
	prefix-list add l 10.0.0.0/24=5,2001:db8::/64=5
	limit add a budget 5/1s budgets-by l to ff00::/8 family ipv6
CONF
notes "note: conf:2: limit 'a': 2 prefixes of 'l' hold several of its sources, of which each has the whole budget: 10.0.0.0/23, 2001:db8::/48" \
	"budgets of several sources" <<-'CONF'
	prefix-list add l 10.0.0.0/23=5,2001:db8::/48=5,10.1.0.0/24=7,10.0.0.0/22
	limit add a budget 5/1s budgets-by l per 24,64 to ff00::/8
CONF
notes "note: conf:2: limit 'a': 5 prefixes of 'l' hold several of its sources, of which each has the whole budget: 10.0.0.0/23, 10.0.2.0/23, 10.0.4.0/23, ...\$" \
	"... without per, and of many only three" <<-'CONF'
	prefix-list add l 10.0.0.0/23=5,10.0.2.0/23=5,10.0.4.0/23=5,10.0.6.0/23=5,10.0.8.0/23=5,10.1.0.0=5
	limit add a budget 5/1s budgets-by l to ff00::/8
CONF
# customers CONDITIONS-OF-C29 [LINE...]: a limit for customers of each length, one for others, and more
customers() {
	cat <<-CONF
		prefix-list add c24 203.0.113.0/24=2000
		prefix-list add c29 198.51.100.0/29=500
		prefix-list add every 203.0.113.0/24,198.51.100.0/29,198.51.100.8/29
		limit add c24 budget 100/s budgets-by c24 from-list c24 per 24,64 to ff00::/8
		limit add others budget 100/s not from-list every to ff00::/8
		limit add c29 budget 100/s budgets-by c29 from-list c29 per 29,64 $1
	CONF
	printf '%s\n' "${@:2}"
}
forgotten="warning: conf:5: limit 'others' leaves out list 'every', of which no other limit matches"
notes "$forgotten 1 prefix, so that nothing limits it: 198.51.100.8/29" "who has no limit while others of the list have" < <(customers "to ff00::/8")
notes "$forgotten 2 prefixes, so that nothing limits them: 198.51.100.0/29, 198.51.100.8/29" "... as that is of another family" < <(customers "to ff00::/8 family ipv6")
notes "$forgotten 2 prefixes" "... or has another condition" < <(customers "to ff00::/8 dport 9 udp")
notes "$forgotten 2 prefixes" "... or another device" < <(customers "to ff00::/8 dev lo")
notes "$forgotten 2 prefixes" "... or only observes" < <(customers "to ff00::/8 action observe")
notes "$forgotten 1 prefix, so that nothing limits it: 198.51.100.8/29" "... and those of a limit by from have one" < <(customers "to ff00::/8 dev lo" \
	"limit add more budget 1/s from 198.51.100.0/30")
notes "warning: conf:5: limit 'others' is for all but list 'every', which lacks 1 prefix of list 'c29', so it applies to them beside limit 'c29': 198.51.101.0/29" \
	"who has a limit of his own, and is met by that of others" < <(customers "to ff00::/8" "prefix-list add c29 198.51.101.0/29=5")
both="warning: conf:5: limit 'others' is for all but list 'every', which lacks 1 prefix of list 'c28', so it applies to them beside limit 'c28': 198.51.100.32/28"
c28=("prefix-list add c28 198.51.100.32/28=600" "limit add c28 budget 100/s budgets-by c28 from-list c28 per 28,64 to ff00::/8")
notes "$both\$" "... also if none of the list with his limit are left out" < <(customers "to ff00::/8" "${c28[@]}")
notes "$both" "... which has the larger budget itself" < <(customers "to ff00::/8" "${c28[0]/600/5}" "${c28[1]/100\/s budgets-by c28/61/10s}" | sed 's,budget 100/s not,budget 6/s not,')
unmet() { customers "to ff00::/8" "${@:2}" >conf && run -check -file conf && is "$status $(grep -c c28 <<<"$err")" "0 0" "... but not if it $1"; }
unmet "admits no more" "${c28[0]/600/100}" "${c28[1]}"
unmet "is of another unit" "${c28[0]/600/6000}" "${c28[1]/s budgets/s bytes budgets}"
unmet "is of other packets" "${c28[0]}" "${c28[1]/to/dport 9 udp to}"
notes "note: conf:7: no limit uses list 'c92'" "a list that no limit uses" < <(customers "to ff00::/8" "prefix-list add c92 198.51.101.0/29=5")
notes "note: conf:3: no limit has budgets by list 'every'" "budgets that no limit uses" < <(customers "to ff00::/8" "prefix-list add every 198.51.101.0/29=5")
quiet_of() { cat >conf && run -check -file conf && is "$status $(grep -c "note: conf:[0-9]" <<<"$err")" "0 0" "$1"; }
quiet_of "no note if a list is for those who are left out" <<-'CONF'
	prefix-list add l 10.0.0.0/8,10.0.0.1=7
	limit add a budget 5/1s not from-list l to ff00::/8
	limit add b budget 5/1s budgets-by l not from-list l to ff00::/8
CONF
quiet_of "... or a longer prefix of it is beside" <<-'CONF'
	prefix-list add l 10.0.0.0/8,10.5.0.0/16
	prefix-list add m 10.9.0.1=7
	limit add a budget 5/1s from-list l budgets-by m to ff00::/8
CONF
notes "note: conf:2: limit 'd' blocks no IPv6 source of its list by itself: 'block add ::/0 limit d' blocks all\$" "a list that is blocked in one family" < <(printf 'prefix-list add l 10.0.0.0/8,2001:db8::/32\nlimit add d blocks 1 from-list l\nblock add 0.0.0.0/0 limit d\n')
quiet_of "... or another limit is for all" < <(customers "to ff00::/8 dev lo" "limit add all-of-them budget 1/s to ff00::/8")
quiet_of "... or all of it have a limit" <<-'CONF'
	prefix-list add l 10.0.0.0/8,10.3.0.1=7
	limit add a budget 5/1s from-list l budgets-by l to ff00::/8
	limit add b budget 5/1s not from-list l to ff00::/8
CONF
cat >'batch' <<-'CONF'
	# one command a line
	limit add a budget 5
	limit show
	limit se b budget 1/s
CONF
checks "-batch batch" "1 weir: batch:2:20: limit add: budget: '5' has no time; for example 5/s or 5/10s
  limit add a budget 5
                     ^" "a batch ends at a failure"
run -check -force -batch batch
like "$status $err" "^1 .*batch:2:20: .*batch:4:7: limit: 'se' abbreviates 'set'; files do not allow abbreviations" "with -force it continues"
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
seq -f 'limit add l%.0f budget 1/s to ff00::/8' 100000 >'batch'
checks "-batch batch" "0 " "a batch of 100,000 lines"

# a note on many limits is printed for the first, and the others are counted
seq -f 'limit add l%.0f budget 1/s' 3 >conf
for option in -file -batch; do
	run -check $option conf
	is "$status $err" "0 weir: note: conf:1: limit 'l1' has no 'dport' or 'syn': it also counts replies to connections opened from here, and without 'dev' what containers and networks behind it send
weir: note: conf: each of 2 more limits has no 'dport' or 'syn': it also counts replies to connections opened from here, and without 'dev' what containers and networks behind it send" \
		"a note on many limits ($option)"
done

# noted YES-OR-NO CONDITIONS: is it said that a limit with them counts replies?
noted() {
	local said=no
	echo "limit add ping budget 1/s $2" >conf
	run -check -file conf
	[[ $err != *"counts replies"* ]] || said=yes
	is "$status $said" "0 $1" "$2: $1" || diag "$err"
}
for words in 'icmp-type echo-request' 'icmp icmp-type 8,13,15,17' 'icmpv6-type echo-request,130,137'; do noted no "$words"; done
for words in icmp 'icmp-type 8,0' 'not icmp-type 8' 'icmpv6-type echo-reply'; do noted yes "$words"; done

printf 'limit add a blocks 1\n%s\n' 'block add 192.0.2.0/24 until 2126-01-01T00:00:00Z' >conf
run -check -file conf
is "$status $err" "0 weir: warning: conf:2: 'until' is more than ten years away by this clock; what ends then ends in ten years" "a date is not refused before the clock is set"
printf 'limit add a budget 1/s\nlimit add hst budget 1/s\n' >conf
run -check -file conf
like "$err" $'\n'"weir: note: conf:2: limit 'hst' has no 'dport'" "... or, for one more, with its line and name"
finish
