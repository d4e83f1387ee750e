# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# python.sh: for tests that build their messages in Python; sourced after lib.sh

# python PROGRAM [ARG...]: run it, through the command in $by if set, and number its TAP lines
by=()
python() {
	local program=$1 line status
	shift
	"${by[@]}" python3 "$here/$program" "$@" >"$tmp/tap" 2>"$tmp/err"
	status=$?
	while IFS= read -r line; do
		case $line in
		"ok - "*) ok 0 "${line#ok - }" ;;
		"not ok - "*) ok 1 "${line#not ok - }" ;;
		*) printf '%s\n' "$line" ;;
		esac
	done <"$tmp/tap"
	[ "$status" = 0 ] || ok 1 "$program ends well" || sed 's/^/# /' "$tmp/err"
}

python3 -c 'import yaml' 2>/dev/null || skip_all "python3-yaml is not installed"
