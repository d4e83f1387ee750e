# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # sourced; never is a descriptor from which nothing comes
# stage.sh: how the demos show things: colours, numbers, commands as if typed, verdicts.

# thousands NUMBER: 1,234,567
thousands() { sed -E ':a; s/^(-?[0-9]+)([0-9]{3})/\1,\2/; ta' <<<"$1"; }

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
	bold=$'\e[1m' dim=$'\e[2m' red=$'\e[31m' green=$'\e[32m' cyan=$'\e[36m' off=$'\e[m'
else
	bold='' dim='' red='' green='' cyan='' off=''
fi

pause() { read -rt "$1" -u "$never"; }

# typed COMMAND: show it as if someone typed it
typed() {
	local text=$1 i
	printf '%s#%s %s' "$cyan" "$off" "$bold"
	for ((i = 0; i < ${#text}; i++)); do
		printf %s "${text:i:1}"
		[ ! -t 1 ] || pause 0.006
	done
	printf '%s\n' "$off"
}

# verdict STATUS TEXT: status 2 means undecided; sets status, which begins as 0
verdict() {
	case $1 in
	0) printf '%sok%s      %s\n' "$green" "$off" "$2" ;;
	2)
		printf '%s??%s      %s\n' "$red$bold" "$off" "$2"
		[ "$status" != 0 ] || status=2
		;;
	*)
		printf '%sNOT OK%s  %s\n' "$red$bold" "$off" "$2"
		status=1
		;;
	esac
}
