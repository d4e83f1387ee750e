# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# upgrades.sh: upgrades from the module to another version of it, and back, with limits in two
# namespaces, for what makes them fail. After lib.sh and killed.sh.
begin_with_two
echo 0 >/sys/kernel/rcu_expedited # other files leave 1
space other
far=state.$(stat -c %i "/run/netns/$other") || bail "no namespace"
# shellcheck disable=SC2154 # space sets it
there() { ip netns exec "$other" "$weir" "$@"; }
there limit add far budget 7/h >/dev/null 2>&1
there source charge 192.0.2.8 limit far packets 4 >/dev/null
sed -z 's/version=0\.1\.0$/version=0.1.1/; s/srcversion=./srcversion=Z/' "$stripped" >"$tmp/new.ko"
dir=/run/weir-upgrade
# all: what is in force, but for XDP programs
all() { counts && command weir save | grep -v '^early ' && there -brief source show idle && there save; }
all >"$tmp/all"
# files: the words that exchange the module
files() { if [ "$(cat /sys/module/weir/version)" = 0.1.0 ]; then echo "$tmp/new.ko -old $stripped"; else echo "$stripped -old $tmp/new.ko"; fi; }
# go_on: as weir(8) says
go_on() {
	[ -d /sys/module/weir ] || insmod "$stripped" || return
	echo 0 >/sys/module/weir/parameters/frozen_until
	[ "$(command weir save | wc -l)" -gt 1 ] || command weir -q restore "$dir/state" || return
	[ "$(there save | wc -l)" -gt 1 ] || there -q restore "$dir/$far" || return
	rm -rf "$dir"
	[ "$(cat /sys/kernel/rcu_expedited)" = 0 ] || echo 0 >/sys/kernel/rcu_expedited
}
same() { all 2>&1 | diff "$tmp/all" - >"$tmp/diff"; }
# put WHAT: whether everything is in force, or not and the states are there, as $status says
declare -A times=()
put() {
	((times[$status]++))
	case $status in
	3)
		grep -q "so nothing is limited; the states are in $dir" "$tmp/out" || wrong "$1: not said: $(<"$tmp/out")"
		! same || wrong "$1: everything is in force, but not said: $(<"$tmp/out")"
		go_on 2>"$tmp/err" || wrong "$1: cannot go on: $(<"$tmp/err")"
		;;
	*)
		[ "$status" = 0 ] || grep -q '^weir: upgrade: .' "$tmp/out" || wrong "$1: $status, and nothing is said"
		[ ! -e "$dir" ] || { wrong "$1: $dir stays" && rm -rf "$dir"; }
		;;
	esac
	same || wrong "$1: $status $(<"$tmp/out")" "$(<"$tmp/diff")"
}
