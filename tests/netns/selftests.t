#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# selftests.t: the kernel's own tests of netfilter, with a limit in each of their namespaces that
# nothing exceeds: they end, and print, what they do without the module
. "$(dirname "$0")/lib.sh"
theirs=$top/.cache/source/tools/testing/selftests/net/netfilter
[ -d "$theirs" ] || skip_all "no selftests of the kernel"
for tool in conntrack iperf3 iptables socat; do command -v "$tool" >/dev/null || skip_all "no $tool"; done
need_tool
# Those that need no program compiled, pass on Debian's kernel, and take seconds
scripts=(conntrack_icmp_related conntrack_ipip_mtu conntrack_tcp_unreplied conntrack_vrf nf_nat_edemux
	nft_conntrack_helper nft_nat nft_synproxy nft_tproxy_tcp rpath)

# What they call: a namespace has a limit from its beginning, and says at its end what that met.
mkdir "$tmp/bin"
cat >"$tmp/bin/ip" <<-'SCRIPT'
	#!/bin/sh
	ip=/usr/sbin/ip
	case "$1 $2" in
	"netns add")
		"$ip" "$@" && exec "$ip" netns exec "$3" weir limit add huge budget 4G/s >&2
		;;
	"netns del"*) "$ip" netns exec "$3" weir -json -stats limit show huge >>"$MET" ;;
	esac
	exec "$ip" "$@"
SCRIPT
chmod +x "$tmp/bin/ip"

# ended SCRIPT: its status, and what it printed without names and numbers
ended() {
	(cd "$theirs" && exec timeout 240 bash "./$1.sh") >"$tmp/out" 2>&1
	echo "status $?"
	grep -oE '^(PASS|FAIL|ERROR|SKIP|OK)[^0-9]*' "$tmp/out"
}

seen() {
	jq -se 'map(.[0].stats) | (map(.matched.packets) | add) > 0 and all(.dropped.packets == 0)' "$tmp/met" >/dev/null
}

for script in "${scripts[@]}"; do
	ended "$script" >"$tmp/$script"
	is "$(head -n 1 "$tmp/$script")" "status 0" "$script passes without the module" || diag "$(tail -n 20 "$tmp/out")"
done
load || bail "cannot load"
for script in "${scripts[@]}"; do
	: >"$tmp/met"
	PATH=$tmp/bin:$PATH MET=$tmp/met ended "$script" >"$tmp/with"
	is "$(<"$tmp/with")" "$(<"$tmp/$script")" "$script: the same with it" || diag "$(tail -n 20 "$tmp/out")"
	holds "... whose packets it has seen, and dropped none" seen || diag "$(jq -c '.[].stats' "$tmp/met" | head -n 3)"
done
finish
