# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # of lib.sh, and of the tests
# fleet_counts.sh: a source that floods hosts that share its budget

. "$here/fleet.sh"
budget=200
# An interval of 800 ms, so that four agents keep it on a slow machine, and time enough after a flood to
# ask what each host counts while all of it is in the window.
period=40000
interval=800
step=100 # milliseconds, of which fleet_flood.py sends the packets at once, at most
wheel "$period" 16

# shared LIMITS PEERS HOST...: wait until each shares so many limits, and has heard so many others, by a status
# that is younger than the last start of a server or an agent: the server keeps those of before
share() { [ "$(state "$1" "| .when > \"$since\" and .counts.limits == $2 and .counts.peers == $3")" = true ]; }
shared() {
	local host
	for host in "${@:3}"; do wait_for 90 share "$host" "$1" "$2" || { diag "since $since: $(state "$host" when) $(state "$host" counts)"; return 1; }; done
}
# cut_off HOST: its connection to the server is silent; reconnect HOST: not any more
cut_off() {
	on "$1" nft -f - <<-'NFT'
		table inet cut {
			chain in { type filter hook input priority 0; tcp sport 4222 drop; }
			chain out { type filter hook output priority 0; tcp dport 4222 drop; }
		}
	NFT
}
reconnect() {
	begins
	on "$1" nft delete table inet cut
}

# to_hosts HOST...: sets words to what fleet_flood.py is told of each, and all to these words
to_hosts() {
	local host
	for host; do words+=("$host hub${host#web} 10.77.0.1${host#web} $(on "$host" cat /sys/class/net/eth0/address)"); done
	read -ra all <<<"${words[*]}"
}
# A source sends twenty times its budget to some hosts, in all. Few packets at a time, so that a slow
# machine has time for the agents.
rate=$((20 * budget * 1000 / period))
# flood PORT SECONDS WORD...
flood() { python3 "$here/fleet_flood.py" "$1" "$2" $rate "${@:3}"; }
# watched PORT SECONDS WORD...: leave in "$tmp/delays" what was late meanwhile, some time after the flood
watched() {
	: >"$tmp/delays"
	python3 "$here/fleet_flood.py" -n "$nats" "$1" "$2" $rate "${@:3}" >"$tmp/delays" &
	watched=$!
}
# most LIMIT [TICKS]: that all hosts together admitted within the period, or these
most() { value max "$(traced -l "$1" -T "${2:-$window}")"; }

# admitted LIMIT SINCE UNTIL: by all hosts, between these uptimes
admitted() {
	awk -v limit="limit=$1" -v since="$2" -v until="$3" '/ weir_(un)?charge: / && index($0, " " limit " ") && match($0, / [0-9]+\.[0-9]+: /) {
			at = substr($0, RSTART) + 0
			if (at < since || at > until || !match($0, / packets=[0-9]+/)) next
			packets = substr($0, RSTART + 9, RLENGTH - 9)
			sum += / weir_charge: / ? packets : -packets
		} END { print sum + 0 }' "$tmp/trace"
}
# counted LIMIT HOST: packets of the source
counted() { on "$2" weir -json source get 10.77.0.99 limit "$1" | json count; }
# What a host need not know of is what is too little to be announced, an eighth.
knows() { counts[$1]=$(counted "$2" "$3") && [ $((counts[$1] + budget / 8)) -ge "$known" ]; }
# know LIMIT APART HOST...: wait until each of the hosts counts what all of them have admitted in half a
# window before the end of the flood, which is in the window for as long again. Others have admitted APART.
know() {
	local at until counts=()
	wait_for 120 grep -q sent= "$tmp/delays"
	trace_stop
	read -r until _ </proc/uptime
	known=$(($(admitted "$1" "$(awk -v until="$until" -v ms=$((period / 2)) 'BEGIN { print until - ms / 1000 }')" "$until") - $2))
	for ((at = 0; at < $# - 2; at++)); do wait_for $((period / 2000)) knows $at "$1" "${@:at + 3:1}"; done
	diag "$1: $known are known, and hosts count ${counts[*]}"
	for at in "${!counts[@]}"; do within "$known" $((budget / 2)) $((counts[at] + budget / 8)) "${*:at + 3:1} counts what all of $1 have admitted"; done
	wait "$watched"
}
# What the hosts of a limit do not know of yet is what the others admit until it is announced, an interval
# and what agents are late, has come, and is charged, as much again. A charge is in the slot of the last
# look at the module, so it may end earlier than what it stands for.
#
# together PERCENT LIMIT HOST...: do these hosts, which are flooded, admit one budget? All but one get so
# much of the packets at most.
together() {
	local late way gap delay
	know "$2" 0 "${@:3}"
	late=$(value late_ms "$(tail -n 1 "$tmp/delays")")
	way=$(value way_ms "$(tail -n 1 "$tmp/delays")")
	gap=$((interval + late))
	delay=$((2 * gap + way))
	diag "$2: $(most "$2") of $budget in the worst window; agents up to $late ms late, a way of $way ms"
	within "$(most "$2" $((window - gap * HZ / 1000)))" $((budget / 2)) $((budget + budget / 8 + rate * $1 / 100 * (delay + step) / 1000)) \
		"$(($# - 2)) hosts of $2 admit one budget, and what they do not know of yet"
}
