#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2054 # QEMU's and UML's commas
# guest.sh [-k NAME] [-s CPUS] [-m MIB] [-t SECONDS] [-o DIR] [-i] [-f] [-n] [-r] [-a APPEND] [-p PROGRAM]... -- COMMAND...
#
# Run COMMAND as root in a guest with kernel NAME (6.1, 6.12, sid, 6.12-rt, 6.12-arm64;
# 6.12-kasan, 6.12-kcsan of kernel-debug.sh; uml-kasan of uml-build.sh; default 6.12).
# The guest is QEMU without hardware virtualisation; uml-kasan is User-Mode Linux. It
# has its own time: an instruction takes a nanosecond, and one that is idle waits in real time, so
# a busy machine does not make it late. It sees this machine's files: / is read-only under a memory file system, so what COMMAND
# writes is lost when the guest ends, except files in DIR (the same path in the guest,
# and OUT in its environment). The current directory and the status are kept; output
# appears as it is written.
#	-i  interactive: COMMAND gets a terminal, of this one's size
#	-f  output goes to the FIFO DIR/port.out, and what is written to DIR/port.in is file descriptor 3
#	-r  real time, and CPUs that run at the same time: for races, and for rates to show
#	-n  two virtio_net devices on one wire, once the module is loaded
#	-a  words for the kernel's command line
#	-p  a program that the guest copies into memory when it boots
# If the kernel is for another architecture, the programs of its root and the results of
# cross-build.sh cover this machine's files.
# DIR gets kernel.log, the kernel's whole log, and kernel.bad, the warnings in it
# (warnings.awk). In the environment of COMMAND:
# WEIR_KERNEL (NAME), WEIR_KO (weir.ko, built by kernel-build.sh NAME), OUT.
# Status: the command's; 99 if kernel.bad is not empty, with its beginning on stderr;
# 98 if the guest died; 124 after SECONDS; 4 if kernel NAME is missing.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd -P) || exit 1
name=6.12 cpus=2 mem='' seconds=300 out='' tty='' fifo='' append='' programs=()
# wake: QEMU tries to connect it each second, and fails. In the single thread of 7.2 a CPU may go idle
# just after QEMU has looked for timers; it then sleeps until anything else wakes QEMU.
time=(-accel "tcg,thread=single" -icount "shift=0,sleep=on" -rtc clock=vm
	-chardev "socket,id=wake,path=/dev/null,reconnect=1")
wire=()
while getopts k:s:m:t:o:a:p:ifnr opt; do
	case $opt in
	k) name=$OPTARG ;;
	s) cpus=$OPTARG ;;
	m) mem=$OPTARG ;;
	t) seconds=$OPTARG ;;
	o) out=$OPTARG ;;
	a) append=$OPTARG ;;
	p) programs+=("$OPTARG") ;;
	i) tty=1 ;;
	f) fifo=1 ;;
	r) time=(-accel "tcg,thread=multi") ;;
	n) # native XDP needs whole packets, which are not merged
		for n in 1 2; do
			wire+=(-netdev "hubport,id=net$n,hubid=0" -device "virtio-net-pci,netdev=net$n,mac=02:00:00:00:01:0$n,romfile=,guest_tso4=off,guest_tso6=off,guest_ufo=off,guest_ecn=off")
		done
		;;
	*) sed -n '4,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 1 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || { echo "guest.sh: no command" >&2; exit 1; }
# 6.1 never brings up a second CPU that has to wait for its turn.
[ "$name" != 6.1 ] || [ "$cpus" = 1 ] || time=(-accel "tcg,thread=multi")
kernel=$top/.cache/kernels/$name
foreign=() qemu=(qemu-system-x86_64 -M pc) console=ttyS0
port=/dev/vport0p1 end=reboot
if [ -x "$kernel/linux" ]; then
	[ -z "$tty" ] || { echo "guest.sh: $name has no terminal" >&2; exit 1; }
	port=/run/out/guest.out end=poweroff
elif [ -r "$kernel/vmlinux" ]; then
	"$top/tests/vm/initramfs.sh" "$name" || exit 1
else
	echo "guest.sh: no guest kernel $name here; make setup downloads it" >&2
	exit 4
fi

# near: the programs of -p and their libraries, one per line: the file here and its path
# in the guest. Opening a program over 9p takes a guest as long as running it.
near() {
	local at program
	if [ ${#foreign[@]} -gt 0 ]; then
		(cd "$top/.cache/build/$name-guest" && find "$PWD" -type f -printf "%p\t/%P\n")
		return
	fi
	[ ${#programs[@]} -gt 0 ] || return
	mapfile -t program < <(PATH=$PATH:/usr/sbin:/sbin type -P "${programs[@]}")
	{ printf '%s\n' "${program[@]}" /etc/ld.so.cache && ldd "${program[@]}" 2>/dev/null | grep -o '/[^ :]*'; } | sort -u |
		while read -r at; do
			[ ! -f "$at" ] || printf '%s\t%s/%s\n' "$(realpath "$at")" "$(realpath "${at%/*}")" "${at##*/}"
		done
}

# A kernel's file guest may override CPU, parameters and memory. Features that QEMU
# emulates slowly are off: five-level page tables, and clearing pages bytewise. So is cmpxchg16b:
# single-threaded TCG of QEMU 7.2 leaves wrong flags behind it.
cpu=max,-la57,-erms,-cx16 words='' default_mem=2048
if [ -d "$kernel/root" ]; then
	qemu=(qemu-system-aarch64 -M virt) cpu=max,pauth-impdef=on console=ttyAMA0
	foreign=(-fsdev "local,id=foreign,path=$(realpath "$kernel/root"),security_model=none,readonly=on,multidevs=remap"
		-device virtio-9p-pci,fsdev=foreign,mount_tag=foreign)
fi
# shellcheck source=/dev/null
[ ! -e "$kernel/guest" ] || . "$kernel/guest"

[ -n "$out" ] || { tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT && out=$tmp; } || exit 1
# Resolve links, as .cache may be one: early in the guest paths differ.
modules=$(realpath -e "$kernel/lib/modules") || exit 1
mkdir -p "$out" && out=$(realpath "$out") || exit 1
rm -f "$out"/{guest.status,guest.out,kernel.log,console.log}
{
	printf '%s=%q\n' TOP "$top" OUT "$out" WEIR_KERNEL "$name" PORT "$port" END "$end" \
		WEIR_MODULES "$modules" WEIR_KO "$top/.cache/build/$name/weir.ko" TERM "${TERM:-dumb}" LANG C.UTF-8 FOREIGN "${foreign[*]:+yes}"
	[ -z "$tty" ] || printf 'TTY=%q\n' "$(stty size 2>/dev/null || echo 24 80)"
} >"$out/guest.env"
near >"$out/guest.near"
printf 'cd %q || exit\n' "$PWD" >"$out/guest.cmd"
printf '%q ' exec "$@" >>"$out/guest.cmd"

# norandmaps: QEMU caches translated code by address, so code is translated once instead
# of at each exec, which halves the time of shell scripts. no_timer_check: on a busy host
# the check fails. fb_tunnels, numdummies: no network devices that no test made. init_on_alloc, lsm, audit,
# randomize_kstack_offset: what a shell's many programs pay for, and weir has no part in.
qemu=(timeout --foreground -k 5 "$seconds" "${qemu[@]}"
	"${time[@]}" -cpu "$cpu" -smp "$cpus" -m "${mem:-$default_mem}"
	-nodefaults -no-user-config -display none -no-reboot
	-kernel "$kernel/vmlinux" -initrd "$top/.cache/build/initramfs-$name"
	-append "console=$console quiet loglevel=5 panic=-1 oops=panic reboot=t mitigations=off nokaslr norandmaps tsc=reliable no_timer_check pci=noacpi cryptomgr.notests log_buf_len=4M fb_tunnels=none dummy.numdummies=0 init_on_alloc=0 lsm= audit=0 randomize_kstack_offset=off $words $append"
	-device virtio-serial-pci,max_ports=2
	-serial "file:$out/console.log"
	-fsdev "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap"
	-device virtio-9p-pci,fsdev=root,mount_tag=root
	-fsdev "local,id=out,path=$out,security_model=none,multidevs=remap"
	-device virtio-9p-pci,fsdev=out,mount_tag=out "${foreign[@]}" "${wire[@]}")
uml=(timeout --foreground -k 5 "$seconds" setsid "$kernel/linux"
	"mem=${mem:-$default_mem}M" "ncpus=$cpus" seccomp=on root=/dev/root rootfstype=hostfs rootflags=/ ro
	quiet loglevel=5 panic=1 oops=panic log_buf_len=4M fb_tunnels=none dummy.numdummies=0 con=null con0=fd:0,fd:1
	"init=$top/tests/vm/uml-init" "weir.out=$out")
if [ -x "$kernel/linux" ]; then
	: >"$out/guest.out"
	# shellcheck disable=SC2086 # $words and $append are lists
	"${uml[@]}" $words $append </dev/null >"$out/console.log" 2>&1 &
	guest=$!
	# The guest has its own session. A trap interrupts wait, but not another command.
	trap 'kill "$guest"; wait "$guest"; exit 130' INT TERM
	tail -n +1 -s 0.1 -f --pid="$guest" "$out/guest.out" &
	wait $!
	wait "$guest"
	status=$?
elif [ -n "$fifo" ]; then
	"${qemu[@]}" -chardev "pipe,id=io,path=$out/port" -device virtserialport,chardev=io </dev/null
	status=$?
elif [ -n "$tty" ]; then
	"${qemu[@]}" -chardev stdio,id=io,signal=off -device virtconsole,chardev=io
	status=$?
else
	# cat: whatever stdout is, QEMU can open a pipe by name
	"${qemu[@]}" -chardev file,id=io,path=/dev/stdout -device virtserialport,chardev=io </dev/null | cat
	status=${PIPESTATUS[0]}
fi
[ "$status" != 124 ] || { echo "guest.sh: still running after $seconds s" >&2; exit 124; }

[ -e "$out/kernel.log" ] || cp "$out/console.log" "$out/kernel.log" 2>/dev/null
awk -f "$top/tests/vm/warnings.awk" "$out/kernel.log" >"$out/kernel.bad"
[ -s "$out/kernel.bad" ] || awk -f "$top/tests/vm/warnings.awk" "$out/console.log" >"$out/kernel.bad"
if [ -s "$out/kernel.bad" ]; then
	echo "guest.sh: the log of kernel $name has warnings:" >&2
	head -n 40 "$out/kernel.bad" >&2
	exit 99
fi
if [ ! -e "$out/guest.status" ]; then
	echo "guest.sh: the guest died (status $status)" >&2
	tail -n 20 "$out/console.log" >&2
	exit 98
fi
exit "$(<"$out/guest.status")"
