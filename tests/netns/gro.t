#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# gro.t: a packet merged by GRO costs as many packets as arrived
. "$(dirname "$0")/lib.sh"
command -v iperf3 >/dev/null || skip_all "no iperf3"
command -v ethtool >/dev/null || skip_all "no ethtool"
begin
end_not_here
# Single segments on the wire, merged by GRO at the receiver.
ip_tx addr add 192.0.2.2/24 dev tx0
ip_tx neigh add 192.0.2.1 lladdr 02:00:00:00:00:01 nud permanent dev tx0
mac=$(ip_tx -json link show dev tx0 | json address)
ip_rx neigh add 192.0.2.2 lladdr "$mac" nud permanent dev rx0
tx ethtool -K tx0 tso off gso off >/dev/null
rx ethtool -K rx0 gro on >/dev/null
config <<-'WORDS' || bail "cannot configure"
	limit add c budget 4G/1h action observe
	limit add few budget 100/1h action observe
WORDS

# A veth counts bytes with or without the Ethernet header.
frames() { ip_tx -json -s link show dev tx0 | json "stats64.tx.$1"; }
rx iperf3 -s -1 -D -B 192.0.2.1 --pidfile "$tmp/iperf"
listening() { rx ss -Hltn 'sport = 5201' | grep -q .; }
wait_for 60 listening || bail "no server"
bytes=$(frames bytes)
flood -s 192.0.2.2 -c 100
header=$((($(frames bytes) - bytes) / 100 - 46))
trace_start weir_charge
packets=$(frames packets) bytes=$(frames bytes)
admitted=$(stat_of c admitted.packets):$(stat_of c admitted.bytes)
holds "a TCP transfer" quietly tx iperf3 -c 192.0.2.1 -n 6M
packets=$(($(frames packets) - packets)) bytes=$(($(frames bytes) - bytes - header * packets))
trace_stop
all=$(traced -l c)
holds "GRO merged some packets" [ "$(value charges "$all")" -lt "$packets" ] || diag "$all"
diag "$packets packets came as $(value charges "$all")"
is "$(value amount "$all")" "$packets" "they cost as many packets as were sent"
is "$(value amount "$(traced -l c -b)")" "$bytes" "... and the bytes"
is "$(stat_of c admitted.packets):$(stat_of c admitted.bytes)" "$((packets + ${admitted%:*})):$((bytes + ${admitted#*:}))" "the counters agree"
# A limit's counter and its source's are in the same unit.
refused=$(stat_of few would_drop.packets)
holds "a small limit would drop most of it" [ "$refused" -gt 1000 ] || diag "$refused"
is "$(weir -json source get 192.0.2.2 limit few | json would_drop_packets)" "$refused" "... as many as it counts for the source"
finish
