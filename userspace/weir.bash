# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# bash completion for weir and weir-fleet: the command itself tells what may come next. Names of
# devices are data: nothing here expands them.

# _weir_offer OPTION WORDS...: offer what may follow the words; OPTION: "-file=", before the value
_weir_offer()
{
	local option=$1 word file

	while IFS= read -r word; do
		if [[ $word == '<FILE>' ]]; then
			compopt -o filenames
			while IFS= read -r file; do
				COMPREPLY+=("${file#"${head#"$option"}"}")
			done < <(compgen -f -- "${cur#"$option"}")
			continue
		fi
		[[ $option$word == "$cur"* || $word != -* ]] || word=-$word
		[[ $option$word != "$cur"* ]] || COMPREPLY+=("$(printf %q "${word#"${head#"$option"}"}")")
	done < <("$2" -complete "${@:3}" 2>/dev/null)
}

_weir()
{
	local line=${COMP_LINE:0:COMP_POINT} piece='' cur='' head rest i
	local -a words=()

	# COMP_WORDBREAKS cuts addresses at ":" and options at "=": blanks tell where words begin.
	for ((i = 0; i <= COMP_CWORD; i++)); do
		rest=${line#"${line%%[![:space:]]*}"}
		piece=${COMP_WORDS[i]}
		[[ $rest == "$piece"* ]] || piece=$rest
		if ((i)) && [[ $rest == "$line" ]]; then
			cur+=$piece
		else
			((i)) && words+=("$cur")
			cur=$piece
		fi
		line=${rest#"$piece"}
	done
	# What is before the last piece stays on the line, and so does one that only cuts.
	[[ -n ${piece//["${COMP_WORDBREAKS-}"]/} ]] || piece=''
	head=${cur%"$piece"}

	COMPREPLY=()
	_weir_offer '' "${words[@]}"
	[[ ${#COMPREPLY[@]} -gt 0 || $cur != -*=* ]] ||
		_weir_offer "${cur%%=*}=" "${words[@]}" "${cur%%=*}"
}

complete -F _weir weir weir-fleet
