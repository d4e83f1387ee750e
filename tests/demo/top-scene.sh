#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# top-scene.sh: the guest's part of top.sh: flood limits, leave weir top's screen in OUT, and each second
# what weir metrics prints in OUT/served
. "$(dirname "$0")/../netns/lib.sh"
begin_with <<-WORDS
	limit add dns budget 100/s proto udp dport 53 sources 1024
	limit add syn budget 20/s budget 200/1m proto tcp syn sources 4096 newcomers 200/s known none
	limit add web budget 300/1m tcp dport 443 not syn sources 1024
WORDS
export TMUX_TMPDIR=$tmp
mkfifo "$tmp/never"
began=$SECONDS
trap 'tmux kill-server; cleanup' EXIT
tmux -u -f /dev/null new-session -d -s top -x 96 -y 20 \
	"LC_ALL=C.UTF-8 TERM=screen-256color $top/userspace/weir top" || bail "no terminal"
screen() { tmux capture-pane -p "$@" -t top; }

second=80000
# The host must not read a part: weir replaces the file.
while weir metrics output "$OUT/served/weir.prom"; do read -rt 1 <>"$tmp/never"; done &
pids+=($!)
flooding -s 10.6.6.6 -P udp -D 53 -r 2000 -t $second
flooding -s 10.1.0.1 -n 5 -P udp -D 53 -r 250 -t $second
flooding -s 2001:db8:1::7 -P udp -D 53 -r 150 -t $second
flooding -s 10.2.0.1 -n 3 -P tcp -D 443 -f A -r 20 -t $second
flooding -s 10.2.0.9 -P tcp -D 443 -f A -r 40 -t $second
flooding -s 11.0.0.0 -n 16000000 -P tcp -f S -D 443 -r 2000 -t $second
weir source block 10.7.0.1 limit dns for 1h >/dev/null
flooding -s 10.7.0.1 -P udp -D 53 -r 20 -t $second

# web's budget of a minute is used up by then
full() { screen | grep -Eq '^10\.2\.0\.9 .*limit' && screen | grep -Eq '^10\.6\.6\.6 .*[▁▂▃▄▅▆▇█]{8}'; }
wait_for 60 full || { screen; bail "nobody is limited"; }
screen -e >"$OUT/screen"
screen
watched() { [ $((SECONDS - began)) -ge 50 ]; }
wait_for 60 watched
