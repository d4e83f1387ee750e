#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh [-m WEIR.KO] [-o DIR] [fleet]: the demo. Boot a guest, run scene.sh in it, and let
# judge.sh evaluate the results: status 1 if a source got more than its budget in any
# window, or weir dropped a packet of an honest host. With fleet, fleet-scene.sh, which
# judges itself.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) && cd "$top" || exit 1
# shellcheck source=cast.sh
. tests/demo/cast.sh
# shellcheck source=stage.sh
. tests/demo/stage.sh
kernel=6.12 module='' out=$top/.cache/demo
while getopts m:o: opt; do
	case $opt in
	m) module=$(realpath "$OPTARG") || exit 1 ;;
	o) out=$(realpath -m "$OPTARG") || exit 1 ;;
	*) exit 1 ;;
	esac
done
shift $((OPTIND - 1))
scene=${1:+$1-}scene.sh
export LC_ALL=C
# The programs that the scene starts: opening one over 9p takes longer than running it.
near=(bash cat chrt cp dd grep insmod ip nice renice sed seq wc
	userspace/weir .cache/build/netns/{send,receive})

fail() { printf '%sdemo: %s%s\n' "$red" "$*" "$off" >&2; exit 1; }

build() {
	local ko=.cache/build/$kernel/weir.ko jobs
	mkdir -p "$out" .cache/build
	# The tools, while the module is built, whose last steps need one CPU
	jobs=-j$(nproc)
	{ make "$jobs" -C userspace && make "$jobs" -C tests/netns demo; } >"$out/build.log" 2>&1 &
	if [ -z "$module" ] && { [ ! -e "$ko" ] || [ -n "$(find module Kbuild -newer "$ko" -print -quit)" ]; }; then
		echo "demo: building weir.ko for Linux $kernel"
		tests/vm/kernel-build.sh "$kernel" || fail "the module does not build"
	fi
	wait "$!" || { tail -n 20 "$out/build.log" >&2; fail "the tools do not build"; }
	# Stripped of its debug information, it loads ten times as fast.
	strip -g -o "$out/weir.ko" "${module:-$ko}" || fail "no module"
}

play() {
	local tty=()
	[ ! -t 0 ] || [ ! -t 1 ] || tty=(-i)
	rm -f "$out"/{raw.*,format.*,sent.*,hook,receiver}
	tests/vm/guest.sh -r -k "$kernel" -t 300 -o "$out" "${tty[@]}" "${near[@]/#/-p}" -- \
		env "WEIR_KO=$out/weir.ko" ${NO_COLOR:+"NO_COLOR=$NO_COLOR"} "tests/demo/$scene"
}

build
echo "${dim}demo: booting Linux $kernel with weir in a machine of its own (QEMU)$off"
play
ended=$?
[ -z "${1:-}" ] || exit "$ended"
[ "$ended" = 0 ] || fail "the guest ended with status $ended"
.cache/build/netns/events "$out" >"$out/hook" || fail "no trace"
hz=$(sed -n 's/^CONFIG_HZ=//p' ".cache/kernels/$kernel/kdir/include/config/auto.conf")
tests/demo/judge.sh "$out" "$hz"
