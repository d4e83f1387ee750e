#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2086 # programs and lists of words
# Completion: weir -complete, and the files for bash and zsh.
. "$(dirname "$0")/lib.sh"

next -- limit source exempt stats monitor top save help -json -check
next limit -- show add set del reset rezone advise flush help
next limit advise web -- -pcap for budget dport per !sources
next limit advise web -pcap -- '<FILE>'
next source get 10.0.0.7 proto -- tcp vrrp
next limit rezone -- help !NAME !web
next -j -n $$ limit -- show
next limit add -- help !web
next limit add web -- budget not dev action !NAME
next limit add web budget 1/s -- dev proto comment budget
next limit set web comment 'a b' -- budget !comment
next exempt add ::/0 comment a -- dev !comment
next limit add web not -- syn from !budget !not
next limit add web action -- drop observe !budget
next limit add web budget 1/s dev -- lo
next limit add web family -- ipv4 ipv6
next source show -- limited top idle !PREFIX !len
next source get 10.0.0.7 -- len dport limit !top
next source charge 10.0.0.1 limit web mode -- all drain reserve
next source show top 3 -- by limit !top
next limit add web budget 1/s bytes -- dev !bytes
next source charge 10.0.0.1 limit web bytes 3 -- mode wait
next monitor -- limit limits exempts sources pressure newcomers
next monitor sources limit web -- limits pressure !sources
next top -- limit by count every !PREFIX
next top by -- dropped count rate
next top count 2 limit web -- by every !count !limit
next limit add web proto -- tcp vrrp
next save -- '<FILE>'
next diff -- '<FILE>' !NAME
next upgrade -- '<FILE>' -old -closed !NAME
next upgrade weir.ko -- -old -closed !'<FILE>'
next upgrade -old -- '<FILE>'
next -f -- '<FILE>' !limit
next -- -color=never -brief
next help -- limit source !help !-json
next help limit -- add !help
next limit add web match -- any dport !slots
next limit add web budget -- !packets !bytes
next limit add web budget 1/s -- packets

# every word in help can be completed
offered=$(
	"$weir" -complete
	for object in limit source exempt stats monitor top save diff; do
		"$weir" -complete "$object"
		for verb in $("$weir" -complete "$object"); do
			for first in '' 10.0.0.1 'web'; do
				"$weir" -complete "$object" "$verb" $first
				for word in $("$weir" -complete "$object" "$verb" $first); do
					"$weir" -complete "$object" "$verb" $first "$word"
					for value in 1 1/s 1m "1 by"; do "$weir" -complete "$object" "$verb" $first "$word" $value; done
				done
			done
		done
	done 2>/dev/null
)
missing=$(
	for object in limit source exempt stats monitor top save diff; do "$weir" help "$object"; done |
		sed -nE '/^(Usage:| {7,10}[^ ])/{s/\[k\|M\|G\]//g;p}' | tr -s '][ |' '\n' |
		grep -xE '[a-z][a-z0-9]*' | sort -u | grep -vxE 'weir|help' | while IFS= read -r word; do
		grep -qxF -- "$word" <<<"$offered" || echo "$word"
	done
)
is "$missing" "" "completion offers all words in help"

# the file for bash
# shellcheck source=../../userspace/weir.bash
. "$top/userspace/weir.bash"
# candidates WORDS...: bash's completions of the last word
compopt() { echo "$*" >asked; }	# records the options
candidates() {
	COMP_WORDS=("$weir" "$@") COMP_CWORD=$# COMP_LINE="$weir $*"
	COMP_POINT=${#COMP_LINE} COMPREPLY=()
	_weir
	echo "${COMPREPLY[*]}"
}
is "$(candidates lim)" limit "bash completes an object"
is "$(candidates limit add web ac)" action "bash completes a word"
is "$(candidates --js)" --json "bash completes an option with two dashes"
is "$(candidates limit add web action o)" observe "bash completes a value"
# names of devices and limits are not executed, neither here nor on the command line
printf '#!/bin/bash\nprintf "%%s\\n" "\$(id>p)" "\`id>p\`" "a b" plain\n' >fake && chmod +x fake
offers() { weir=$tmp/fake candidates "$@"; }
is "$(offers limit add web dev '')" '\$\(id\>p\) \`id\>p\` a\ b plain' "bash offers names literally, quoted"
is "$(offers limit add web dev '$(')" '\$\(id\>p\)' "... also by a quoted prefix"
holds "... and runs nothing of them" [ ! -e p ]

# bash itself, on a terminal, which cuts words at : and =. Typed is what the shell reads up to the end
# of the line; weir then runs with the words that completion has made.
# types TEXT WORDS: TEXT, with TABs, should become these words
printf '#!/bin/bash\n[ "$1" != -complete ] || exec %q "$@"\nprintf "%%s|" "$@" >ran\n' "$weir" >weir && chmod +x weir
types() {
	rm -f ran
	printf 'PATH=%q:$PATH INPUTRC=/dev/null\n. %q\n%b\nexit\n' "$tmp" "$top/userspace/weir.bash" "$1" |
		script -qec 'bash --noprofile --norc -i' /dev/null >terminal 2>&1
	is "$(cat ran 2>&1)" "$2" "bash, typed: $1" || diag "$(tr -d '\33' <terminal | tail -n 5)"
}
if command -v script >/dev/null; then
	types 'weir lim\tadd\tx bud\t 1/s' 'limit|add|x|budget|1/s|'
	types 'weir exempt add fe80::/64 d\tlo' 'exempt|add|fe80::/64|dev|lo|'
	types 'weir exempt add ::/0 d\tlo' 'exempt|add|::/0|dev|lo|'
	types 'weir -color=nev\tlimit sh\t' '-color=never|limit|show|'
	types 'weir -color=\talw\tlimit sh\t' '-color=always|limit|show|'
	types 'weir source show 2001:db8::1 to\t3' 'source|show|2001:db8::1|top|3|'
	mkdir -p a:b && touch a:b/c
	types 'weir -file a:b/\t' '-file|a:b/c|'
	types 'weir -file=a:b/\t' '-file=a:b/c|'
fi

# the file for zsh, as far as testable without a terminal
if command -v zsh >/dev/null; then
	# zcompletes WORDS...: zsh's completions of the last word
	zcompletes() {
		zsh -fc 'compadd() { print -r -- "${(P@)2}" }; _files() { print -n "files " }
			file=$1; shift; words=("$@"); CURRENT=$#; _weir() { . $file }; _weir' zsh "$top/userspace/_weir" "$weir" "$@" 2>&1
	}
	like "$(zcompletes lim)" '(^| )limit source' "zsh offers weir's candidates"
	is "$(zcompletes limit add web action o)" "drop observe" "... for the words so far"
	is "$(zcompletes save '')" "files -state help" "... and offers files"
	is "$(weir=$tmp/fake zcompletes limit add web dev '')" '$(id>p) `id>p` a b plain' "... and names literally"
	holds "... and runs nothing of them" [ ! -e p ]
else
	skip "no zsh" "zsh offers weir's candidates"
fi
touch some.conf
mkdir 'some dir'
is "$(candidates -check -file some.) $(<asked)" "some.conf -o filenames" "bash completes a file name"
is "$(candidates -check -file 'some ')" "some dir" "... and a directory's, which bash quotes itself"
is "$(candidates -j save some.)" some.conf "... also for save"
finish
