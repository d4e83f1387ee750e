#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh SUITE [TEST]: run TEST.t, service if none is named, under the systemd of SUITE (bookworm,
# trixie), in a guest with kernel 6.12 and an initramfs with what the test needs: the files of
# make install, or the packages. The kernel's log is .cache/test/systemd-SUITE-TEST.console.
# shellcheck disable=SC2015
set -u
top=$(cd "$(dirname "$0")/../.." && pwd -P) && cd "$top" || exit 1
suite=${1:?usage: run.sh SUITE [TEST]} test=${2:-service}
kernel=.cache/kernels/6.12 packages=.cache/build/packages log=.cache/test/systemd-$suite-$test.console
skip() { echo "1..0 # SKIP $*"; exit 4; }
[ -x ".cache/systemd/$suite/usr/sbin/dkms" ] && [ -r "$kernel/vmlinux" ] || skip "no systemd of $suite here; make setup downloads it"
[ "$test" != packages ] || [ -e "$packages" ] || skip "no packages were built"
version=$(<"$kernel/version")
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT && trap 'exit 130' INT TERM || exit 1
fail() { echo "not ok - $*"; exit 1; }

# system ROOT: what both tests need
system() {
	local etc=$1/etc/systemd/system
	mkdir -p "$1"/{dev,proc,run,sys,test,tmp,var} "$etc"/multi-user.target.wants || return
	cp "tests/systemd/$test.t" tests/cli/lib.sh "$1/test/" && cp tests/tap.sh "$1/" || return
	printf '%s\n' root:x:0:0::/:/bin/sh systemd-network:x:998:998::/:/bin/false >"$1/etc/passwd"
	printf '%s\n' root:x:0: systemd-network:x:998: >"$1/etc/group"
	echo 0123456789abcdef0123456789abcdef >"$1/etc/machine-id"
	cp tests/systemd/weir-test@.service "$etc/" || return
	ln -s "../weir-test@.service" "$etc/multi-user.target.wants/weir-test@$test.service"
	ln -s "$units/multi-user.target" "$etc/default.target"
	ln -s /dev/null "$etc/getty.target"
	ln -s usr/lib/systemd/systemd "$1/init"
}

# service ROOT: what make install installs
service() {
	local program lib=$1/usr/lib/weir wants=$1/etc/systemd/system
	tests/vm/kernel-build.sh -w 6.12 install "DESTDIR=$1" && : >"$1/lib/modules/$version/modules.builtin" &&
		cp "$kernel/lib/modules/$version/kernel/drivers/net/veth.ko" "$1/lib/modules/$version/" &&
		PATH=$PATH:/sbin:/usr/sbin depmod -b "$1" "$version" 2>/dev/null || return
	# The command needs this machine's libraries.
	mkdir "$lib" || return
	for program in weir weir-fleet; do
		[ -e "$1/usr/sbin/$program" ] || continue
		ldd "$1/usr/sbin/$program" | grep -o '/[^ ]*' | sort -u | xargs cp -Lt "$lib" && mv "$1/usr/sbin/$program" "$lib/" || return
		# shellcheck disable=SC2016 # the script's
		printf '%s\n' '#!/bin/sh' "p=$program d=/usr/lib/weir" 'exec "$d/ld-linux-x86-64.so.2" --argv0 "$p" --library-path "$d" "$d/$p" "$@"' >"$1/usr/sbin/$program"
		chmod 755 "$1/usr/sbin/$program"
	done
	mv "$1/etc/weir.conf" "$1/test/shipped.conf" || return
	printf '%s\n' 'limit add web budget 1000/h' 'exempt add 192.0.2.254' >"$1/etc/weir.conf"
	mkdir -p "$1/usr/share/zoneinfo" "$wants/sysinit.target.wants" && cp --parents -Lt "$1" /usr/share/zoneinfo/Europe/Berlin || return
	ln -s "$units/weir.service" "$wants/sysinit.target.wants/"
	ln -s "$units/systemd-networkd.service" "$units/remote-fs.target" "$wants/multi-user.target.wants/"
	printf 'tmpfs %s tmpfs _netdev 0 0\n' /var/lib /var/tmp >"$1/etc/fstab"
}

# packages ROOT: the packages, and for the kernel's headers a folder with what their make has built
packages() {
	local modules=$1/lib/modules/$version headers=/usr/src/linux-headers-$version
	mkdir -p "$modules" "$1$headers/include" "$1/var/lib/dpkg"/{info,updates,triggers} && tests/vm/kernel-build.sh -w 6.12 &&
		strip -g -o "$1$headers/weir.ko" .cache/build/6.12/weir.ko && cp "$packages"/*.deb "$1/test/" || return
	ln -s "$headers" "$modules/build" && ln -s mawk "$1/usr/bin/awk" &&
		touch "$1$headers/.config" "$modules"/modules.{order,builtin} "$1/var/lib/dpkg/status" || return
	# DKMS takes a kernel without any module for one that was removed.
	mkdir "$modules/kernel" && cp "$kernel/lib/modules/$version/kernel/drivers/net/dummy.ko" "$modules/kernel/" &&
		PATH=$PATH:/sbin:/usr/sbin depmod -b "$1" "$version" 2>/dev/null
}

units=/usr/lib/systemd/system root=$tmp/root
mkdir -p "${log%/*}" && cp -a "$(realpath ".cache/systemd/$suite")" "$root" && system "$root" && "$test" "$root" &&
	(cd "$root" && find . | busybox cpio -o -H newc -R 0:0 2>/dev/null) >"$tmp/initramfs" || fail "cannot make the system"
# The parameters are those of tests/vm/guest.sh.
timeout --foreground -k 5 1200 qemu-system-x86_64 -M pc -accel tcg,thread=single -icount shift=0,sleep=on -rtc clock=vm -cpu max,-la57,-erms,-cx16 -m 1024 \
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
