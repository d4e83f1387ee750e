# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# bash completion for weir: the command itself tells what may come next. Names of
# devices are data: nothing here expands them.

_weir()
{
	local cur=${COMP_WORDS[COMP_CWORD]} word

	COMPREPLY=()
	while IFS= read -r word; do
		case $word in
		'<FILE>')
			compopt -o filenames
			mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$cur")
			;;
		"$cur"*) COMPREPLY+=("$(printf %q "$word")") ;;
		-*) case -$word in "$cur"*) COMPREPLY+=("-$word") ;; esac ;;
		esac
	done < <("${COMP_WORDS[0]}" -complete "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)
}

complete -F _weir weir
