#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fetch.t: the programs of guests are downloaded again when a test or the tool wants another package
. "$(dirname "$0")/lib.sh"
command -v dpkg-deb >/dev/null || skip_all "no dpkg-deb here"

# A tree, and an apt-get whose mirror has one package
mkdir -p tree/tests/vm bin deb/DEBIAN deb/usr/bin && cp "$top/tests/vm/fetch.sh" tree/tests/vm/
printf '%s\n' 'Package: base' 'Version: 1' 'Architecture: all' 'Maintainer: weir <weir@example.org>' 'Description: base' >deb/DEBIAN/control
echo base >deb/usr/bin/base
dpkg-deb --root-owner-group -Zgzip -b deb base.deb >log || bail "no package: $(<log)"
cat >bin/apt-get <<'STUB'
#!/bin/bash
case " $* " in
*" indextargets "*) echo "http://deb.example.org/debian stable" ;;
*" install "*)
	echo "${*#* install }" >>asked
	for word; do case $word in Dir::Cache=*) cp base.deb "${word#*=}/archives/" ;; esac; done
	;;
esac
STUB
chmod +x bin/apt-get
PATH=$tmp/bin:$PATH

# asks TIMES NAME: so many systems are downloaded, and all are there
asks() {
	: >asked
	tree/tests/vm/fetch.sh systemd >log 2>&1
	ok $? "$2" || diag "$(<log)"
	is "$(wc -l <asked)" "$1" "... downloads $1"
	is "$(cat tree/.cache/systemd/{bookworm,trixie}/bin/base)" base$'\n'base "... and has both"
}
asks 2 "the first set-up"
asks 0 "the next"
sed -i "s/^systemd_packages='/&another /" tree/tests/vm/fetch.sh
asks 2 "one that wants another package"
like "$(<asked)" 'base-files another ' "... and asks for it"
mv tree/.cache/systemd/trixie/packages old
asks 2 "one that finds an older set-up's"
asks 0 "the next"
finish
