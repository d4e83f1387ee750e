#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh [SUITE[/FILE]...] [KERNEL...]: run all tests, or those named: build, unit, litmus, proof,
# cli, fuzz, lint, bench, systemd, netns, netns/limit, 6.1, 6.12, sid, 6.12-rt, 6.12-arm64,
# 6.12-kasan, 6.12-kcsan, uml-kasan. TAP on stdout; the last line counts passed, failed and
# skipped; status 1 if any failed. Full output is in .cache/test; V=1 shows it. JOBS=2 kernels
# run in parallel, beside the tests that need no guest.
#
# A test is a program that writes TAP (tests/*/*.t) or reports by its exit status; status 4 means
# skipped. tests/netns runs as root in guests: all files on 6.1 and 6.12, smoke*.t and table.t on
# sid, and all files on any other kernel named; debug kernels are built first. WEIR_UNTIL, in
# seconds since 1970, is a deadline: tests that would run past it are skipped.
set -u
top=$(cd "$(dirname "$0")/.." && pwd -P) && cd "$top" || exit 1
logs=${WEIR_LOGS:-$top/.cache/test}
n=0 passed=0 failed=0 skipped=0
# Seconds a debug kernel takes on two cores: its build, and a useful part of its tests
DEBUG_BUILD=1000 DEBUG_SUITE=300

# result WORD NAME [DIRECTIVE]: print a line of TAP and count it
result() {
	n=$((n + 1))
	case "$1 ${3:-}" in
	"ok SKIP"*) skipped=$((skipped + 1)) ;;
	"ok "*) passed=$((passed + 1)) ;;
	*) failed=$((failed + 1)) ;;
	esac
	printf '%s %d - %s%s\n' "$1" "$n" "$2" "${3:+ # $3}"
}

# collect NAME [PREFIX]: read a program's output from fd 3 to "@end STATUS"; count its TAP
# and print it under NAME, with the diagnostics of a failure. 1: there was no "@end".
collect() {
	local name=$1 prefix=${2-$1: } line plan='' seen=0 bad=0 skip='' show='' tail=()
	while IFS= read -r -u 3 line; do
		[ -z "${V:-}" ] || printf '# | %s\n' "$line"
		case $line in
		"ok "* | "ok" | "not ok"*) tap_line ;;
		1..*)
			plan=${line#1..} plan=${plan%%[!0-9]*}
			[ "$plan" != 0 ] || skip=${line#*[Ss][Kk][Ii][Pp]}
			;;
		"Bail out!"*) result "not ok" "$name: $line" && bad=1 ;;
		"@end "*) ended "${line#@end }"; return 0 ;;
		"@guest "*) guest_status=${line#@guest }; return 1 ;;
		?*)
			case $line in "# tests/"*" took "*" s") continue ;; esac
			tail+=("$line")
			[ ${#tail[@]} -le 20 ] || tail=("${tail[@]:1}")
			[ -z "$show" ] || [ -n "${V:-}" ] || printf '# %s\n' "${line#\# }"
			;;
		esac
	done
	return 1
}

# Report collect's $line, a TAP result.
tap_line() {
	local word=ok text directive=''
	show=''
	case $line in not*) word='not ok' show=1 bad=1 ;; esac
	text=${line#"$word"}
	if [[ $text =~ ^(.*)\ #\ *([Ss][Kk][Ii][Pp].*)$ ]]; then
		text=${BASH_REMATCH[1]} directive=SKIP${BASH_REMATCH[2]:4}
	fi
	[[ $text =~ ^\ *[0-9]*\ *-?\ *(.*)$ ]] && text=${BASH_REMATCH[1]}
	seen=$((seen + 1))
	result "$word" "$prefix$text" "$directive"
}

# ended STATUS: report how collect's program ended, if its TAP does not show it
ended() {
	if { [ "$1" = 4 ] || [ "$plan" = 0 ]; } && [ "$seen" = 0 ]; then
		result ok "$name" "SKIP${skip:- ${tail[*]: -1}}"
	elif [ "$1" != 0 ] && [ "$bad" = 0 ]; then
		result "not ok" "$name: ends well (status $1)"
		[ ${#tail[@]} = 0 ] || printf '# %s\n' "${tail[@]}"
	elif [ -n "$plan" ] && [ "$plan" != "$seen" ]; then
		result "not ok" "$name: runs all its tests ($seen of $plan)"
	elif [ "$seen" = 0 ]; then
		result ok "$name"
	fi
}

# host NAME COMMAND...: run a test on this machine. The limit only ends what hangs: at a low
# priority beside guests, checks of minutes take a quarter of an hour.
host() {
	local name=$1
	shift
	exec 3< <(
		timeout -k 5 "${HOST_TIMEOUT:-3600}" "$@" </dev/null 2>&1 | tee "$logs/${name//[ \/]/-}.log"
		printf '\n@end %d\n' "${PIPESTATUS[0]}"
	)
	collect "$name" || result "not ok" "$name: ends"
	exec 3<&-
}

# time_for SECONDS: whether they are left before WEIR_UNTIL
time_for() { [ -z "${WEIR_UNTIL:-}" ] || [ $(($(date +%s) + $1)) -lt "$WEIR_UNTIL" ]; }

# keep_hooks: a namespace whose hooks stay registered. The kernel patches the packet path when the
# first hook is added or the last one removed, and QEMU's TCG sometimes still executes the old code.
keep_hooks() {
	local ready fifo=/run/weir-keep
	mkfifo "$fifo"
	# shellcheck disable=SC2016 # expanded by sh
	unshare -n sh -c 'nft -f - && ready=yes; echo "$ready" >"$0"; exec tail -f /dev/null' "$fifo" <<-RULES &
		table netdev keep { chain in { type filter hook ingress device lo priority 0; }; }
		table inet keep { chain pre { type filter hook prerouting priority 0; }; }
	RULES
	read -r -t 20 ready <>"$fifo" && [ "$ready" = yes ] || echo "# keep_hooks failed"
}

# in_guest FILE...: run tests in this guest, and unload the module after each
in_guest() {
	local t status start most=${WEIR_TEST_TIMEOUT:-240} seconds
	PATH=$top/userspace:$PATH
	keep_hooks
	for t; do
		echo "weir-test: $t" >/dev/kmsg
		echo "@begin $t"
		if ! time_for 60; then
			printf '1..0 # SKIP no time is left\n@end 4\n'
			continue
		fi
		start=$SECONDS seconds=$most
		time_for "$most" || seconds=$((WEIR_UNTIL - $(date +%s)))
		timeout -k 5 "$seconds" "$t" </dev/null
		status=$?
		if [ "$status" = 124 ] && [ "$seconds" != "$most" ]; then
			printf '\nok - the rest # SKIP no time is left\n'
			status=0
		fi
		printf '\n# %s took %d s\n' "$t" $((SECONDS - start))
		ip -all netns delete
		if [ -d /sys/module/weir ] && ! rmmod weir; then
			printf '\nnot ok - the module can be removed\n@end %d\n' "$status"
			exit # the remaining tests need a fresh guest
		fi
		printf '\n@end %d\n' "$status"
	done
	cat /run/weir.json.* >"$OUT/json" 2>/dev/null
}

debug_kernel() { [[ $1 = *-kasan || $1 = *-kcsan ]]; }

# The programs that guest tests start most often
near=()
for word in awk bash cat dirname echo grep insmod ip jq mkfifo mktemp nft paste rm rmmod sed sh sort timeout xargs \
	"$top/userspace/weir" "$top/.cache/build/netns/"{send,window}; do
	near+=(-p "$word")
done

# guest KERNEL CPUS FILE...: run the files; boot again after one that kills the guest
boot=0
guest() {
	local kernel=$1 cpus=$2 todo line name guest_status out seconds=1800 env=(env) word begun
	shift 2
	todo=("$@")
	# Debug kernels are slow.
	! debug_kernel "$kernel" || { seconds=7200 && env+=(WEIR_TEST_TIMEOUT=900 "WEIR_UNTIL=${WEIR_UNTIL:-}"); }
	for word in UNIT_PERCENT UNIT_SEED UNIT_RUN; do
		[ -z "${!word:-}" ] || env+=("$word=${!word}")
	done
	while [ ${#todo[@]} -gt 0 ]; do
		boot=$((boot + 1)) guest_status='' begun='' out=$logs/guest-$kernel-$boot
		exec 3< <(
			exec 8>&- # a guest that outlives this run holds no lock
			tests/vm/guest.sh -n -k "$kernel" -s "$cpus" -t "$seconds" -o "$out" "${near[@]}" -- "${env[@]}" tests/run.sh --in-guest "${todo[@]}" 2>&1 |
				tee "$out.log"
			echo "@guest ${PIPESTATUS[0]}"
		)
		while [ -z "$guest_status" ] && IFS= read -r -u 3 line; do
			case $line in
			"@guest "*) guest_status=${line#@guest } ;;
			"@begin "*)
				begun=1 name=${line#@begin tests/} todo=("${todo[@]:1}")
				collect "$kernel ${name%.t}" || result "not ok" "$kernel ${name%.t}: the guest survives"
				;;
			esac
		done
		exec 3<&-
		verdict
		[ ! -s "$out/json" ] || host "$kernel netns/schema" tests/netns/schema.py <(userspace/weir -schema) "$out/json"
	done
}

# verdict: report a boot by guest.sh's status. If the guest began no test, give up:
# another boot would not help.
verdict() {
	case $guest_status in
	0) result ok "$kernel: the kernel's log is clean (boot $boot)" ;;
	99)
		result "not ok" "$kernel: the kernel's log is clean (boot $boot)"
		head -n 80 "$out/kernel.bad" | sed 's/^/# /'
		;;
	*)
		result "not ok" "$kernel: the guest ends well (boot $boot, status $guest_status)"
		tail -n 20 "$out.log" | sed 's/^/# /'
		;;
	esac
	[ -z "$begun" ] || return
	[ "$guest_status" != 0 ] || result "not ok" "$kernel: the guest begins its tests (boot $boot)"
	printf '# not run: %s\n' "${todo[*]}"
	todo=()
}

# have_debug_kernel KERNEL: build it, if its source is here and time is left
have_debug_kernel() {
	local need=$DEBUG_SUITE source=debug build=(tests/vm/kernel-debug.sh) flavour=$1
	[ "$1" != uml-kasan ] || { source=uml build=(tests/vm/uml-build.sh) flavour=kasan; }
	if [ ! -e ".cache/$source/source/version" ]; then
		result ok "$1: build and guest" "SKIP the mirror has no source for it"
		return 1
	fi
	"${build[@]}" -n "$flavour" >/dev/null || need=$((need + DEBUG_BUILD))
	if ! time_for "$need"; then
		result ok "$1: build and guest" "SKIP no time is left: it takes $((need / 60)) minutes"
		return 1
	fi
	HOST_TIMEOUT=7200 host "guest kernel $1" "${build[@]}" "$flavour"
	# User-Mode Linux has no kprobes.
	[ "$1" = uml-kasan ] || host "faults for $1" tests/vm/kernel-build.sh -w -m tests/fault -o ".cache/build/$1/fault" "$1"
	[ "$failed" = 0 ]
}

# on_kernel KERNEL FILE...: build for KERNEL and run the files in its guests
on_kernel() {
	local kernel=$1 word='not ok'
	shift
	if debug_kernel "$kernel"; then
		have_debug_kernel "$kernel" || return
	elif [ ! -e ".cache/kernels/$kernel/version" ]; then
		[ "$kernel" != sid ] || word=ok
		result "$word" "$kernel: build and guest" "SKIP the mirror has no such kernel"
		return
	fi
	host "build $kernel ($(<".cache/kernels/$kernel/version"))" tests/vm/kernel-build.sh -w "$kernel"
	[[ " $* " != *"/table.t "* ]] || host "table tests for $kernel" tests/vm/kernel-build.sh -w \
		-m tests/table -a module -a tests/unit -o ".cache/build/$kernel-table" "$kernel"
	[[ " $* " != *"/suspend.t "* ]] || host "suspend for $kernel" tests/vm/kernel-build.sh -w \
		-m tests/suspend -o ".cache/build/$kernel/suspend" "$kernel"
	[ ! -d ".cache/kernels/$kernel/root" ] || host "programs for $kernel" tests/vm/cross-build.sh "$kernel"
	[ "$failed" != 0 ] || [ $# = 0 ] || guests "$kernel" "$@"
}

# guests KERNEL FILE...: emulated CPUs mostly wait for each other on a busy machine, so
# only tests with need_cpus get two. On a debug kernel all tests do.
guests() {
	local kernel=$1 one=() two=("${@:2}")
	if ! debug_kernel "$kernel"; then
		mapfile -t one < <(grep -L '^need_cpus 2' "${@:2}")
		mapfile -t two < <(grep -l '^need_cpus 2' "${@:2}")
	fi
	# One guest with two CPUs runs at a time; the others start with their one-CPU files.
	exec 8>.cache/guest.lock
	if [ ${#two[@]} = 0 ]; then
		guest "$kernel" 1 "${one[@]}"
	elif flock -n 8; then
		guest "$kernel" 2 "${two[@]}"
		flock -u 8
		guest "$kernel" 1 "${one[@]}"
	else
		guest "$kernel" 1 "${one[@]}"
		flock 8
		guest "$kernel" 2 "${two[@]}"
		flock -u 8
	fi
	exec 8>&-
}

finish() {
	echo "1..$n"
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ]
	exit
}

# on_host SUITE...: run suites that need no guest, or boot their own (bench, systemd)
on_host() {
	local suite
	for suite; do
		case $suite in
		lint) host lint tests/lint.sh ;;
		bench) host bench tests/bench/bench.sh ;;
		unit) host unit make --no-print-directory -s -C tests/unit check ;;
		litmus) host litmus tests/litmus/run.sh ;;
		proof) host proof tests/proof/wheel.py; host proof/leak tests/proof/leak.py; host proof/slot tests/proof/slot.py; host proof/log tests/proof/log.py ;;
		systemd)
			host "systemd of Debian 12" tests/systemd/run.sh bookworm
			host "systemd of Debian 13" tests/systemd/run.sh trixie
			;;
		fuzz) host fuzz make --no-print-directory -s -C tests/fuzz check FUZZ_RUNS=20000 ;;
		esac
	done
}

case ${1:-} in
--in-guest) shift && in_guest "$@"; exit 0 ;;
--on-kernel) shift && on_kernel "$@"; finish ;;
--on-host) shift && on_host "$@"; finish ;;
esac

trap 'exit 130' INT TERM
kernels=() suites=()
for word; do
	case $word in
	6.1 | 6.12 | sid | 6.12-rt | 6.12-arm64 | 6.12-kasan | 6.12-kcsan | uml-kasan) kernels+=("$word") ;;
	build | unit | litmus | proof | cli | fuzz | lint | bench | systemd | netns | cli/* | netns/*) suites+=("${word%.t}") ;;
	*) echo "run.sh: there is no test called $word (build, unit, litmus, proof, cli, fuzz, lint, bench, systemd, netns, netns/NAME, 6.1, 6.12, sid, 6.12-rt, 6.12-arm64, 6.12-kasan, 6.12-kcsan, uml-kasan)" >&2; exit 1 ;;
	esac
done
# A kernel without a suite means build and netns.
[ ${#suites[@]} -gt 0 ] || { [ ${#kernels[@]} -gt 0 ] && suites=(build netns); } || suites=(build unit litmus proof cli fuzz lint bench systemd netns)

# chosen SUITE: the files of SUITE that the command line names
chosen() {
	local s
	for s in "${suites[@]}"; do
		case $s in
		"$1") s=$1/ ;;
		"$1"/*) ;;
		*) continue ;;
		esac
		compgen -G "tests/$s*.t"
	done | sort -u
}

wants() { [[ " ${suites[*]} " == *" $1"[\ /]* ]]; }

# A concurrent run has its own logs and deletes them at its end.
mkdir -p .cache && exec 9>.cache/test.lock || exit 1
flock -n 9 || { logs=$logs-$$ && trap 'rm -rf "$logs"' EXIT; }
export WEIR_LOGS=$logs
rm -rf "$logs" && mkdir -p "$logs" || exit 1
echo "TAP version 13"
if wants build || wants netns || wants cli || wants systemd; then
	host "build tool" make --no-print-directory tool
fi
# aside NAME OPTION WORD...: run this script in the background, its TAP into a file
aside() {
	local name=$1
	shift
	{
		tests/run.sh "$@" 2>&1
		printf '\n@end %d\n' $?
	} >>"$logs/$name.tap"
}

# shown NAME PID: print the TAP of aside NAME until PID ends
shown() {
	exec 3< <(tail -n +1 -s 0.1 -f --pid="$2" "$logs/$1.tap")
	collect "$1" '' || result "not ok" "$1: ends"
	exec 3<&-
}

# start_kernels: run on_kernel for each kernel in $all, JOBS at a time
start_kernels() {
	local kernel mine started=0
	for kernel in "${all[@]}"; do
		[ "$started" -lt "${JOBS:-2}" ] || wait -n
		started=$((started + 1)) mine=("${files[@]}")
		if [ "$kernel" = sid ] && [ ${#kernels[@]} = 0 ]; then
			mapfile -t mine < <(printf '%s\n' "${files[@]}" | grep -E '/(smoke|table)')
		fi
		aside "$kernel" --on-kernel "$kernel" "${mine[@]}" &
	done
	wait
}
all=() files=()
if wants build || wants netns; then
	all=("${kernels[@]}") && [ ${#all[@]} -gt 0 ] || all=(6.1 6.12 sid)
	if wants netns; then
		mapfile -t files < <(chosen netns)
		host "build tests/netns" make --no-print-directory -s -C tests/netns
	fi
	for kernel in "${all[@]}"; do : >"$logs/$kernel.tap"; done
	start_kernels 9>&- &
	started=$!
	# Tests in guests depend on time; everything else runs at a lower priority.
	renice -n 10 -p $$ >/dev/null
fi
# These run beside the guests, in two queues; the TAP of the one in the background is
# printed at the end.
mapfile -t second < <(for word in lint litmus proof fuzz systemd; do ! wants "$word" || echo "$word"; done)
if [ ${#second[@]} -gt 0 ]; then
	: >"$logs/host.tap"
	aside host --on-host "${second[@]}" 9>&- &
	beside=$!
fi
if wants cli; then
	while read -r t; do t=${t%.t} && host "${t#tests/}" "$t.t"; done < <(chosen cli)
fi
mapfile -t first < <(for word in bench unit; do ! wants "$word" || echo "$word"; done)
on_host "${first[@]}"
[ ${#second[@]} = 0 ] || shown host "$beside"
for kernel in "${all[@]}"; do shown "$kernel" "$started"; done
finish
