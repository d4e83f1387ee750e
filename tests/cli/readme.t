#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# readme.t: the commands that README.md shows are valid, as -check sees it without the module. What
# weir(8) shows first is run by netns/recipes.t.
. "$(dirname "$0")/lib.sh"
# Lines of code, with their prompt; pipes, timers and files of the reader's own are left out
sed -nE 's/^    (# )?weir ((-exist |-s )?(limit|source|exempt) [^|]*)$/\2/p' "$top/README.md" |
	sed -E 's/ +# .*//' >"$tmp/commands"
ok $(($(wc -l <"$tmp/commands") < 16)) "README.md shows commands"
while IFS= read -r command; do
	[[ $command != *" # "* ]] || diag "$command"
	eval "\"\$weir\" -check $command" >"$tmp/out" 2>"$tmp/err"
	is "$? $(grep -vE '^weir: (note|warning): ' "$tmp/err")" "0 " "weir $command"
done < <(grep -vE '^(source (show|get)|-s|limit show|exempt show)' "$tmp/commands")
# Commands that only show ask the module; their words are known without it.
while IFS= read -r command; do
	eval "\"\$weir\" $command help" >"$tmp/out" 2>"$tmp/err"
	is "$? $(<"$tmp/err")" "0 " "weir $command"
done < <(grep -E '^(source (show|get)|-s|limit show|exempt show)' "$tmp/commands")
finish
