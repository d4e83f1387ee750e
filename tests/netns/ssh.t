#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ssh.t: Debian's sshd and ssh behind a limit of new connections: a login beyond it waits in vain,
# sessions that are open go on, and who is exempt logs in
. "$(dirname "$0")/lib.sh"
# shellcheck source=servers.sh
. "$here/servers.sh"
begin_apart
servers
for key in host key; do chroot "$root" ssh-keygen -q -t ed25519 -N '' -f "/$key" || bail "no key"; done
mkdir -p "$root/root/.ssh" && cp "$root/key.pub" "$root/root/.ssh/authorized_keys" && : >"$root/sshd_config"
server /usr/sbin/sshd -D -e -f /sshd_config -h /host -o UsePAM=no -o StrictModes=no -o PermitRootLogin=yes 2>"$tmp/sshd"
wait_for 60 listens 22 || bail "no sshd: $(<"$tmp/sshd")"
config <<<'limit add ssh budget 3/1h tcp dport 22 syn'
# login SECONDS COMMAND: within which it is connected
login() {
	client ssh -F none -i /key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR \
		-o "ConnectTimeout=$1" root@192.0.2.1 "$2" 2>"$tmp/said"
}
# shellcheck disable=SC2016 # expanded there
coproc session { login 60 'while read -r line; do echo "got $line"; done'; }
# shellcheck disable=SC2154 # coproc sets it
pids+=("$session_PID")
# says LINE: what the session answers
says() {
	local line=''
	echo "$1" >&"${session[1]}"
	read -r -t 60 line <&"${session[0]}"
	echo "$line"
}
is "$(says one)" "got one" "a session"
for n in 2 3; do is "$(login 60 'echo in')" in "login $n of 3" || diag "$(<"$tmp/said")"; done
is "$(weir -json source get 192.0.2.2 limit ssh | json count)" 3 "each is charged one packet"
is "$(login 4 'echo in')" "" "another login is refused"
like "$(<"$tmp/said")" "timed out" "... as its packets are dropped"
holds "... and counted" [ "$(stat_of ssh dropped.packets)" -ge 2 ]
is "$(says two)" "got two" "the session goes on"
is "$(stat_of ssh admitted.packets)" 3 "... which the limit does not see"
weir exempt add 192.0.2.2 limit ssh
is "$(login 60 'echo in')" in "exempt, the client logs in"
finish
