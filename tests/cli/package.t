#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# package.t: the Debian packages are built, and what is in them. DKMS gets the files that
# dkms.t builds.
. "$(dirname "$0")/lib.sh"
missing=$(dpkg-checkbuilddeps "$top/debian/control" 2>&1) || skip_all "${missing##*: }"
umask 022
mkdir tree && (cd "$top" && cp -r COPYING Documentation Kbuild Makefile README.md debian dkms.conf module userspace "$tmp/tree")
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' tree/dkms.conf)
(cd tree && dpkg-buildpackage -us -uc -b) >log 2>&1
ok $? "the packages are built" || diag "$(tail -n 20 log)"
if command -v lintian >/dev/null; then
	is "$(lintian --allow-root --fail-on error,warning ./*.changes 2>&1; echo $?)" 0 "lintian finds nothing wrong with them"
else
	skip "lintian finds nothing wrong with them" "no lintian"
fi
for package in weir weir-dkms weir-fleet; do
	holds "$package: can be unpacked" dpkg -x "$package"_"$version"_*.deb $package
done
field() { dpkg -f "$1"_"$version"_*.deb "$2"; }
files() { (cd "$1" && find . -type f ! -path './usr/share/doc/*' -printf '%m %P\n' | sort -k2); }

# Debian's units moved from lib to usr/lib.
is "$(files weir | sed 's:usr/lib/systemd:lib/systemd:')" "644 etc/weir.conf
644 lib/systemd/system/weir-metrics.socket
644 lib/systemd/system/weir-metrics@.service
644 lib/systemd/system/weir-state.service
644 lib/systemd/system/weir-state.timer
644 lib/systemd/system/weir-state@.service
644 lib/systemd/system/weir-state@.timer
644 lib/systemd/system/weir-zones.service
644 lib/systemd/system/weir-zones.timer
644 lib/systemd/system/weir.path
644 lib/systemd/system/weir.service
644 lib/systemd/system/weir@.path
644 lib/systemd/system/weir@.service
755 usr/sbin/weir
644 usr/share/bash-completion/completions/weir
644 usr/share/man/man4/weir.4.gz
644 usr/share/man/man5/weir.conf.5.gz
644 usr/share/man/man8/weir-limit.8.gz
644 usr/share/man/man8/weir-source.8.gz
644 usr/share/man/man8/weir.8.gz
644 usr/share/zsh/vendor-completions/_weir" "weir: the command and its service"
holds "... and a folder for files that /etc/weir.conf includes" [ -d weir/etc/weir.d ]
like "$(grep '^include' weir/etc/weir.conf)" '^include /etc/weir\.d/\*\.conf$' "... which it does"
for library in libbpf libjansson libmnl zlib; do
	like "$(field weir Depends)" "${library}[0-9]+g? " "... needs $library"
done
dpkg -e weir_"$version"_*.deb control
for unit in weir.service weir-zones.timer; do
	like "$(<control/postinst)" "deb-systemd-helper enable '$unit'" "... enables $unit"
done
holds "... has the XDP program" quietly grep -a weir_xdp_refuses weir/usr/sbin/weir
like "$(echo weir/usr/share/doc/weir/*)" "/NEWS" "... has NEWS"
holds "... has the schema of JSON" cmp "$top/Documentation/weir.schema.json" weir/usr/share/doc/weir/weir.schema.json
is "$(diff -r "$top/Documentation/examples" weir/usr/share/doc/weir/examples 2>&1)" "" "... has the examples"
is "$(cd weir/usr/share/doc/weir/examples && find . -perm -1 -printf '%P\n' | sort | xargs)" "charge.py crowdsec.sh fleet-key.py" "... programs among them"
is "$(files weir-fleet | sed 's:usr/lib/systemd:lib/systemd:')" "644 etc/weir-fleet.conf
644 lib/systemd/system/weir-fleet.service
644 lib/systemd/system/weir-fleet@.service
755 usr/sbin/weir-fleet
644 usr/share/man/man8/weir-fleet.8.gz" "weir-fleet: the command and its service"
like "$(field weir-fleet Depends)" "libnats" "... needs libnats"
is "$(field weir Depends | grep libnats)" "" "... which weir does not"
dpkg -e weir-fleet_"$version"_*.deb control
is "$(grep -o "helper debian-installed 'weir-fleet.service'\|deb-systemd-invoke [a-z-]*" control/postinst | paste -sd ';')" "helper debian-installed 'weir-fleet.service';deb-systemd-invoke try-restart" "... and starts no unit"
like "$(field weir-dkms Depends)" '^dkms ' "weir-dkms: needs dkms"
source=weir-dkms/usr/src/weir-$version
is "$(cd "$source" && echo *)" "Kbuild Makefile dkms.conf module" "... has the source of the module, and no more"
differ=$(for part in Kbuild Makefile dkms.conf module; do diff -r "$top/$part" "$source/$part" 2>&1; done)
is "$differ" "" "... as it is here"
is "$(files weir-dkms | grep -v ' usr/')" "755 etc/kernel/postinst.d/zz-weir" "... and what runs after DKMS when a kernel is installed"
finish
