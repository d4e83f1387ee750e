#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tunnel.t: outer and inner packet are charged separately, by their own source and device
. "$(dirname "$0")/lib.sh"
begin
end_not_here
# tunnel DEVICE WORDS...: add one in $rx
tunnel() {
	ip_rx link add "$1" type "${@:2}" 2>/dev/null &&
		ip_rx link set "$1" addrgenmode none && ip_rx link set "$1" up
}
if ! tunnel four ipip local 192.0.2.1 remote 198.51.100.1 ||
	! tunnel gre gre local 192.0.2.1 remote 198.51.100.1 ||
	! tunnel six sit local 192.0.2.1 remote 198.51.100.1; then
	skip_all "this kernel has no tunnels"
fi

config <<-WORDS || bail "cannot configure"
	limit add each budget 1k/1h
	limit add outer budget 1k/1h dev rx0 action observe
	limit add ipip budget 1k/1h dev four action observe
	limit add gre budget 1k/1h dev gre action observe
	limit add sit budget 1k/1h dev six action observe
	limit add udp budget 1k/1h proto udp dport 9 action observe
	limit add p4 budget 1k/1h proto 4 action observe
WORDS
# through NAME "SOURCE LIMIT,..." SEND-OPTION...: send a packet; expect these charges
through() {
	local name=$1 charged=$2
	shift 2
	trace_start weir_charge
	flood -s 198.51.100.1 -c 1 "$@"
	trace_stop
	is "$(meet | awk '{ l[$1] = l[$1] "," $2 } END { for (s in l) print s " " substr(l[s], 2) }' | sort | xargs)" \
		"$charged" "$name"
}
through "IPv4 in IPv4" "::ffff:10.1.1.2 each,ipip,udp ::ffff:198.51.100.1 each,outer,p4" \
	-P 4 -x "$(inner4 10.1.1.2)"
through "IPv4 in GRE" "::ffff:10.1.1.3 each,gre,udp ::ffff:198.51.100.1 each,outer" \
	-P 47 -x "00000800$(inner4 10.1.1.3)"
through "IPv6 in IPv4" "2001:db8:1::9 each,sit,udp ::ffff:198.51.100.1 each,outer" \
	-P 41 -x "$inner6"
through "IPv6 in GRE" "2001:db8:1::9 each,gre,udp ::ffff:198.51.100.1 each,outer" \
	-P 47 -x "000086dd$inner6"
through "one source, outside and inside" "::ffff:198.51.100.1 each,outer,p4,each,ipip,udp" \
	-P 4 -x "$(inner4 198.51.100.1)"
is "$(stats seen)" 10 "each counts as two packets"

# Inner and outer packets have separate budgets.
config <<<"limit add in budget 6/1h dev four" || bail "cannot configure"
flood -s 198.51.100.1 -c 20 -P 4 -x "$(inner4 10.1.1.9)"
is "$(stat_of in admitted.packets):$(stat_of in dropped.packets)" 6:14 "a limit on the inner packets"
config <<<"limit add out budget 6/1h dev rx0" || bail "cannot configure"
seen=$(stats seen)
flood -s 198.51.100.1 -c 20 -P 4 -x "$(inner4 10.1.1.9)"
is "$(stat_of out admitted.packets):$(stat_of out dropped.packets)" 6:14 "a limit on the outer packets"
is "$(($(stats seen) - seen))" 26 "... a dropped outer packet has no inner one"
for device in four gre six; do
	ip_rx link del "$device"
done
finish
