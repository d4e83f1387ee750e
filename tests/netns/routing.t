#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# routing.t: keepalived's pair and a BGP session of bird behind a limit that counts all senders: both
# stay for as long as the other side is exempt, and fail without, as README says
. "$(dirname "$0")/lib.sh"
# shellcheck source=servers.sh
. "$here/servers.sh"
begin_apart
servers
[ -x "$root/usr/sbin/bird" ] || skip_all "no servers are here; make setup downloads them"

# Each sends to the other several times a second, or once, and gives it up after 0.4, or 3, seconds.
pair_of() { # rx or tx, its address, the other's, number, priority
	cat >"$root/$1-vrrp" <<-CONF
		global_defs {
			router_id $1
			vrrp_version 3
		}
		vrrp_instance shared {
			state BACKUP
			interface ${1}0
			virtual_router_id 51
			priority $5
			advert_int 0.1
			virtual_ipaddress {
				192.0.2.100/24
			}
		}
	CONF
	cat >"$root/$1-bgp" <<-CONF
		log stderr all;
		router id $2;
		protocol device { }
		protocol static { ipv4; route 198.18.$4.0/24 blackhole; }
		protocol bgp neighbour {
			local $2 as 6500$4;
			neighbor $3 as 6500$((3 - $4));
			hold time 3; keepalive time 1; connect retry time 1; connect delay time 1; error wait time 1, 2;
			ipv4 { import all; export all; };
		}
	CONF
	"$1" chroot "$root" /usr/sbin/bird -f -c "/$1-bgp" -s "/run/$1.ctl" -P "/run/$1-bird.pid" 2>"$tmp/$1-bgp" &
	pids+=($!)
	"$1" chroot "$root" /usr/sbin/keepalived -n -l -P -f "/$1-vrrp" -p "/run/$1.pid" -r "/run/$1-vrrp.pid" >"$tmp/$1-vrrp" 2>&1 &
	pids+=($!)
}
established() { rx chroot "$root" /usr/sbin/birdc -s /run/rx.ctl show protocols neighbour 2>/dev/null | grep -q Established; }
lost() { ! established; }
routes() { rx chroot "$root" /usr/sbin/birdc -s /run/rx.ctl show route 2>/dev/null | grep -c '198.18.2.0/24.*neighbour'; }
# shared: who of them has the address
shared() {
	local is=''
	ip_rx addr show dev rx0 | grep -q 192.0.2.100 && is=rx
	ip_tx addr show dev tx0 | grep -q 192.0.2.100 && is=$is${is:++}tx
	echo "${is:-none}"
}
shares() { [ "$(shared)" = "$1" ]; }
# adverts: of the master, as they arrive at the other
rx nft -f - <<-RULES || bail "no nft"
	table netdev adverts {
		counter came { }
		chain in { type filter hook ingress device rx0 priority 1; ip protocol 112 counter name came; }
	}
RULES
adverts() { rx nft list counter netdev adverts came | sed -n 's/.*packets \([0-9]*\).*/\1/p'; }
more() { [ "$(adverts)" -ge "$1" ]; }

config <<-WORDS
	exempt add 192.0.2.2
	limit add any budget 5/1h
WORDS
pair_of rx 192.0.2.1 192.0.2.2 1 100
pair_of tx 192.0.2.2 192.0.2.1 2 200
wait_for 60 shares tx
is "$(shared)" tx "exempt, the first of keepalived's pair has the address" || diag "$(<"$tmp/rx-vrrp")" "$(<"$tmp/tx-vrrp")"
wait_for 60 established
ok $? "... and a BGP session is established" || diag "$(<"$tmp/rx-bgp")" "$(<"$tmp/tx-bgp")"
wait_for 60 more $(($(adverts) + 30))
is "$(shared)" tx "... and 30 advertisements later the address is where it was"
established
is "$?:$(routes)" 0:1 "... and the session has the other's route"

weir exempt del 192.0.2.2
wait_for 60 shares rx+tx
is "$(shared)" rx+tx "counted, both have the address: the second hears nothing of the first"
wait_for 60 lost
ok $? "... and the BGP session is lost"
holds "... to packets that the limit dropped" [ "$(stat_of any dropped.packets)" -gt 5 ]

weir exempt add 192.0.2.2
wait_for 60 shares tx
is "$(shared)" tx "exempt again, the first alone has the address"
wait_for 60 established
ok $? "... and the BGP session is back"
finish
