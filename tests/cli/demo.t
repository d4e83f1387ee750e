#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# demo.t: the demo without a guest: what its judge says of small cases, and that
# its screen is a terminal's, with the commands as the tool takes them.
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
	"... and what each kind sent, lost and got is told"
[ "$(wc -L <<<"$said")" -le 80 ]
ok $? "... in lines of a terminal" || diag "$said"
lines=$(wc -l <<<"$said")

event charge dns $flooder $((1000 + hz)) >>hook
judged 1 "NOT OK +dns: at most 101 of 100 in any 1 s; by the receiver 100" "by the hook alone one packet too many in a second"
all_well && event charge syn $spoofed $((1000 + 2 * hz)) >>hook
judged 1 "ok +dns.*NOT OK +syn: at most 2 of 1 in any 2 s; by the receiver 1" "... in two"

# Of what is lost on the way nobody can tell which packets came; that there were
# too many of them in a second can be told.
all_well
for ((i = 0; i < 150; i++)); do
	event charge dns 10.6.6.7 $((9000 + 3 * i)) >>hook
	[ "$i" -gt 130 ] || event charge dns 10.6.6.7 $((36000000 + 4000 * i)) >>receiver
done
judged 1 "NOT OK +dns: at most 100 of 100 in any 1 s; by the receiver 131, \+-0 ms" "by the receiver alone too many"
# late DELAY: the flooder's last packet, within a second of its first, is stamped so
# many microseconds after its tick, and the others 3000
late() {
	all_well
	sed -i '/10\.6\.6\.6 tick=5007000/d' receiver
	event charge dns $flooder $((5004000 + $1)) >>receiver
}
late 2000
judged 0 "ok +dns: at most 100 of 100 in any 1 s; by the receiver 100, \+-1 ms" "clocks that differ a little are allowed for"
late -5000
judged 0 "ok +dns: at most 100 of 100 in any 1 s; by the receiver 100, \+-8 ms" "... also where a second has a packet too many by the stamps"
late 1003000
judged 1 "NOT OK +dns: .*\+-1000 ms" "... but not by as much as the window"
all_well && event charge dns $honest 9000000 >>receiver
judged 1 "NOT OK +dns: .* 1 packets came that weir did not charge" "a packet that came by another way"
# Each source of dns loses one packet on the way; NUMBER of the others come
# within a second by their stamps.
all_lose() {
	all_well
	sed -i '/limit=dns/d' receiver
	event charge dns $honest 4003000 >>receiver
	for ((i = 0; i < $1; i++)); do event charge dns $flooder $((4003000 + 9000 * i)) >>receiver; done
}
all_lose 99
judged 0 "ok +dns: .*; by the receiver 99, clocks not compared.*ok +syn" "each source lost a packet: no window has too many by any clock"
all_lose 100
sed -i '/10\.6\.6\.6 tick=4003000/s/packets=1/packets=2/' receiver
judged 2 "\?\? +dns: .*; by the receiver 101, .*cannot be told: every source lost packets" "... and one that has too many tells nothing"
sed -i '/limit=dns/d' receiver
judged 2 "\?\? +dns: .*; by the receiver 0, .*ok +syn" "... nor does a receiver that got none"
event charge dns $flooder $((1000 + hz)) >>hook
judged 1 "NOT OK +dns: at most 101 of 100" "... but the hook's own times do"
all_well && sed -i '/limit=syn/d' hook receiver
judged 1 "NOT OK +syn: at most 0 of 1" "a limit that nobody met"
all_well && event drop dns $honest 1200 >>hook
judged 1 "ok +dns.*ok +syn.*NOT OK +weir dropped 1 packets of honest hosts" "an honest packet is dropped"
all_well && echo 0 >sent.honest
judged 1 "NOT OK +weir dropped 0 packets" "honest hosts that sent nothing show nothing"
all_well && : >sent.spoofer
judged 2 "the senders did not say" "a sender that died"
all_well && rm receiver
judged 2 "nothing to judge" "and nothing at all"

# The scene, on a stage of cardboard, where the kernel and all that it calls are
# painted.
# prop NAME...: a command of the stage, from stdin
prop() { (echo '#!/bin/bash' && cat) | tee "${@/#/stage/userspace/}" >/dev/null && chmod +x "${@/#/stage/userspace/}"; }

mkdir -p stage/userspace out
prop play <<-'PROP'
	tracing=/sys/kernel/tracing
	for dir in /run "$tracing"; do mount -t tmpfs tmpfs "$dir" || exit 4; done
	mkdir -p "$tracing"/{per_cpu/cpu0,events/weir/weir_{charge,uncharge,drop}}
	: | tee "$tracing"/{tracing_on,buffer_size_kb,per_cpu/cpu0/{stats,trace_pipe_raw}} >/dev/null
	tee "$tracing"/events/weir/weir_{charge,uncharge,drop}/id <<<1 >/dev/null
	exec "$@" </dev/null
PROP
prop modprobe insmod renice </dev/null
prop receive <<-'PROP'
	trap 'kill $!; exit 0' TERM
	echo ready
	tail -f /dev/null >/dev/null &
	wait
PROP
# The senders send until the sources have been shown once.
prop ip <<-'PROP'
	[ "$2" = exec ] || exit 0
	tail -n +1 -f --pid=$$ "$OUT/shown" | grep -qm 1 shown
	echo 12345
PROP
prop weir <<-'PROP'
	while [[ $1 = -* ]]; do shift; done
	"$WEIR" -check "$@" || exit
	[ "$1" = source ] || { echo "$3 as it was made" && echo "    and what resulted" && exit; }
	for i in 1 2 3 4; do echo "10.6.6.$i limit dns and so on until nobody can read what is written behind the eightieth column"; done
	echo shown >>"$OUT/shown"
PROP

# displayed: a terminal's lines as they are in the end, of what was written; one
# that is cut at the edge is 80 long, one that is not is as long as it is
displayed() {
	sed -E $'s/\r//g; s/\e\\[[0-9;]*[mK]//g' written | awk '
		{
			while (match($0, /\033\[(\?7[lh]|[0-9]+A)/)) {
				word = substr($0, RSTART + 2, RLENGTH - 2)
				if (word ~ /A/) n -= substr(word, 1, length(word) - 1)
				else cut = word == "?7l"
				$0 = substr($0, 1, RSTART - 1) substr($0, RSTART + RLENGTH)
			}
			line[++n] = cut ? substr($0, 1, 80) : $0
			if (n > most) most = n
		}
		END { for (i = 1; i <= most; i++) print line[i] }'
}

export OUT=$tmp/out TOP=$tmp/stage WEIR_KO=/dev/null WEIR=$weir TERM=xterm
unset NO_COLOR
# scene NAME PREFIX...: the stage's screen, in $tmp/screen; PREFIX is the command in front
scene() {
	local name=$1
	shift
	: >out/shown
	unshare -m --propagation private stage/userspace/play "$@" "$top/tests/demo/scene.sh" >written 2>log
	case $? in
	0) ok 0 "$name: the scene is played" ;;
	4) echo "ok $((tests += 1)) - $name: the scene # SKIP no right to mount" && return 1 ;;
	*) ok 1 "$name: the scene is played" || diag "$(tail -n 5 written)" "$(tail -n 5 log)" ;;
	esac
	displayed >screen
	is "$(grep '^#' screen)" "# insmod weir.ko
# weir limit add dns budget 100/s proto udp dport 53
# weir limit add syn budget 1/2s proto tcp syn
# up to: 16 hosts 50/s each, one flooding 10,000/s, 20,000 spoofed 40,000/s
# weir source show top 4 by dropped" "... with commands as they are typed"
	is "$(grep -c '^10\.6\.6\.[1-4] limit dns' screen)" 4 "... and the sources, live"
}

scene "into a file"
if scene "on a terminal" script -qefc; then
	# and what run.sh and the judge write: a line in front, and a verdict
	[ $(($(wc -l <screen) + 1 + lines)) -le 24 ]
	ok $? "... of 24 lines, the verdict among them" || diag "$(wc -l <screen) and $lines lines"
	[ "$(wc -L <screen)" -le 80 ]
	ok $? "... of 80 columns" || diag "$(<screen)"
fi

# And run.sh, with no guest, on what it left behind.
mkdir -p stage/tests/{demo,vm} stage/.cache/{demo,build/demo,kernels/6.12/kdir/include/config}
cp "$top"/tests/demo/{run,cast}.sh stage/tests/demo/
echo CONFIG_HZ=250 >stage/.cache/kernels/6.12/kdir/include/config/auto.conf
prop ../tests/vm/guest.sh <<-'PROP'
	cd .cache/demo && [ ! -e hook ] && [ ! -e receiver ] && : | tee received trace.cpu0 events
PROP
prop ../tests/demo/judge.sh <<<'echo "judged by $*"'
prop ../.cache/build/demo/{make,unpack} <<<:
# shellcheck disable=SC2016 # the prop's
prop ../.cache/build/demo/receive <<<'exit "$UNREADABLE"'
: | tee stage/.cache/demo/{hook,receiver}
UNREADABLE=0 stage/tests/demo/run.sh -m /dev/null >said 2>log
is "$? $(tail -n 1 said)" "0 judged by .cache/demo 250" "run.sh: nothing of an earlier demo is judged" || diag "$(<log)"
UNREADABLE=1 stage/tests/demo/run.sh -m /dev/null >said 2>log
is "$? $(grep -c judged said) $(<log)" "1 0 demo: what came to the host cannot be read" "... nor what cannot be read"
finish
