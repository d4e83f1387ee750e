#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# exempts.t: changes of exemptions wait for expedited grace periods, so that the maximum
# number can be added one by one
. "$(dirname "$0")/lib.sh"
begin
config <<<'limit add web budget 1000/h to 192.0.2.0/24' || bail "cannot configure"
# took EXPEDITED FILE: duration of a batch in milliseconds
took() {
	local start
	echo "$1" >/sys/kernel/rcu_expedited
	start=$(now_ms)
	weir -batch "$2" >/dev/null 2>"$tmp/said" || diag "$(<"$tmp/said")"
	echo $(($(now_ms) - start))
	echo 0 >/sys/kernel/rcu_expedited
}
# saved FILE: the time a batch saves if the kernel expedites all grace periods: its cost
# of ordinary ones
saved() {
	local ordinary
	ordinary=$(took 0 "$1")
	weir exempt flush
	echo $((ordinary - $(took 1 "$1")))
}
seq -f 'limit set web budget %.0f/h' 1001 1064 >"$tmp/limits"
for a in {0..31}; do printf "exempt add 10.$a.%d.0/24\n" {0..255}; done >"$tmp/exempts"
head -n 256 "$tmp/exempts" >"$tmp/first"
tail -n +257 "$tmp/exempts" >"$tmp/rest"
limits=$(saved "$tmp/limits")
first=$(saved "$tmp/first")
diag "expedited, 64 changes of a limit save $limits ms, 256 exemptions $first ms"
name="256 exemptions wait for fewer ordinary grace periods than 64 changes of a limit"
if [ "$(</sys/kernel/rcu_normal)" = 0 ]; then
	within "$first" -999999 "$limits" "$name"
else
	skip "this kernel expedites no grace period" "$name"
fi
took 0 "$tmp/rest" >/dev/null
is "$(weir -j stats show | json exempts)" 8192 "all exemptions exist"
like "$(weir exempt add 11.0.0.0/8 2>&1)" 'at most 8192 exemptions' "... and one more is refused"
is "$(weir -j exempt get 10.31.255.7 | json prefix)" 10.31.255.0/24 "the last of them applies"

# Refusals cached in the old configuration are counted for their source.
weir exempt flush
flood -s 198.51.100.1 -c 3000
weir exempt add 203.0.113.0/24
flood -s 198.51.100.1 -c 100
weir exempt del 203.0.113.0/24
is "$(weir -j source get 198.51.100.1 | json dropped)" "$(stat_of web dropped.packets)" "no refusal is lost"
weir exempt add 203.0.113.0/24
weir limit del web
weir exempt add 203.0.114.0/24
unload
ok $? "the module unloads right after a change"
finish
