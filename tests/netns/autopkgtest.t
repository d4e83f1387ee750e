#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# autopkgtest.t: Debian's autopkgtest installs the packages by apt, with what debian/tests/control
# asks for, and runs their test; it fails if the test does. The guest is the machine that the test
# may change, but for files, which are those of a mount namespace. DKMS builds nothing: make is a
# stand-in that puts the module that was built before. tests/cli/dkms.t has DKMS build it.
[ -n "${WEIR_APART:-}" ] || WEIR_APART=1 exec unshare -m "$0"
. "$(dirname "$0")/lib.sh"
packages=$top/.cache/build/packages
[ -e "$packages" ] || skip_all "no packages were built"
for program in autopkgtest apt-ftparchive dkms; do
	command -v $program >/dev/null || skip_all "no $program"
done
[ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd # for dkms
load || bail "cannot load" # makes $stripped
unload
modprobe veth # which is hidden below
kernel=$(uname -r)
version=$(cd "$packages" && echo weir-dkms_*newer_all.deb) && version=${version#*_} version=${version%+newer*}

{ mkdir "$tmp/over" && mount -t tmpfs tmpfs "$tmp/over"; } || bail "no tmpfs"
for changed in usr etc; do
	mkdir -p "$tmp/over/$changed"/{upper,work}
	mount -t overlay -o "lowerdir=/$changed,upperdir=$tmp/over/$changed/upper,workdir=$tmp/over/$changed/work" overlay "/$changed" || bail "no overlay"
done
umount -l "$tmp/over" # which the overlays keep
rm -f /etc/dkms/no-autoinstall # of package.t
# A database without the files of packages, which take minutes over 9p; and nothing to download from.
cp /var/lib/dpkg/status "$tmp/status" && mkdir "$tmp/preferences"
for hidden in /var/lib/{dpkg,systemd,apt,dkms} /var/cache/apt /etc/apt/{sources.list.d,preferences.d} /lib/modules; do
	mkdir -p "$hidden" && mount -t tmpfs tmpfs "$hidden"
done
mkdir -p /var/lib/dpkg/{info,updates,triggers,alternatives} /var/lib/apt/lists/partial /var/cache/apt/archives/partial "/lib/modules/$kernel/kernel"
cp "$tmp/status" /var/lib/dpkg/status
(cd /var/lib/dpkg/info && dpkg-query -f '${binary:Package}.list\n' -W | xargs touch)
: >/etc/apt/sources.list
touch "/lib/modules/$kernel/modules."{order,builtin}

# The headers of this kernel, by the name that the test asks for
headers=/usr/src/linux-headers-$kernel
mkdir -p "$tmp/deb/DEBIAN" "$tmp/deb$headers/include" "$tmp/deb/lib/modules/$kernel"
cp "$stripped" "$tmp/deb$headers/weir.ko"
touch "$tmp/deb$headers/.config"
ln -s "$headers" "$tmp/deb/lib/modules/$kernel/build"
cat >"$tmp/deb/DEBIAN/control" <<-END
	Package: linux-headers-$kernel
	Version: 1
	Architecture: all
	Maintainer: nobody <nobody@weir.invalid>
	Provides: linux-headers-generic
	Description: the headers of the guest's kernel
END
dpkg-deb --root-owner-group -b "$tmp/deb" "$tmp/headers.deb" >"$tmp/said" || bail "$(<"$tmp/said")"
stand_in_make

# run FOLDER: test it as a source, with the packages
run() {
	autopkgtest --no-built-binaries --output-dir "$tmp/out" "$packages"/weir{,-dkms}_"$version"_*.deb "$tmp/headers.deb" "$1/" -- null >"$tmp/said" 2>&1
	status=$?
}
mkdir -p "$tmp/source" && cp -r "$top/debian" "$tmp/source/"
run "$tmp/source"
holds "autopkgtest passes" [ "$status" = 0 ] || diag "$(tail -n 60 "$tmp/said")"
is "$(<"$tmp/out/summary")" "limit                PASS" "... by the test that is in debian/tests"
like "$(dpkg-query -W -f '${Package} ${Status};' weir weir-dkms)" '^weir install ok installed;weir-dkms install ok installed;$' "... with both packages installed by apt"
is "$(modinfo -n weir)" "/lib/modules/$kernel/updates/dkms/weir.ko" "... and the module that DKMS has put there"
rm -r "$tmp/out"

sed -i 's/budget 3/budget 4/' "$tmp/source/debian/tests/limit"
run "$tmp/source"
like "$status $(<"$tmp/out/summary")" "^4 limit +FAIL non-zero exit status 1" "it fails if another budget is in force than the test looks for" || diag "$(tail -n 30 "$tmp/said")"
finish
