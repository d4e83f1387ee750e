#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC1003,SC2016 # $ and \ are the tool's
# include and define in files: what they mean, and where errors are. -file -check shows notes by
# the line that a limit is on, which tells where the tool has found it.
. "$(dirname "$0")/lib.sh"
mkdir -p d/e

# good NAME: the file on stdin should pass; $err has its notes
good() {
	cat >conf
	run -check -file conf
	is "$status" 0 "$@" || diag "$err"
}

# bad PATTERN NAME: the file on stdin should fail with one error
bad() {
	cat >conf
	run -check -file conf
	like "$status ${err%%$'\n'*}" "^1 weir: $1" "$2"
	is "$(grep -c ^weir <<<"$err")" 1 "... and is the only error" || diag "$err"
}
# limits on replies cause a note, which names the file and the line
limit() { echo "limit add $1 budget 1/s"; }

# define
good "values, sets, and names in them" <<-'CONF'
	define lan = 10.0.0.0/8
	define web=80,443
	define all = { $web, 22 } # one line
	define nets= {  # several lines
		$lan, 192.168.0.0/16
		, 172.16.0.0/12,
	}
	define rate ={100/s}
	define text = "a $lan, b # c"
	define other = '$lan'
	define a_b-c.d = ::/0
	define dev = lo
	limit add a budget $rate from $nets,192.0.2.0/24 to 192.0.2.1 tcp dport $all,8080 comment $text
	limit add b budget 1/s to $a_b-c.d comment $other
	limit add c budget 1/s to ::/0 comment '$nothing' dev $dev
	limit add d budget 1/s to ::/0 comment "a,$nothing" dev "$x"
	exempt add $lan
	early $dev
CONF
printf 'define n = { 10.0.0.0/8,192.168.0.0/16 }\nlimit add a budget 1/s to $n from 192.168.1.1,$n' >conf
run -check -file conf
like "$err" "^weir: conf:2:35: limit add: from: 192.168.1.1 and 192.168.0.0/16 overlap" "a value obeys the rules of one that is written"
like "$err" $'\n''  limit add a budget 1/s to \$n from 192.168.1.1,\$n'$'\n'' {36}\^~+$' "... and the word with the name is marked"
{ printf 'define n = {' && printf '10.0.0.%d,' {0..16} && echo '}' && echo 'limit add a budget 1/s from $n'; } |
	bad "conf:2:29: limit add: from: more than 16 in a list" "a set of 17 prefixes"
bad "conf:1:24: '\\\$n': no such name is defined above; put a word that begins with \\\$ in quotes\$" "a name that is not defined" <<<'limit add a budget 1/s $n'
bad "conf:2:12: '\\\$lna': no such name is defined above; did you mean 'lan'\?\$" "... but for its spelling" < <(printf 'define lan = 10.0.0.0/8\nexempt add $lna\n')
bad "conf:1:12: '\\\$n': no such name" "a name that is defined below" < <(printf 'exempt add $n\ndefine n = ::/0\n')
bad "conf:2:8: define: 'n' was already defined on line 1\$" "a name twice" < <(printf 'define n = 1\ndefine n = 1\n')
bad "conf:1:12: define: '\\\$n' is used in its own definition" "a name in its own definition" <<<'define n = $n'
bad "conf:1:14: define: '\\\$n' is used in its own definition" "... in a set" <<<'define n = { ::,$n }'
bad "conf:1:12: define: '\\\$m': no such name" "two names that need each other" <<<'define n = $m'
bad "conf:1:1: '\\\$n' cannot begin a line" "a name for an object" <<<'$n add 10.0.0.0/8'
bad "conf:2:12: '\\\$n/8': expected \\\$ and a name" "a part of a word" < <(printf 'define n = 10.0.0.0\nexempt add $n/8\n')
bad "conf:1:12: '\\\$': expected \\\$ and a name" "a dollar sign" <<<'exempt add $'
bad "conf:1:1: define: '': a name has up to 31 letters" "no name" <<<'define'
bad "conf:1:8: define: '5a': a name has" "a name that begins with a digit" <<<'define 5a = 1'
bad "conf:1:8: define: '.n': a name has" "... with the sign" <<<'define $n = 1'
bad "conf:1:8: define: 'n{32}': a name has up to 31" "a long name" <<<"define $(printf 'n%.0s' {1..32}) = 1"
bad "conf:1:8: define: expected '=' and a value: define n = VALUE" "no =" <<<'define n'
bad "conf:1:10: define: expected '='" "another word for it" <<<'define n is 1'
bad "conf:1:10: define: the value of 'n' is missing" "no value" <<<'define n ='
bad "conf:1:14: define: unexpected argument '2': put a value of several words in quotes" "two values" <<<'define n = 1 2'
bad "conf:1:16: define: separate the values by ','" "a set without commas" <<<'define n = { 1 2 }'
bad "conf:1:14: define: a value is missing before ','" "a comma too many" <<<'define n = { , 2 }'
bad "conf:1:12: define: the values of 'n' are missing" "an empty set" <<<'define n = {}'
bad "conf:1:18: define: unexpected argument '3': the values end at '}'" "a value behind a set" <<<'define n = { 1 } 3'
bad "conf:1: define: the values of 'n' do not end with '}'" "a set without end" < <(printf 'define n = { 1,\n2\n')
bad "conf:3:3: define: separate the values by ','" "a bad line of a set" < <(printf 'define n = {\n1,\n2 3\n}\nexempt add ::1\n')
{ for i in {1..1024}; do echo "define n$i = 1"; done; } | good "1024 names"
{ for i in {1..1025}; do echo "define n$i = 1"; done; } | bad "conf:1025:8: define: more than 1024 definitions" "1025 names"
# each value is ten times that of the name before
{ echo 'define n0 = 0123456789' && for i in {1..6}; do printf 'define n%d = { ' "$i" && printf "\$n$((i - 1)),%.0s" {1..10} && echo '}'; done; } >conf
run -check -file conf
like "$status $err" '^1 weir: conf:4:[0-9]+: define: a value of more than 4096 bytes'$'\n' "values that multiply"
echo 'limit add a budget 1/s syn proto $p' | sed '1i define p = udp' | bad 'conf:2:24: limit add: syn requires proto tcp' "words that contradict each other"
printf 'define n = web\nexempt add ::1 limit $n\n' | bad "conf:2:22: exempt add: limit: no limit 'web' in this file" "a limit that does not exist"
run -check limit add a budget 1/s to ::/0 comment '$x'
is "$status" 0 "on the command line, a word with \$ is that"
printf '%s\n' 'limit add a budget 1/s to ::/0 dev $x' >conf
run -check -batch conf
is "$status" 0 "... and in a batch"
says <<'LINES'
1 | define n = 5 | ^weir: 'define' is for a file that 'weir -file' reads$
1 | include conf | ^weir: 'include' is for a file that 'weir -file' reads$
LINES
bad "conf:1:1: 'defin' cannot be used here; expected .*, 'define' or 'include'" "no abbreviations" <<<'defin n = 1'

# include
limit a >d/a.conf && limit b >d/b.conf && limit hidden >d/.c.conf && limit c >d/c.txt
(limit one && echo 'include "d/*.conf"   # both' && limit two) >conf
run -check -file conf
like "$status $err" "^0 weir: note: conf:1: limit 'one' has .*each of 3 more" "a pattern: all files but hidden ones"
for name in a b; do
	(echo 'include d/*.conf' && limit $name) >conf
	run -check -file conf
	like "$status $err" "^1 weir: conf:2:11: limit add: limit '$name' was already defined on line 1 of d/$name.conf" "... $name.conf is among them"
done
printf 'limit add 10 budget 1/s\n' >d/10.conf && printf 'limit add 9 budget 1/s before 10' >d/9.conf
good "... in the order of their names, and the last line needs no newline" <<<'include d/*.conf'
printf 'limit add 10 budget 1/s before 9\n' >d/10.conf && printf 'limit add 9 budget 1/s\n' >d/9.conf
bad "d/10.conf:1:32: limit add: before: no limit '9'" "... an error names its file and line" <<<'include d/*.conf'
rm d/9.conf d/10.conf
(limit x && limit y && limit 'z 5') >d/e/bad.conf
printf '# first\ninclude e/bad.conf\n' >d/deep.conf
bad "d/e/bad.conf:3:13: limit add: unknown word '5'" "a file that a file includes, relative to it" <<<'include d/deep.conf'
bad "$tmp/d/e/bad.conf:3:13: limit add" "... by its whole path" <<<"include '$tmp/d/deep.conf'"
(cd d && "$weir" -check -file - <<<'include e/bad.conf' 2>&1) >out
like "$(<out)" "^weir: e/bad.conf:3:13" "... of standard input, relative to the current directory"
rm d/deep.conf
bad "conf:1:9: include: nosuch: cannot open: No such file or directory" "a file that does not exist" <<<'include nosuch'
printf 'limit add a budget 1/s to ::/0\ninclude nosuch/*.conf\ninclude d/*.nosuch\n' | good "a pattern may match nothing, in no directory"
echo 'include d/[x-z].conf' | good "... also alone: the file is not empty"
bad "conf:1:9: include: d: cannot read: Is a directory" "a directory" <<<'include d'
: >d/empty
bad "conf:1:9: include: d/empty: the file is empty; use a comment" "an empty file was probably truncated" <<<'include d/empty'
bad "conf:1:1: include: expected one file" "no file" <<<'include'
bad "conf:1:9: include: expected one file" "two files" <<<'include d/a.conf d/b.conf'
bad "conf:1:9: include: expected one file" "... or none" <<<'include ""'
bad "conf:1:9: include: conf: the file includes itself" "a file that includes itself" <<<'include conf'
echo 'include "../conf"' >d/back
bad "d/back:1:9: include: d/../conf: the file includes itself" "... by another one" <<<'include d/back'
ln -s ../conf d/link
bad "conf:1:9: include: d/link: the file includes itself" "... or a link" <<<'include d/link'
for i in {1..16}; do echo "include f$((i + 1))" >"f$i"; done && limit last >f17
echo 'include f3' | good "fifteen files deep"
bad "f15:1:9: include: f16: more than 16 files include each other" "deeper" <<<'include f1'
mkdir many && (cd many && printf '# %s\n' {1..4096} | split -l 1 -a 4 --additional-suffix=.conf -)
bad "conf:1:9: include: many/.*: more than 4096 files" "too many files" <<<'include many/*.conf'
(limit large && yes '# 4567 9' | head -c 9000000) >big
bad "conf:2:9: include: big: with all included files larger than 16 MiB" "too large together" < <(yes '# 4567 9' | head -n 980000 | tr -d '\n' && printf '\ninclude big\n')
printf 'limit add z budget 1/s to ::/0 \\' >d/open && printf 'limit add q comment "x \\' >d/quote
printf 'include d/open\nexempt add ::1\n' | good "a line does not continue behind the end of its file"
bad "d/quote:1:21: expected a closing quotation mark" "... nor does a quotation" < <(printf 'include d/quote\nexempt add ::1 comment "x"\n')
printf '\xef\xbb\xbflimit add bom budget 1/s to ::/0\r\n' >d/bom
printf '\xef\xbb\xbfinclude d/bom\r\n' | good "byte order marks and CRLF"
printf 'exempt add ::1\0\n' >d/nul
bad "d/nul:1: NUL byte" "a binary file" <<<'include d/nul'
printf 'define n = ::/0\n' >d/names && printf 'limit add n budget 1/s to $n\ndefine m = $n\n' >d/uses
printf 'include d/names\ninclude d/uses\nlimit add m budget 1/s to $m\n' | good "names are those of all files"
bad "d/names:1:8: define: 'n' was already defined on line 1 of conf" "... and defined once in all" < <(printf 'define n = 1\ninclude d/names\n')
echo 'define n = {' >d/set
bad "d/set:1: define: the values of 'n' do not end with '}'" "a set without end" <<<'include d/set'
echo 'exempt add ::1' >d/x && echo 'exempt add ::1' >d/y
bad "d/y:1:12: exempt add: already exempted on line 1 of d/x" "the same exemption in two files" <<<'include d/[xy]'
mkfifo fifo && { cat >fifo <<<'include d/e/bad.conf' & }
run -check -file fifo
like "$status $err" "^1 weir: d/e/bad.conf:3:13: limit add: unknown word '5'" "from a FIFO"
run -check -file "$top/userspace/weir.conf"
is "$status $err" "0 " "the configuration as it is installed"
finish
