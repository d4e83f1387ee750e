#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fleet-rights.t: the server of the documentation's example, with TLS, keys of users, and rights of
# a host: what it needs it may, and nothing else
# shellcheck disable=SC2016 # subjects of NATS
. "$(dirname "$0")/lib.sh"
. "$here/fleet.sh"
command -v openssl >/dev/null || skip_all "openssl is not installed"
fleet_begin 2
cd "$tmp" || exit 1
url=tls://$nats

certificate() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$1" -addext subjectAltName=IP:10.77.0.1 \
		-keyout "$1.key" -out "$1.pem" 2>/dev/null
}
{ certificate server && certificate stranger; } || bail "openssl makes no certificate"
declare -A keys
for user in operator web1 web2 stranger; do
	keys[$user]=$("$top/Documentation/examples/fleet-key.py" "$user.nk") || bail "no key"
done
is "$(stat -c %a web1.nk)" 600 "nobody else reads a private key"
sed -e "s/OPERATOR/${keys[operator]}/; s/WEB1/${keys[web1]}/; s/WEB2/${keys[web2]}/; s/0\.0\.0\.0/10.77.0.1/; s:/var/lib/nats:$tmp/js:; s:/etc/nats:$tmp:" \
	"$top/Documentation/examples/nats-fleet.conf" >server.conf
server -c server.conf
# as USER: options
as() { options=(-nkey "${keys[$1]}" -seed "$tmp/$1.nk" -ca "$tmp/server.pem"); }
as operator
operator=("${options[@]}")
push <<<'limit add ban budget 100000/s shared udp dport 9'
ok $? "the operator may push" || diag "$(<"$tmp/said")"
for host in web1 web2; do
	as $host
	agent $host -share ban "${options[@]}"
done
all_have ban web1 web2
ok $? "hosts with these rights take the configuration"
wait_for 60 state_is web2 accepted true
ok $? "... and write their status"
on web1 weir source block 192.0.2.1 limit ban for 5s >/dev/null
blocked() { on web2 weir -json source show blocked | grep -q 192.0.2.1; }
wait_for 60 blocked
ok $? "... and share blocks"
wait_for 60 state_is web2 blocks.now 0
ok $? "... which end"
wait_for 60 state_is web2 counts.peers 1
ok $? "... and counts"
is "$(grep -c 'lost\|iolation' web1.log web2.log | xargs)" "web1.log:0 web2.log:0" "... and need no more" || diag "$(tail -n 2 web1.log)"

# refused WORDS STATUS PATTERN NAME: of who has $options
refused() {
	weir-fleet -server "$url" -group edge "${options[@]}" push - >said 2>&1 <<<'limit add evil budget 1/1d udp dport 9'
	is "$?" "$1" "$3"
	like "$(<said)" "$2" "... and the error says so"
}
as web1
options+=(-host web1)
refused 2 'Permissions Violation for Publish to "\$KV\.weir\.config\.edge"' "a host may not push"
as stranger
refused 3 'Authorization Violation' "nor may who has a key that the server does not know"
options=(-ca "$tmp/server.pem")
refused 3 'Authorization Violation' "... nor who has none"
as operator
options[5]=$tmp/stranger.pem
refused 3 'SSL handshake error' "a server with a certificate that is not trusted gets nothing"
on web1 python3 "$here/fleet_rights.py" "$nats" "$tmp/server.pem" "${keys[web1]}" "$tmp/web1.nk" web1 >attacks 2>&1
ok $? "a client with a host's key" || diag "$(<attacks)"
while read -r result name; do
	case $result in
	ok) ok 0 "$name" ;;
	not) ok 1 "${name#ok }" ;;
	*) diag "$result $name" ;;
	esac
done <attacks
# The last attack has something delivered to the key.
# A session that begins again counts it again.
counted() { [ "$(state web2 blocks.malformed)" -gt 0 ]; }
wait_for 60 counted
ok $? "others count it as malformed"
is "$(state web2 counts.malformed)" 0 "... and what is delivered where counts are announced is none of these"
is "$(fleet log | wc -l):$(fleet show)" "1:limit add ban budget 100000/s shared udp dport 9" "the configuration is what was pushed"
finish
