#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016 # $ is the tool's
# diff against nothing, which is in force without the module; tests/netns/diff.t has the rest.
. "$(dirname "$0")/lib.sh"
[ ! -e /sys/module/weir ] || skip_all "the module is loaded"

cat >conf <<-'CONF'
	exempt add 192.0.2.1 limit web comment "a # b"
	block add 203.0.113.0/24
	limit add web budget 1000/s not from 10.0.0.0/8,192.168.0.0/16 to 192.0.2.0/24 tcp dport 443
	early dev nosuch0
	limit add first budget 5/1m before web comment "$x"
	prefix-list add few 10.0.0.0/8,::1
CONF
run diff conf
is "$status $out" '1 --- in force
+++ conf
@@ -0,0 +1,7 @@
+prefix-list add few 10.0.0.0/8
+prefix-list add few ::1
+limit add first budget 5/m comment "$x"
+limit add web budget 1000/s not from 10.0.0.0/8,192.168.0.0/16 to 192.0.2.0/24 proto tcp dport 443
+exempt add 192.0.2.1 limit web comment "a # b"
+block add 203.0.113.0/24
+early dev nosuch0 mode native' "all that a file has, as save writes it"
is "$err" "weir: note: the module is not loaded: nothing is in force" "... with a note"
cp out lines
for option in -quiet -check; do
	run $option diff conf
	is "$status $(cksum <out)" "1 $(cksum <lines)" "$option changes nothing of that"
done
"$weir" diff - <conf >out 2>/dev/null
is "$? $(sed 's/^+++ -$/+++ conf/' out | cksum)" "1 $(cksum <lines)" "a file from stdin"
mkdir d && echo 'include ../conf' >d/inc
run diff d/inc
is "$status $(sed 's/^+++ .*/+++ conf/' out | cksum)" "1 $(cksum <lines)" "a file that includes another"
seq -f 'prefix-list add long 10.0.%.0f.0/24' 0 40 >long
run diff long
is "$(grep -c '^+prefix-list add long 10.0.[0-9]*.0/24$' out)" 41 "each prefix of a list has a line"
awk 'BEGIN { for (i = 0; i < 4096; i++) for (j = 0; j < 16; j++)
	printf "%s10.%d.%d.%d/28%s", j ? "," : "prefix-list add most ", i / 256, i % 256, j * 16, j < 15 ? "" : "\n" }' >all
run diff all
is "$status $(grep -c '^+prefix-list' out)" "1 65536" "as many prefixes as the module takes"
is "$(PATH=/nonexistent "$weir" -quiet diff conf 2>&1; echo $?)" $'weir: diff: diff, of diffutils, cannot be run\n2' "without diff"

echo '# none' >none
says <<'LINES'
0 | diff none | ^weir: note: the module is not loaded: nothing is in force$
0 | -quiet diff none |
2 | -quiet diff nosuch | ^weir: nosuch: cannot open: No such file or directory.weir: diff: nothing was compared: nosuch cannot be applied$
2 | diff none none | ^weir: diff: unexpected argument 'none'$
2 | diff '' | ^weir: diff: a file's name cannot be empty$
LINES
printf '# one\nlimit add a budget 5\n' >bad
run -quiet diff bad
is "$status $err" "2 weir: bad:2:20: limit add: budget: '5' has no time; for example 5/s or 5/10s
  limit add a budget 5
                     ^
weir: diff: nothing was compared: bad cannot be applied" "an error in the file"
[ -e /etc/weir.conf ] || {
	run -quiet diff
	like "$status $err" "^2 weir: /etc/weir.conf: cannot open" "without a file, that of the service"
}
printf 'diff none\ndiff bad\n' >'batch'
run -quiet -batch batch
like "$status $err" "^2 weir: bad:2:20: .*weir: batch:2: diff: nothing was compared" "in a batch"
{ seq -f 'exempt add 10.0.0.%.0f' 200 && printf 'limit add %s budget 5/s\n' a b && printf 'diff one\nlimit add c budget 5/s\nlimit add d bad\n'; } >'batch'
printf 'quiet\nlimit add z budget 5/s\n' >one
run -check -batch batch
is "$(grep -o "^weir: note: .*limit '[abc]'" <<<"$err" | paste -sd '|')" "weir: note: batch:201: limit 'a'|weir: note: batch:202: limit 'b'|weir: note: batch:204: limit 'c'" "... whose notes name its own lines"
is "$status $(tail -n 3 <<<"$err" | head -n 1)" "1 weir: batch:205:13: limit add: unknown word 'bad'; the nearest are: tz, dev, to; help lists all" "... and which goes on behind a difference"
("$weir" -quiet diff all 2>err; echo "$?" >ended) | head -n 1 >out
is "$(<ended) $(<err)" "141 " "a reader that goes ends it, as it does diff"
(trap '' CHLD; "$weir" -quiet diff conf >out; echo "$?" >ended)
is "$(<ended) $(cksum <out)" "1 $(cksum <lines)" "SIGCHLD ignored"
is "$("$weir" -quiet diff conf 2>&1 >/dev/full; echo $?)" $'diff: standard output: No space left on device\nweir: diff: diff, of diffutils, failed\n4' "output that cannot be written"
finish
