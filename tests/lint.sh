#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lint.sh [-l | CHECK...]: run all checks of the sources, or those named; -l lists them. TAP, one line per
# check, followed by its findings. Status 1 if a check fails.
# shellcheck disable=SC2317 # checks are called by their names
set -u
top=$(cd "$(dirname "$0")/.." && pwd -P) && cd "$top" || exit 1
checks=(size spread licence words layout skb clock versions bugs packet_path python man rst site spelling spec metrics mutants
	proofs checkpatch shell sparse oldest clang house percpu)
[ "${1:-}" != -l ] || { echo "${checks[*]}"; exit; }
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT || exit 1

# $tmp/files lists tracked and untracked files, without ignored ones.
git -c core.quotePath=off ls-files --cached --others --exclude-standard | while IFS= read -r f; do
	[ ! -f "$f" ] || printf '%s\n' "$f"
done | sort -u >"$tmp/files"
[ -s "$tmp/files" ] || { echo "lint: git lists no files of $top"; exit 1; }

# files REGEX [BUT]: file names that match REGEX but not BUT
files() { grep -E -- "$1" "$tmp/files" | grep -vE -- "${2:-^$}"; }

# among FILES EXCEPT COMMAND...: run a command with these files at its end
among() {
	local list
	mapfile -t list < <(files "$1" "$2")
	"${@:3}" "${list[@]}"
}

# search REGEX FILE...: print matches as FILE:LINE:TEXT; status 0 if there are none
search() {
	local regex=$1
	shift
	[ $# -eq 0 ] || ! grep -HnE -- "$regex" "$@"
}

# code REGEX FILE...: search C, without includes, comments and strings
code() {
	local -x regex=$1
	shift
	perl -0777 -ne '
		s{(/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*")}{ $1 =~ s/[^\n]//gr }gse;
		s/^[ \t]*#[ \t]*include.*$//gm;
		my $line = 0;
		print map { $line++; /$ENV{regex}/ ? "$ARGV:$line:$_\n" : () } split /\n/;' "$@" | { ! grep .; }
}

# circles: read lines "FILE OTHER NAME", where FILE needs OTHER for NAME, and print those
# that are part of a cycle
circles() {
	awk '
		$1 != $2 { reach[$1, $2]; files[$1]; files[$2]; if (!(($1, $2, $3) in seen)) edge[++n] = $0; seen[$1, $2, $3] }
		END {
			for (k in files) for (i in files) if ((i, k) in reach) for (j in files) if ((k, j) in reach) reach[i, j]
			for (i = 1; i <= n; i++) {
				split(edge[i], e)
				if ((e[2], e[1]) in reach) { print e[1] " needs " e[2] ": " e[3]; bad = 1 }
			}
			exit bad
		}'
}

# The wings of the module and of the tool, from the ground up, and which of those before it each uses.
# What is in no folder goes by the name of its file; its headers are for all. A room is a source file
# and its header, without their suffix, or a header alone.
wings() {
	cat <<-'EOF'
		count
		packet
		table	count packet
		limit	table packet count
		path	limit table packet count
		config	path limit table packet count
		netlink	config path limit table packet count
		main	netlink config path limit table packet count

		lang	limit
		show	lang
		wire	lang
		tool	wire show lang
		xdp	tool wire show lang
		files	xdp tool wire show lang
		state	files xdp tool wire show lang
		advice	state tool wire show lang count
		top	tool wire show lang
		commands	top advice state files xdp tool wire show lang
		weir	commands state files tool wire show lang
		fleet	files lang
	EOF
}

# rooms FOLDER OBJECTS [BUT]: print "ROOM OTHER NAME" for what the rooms in FOLDER include and, as far as they
# are built, call. A header without a folder is of the same one if that has it. Files that match BUT do not count.
rooms() {
	local f
	files "^$1/.*\.[ch]$" "${3:-^$}" | sed 's/\.[ch]$//' | sort -u >"$tmp/names"
	files "^$1/.*\.[ch]$" "${3:-^$}" | xargs grep -HoE '^#[ 	]*include[ 	]*"([a-z]+/)?[a-z_-]+\.h"' |
		sed -nE 's,^([^:]*)\.[ch]:.*"(.*)\.h"$,\1 \2,p' | awk -v top="$1/" 'NR == FNR { is[$1]; next }
			{ near = $1; sub(/[^\/]*$/, "", near) }
			(near $2) in is { $2 = substr(near $2, length(top) + 1) }
			{ print substr($1, length(top) + 1), $2, "include" }' "$tmp/names" -
	while IFS= read -r f; do
		[ ! -e "$2/${f#*/}.o" ] || echo "${f#*/}.o"
	done <"$tmp/names" | (cd "$2" && xargs -r nm -A) | sed -E 's/\.o:/ /' | awk '$3 ~ /^[TDBR]$/ { file[$4] = $1 }
		$2 == "U" { user[++n] = $1; name[n] = $3 }
		END {
			for (i = 1; i <= n; i++)
				if (file[name[i]] && name[i] !~ /^__(SC|trace)/)
					print user[i], file[name[i]], name[i]
		}'
}

# Nothing in a wing uses one above it, no two rooms need each other, and no two of the module have one name. All
# of it may use compat.h, clock.h and error.h. The tables in netlink/gen.c list all operations, and tracepoints
# are defined where they are: these calls do not count.
check_house() {
	local objects=.cache/build/6.12/module bad=0
	make -s -C userspace >/dev/null || { echo "the tool does not build" && return 1; }
	{ rooms module "$objects" '^module/(netlink/gen\.[ch]|[a-z]*\.h)$' | grep -vE ' (compat|clock|error|.*gen) include$' &&
		rooms userspace userspace '^userspace/(bpf|kernel)/'; } >"$tmp/rooms" || bad=1
	wings >"$tmp/wings"
	awk -F '[ \t]+' 'NR == FNR { for (i = 2; i <= NF; i++) { may[$1, $i]; if (!($i in wing)) { print $1 " comes before " $i; bad = 1 } } wing[$1]; next }
		{ split($1, a, "/"); split($2, b, "/") }
		a[1] != b[1] && b[2] && !((a[1], b[1]) in may) { print $1 " may not use " $2 ": " $3; bad = 1 }
		END { exit bad }' "$tmp/wings" "$tmp/rooms" || bad=1
	circles <"$tmp/rooms" || bad=1
	files '^module/.*\.[ch]$' | sed 's/\.[ch]$//' | sort -u | awk -F / 'seen[$NF]++ { print $0 ": another room has this name"; bad = 1 }
		END { exit bad }' || bad=1
	[ -d "$objects" ] || [ "$bad" != 0 ] || { echo "SKIP nothing is built for 6.12 to look for calls in" && return 4; }
	return "$bad"
}

# within MARK N WHAT: marks only fall. One is lowered where N is well below it, and raised by nobody
# who does not say so.
within() {
	[ "$2" -le "$1" ] || { echo "$3: $2; $1 is the most" && return 1; }
	[ "$2" -ge $(($1 - $1 / 100)) ] || { echo "$3: $2; lower the mark of $1" && return 1; }
}

# The lines of code and pages; generated files do not count. A file is as long as its noun.
check_size() {
	local list mark wing except bad=0
	mapfile -t list < <(files '^module/.*\.[ch]$' | xargs grep -L 'YNL-GEN')
	within 18706 "$(cat "${list[@]}" | wc -l)" 'lines of module/' || bad=1
	within 5 "$(grep -ow __always_inline "${list[@]}" | wc -l)" '__always_inline in module/' || bad=1
	while read -r mark wing except; do
		within "$mark" "$(files "^userspace/$wing" "$except" | xargs cat | wc -l)" "lines of userspace/$wing" || bad=1
	done <<-'MARKS'
		6835 fleet/
		2669 advice/
		2977 state/
		20279 . ^userspace/(fleet|advice|state)/
	MARKS
	within 55786 "$(files '^tests/' | xargs cat | wc -l)" 'lines of tests/' || bad=1
	within 1500 "$(cat Documentation/weir{.8,-limit.8,-source.8,.conf.5} | wc -l)" 'lines of the manual of weir' || bad=1
	return "$bad"
}

# In how many files of the module and of the tool a feature is met in a condition: a feature is a room,
# not an if in many.
check_spread() {
	local bad=0 word mark
	while read -r word mark; do
		within "$mark" "$(files '^(module|userspace)/.*\.[ch]$' | xargs grep -liE "\\b(if|while|for|switch) \\(.*${word}|${word}[^;]* \\? |(&&|\\|\\|).*${word}" | wc -l)" "files with conditions on $word" || bad=1
	done <<-'MARKS'
		newcomer 29
		block 48
		budget 60
		calendar 12
		total 3
		exact 8
		list 38
	MARKS
	return "$bad"
}

# x86-64 reserves 8 KiB of static per-CPU data for all modules.
check_percpu() {
	local ko bad=0 size
	for ko in .cache/build/{6.1,6.12,sid}/weir.ko; do
		[ -e "$ko" ] || continue
		size=$((16#$(objdump -h "$ko" | awk '$2 == ".data..percpu" { print $3 }')))
		[ "$size" -le 256 ] || { echo "$ko has $size bytes of static per-CPU data; 256 is the most" && bad=1; }
	done
	[ -n "${size:-}" ] || { echo "SKIP nothing is built to look for per-CPU data in" && return 4; }
	return "$bad"
}

check_licence() {
	local dual='((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)'
	files . '^COPYING$|^debian/(changelog|source/format|.*\.(dkms|docs))$|\.(json|svg|png|pcap)$' |
		xargs -d '\n' awk -v dual="$dual" '
			function judge() { if (file != "" && !fine) { print file ": says no SPDX-License-Identifier: " want " in its first lines"; bad = 1 } }
			FNR == 1 {
				judge()
				file = FILENAME; fine = 0; want = "GPL-2.0-or-later"
				if (file ~ /^(module\/|Kbuild$)|\.patch$/) want = "GPL-2.0-only"
				if (file ~ /^module\/(uapi\/|netlink\/gen\.)|^Documentation\/netlink\/specs\//) want = dual
			}
			FNR <= 5 && index($0, "SPDX-License-Identifier: " want) { fine = 1 }
			FNR == 5 { nextfile }
			END { judge(); exit bad }'
}

# No notes to self, no paths of a developer's machine.
check_words() {
	among . '' search '\b(TO[D]O|FIX[M]E|X[X]X|HAC[K])\b|\b[Ii]ssue #?[0-9]|/(work|home)/|\.\./shared|\.librar[y]\b'
}

check_layout() {
	files . '^COPYING$|\.png$' | xargs -d '\n' perl -ne '
		$bad = print "$ARGV:$.: blanks at the end\n" if /[ \t]+$/;
		$bad = print "$ARGV: no newline at the end\n" if eof && !/\n$/;
		close ARGV if eof;
		END { $? = $bad }'
}

# Only these files handle packets; in netlink code an sk_buff is a message.
check_skb() {
	among '^module/.*\.[ch]$' '^module/(path/(hook|verdict|trace|nflog)|packet/(packet|source|match)|compat|netlink/.*)\.[ch]$' code '\b(struct\s+sk_buff|skb(_[a-z_]+)?)\b'
}

# Only these files read the clock; elsewhere time is an argument.
check_clock() {
	among '^module/.*\.[ch]$' '^module/(clock\.h|count/calendar\.c)$' code '\b((get_)?jiffies(_64)?|ktime_get[a-z_0-9]*|(sched|local)_clock|get_cycles|rdtsc[a-z_]*)\b'
}

check_versions() {
	among '^(module/.*\.[ch]|Kbuild)$' '' search '\b(LINUX_VERSION_CODE|KERNEL_VERSION|UTS_RELEASE|RHEL_RELEASE)' &&
		among '^module/.*\.[ch]$' '^module/([a-z]+/([a-z]+_)?)?compat\.h$' search '\bWEIR_HAS_[A-Za-z]'
}

check_bugs() {
	among '^module/.*\.[ch]$' '' code '\b(BUG|BUG_ON|panic)\('
}

check_packet_path() { tests/packet_path.py; }

# unseen NAME FILE...: set $list to the files that are new or changed since check NAME
# last passed, or to all if the check changed; seen records that it passed.
unseen() {
	local name=$1 judge
	shift
	judge=$({ declare -f "check_$name" && cat .cache/source/scripts/checkpatch.pl; } | sha256sum | cut -c 1-16)
	good=.cache/lint/$name-$judge
	if [ ! -e "$good" ]; then
		mkdir -p .cache/lint && rm -f .cache/lint/"$name"-* && : >"$good" || return
	fi
	sha256sum -- "$@" | grep -vxFf "$good" >"$tmp/unseen"
	mapfile -t list < <(cut -c 67- "$tmp/unseen")
}
seen() { cat "$tmp/unseen" >>"$good"; }

check_checkpatch() {
	local list good status kind=' (WARNING|CHECK|ERROR):' ours tool
	[ -e .cache/source/scripts/checkpatch.pl ] || { echo "SKIP no checkpatch in .cache/source; make setup downloads it"; return 4; }
	mapfile -t list < <(files '^(module|userspace)/.*\.[ch]$')
	unseen checkpatch "${list[@]}" || return
	[ ${#list[@]} -gt 0 ] || return 0
	# checkpatch writes a file into its working directory.
	(cd "$tmp" && perl "$top/.cache/source/scripts/checkpatch.pl" --no-tree --strict --terse --show-types \
		--no-summary --ignore SPDX_LICENSE_TAG,ALLOC_WITH_SIZEOF -f "${list[@]/#/$top/}") >"$tmp/checkpatch" 2>&1
	status=$?
	[ "$status" -le 1 ] || { cat "$tmp/checkpatch"; return 1; }

	# Tracepoints use the kernel's own layout; the kernel's generator wraps nothing; genl_compat.h has those of
	# later kernels as they are there. The tool has no kernel macros and types.
	ours="module/path/trace\.h:[0-9]*:$kind(OPEN_ENDED_LINE|PARENTHESIS_ALIGNMENT)"
	ours="$ours|module/netlink/(gen\.c:[0-9]*:${kind}LONG_LINE|genl_compat\.h:[0-9]*:$kind(COMPLEX_MACRO|MACRO_ARG_REUSE))"
	tool="userspace/.*$kind(PREFER_KERNEL_TYPES|STRCPY|STRNCPY|STRLCPY|ARRAY_SIZE|CONST_STRUCT|PREFER_FALLTHROUGH"
	tool="$tool|FUNCTION_ARGUMENTS|AVOID_EXTERNS|VOLATILE|CAMELCASE|LINE_SPACING|BIT_MACRO|PREFER_DEFINED_ATTRIBUTE_MACRO"
	tool="$tool|LONG_LINE_STRING|MACRO_ARG_[A-Z]*|COMPLEX_MACRO|EMBEDDED_FUNCTION_NAME)"
	# Lines that name no file are checkpatch's own messages.
	sed -n "s|^$top/||p" "$tmp/checkpatch" | grep -vE "^($ours|$tool)"
	[ "${PIPESTATUS[1]}" != 0 ] && seen
}

# built KERNEL ARGUMENT...: the module compiles without warnings, in $folder if that is set
built() {
	[ -e ".cache/kernels/$1/version" ] || { echo "SKIP no guest kernel $1 here; make setup downloads it"; return 4; }
	tests/vm/kernel-build.sh -w "${folder[@]}" "$@" 2>&1
}

# In the build that the guests run. Debian's sparse cannot parse the headers of 7.2.
check_sparse() {
	command -v sparse >/dev/null || { echo "SKIP sparse is not installed"; return 4; }
	built 6.12 C=1
}

# Its headers include less than newer ones, and have fewer arguments that are const.
check_oldest() {
	built 6.1
}

check_clang() {
	local kernel folder
	for kernel in 6.12 sid; do
		folder=(-o ".cache/build/$kernel-clang")
		built "$kernel" CC=clang || return
	done
}

# Of what a file sources nothing is known: following it takes six times as long, and set -u finds names
# that nothing sets. "ok $?" tests a condition on purpose.
check_shell() {
	local list good
	command -v shellcheck >/dev/null || { echo "SKIP shellcheck is not installed"; return 4; }
	mapfile -t list < <(files . '\.(c|h|rst|md|yaml|py|pl|pm|json|svg)$' | xargs -d '\n' grep -lE '^(#!.*\b(ba|da)?sh\b|# shellcheck shell=)')
	unseen shell "${list[@]}" || return
	[ ${#list[@]} -eq 0 ] || { shellcheck -S warning -e SC2154,SC2034,SC2319 "${list[@]}" && seen; }
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
	# Within a line a macro is text.
	! grep -nE ' \.[A-Z][a-z] ' "${list[@]}" && mandoc -T lint -W warning "${list[@]}"
}

check_rst() {
	local list
	python3 -c 'import docutils' 2>/dev/null || { echo "SKIP python3-docutils is not installed"; return 4; }
	mapfile -t list < <(files '\.rst$')
	python3 -c 'import sys, docutils.core
for name in sys.argv[1:]:
    docutils.core.publish_file(source_path=name, destination_path="/dev/null", writer_name="pseudoxml",
                               settings_overrides={"halt_level": 2, "traceback": False})' "${list[@]}"
}

check_site() {
	command -v sphinx-build >/dev/null || { echo "SKIP sphinx-build is not installed"; return 4; }
	Documentation/site/build.py .cache/site
}

check_metrics() {
	local promtool=$top/.cache/prometheus/promtool
	[ -x "$promtool" ] || { echo "SKIP no promtool in .cache/prometheus; make setup downloads it"; return 4; }
	tests/metrics/check.py "$promtool"
}

check_spelling() {
	command -v codespell >/dev/null || { echo "SKIP codespell is not installed"; return 4; }
	# The parser's tests misspell words on purpose; parm is modinfo's.
	among . '^COPYING$' codespell -L 'parm,nd,ue,te,ans,hist,fo,bu,dorp,shwo,lmit,lmited,iif'
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

# testing.rst names the tests of each promise, and of each program: they exist.
# shellcheck disable=SC2016 # reStructuredText
check_proofs() {
	local name suite bad=0 names
	names=$(sed -n '/^The promises and their tests$/,/^Add a test/p; /^``[a-z_]*[a-z]``  /p' Documentation/testing.rst | grep -o '``[^`]*``' | tr -d '`' | sort -u)
	[ "$(grep -c . <<<"$names")" -ge 40 ] || { echo "testing.rst: only $(grep -c . <<<"$names") names of tests are found" && return 1; }
	while IFS= read -r name; do
		case $name in
		make\ *) grep -q "^${name#make }:" Makefile && continue ;;
		*.*) [ -n "$(files "^tests/(.*/)?$name\$")" ] && continue ;;
		*/*) [ -n "$(files "^tests/$name\.(c|t)\$")" ] && continue ;;
		*)
			for suite in unit netns cli; do
				compgen -G "tests/$suite/$name.[ct]" >/dev/null && continue 2
			done
			[ -e "tests/$name" ] || [ -e "tests/$name.sh" ] || [[ $(declare -F) == *" check_$name"$'\n'* ]] && continue
			;;
		esac
		echo "testing.rst: there is no test $name"
		bad=1
	done <<<"$names"
	while IFS= read -r name; do
		awk -v name="$name" '/^====/ { on = 0 } /^[1-9]\. / { is = substr($0, 4); sub(/  .*/, "", is); on = index(name, is) == 1 } on && /``/ { found = 1 }
			END { exit !found }' <(sed -n '/^promise  /,/^Add a test/p' Documentation/testing.rst) && continue
		echo "testing.rst: no test proves the promise '$name' of design.rst"
		bad=1
	done < <(sed -nE '/^The promise$/,/^Theory/s/^[0-9]\. \*\*([^*]*)\.\*\*.*/\1/p' Documentation/design.rst)
	return "$bad"
}

check_mutants() { tests/mutants/run.py -n >"$tmp/mutants" || { grep '^not ok' "$tmp/mutants"; return 1; }; }

declare -A says=(
	[size]="the code and the pages stay small"
	[spread]="a feature is met in few files"
	[percpu]="little static per-CPU data"
	[house]="no wing uses one above it, no two rooms need each other"
	[licence]="a licence in every file"
	[words]="no notes to oneself"
	[layout]="no trailing blanks"
	[skb]="only hook, verdict, nflog, packet, source, match and trace handle packets"
	[clock]="only clock.h and calendar.c read the clock"
	[versions]="kernel differences are in compat.h, by name"
	[bugs]="no BUG or panic"
	[packet_path]="the packet path does not allocate, sleep, print or send"
	[checkpatch]="checkpatch --strict"
	[sparse]="gcc and sparse, on 6.12" [oldest]="gcc, on 6.1"
	[clang]="clang, on 6.12 and the newest kernel"
	[shell]="shellcheck"
	[python]="Python scripts parse"
	[man]="man pages"
	[site]="the web site is without warnings, its links lead somewhere, it loads nothing from elsewhere"
	[metrics]="each alert fires when it should, and Prometheus understands the dashboard"
	[spelling]="spelling"
	[rst]="the pages in reStructuredText are well formed"
	[mutants]="every mutant applies"
	[proofs]="the tests that testing.rst names exist, and each promise has some"
	[spec]="specification, header and reference agree"
)
[ $# -eq 0 ] || checks=("$@")
n=0 failed=0
echo "1..${#checks[@]}"
for check in "${checks[@]}"; do
	n=$((n + 1))
	[ -n "${says[$check]:-}" ] || { echo "lint: there is no check called $check"; exit 1; }
	"check_$check" >"$tmp/out" 2>&1
	case $? in
	0) echo "ok $n - $check: ${says[$check]}" ;;
	4) echo "ok $n - $check: ${says[$check]} # SKIP $(sed -n 's/^SKIP //p' "$tmp/out" | head -n 1)" ;;
	*)
		failed=1
		echo "not ok $n - $check: ${says[$check]}"
		head -n 60 "$tmp/out" | sed 's/^/# /'
		;;
	esac
done
exit "$failed"
