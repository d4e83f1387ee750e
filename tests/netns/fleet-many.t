#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fleet-many.t: eight hosts that share the budgets of 20,000 sources, which send to one host after
# another: each source gets one budget from all of them together
. "$(dirname "$0")/lib.sh"
. "$here/fleet_counts.sh"
command -v nft >/dev/null || skip_all "nft is not installed"
fleet_begin 8
sources=20000
each=2 # packets that one host gets of a source, enough to be announced
budget=$((each * ${#hosts[@]}))
server
push <<<"limit add many budget $budget/1h sources $((2 * sources)) shared udp dport 9"
for host in "${hosts[@]}"; do
	agent "$host"
	on "$host" nft -f - <<-'NFT'
		table ip count {
			set admitted { type ipv4_addr; size 65535; flags dynamic; counter; }
			chain behind { type filter hook prerouting priority 300; udp dport 9 update @admitted { ip saddr }; }
		}
	NFT
done
all_have many "${hosts[@]}" || bail "nothing is applied"
shared 1 7 "${hosts[@]}"
ok $? "all hosts hear each other"

# sent HOST: all sources send to it
sent() {
	send -i "hub${1#web}" -m "$(on "$1" cat /sys/class/net/eth0/address)" -d "10.77.0.1${1#web}" \
		-s 10.128.0.1 -n $sources -c $((each * sources)) >/dev/null
}
# heard AT: have all others been told what that host, and those before it, admitted?
heard() {
	local other
	for ((other = 0; other < ${#hosts[@]}; other++)); do
		[ $other = "$1" ] || [ "$(state "${hosts[other]}" counts.heard)" -ge $((($1 + (other > $1)) * sources)) ] || return
	done
}
for at in "${!hosts[@]}"; do
	sent "${hosts[at]}"
	wait_for 120 heard "$at"
	ok $? "the others hear of what ${hosts[at]} admits"
done
for host in "${hosts[@]}"; do sent "$host"; done
# What each source got from all hosts: the least, the mean and the most
got() {
	for host in "${hosts[@]}"; do on "$host" nft -j list set ip count admitted; done |
		jq -r '.nftables[] | .set.elem // empty | .[].elem | "\(.val) \(.counter.packets)"' |
		awk '{ sum[$1] += $2; all += $2 } END { for (s in sum) { if (sum[s] > most) most = sum[s]; n++ } print n, all / n, most }'
}
read -r count mean most < <(got)
is "$count" $sources "all sources were admitted"
diag "each got $mean of $budget, $most at most; agents took $(for pid in "${agents[@]}"; do awk '{ print $14 + $15 }' "/proc/$pid/stat"; done | xargs) ticks"
within "$most" $((budget / 2)) $((budget + each)) "the most that a source got from all hosts is one budget"
holds "... and the mean most of one" awk -v mean="$mean" -v budget="$budget" 'BEGIN { exit mean < 0.75 * budget }'
is "$(for host in "${hosts[@]}"; do state "$host" counts.malformed; state "$host" counts.lost; done | xargs)" "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0" "nothing was malformed, nor lost"
finish
