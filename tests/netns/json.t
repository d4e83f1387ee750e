#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# json.t: each command prints as JSON what weir -schema says of that command, monitor each event; a
# key of the schema is printed by some of them; the jq programs of weir(8) run
. "$(dirname "$0")/lib.sh"
python3 -c 'import jsonschema' 2>/dev/null || skip_all "python3-jsonschema is not installed"
begin
mkdir "$tmp/said"
weir -schema >"$tmp/schema"

# says COMMAND WORD...: its output is kept for command_json.py; options come before the words.
# A command that prints nothing has no schema. ends STATUS COMMAND WORD...: likewise, of one that fails
ends() {
	local status=$1 command=$2
	shift 2
	ran=$((ran + 1))
	weir -j "$@" >"$tmp/said/$command.$ran" 2>"$tmp/err"
	[ $? = "$status" ] || ok 1 "weir -j $*" || diag "$(<"$tmp/err")"
}
says() { ends 0 "$@"; }
ran=0

says prefix-list-add prefix-list add nets 203.0.113.0/24,2001:db8:5::/48
says prefix-list-set prefix-list set nets 203.0.113.0/24,2001:db8:6::/48
says prefix-list-show prefix-list show
says limit-add -s limit add every budget 20/1h budget 1M/total bytes budget 5/1h bucket burst 7 \
	budget 1k/day calendar tz Europe/Berlin per 32,128 sources 64 newcomers 1000/1h flood 5k/s \
	known none penalty 5m renew comment "many words" from 198.51.100.0/24 to 192.0.2.0/24,198.18.0.0/15
# what is in force is printed once events are received
"$top/userspace/weir" -j -t monitor >"$tmp/said/monitor.all" &
watch=$!
pids+=("$watch")
holds "the monitor begins" wait_for 60 test -s "$tmp/said/monitor.all"
says limit-add limit add tcp budget 5/1h lenient slots 4 tcp,udp sport 1000-2000 dport 80,443 dev rx0 mark 1/3 \
	from-list nets not to-list nets
says limit-add limit add syn budget 5/1h tcp syn family ipv4 before every action observe
says limit-add limit add pings budget 5/1h icmp-type echo-request
says limit-add limit add pings6 budget 5/1h icmpv6-type echo-request
says limit-add limit add frags budget 5/1h fixed frag
says limit-add limit add inverted budget 5/1h tcp not sport 1-2 not dev lo not mark 7 not to 10.0.0.0/8
says limit-add limit add others budget 5/1h not tcp not from 10.0.0.0/8 to 192.0.2.77
says limit-add limit add bulk budget 40/1h bytes from 198.18.0.0/16
says limit-add limit add ban blocks 100 from 100.133.0.0/16
says limit-add limit add small budget 4/1s sources 64 from 100.64.0.0/10
says limit-add limit add watched budget 2/1h from 100.192.0.0/16 action observe
log=(log 5) absent=()
modprobe -q nfnetlink_log || log=() absent=(log logged)
says limit-add limit add two budget 5/1h alone 2 budget 100/1d shared from 100.130.0.0/16 "${log[@]}"
says limit-add limit add fresh budget 30/1h newcomers 10/1h known none from 100.131.0.0/16
says prefix-list-add prefix-list add plans 100.132.0.0/16=9
says limit-add limit add planned budget 5/1h budgets-by plans from 100.132.0.0/16
says limit-add limit add refuses budget 3/1h newcomers 2/1h known none from 100.129.0.0/16
says limit-add limit add learns budget 3/1h newcomers 2/1h from 100.128.0.0/16
says limit-set limit set tcp comment "another one" not frag
says limit-rename limit rename inverted other
says limit-rezone -check limit rezone
says limit-reset limit reset other
says exempt-add exempt add 10.9.0.0/16 limit every comment "a net" for 1h
says exempt-add exempt add fe80::/64 dev rx0
says exempt-add exempt add 198.51.100.200 limit every
says exempt-get exempt get 10.9.1.1 limit every
says block-add block add 198.51.100.64/26 limit every for 1h comment no
says block-add block add 198.51.200.0/24
says block-add block add fe80:1::/64 dev rx0
flood -s 198.51.100.1 -c 8
flood -s 198.51.100.65 -c 2
flood -s 198.51.100.2 -n 30 -c 60
flood -s 198.18.0.1 -c 3
flood -s 100.128.0.1 -n 4 -c 20
flood -s 100.129.0.1 -n 4 -c 20
flood -s 100.130.0.1 -c 8
flood -s 10.9.0.1 -c 1
flood -s 100.192.0.1 -c 4
says source-get source get 198.51.100.1
says source-get source get 198.51.100.65
says source-get source get 198.18.0.1 len 1500
says source-get source get 10.9.1.1
says source-get source get fe80::1 dev rx0
says source-get source get 100.130.0.1
says source-get source get 100.132.0.1
says source-get source get 100.129.0.77
# more sources than the table is made for: floors
for _ in 1 2 3; do flood -s 100.64.0.1 -n 2000 -c 2000; done
says source-get source get 100.64.3.3
says source-get source get 198.51.100.66 to 192.0.2.1 udp
says source-get source get 10.9.1.1 limit bulk
says source-charge source charge 198.51.100.9 limit every packets 2
says source-charge source charge 198.18.0.9 limit bulk bytes 3
ends 2 source-charge source charge 198.18.0.1 limit bulk bytes 400
says source-block source block 198.51.100.30 limit every for 1h
says source-block source block 198.51.100.31 limit every for ever
says source-release source release 198.51.100.31 limit every
says source-show source show all top 100
says source-show source show limited
says source-forget source forget 198.51.100.30
flooding -s 100.130.0.50 -n 4 -r 20 -t 6000
says limit-advise limit advise two for 3s budget 7/1h
wait "${pids[-1]}"
unset 'pids[-1]'
says limit-show -s limit show
says exempt-show -s exempt show
says block-show -s block show
says stats-show stats show
says save save
says version -Version
says limit-set -confirm 5m limit set small comment waits
says confirm-show confirm show
says confirm-keep confirm keep
says save save -state "$tmp/state"
says restore -check restore "$tmp/state"
says restore -force restore "$tmp/state"
if weir xdp attach dev rx0 mode generic 2>"$tmp/err" && weir xdp detach dev rx0; then
	says xdp-attach xdp attach dev rx0 mode generic
	says xdp-show xdp show
	says save save
	rx nft add chain netdev probe late '{ type filter hook ingress device rx0 priority 1; }'
	says xdp-show xdp show
	says xdp-detach xdp detach dev rx0
	says early early dev rx0 mode generic
	says upgrade -check -force upgrade "$stripped" -old "$stripped"
	says xdp-detach xdp detach dev rx0
else
	skip "$(<"$tmp/err")" "commands of XDP"
fi
changed() { grep -q '"change":"changed".*waits\|waits.*"change":"changed"' "$tmp/said/monitor.all"; }
wait_for 60 changed || diag "the monitor lags"
says exempt-del exempt del fe80::/64 dev rx0
says exempt-flush exempt flush
says block-del block del 198.51.200.0/24
says block-flush block flush
says limit-del limit del frags
ended() { tail -n 40 "$tmp/said/monitor.all" | grep -q '"change":"removed".*frags\|frags.*"change":"removed"'; }
wait_for 60 ended || diag "the monitor ends before: $(tail -n 1 "$tmp/said/monitor.all")"

# The programs of weir(8), as they are
sed -n '/^\.Sh JSON/,/^\.Sh ENV/p' "$top/Documentation/weir.8" |
	awk '/^\.Ed/ { on = 0 } on { gsub(/\\e/, "\\"); gsub(/\\\(aq/, "\x27"); print } /^\.Bd -literal/ { on = 1 }' >"$tmp/programs"
holds "weir(8) has jq programs" [ "$(grep -c '^weir -j' "$tmp/programs")" -ge 4 ]
program='' number=0
while IFS= read -r line; do
	program+=$line$'\n'
	# a program is whole once bash can read it
	[[ $program != *'|'$'\n' ]] || continue
	bash -n <<<"$program" 2>/dev/null || continue
	number=$((number + 1))
	if [[ $program == *monitor* ]]; then
		set -m # its processes are ended as a group
		eval "$program" >"$tmp/out.$number" 2>"$tmp/err" &
		set +m
		speaks() { flood -s "100.192.0.$((try++))" -c 4; [ -s "$tmp/out.$number" ]; }
		try=100
		wait_for 60 speaks
		kill -- -$!
		wait $! 2>/dev/null
	else
		eval "$program" >"$tmp/out.$number" 2>"$tmp/err" || echo "status $?" >>"$tmp/err"
	fi
	is "$(<"$tmp/err")" "" "jq program $number of weir(8) runs" || diag "$program"
	like "$(<"$tmp/out.$number")" '[0-9]' "... and prints something"
	program=''
done <"$tmp/programs"
is "$program" "" "all lines are programs"

says limit-flush limit flush
says prefix-list-del prefix-list del nets
quiet
says upgrade -force upgrade "$stripped" -old "$stripped"

# All commands that the tool has, and what each said
for object in $(weir -complete | grep -vx -e help -e '-.*' -e version); do
	verbs=$(weir -complete "$object" | grep -x 'show\|add\|set\|del\|rename\|reset\|rezone\|flush\|get\|charge\|forget\|block\|release\|attach\|detach\|keep\|revert\|dropped\|advise')
	[[ " save restore upgrade monitor top metrics early " == *" $object "* ]] && echo "$object"
	for verb in $verbs; do echo "$object-$verb"; done
done >"$tmp/commands"
python3 "$here/command_json.py" "$tmp/schema" "$tmp/commands" "$tmp/said" "${absent[@]}" >"$tmp/judged" 2>&1
while IFS= read -r line; do
	case $line in
	'# '*) diag "${line#\# }" ;;
	'not ok '*) ok 1 "${line#not ok }" ;;
	'ok '*) ok 0 "${line#ok }" ;;
	*) ok 1 "$line" ;;
	esac
done <"$tmp/judged"
finish
