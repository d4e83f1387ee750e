#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# service.t: weir.service from boot on, its instances, and weir-zones.timer, in a guest of run.sh
# shellcheck source=../cli/lib.sh
. "$(dirname "$0")/lib.sh"
conf=/etc/weir.conf
web='limit add web budget 1000/h'
router='exempt add 192.0.2.254'

show() { systemctl show --value -p "$2" "$1"; }
now() { show weir ActiveState; }
# the configuration in force, without defaults; web's count of the source
in_force() { weir save | sed '1d; s/ slots .*//' | paste -sd ';'; }
count() { weir -q source get 203.0.113.9 limit web | grep -o 'count [0-9]*'; }
# run systemctl; sets $status and $out
ctl() {
	out=$(systemctl "$@" weir 2>&1)
	status=$?
}
# both STATUS ACTIVE CONFIG NAME: check systemctl's status, the unit and the configuration
both() {
	is "$status $(now) $(in_force)" "$1 $2 $3" "$4" || diag "$out" "$(systemctl status --no-pager -l weir)"
}

is "$(systemd-analyze verify --man=no weir.service weir.path weir@blue.service weir@blue.path weir-state.service weir-state.timer weir-state@blue.service weir-state@blue.timer weir-zones.service weir-zones.timer 2>&1)" "" "systemd finds nothing wrong with the units"
is "$(now) $(in_force)" "active $web;$router" "at boot the file is applied"
[ "$(show weir ActiveEnterTimestampMonotonic)" -lt "$(show systemd-networkd InactiveExitTimestampMonotonic)" ]
ok $? "... before systemd-networkd starts"
like " $(show network-pre.target After) " ' weir.service ' "... ordered before network-pre.target"
is "$(show network-pre.target ActiveState)" active "... and pulls that target in"

is "$(findmnt -no FSTYPE /var/lib) $(journalctl --no-pager -o cat | grep -c 'ordering cycle')" "tmpfs 0" "... also where /var comes with the network"

weir source charge 203.0.113.9 limit web packets 100 >/dev/null
is "$(count)" "count 100" "a source has a count"
printf '%s\n' "$web" 'limit add dns budget 20/h' >"$conf"
ctl reload
both 0 active "$web;limit add dns budget 20/h" "reload applies the changed file"
is "$(count)" "count 100" "... and keeps the counts of limits that stay"
printf '%s\n' "$web" "$router" >"$conf"
ctl restart
both 0 active "$web;$router" "restart applies it, too"
is "$(count)" "count 100" "... and keeps the counts of limits that stay"

echo 'limit add web budget 1000/1x' >"$conf"
ctl reload
both 1 active "$web;$router" "reload with an invalid file fails and changes nothing"
is "$(count)" "count 100" "... and keeps the counts"
echo "$web" >"$conf"
ctl reload
both 0 active "$web" "... and with a valid file works again"
printf '%s\n' "$web" "$router" >"$conf"
ctl reload
echo 'limit add web budget 1000/1x' >"$conf"
ctl restart
both 1 failed "$web;$router" "restart with an invalid file fails and changes nothing"
is "$(count)" "count 100" "... and keeps the counts"
ctl status --no-pager -l
like "$out" "weir: $conf:1:.*'1x'" "status shows the error"
holds='; correct the file and restart the service, or remove everything: weir -file /dev/null'
like "$(grep -o 'weir: .*' <<<"$out" | grep -v '\.service' | tail -n 1)" "weir: warning: $conf: not applied: the configuration that was in force still is$holds\$" "... and last what is in force, and what to do"
echo "$web" >"$conf"
ctl restart
both 0 active "$web" "restart with a valid file recovers"
is "$(count)" "count 100" "... and keeps the counts"

echo "$router" >>"$conf"
ctl try-reload-or-restart
both 0 active "$web;$router" "try-reload-or-restart"
state=/var/lib/weir/state
echo 'limit add web budget 1000/1x' >"$conf"
ctl reload
is "$status" 1 "a reload that failed"
printf '%s\n' "$web" "$router" >"$conf"
ctl stop
both 0 inactive "" "... and stop, which removes all limits and exemptions"
is "$(stat -c %a $state)" 600 "... and saves the state"
ctl start
both 0 active "$web;$router" "start applies the file"
is "$(count)" "count 100" "... with the counts of then"
saved=$(cksum <$state) && cp -p $state /tmp/state
mount -t tmpfs -o size=4k,mode=700 tmpfs /var/lib/weir && mv /tmp/state $state
ctl stop
both 0 failed "" "stop with a full disk removes everything all the same, and the unit fails"
is "$(cksum <$state) $(echo $state*)" "$saved $state" "... with the former state"
ctl status --no-pager -l
like "$out" "weir: save: cannot write $state: No space left on device" "... and the reason"
umount /var/lib/weir
rm $state
ctl start
both 0 active "$web;$router" "start without the state applies the file, too"
is "$(count)" "count 0" "... with new counts"
blocked() { weir -brief source show blocked | grep -c '^203.0.113.7 limit web .*blocked'; }
weir source block 203.0.113.7 limit web for 1h >/dev/null
is "$(blocked)" 1 "a block"
ctl reload
both 0 active "$web;$router" "reload applies the same file"
is "$(blocked)" 1 "... and keeps blocks of limits that stay"
printf '%s\n' 'limit add dns budget 20/h' >"$conf"
ctl reload
both 0 active "limit add dns budget 20/h" "reload with a file that leaves out a limit with a block"
ctl status --no-pager -l
like "$out" "weir: warning: .*limit 'web' go with 1 block" "... says that the block ends"
printf '%s\n' "$web" "$router" >"$conf"
ctl reload
both 0 active "$web;$router" "... and the former file works again"
weir source block 203.0.113.7 limit web for 1h >/dev/null
ctl stop
both 0 inactive "" "stop removes blocks, too"
rmmod weir
ctl start
both 0 active "$web;$router" "start applies the file"
is "$(blocked)" 1 "... with them, also with the module loaded anew"

# What was added by hand goes, as after a reboot.
weir limit add hand budget 5/h to ::/0 >/dev/null 2>&1
weir source block 2001:db8::8 limit hand for 1h >/dev/null
ctl stop
ctl start
both 0 active "$web;$router" "a limit with a block that the file does not have: it goes, and does not hinder the start"
is "$(blocked)" 1 "... the others stay"

# ends STATE: wait until the unit is in that state
mkfifo /tmp/nothing
ends() {
	local i
	for ((i = 0; i < 300; i++)); do
		[ "$(now)" != "$1" ] || return 0
		read -rt 0.1 <>/tmp/nothing
	done
}

# A crash: what weir-state.timer has saved
is "$(show weir-state.timer ActiveState)" active "weir.service starts weir-state.timer"
like "$(show weir-state.timer NextElapseUSecMonotonic)" '^[1-9]' "... which will elapse"
weir source charge 203.0.113.9 limit web packets 5 >/dev/null
rm $state
systemctl start weir-state
is "$(show weir-state Result) $(stat -c '%a %U' $state)" "success 600 root" "its service saves the state"
crash() { # without ExecStop
	weir -file - <<<'# none' 2>/dev/null
	rmmod weir
	ends inactive
}
crash
ctl start
both 0 active "$web;$router" "start after a crash"
is "$(count) $(blocked)" "count 5 1" "... with counts and blocks"
saved=$(cksum <"$state")
crash
systemctl start weir-state
is "$(show weir-state ConditionResult) $(cksum <"$state")" "no $saved" "without the module nothing is saved"
modprobe weir
systemctl start weir-state
is "$(show weir-state Result) $(cksum <"$state")" "exec-condition $saved" "... nor without limits"
printf x | dd of=$state bs=1 seek=300 conv=notrunc 2>/dev/null
ctl start
both 0 active "$web;$router" "start with a state that is damaged applies the file"
is "$(count) $(blocked)" "count 0 0" "... with new counts"
is "$(stat -c %a $state.bad) $(echo $state*)" "600 $state.bad" "... and sets the state aside"
journal=$(systemctl status --no-pager -l weir)
like "$journal" "weir: warning: $state: damaged: .* at offset [0-9]*: all counts begin anew; the file is kept as $state\.bad" "... as status shows"
rm $state.bad
weir source charge 203.0.113.9 limit web packets 9 >/dev/null
like "$(systemd-analyze security --no-pager weir-state | tail -n 1)" ': [01]\.[0-9]' "systemd-analyze security is content with weir-state.service"
ctl stop
is "$(show weir-state.timer ActiveState)" inactive "stop stops the timer"
mkdir -p /run/systemd/system/weir-state.service.d && mkfifo /run/never
printf '[Service]\nExecCondition=\nExecStart=\nExecStart=/bin/cat /run/never\n' >/run/systemd/system/weir-state.service.d/slow.conf
systemctl daemon-reload
ctl start
systemctl --no-block start weir-state
state_is() { for ((i = 0; i < 300; i++)); do [ "$(show weir-state ActiveState)" != "$1" ] || return 0; read -rt 0.1 <>/tmp/nothing; done; }
state_is activating
ctl stop
is "$? $(show weir-state ActiveState)" "0 inactive" "... and that while it saves, too, which is no failure"
rm -r /run/systemd/system/weir-state.service.d
systemctl daemon-reload
echo 'limit add web budget 1000/1x' >"$conf"
ctl start
both 1 failed "$web;$router" "with a state and an invalid file, start restores both that and what was applied last, and fails"
is "$(count)" "count 9" "... with its counts"
ctl status --no-pager -l
like "$out" "weir: warning: $conf: not applied: /var/lib/weir/last.conf, the last configuration that was, is in force instead" "... and says so"
printf '%s\n' "$web" "$router" >"$conf"
ctl start
both 0 active "$web;$router" "start with a valid file recovers"
is "$(count)" "count 9" "... and keeps the counts"

# A host that boots with an invalid file, and no state, has the last valid configuration.
echo 'limit add web budget 1000/1x' >"$conf"
ctl stop
rm $state
rmmod weir
ctl start
both 1 failed "$web;$router" "without limits and with an invalid file, start applies the last configuration, and fails"
weir -file /dev/null 2>/dev/null
is "$? $(in_force)" "0 " "... which one command removes"
ctl start
both 1 failed "$web;$router" "... until the next start"
ctl status --no-pager -l
like "$out" "weir: $conf:1:.*'1x'" "status shows the error"
like "$out" "weir: warning: $conf: not applied: /var/lib/weir/last.conf, .* is in force instead" "... and what is in force"
is "$(stat -c %a /var/lib/weir/last.conf /var/lib/weir | paste -sd' ')" "600 711" "nobody else reads it"
printf '%s\n' "$web" "$router" >"$conf"
ctl restart
both 0 active "$web;$router" "restart with a valid file recovers"
like "$(systemd-analyze security --no-pager weir | tail -n 1)" ': [01]\.[0-9]' "systemd-analyze security is content with weir.service"
like "$(systemd-analyze security --no-pager weir-zones | tail -n 1)" ': [01]\.[0-9]' "... and with weir-zones.service"

# The unit follows the module.
rmmod weir
ends inactive
is "$(now) $(show weir Result) $(echo /sys/module/weir*)" "inactive success /sys/module/weir*" "rmmod ends the unit, which does not load the module again"
weir limit show >/dev/null 2>&1
is "$? $(echo /sys/module/weir*)" "3 /sys/module/weir*" "... nor does show"
ctl start
both 0 active "$web;$router" "start then loads the module and applies the file"
ctl stop
both 0 inactive "" "... and stop"
rmmod weir
systemctl start weir-zones
is "$(now) $(echo /sys/module/weir*)" "inactive /sys/module/weir*" "a stopped unit stays so without the module"
ctl start
both 0 active "$web;$router" "... until it is started"
weir source charge 203.0.113.9 limit web packets 7 >/dev/null
kill -KILL "$(show weir MainPID)"
ends failed
is "$(now) $(in_force) $(count)" "failed $web;$router count 7" "without its process the unit fails, and the limits stay"
ctl start
both 0 active "$web;$router" "start then succeeds"
is "$(count)" "count 7" "... and keeps the counts"
systemctl restart systemd-journald
is "$(now)" active "a restart of the journal does not end the unit"

# A module that comes late, as from DKMS
module=$(modinfo -n weir)
ctl stop
rmmod weir
mv "$module" /tmp/
depmod 2>/dev/null
ctl start
is "$status $(now) $(show weir.path ActiveState)" "1 failed active" "without a module start fails"
mv "/tmp/${module##*/}" "$module"
depmod 2>/dev/null
ends active
both 1 active "$web;$router" "... and once it is installed, the file is applied"
ctl stop
is "$(show weir.path ActiveState)" inactive "stop does not wait for another one"
ctl start

# A named network namespace
settings() { grep -E "^[A-Z][A-Za-z]*=" "$units/$1" | sed '1,/^Type=/d; /^\(StateDirectory\|WantedBy\)=/d; s:weir/%i:weir:g'; }
units=/usr/lib/systemd/system
is "$(settings weir@.service)" "$(settings weir.service)" "weir@.service has the settings of weir.service"
is "$(settings weir-state@.service)" "$(settings weir-state.service)" "weir-state@.service has those of weir-state.service"
blue() { systemctl "$1" weir@blue >/tmp/said 2>&1; }
# in_blue STATUS ACTIVE CONFIG NAME: check blue's status, its unit and its configuration
in_blue() {
	is "$1 $(show weir@blue ActiveState) $(weir -netns blue save | sed '1d; s/ slots .*//' | paste -sd ';')" "$2" "$3" || diag "$(</tmp/said)" "$(systemctl status --no-pager -l weir@blue)"
}
mkdir -p /etc/weir
echo 'limit add blue budget 7/h' >/etc/weir/blue.conf
blue start
is "$? $(show weir@blue ActiveState)" "1 failed" "without its namespace an instance fails"
ip netns add blue
blue start
in_blue $? "0 active limit add blue budget 7/h" "with its namespace it applies its file there"
is "$(now) $(in_force)" "active $web;$router" "... and not in the initial one"
weir -netns blue source charge 203.0.113.9 limit blue packets 3 >/dev/null
echo 'exempt add 192.0.2.9' >>/etc/weir/blue.conf
blue reload
in_blue $? "0 active limit add blue budget 7/h;exempt add 192.0.2.9" "reload applies the changed file"
is "$(weir -netns blue source get 203.0.113.9 limit blue | grep -o 'count [0-9]*')" "count 3" "... and keeps the counts"
echo 'limit add blue budget 7/x' >/etc/weir/blue.conf
blue restart
in_blue $? "1 failed limit add blue budget 7/h;exempt add 192.0.2.9" "restart with an invalid file fails and changes nothing"
like "$(systemctl status --no-pager -l weir@blue)" "weir: /etc/weir/blue.conf:1:" "... with the reason"
is "$(stat -c %a /var/lib/weir/blue/last.conf)" 600 "what it applied last is kept apart"
echo 'limit add blue budget 7/h' >/etc/weir/blue.conf
blue restart
in_blue $? "0 active limit add blue budget 7/h" "... and with a valid file recovers"
like "$(systemd-analyze security --no-pager weir@blue | tail -n 1)" ': [01]\.[0-9]' "systemd-analyze security is content with it"
blue stop
in_blue $? "0 inactive " "stop removes everything in the namespace"
is "$(stat -c %a /var/lib/weir/blue/state) $(show weir-state@blue.timer ActiveState)" "600 inactive" "... saves its state apart, and stops its timer"
blue start
in_blue $? "0 active limit add blue budget 7/h" "start applies its file again"
is "$(weir -netns blue source get 203.0.113.9 limit blue | grep -o 'count [0-9]*') $(show weir-state@blue.timer ActiveState)" "count 3 active" "... with the counts of then, and its timer"
rm /var/lib/weir/blue/state
systemctl start weir-state@blue
is "$(show weir-state@blue Result) $(weir -check restore /var/lib/weir/blue/state | grep -o 'limits.*')" "success limits 1 exempts 0 blocked prefixes 0 sources 1" "... which saves its state"
blue stop
is "$(now) $(in_force)" "active $web;$router" "... and nothing elsewhere"
ip netns del blue
ip netns add restart && echo 'limit add r budget 7/h' >/etc/weir/restart.conf
systemctl start weir@restart && systemctl stop weir@restart
is "$(weir -netns restart save | sed 1d)" "" "an instance called restart is stopped, too"
ip netns del restart

# A change that waits to be confirmed: systemd keeps the deadline, also of a named namespace.
timers() { systemctl list-units --all --plain --no-legend 'weir-confirm-*.timer' | grep -c weir; }
# comes CONFIG COMMAND...: wait until the command prints it
comes() {
	local i
	for ((i = 0; i < 600; i++)); do
		[ "$("${@:2}")" != "$1" ] || return 0
		read -rt 0.1 <>/tmp/nothing
	done
}
printf '%s\n' "$web" "$router" >"$conf"
ctl restart
weir source charge 203.0.113.9 limit web packets 2 >/dev/null
before=$(count)
weir -confirm 3s limit flush 2>/tmp/said
is "$? $(in_force) $(timers)" "0 $router 1" "a change with -confirm starts a timer of systemd" || diag "$(</tmp/said)"
comes "$web;$router" in_force
is "$(in_force) $(count)" "$web;$router $before" "... which takes it back, with counts"
comes 0 timers
like "$(journalctl --no-pager -o cat | grep 'taken back')" '^weir: note: taken back: limit flush$' "... as the journal says"
weir -confirm 1d limit set web comment new >/dev/null 2>&1
is "$(timers)" 1 "another one"
weir confirm
is "$? $(timers) $(weir save | grep -c 'comment "\?new')" "0 0 1" "... is confirmed: the timer is gone, and the change stays"
ip netns add blue
weir -n blue -confirm 3s limit add far budget 5/h to ::/0 >/dev/null 2>&1
is "$(timers) $(weir -n blue save | grep -c far)" "1 1" "a change in a named namespace"
in_blue_force() { weir -n blue save | sed 1d; }
comes "" in_blue_force
is "$(in_blue_force) $(weir -n blue confirm show)" " " "... is taken back by a timer, too"
ip netns del blue
weir -confirm 1s limit flush 2>/tmp/said
saved=$(echo /run/weir-confirm/*/state)
mv "$saved" /tmp/saved
restarts() { [[ $(systemctl show -P NRestarts 'weir-confirm-*.service') -lt 7 ]] || echo many; }
comes many restarts
is "$(in_force) $(restarts)" "$router many" "a change that cannot be taken back: systemd tries again, and again"
mv /tmp/saved "$saved"
comes "$web;$router" in_force
is "$(in_force)" "$web;$router" "... until it can"
left() { systemctl list-units --all --plain --no-legend 'weir-confirm-*' | grep -c weir; }
comes 0 left
is "$(left)" 0 "... and then nothing is left of it" || diag "$(systemctl list-units --all --plain --no-legend 'weir-confirm-*')"
weir -confirm 3s limit add extra budget 5/h to ::/0 2>/dev/null
ctl stop
is "$(timers) $(in_force) $(weir confirm show 2>&1)" "0  weir: note: no change waits to be confirmed; one whose time is over has been taken back" "stop takes back what waits, and nothing comes back later"
ctl start
# The name of a network namespace is gone at its deadline.
ip netns add kept
touch /run/netns/able
mount --bind /run/netns/kept /run/netns/able
weir -n able -confirm 2s limit add far budget 5/h to ::/0 >/dev/null 2>&1
umount /run/netns/able
rm /run/netns/able
comes 0 left
is "$(left) $(weir -n kept confirm revert 2>&1 | head -n 1)" "0 weir: note: taken back: limit add far budget 5/h to ::/0" "a namespace whose name is gone is not tried again and again"
ip netns del kept

# A host that boots before a file is confirmed: what was applied last is in force.
ctl restart
wrong='limit add wrong budget 1/h'
# boots: with the state that stop saved
boots() {
	ctl stop
	systemctl stop 'weir-confirm-*.timer'
	rm -rf /run/weir-confirm
	rmmod weir
	ctl start
}
echo "$wrong" >"$conf"
weir -confirm 1d -file "$conf" 2>/dev/null
is "$(in_force) $(timers)" "$wrong 1" "a file with -confirm"
boots
both 1 failed "$web;$router" "boot before it is confirmed starts with the last configuration, and fails"
ctl status --no-pager -l
like "$out" "weir: $conf: applied with -confirm before, and never confirmed" "... and says why"
ctl restart
both 1 failed "$web;$router" "restart changes nothing, and fails again"
boots
both 1 failed "$web;$router" "... as does the next boot"
weir -file "$conf" 2>/dev/null
ctl restart
both 0 active "$wrong" "applied by hand, the file is applied by restart"
boots
both 0 active "$wrong" "... which is then booted with"
printf '%s\n' "$web" "$router" >"$conf"
ctl reload
echo "$wrong" >"$conf"
weir -confirm 1d -file "$conf" 2>/dev/null
weir confirm
boots
both 0 active "$wrong" "boot after it was confirmed starts with it"
printf '%s\n' "$web" "$router" >"$conf"
ctl restart

# An XDP program, in the stack, as loopback has no driver that could
if [ -e /sys/kernel/btf/weir ]; then
	printf '%s\n' "$web" 'early dev lo mode generic' >"$conf"
	ctl reload
	both 0 active "$web" "reload with an XDP program applies the limits without the capability"
	ctl status --no-pager -l
	like "$out" "weir: warning: $conf:2: early: permission denied: .* CAP_SYS_ADMIN" "... which a warning names"
	mkdir /etc/systemd/system/weir.service.d
	printf '%s\n' '[Service]' CapabilityBoundingSet=CAP_SYS_ADMIN >/etc/systemd/system/weir.service.d/override.conf
	systemctl daemon-reload
	ctl restart
	both 0 active "$web;early dev lo mode generic" "... and with it succeeds"
	echo "$web" >"$conf"
	ctl reload
	both 0 active "$web" "reload detaches the program"
	printf '%s\n' "$web" 'early dev lo mode generic' >"$conf"
	ctl reload
	both 0 active "$web;early dev lo mode generic" "reload attaches the program"
	like "$(weir xdp show)" '^dev lo mode generic program [0-9]+ off: the device is no Ethernet device$' "... which is shown"
	ctl restart
	both 0 active "$web;early dev lo mode generic" "... and which stays at a restart"
	ctl stop
	both 0 inactive "" "stop detaches it"
	is "$(weir xdp show)" "" "... in truth"
	ctl start
	both 0 active "$web;early dev lo mode generic" "start attaches it"
	printf '%s\n' "$web" 'early dev nosuch' >"$conf"
	ctl reload
	both 0 active "$web" "reload with a device that does not exist"
	ip link add nosuch type veth peer name nosuch-peer
	comes "$web;early dev nosuch mode native" in_force
	is "$(in_force)" "$web;early dev nosuch mode native" "... which drops early once it appears" || diag "$(systemctl status --no-pager -l weir)"
	rm -f "$state"
	systemctl start weir-state
	is "$(show weir-state Result) $(stat -c %a "$state")" "success 600" "the state is saved where packets are dropped early, too"
	ip link del nosuch
	mount -t tmpfs tmpfs /var/lib
	ip link add nosuch type veth peer name nosuch-peer
	comes "$web;early dev nosuch mode native" in_force
	is "$(in_force)" "$web;early dev nosuch mode native" "a device that comes after /var drops early" || diag "$(systemctl status --no-pager -l weir)"
	ctl reload
	both 0 active "$web;early dev nosuch mode native" "... and reload keeps the file there"
	is "$(stat -c %a /var/lib/weir/last.conf)" 600 "... for the next boot" || diag "$(systemctl status --no-pager -l weir)"
	umount /var/lib
	echo "$web" >"$conf"
	ctl reload
	both 0 active "$web" "a file without it detaches it"
	rmmod weir
	ends inactive
	is "$(now) $(echo /sys/module/weir*)" "inactive /sys/module/weir*" "... and the unit does not keep the module"
	ctl start
fi

ctl stop
cp /test/shipped.conf "$conf"
ctl start
both 0 active "" "with the installed file the service starts, and limits nothing"
echo "$web" >>"$conf"
ctl reload
both 0 active "$web" "reload applies a limit added to it"

# An agent of weir-fleet, without a server
if [ -e /usr/sbin/weir-fleet ]; then
	is "$(systemd-analyze verify --man=no weir-fleet.service weir-fleet@blue.service 2>&1)" "" "systemd finds nothing wrong with the units of weir-fleet"
	mkdir -m 700 /var/lib/weir-fleet
	printf '%s\n' 'group edge' 'host web1' >/etc/weir-fleet.conf
	echo 'limit add pushed budget 10/h' >/var/lib/weir-fleet/edge.conf
	systemctl start weir-fleet
	comes 'limit add pushed budget 10/h' in_force
	ok $? "the agent applies what it was given last" || diag "$(systemctl status --no-pager -l weir-fleet)"
	# shellcheck disable=SC2317 # comes calls it
	lacks() { systemctl status --no-pager -l weir-fleet | grep -c 'No server available'; }
	comes 1 lacks
	ok $? "... and says that there is no server"
	weir limit flush
	systemctl kill -s KILL weir-fleet
	comes 'limit add pushed budget 10/h' in_force
	ok $? "an agent that was killed is started again"
	systemctl stop weir-fleet
	is "$(show weir-fleet Result) $(in_force)" "success limit add pushed budget 10/h" "without it the limits stay"
fi

# Metrics are served again soon, whatever somebody without rights does.
port=127.0.0.1/9951 line='weir_up 1'
scrape() {
	exec 3<>"/dev/tcp/$port" && printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3 && grep -cx "$line" <&3
	exec 3>&-
} 2>/dev/null
# served: within so many seconds
served() {
	local end=$((SECONDS + $1))
	until [ "$(scrape)" = 1 ]; do
		[ "$SECONDS" -lt "$end" ] || return
		read -rt 0.1 <>/tmp/nothing || :
	done
}
nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups timeout 60 bash -c "$1" nobody "$port"; }
systemctl start weir-metrics.socket
served 0
ok $? "metrics are served"
nobody 'for ((i = 0; i < 250; i++)); do exec 3<>"/dev/tcp/$1" && exec 3>&-; done' 2>/dev/null
served 60
ok $? "... after a crowd that connected and said nothing" || diag "$(systemctl status --no-pager -l weir-metrics.socket)"
# of another address
ip route replace table local local 127.0.0.1 dev lo src 127.0.0.2
exec 4< <(nobody 'for i in {10..89}; do eval "exec $i<>/dev/tcp/$1" || exit; done; echo; read -rt 8 -u 10; echo $?' 2>/dev/null)
read -rt 60 -u 4 _
ip route replace table local local 127.0.0.1 dev lo src 127.0.0.1
served 0
ok $? "... while another host holds all the connections that it gets"
read -rt 60 -u 4 ended
exec 4<&-
is "$ended" 1 "... which end after seconds"
systemctl stop weir-metrics.socket
from=$(show weir-metrics.socket FragmentPath) to=/etc/systemd/system/weir-metrics-blue
sed s/9951/9952/ "$from" >$to.socket
sed 's,^ExecStart=.*,NetworkNamespacePath=/run/netns/blue\nExecStart=/usr/sbin/weir -n blue metrics http,' "${from%.socket}@.service" >$to@.service
systemctl daemon-reload
ip netns add blue
weir -n blue limit add far budget 5/h to ::/0 >/dev/null 2>&1
systemctl start weir-metrics-blue.socket
port=127.0.0.1/9952 line='weir_limits{netns="blue"} 1'
served 0
ok $? "copies of the units serve another namespace" || diag "$(journalctl --no-pager -o cat -n 30)"
systemctl stop weir-metrics-blue.socket
ip netns del blue

# The timer, when the clock is set beyond two changes: the kernel knows one.
# zones STATUS RESULT NAME: run weir-zones.service
zones() {
	out=$(systemctl start weir-zones 2>&1)
	is "$? $(show weir-zones Result)" "$1 $2" "$3" || diag "$out" "$(systemctl status --no-pager -l weir-zones)"
}
is "$(show weir-zones.timer ActiveState)" active "weir.service starts weir-zones.timer"
like "$(show weir-zones.timer NextElapseUSecRealtime)" '^Mon |^Mon$' "... which elapses on a Monday"
zones 0 success "without time zones the service succeeds"
renews() { date -u -d "$(weir -json limit show berlin | sed 's/.*"renews":"\([^"]*\)".*/\1/')" '+%F %T'; }
date -u -s "2028-06-15 12:00:00" >/dev/null
weir limit add berlin budget 5/day calendar tz Europe/Berlin to 192.0.2.0/24 >/dev/null
is "$(renews)" "2028-06-15 22:00:00" "a time zone, before two changes"
coproc weir -json monitor limits
heard() { read -rt "$1" -u "${COPROC[0]}" _; }
# It listens once it has heard of a change.
for ((i = 0; i < 60; i++)); do
	weir limit set berlin comment "$i" >/dev/null
	! heard 1 || break
done
date -u -s "2029-06-15 12:00:00" >/dev/null
until [ "$(renews)" = "2029-06-15 22:00:00" ] || ! heard 60; do :; done
kill "$COPROC_PID"
is "$(renews) $(show weir-zones Result)" "2029-06-15 22:00:00 success" "... and after them, when the clock was set"
# Due since the clock was set, it may elapse at any time, and the service's result would be that of then.
systemctl stop weir-zones.timer
zones 0 success "... and the service succeeds again"
rm /usr/share/zoneinfo/Europe/Berlin
zones 1 exit-code "a time zone that is not known makes the service fail"
like "$(systemctl status --no-pager -l weir-zones)" "weir: limit rezone: limit 'berlin': unknown time zone 'Europe/Berlin'" "... with the reason"
ctl stop
rmmod weir
systemctl reset-failed weir-zones
zones 0 success "without the module the service succeeds"
is "$(show weir-zones ConditionResult) $(echo /sys/module/weir*)" "no /sys/module/weir*" "... and does not load it"
finish
