#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What may come next, as the completion of bash asks it.
. "$(dirname "$0")/lib.sh"

# next WORDS... -- CANDIDATE...: behind WORDS there may come CANDIDATE
next() {
	local words=() candidate
	while [ "$1" != -- ]; do words+=("$1") && shift; done
	shift
	run -complete "${words[@]}"
	for candidate; do
		if [ "${candidate#!}" = "$candidate" ]; then
			grep -qxe "$candidate" out
			ok $? "weir ${words[*]} $candidate"
		else
			! grep -qxe "${candidate#!}" out
			ok $? "weir ${words[*]}, but not ${candidate#!}"
		fi
	done
}

next -- limit source exempt stats monitor save help -json -check
next limit -- show add set del flush help
next -j -n $$ limit -- show
next limit add -- help !web
next limit add web -- budget not dev action !NAME
next limit add web budget 1/s -- dev proto !budget
next limit add web not -- syn from !budget !not
next limit add web action -- drop observe !budget
next limit add web budget 1/s dev -- lo
next limit add web family -- ipv4 ipv6
next source show -- limited top idle !PREFIX
next source charge 10.0.0.1 limit web mode -- all drain
next source show top 3 -- by limit !top
next limit add web budget 1/s bytes -- dev !bytes
next source charge 10.0.0.1 limit web bytes 3 -- mode
next monitor -- !limit

# the file for bash, as it is used
# shellcheck source=../../userspace/weir.bash
. "$top/userspace/weir.bash"
# candidates WORDS...: what bash would offer for the last
candidates() {
	COMP_WORDS=("$weir" "$@") COMP_CWORD=$#
	COMPREPLY=()
	_weir
	echo "${COMPREPLY[*]}"
}
is "$(candidates lim)" limit "bash completes an object"
is "$(candidates limit add web ac)" action "bash completes a word"
is "$(candidates limit add web action o)" observe "bash completes a value"
# what a device or a limit is called is not run, neither here nor by the line
# shellcheck disable=SC2016 # as it is
printf '#!/bin/bash\nprintf "%%s\\n" "\$(id>p)" "\`id>p\`" "a b" plain\n' >fake && chmod +x fake
offers() { weir=$tmp/fake candidates "$@"; }
# shellcheck disable=SC2016 # as it is
is "$(offers limit add web dev '')" '\$\(id\>p\) \`id\>p\` a\ b plain' "bash offers names as they are, quoted"
# shellcheck disable=SC2016
is "$(offers limit add web dev '$(')" '\$\(id\>p\)' "... by their beginning"
[ ! -e p ]
ok $? "... and runs nothing of them"
touch some.conf
is "$(candidates -check -file some)" some.conf "bash completes a file"
finish
