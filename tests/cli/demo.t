#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# demo.t: the verdict of the demo, which decides its status, on small cases
. "$(dirname "$0")/lib.sh"
hz=250 second=1000000
out=$top/.cache/build/netns
make -s -C "$top/tests/netns" "OUT=$out" "$out/window" >log 2>&1 ||
	{ echo "1..0 # SKIP tests/netns/window cannot be built"; exit 4; }

# event KIND LIMIT SOURCE TIME: as the kernel traces it
event() { printf ' weir_%s: limit=%s saddr=::ffff:%s tick=%d packets=1 bytes=60\n' "$@"; }

# gets LIMIT SOURCE TICK...: is charged, and comes 3 ms later
gets() {
	local limit=$1 source=$2 tick
	shift 2
	for tick; do
		event charge "$limit" "$source" "$tick" >>hook
		event charge "$limit" "$source" $((tick * second / hz + 3000)) >>receiver
	done
}

honest=10.1.0.1 flooder=10.6.6.6 spoofed=198.18.0.1

# all_well: an honest host, a flooder that gets all of its budget, a spoofed source
all_well() {
	: >hook && : >receiver
	mapfile -t full < <(seq 1000 2 1198) # a hundred in less than a second
	gets dns $honest $(seq 1000 5 1495)
	gets dns $flooder "${full[@]}" $((1000 + hz + 1))
	gets syn $spoofed 1000 $((1000 + 2 * hz + 1))
	event drop dns $flooder 1200 >>hook
	event drop syn $spoofed 1100 >>hook
	echo 100 >sent.honest && echo 36587 >sent.flooder && echo 160000 >sent.spoofer
}

# judged STATUS PATTERN NAME...
judged() {
	local wanted=$1 pattern=$2
	shift 2
	said=$("$top/tests/demo/judge.sh" . "$hz" 2>&1)
	like "$? $said" "^$wanted .*$pattern" "$@"
}

all_well
judged 0 "ok +dns: at most 100 of 100 .*ok +syn: at most 1 of 1 .*ok +weir dropped 0 packets" "all is well"
like "$said" "16 honest hosts +100 +0 +100 +0"$'\n'"1 flooding host +36,587 +1 +101 +36,485"$'\n' \
	"... with what each kind sent, lost and got"
[ "$(wc -L <<<"$said")" -le 80 ]
ok $? "... in lines of a terminal" || diag "$said"

event charge dns $flooder $((1000 + hz)) >>hook
judged 1 "NOT OK +dns: at most 101 of 100 in any 1 s; received 100" "by the hook alone one packet too many in a second"
all_well && event drop dns $honest 1200 >>hook
judged 1 "ok +dns.*ok +syn.*NOT OK +weir dropped 1 packets of honest hosts" "an honest packet is dropped"
all_well && : >sent.spoofer
judged 2 "the senders did not say" "a sender that died"
finish
