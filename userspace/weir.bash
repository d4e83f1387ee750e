# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# bash completion for weir: the command itself tells what may come next.

_weir()
{
	local cur=${COMP_WORDS[COMP_CWORD]} IFS=$'\n'

	case ${COMP_WORDS[COMP_CWORD - 1]} in
	-f | -file | -b | -batch)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$(
		"${COMP_WORDS[0]}" -complete "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null
	)" -- "$cur")
}

complete -F _weir weir
