# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# bash completion for weir, and zsh's by bashcompinit: the command itself tells
# what may come next. Names of devices are data: nothing here expands them.

_weir()
{
	local cur=${COMP_WORDS[COMP_CWORD]} word

	COMPREPLY=()
	while IFS= read -r word; do
		case $word in "$cur"*) COMPREPLY+=("$(printf %q "$word")") ;; esac
	done < <(
		case ${COMP_WORDS[COMP_CWORD - 1]} in
		-f | -file | -b | -batch) compgen -f -- "$cur" ;;
		*) "${COMP_WORDS[0]}" -complete "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null ;;
		esac
	)
}

complete -F _weir weir
