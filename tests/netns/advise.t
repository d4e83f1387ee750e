#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# advise.t: what limit advise says that budgets would have dropped of a capture, limits drop of the
# same packets, within 1 %; and so does what it says of packets that a limit has counted meanwhile
. "$(dirname "$0")/lib.sh"
begin
capture=$tmp/capture
python3 "$here/replay.py" make "$capture" 8 || bail "no capture"

# near A B [PERCENT]: do they differ by so much, or 1 %, at most?
near() { [ $((($1 - $2) * 100)) -le $(($2 * ${3:-1})) ] && [ $((($2 - $1) * 100)) -le $(($2 * ${3:-1})) ]; }

# replay: send the capture to $rx, and capture it there again: a busy machine sends late
captured() { [ "$(command weir -j limit advise x -pcap "$tmp/arrived" 2>/dev/null | jq .packets)" = "$sent" ]; }
replay() {
	tcpdump -Z root -i rx0 -U -s 96 -B 16384 -w "$tmp/arrived" udp 2>"$tmp/heard" &
	local dump=$!
	wait_for 60 grep -q '^tcpdump: listening' "$tmp/heard" || bail "no tcpdump"
	tx python3 "$here/replay.py" send "$capture" tx0 || bail "no replay"
	wait_for 60 captured || bail "tcpdump has not captured all"
	kill "$dump"
	wait "$dump"
}

# watch LIMIT [FILE]: watch it in the background; watched: end that, and keep what was said
waits() {
	local call
	read -r call _ <"/proc/$watch/syscall" && [ "$call" = 271 ] # ppoll
}
watch() {
	command weir -j limit advise "$1" for 1h >"$tmp/${2:-watched}" &
	watch=$!
	wait_for 60 waits || bail "$1 is not watched"
}
watched() {
	kill -INT "$watch"
	wait "$watch"
	ok $? "a watch of $1 can be ended" || diag "$(<"$tmp/${2:-watched}")"
	cat "$tmp/${2:-watched}" >>"$judged.$BASHPID"
}
# unless_gaps NAME COMMAND...: where a machine stands still for a window, less is seen, and that is said
unless_gaps() {
	if jq -e '.not_known[] | select(.word == "gaps")' "$tmp/watched" >/dev/null; then
		skip "the machine stood still: the watch has gaps" "$1"
	else
		holds "$@"
	fi
}
all_seen() { [ "$(jq .packets "$tmp/watched")" = "$sent" ]; }

weir limit advise web -pcap "$capture" >"$tmp/said" || bail "no advice"
words=$(sed -n 's/^    weir limit add //p' "$tmp/said")
like "$words" '^web budget [0-9]+/s sources 1024$' "a limit is proposed"
like "$(<"$tmp/said")" "without conditions all of the file are" "... for all packets, which is said"
weir -j limit advise web -pcap "$capture" >"$tmp/json"
budget=$(jq '.proposal.budgets[0].budget' "$tmp/json")
sent=$(jq .packets "$tmp/json")

config <<-WORDS
	prefix-list add absent 203.0.113.77=5
	limit add $words budgets-by absent
WORDS
ok $? "... and can be added"
watch web
replay
watched web
is "$(stat_of web matched.packets)" "$sent" "all packets of the capture have come"
weir -j limit advise web -pcap "$tmp/arrived" budget "$budget/s" >"$tmp/json"
foretold=$(jq .judged.dropped_packets "$tmp/json")
is "$(jq ".losses[] | select(.budgets[0].budget == $budget) | .dropped_packets" "$tmp/json")" "$foretold" \
	"a budget drops the same alone and among others"
dropped=$(stat_of web dropped.packets)
holds "the proposed limit drops what was foretold" near "$dropped" "$foretold" || diag "$dropped, foretold $foretold"
for host in 100 101 102; do
	of=$(jq ".largest[] | select(.source == \"198.51.100.$host\") | .dropped_packets" "$tmp/json")
	is=$(weir -j source get "198.51.100.$host" limit web | json dropped_packets)
	holds "... of source $host, too" near "$is" "$of" || diag "$is, foretold $of"
done
unless_gaps "who watches the limit sees all packets, also those that it has dropped" all_seen || diag "$(jq .packets "$tmp/watched") of $sent"
foretold=$(jq ".losses[] | select(.budgets[0].budget == $budget) | .dropped_packets" "$tmp/watched")
# when they were refused it does not see
unless_gaps "... and how many that were, within 3 %" near "$dropped" "$foretold" 3 || diag "$dropped, foretold $foretold"
like "$(jq -r '.not_known[].word' "$tmp/watched" | xargs)" '^demand( gaps)? budgets-by$' "... and says that they may have been more, and sources may have budgets of their own"

# each way to count, and several budgets
config <<-WORDS
	limit add together budget 100/s budget 600/5s budget 100k/2s bytes action observe
	limit add bucket budget 200/1s bucket burst 300 action observe
	limit add lenient budget 150/s lenient action observe
	limit add bytes budget 50k/s bytes action observe
	limit add net budget 1000/s per 24 action observe
	limit add exact budget 50/200ms exact action observe
	limit add seen budget 1M/s sources 1024 action observe
	limit add truth budget $budget/s action observe
	limit add volume budget 1G/s bytes sources 1024 action observe
WORDS
watch volume volume
volume=$watch
watch seen
replay
watched seen
watch=$volume
watched volume volume
unless_gaps "who watches a limit that refuses nothing sees all packets" all_seen || diag "$(jq .packets "$tmp/watched") of $sent"
foretold=$(jq ".losses[] | select(.budgets[0].budget == $budget) | .dropped_packets" "$tmp/watched")
truth=$(stat_of truth would_drop.packets)
unless_gaps "... and what a smaller one would drop" near "$truth" "$foretold" || diag "$truth, foretold $foretold"
is "$(jq -r '.largest[].source' "$tmp/watched" | head -n 3 | xargs)" \
	"198.51.100.102 198.51.100.101 198.51.100.100" "... and who sends most"
# Whatever is not seen, the rest is alike.
foretold=$(jq '1000 * .bytes / .packets | floor' "$tmp/watched")
truth=$((1000 * $(stat_of seen matched.bytes) / $(stat_of seen matched.packets)))
holds "... and how long packets are, though it had seen none before" near "$foretold" "$truth" 10 || diag "$foretold, not $truth"
weir -j limit advise bytes -pcap "$tmp/arrived" budget 1G/s bytes >"$tmp/json"
for number in 10000 50000; do
	part="(.losses[] | select(.budgets[0].budget == $number) | .dropped_bytes) / .bytes * 1000 | floor"
	foretold=$(jq "$part" "$tmp/volume") truth=$(jq "$part" "$tmp/json")
	holds "... and what part of the bytes $number/s would drop" near "$foretold" "$truth" 10 || diag "$foretold, not $truth"
done
like "$(jq -r '.not_known[].word' "$tmp/volume" | xargs)" '^senders( gaps)? length$' "... but not how long each packet is"
while IFS='|' read -r name budgets; do
	# shellcheck disable=SC2086 # words
	weir -j limit advise "$name" -pcap "$tmp/arrived" $budgets >"$tmp/json"
	foretold=$(jq .judged.dropped_packets "$tmp/json") dropped=$(stat_of "$name" would_drop.packets)
	[ "$foretold" -gt 0 ] && near "$dropped" "$foretold"
	ok $? "... as of the limit $name" || diag "$dropped, foretold $foretold"
done <<-LINES
	together|budget 100/s budget 600/5s budget 100k/2s bytes
	bucket|budget 200/1s bucket burst 300
	lenient|budget 150/s lenient
	bytes|budget 50k/s bytes
	net|budget 1000/s per 24
	exact|budget 50/200ms exact
LINES

# meanwhile COMMAND...: watch the limit m, and change something before the watch is over, once it
# has looked at least twice
before=true
meanwhile() {
	local pause
	for pause in 1000 2000 4000 8000 16000; do
		config <<<'limit add m budget 2/1s sources 64'
		"$before"
		watch m
		flood -s 198.51.100.7 -c 50
		let_pass "$pause"
		"$@" >/dev/null 2>&1
		wait "$watch" && return
	done
	false
}
why() { jq -r ".not_known[] | select(.word == \"$1\").why" "$tmp/watched"; }
holds "a watch ends when its limit goes away" meanwhile weir limit del m
is "$(why end)" "what was sent later, as the watch ended: no limit of that name" "... and says so"
holds "a watch ends when the window changes" meanwhile weir limit set m budget 2/2s
is "$(why end)" "what was sent later, as the watch ended: its first budget was changed" "... and says so"
floors() { flood -s 198.51.100.7 -n 4000 -c 8000; [ "$(stat_of m floor_refused.packets)" -gt 1000 ]; }
idle() { [ "$(stat_of m sources_now)" = 0 ]; }
before() {
	wait_for 20 floors || bail "floors refuse nothing"
	wait_for 20 idle || bail "sources stay"
}
before=before
reset() { weir limit reset m && kill -INT "$watch"; }
holds "counters that begin again during a watch" meanwhile reset
like "$(why floors)" '^(|from whom [0-9]{1,3} .*)$' "... are no end of numbers"

# Limits that come and go before it: no drop is counted again with each look.
config <<<'limit add m budget 10/200ms sources 1024'
flood -s 198.51.100.1 -n 100 -c 5000
comes_and_goes() {
	until [ -e "$tmp/stop" ]; do
		printf 'limit %s\n' "add first budget 1/1h sources 64 from 203.0.113.0/24 before m" "del first"
	done
}
sent=$(met m)
watch m
comes_and_goes | weir -quiet -batch - >"$tmp/out" 2>&1 &
changes=$!
flood -s 198.51.100.1 -n 100 -r 1000 -t 4000
touch "$tmp/stop"
wait "$changes"
watched m
sent=$(($(met m) - sent))
within "$(jq .packets "$tmp/watched")" 1 "$sent" "... while other limits come and go no more than was sent is seen"

# Where a table is too small, sources begin with counts of others.
crowd() { flood -s 10.0.0.1 -n 3000 -c 6000 -r 3000; kill -INT "$watch"; }
most() { jq '[.largest[] | select(.source != "198.51.100.7").packets] | max // 0' "$tmp/watched"; }
holds "sources without a place during a watch" meanwhile crowd
like "$(why end)" "too small.* 'weir limit set m sources [0-9]{3,}', then" "... end it, which is said with what helps"
within "$(most)" 0 1 "... and what others sent is not counted for a source"
config <<<'limit add m budget 50/20s sources 64'
flood -s 10.0.0.1 -n 3000 -c 3000
weir limit advise m for 2s >"$tmp/out" 2>"$tmp/err"
like "$? $(<"$tmp/err")" "^2 weir: limit advise: .*too small.* 'weir limit set m sources [0-9]{3,}', then" "... nor before it"
eval "$(sed -n "s/.*'\(weir limit set m sources [0-9]*\)'.*/\1/p" "$tmp/err")" >/dev/null
wait_for 60 idle || bail "sources stay"
watch m
flood -s 10.0.0.1 -n 3000 -c 3000 -r 1500
watched m
is "$(most) $(why end)" "1 " "... and with a table that is larger, a window later, all is told"

config <<<'limit add seen budget 1M/s sources 1024 action observe'
weir limit advise seen for 1s >/dev/null 2>"$tmp/err"
is "$? $(<"$tmp/err")" "2 weir: limit advise: no source of 'seen' has sent anything meanwhile" "nothing is advised if nothing is sent"
weir limit add bucket budget 200/1s bucket burst 300 action observe >/dev/null 2>&1
weir limit advise bucket 2>"$tmp/err"
like "$? $(<"$tmp/err")" "^2 weir: limit advise: its first budget does not count slot by slot" "a bucket cannot be watched"
weir limit advise nosuch 2>"$tmp/err"
like "$? $(<"$tmp/err")" "^2 .*'nosuch'" "nor can a limit that there is not"
finish
