#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# package.t: the Debian packages are installed, upgraded during a flood, removed and purged: limits
# and counts stay in force, a changed configuration file stays, and a purge leaves no file
. "$(dirname "$0")/lib.sh"
packages=$top/.cache/build/packages
[ -e "$packages" ] || skip_all "no packages were built"
{ command -v dpkg && command -v dkms && command -v deb-systemd-helper; } >/dev/null || skip_all "no dpkg, dkms or deb-systemd-helper"
[ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd # for dkms
# A database of its own, which knows no other package: that of this machine takes minutes over 9p.
mkdir -p "$tmp"/dpkg/{info,updates,triggers}
: >"$tmp/dpkg/status"
package() { DEBIAN_FRONTEND=noninteractive dpkg "--admindir=$tmp/dpkg" --force-depends --force-unsafe-io "$@" >"$tmp/said" 2>&1 </dev/null; }
version=$(cd "$packages" && echo weir-dkms_*newer_all.deb) && version=${version#*_} version=${version%+newer*}
# files: whatever the packages may leave
files() {
	find /usr/sbin /usr/src /usr/share/{man/man[48],bash-completion/completions,zsh/vendor-completions,doc/weir*} /etc/{weir*,dkms} \
		/var/lib/dkms /{usr/lib,lib,etc}/systemd/system /var/lib/systemd/deb-systemd-helper-* 2>/dev/null | grep weir | sort -u
}
# The guest has no headers of its kernel.
echo >/etc/dkms/no-autoinstall
before=$(files)
package -i "$packages"/weir{,-dkms}_"$version"_*.deb
ok $? "the packages are installed" || diag "$(<"$tmp/said")"
holds "... with the command" quietly /usr/sbin/weir help
holds "... the service, which is enabled" test -e /etc/systemd/system/sysinit.target.wants/weir.service
holds "... and the module's sources" test -e "/usr/src/weir-$version/dkms.conf"

begin
PATH=/usr/sbin:$PATH
"$top/debian/tests/limit" >"$tmp/said" 2>&1
ok $? "their own test, debian/tests/limit, passes" || diag "$(<"$tmp/said")"
echo 'limit add web budget 5/1h from 198.51.100.0/24' >>/etc/weir.conf
weir -file /etc/weir.conf || bail "the file is refused"
weir save "$tmp/saved"
flooding -s 198.51.100.1 -r 1000 -t 120000
limited() { [ "$(stat_of web dropped.packets)" -gt 0 ]; }
holds "a source is limited" wait_for 60 limited
was=$(stat_of web dropped.packets)
package -i "$packages"/weir{,-dkms}_"$version"+newer_*.deb
ok $? "they are upgraded during a flood" || diag "$(<"$tmp/said")"
like "$(dpkg "--admindir=$tmp/dpkg" -l weir | tail -n 1)" "^ii +weir +$version\+newer" "... to the newer version"
still() { [ "$(stat_of web dropped.packets)" -gt "$was" ]; }
holds "... which goes on being limited" wait_for 60 still
is "$(passed)" 5 "... to its budget"
weir save "$tmp/again" && cmp "$tmp/saved" "$tmp/again"
ok $? "... by the same configuration"
holds "... whose file has its change" grep -q '^limit add web ' /etc/weir.conf
package -r weir weir-dkms
ok $? "they are removed" || diag "$(<"$tmp/said")"
holds "... the command is gone" test ! -e /usr/sbin/weir
holds "... and the configuration file stays" grep -q '^limit add web ' /etc/weir.conf
PATH=$top/userspace:$PATH
hash -r
weir save "$tmp/again" && cmp "$tmp/saved" "$tmp/again"
ok $? "... as do limits, without systemd to stop the service"
quiet
is "$(passed)" 5 "... and counts"
package -P weir weir-dkms
ok $? "they are purged" || diag "$(<"$tmp/said")"
is "$(files)" "$before" "... and leave no file"
holds "the module unloads" unload
finish
