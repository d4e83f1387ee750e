#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fetch.t: the guests' programs are downloaded again if the list of packages changes
. "$(dirname "$0")/lib.sh"
command -v dpkg-deb >/dev/null || skip_all "no dpkg-deb here"

# A tree, and a stub of apt-get with one package
mkdir -p tree/tests/vm bin deb/DEBIAN deb/usr/bin && cp "$top/tests/vm/fetch.sh" tree/tests/vm/
printf '%s\n' 'Package: base' 'Version: 1' 'Architecture: all' 'Maintainer: weir <weir@example.org>' 'Description: base' >deb/DEBIAN/control
echo base >deb/usr/bin/base
dpkg-deb --root-owner-group -Zgzip -b deb base.deb >log || bail "no package: $(<log)"
cat >bin/apt-get <<'STUB'
#!/bin/bash
case " $* " in
*" indextargets "*) echo "file:/mirror stable" ;;
*" install "*)
	echo "${*#* install }" >>asked
	for word; do case $word in Dir::Cache=*) cp base.deb "${word#*=}/archives/" ;; esac; done
	;;
esac
STUB
chmod +x bin/apt-get
PATH=$tmp/bin:$PATH

# asks TIMES NAME: fetch; TIMES systems should be downloaded, and both exist
asks() {
	: >asked
	tree/tests/vm/fetch.sh systemd >log 2>&1
	ok $? "$2" || diag "$(<log)"
	is "$(wc -l <asked)" "$1" "... downloads $1 systems"
	is "$(cat tree/.cache/systemd/{bookworm,trixie}/bin/base)" base$'\n'base "... and has both"
}
asks 2 "the first setup"
asks 0 "the next"
sed -i "s/^systemd_packages='/&another /" tree/tests/vm/fetch.sh
asks 2 "a setup with another package"
like "$(<asked)" 'base-files another ' "... and asks for it"
mv tree/.cache/systemd/trixie/packages old
asks 2 "a setup over an older one's result"
asks 0 "the next"
finish
