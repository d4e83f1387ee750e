#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fail2ban.t: the real fail2ban and the real bouncer of CrowdSec block and release by the
# example files: failed logins in a log, decisions of a local API
. "$(dirname "$0")/lib.sh"
examples=$top/Documentation/examples
begin_with <<-WORDS
	limit add ban blocks 10000
WORDS
ip link set lo up
nft insert rule inet probe pre iif lo accept
# blocked ADDRESS LIMIT: for how many seconds, or "ever", or nothing
blocked() { weir -json source get "$1" limit "$2" | jq -r '.[0] | select(.blocked) | if .blocked_ms then .blocked_ms / 1000 | floor else "ever" end'; }
is_blocked() { [ "$(blocked "$@" 2>/dev/null)" ]; }
is_free() { [ -z "$(blocked "$@")" ]; }
# lasts ADDRESS LIMIT LEAST MOST TITLE: it is blocked there for so many seconds
lasts() {
	wait_for 60 is_blocked "$1" "$2"
	within "$(blocked "$1" "$2")" "$3" "$4" "$5" || diag "$(<"$tmp/fail2ban.log")"
}

# jails ACTION: run fail2ban with the jails one, of an hour, and two, of a day
jails() {
	cat >"$tmp/fail2ban/jail.local" <<-WORDS
		[DEFAULT]
		backend = polling
		usedns = no
		filter = sshd
		maxretry = 3
		banaction = $1
		[one]
		enabled = true
		logpath = $tmp/one.log
		bantime = 1h
		[two]
		enabled = true
		logpath = $tmp/two.log
		bantime = 1d
	WORDS
	: >"$tmp/one.log"
	: >"$tmp/two.log"
	PATH=$tmp/bin:$PATH fail2ban-server "${options[@]}" start >"$tmp/said" 2>&1 &&
		wait_for 120 client ping
}
client() { "$tmp/bin/fail2ban-client" "$@" >/dev/null 2>&1; }
gone() { [ ! -e "$tmp/fail2ban.pid" ]; }
# fails JAIL ADDRESS: as sshd logs it. Lines of one process are of one address for fail2ban.
process=4242
fails() {
	((process++))
	for _ in 1 2 3; do
		echo "$(date '+%b %e %T') host sshd[$process]: Failed password for root from $2 port 4242 ssh2" >>"$tmp/$1.log"
	done
}
errors() { grep -E 'ERROR|WARNING.*(action|weir)' "$tmp/fail2ban.log"; }

if command -v fail2ban-server >/dev/null; then
	cp -r /etc/fail2ban "$tmp/fail2ban"
	rm -f "$tmp"/fail2ban/jail.d/*
	cp "$examples/fail2ban.conf" "$tmp/fail2ban/action.d/weir.conf"
	printf '[Definition]\ndbfile = None\n' >"$tmp/fail2ban/fail2ban.local"
	options=(-c "$tmp/fail2ban" -s "$tmp/fail2ban.sock" -p "$tmp/fail2ban.pid" --logtarget "$tmp/fail2ban.log")
	mkdir "$tmp/bin"
	printf '#!/bin/sh\nexec %s -c "%s" -s "%s" "$@"\n' "$(command -v fail2ban-client)" "$tmp/fail2ban" "$tmp/fail2ban.sock" >"$tmp/bin/fail2ban-client"
	chmod +x "$tmp/bin/fail2ban-client"
	holds "fail2ban runs" jails weir || diag "$(<"$tmp/said")"
	is "$(through 203.0.113.9)" 10 "nobody is banned"
	fails one 203.0.113.9
	lasts 203.0.113.9 f2b-one 3400 3600 "failed logins are banned for their time"
	is "$(through 203.0.113.9):$(through 203.0.113.10)" 0:10 "... and refused, and others are not"
	fails one 2001:db8:7::9
	lasts 2001:db8:7::9 f2b-one 3400 3600 "an IPv6 address in the log is banned"
	client set one banip 2001:db8:7::8
	lasts 2001:db8:7::8 f2b-one 3400 3600 "another of its /64 is banned by hand"
	client set one unbanip 2001:db8:7::9
	is "$(through 2001:db8:7::9):$(through 2001:db8:7::8)" 10:0 "... and stays so when the ban of the first is lifted"

	# Each ban has one owner.
	client set two banip 203.0.113.9
	lasts 203.0.113.9 f2b-two 86000 86400 "another jail bans the same address"
	client set one unbanip 203.0.113.9
	is "$(blocked 203.0.113.9 f2b-one):$(through 203.0.113.9)" :0 "the first lifts its ban, and the other's holds"
	weir source block 203.0.113.9 limit ban for ever >/dev/null 2>&1
	client set two unbanip 203.0.113.9
	is "$(blocked 203.0.113.9 f2b-two):$(through 203.0.113.9)" :0 "... and lifts its own, and a block by hand holds"
	weir source release 203.0.113.9 limit ban >/dev/null
	is "$(through 203.0.113.9)" 10 "... until it is released"
	client set one bantime 4
	fails one 203.0.113.11
	fails two 203.0.113.11
	lasts 203.0.113.11 f2b-two 86000 86400 "both ban, one for longer"
	holds "... the shorter ban ends" wait_for 60 is_free 203.0.113.11 f2b-one
	is "$(through 203.0.113.11)" 0 "... and the address is in the other jail still"
	client set one bantime 600
	weir source block 203.0.113.12 limit f2b-one for 7d >/dev/null
	fails one 203.0.113.12
	banned() { "$tmp/bin/fail2ban-client" get one banip 2>/dev/null | grep -qw 203.0.113.12; }
	holds "a ban of ten minutes" wait_for 60 banned
	lasts 203.0.113.12 f2b-one 604000 604800 "... does not shorten a block of seven days"
	is "$(errors)" "" "fail2ban has nothing to complain of"

	# The limits go, as with systemctl stop weir, and those of the file come back.
	weir -quiet -file - <<<'limit add ban blocks 10000'
	is "$(through 203.0.113.11):$(through 203.0.113.12)" 10:10 "without its limits it blocks nobody"
	fails one 203.0.113.13
	lasts 203.0.113.13 f2b-one 400 600 "the next ban makes the limit again"
	lasts 203.0.113.12 f2b-one 400 600 "... and restores the bans of the jail"
	weir -quiet -file - <<<'limit add ban blocks 10000'
	client set two banip 203.0.113.14
	lasts 203.0.113.11 f2b-two 86000 86400 "... as one by hand does"
	client set two bantime -1
	client set two banip 203.0.113.16
	is "$(blocked 203.0.113.16 f2b-two)" ever "a ban for ever"
	client stop
	wait_for 60 gone
	is "$(weir limit show | grep f2b)" "" "without fail2ban there are no bans, and no limits of it"
	holds "fail2ban with a match" jails 'weir[words="tcp dport 22"]' || diag "$(<"$tmp/said")"
	fails one 203.0.113.15
	lasts 203.0.113.15 f2b-one 3400 3600 "... bans"
	is "$(through 203.0.113.15)" 10 "... but not what does not match"
	client stop
	wait_for 60 gone
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
	holds "CrowdSec's decisions block" wait_for 60 is_blocked 203.0.113.20 crowdsec || diag "$(<"$tmp/bouncer.log")"
	holds "... IPv6, too" wait_for 60 is_blocked 2001:db8:8::1 crowdsec
	within "$(blocked 203.0.113.20 crowdsec)" 7000 7200 "... for their time"
	is "$(through 203.0.113.20):$(through 203.0.113.21):$(through 2001:db8:8::2)" 0:10:10 "... and others are not refused"
	holds "a range is blocked" wait_for 60 ranges 198.51.100.0/24
	is "$(through 198.51.100.77):$(through 198.51.101.77)" 0:10 "... all of it"
	like "$(<"$tmp/bouncer.log")" "FR" "a country is refused, and that is logged"
	weir source block 203.0.113.20 limit ban for 1h >/dev/null 2>&1
	: >"$tmp/new"
	echo 203.0.113.20 198.51.100.0/24 >"$tmp/deleted"
	holds "... and they are released" wait_for 60 is_free 203.0.113.20 crowdsec
	holds "... the range, too" wait_for 60 ranges
	is "$(through 203.0.113.20):$(through 198.51.100.77)" 0:10 "... and pass, but for one that is blocked by hand"
	quiet
else
	skip "there is no bouncer" "CrowdSec blocks and releases"
fi
finish
