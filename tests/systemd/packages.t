#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# packages.t: dpkg installs the Debian packages under a running systemd, upgrades, removes and
# purges them, with all that their scripts start: deb-systemd-helper, deb-systemd-invoke, and DKMS
# of the same suite. The guest has no compiler: its make is a stand-in that puts a module that was
# built before where that of dkms.conf would. tests/cli/dkms.t has DKMS build it.
# shellcheck source=../tap.sh
. "$(dirname "$0")/../tap.sh"
export LC_ALL=C DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin
cd /test || bail "no folder with the packages"
conf=/etc/weir.conf state=/var/lib/weir/state
web='limit add web budget 1M/h' hand="$web;exempt add 192.0.2.254"
version=$(echo weir-dkms_*newer_all.deb) && version=${version#*_} version=${version%+newer*}
modules=/lib/modules/$(uname -r) headers=/usr/src/linux-headers-$(uname -r)
mkdir tmp && tmp=$PWD/tmp
mkfifo "$tmp/nothing"

stand_in_make

# package OPTION PACKAGE...: the database knows no other package, as none was installed by dpkg
package() { dpkg --force-depends --force-unsafe-io "$@" >"$tmp/said" 2>&1 </dev/null; }
# good STATUS NAME: with what dpkg has said, if it is bad
good() { ok "$1" "$2" || why; }
why() { diag "$(<"$tmp/said")" "$(systemctl status --no-pager -l weir)"; }
said() { like "$(<"$tmp/said")" "$@"; }
show() { systemctl show --value -p "$2" "$1"; }
# units PROPERTY UNIT...: its values
units() { for unit in "${@:2}"; do show "$unit" "$1"; done | paste -sd ' '; }
status() { dpkg-query -f '${db:Status-Status}' -W weir-dkms; }
enabled() { systemctl is-enabled "$@" 2>&1 | paste -sd ' '; }
in_force() { weir save | sed '1d; s/ slots .*//' | paste -sd ';'; }
count() { weir -q source get 203.0.113.9 limit web | grep -o 'count [0-9]*'; }
# charge: and a line says so
charge() { weir source charge 203.0.113.9 limit web packets 1 >/dev/null && echo || echo failed; }
loaded() { cat /sys/module/weir/srcversion; }
# files: whatever the packages may leave
files() {
	find / /run/weir* -xdev \( -path /test -o -path "$headers" -o -path '*/weir-test@*' \) -prune \
		-o -path '*weir*' -print 2>/dev/null | sort -u
}

before=$(files)
is "$before" "" "before, there is no file of weir"
package -i "weir_${version}_amd64.deb"
good $? "weir is installed, before there is a module"
is "$(enabled weir weir-zones.timer)" "enabled enabled" "... its service and timer are enabled"
like "$(readlink /etc/systemd/system/sysinit.target.wants/weir.service)" '/lib/systemd/system/weir.service$' "... by a link"
is "$(enabled weir-metrics.socket) $(units ActiveState weir-metrics.socket)" "disabled inactive" "... the socket of metrics is not"
is "$(units ActiveState weir)" failed "... and the service has found no module"
mv "$headers" "$tmp/headers"
package -i "weir-dkms_${version}_all.deb"
is "$? $(status)" "1 half-configured" "weir-dkms fails without the headers of the running kernel" || why
kernel=${modules##*/}
is "$(grep '^weir:' "$tmp/said")" "weir: error: no module was built for the running kernel $kernel, as its headers are missing: install linux-headers-$kernel (with linux-headers-amd64 come those of later kernels, too)" "... and says what to install"
mv "$tmp/headers" "$headers"
package --configure -a
is "$? $(status)" "0 installed" "... and is configured once they are there" || why
is "$(find "$modules" -name 'weir.ko*' | wc -l)" 1 "... DKMS has put the module in its place"
started() { [ "$(units ActiveState weir weir-zones.timer weir-state.timer)" = "active active active" ]; }
for ((i = 0; i < 300; i++)); do ! started || break; read -rt 0.1 <>"$tmp/nothing"; done
ok "$(started; echo $?)" "... and the service is started, with its timers" || why
is "$(in_force)" "" "... by the installed file, which limits nothing"
package -i "weir-fleet_${version}_amd64.deb"
good $? "weir-fleet is installed"
is "$(enabled weir-fleet) $(units ActiveState weir-fleet)" "disabled inactive" "... and not enabled, nor started"

# An administrator's changes. The agent here is another program: Debian 13 has no such libnats.
printf '%s\n' "$web" 'exempt add 192.0.2.254' >>"$conf"
systemctl reload weir
is "$(in_force)" "$hand" "the changed file is in force"
mkdir -p /etc/systemd/system/weir-fleet.service.d /var/lib/weir-fleet
printf '%s\n' '[Service]' ExecStart= 'ExecStart=sleep infinity' >/etc/systemd/system/weir-fleet.service.d/test.conf
systemctl daemon-reload
systemctl --quiet enable --now weir-metrics.socket weir-fleet
is "$(units ActiveState weir-metrics.socket weir-fleet)" "active active" "the socket and the agent are started by hand"
mkdir -p /etc/weir && echo 'limit add blue budget 7/h' >/etc/weir/blue.conf
ip netns add blue
systemctl start weir@blue
is "$(units ActiveState weir@blue)" active "... as is an instance"

# The upgrade, which builds another module, while a source is counted
sed -i 's/srcversion=..../srcversion=0000/' "$headers/weir.ko"
running() {
	for unit in weir weir-state.timer weir-metrics.socket weir@blue; do
		echo "$unit $(show "$unit" ActiveState) $(show "$unit" InvocationID)"
	done
}
was=$(running; loaded) agent=$(units InvocationID weir-fleet)
while [ ! -e "$tmp/enough" ]; do charge && read -rt 1 <>"$tmp/nothing"; done >"$tmp/charged" &
package -i weir{,-dkms,-fleet}_"$version"+newer_*.deb
good $? "they are upgraded while a source is counted"
: >"$tmp/enough"
wait
is "$(dpkg-query -f '${Version} ' -W weir weir-dkms weir-fleet)" "$version+newer $version+newer $version+newer " "... to the newer version"
is "$(running; loaded)" "$was" "... which neither stops nor restarts anything, nor loads a module"
is "$(units NeedDaemonReload weir weir-state.timer weir-zones.timer)" "no no no" "... systemd has read its units"
is "$(in_force)" "$hand" "... the limits are those before"
is "$(count)" "count $(grep -xc '' "$tmp/charged")" "... with every count"
holds "... the changed file has its change" grep -q '^exempt add 192.0.2.254$' "$conf"
said "the module that is loaded stays until 'weir upgrade' replaces it" "... and its output says how to load the new module"
[ "$(units ActiveState weir-fleet)" = active ] && [ "$(units InvocationID weir-fleet)" != "$agent" ]
ok $? "the agent is restarted: it has nothing to lose"
is "$(modinfo -F srcversion /run/weir/loaded.ko)" "$(loaded)" "the file of the loaded module is kept"
was=$(count)
weir upgrade >"$tmp/said" 2>&1
good $? "weir upgrade"
like "$(loaded)" '^0000' "... loads the new module"
is "$(in_force) $(count)" "$hand $was" "... with limits and counts"
is "$(units ActiveState weir)" active "... and the service stays active"
package -i "weir-dkms_$version+newer_all.deb"
good $? "weir-dkms is installed again, with the same module"
grep -q 'weir upgrade' "$tmp/said"
ok $((!$?)) "... and says nothing of an upgrade"

# Another kernel is installed: its package starts DKMS
other=/lib/modules/6.99.0-test
mkdir $other && ln -s "$headers" $other/build && touch $other/modules.{dep,order,builtin}
/etc/kernel/postinst.d/dkms "${other##*/}" >"$tmp/said" 2>&1
good $? "another kernel is installed"
is "$(find $other/updates -name 'weir.ko*' | wc -l)" 1 "... DKMS puts a module there, too" || why
/etc/kernel/postinst.d/zz-weir "${other##*/}" >"$tmp/said" 2>&1
is "$? $(<"$tmp/said")" "0 " "... so there is nothing to warn of"
bare=/lib/modules/6.99.1-test
mkdir -p $bare && touch $bare/modules.{dep,order,builtin}
for hook in dkms zz-weir; do /etc/kernel/postinst.d/$hook "${bare##*/}"; done >"$tmp/said" 2>&1
good $? "a kernel without headers is installed"
is "$(grep '^weir:' "$tmp/said")" "weir: warning: there is no module for kernel ${bare##*/}, under which nothing would be limited, as its headers are missing: install linux-headers-${bare##*/} (with linux-headers-amd64 come those of later kernels, too)" "... and a warning says what weir needs" || why
mkdir -p $bare/build/include
/etc/kernel/postinst.d/zz-weir "${bare##*/}" >"$tmp/said" 2>&1
is "$? $(<"$tmp/said")" "0 weir: warning: there is no module for kernel ${bare##*/}, under which nothing would be limited, as DKMS has not built it: 'dkms autoinstall -k ${bare##*/}' says why" "... or that DKMS has failed"
rm -r $bare
# DKMS builds for the running kernel and for the newest one.
mkdir -p /boot && touch "/boot/config-${other##*/}"
mv "$modules/build" "$tmp/build"
package -i "weir-dkms_$version+newer_all.deb"
is "$? $(status)" "0 installed" "the headers of the running kernel are gone, and another one has a module: weir-dkms is installed" || why
like "$(grep '^weir: warning' "$tmp/said")" "for the running kernel .*: install linux-headers-.*, or boot ${other##*/}, for which there is one\$" "... with a warning"
mv "$modules" "$tmp/modules" && rm -r $other/{updates,build}
package -i "weir-dkms_$version+newer_all.deb"
is "$? $(status) $(grep '^weir:' "$tmp/said")" "0 installed " "in a chroot, where the running kernel is not, there is no error" || why
mv "$tmp/modules" "$modules" && mv "$tmp/build" "$modules/build"

package -r weir-fleet weir weir-dkms
good $? "they are removed"
is "$(units ActiveState weir weir-state.timer weir-zones.timer weir-metrics.socket weir-fleet weir@blue)" "inactive inactive inactive inactive inactive inactive" "... everything of theirs is stopped"
is "$(stat -c %a $state /var/lib/weir/blue/state | paste -sd ' ')" "600 600" "... with the state saved"
is "$(find /lib/modules -path '*/updates/*' -name 'weir.ko*')" "" "... DKMS has removed the modules"
/etc/kernel/postinst.d/zz-weir "${other##*/}" >"$tmp/said" 2>&1
is "$? $(<"$tmp/said")" "0 " "... and a kernel that is installed then warns of nothing"
package -i weir{,-dkms}_"$version"+newer_*.deb
good $? "they are installed again"
is "$(in_force) $(count)" "$hand $was" "... with the configuration and the counts that were"
is "$(units ActiveState weir)" active "... in force by the service"

rm -r /etc/weir /etc/systemd/system/weir-fleet.service.d # of the administrator
package -P weir-fleet weir weir-dkms
good $? "they are purged"
is "$(files)" "$before" "... and leave no file, no link, no state"
systemctl reset-failed
is "$(systemctl list-unit-files --no-legend 'weir*' | grep -v weir-test)" "" "... no unit"
is "$(systemctl list-units --plain --no-legend 'weir*' | grep -v weir-test)" "" "... none that runs"
ip netns del blue
rmmod weir
ok $? "... and a module that can be removed"
finish
