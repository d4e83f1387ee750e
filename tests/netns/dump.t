#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# dump.t: a dump of 100,000 sources is complete while they rest, while they send,
# and while others send
. "$(dirname "$0")/lib.sh"
need_cpus 2
begin_with <<-WORDS
	limit add d budget 1k/1h sources 400000
	limit add few budget 20/1h from 198.51.0.0/16
WORDS
flood -s 10.0.0.0 -n 100000 -c 100000
is "$(passed)" 100000 "100,000 sources send a packet each"
is "$(stat_of d evictions)" 0 "none is evicted"

# show FILE WORDS...: dump into FILE
show() {
	local file=$1
	shift
	weir -brief source show limit d "$@" >"$tmp/$file" 2>"$tmp/said"
}
show rest
is "$?:$(<"$tmp/said")" "0:" "a dump of all"
holds "... has megabytes of output" [ "$(wc -c <"$tmp/rest")" -ge 4000000 ]
# At its first lines, which nobody reads, a dump has all the memory that it gets to the end.
# Pages count, not huge ones, of which where variables are decides.
echo never >/sys/kernel/mm/transparent_hugepage/enabled
mkfifo "$tmp/first"
weir -brief source show limit d >"$tmp/first" &
exec {first}<"$tmp/first"
dumper() { pgrep -x weir && asleep "$(pgrep -x weir)"; } >/dev/null
asleep() { [ "$(awk '{ print $3 }' "/proc/$1/stat")" = S ]; }
wait_for 60 dumper || bail "no dump waits"
read -r used data <<<"$(awk '$1 == "RssAnon:" || $1 == "VmData:" { print $2 }' "/proc/$(pgrep -x weir)/status" | xargs)"
exec {first}<&-
wait "$!"
diag "a dump uses $used KiB of $data KiB of data"
(ulimit -d $((data + 256)) && exec "$top/userspace/weir" -brief source show limit d) >"$tmp/again" 2>"$tmp/said"
is "$?:$(<"$tmp/said"):$(wc -c <"$tmp/again")" "0::$(wc -c <"$tmp/rest")" "... and takes no more memory at its end than at its begin"
within "$used" 1 1024 "... which is little (KiB)"

# While they send.
sent() { stat_of d admitted.packets; }
settled() { local n; n=$(sent) && rest; [ "$(sent)" = "$n" ]; }
more() { [ "$(sent)" -gt 102000 ]; }
flooding -s 10.0.0.0 -n 100000 -R -r 5000 -k
wait_for 60 more
before=$(sent)
show going
is "$?:$(<"$tmp/said")" "0:" "a dump while they send is not interrupted"
after=$(sent)
quiet
holds "... and they did send meanwhile" [ "$after" -gt $((before + 1000)) ] || diag "from $before to $after"
wait_for 60 settled
rested=$(sent)
is "$(stat_of d evictions)" 0 "... none is evicted"

# New sources appear and become limited.
flooding -s 198.18.0.0 -n 20000 -R -r 5000 -k
flooding -s 198.51.100.0 -n 100 -R -r 5000 -k
show flood
is "$?:$(<"$tmp/said")" "0:" "a dump while others send is not interrupted"
within "$(grep -c '^198\.1[89]\.' "$tmp/flood")" 1 20000 "... and has newcomers"
quiet

# Of each dump: the 100,000, how many are listed twice, and their packets. From one
# dump to the next no count may fall, and some must rise.
awk 'FNR == 1 { file++ }
	/^10\./ {
		for (i = 2; $i != "count"; i++);
		count = $(i + 1)
		n[file]++; sum[file] += count
		twice[file] += seen[$1] == file; less += count < last[$1]; more[file] += count > last[$1]
		seen[$1] = file; last[$1] = count
	}
	END { for (file = 1; file <= 3; file++) print n[file], twice[file] + 0, sum[file], less + 0, (more[file] > 0) }' \
	"$tmp"/{rest,going,flood} >"$tmp/told"
{ read -r rest; read -ra going; read -r flood; } <"$tmp/told"
is "$rest" "100000 0 100000 0 1" "at rest each is listed once, with its packet"
is "${going[*]:0:2}" "100000 0" "while they send each is listed once"
within "${going[2]}" "$before" "$after" "... with a packet total between those before and after the dump"
is "${going[*]:3}" "0 1" "... no count has fallen, and some have risen"
is "$flood" "100000 0 $rested 0 1" "at the end each is listed once, with all its packets"

# The ranking, compared with the whole dump.
# same LIMIT FIRST SECOND: rank by FIRST; SECOND breaks ties
fields() { awk -v a="$1" -v b="$2" '{ for (i = 1; i < NF; i++) v[$i] = $(i + 1); print v[a], v[b] }'; }
same() {
	is "$(weir -brief source show limit "$1" top 30 by "$2" | fields "$2" "$3")" \
		"$(weir -brief source show limit "$1" | fields "$2" "$3" | sort -k1,1nr -k2,2nr | head -n 30)" \
		"the top 30 of $1 by $2 agree with the whole dump"
}
same few dropped count
same few count dropped
is "$(weir -brief source show limit few top 1000 | wc -l)" 100 "top with more than exist lists all"
is "$(weir -brief source show limit d 10.0.1.0/24 | wc -l)" 256 "the sources of a prefix"
weir -brief source show limit few limited >"$tmp/limited"
is "$(wc -l <"$tmp/limited"):$(grep -vc ' limited ' "$tmp/limited")" \
	"$(weir -brief source show limit few | grep -c ' limited '):0" "the limited sources"

# amid WORDS...: run weir WORDS in the middle of a dump, of more than any buffer holds
dump=(-brief source show limit d 10.0.0.0/18)
amid() {
	mkfifo "$tmp/pipe"
	weir "${dump[@]}" >"$tmp/pipe" 2>"$tmp/said" &
	exec {pipe}<"$tmp/pipe"
	read -r _ <&"$pipe"
	weir "$@" >/dev/null 2>&1
	cat <&"$pipe" >"$tmp/cut"
	exec {pipe}<&-
	wait "$!"
	rm "$tmp/pipe"
}
# cut_by NAME WORDS...: a change of what is dumped; spared_by: of something else
cut_by() {
	amid "${@:2}"
	like "$(<"$tmp/said")" "incomplete" "$1: an interrupted dump says so"
}
spared_by() {
	amid "${@:2}"
	is "$(<"$tmp/said")" "" "$1: a dump of what stays is not interrupted"
}
spared_by "another source is forgotten" source forget 198.51.100.1 limit few
is "$(wc -l <"$tmp/cut")" 16383 "... and is whole"
spared_by "an exemption is added" exempt add 203.0.113.0/24
spared_by "a list is added" prefix-list add l 203.0.113.0/24
cut_by "a limit is added" limit add new budget 1/s action observe
cut_by "the table is resized" limit set d sources 300000

# Exemptions, with the names of their limits
for a in {0..63}; do printf "exempt add 10.$a.%d.0/24 limit few\n" {0..255}; done >"$tmp/exempts"
weir -batch "$tmp/exempts"
dump=(exempt show)
spared_by "a list is changed" prefix-list add l 203.0.114.0/24
spared_by "a source is forgotten" source forget 198.51.100.1 limit few
is "$(wc -l <"$tmp/cut")" 16384 "... and is whole"
cut_by "a prefix is blocked" block add 203.0.115.0/24
cut_by "a limit is renamed" limit rename few some

# Lists
for a in {0..59}; do
	seq -f "10.$a.%.0f.0/24" 0 255 >"$tmp/l$a"
	echo "prefix-list add l$a file $tmp/l$a"
done >"$tmp/lists"
weir -batch "$tmp/lists"
dump=(prefix-list show)
spared_by "a limit is set" limit set some budget 30/1h
spared_by "an exemption is removed" exempt del 10.0.0.0/24 limit some
is "$(wc -l <"$tmp/cut")" $((60 * 256 / 16)) "... and is whole"
cut_by "a list is removed" prefix-list del l

dump=(-brief source show limit d 10.0.0.0/18)
cut_by "the limit is deleted" limit del d
finish
