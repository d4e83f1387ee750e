#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# web.t: Debian's nginx and curl: what GRO merges of an upload is charged as it was sent; in a flood
# of SYNs from spoofed addresses a client that is known loses nothing, and a new one gets in
. "$(dirname "$0")/lib.sh"
# shellcheck source=servers.sh
. "$here/servers.sh"
command -v ethtool >/dev/null || skip_all "no ethtool"
begin_apart
servers
cat >"$root/nginx.conf" <<-CONF
	daemon off;
	user root;
	pid /tmp/nginx.pid;
	error_log /tmp/error.log;
	events { }
	http {
		access_log off;
		client_max_body_size 0;
		server { listen 80; root /www; location / { dav_methods PUT; } }
	}
CONF
echo hello >"$root/www/hello"
head -c 6M /dev/zero >"$root/upload"
chmod 777 "$root/www"
server /usr/sbin/nginx -c /nginx.conf
wait_for 60 listens 80 || bail "no nginx: $(cat "$root/tmp/error.log")"
get() { client curl -sS --connect-timeout 30 --interface "$1" http://192.0.2.1/hello; }

# Single segments on the wire, merged by GRO at the receiver
tx ethtool -K tx0 tso off gso off >/dev/null
rx ethtool -K rx0 gro on >/dev/null
config <<<'limit add up budget 4G/1h from 192.0.2.2 proto tcp dport 80'
trace_start weir_charge
frames() { ip_tx -json -s link show dev tx0 | json stats64.tx.packets; }
before=$(frames)
is "$(client curl -sS -T /upload -o /dev/null -w '%{http_code}' http://192.0.2.1/upload)" 201 "an upload"
sent=$(($(frames) - before))
trace_stop
is "$(wc -c <"$root/www/upload")" $((6 << 20)) "... arrives"
all=$(traced -l up)
holds "GRO merged some packets" [ "$(value charges "$all")" -lt "$sent" ] || diag "$all"
is "$(value amount "$all"):$(stat_of up admitted.packets)" "$sent:$sent" "they cost as many packets as were sent"
rx ethtool -K rx0 gro off >/dev/null

config <<<'limit add web budget 4G/1h newcomers 100/1s known 1s to 192.0.2.1 proto tcp dport 80'
learned() { get 192.0.2.2 >/dev/null; [ "$(weir -json -s limit show web | json stats.known_now)" = 1 ]; }
holds "a client is known" wait_for 60 learned
# Beyond the second in which a new limit learns
let_pass 1300
was=$(stat_of web newcomers_refused.packets)
flooding -s 20.0.0.0 -n 10000000 -R -r 3000 -P tcp -f S -D 80
flooded_by() { [ "$(stat_of web newcomers_refused.packets)" -gt $((was + 1000)) ]; }
holds "a flood uses up the newcomers' budget" wait_for 60 flooded_by
is "$(for ((i = 0; i < 10; i++)); do get 192.0.2.2; done | grep -c hello)" 10 "the known client is served"
is "$(weir -json source get 192.0.2.2 limit web | json dropped_packets)" 0 "... and loses no packet"
is "$(get 192.0.2.3)" hello "a new client is served, too"
holds "... in the flood" kill -0 "${pids[-1]}"
quiet
finish
