#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lint.sh [CHECK...]: check the sources, all checks or those named. TAP, one
# line a check; what is wrong follows the line. Status 1 if a check fails.
# shellcheck disable=SC2317 # checks are called by their names
set -u
top=$(cd "$(dirname "$0")/.." && pwd -P) && cd "$top" || exit 1
checks=(layers licence words layout skb clock versions bugs packet_path checkpatch sparse sparse_sid
	shell python man spelling spec mutants)
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT || exit 1

# What git has or would take; kept in $tmp/files.
git -c core.quotePath=off ls-files --cached --others --exclude-standard | while IFS= read -r f; do
	[ ! -f "$f" ] || printf '%s\n' "$f"
done | sort -u >"$tmp/files"
[ -s "$tmp/files" ] || { echo "Bail out! git tells no files of $top"; exit 1; }

# files REGEX [BUT]: names that match, without those that match BUT
files() { grep -E -- "$1" "$tmp/files" | grep -vE -- "${2:-^$}"; }

# search REGEX FILE...: lines with a match, as FILE:LINE:TEXT; none is success
search() {
	local regex=$1
	shift
	[ $# -eq 0 ] || ! grep -HnE -- "$regex" "$@"
}

# code REGEX FILE...: the same in C without includes, comments and strings
code() {
	local regex=$1 f
	shift
	for f; do
		perl -0777 -pe 's{(/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*")}{ $1 =~ s/[^\n]//gr }gse; s/^[ \t]*#[ \t]*include.*$//gm' "$f" |
			grep -nE -- "$regex" | sed "s|^|$f:|"
	done | { ! grep .; }
}

# Who of ours includes whom: the first line that matches a file says what it may
# include. Each file includes downwards only; bucket.h, and with it the inside of
# a wheel, is the table's alone; the tool's parser and printer know no netlink.
layers() {
	cat <<-'EOF'
		module/(wheel|source|hook|compat|pressure)\.h
		module/(table|packet|event)\.h	source.h
		module/match\.h	packet.h source.h
		module/cost\.h	table.h
		module/exempt\.h	match.h source.h
		module/limit\.h	exempt.h match.h pressure.h source.h table.h
		module/(limit_priv|draft|trace)\.h	limit.h
		module/(netlink|weir)\.h	event.h
		module/recent\.h	source.h table.h
		module/wheel_join\.h	wheel.h
		module/bucket\.h	recent.h table.h wheel.h
		module/(table|charge|recent|state)\.c	bucket.h
		module/(bucket|move)\.c	bucket.h wheel_join.h
		module/(source|packet|match|cost|exempt|pressure)\.c	SELF
		module/limit\.c	limit_priv.h weir.h
		module/counts\.c	limit_priv.h
		module/draft\.c	draft.h hook.h limit_priv.h weir.h
		module/(config|replace)\.c	draft.h limit_priv.h weir.h
		module/event\.c	event.h hook.h limit.h netlink.h pressure.h table.h weir.h
		module/passage\.h	compat.h cost.h limit.h recent.h table.h trace.h weir.h
		module/passage\.c	SELF
		module/hook\.c	hook.h passage.h trace.h
		module/main\.c	hook.h limit.h netlink.h weir.h
		module/netlink_ask\.c	event.h hook.h netlink_priv.h trace.h
		module/netlink(_.*)?\.[ch]	compat.h event.h exempt.h hook.h limit.h match.h netlink.h netlink_priv.h source.h table.h weir.h UAPI
		module/uapi/.*\.h
		userspace/(err|out|spec|msg|check)\.h
		userspace/model\.h	UAPI
		userspace/(word|lines)\.h	err.h
		userspace/field\.h	model.h msg.h out.h spec.h word.h
		userspace/(parse|show|value|config|nl)\.h	err.h field.h model.h out.h
		userspace/ssh\.h	model.h
		userspace/tool\.h	err.h nl.h out.h parse.h show.h ssh.h
		userspace/spec\.c	spec.h UAPI
		userspace/(out|word)\.c	SELF
		userspace/(msg|field)\.c	SELF LIBMNL
		userspace/(check|config|fields|parse|show|ssh|type|value|addr)\.c	SELF check.h field.h model.h parse.h value.h word.h
		userspace/(nl|ack)\.c	nl.h value.h LIBMNL
		userspace/.*\.c	config.h lines.h tool.h value.h
	EOF
}

check_layers() {
	local f name allowed pattern bad=0 rest
	layers >"$tmp/layers"
	while IFS= read -r f; do
		allowed=none
		while IFS=$'\t' read -r pattern rest; do
			[[ $f =~ ^$pattern$ ]] || continue
			allowed=$rest
			break
		done <"$tmp/layers"
		[ "$allowed" != none ] || { echo "$f: not in the table of layers"; bad=1; continue; }
		name=${f##*/} allowed=" ${allowed/SELF/${name%.*}.h} "
		while IFS= read -r name; do
			[[ $allowed == *" $name "* ]] || { echo "$f: may not include $name"; bad=1; }
		done < <(sed -nE -e 's,^#[ \t]*include[ \t]*"([^"]*)".*,\1,p' \
			-e 's,^#[ \t]*include[ \t]*<(uapi/)?linux/weir\.h>.*,UAPI,p' \
			-e 's,^#[ \t]*include[ \t]*<libmnl/.*,LIBMNL,p' "$f")
	done < <(files '^(module|userspace)/.*\.[ch]$')
	return "$bad"
}

check_licence() {
	local f want bad=0 dual='((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)'
	while IFS= read -r f; do
		case $f in
		module/uapi/* | Documentation/netlink/specs/*) want=$dual ;;
		module/* | Kbuild | *.patch) want=GPL-2.0-only ;;
		*) want=GPL-2.0-or-later ;;
		esac
		head -n 5 -- "$f" | grep -qF -- "SPDX-License-Identifier: $want" && continue
		echo "$f: says no SPDX-License-Identifier: $want in its first lines"
		bad=1
	done < <(files . '^COPYING$|^debian/(changelog|source/format|.*\.(dkms|docs))$|\.(json|svg|png|pcap)$')
	return "$bad"
}

# Notes to oneself belong elsewhere, and so do the paths of one's own machine.
check_words() {
	local list
	mapfile -t list < <(files .)
	search '\b(TO[D]O|FIX[M]E|X[X]X|HAC[K])\b|\b[Ii]ssue #?[0-9]|/(work|home)/|\.\./shared|\.librar[y]\b' "${list[@]}"
}

check_layout() {
	local f bad=0 list
	mapfile -t list < <(files . '^COPYING$')
	search '[ 	]+$' "${list[@]}" || bad=1
	for f in "${list[@]}"; do
		[ -z "$(tail -c 1 -- "$f")" ] || { echo "$f: no newline at the end"; bad=1; }
	done
	return "$bad"
}

# Packets are seen by these alone; to netlink an sk_buff is a message.
check_skb() {
	local list
	mapfile -t list < <(files '^module/.*\.[ch]$' '^module/(hook|passage|source|packet|match|cost|trace|compat|netlink.*)\.[ch]$')
	code '\b(struct[[:space:]]+sk_buff|skb(_[a-z_]+)?)\b' "${list[@]}"
}

# Time is read in one place and passed on.
check_clock() {
	local list
	mapfile -t list < <(files '^module/.*\.[ch]$' '^module/(hook\.c|netlink.*\.c)$')
	code '\b((get_)?jiffies(_64)?|ktime_get[a-z_0-9]*|(sched|local)_clock|get_cycles|rdtsc[a-z_]*)\b' "${list[@]}"
}

check_versions() {
	local list
	mapfile -t list < <(files '^(module/.*\.[ch]|Kbuild)$')
	search '\b(LINUX_VERSION_CODE|KERNEL_VERSION|UTS_RELEASE|RHEL_RELEASE)' "${list[@]}" || return
	mapfile -t list < <(files '^module/.*\.[ch]$' '^module/compat\.h$')
	search '\bWEIR_HAS_[A-Za-z]' "${list[@]}"
}

check_bugs() {
	local list
	mapfile -t list < <(files '^module/.*\.[ch]$')
	code '\b(BUG|BUG_ON|panic)\(' "${list[@]}"
}

# without FILE FUNCTION...: FILE without these, line by line, as $tmp/without/FILE
without() {
	local f=$1 name
	shift
	mkdir -p "$tmp/without/${f%/*}" && cp "$f" "$tmp/without/$f"
	for name; do
		NAME=$name perl -0777 -i -pe '$n += s{^\w[^;{}]*\b$ENV{NAME}\([^;{}]*\)\n\{.*?^\}}{ $& =~ s/[^\n]//gr }gesm;
			END { $? = $n != 1 }' "$tmp/without/$f" || { echo "$f: there is no function $name"; return 1; }
	done
}

# Allocating, sleeping, printing and sending have no place in the packet's way.
check_packet_path() {
	local list f names bad=0 whole words
	words='k[vmz]*alloc[a-z_]*|alloc_percpu[a-z_]*|GFP_[A-Z]+|printk|pr_[a-z]+|net_[a-z]+_ratelimited|mutex_[a-z_]+'
	words="$words|msleep|might_sleep|cond_resched|schedule_timeout[a-z_]*|wait_event[a-z_]*|synchronize_[a-z_]+|(genl|n)lmsg_[a-z_]+"
	whole='(hook|passage|pressure|packet|charge|bucket|match|source|cost)\.[ch]|(wheel|trace|recent)\.h'
	mapfile -t list < <(files "^module/($whole)\$")
	code "\\b($words)\\(?" "${list[@]}" || bad=1
	# The packet enters these as well; what they do beside that, in a process, is
	# named: all the rest is the packet's.
	while read -r f names; do
		# shellcheck disable=SC2086 # names
		without "$f" $names || { bad=1 && continue; }
		(cd "$tmp/without" && code "\\b($words)\\(?" "$f") || bad=1
	done <<-'EOF'
		module/recent.c	weir_table_settle
		module/event.c	events_work
		module/exempt.c	weir_exempts_alloc
		module/counts.c	weir_limit_account
		module/netlink_event.c	weir_nl_silence event_begin event_end weir_netlink_limit weir_netlink_source weir_netlink_pressure
	EOF
	return "$bad"
}

# unseen NAME FILE...: those that were not good for NAME as they are, into $list;
# when they are, seen NAME says so. What judges them counts as well.
unseen() {
	local name=$1 judge
	shift
	judge=$(cat tests/lint.sh .cache/source/scripts/checkpatch.pl | sha256sum | cut -c 1-16)
	good=.cache/lint/$name-$judge
	if [ ! -e "$good" ]; then
		mkdir -p .cache/lint && rm -f .cache/lint/"$name"-* && : >"$good" || return
	fi
	sha256sum -- "$@" | grep -vxFf "$good" >"$tmp/unseen"
	mapfile -t list < <(cut -c 67- "$tmp/unseen")
}
seen() { cat "$tmp/unseen" >>"$good"; }

check_checkpatch() {
	local list good status kind=' (WARNING|CHECK|ERROR):' ours tool tests
	[ -e .cache/source/scripts/checkpatch.pl ] || { echo "SKIP no checkpatch in .cache/source; make setup downloads it"; return 4; }
	mapfile -t list < <(files '^(module|userspace|tests)/.*\.[ch]$' '^tests/unit/shim/')
	unseen checkpatch "${list[@]}" || return
	[ ${#list[@]} -gt 0 ] || return 0
	# It leaves a file where it runs.
	(cd "$tmp" && perl "$top/.cache/source/scripts/checkpatch.pl" --no-tree --strict --terse --show-types \
		--no-summary --ignore SPDX_LICENSE_TAG,ALLOC_WITH_SIZEOF -f "${list[@]/#/$top/}") >"$tmp/checkpatch" 2>&1
	status=$?
	[ "$status" -le 1 ] || { cat "$tmp/checkpatch"; return 1; }

	# Tracepoints are written as the kernel's are. Of the kernel's macros and
	# types the tool and the tests know nothing; tests may be terse.
	ours="module/trace\.h:[0-9]*:$kind(OPEN_ENDED_LINE|PARENTHESIS_ALIGNMENT)"
	tool="(userspace|tests)/.*$kind(PREFER_KERNEL_TYPES|STRCPY|STRNCPY|STRLCPY|ARRAY_SIZE|CONST_STRUCT|PREFER_FALLTHROUGH"
	tool="$tool|FUNCTION_ARGUMENTS|AVOID_EXTERNS|VOLATILE|CAMELCASE|LINE_SPACING|BIT_MACRO|PREFER_DEFINED_ATTRIBUTE_MACRO"
	tool="$tool|LONG_LINE_STRING|MACRO_ARG_[A-Z]*|COMPLEX_MACRO|EMBEDDED_FUNCTION_NAME)"
	tests="tests/.*$kind(TRAILING_STATEMENTS|NAKED_SSCANF|SPLIT_STRING|LONG_LINE|TYPO_SPELLING|REPEATED_WORD"
	tests="$tests|SUSPECT_CODE_INDENT|PARENTHESIS_ALIGNMENT|ASSIGN_IN_IF|BRACES|SPACING|UNSPECIFIED_INT)"
	# What names no file is checkpatch's own.
	sed -n "s|^$top/||p" "$tmp/checkpatch" | grep -vE "^($ours|$tool|$tests)"
	[ "${PIPESTATUS[1]}" != 0 ] && seen
}

# sparse_on KERNEL: 5 where kbuild does without
sparse_on() {
	local kernel=.cache/kernels/$1 out=.cache/build/$1-clang
	command -v sparse >/dev/null || { echo "SKIP sparse is not installed"; return 4; }
	[ -e "$kernel/version" ] || { echo "SKIP no guest kernel $1 here; make setup downloads it"; return 4; }
	# What tests/run.sh builds with clang: nothing is built twice.
	tests/vm/kernel-build.sh -w -o "$out" "$1" CC=clang C=1 2>&1 || return
	# kbuild says little where it does without.
	if grep -q 'sparse is not available' "$out/log" || { grep -q '^ *CC' "$out/log" && ! grep -q '^ *CHECK' "$out/log"; }; then
		echo "sparse has not run on $(<"$kernel/version"): $(grep -m 1 -o 'C=1 specified.*' "$out/log")"
		return 5
	fi
}

check_sparse() { sparse_on 6.1 && sparse_on 6.12; }

# Debian's sparse cannot read the headers of 7.2, and kbuild will not have it try.
check_sparse_sid() {
	sparse_on sid >"$tmp/sparse"
	case $? in
	5) sed 's/^/SKIP /' "$tmp/sparse" && return 4 ;;
	4) cat "$tmp/sparse" && return 4 ;;
	0) ;;
	*) cat "$tmp/sparse" && return 1 ;;
	esac
}

check_shell() {
	local list all good
	command -v shellcheck >/dev/null || { echo "SKIP shellcheck is not installed"; return 4; }
	mapfile -t list < <(files . '\.(c|h|rst|md|yaml|py|json|svg)$' | while IFS= read -r f; do
		head -n 1 -- "$f" | grep -qE '^#!.*\b(ba|da)?sh\b' && printf '%s\n' "$f"
	done)
	all=("${list[@]}")
	unseen shell "${all[@]}" || return
	[ ${#list[@]} -gt 0 ] || return 0
	# All of them, for one reads another. That $? is a condition's, not a
	# command's, is what "ok $?" means.
	shellcheck -x -P SCRIPTDIR -e SC2319 "${all[@]}" && seen
}

check_python() {
	local list
	mapfile -t list < <(files '\.py$')
	[ ${#list[@]} -eq 0 ] || python3 -c 'import ast, sys
for name in sys.argv[1:]: ast.parse(open(name).read(), name)' "${list[@]}"
}

check_man() {
	local list
	command -v mandoc >/dev/null || { echo "SKIP mandoc is not installed"; return 4; }
	mapfile -t list < <(files '^Documentation/.*\.[1-9]$')
	[ ${#list[@]} -gt 0 ] || { echo "there are no man pages"; return 1; }
	mandoc -T lint -W warning "${list[@]}"
}

check_spelling() {
	local list
	command -v codespell >/dev/null || { echo "SKIP codespell is not installed"; return 4; }
	mapfile -t list < <(files . '^COPYING$')
	# The tests of the parser misspell on purpose.
	codespell -L 'nd,ue,te,ans,hist,fo,bu,dorp,shwo,lmit,lmited' "${list[@]}"
}

check_spec() {
	local status
	[ -x tests/spec.sh ] || { echo "there is no tests/spec.sh"; return 1; }
	tests/spec.sh >"$tmp/spec" 2>&1
	status=$?
	if [ "$status" = 4 ]; then
		echo "SKIP no generator in .cache/source; make setup downloads it"
	else
		cat "$tmp/spec"
	fi
	[ ! -x Documentation/netlink/reference.py ] || [ "$status" != 0 ] ||
		Documentation/netlink/reference.py --check || status=1
	return "$status"
}

# What make mutants changes must be there to be changed.
check_mutants() { tests/mutants/run.py -n >"$tmp/mutants" || { grep '^not ok' "$tmp/mutants"; return 1; }; }

declare -A says=(
	[layers]="who includes whom"
	[licence]="a licence in every file"
	[words]="no notes to oneself"
	[layout]="no stray blanks"
	[skb]="packets are seen by hook, passage, source, match, cost and trace alone"
	[clock]="the clock is read in the hook and in netlink alone"
	[versions]="kernels are told apart by name, in compat.h"
	[bugs]="nothing stops the machine"
	[packet_path]="the packet's way allocates nothing, waits for nothing, prints and sends nothing"
	[checkpatch]="checkpatch --strict"
	[sparse]="sparse, on 6.1 and 6.12"
	[sparse_sid]="sparse, on the newest kernel"
	[shell]="shellcheck"
	[python]="scripts of Python can be read"
	[man]="man pages"
	[spelling]="spelling"
	[mutants]="each small wrong change can be made still"
	[spec]="specification, header and reference agree"
)
[ $# -eq 0 ] || checks=("$@")
n=0 failed=0
echo "1..${#checks[@]}"
for check in "${checks[@]}"; do
	n=$((n + 1))
	[ -n "${says[$check]:-}" ] || { echo "Bail out! there is no check called $check"; exit 1; }
	"check_$check" >"$tmp/out" 2>&1
	case $? in
	0) echo "ok $n - $check: ${says[$check]}" ;;
	4) echo "ok $n - $check: ${says[$check]} # $(sed -n '/^SKIP/{p;q}' "$tmp/out")" ;;
	*)
		failed=1
		echo "not ok $n - $check: ${says[$check]}"
		head -n 60 "$tmp/out" | sed 's/^/# /'
		;;
	esac
done
exit "$failed"
