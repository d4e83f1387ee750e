#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC1003,SC2016 # $ and \ are the tool's
# include in files: what it means, and where errors are. -file -check shows notes by
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

run -check include conf
is "$status $err" "1 weir: 'include' is for a file that 'weir -file' reads" "a command line has no include"
bad "conf:1:1: files have no variables; to name prefixes: prefix-list add" "no variables" <<<'define n = 1'

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
(limit a && echo 'include nosuch' && printf 'limit add b \\\n  budget 5 \\\n  rate 3\n') >d/several
printf 'include d/several\nlimit add c budget x\n' >conf
run -check -file conf
is "$status:$(grep -o '^weir: [^ ]* [a-z]*' <<<"$err" | paste -sd '|')" "1:weir: d/several:2:9: include|weir: d/several:4:10: limit|weir: conf:2:20: limit" \
	"errors of a file that is included, and behind it, are told together"
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
for ((i = 3; i > 1; i--)); do "$weir" -quiet -check -file - <<<"include f$i" 2>out && echo "$i"; done >depths
is "$(<depths)" 3 "... as from standard input"
bad "f15:1:9: include: f16: more than 16 files include each other" "deeper" <<<'include f1'
mkdir many && (cd many && printf '# %s\n' {1..4096} | split -l 1 -a 4 --additional-suffix=.conf -)
bad "conf:1:9: include: many/.*: more than 4096 files" "too many files" <<<'include many/*.conf'
yes '# 4567 9' | head -c 9000000 >big
bad "conf:8:9: include: big: with all included files larger than 64 MiB" "too large together" < <(yes 'include big' | head -n 8)
printf 'limit add z budget 1/s to ::/0 \\' >d/open && printf 'limit add q comment "x \\' >d/quote
printf 'include d/open\nexempt add ::1\n' | good "a line does not continue behind the end of its file"
bad "d/quote:1:21: expected a closing quotation mark" "... nor does a quotation" < <(printf 'include d/quote\nexempt add ::1 comment "x"\n')
printf '\xef\xbb\xbflimit add bom budget 1/s to ::/0\r\n' >d/bom
printf '\xef\xbb\xbfinclude d/bom\r\n' | good "byte order marks and CRLF"
printf 'exempt add ::1\0\n' >d/nul
bad "d/nul:1: NUL byte" "a binary file" <<<'include d/nul'
echo 'exempt add ::1' >d/x && echo 'exempt add ::1' >d/y
bad "d/y:1:12: exempt add: already exempted on line 1 of d/x" "the same exemption in two files" <<<'include d/[xy]'
mkfifo fifo && { cat >fifo <<<'include d/e/bad.conf' & }
run -check -file fifo
like "$status $err" "^1 weir: d/e/bad.conf:3:13: limit add: unknown word '5'" "from a FIFO"
run -check -file "$top/userspace/weir.conf"
is "$status $err" "0 " "the configuration as it is installed"
finish
