#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh SUITE: test the units of weir under the systemd of SUITE (bookworm, trixie), in a
# guest with kernel 6.12 and an initramfs with the files of make install. The test is
# service.t; the kernel's log is .cache/test/systemd-SUITE.console.
# shellcheck disable=SC2015
set -u
top=$(cd "$(dirname "$0")/../.." && pwd -P) && cd "$top" || exit 1
suite=${1:?usage: run.sh SUITE} kernel=.cache/kernels/6.12 log=${WEIR_LOGS:-.cache/test}/systemd-$1.console
[ -d ".cache/systemd/$suite" ] && [ -r "$kernel/vmlinux" ] || { echo "1..0 # SKIP no systemd of $suite here; make setup downloads it"; exit 4; }
version=$(<"$kernel/version")
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT && trap 'exit 130' INT TERM || exit 1
fail() { echo "Bail out! $*"; exit 1; }

# files ROOT: install the system's files beside its programs
files() {
	local etc=$1/etc/systemd/system lib=$1/usr/lib/weir units=/usr/lib/systemd/system
	# The command needs this machine's libraries.
	mkdir "$lib" && ldd "$1/usr/sbin/weir" | grep -o '/[^ ]*' | xargs cp -Lt "$lib" && mv "$1/usr/sbin/weir" "$lib/" || return
	# shellcheck disable=SC2016 # the script's
	printf '%s\n' '#!/bin/sh' 'd=/usr/lib/weir' 'exec "$d/ld-linux-x86-64.so.2" --argv0 weir --library-path "$d" "$d/weir" "$@"' >"$1/usr/sbin/weir"
	mv "$1/etc/weir.conf" "$1/test/shipped.conf" && cp tests/systemd/service.t tests/cli/lib.sh "$1/test/" && cp tests/tap.sh "$1/" || return
	printf '%s\n' 'limit add web budget 1000/h' 'exempt add 192.0.2.254' >"$1/etc/weir.conf"
	printf '%s\n' root:x:0:0::/:/bin/sh systemd-network:x:998:998::/:/bin/false >"$1/etc/passwd"
	printf '%s\n' root:x:0: systemd-network:x:998: >"$1/etc/group"
	echo 0123456789abcdef0123456789abcdef >"$1/etc/machine-id"
	mkdir -p "$1/usr/share/zoneinfo" && cp --parents -Lt "$1" /usr/share/zoneinfo/Europe/Berlin || return
	mkdir -p "$etc"/{sysinit,multi-user}.target.wants && cp tests/systemd/weir-test.service "$etc/" || return
	ln -s "$units/weir.service" "$etc/sysinit.target.wants/"
	ln -s ../weir-test.service "$units/systemd-networkd.service" "$etc/multi-user.target.wants/"
	ln -s "$units/multi-user.target" "$etc/default.target"
	ln -s /dev/null "$etc/getty.target"
	ln -s usr/lib/systemd/systemd "$1/init"
	chmod 755 "$1/usr/sbin/weir"
}

root=$tmp/root
mkdir -p "${log%/*}" && cp -a "$(realpath ".cache/systemd/$suite")" "$root" && mkdir -p "$root"/{dev,etc,proc,run,sys,test,tmp,var} &&
	tests/vm/kernel-build.sh -w 6.12 install "DESTDIR=$root" && : >"$root/lib/modules/$version/modules.builtin" &&
	PATH=$PATH:/sbin:/usr/sbin depmod -b "$root" "$version" 2>/dev/null && files "$root" &&
	(cd "$root" && find . | busybox cpio -o -H newc -R 0:0 2>/dev/null) >"$tmp/initramfs" || fail "cannot make the system"
# The parameters are those of tests/vm/guest.sh.
timeout --foreground -k 5 200 qemu-system-x86_64 -M pc -accel tcg,thread=multi -cpu max,-la57,-erms -m 1024 \
	-nodefaults -no-user-config -display none -no-reboot -kernel "$kernel/vmlinux" -initrd "$tmp/initramfs" \
	-append "console=ttyS0 quiet loglevel=5 panic=-1 oops=panic mitigations=off nokaslr norandmaps tsc=reliable no_timer_check pci=noacpi cryptomgr.notests" \
	-serial "file:$log" -serial "file:$tmp/tap" </dev/null || fail "the guest ended with status $?"
tr -d '\r' <"$tmp/tap"
awk -f tests/vm/warnings.awk "$log" | sed 's/^/# /' >"$tmp/warnings"
if [ -s "$tmp/warnings" ]; then
	cat "$tmp/warnings"
	fail "the kernel's log has warnings"
elif ! grep -q '^1\.\.' "$tmp/tap"; then
	tail -n 20 "$log" | sed 's/^/# /'
	fail "the guest died"
fi
! grep -q '^not ok' "$tmp/tap"
