#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2086 # lists of words
# Help and version: on stdout with status 0, without module or root.
. "$(dirname "$0")/lib.sh"
# usage WORDS COMMAND...: each command should print the usage of weir WORDS
usage() {
	local of=$1 text words
	shift
	text=$("$weir" help $of)
	like "$text" "^Usage: weir ${of:-\[}" "weir help $of shows its usage"
	for words; do
		run $words
		is "$status$err $out" "0 $text" "weir $words"
	done
}
usage '' help -help --help -h
run
is "$status" 3 "weir without arguments fails without the module"
like "$err" $'^weir: the kernel module is not loaded: modprobe weir, in a container on its host\nUsage: weir' "... which it says, and shows usage on stderr"
for object in limit source exempt block xdp early stats monitor top save confirm diff; do usage "$object" "$object help"; done
for verb in show add set del reset rezone advise flush; do
	usage "limit $verb" "limit $verb help" "limit help $verb" "help limit $verb" "l help $verb"
done
usage limit "limit --help" "limit -h" "-h limit" "-help help limit"
# also after an incomplete command
usage "limit add" "help limit add web" "limit add web help" "limit add web budget help" "limit add web budget 1/s syn help" \
	"limit add --help" "limit add -h" "-h limit add" "limit -help add" "limit add web budget 1/s --help"
run help nosuch
like "$status $err" "^1 weir: unknown word 'nosuch'" "no help for an unknown object"
run limit help nosuch
like "$status $err" "^1 weir: limit: unknown word 'nosuch'" "... nor for an unknown verb"
run source charge help
like "$out" 'charge ADDR limit NAME \[ dev' "weir source charge help shows its words"
like "$out" 'mode +all\|drain' "... and values"
run limit help
like "$out" $'\n''TIME := \[N\]\{ ms \| s \| m \| h \| d \| week \| month \} \| total'$'\n' "weir limit help explains TIME"
like "$out" $'\n'"'weir limit add help' explains each word\$" "... and refers to the help of limit add"
run source help
for object in source exempt block; do
	like "$("$weir" "$object" help)" $'\n''PREFIX := ADDR\[/LENGTH\], as 192\.0\.2\.0/24, 2001:db8::/32 or 192\.0\.2\.1'$'\n' "weir $object help explains PREFIX"
done
like "$("$weir" source block help)" $'\n''  ADDR +address or prefix of a source' "weir source block help explains ADDR"
like "$("$weir" help)" $'\n''  -f\[ile\] FILE +make FILE the configuration; what it lacks goes'$'\n' "weir help says that -file removes what the file lacks"
like "$out" $'\n'"'weir source show help' explains each word\$" "... and refers to the help of source show"
like "$("$weir" exempt help)" $'\n'"'weir exempt add help' explains each word\$" "... as does exempt help to exempt add"
run source show help
like "$out" '\[ idle \] \[ top N' "weir source show help leaves synonyms out of the usage"
like "$out" $'\n''  PREFIX +only sources within this network' "weir source show help explains PREFIX"
longest=$(
	{
		"$weir" help
		for object in limit source exempt block prefix-list xdp stats; do
			"$weir" help "$object"
			"$weir" -complete "$object" | grep -vx help | xargs -n 1 "$weir" help "$object"
		done
	} | awk '{ if (length > n) n = length } END { print n }'
)
ok $((longest > 79)) "help fits 80 columns"
# every option in help exists, and so does its letter
run help
like "$out" $'\n'"weir\(8\) has recipes and details\$" "help refers to weir(8)"
mapfile -t options < <(sed '1,/^OPTIONS/s/^[^O].*//; $d' <<<"$out" | grep -oE -- '-[A-Za-z]+(\[[a-z]+\])?' | tr -d '[]')
is "${#options[@]}" 21 "help lists the options"
is "$(grep -cE '^  -.{27} [a-z]' <<<"$out")" 21 "... each with its description"
for option in "${options[@]}"; do
	run -check "$option" x
	[[ $err != *unknown\ option* ]]
	ok $? "$option is an option" || diag "$err"
done

# limit add help has every word
run limit add help
like "$out" 'for example: weir limit add ssh budget 5/1m tcp dport 22 syn' "weir limit add help has an example"
like "$out" $'\n''  not      CONDITION        only packets that do not match it'$'\n' "... and explains not"
like "$out" $'\n''  strict\|lenient\|fixed\|bucket\|exact\|calendar'$'\n'' {28}how the budget counts \(default: strict\)'$'\n' "... and counting modes"
like "$out" 'TIME \[ packets\|bytes \] \| blocks N \} \[ slots N \]'$'\n'' +\[ strict\|.* \] \[ burst N \]'$'\n' "... and the words of a budget behind it"
like "$out" $'\n''  match +any\|MATCH +replaces all conditions; any: no condition' "... and match"
for word in budget family dev from to proto sport dport syn frag mark match per \
	slots strict lenient fixed bucket burst exact calendar tz sources action before comment; do
	like "$out" "(^|[^a-z])${word}[ |]" "weir limit add help has $word"
done

for words in -V -Version --Version -version version; do
	run "$words"
	like "$status $out" '^0 weir [0-9]+\.[0-9]+' "weir $words"
done
"$weir" -V >/dev/full 2>err
is "$? $(<err)" "4 weir: write error: No space left on device" "a full disk is reported, with its own status"
"$weir" help >&- 2>err
is "$? $(<err)" "4 weir: write error: Bad file descriptor" "... and so is a closed stdout"
run -json -Version
is "$(jq -re '.[0].version' <<<"$out")" "$("$weir" -V | cut -d' ' -f2)" "weir -json -Version is JSON"
finish
