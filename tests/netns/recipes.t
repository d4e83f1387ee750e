#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# recipes.t: the recipes of weir(8), as the page has them: each command succeeds and prints what the
# page says, but for numbers and addresses, and the last ones of a recipe undo it
. "$(dirname "$0")/lib.sh"
begin

# What the page calls eth0 and /etc/weir.conf is the test's own; systemd is not there.
systemctl() { [ "$1" = stop ] || weir -file "$tmp/weir.conf"; }

# One file a recipe, of lines "# command" and of what is printed
sed -n '/^\.Sh RECIPES/,/^\.Sh JSON/p' "$top/Documentation/weir.8" |
	awk -v at="$tmp/recipe" '
		/^\.Ss / { n++ }
		/^\.Ed/ { on = 0 }
		on { gsub(/\\e/, "\\"); gsub(/\\\(aq/, "\x27"); print >(at n) }
		/^\.Bd -literal/ { on = 1 }'

# shape: what is printed, without its numbers, addresses and bars; the page breaks long lines, and a
# drop may have been a while ago
shape() {
	sed -E ':a; /\\$/ { N; s/ *\\\n */ /; ba }; s/^ +[-_.:=+*#]+ ([0-9]+ slots)/bar \1/; s/ +/ /g; s/(^| )[0-9][^ ,;:]*/\1N/g; s/[0-9]+(\.[0-9]+)?([smhdkMG]|ms|B|[KM]iB)?/N/g; s/about N ago/within the last N/'
}

# before NUMBER COMMAND: the packets that a command finds
before() {
	case $1:$2 in
	1:*"-s limit show"*)
		flooding -s 198.51.100.7 -P tcp -D 443 -r 100 -t 60000
		flooding -s 203.0.113.9 -P tcp -D 443 -r 20000 -t 60000
		exceeds() { [ "$(stat_of web would_drop.packets)" -gt 0 ]; }
		wait_for 60 exceeds || diag "the budget is not exceeded"
		;;
	1:*"action drop"*) quiet ;;
	3:*"source get"*) flood -s 198.51.100.9 -P udp -D 53 -c 30 ;;
	4:*"-s limit show"*)
		flooding -s 198.18.0.1 -n 131072 -r 4000 -t 60000
		refuses() { [ "$(stat_of edge newcomers_refused.packets)" -gt 0 ]; }
		wait_for 60 refuses || diag "no newcomer was refused"
		;;
	4:*"source forget"*) quiet ;;
	6:*"source show"*) flood -s 203.0.113.9 -P tcp -D 22 -c 4 ;;
	8:"cp "*)
		quietly weir limit add ssh budget 20/1m tcp dport 22 syn
		weir exempt add 198.51.100.7
		;;
	7:*"source get"*) flood -s 203.0.113.9 -P tcp -D 443 -c 30 ;;
	9:*"-s limit show"*) flood -s 203.0.113.9 -P tcp -D 443 -c 3000 ;;
	esac
}
# given NUMBER: the limits that a recipe finds
given() {
	case $1 in
	7 | 9) echo 'limit add web budget 20/1h to 192.0.2.0/24 tcp dport 443' ;;
	8)
		mkdir "$tmp/weir.d"
		echo 'limit add web budget 1000/s to 192.0.2.0/24 tcp dport 443' >"$tmp/weir.d/web.conf"
		echo 'include weir.d/*.conf' # as installed
		;;
	*) echo '# none' ;;
	esac
}

# told COMMAND: run it, and what it printed is what the page says
told() {
	local command=$1 said status
	before "$number" "$command"
	command=${command//\/etc\/weir.conf/$tmp/weir.conf}
	command=${command//eth0/rx0}
	case $command in
	"weir monitor "*) monitored "${command#weir monitor }" ;;
	"weir diff "*) # something differs
		run
		[ "$status" = 1 ]
		status=$?
		;;
	# a source in a flood has room for a moment when a slot ends, so ask again
	*" show "*) wait_for 60 as_told ;;
	*) run ;;
	esac
	ok "$status" "recipe $number: $1"
	[ ! -s "$tmp/page" ] || is "$(shape <<<"$said")" "$(shape <"$tmp/page")" "... and it prints what the page says" || diag "$said"
}
run() {
	eval "$command" >"$tmp/out" 2>&1
	status=$?
	said=$(sed "s|$tmp|/etc|g; s/rx0/eth0/g" "$tmp/out")
}
as_told() {
	run
	[ ! -s "$tmp/page" ] || [ "$(shape <<<"$said")" = "$(shape <"$tmp/page")" ]
}

# monitored KIND: the monitor, until it printed something
monitored() {
	local last=20 listens
	command weir monitor "$1" >"$tmp/out" 2>&1 &
	listens=$!
	heard() {
		flood -s "203.0.113.$((last += 1))" -P tcp -D 443 -c 30
		[ -s "$tmp/out" ]
	}
	wait_for 60 heard
	status=$?
	kill "$listens"
	wait "$listens"
	said=$(<"$tmp/out")
}

number=0
while [ -e "$tmp/recipe$((number + 1))" ]; do
	number=$((number + 1))
	if [ "$number" = 9 ] && [ ! -e /sys/kernel/btf/weir ]; then
		skip "the module has no BTF" "recipe 9"
		continue
	fi
	[ "$number" != 9 ] || rx nft delete table netdev probe
	given "$number" >"$tmp/weir.conf"
	weir -file "$tmp/weir.conf" 2>/dev/null || bail "cannot configure"
	was=$(weir save)
	command=''
	: >"$tmp/page"
	while IFS= read -r line; do
		case $line in
		"# "*)
			[ -z "$command" ] || told "$command"
			command=${line#"# "}
			: >"$tmp/page"
			;;
		*)
			if [[ $command == *\\ || $command == *\| ]]; then
				command=${command%\\}${line#"${line%%[! ]*}"}
			else
				printf '%s\n' "$line" >>"$tmp/page"
			fi
			;;
		esac
	done <"$tmp/recipe$number"
	told "$command"
	is "$(weir save)" "$was" "recipe $number can be undone"
	[ "$number" != 9 ] || rx nft add table netdev probe # for the clean-up
done
is "$number" 10 "the page has ten recipes"
finish
