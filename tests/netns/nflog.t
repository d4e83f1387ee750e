#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# nflog.t: a limit with log gives a sample of what it drops to a group of nflog, where tcpdump and ulogd2
# see it; a flood cannot have more logged; other limits and namespaces log nothing; the kernel's
# module is held as long as it is needed, and its absence is told
. "$(dirname "$0")/lib.sh"
command -v tcpdump >/dev/null || skip_all "no tcpdump"
modprobe -q nfnetlink_log || skip_all "this kernel has no nfnetlink_log"
begin
held() { cat /sys/module/nfnetlink_log/refcnt; }
held_by() { [ "$(($(held) - idle))" = "$1" ]; }
idle=$(held)

# Without the module, and unable to load it
helper=$(</proc/sys/kernel/modprobe)
if rmmod nfnetlink_log 2>/dev/null; then
	echo /bin/false >/proc/sys/kernel/modprobe
	like "$(weir limit add web budget 5/1h to 192.0.2.0/24 log 5 2>&1; weir limit show)" \
		"^weir: limit add: log: the kernel's nfnetlink_log is missing, or could not be loaded\$" "without nfnetlink_log it is refused"
	echo "$helper" >/proc/sys/kernel/modprobe
	quietly weir limit add web budget 5/1h to 192.0.2.0/24 log 5
	holds "... which is loaded otherwise" [ -d /sys/module/nfnetlink_log ]
else
	skip "nfnetlink_log is in use" "without nfnetlink_log it is refused"
	quietly weir limit add web budget 5/1h to 192.0.2.0/24 log 5
fi
is "$(($(held) - idle))" 2 "the limit holds it, for both families"
config <<-WORDS || bail "cannot configure"
	limit add web budget 5/1h from 198.51.100.0/24,2001:db8:1::/48 sources 1024 log 5
	limit add quiet budget 5/1h from 203.0.113.0/24 sources 64
	limit add watch budget 5/1h from 198.18.0.0/16 sources 64 action observe log 5
	block add 198.51.100.128/25
WORDS
is "$(($(held) - idle))" 4 "each limit that logs does"
# ... and each that listens, below
is "$(weir save | grep -o 'log [0-9]*' | xargs)" "log 5 log 5" "save writes it"

# hears GROUP FILE: packets of a group
hears() {
	tcpdump -U -i "nflog:$1" -w "$2" 2>"$2.err" &
	pids+=($!)
	wait_for 60 grep -q 'listening on' "$2.err" || diag "$(<"$2.err")"
}
heard() { tcpdump -nr "${2:-$tmp/five}" 2>/dev/null | grep -cE "$1"; }
hears 5 "$tmp/five"
hears 6 "$tmp/six"
start=$SECONDS
flood -s 198.51.100.1 -c 30
some() { [ "$(heard "$1")" -ge 1 ]; }
holds "a packet that is dropped is logged" wait_for 60 some 'IP 198\.51\.100\.1\.[0-9]+ > 192\.0\.2\.1\.'
flood -s 2001:db8:1::7 -c 30
holds "... also of IPv6" wait_for 60 some 'IP6 2001:db8:1::7\.'
flood -s 198.51.100.200 -c 3
holds "... and of a prefix that is blocked" wait_for 60 some 'IP 198\.51\.100\.200\.'
flood -s 203.0.113.1 -c 30
flood -s 198.18.0.1 -c 30
let_pass 1100
flood -s 198.51.100.2 -n 100 -c 5000
took=$((SECONDS - start + 1))
logged() { stat_of web logged; }
all_there() { [ "$(heard .)" = "$(logged)" ]; }
holds "what the limit counts as logged is what came" wait_for 60 all_there || diag "$(heard .) $(logged)"
within "$(logged)" 12 "$((16 * (took + 1)))" "of a flood 16 a second"
within "$(stat_of web dropped.packets)" 4000 6000 "... most of which is dropped all the same"
is "$(heard 'IP (203\.0\.113|198\.18\.0)\.')" 0 "limits without log, or that observe, log nothing"
is "$(heard . "$tmp/six")" 0 "another group gets nothing"
is "$(weir -s limit show web | awk '$1 == "logged" { print $2 }')" "$(logged)" "limit show has the number"
is "$(weir -s limit show quiet | grep -c logged)" 0 "... of those that log"

# another namespace has groups of its own
space apart
apart=${spaces[-1]}
ip netns exec "$apart" "$top/userspace/weir" limit add web budget 5/1h to 192.0.2.0/24 log 5 >/dev/null 2>&1
is "$(($(held) - idle))" 8 "a limit in another namespace holds it, too"
before=$(heard .)
ip link add apart0 netns "$tx" type veth peer name rx1 address 02:00:00:00:00:01 netns "$apart"
ip -n "$tx" link set apart0 up
ip -n "$apart" link set rx1 up
ip -n "$apart" addr add 192.0.2.1/24 dev rx1
sent() { send -z "$tx" -i apart0 -s 198.51.100.77 -d 192.0.2.1 -c 20 >/dev/null; [ "$(ip netns exec "$apart" weir -j -s limit show web | json stats.logged)" -ge 1 ]; }
holds "... and logs" wait_for 60 sent
is "$(heard .)" "$before" "... but not to groups of this one"

# ulogd2, as Debian has it
if command -v ulogd >/dev/null; then
	quiet
	cat >"$tmp/ulogd.conf" <<-CONF
		[global]
		logfile="$tmp/ulogd.log"
		$(find /usr/lib -path '*ulogd*' -name 'ulogd_*.so' | sed 's/.*/plugin="&"/' | grep -E 'NFLOG|BASE|IFINDEX|IP2STR|PRINTPKT|LOGEMU')
		stack=log:NFLOG,base:BASE,ifi:IFINDEX,ip2str:IP2STR,print:PRINTPKT,emu:LOGEMU
		[log]
		group=5
		[emu]
		file="$tmp/packets"
		sync=1
	CONF
	ulogd -c "$tmp/ulogd.conf" 2>"$tmp/err" &
	pids+=($!)
	try=10
	told() { flood -s "198.51.100.$((try++))" -c 8; grep -qs 'weir web: budget IN=rx0 .*SRC=198\.51\.100\.[0-9]* DST=192\.0\.2\.1 ' "$tmp/packets"; }
	holds "ulogd2 writes a line with limit and reason" wait_for 60 told || diag "$(tail -n 3 "$tmp/packets" 2>&1)" "$(tail -n 2 "$tmp/ulogd.log")"
else
	skip "no ulogd2" "ulogd2 writes a line with limit and reason"
fi
quiet

quietly weir limit set web log none
holds "log none ends it" wait_for 60 held_by 4 # those that listened hold it for a grace period
weir limit set web log 7 >"$tmp/out" 2>&1
is "$(weir -j limit show web | json log)" 7 "... and log begins it again"
is "$(printf 'limit add web budget 5/1h from 198.51.100.0/24,2001:db8:1::/48 sources 1024\n' >"$tmp/file"; weir diff "$tmp/file" | grep -c '^-limit add web .* log 7$')" 1 "diff tells"
ip netns delete "$apart"
holds "a namespace that goes lets it go" wait_for 60 held_by 4
unload
is "$(held)" "$idle" "... and the module does"
finish
