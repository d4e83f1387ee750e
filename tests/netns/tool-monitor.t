#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tool-monitor.t: monitor's events, also when some are lost; interrupted dumps
. "$(dirname "$0")/lib.sh"
begin

through=() # prefix of weir's command line

# watch FILE WORD...: run monitor into FILE, in the background; returns once it listens
watch() {
	local file=$1
	shift
	"${through[@]}" "$top/userspace/weir" "$@" monitor >"$file" 2>"$file.err" &
	pids+=($!)
	wait_for 60 grep -q present "$file" && return
	# where does it hang?
	diag "$(<"$file.err")" "$(head -n 20 "/proc/$!/stack" "/proc/$!/status" 2>&1)" "$(<"/proc/loadavg")"
	bail "monitor shows nothing"
}
# saw PATTERN FILE: wait until FILE matches
saw() { wait_for 60 grep -Eq -- "$1" "$2"; }

weir limit add web budget 100/10s to 192.0.2.0/24 sources 64
watch "$tmp/text"
watch "$tmp/stamped" -t
watch "$tmp/json" -j -t
is "$(head -n 1 "$tmp/text")" "limit present web budget 100/10s slots 15 to 192.0.2.0/24 sources 64" "the existing limits come first"
weir limit add more budget 5M/m bytes to ::/0 action observe >"$tmp/out"
weir limit set more budget 6M/m >"$tmp/out"
flood -s 198.51.100.1 -c 150
flood -s 2001:db8:1:2::1 -c 3
saw '^limited' "$tmp/text"
weir limit del more
holds "events arrive" saw '^limit removed' "$tmp/text"
is "$(grep -c . "$tmp/text")" 5 "... one line each" || diag "$(<"$tmp/text")"
like "$(<"$tmp/text")" $'\n''limited 198.51.100.1 limit web budget 100/10s rate 10/s count 100 until 20[0-9T:-]+\.[0-9]{3}\+00:00'$'\n' \
	"a source: limit, budget, rate, until when"
saw 'limit removed' "$tmp/stamped"
like "$(<"$tmp/stamped")" $'\n''\[20[0-9-]+T[0-9:.]+\+00:00\] limit added more' "-timestamp"
saw removed "$tmp/json"
is "$(jq -re .event "$tmp/json" | sort | uniq -c | xargs)" '4 limit 1 source' "JSON: one object per line"
is "$(jq -c 'select(.event == "source") | [.source, .limit, .budgets[0].budget, .window_ms, .rate, .budgets[0].unit, .action]' "$tmp/json")" \
	'["198.51.100.1","web",100,10000,10,"packets","drop"]' "... numbers are JSON numbers"
is "$(jq -c 'select(.timestamp | not)' "$tmp/json")" "" "... each with a timestamp"
is "$(grep -vc '^{.*}$' "$tmp/json")" 0 "... none on two lines"
cat "$tmp/json" >>"$judged.monitor"
quiet

# The level of a bucket is no rate.
weir limit set web budget 64/10s bucket burst 320 >"$tmp/out" 2>&1
watch "$tmp/bucket"
watch "$tmp/bucket.json" -j
flood -s 198.51.100.2 -c 400
saw '^limited' "$tmp/bucket"
like "$(grep ^limited "$tmp/bucket")" '^limited 198\.51\.100\.2 limit web budget 64/10s burst 320 count 3[12][0-9] until 20' "a bucket: its rate and its burst"
saw '"event":"source"' "$tmp/bucket.json"
is "$(jq -c 'select(.event == "source") | [.window_ms, .budgets[0].budget, .rate]' "$tmp/bucket.json")" "[10000,320,null]" "... in JSON, too"
cat "$tmp/bucket.json" >>"$judged.monitor"
quiet

# pressure
weir limit set web budget 10/10s >"$tmp/out" 2>&1
watch "$tmp/pressure"
watch "$tmp/pressure.json" -j
flood -s 10.0.0.1 -n 4000 -c 8000
saw '^pressure limit web evictions [0-9]+ floor-refused [0-9]+' "$tmp/pressure"
ok $? "a table that is too small causes a pressure event" || diag "$(tail -n 3 "$tmp/pressure")"
weir -s limit show web >"$tmp/out"
like "$(<"$tmp/out")" 'pressure: try sources [0-9]+' "... and limit show suggests a size"
holds "... also in JSON" saw '"event":"pressure"' "$tmp/pressure.json"
cat "$tmp/pressure.json" >>"$judged.monitor"
quiet
weir limit flush

# more events than a stopped monitor's socket holds: in a user namespace its buffer
# is bounded by the host's limit
sysctl -qw net.core.rmem_max=4096
allow_users
unshare --user --map-root-user --net bash -c 'echo; read -r' <"$tmp/never" >"$tmp/up" &
holder=$!
pids+=($!)
wait_for 60 test -s "$tmp/up"
through=(nsenter -t "$holder" -U -n --preserve-credentials)
"${through[@]}" "$top/userspace/weir" limit add web budget 100/10s to ::/0 sources 64
pids=()
watch "$tmp/lost"
watch "$tmp/lost.json" -j
kill -STOP "${pids[@]}"
seq -f 'limit set web budget 1%02.0f/10s' 0 60 | "${through[@]}" "$top/userspace/weir" -batch - >"$tmp/out"
kill -CONT "${pids[@]}"
holds "lost events are reported" saw '^events lost, resync$' "$tmp/lost"
anew() { sed -n '/^events lost/,$p' "$tmp/lost" | grep -q 'limit present web budget 160/10s'; }
holds "... and the limits listed again" wait_for 60 anew || diag "$(tail -n 3 "$tmp/lost")"
saw '"event":"lost"' "$tmp/lost.json" && saw '"budget":160' "$tmp/lost.json" && jq -e . "$tmp/lost.json" >/dev/null
ok $? "... also in JSON"

# what waited before a loss is older than the limits that are listed then
sysctl -qw net.core.rmem_max=1048576
watch "$tmp/many"
watch "$tmp/many.json" -j
in_user() { "${through[@]}" "$top/userspace/weir" "$@" >"$tmp/out" 2>&1; }
# only [NAME]: a configuration of web, and of 255 limits beside it
only() {
	{ echo "limit add web budget 100/10s to ::/0 sources 64"; [ $# = 0 ] || seq -f "limit add $1%.0f budget 1/1s to ::/0 sources 64" 255; } | in_user -file -
}
# more events than have room
overflow() { for a in {0..9}; do printf "exempt add 10.$a.%d.0/24\n" {0..255}; done | in_user -batch -; }
# knows: which limits are there, for whoever follows the events
knows() {
	jq -rn 'reduce inputs as $e ({}; if $e.event == "lost" then {} elif $e.event == "limit" then .[$e.limit] = ($e.change != "removed") else . end)
		| [to_entries[] | select(.value).key] | sort | join(" ")' "$tmp/many.json" | cut -c 1-99
}
losses() { [ "$(grep -c '"event":"lost"' "$tmp/many.json"):$(grep -c '^events lost' "$tmp/many")" = "$1:$1" ]; }
kill -STOP "${pids[@]}"
only new
overflow
only
kill -CONT "${pids[@]}"
holds "a loss" wait_for 60 losses 1
in_user limit set web comment told
saw '"comment":"told"' "$tmp/many.json"
is "$(knows)" web "... whoever follows the events knows the limits that are there"
only old
saw '^limit added old1 ' "$tmp/many" && saw '"limit":"old1"' "$tmp/many.json"
kill -STOP "${pids[@]}"
only
overflow
kill -CONT "${pids[@]}"
holds "another one" wait_for 60 losses 2
in_user limit add last budget 5/1s to ::/0 sources 64
saw '"change":"added","limit":"last"' "$tmp/many.json"
is "$(knows)" "last web" "... and whoever follows the events knows it"
pids+=("$holder")
quiet
cat "$tmp/lost.json" >>"$judged.monitor"
through=()

# a dump interrupted by a change while its reader is slow
weir limit add big budget 100/30d to 192.0.2.0/24 sources 16384 >"$tmp/out"
flood -s 10.0.0.1 -n 12000 -c 12000
for words in "" -j; do
	weir $words source show limit big 2>"$tmp/err" | {
		read -rN 1 first
		weir limit add other budget 100/s to ::/0 >/dev/null
		printf %s "$first"
		cat
	} >"$tmp/dump"
	is "${PIPESTATUS[0]}" 5 "an interrupted dump has its own status (weir $words)"
	like "$(<"$tmp/err")" '^weir: source show: changed while it was being read; the output may be incomplete$' "... and is reported"
	weir limit del other
done
jq -e 'all(has("source"))' "$tmp/dump" >"$tmp/out"
ok $? "... in JSON the array contains only sources"
weir -j source show limit big 2>"$tmp/err" | jq -e 'length > 10000 and all(has("source"))' >"$tmp/out"
is "$(<"$tmp/out")$(<"$tmp/err")" true "an uninterrupted dump is complete"

# the reader exits
mkfifo "$tmp/pipe"
"$top/userspace/weir" monitor >"$tmp/pipe" &
alone=$!
head -n 1 "$tmp/pipe" >"$tmp/out"
ended() { ! kill -0 "$alone" 2>/dev/null; }
holds "monitor exits when its reader is gone, even without events" wait_for 60 ended || kill "$alone"
wait "$alone"
is "$?:$(grep -c present "$tmp/out")" 141:1 "... with the status of SIGPIPE"

# counters of what goes on
weir limit flush
weir limit add hot budget 5/1h from 198.51.100.0/24 sources 64 >"$tmp/out" 2>&1
flood -s 198.51.100.1 -c 20
weir source block 198.51.100.2 limit hot for 1h >"$tmp/out"
is "$(stat_of hot limited_now):$(stat_of hot blocked_now)" 1:1 "limited sources are counted apart from blocked ones"
like "$(weir -s limit show hot)" "limited now +1.*blocked now +1" "... also in text"

# to syslog, which a line an event reaches whole
python3 - "$tmp/syslog" <<-'PYTHON' &
	import os, socket, sys
	if os.path.lexists("/dev/log"):
	    os.unlink("/dev/log")
	log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
	log.bind("/dev/log")
	with open(sys.argv[1], "wb", buffering=0) as file:
	    while True:
	        file.write(log.recv(1 << 16) + b"\n")
PYTHON
pids+=($!)
wait_for 60 test -S /dev/log || bail "no /dev/log"
weir limit add logged budget 5/1h from 198.51.101.0/24 >"$tmp/out" 2>&1
for json in '' -j; do
	"$top/userspace/weir" $json monitor -log >"$tmp/nothing$json" 2>&1 &
	pids+=($!)
done
holds "monitor -log sends events to syslog" saw '>[A-Z][a-z]{2} .* weir\[[0-9]+\]: limit present logged ' "$tmp/syslog"
saw '"change":"present","limit":"logged"' "$tmp/syslog"
flood -s 198.51.101.1 -c 7
holds "... on one line each" saw ' weir\[[0-9]+\]: limited 198\.51\.101\.1 limit logged budget 5/h .* until 20[-0-9]+T' "$tmp/syslog"
holds "... or as JSON" saw ' weir\[[0-9]+\]: \{"event":"source","source":"198\.51\.101\.1",.*\}$' "$tmp/syslog"
is "$(cat "$tmp/nothing" "$tmp/nothing-j")" "" "... and prints nothing"
quiet
rm -f /dev/log

# the module is unloaded
watch "$tmp/gone"
if modprobe psample 2>/dev/null; then
	rmmod psample
	weir limit add later budget 5/1h >"$tmp/out"
	holds "another family's end is not the module's" saw '^limit added later' "$tmp/gone"
else
	skip "no module psample" "another family's end is not the module's"
fi
command weir monitor module >"$tmp/ends" 2>&1 &
ends=$!
listens() { [ "$(readlink "/proc/$ends/fd/"* | grep -c ^socket)" = 2 ]; }
wait_for 60 listens || bail "monitor module does not listen"
holds "monitor does not pin the module" unload
wait "${pids[@]}"
is "$? $(<"$tmp/gone.err")" "3 weir: the kernel module was unloaded" "... and reports that it was unloaded"
pids=()
wait "$ends"
is "$? $(<"$tmp/ends")" "0 " "monitor module ends with the module, and says nothing"
finish
