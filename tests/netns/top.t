#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# top.t: weir top on a terminal and as text: limits, order, keys, resize, limits and a module that go away
. "$(dirname "$0")/lib.sh"
command -v tmux >/dev/null || skip_all "tmux is not installed"
begin
export TMUX_TMPDIR=$tmp

# shellcheck disable=SC2033 # no function is meant
mux() { tmux -L weir -f /dev/null "$@" 2>>"$tmp/tmux"; }
# screen: what the terminal shows
screen() { mux capture-pane -p -t top; }
# shown PATTERN: wait until a line of the screen matches
shown() { wait_for 60 eval "screen | grep -Eq -- '$1'"; }
# shows PATTERN NAME: the same, as a result
shows() { holds "$2" shown "$1" || diag "$(screen)"; }
# without PATTERN NAME: wait until no line matches, though the screen is drawn
without() { holds "$2" wait_for 60 eval "screen | grep -q '^weir top' && ! screen | grep -Eq -- '$1'" || diag "$(screen)"; }
press() { mux send-keys -t top "$@"; }
# start LOCALE WORD...: weir top on a terminal of 100x30
start() {
	local locale=$1
	shift
	mux -u new-session -d -s top -x 100 -y 30 "LC_ALL=$locale command $top/userspace/weir $* 2>$tmp/err; echo \"status \$?\"; exec cat" ||
		bail "no terminal: $(<"$tmp/tmux")"
}
stop() { mux kill-session -t top; }
trap 'mux kill-server; cleanup' EXIT

config <<-WORDS || bail "cannot configure"
	limit add web budget 100/1h from 198.51.100.0/24 sources 1024
	limit add dns budget 5/1h budget 1000/1d from 203.0.113.0/24 sources 256 newcomers 2/1h known none
WORDS
flood -s 198.51.100.1 -c 150
flood -s 198.51.100.2 -c 130
flood -s 198.51.100.3 -c 60
flood -s 203.0.113.1 -c 7

# as text
weir top count 1 >"$tmp/text"
like "$(sed -n 1p "$tmp/text")" '^weir top  limits 2  dropped 85   by dropped$' "text begins with a summary"
like "$(sed -n 3p "$tmp/text")" '^web +\[[| ]+\]   [01]% \[\|{9}\]!100% +80 +2$' "... a limit: how full the table and the fullest budget are"
like "$(sed -n 4p "$tmp/text")" '^dns +\[[| ]+\]   [01]% \[\|{3} +\]  40% \[\|{9}\]!100% ' "... and the newcomers' budget"
is "$(sed -n '6,$s/ .*//p' "$tmp/text" | xargs)" "198.51.100.1 198.51.100.2 203.0.113.1 198.51.100.3" "... sources by drops"
like "$(sed -n 6p "$tmp/text")" '^198\.51\.100\.1 +web +1\.67/m +100/100 +50 limit 1h[0-9m]* +[-_.:=+*#]+$' "... rate, count, drops, until when, the window in ASCII"
is "$(weir top by count count 1 | sed -n '6,$s/ .*//p' | tail -n 2 | xargs)" "198.51.100.3 203.0.113.1" "... or by counts"
is "$(weir top by rate count 1 198.51.100.0/24 limit web | sed -n '5,$s/ .*//p' | xargs)" "198.51.100.1 198.51.100.2 198.51.100.3" "... or by rates, of one limit and prefix"
is "$(COLUMNS=60 LINES=7 weir top count 1 | wc -l):$(COLUMNS=60 weir top count 1 | awk 'length > 60')" 7: "... within LINES and COLUMNS"
weir top count 2 >"$tmp/text"
like "$(grep -c '^weir top' "$tmp/text"):$(grep '^weir top' "$tmp/text" | tail -n 1)" '^2:.* dropped 85 0/s ' "each further screen has what came since the last"
weir limit add leak budget 64/1h bucket burst 320 from 192.0.2.128/25 sources 64 >"$tmp/out"
flood -s 192.0.2.129 -c 330
like "$(weir top limit leak count 1 | tail -n 1)" '^192\.0\.2\.129 +leak +320/320 +10 limit ' "the level of a bucket is no rate"
weir limit del leak
is "$(weir top limit nosuch count 1 2>&1):${PIPESTATUS[0]}" "weir: top: there is no limit 'nosuch':0" "a limit that does not exist is named"
is "$(weir top 2>&1 </dev/null)" "weir: top: this is no terminal: 'weir top count N' prints N screens as text" "without a terminal there is a hint"
is "$(weir -json top count 1 2>&1)" "weir: top: a screen is no JSON: use 'weir -json source show top N'" "... and for JSON"

# on a terminal
start C.UTF-8 top
shows '^198\.51\.100\.1 .*[▁▂▃▄▅▆▇█]$' "a terminal with UTF-8 shows windows with blocks"
is "$(screen | sed -n '6,9s/ .*//p' | xargs)" "198.51.100.1 198.51.100.2 203.0.113.1 198.51.100.3" "... sources by drops"
shows '^198\.51\.100\.1 limit web$' "... the first of them is chosen"
press s
shows '^weir top .* by count' "a key sorts by counts"
is "$(screen | sed -n '8,9s/ .*//p' | xargs)" "198.51.100.3 203.0.113.1" "... all rows"
shows '^198\.51\.100\.1 limit web$' "... the source that was chosen stays so"
press s s
shown ' by dropped'
press Down
shows '^198\.51\.100\.2 limit web$' "a key chooses the next source"
flood -s 198.51.100.2 -c 500
second_first() { [ "$(screen | sed -n "6s/ .*//p")" = 198.51.100.2 ]; }
holds "more drops move it up" wait_for 60 second_first || diag "$(screen)"
shows '^198\.51\.100\.2 limit web$' "... and it is still the chosen one"
press Enter
shows '^198\.51\.100\.2 limit web count 100 of 100 left 0 limited for .* dropped 530' "a source is opened"
shows '16 slots of 240s, oldest first' "... with its slots"
press Escape
shows '^SOURCE ' "... and closed"

press b
shows '^block 198\.51\.100\.2 under limit web for how long' "block asks"
press 1 h Enter
shows '^198\.51\.100\.2 .* block (1h|59m)' "... and blocks"
is "$(weir -j source show blocked | jq -c '[.[] | .source, .limit]')" '["198.51.100.2","web"]' "... that source under that limit"
press r n
without 'release 198' "an answer that is not yes"
is "$(weir -j source show blocked | jq length)" 1 "... releases nothing"
press r y
shows '^198\.51\.100\.2 .* released' "... but yes does"
is "$(weir -j source show blocked | jq length)" 0 "... indeed"
press e y
shows '^done: exempt add 198\.51\.100\.2' "it is exempt"
is "$(weir -j exempt show | jq -c '[.[] | .prefix, .limit]')" '["198.51.100.2","web"]' "... from that limit"
weir exempt flush
press f y
shown '^198\.51\.100\.2 .*forgotten|^.*forgotten 1'
is "$(weir -j source show 198.51.100.2 | jq length)" 0 "... and forgotten" || diag "$(screen)"

press / 203.0.113.0/24 Enter
shows '^weir top .* in 203\.0\.113\.0/24' "a prefix filters"
without '^198' "... the others are not shown"
press / nonsense Enter
shows "^weir top .* in 203\.0\.113\.0/24" "... nonsense changes nothing"
press / Enter
shows '^198\.51\.100\.1 ' "... an empty one shows all"
press l d n s Enter
shows '^weir top .* limit dns' "a limit filters"
without '^198|^web' "... the others are not shown"
weir limit del dns
shows "there is no limit .dns." "a limit that goes away is said"
shows '^198\.51\.100\.1 ' "... and all others are shown"

press p
shown PAUSED
flood -s 198.51.100.9 -c 120
flood -s 198.51.100.9 -c 10
let_pass 2000
is "$(screen | grep -c '^198\.51\.100\.9 ')" 0 "a screen that is paused does not change"
press p
shows '^198\.51\.100\.9 ' "... and then goes on"

mux resize-window -t top -x 80 -y 24
sized() { [ "$(mux display-message -p -t top '#{pane_width}x#{pane_height}')" = 80x24 ] && screen | sed -n 24p | grep -q '^Enter open .* help  q$'; }
holds "it follows a resize to 80x24" wait_for 60 sized || diag "$(screen)"
within "$(screen | LC_ALL=C.UTF-8 wc -L)" 60 80 "... no line is longer"
shows '^198\.51\.100\.1 .*[▁▂▃▄▅▆▇█]$' "... sources are there, with their windows"
mux resize-window -t top -x 20 -y 3
mux resize-window -t top -x 80 -y 24
holds "... nor does a tiny one end it" wait_for 60 sized || diag "$(screen)"

# looks_like NAME: the whole screen, without times, sums and windows
looks_like() {
	screen | LC_ALL=C.UTF-8 sed -E 's/[▁▂▃▄▅▆▇█]{16}/WINDOW/; s/dropped [0-9]+ +[^ ]+/dropped N/; s/ +[0-9]+\/s( +[0-9]+)$/ N\1/; s/[0-9.]+\/m/RATE/; s/(limit|for) ([0-9]+[hms])+ */\1 TIME /; s/ +$//' | cat -s >"$tmp/screen"
	is "$(diff - "$tmp/screen")" '' "$1"
}
press Home
shown '^198\.51\.100\.1 limit web$'
looks_like "the whole screen of 80x24" <<-'SCREEN'
	weir top  limits 1  dropped N  by dropped
	LIMIT       TABLE            FULLEST BUDGET   NEWCOMERS            DROPS LIMITED
	web         [         ]   0% [|||||||||]!100% N       2
	SOURCE           LIMIT       RATE     COUNT  DROPS STATE        WINDOW
	198.51.100.1     web       RATE   100/100     50 limit TIME WINDOW
	198.51.100.9     web       RATE   100/100     30 limit TIME WINDOW
	198.51.100.2     web            0     0/100      0 idle         WINDOW
	198.51.100.3     web          RATE    60/100      0              WINDOW

	198.51.100.1 limit web
	Enter open  e exempt  b block  r release  f forget  s sort  / filter  ? help  q
SCREEN
press Enter
shown '^Esc back'
looks_like "... of a source" <<-'SCREEN'
	weir top  limits 1  dropped N  by dropped

	198.51.100.1 limit web count 100 of 100 left 0 limited for TIME dropped 50
	    WINDOW 16 slots of 240s, oldest first
	a packet now: dropped by limit web for TIME

	Esc back  e exempt  b block  r release  f forget  q quit
SCREEN
press Escape
shown '^Enter open'
press ?
shown '^Esc back'
looks_like "... and of the help" <<-'SCREEN'
	weir top  limits 1  dropped N  by dropped

	Up, Down, PgUp, PgDn, Home, End   choose a source
	Enter   open it: each limit that meets it, until when, its slots; Esc: back
	e       exempt it from the limit
	b       block it under the limit
	r       release it
	f       forget it: its counts, drops and block
	s       sort by drops, counts or rates
	/       show only the sources that overlap a prefix
	l       show only one limit
	p       pause, and go on
	q       quit

	TABLE: used part of the table; ! and red: it is too small for its sources.
	FULLEST BUDGET: of the sources that are shown; ! and red: one is limited.
	NEWCOMERS: used part of their budget; ! and red: all of it.
	RATE and WINDOW are of the first budget, COUNT of the fullest, as 2:5/9.

	198.51.100.1 limit web
	Esc back  e exempt  b block  r release  f forget  q quit
SCREEN
press Escape
shown '^Enter open'
press q
shows '^status 0$' "q quits"
stop

# Bytes that a terminal of 100 a second has not read when q is pressed: it gets what changes, no whole screens.
while flood -s 198.51.100.1 -c 1000; do :; done &
flooding=$!
read -r before behind status < <(LC_ALL=C.UTF-8 TERM=xterm "$top/tests/netns/slow-terminal.py" 100 "$top/userspace/weir" top)
kill "$flooding" && wait "$flooding"
within "$behind" 1 3000 "on a slow terminal a key waits for two screens at most"
is "$status:$((before > 0))" 0:1 "... which it shows, and then the end"

for key in p s /; do
	start C.UTF-8 top
	shown '^198\.51\.100\.1 '
	press "$key"
	press C-c
	shows '^status 0$' "Ctrl-C after $key quits, too"
	# The terminal shows what is typed, as before.
	press t y p e d
	shows '^typed' "... and leaves the terminal as it was"
	stop
done

# The environment may say any size.
like "$(COLUMNS=99999 LINES=99999 weir top count 1 | sed -n 1p)" '^weir top  limits 1 ' "a size without end is bounded as text"
start "C LINES=99999 COLUMNS=99999" top
shows '^weir top' "... and on a terminal"
press q
shows '^status 0$' "... and weir goes on"
stop

for terminal in dumb nonsense; do
	start "C TERM=$terminal" top
	shows '^status 2$' "a terminal called $terminal is refused"
	is "$(<"$tmp/err")" "weir: top: the terminal is not known, or cannot move its cursor (TERM): 'weir top count N' prints N screens as text" "... with a hint"
	stop
done

# Only of the sources that are shown the slots are asked for.
flood -s 198.51.100.20 -n 90 -c 90
if requests_start; then
	requests quietly env LINES=24 "$top/userspace/weir" top by count count 1
	within "$(requested sys_sendto)" 20 26 "a screen of 24 lines takes a request for each source that it shows" || sed -n 1,40p "$requests/trace" | diag
	requests_stop
else
	skip "this kernel traces no system calls" "a screen of 24 lines takes a request for each source that it shows"
fi
start C.UTF-8 top by count
shows '^198\.51\.100\.1 ' "many sources"
press NPage NPage
shows '^198\.51\.100\.3[0-9] .*[▁▂▃▄▅▆▇█]$' "... have their windows when they come into view"
press q
shown '^status 0$'
stop

start C top
shows '^198\.51\.100\.1 .*[-_.:=+*#]$' "without UTF-8 the window is ASCII"
is "$(screen | LC_ALL=C grep -c '[^ -~]')" 0 "... and so is the rest"
unload
shows '^status 3$' "it ends when the module is unloaded"
is "$(<"$tmp/err")" "weir: the kernel module was unloaded" "... and says so"
stop
finish
