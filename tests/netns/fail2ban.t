#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fail2ban.t: the real fail2ban and the real bouncer of CrowdSec block and release by the
# example files: failed logins in a log, decisions of a local API
. "$(dirname "$0")/lib.sh"
examples=$top/Documentation/examples
begin_with <<-WORDS
	limit add ban budget 4G/1d
	limit add ssh budget 4G/1d tcp dport 22
WORDS
ip link set lo up
nft insert rule inet probe pre iif lo accept
# blocked ADDRESS LIMIT: for how many seconds, or "ever", or nothing
blocked() { weir -json source get "$1" limit "$2" | jq -r '.[0] | select(.blocked) | if .blocked_ms then .blocked_ms / 1000 | floor else "ever" end'; }
is_blocked() { [ "$(blocked "$@")" ]; }
is_free() { [ -z "$(blocked "$@")" ]; }

# jail ACTION WORDS...: run fail2ban with the jail sshd
jail() {
	cat >"$tmp/fail2ban/jail.local" <<-WORDS
		[DEFAULT]
		backend = polling
		usedns = no
		[sshd]
		enabled = true
		logpath = $tmp/auth.log
		maxretry = 3
		banaction = $1
		bantime = $2
	WORDS
	fail2ban-server "${options[@]}" start >"$tmp/said" 2>&1 &&
		wait_for 120 client ping
}
client() { fail2ban-client "${options[@]}" "$@" >/dev/null 2>&1; }
gone() { [ ! -e "$tmp/fail2ban.pid" ]; }
# fails ADDRESS: as sshd logs it. Lines of one process are of one address for fail2ban.
process=4242
fails() {
	((process++))
	for _ in 1 2 3; do
		echo "$(date '+%b %e %T') host sshd[$process]: Failed password for root from $1 port 4242 ssh2" >>"$tmp/auth.log"
	done
}

if command -v fail2ban-server >/dev/null; then
	cp -r /etc/fail2ban "$tmp/fail2ban"
	rm -f "$tmp"/fail2ban/jail.d/*
	cp "$examples/fail2ban.conf" "$tmp/fail2ban/action.d/weir.conf"
	printf '[Definition]\ndbfile = None\n' >"$tmp/fail2ban/fail2ban.local"
	options=(-c "$tmp/fail2ban" -s "$tmp/fail2ban.sock" -p "$tmp/fail2ban.pid" --logtarget "$tmp/fail2ban.log")
	: >"$tmp/auth.log"
	holds "fail2ban runs" jail weir 1h || diag "$(<"$tmp/said")"
	is "$(through 203.0.113.9)" 10 "nobody is banned"
	fails 203.0.113.9
	holds "failed logins are banned" wait_for 60 is_blocked 203.0.113.9 ban || diag "$(<"$tmp/fail2ban.log")"
	within "$(blocked 203.0.113.9 ban)" 3400 3600 "... for its time"
	is "$(through 203.0.113.9):$(through 203.0.113.10)" 0:10 "... and refused, and others are not"
	fails 2001:db8:7::9
	holds "an IPv6 address in the log is banned" wait_for 60 is_blocked 2001:db8:7::9 ban || diag "$(<"$tmp/fail2ban.log")"
	is "$(through 2001:db8:7::8)" 0 "... with its /64"
	within "$(blocked 2001:db8:7::9 ban)" 3400 3600 "... for its time"
	client set sshd unbanip 203.0.113.9 2001:db8:7::9
	holds "the ban is lifted" wait_for 60 is_free 203.0.113.9 ban
	holds "... that of IPv6, too" wait_for 60 is_free 2001:db8:7::9 ban
	is "$(through 203.0.113.9):$(through 2001:db8:7::8)" 10:10 "... and the packets pass"
	client set sshd banip 2001:db8:7::9
	holds "an IPv6 address is banned by hand" wait_for 60 is_blocked 2001:db8:7::9 ban
	client set sshd bantime 4
	fails 203.0.113.11
	holds "a short ban" wait_for 60 is_blocked 203.0.113.11 ban
	holds "... ends" wait_for 60 is_free 203.0.113.11 ban
	client stop
	holds "without fail2ban there are no bans" wait_for 60 is_free 2001:db8:7::9 ban
	wait_for 60 gone
	: >"$tmp/auth.log"
	holds "fail2ban with another limit" jail 'weir[limit=ssh]' -1 || diag "$(<"$tmp/said")"
	fails 203.0.113.12
	holds "... bans there" wait_for 60 is_blocked 203.0.113.12 ssh
	is "$(blocked 203.0.113.12 ssh):$(blocked 203.0.113.12 ban)" "ever:" "... for ever, and only there"
	client stop
	is "$(grep -E 'ERROR|WARNING.*(action|weir)' "$tmp/fail2ban.log")" "" "fail2ban has nothing to complain of"
else
	skip "there is no fail2ban" "fail2ban blocks and releases"
fi

# The bouncer asks the local API for decisions; here it is a program that reads two files.
if command -v crowdsec-custom-bouncer >/dev/null; then
	cat >"$tmp/lapi.py" <<-'PROGRAM'
		import http.server
		import json
		import sys


		class Lapi(http.server.BaseHTTPRequestHandler):
		    def do_GET(self):
		        told = {}
		        for kind in "new", "deleted":
		            with open(f"{sys.argv[1]}/{kind}", encoding="ascii") as file:
		                told[kind] = [{"duration": "2h", "id": 1, "origin": "cscli", "scenario": "ssh-bf",
		                               "scope": "Ip", "type": "ban", "value": value} for value in file.read().split()]
		        body = json.dumps(told).encode()
		        self.send_response(200)
		        self.send_header("Content-Type", "application/json")
		        self.send_header("Content-Length", str(len(body)))
		        self.end_headers()
		        self.wfile.write(body)


		http.server.HTTPServer(("127.0.0.1", 8080), Lapi).serve_forever()
	PROGRAM
	sed -e "s|^bin_path:.*|bin_path: $examples/crowdsec.sh|" -e 's/^api_key:.*/api_key: key/' -e 's/^update_frequency:.*/update_frequency: 1s/' \
		-e 's/^daemonize:.*/daemonize: false/' -e 's/^log_mode:.*/log_mode: stdout/' -e "s|^piddir:.*|piddir: $tmp|" \
		/etc/crowdsec/bouncers/crowdsec-custom-bouncer.yaml >"$tmp/bouncer.yaml"
	echo 203.0.113.20 198.51.100.0/24 2001:db8:8::1 FR >"$tmp/new"
	: >"$tmp/deleted"
	python3 "$tmp/lapi.py" "$tmp" >"$tmp/lapi.log" 2>&1 &
	pids+=($!)
	# ranges [PREFIX]: are these the blocked ones?
	ranges() { [ "$(weir -json block show | jq -r '.[].prefix')" = "$*" ]; }
	answers() { (: </dev/tcp/127.0.0.1/8080) 2>/dev/null; }
	wait_for 60 answers
	crowdsec-custom-bouncer -c "$tmp/bouncer.yaml" >"$tmp/bouncer.log" 2>&1 &
	pids+=($!)
	holds "CrowdSec's decisions block" wait_for 60 is_blocked 203.0.113.20 ban || diag "$(<"$tmp/bouncer.log")"
	holds "... IPv6, too" wait_for 60 is_blocked 2001:db8:8::1 ban
	within "$(blocked 203.0.113.20 ban)" 7000 7200 "... for their time"
	is "$(through 203.0.113.20):$(through 203.0.113.21)" 0:10 "... and others are not refused"
	holds "a range is blocked" wait_for 60 ranges 198.51.100.0/24
	is "$(through 198.51.100.77):$(through 198.51.101.77)" 0:10 "... all of it"
	like "$(<"$tmp/bouncer.log")" "FR" "a country is refused, and that is logged"
	: >"$tmp/new"
	echo 203.0.113.20 198.51.100.0/24 >"$tmp/deleted"
	holds "... and they are released" wait_for 60 is_free 203.0.113.20 ban
	holds "... the range, too" wait_for 60 ranges
	is "$(through 203.0.113.20):$(through 198.51.100.77)" 10:10 "... and pass"
	quiet
else
	skip "there is no bouncer" "CrowdSec blocks and releases"
fi
finish
