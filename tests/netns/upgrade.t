#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# upgrade.t: weir upgrade: another module goes on with the limits, counts, blocks and XDP programs of
# all namespaces; with -closed a storm gets nothing more meanwhile; if the other one does not load,
# or does not take all of that, the old one is put back with it; what cannot be done changes nothing
. "$(dirname "$0")/lib.sh"
for program in modinfo insmod nft nm; do
	command -v $program >/dev/null || skip_all "no $program"
done
need_tool
load || bail "cannot load"
pair
weir -exist upgrade help >/dev/null || bail "no upgrade"
rm -rf /run/weir-upgrade /run/weir

# altered NAME SED-COMMAND: a module with other strings, of the same length
altered() { sed -z "$2" "$stripped" >"$tmp/$1.ko"; }
altered new 's/version=0\.1\.0$/version=0.1.1/; s/srcversion=./srcversion=Z/'
altered broken 's/srcversion=./srcversion=Y/; s/^nf_register_net_hooks$/nf_register_net_hookz/'
altered dead 's/^nf_register_net_hooks$/nf_register_net_hookz/'
altered foreign 's/vermagic=./vermagic=9/'
# refusing: a module that loads, and has no memory for any configuration: the function behind its
# call of __fentry__ returns -ENOMEM
python3 - "$stripped" "$tmp/refusing.ko" "$(nm "$stripped" | sed -n 's/ T weir_nl_config_replace_doit$//p')" <<-'PYTHON'
	import re, struct, sys
	module = bytearray(open(sys.argv[1], "rb").read())
	sections, = struct.unpack_from("<Q", module, 0x28)
	size, count, names = struct.unpack_from("<HHH", module, 0x3a)
	headers = [struct.unpack_from("<IIQQQQ", module, sections + size * i) for i in range(count)]
	text, = [offset for name, _, _, _, offset, _ in headers
	         if module.startswith(b".text\0", headers[names][4] + name)]
	at = text + int(sys.argv[3], 16)
	at += re.match(rb"(\xf3\x0f\x1e\xfa)?\xe8....", module[at:at + 9], re.S).end()
	module[at:at + 6] = b"\xb8\xf4\xff\xff\xff\xc3"
	open(sys.argv[2], "wb").write(re.sub(rb"\0srcversion=.", b"\0srcversion=X", module))
PYTHON
head -c 100000 "$stripped" >"$tmp/truncated.ko"
old=$stripped new=$tmp/new.ko
is "$(modinfo -F version "$new")" 0.1.1 "another module"
running() { cat /sys/module/weir/version; }

space other
here() { "$top/userspace/weir" "$@"; }
there() { ip netns exec "$other" weir "$@"; }
other=${spaces[-1]}
config <<-WORDS
	limit add one budget 20/10m slots 5 from 10.1.0.0/16
	limit add penal budget 20/10m penalty 1h from 10.2.0.0/16
	exempt add 10.3.0.0/16 for 1h
	block add 10.4.0.0/16 for 2h
WORDS
here limit add first budget 5/h >/dev/null 2>&1
here source charge 192.0.2.7 limit first packets 3 >/dev/null
there limit add second budget 7/h bucket >/dev/null 2>&1
there source charge 192.0.2.8 limit second packets 4 >/dev/null
# a namespace that only a process is in, and one whose name is its PID
mkfifo "$tmp/nothing"
# shellcheck disable=SC2016 # the inner shell's
unshare -n bash -c 'weir limit add hidden budget 5/h >"$0" 2>&1; exec cat "$0"' "$tmp/nothing" &
hidden=$!
pids+=("$hidden") spaces+=("$hidden")
cat "$tmp/nothing" >/dev/null
ip netns add "$hidden" || bail "no namespace"
here -n "$hidden" -q -file - <<<$'limit add named budget 6/h\nlimit add also budget 6/d'
flood -s 10.1.0.1 -n 30 -c 200
flood -s 10.1.1.1 -c 25
flood -s 10.2.0.1 -c 30

# facts: what is in force, without times
facts() {
	weir -j source show idle | jq -c '.[] | del(.next_ms, .blocked_ms) | del(.budgets[]?.next_ms)' | sort
	weir save | sed 's/ until [-0-9T:]*Z//'
	here -j source show idle | jq -c '.[] | [.source, .budgets[].count]'
	there -j source show idle | jq -c '.[] | [.source, .limit]'
	there save
	for at in "$hidden" "/proc/$hidden/ns/net"; do here -n "$at" save; done
	weir xdp show | sed 's/program.*//'
}
# same NAME: nothing was lost
same() {
	facts >"$tmp/facts.now" 2>&1
	diff "$tmp/facts" "$tmp/facts.now" >"$tmp/diff"
	ok $? "$1" || diag "$(<"$tmp/diff")"
}
xdp=''
if [ -e /sys/kernel/btf/weir ] && weir xdp attach dev rx0 2>"$tmp/err"; then
	xdp=1
else
	diag "no XDP: $(cat "$tmp/err" 2>/dev/null)"
fi
facts >"$tmp/facts"
holds "there is something to lose" [ "$(grep -c . "$tmp/facts")" -gt 40 ] || diag "$(<"$tmp/facts")"

# refused STATUS PATTERN NAME WORDS...: nothing changes
refused() {
	here "${@:4}" >"$tmp/out" 2>"$tmp/err"
	like "$? $(<"$tmp/err")" "^$1 weir: $2" "$3"
	[ "$(running)" = 0.1.0 ] && [ ! -e /run/weir-upgrade ]
	ok $? "... which changes nothing"
}
refused 1 "upgrade: .*truncated.ko: not the module weir, or truncated" "a truncated file" upgrade "$tmp/truncated.ko" -old "$old"
refused 1 "upgrade: .*foreign.ko: built for kernel 9" "a module of another kernel" upgrade "$tmp/foreign.ko" -old "$old"
refused 2 "upgrade: the file of the loaded module .* was not found" "the old module's file is unknown" upgrade "$new"
refused 1 "upgrade: $new: not the module that is loaded" "... or another one" upgrade "$new" -old "$new"
refused 1 "upgrade: the module is that of all network namespaces; omit '-netns'" "-netns" -netns "$other" upgrade "$new" -old "$old"
ip netns exec "$other" weir upgrade "$new" -old "$old" >"$tmp/out" 2>&1
like "$? $(<"$tmp/out")" "^2 weir: upgrade: the module is the host's: run this in its initial network namespace" "another namespace"
mkdir /run/weir-upgrade
here upgrade "$new" -old "$old" >"$tmp/out" 2>&1
like "$? $(<"$tmp/out")" "^2 weir: upgrade: an upgrade was interrupted" "states of one that was interrupted"
rmdir /run/weir-upgrade
refused 0 "note: nothing was done: this module is loaded already" "the same module" upgrade "$old"

here -check upgrade "$new" -old "$old" >"$tmp/out" 2>&1
is "$? $(running)" "0 0.1.0" "-check changes nothing"
like "$(<"$tmp/out")" "^from 0.1.0 to 0.1.1 module $new" "... and says what would happen"
like "$(<"$tmp/out")" $'\n'"initial limits 1 exempts 0 blocked prefixes 0 sources 1 early 0" "... of the initial namespace"
like "$(<"$tmp/out")" $'\n'"netns $rx limits 2 exempts 1 blocked prefixes 1 sources 32 early ${xdp:-0}" "... and of another one"
here -check -j upgrade "$new" -old "$old" >"$tmp/out" 2>&1
is "$(jq -c '.[0] | [.from_version, .to_version, ([.namespaces[].limit_count] | add)]' "$tmp/out")" '["0.1.0","0.1.1",7]' "... as JSON, too" || diag "$(<"$tmp/out")"

holds "the namespace of a process is found, and one of that name" [ "$(jq -c "[.[0].namespaces[] | select(.netns == \"$hidden\").limit_count]" "$tmp/out")" = '[2,1]' ]

# A namespace that nobody can enter
python3 - <<-'PYTHON' &
	import ctypes, os, signal, socket, subprocess
	libc = ctypes.CDLL(None)
	own = os.open("/proc/self/ns/net", os.O_RDONLY)
	libc.unshare(0x40000000)
	subprocess.run(["weir", "limit", "add", "lost", "budget", "5/h"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	keep = socket.socket()
	libc.setns(own, 0x40000000)
	open("/run/kept", "w").close()
	signal.pause()
PYTHON
keeper=$!
pids+=("$keeper")
wait_for 60 [ -e /run/kept ] || diag "no keeper"
refused 2 "upgrade: 1 network namespaces with limits were not found" "one that only a socket keeps is not" upgrade "$new" -old "$old"
kill "$keeper"
wait "$keeper" 2>/dev/null
all_found() { here -check upgrade "$new" -old "$old" >/dev/null 2>&1; }
wait_for 60 all_found || bail "the namespace stays"

# What could not be restored keeps the module, unless it is given up.
space odd
ip netns exec "$odd" env PYTHONPATH="$here" python3 -c 'import wire
day = {"budget": 5, "window-ms": 86400000, "mode": 5}
wire.Wire().ask("limit-add", [("name", "l"), ("budget", day), ("zone", {"name": "No/Where"})])'
refused 2 ".*upgrade: what is in force in the network namespace $odd could not be restored; -force gives it up" "a time zone that nobody knows" upgrade "$new" -old "$old"
here -q -force upgrade "$new" -old "$old" >"$tmp/out" 2>"$tmp/err"
like "$? $(running) $(here -n "$odd" limit show) $(<"$tmp/err")" "^0 0.1.1  .*could not be restored, and is given up\$" "... which -force does"
same "... with everything else"
here -q upgrade "$old" -old "$new" >"$tmp/out" 2>&1 || diag "$(<"$tmp/out")"

echo "MemAvailable: 100 kB" >"$tmp/meminfo"
unshare -m sh -c 'mount --bind "$0" /proc/meminfo && exec "$@"' "$tmp/meminfo" "$top/userspace/weir" -check upgrade "$new" -old "$old" >"$tmp/out" 2>&1
like "$? $(<"$tmp/out")" "^2 weir: upgrade: 0 MiB of memory are available: another module might have none for a limit of [0-9]+ MiB" "what might have no memory is not tried"

# as weir.service waits
here monitor module &
monitor=$!
let_pass 500
# Who has asked the old module before blocks a prefix when the state has been saved: also in a
# namespace in which nothing was in force, and in a container, which has another /run; one more
# does when all is done.
space bare
blockers=()
at=("" "ip netns exec $bare" "unshare -m" "")
for i in 0 1 2 3; do
	mkfifo "$tmp/words$i"
	# shellcheck disable=SC2086,SC2016 # words, the inner shell's
	${at[i]} sh -c '[ $0 != 2 ] || mount -t tmpfs none /run; exec "$1" -q -batch "$2"' $i "$top/userspace/weir" "$tmp/words$i" >"$tmp/blocked$i" 2>&1 &
	blockers+=($!)
done
exec 7>"$tmp/words0" 8>"$tmp/words1" 9>"$tmp/words2" 6>"$tmp/words3"
for i in 6 7 8 9; do echo "limit show" >&$i; done
reached() { for i in "${blockers[@]}"; do find "/proc/$i/fd" -lname "socket:*" | grep -q . || return; done; }
holds "programs have asked it" wait_for 60 reached
saved() { grep -q rename "$tmp/calls" 2>/dev/null; }
strace -qq -o "$tmp/calls" -e trace=rename -e inject=rename:delay_exit=500000 "$top/userspace/weir" upgrade "$new" -old "$old" >"$tmp/out" 2>"$tmp/err" &
upgrading=$!
wait_for 60 saved
for i in 7 8 9; do echo "block add 10.$i.0.0/16 for 1h" >&$i; done
exec 7>&- 8>&- 9>&-
wait "$upgrading"
is "$? $(<"$tmp/err")" "0 " "another module takes all" || diag "$(<"$tmp/out")"
echo "block add 10.6.0.0/16 for 1h" >&6
exec 6>&-
wait "${blockers[@]}"
is "$? $(here block del 10.6.0.0/16 2>&1; here block del 10.7.0.0/16 2>&1; here -n "$bare" block del 10.8.0.0/16 2>&1; here block del 10.9.0.0/16 2>&1; echo $?)" "0 0" "... and what was blocked meanwhile is" || diag "$(cat "$tmp"/blocked?)"
like "$(<"$tmp/out")" "packets were not limited for [0-9.]+(ms|s), nor counted for [0-9.]+(us|ms|s) before that\$" "... which says for how long there were no limits"
diag "$(tail -n 1 "$tmp/out")"
is "$(running)" 0.1.1 "... and is loaded"
same "... with everything"
is "$(through 10.1.1.1) $(through 10.1.0.200)" "0 10" "... limits hold"
holds "... and no states are left" [ ! -e /run/weir-upgrade ]
let_pass 300
holds "... monitor module goes on" kill -0 "$monitor"
facts >"$tmp/facts"

# The old one is where the package keeps it.
mkdir -p /run/weir
cp "$new" /run/weir/loaded.ko
here -j upgrade "$old" >"$tmp/out" 2>"$tmp/err"
is "$? $(<"$tmp/err") $(running)" "0  0.1.0" "back, with the file that the package keeps"
holds "... as JSON, with the time" jq -e '.[0].unlimited_ms > 0 and .[0].uncounted_ms > 0 and .[0].old_module == "/run/weir/loaded.ko"' "$tmp/out"
same "... with everything"
rm -r /run/weir

log_mark
expect_log 'weir: Unknown symbol nf_register_net_hookz'
here upgrade "$tmp/broken.ko" -old "$old" >"$tmp/out" 2>"$tmp/err"
like "$? $(<"$tmp/err")" "^2 weir: upgrade: .*broken.ko: does not load: .*the old module is back, with everything; packets were not limited for" "a module that does not load"
is "$(running) $(cat /sys/module/weir/srcversion)" "0.1.0 $(modinfo -F srcversion "$old")" "... the old one is back"
same "... with everything"
here upgrade "$tmp/refusing.ko" -old "$old" >"$tmp/out" 2>"$tmp/err"
like "$? $(<"$tmp/err")" "^2 weir: .*/state: Cannot allocate memory.*the old module is back, with everything; packets were not limited for" "a module that loads, and takes no configuration"
is "$(running) $(cat /sys/module/weir/srcversion)" "0.1.0 $(modinfo -F srcversion "$old")" "... the old one is back"
same "... with everything"
here upgrade "$tmp/broken.ko" -old "$old" -closed >"$tmp/out" 2>"$tmp/err"
like "$? $(<"$tmp/err")" "^2 .*the old module is back, with everything; packets were dropped for" "... with -closed, too"
is "$({ nft list tables; rx nft list tables; } | grep closed)" "" "... and packets arrive again"
same "... with everything"
# unread COMMAND...: nobody reads what it writes
unread() { python3 -c 'import os, subprocess, sys
reader, writer = os.pipe()
os.close(reader)
sys.exit(subprocess.run(sys.argv[1:], stdout=writer, stderr=writer).returncode & 255)' "$@"; }
unread "$top/userspace/weir" upgrade "$tmp/broken.ko" -old "$old"
is "$? $(running) $(cat /sys/module/weir/srcversion)" "2 0.1.0 $(modinfo -F srcversion "$old")" "the old one is back even if nobody reads what is said"
same "... with everything"
(ulimit -f 0 && here upgrade "$new" -old "$old" -closed 2>&1 | cat >/dev/null)
is "$(running) $({ nft list tables; rx nft list tables; } | grep closed)" "0.1.0 " "where no state can be written, nothing is replaced"
same "... and nothing is lost"
here upgrade "$tmp/broken.ko" -old "$tmp/dead.ko" -closed >"$tmp/out" 2>"$tmp/err"
like "$? $(<"$tmp/err")" "^3 .*could not be put back, so all packets are dropped; the states are in" "no module loads"
is "$({ nft list tables; rx nft list tables; } | grep -c closed) $(through 10.9.0.1)" "2 0" "... and with -closed all packets are dropped, until it is done by hand"
insmod "$old"
here -q restore /run/weir-upgrade/state && nft delete table inet weir_closed
for at in /run/weir-upgrade/state.*; do
	on=nsenter\ --net=$(find -L /run/netns/* /proc/[1-9]*/ns/net -inum "${at##*.}" -print -quit 2>/dev/null)
	$on weir -q restore "$at" && $on nft delete table inet weir_closed
done
rm -r /run/weir-upgrade && echo 0 >/sys/kernel/rcu_expedited
same "... as weir(8) says"
kill "$hidden"

# A storm: the watcher is a counter of nft. Each of the five gets its budget, and nothing more.
config <<-WORDS
	limit add storm budget 2000/1h from 10.20.0.0/16
WORDS
recount
flooding -s 10.20.0.1 -n 5 -r 4000 -t 9000
halfway() { [ "$(passed)" -gt 1500 ]; }
wait_for 60 halfway || bail "no storm"
for i in 1 2; do
	[ $i = 2 ] || here upgrade "$new" -old "$old" -closed >"$tmp/out" 2>"$tmp/err"
	[ $i = 1 ] || here upgrade "$old" -old "$new" -closed >"$tmp/out" 2>"$tmp/err"
	is "$? $(<"$tmp/err")" "0 " "upgrade with -closed in a storm"
	like "$(<"$tmp/out")" "packets were dropped for [0-9.]+(ms|s)\$" "... which says for how long"
done
within "$(passed)" 1500 9999 "... which has not used up its budget"
flooded
for i in 1 2 3; do flood -s 10.20.0.1 -n 5 -c 10000; done
is "$(passed)" 10000 "... and gets that, but nothing more"
here monitor module &
monitor=$!
let_pass 500
weir xdp detach dev rx0 2>/dev/null
unused() { unload 2>/dev/null; }
holds "the module can be removed" wait_for 60 unused
ended() { ! kill -0 "$monitor" 2>/dev/null; }
holds "... which ends monitor module" wait_for 60 ended
finish
