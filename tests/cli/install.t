#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# install.t: make install and make uninstall, which removes only what was installed.
# Under DESTDIR; tests/netns/install.t does it to /.
. "$(dirname "$0")/lib.sh"
kernel=6.12
umask 022
root=$tmp/root

# build as tests/run.sh does, so that nothing is built twice
if [ -e "$top/.cache/kernels/$kernel/version" ]; then
	version=$(<"$top/.cache/kernels/$kernel/version")
	make_it() { "$top/tests/vm/kernel-build.sh" -w "$kernel" "$@" >log 2>&1; }
else
	version=''
	make_it() { make -C "$top" KDIR=/nonexistent "$@" >log 2>&1; }
fi
installed() { (cd "$1" && find . ! -type d -printf '%m %P\n' | sort -k2); }

# fleet FILE...: files of weir-fleet, which is built where libnats is
fleet() { [ ! -x "$top/userspace/fleet/weir-fleet" ] || printf '%s\n' "$@"; }

wanted() {
	local sbin=$1 share=$2 zsh=vendor-completions
	[[ $share != */local/* ]] || zsh=site-functions
	fleet "644 etc/weir-fleet.conf"
	echo "644 etc/weir.conf"
	[ -z "$version" ] || echo "644 lib/modules/$version/updates/weir.ko"
	fleet "644 ${sbin%/*}/lib/systemd/system/weir-fleet.service" "644 ${sbin%/*}/lib/systemd/system/weir-fleet@.service"
	echo "644 ${sbin%/*}/lib/systemd/system/weir-metrics.socket
644 ${sbin%/*}/lib/systemd/system/weir-metrics@.service
644 ${sbin%/*}/lib/systemd/system/weir-state.service
644 ${sbin%/*}/lib/systemd/system/weir-state.timer
644 ${sbin%/*}/lib/systemd/system/weir-state@.service
644 ${sbin%/*}/lib/systemd/system/weir-state@.timer
644 ${sbin%/*}/lib/systemd/system/weir-zones.service
644 ${sbin%/*}/lib/systemd/system/weir-zones.timer
644 ${sbin%/*}/lib/systemd/system/weir.path
644 ${sbin%/*}/lib/systemd/system/weir.service
644 ${sbin%/*}/lib/systemd/system/weir@.path
644 ${sbin%/*}/lib/systemd/system/weir@.service
755 $sbin/weir"
	fleet "755 $sbin/weir-fleet"
	echo "644 $share/bash-completion/completions/weir"
	fleet "777 $share/bash-completion/completions/weir-fleet"
	(cd "$top/Documentation/examples" && find . -type f -printf "%m $share/doc/weir/examples/%P\n" | sort -k2)
	echo "\
644 $share/doc/weir/weir.schema.json
644 $share/man/man4/weir.4
644 $share/man/man5/weir.conf.5"
	fleet "644 $share/man/man8/weir-fleet.8"
	echo "\
644 $share/man/man8/weir-limit.8
644 $share/man/man8/weir-source.8
644 $share/man/man8/weir.8
644 $share/zsh/$zsh/_weir"
}

holds "make install DESTDIR=" make_it install DESTDIR="$root" || diag "$(tail -n 20 log)"
# Debian compresses modules since 6.12.
is "$(installed "$root" | sed -E '/weir\.ko/s/\.[gxz]z$|\.zst$//')" "$(wanted usr/sbin usr/share)" "... puts these"
PATH=$PATH:/usr/sbin:/sbin
[ -z "$version" ] || is "$(modinfo -F vermagic "$root/lib/modules/$version/updates"/weir.ko* | cut -d ' ' -f 1)" \
	"$version" "... the module is for the requested kernel"
is "$("$root/usr/sbin/weir" -V)" "weir $(sed -n 's/^MODULE_VERSION("\(.*\)");/\1/p' "$top/module/main.c")" \
	"... the command runs, and has the module's version"
is "$("$weir" -check -file "$root/etc/weir.conf" 2>&1 | grep -v 'note: .* not checked by the kernel'; sed -E 's/^#(limit|exempt)/\1/' "$root/etc/weir.conf" | "$weir" -check -file - 2>/dev/null; echo $?)" \
	0 "... the example is all comments, with valid commands"

holds "... and the folder that it includes" [ -d "$root/etc/weir.d" ]

# files changed by the operator
echo 'limit add web budget 1000/s' >"$root/etc/weir.conf"
cp "$root/etc/weir.conf" mine
make_it install DESTDIR="$root" && cmp mine "$root/etc/weir.conf"
ok $? "... again: a changed configuration is not replaced"
echo '# mine' >>"$root/usr/lib/systemd/system/weir.service"
make -C "$top" uninstall DESTDIR="$root" >log 2>&1
is "$(installed "$root")" "644 etc/weir.conf
644 usr/lib/systemd/system/weir.service" "... make uninstall keeps changed files"
like "$(<log)" "weir: $root/etc/weir.conf was changed, so it stays" "... and says so"
rm -rf "$root"

make_it install DESTDIR="$root"
# other packages' files, and another kernel's module
mkdir -p "$root/lib/modules/other/updates" "$root/lib/modules/mine/updates"
: | tee "$root/usr/sbin/weird" "$root/lib/modules/other/updates/weir.ko.zst" "$root/lib/modules/mine/updates/weird.ko" >/dev/null
holds "make uninstall DESTDIR=" make_it uninstall DESTDIR="$root" || diag "$(tail -n 20 log)"
is "$(installed "$root")" "644 lib/modules/mine/updates/weird.ko
644 usr/sbin/weird" "... keeps only files that are not weir's"
holds "... no folder of included files" [ ! -e "$root/etc/weir.d" ]
holds "... and no empty updates folder" [ ! -e "$root/lib/modules/other/updates" ]
holds "... and again, with nothing installed" make_it uninstall DESTDIR="$root"

rm -rf "$root"
# The command knows its path: in a copy, as other tests use the command here.
mkdir tree && cp -r "$top"/{Documentation,Kbuild,Makefile,debian,module,userspace} tree/
holds "make install PREFIX=" quietly make -C tree KDIR=/nonexistent install DESTDIR="$root" PREFIX=/opt/weir
[ -z "$version" ] || holds "make install-module MODDIR=" make_it install-module DESTDIR="$root" MODDIR=extra || diag "$(tail -n 20 log)"
is "$(installed "$root" | sed -E '/weir\.ko/s/\.[gxz]z$|\.zst$//')" \
	"$(wanted opt/weir/sbin opt/weir/share | sed s/updates/extra/)" "... puts these"
make -C tree uninstall DESTDIR="$root" PREFIX=/opt/weir MODDIR=extra >log 2>&1
is "$(installed "$root")" "" "... and make uninstall leaves nothing"
is "$(cd "$root/opt" && find . -mindepth 2 -type d | sort | xargs)" "./weir/lib ./weir/sbin ./weir/share ./weir/share/doc ./weir/share/man" \
	"... but folders that other packages may share"
finish
