#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# install.t: make install to /, modprobe with parameters, use, make uninstall. The guest's changes
# to its / are discarded. tests/cli/install.t checks for files in other places.
. "$(dirname "$0")/lib.sh"
release=$(uname -r)
modules=/lib/modules/$release

[ "$WEIR_KO" = "$top/.cache/build/$WEIR_KERNEL/weir.ko" ] || skip_all "weir.ko is not that of kernel-build.sh"
[ -e "$modules/modules.order" ] || skip_all "no modules of the kernel are here"

# Hide the kernel's own modules: depmod would read each of them twice over 9p.
mkdir "$tmp/modules"
cp "$modules"/modules.{builtin,builtin.modinfo,order} "$tmp/modules/" || bail "no modules.order"
mount -t tmpfs modules "$modules" || bail "no place for modules"
trap 'umount "$modules"; cleanup' EXIT
cp "$tmp"/modules/* "$modules/"
depmod -a || bail "no depmod"

# files: the places of installed files, and depmod's output
files() {
	find /usr/sbin /usr/local /usr/share/man/man[48] /usr/share/bash-completion /etc/{mod*,weir.conf} \
		/{usr/lib,etc}/systemd/system "$modules" -maxdepth 2 2>/dev/null | sort
	grep -h weir "$modules"/modules.{dep,alias,symbols,softdep}
}

files >"$tmp/before"
# Do not rebuild: make ran on the host, and takes a minute in the guest.
holds "make install" quietly make -C "$top" -o modules -o tool install "KVER=$release" \
	"KDIR=$top/.cache/kernels/$WEIR_KERNEL/kdir" "BUILD=$top/.cache/build/$WEIR_KERNEL"
# Debian compresses modules since 6.12.
found=$(modinfo -n weir)
is "${found%.[gxz]*}" "$modules/updates/weir.ko" "modprobe finds the module"
is "$(modinfo -F alias weir)" "" "... and nobody by its generic netlink family"

holds "modprobe weir packets=1000 window_ms=1000" modprobe weir packets=1000 window_ms=1000
like "$(/usr/sbin/weir limit show)" "^default budget 1000/s slots 15 sources 65536" "... adds the limit that weir shows"
holds "modprobe -r weir" modprobe -r weir
for words in "limit show" "stats show" "monitor" "source get 192.0.2.1" "-check limit add a budget 1/s" help; do
	/usr/sbin/weir $words >"$tmp/out" 2>&1 </dev/null
	echo "$words: $?"
done >"$tmp/tried"
! loaded
ok $? "what changes nothing does not load the module" || diag "$(<"$tmp/tried")"
for words in "limit set" "limit add web before" "limit del" "source block" "source block 192.0.2.1 limit" "source charge" "exempt del" \
	"exempt add 192.0.2.1 limit" "-netns" "xdp attach dev" "monitor limit"; do
	/usr/sbin/weir -complete $words
done >"$tmp/out" 2>&1 </dev/null
! loaded
ok $? "... nor does completion" || diag "$(<"$tmp/out")"
is "$(grep -c ': 3$' "$tmp/tried")" 4 "... and says that it is not there" || diag "$(<"$tmp/tried")"
setpriv --reuid 65534 --regid 65534 --clear-groups unshare -Urn /usr/sbin/weir limit add a budget 1/s >"$tmp/out" 2>&1
is "$? $(loaded && echo loaded)" "3 " "... nor does root of a user namespace" || diag "$(<"$tmp/out")"
setpriv --reuid 65534 --regid 65534 --clear-groups /usr/sbin/weir limit add a budget 1/s >"$tmp/out" 2>&1
is "$? $(loaded && echo loaded)" "3 " "... nor a user" || diag "$(<"$tmp/out")"
holds "who adds a limit loads it" /usr/sbin/weir limit add a budget 1/s
holds "... and it is loaded" loaded
modprobe -r weir

holds "make uninstall" quietly make -C "$top" uninstall
files >"$tmp/after"
is "$(diff "$tmp/before" "$tmp/after")" "" "... leaves no file"
/usr/sbin/weir limit show 2>/dev/null
is $? 127 "... no command"
! modprobe -q weir
ok $? "... and no module"
finish
