#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.t: what the tests' own scripts say when a guest or a build goes wrong: run.sh
# and kernel-build.sh, with a guest and a kernel of cardboard
. "$(dirname "$0")/lib.sh"
mkdir -p tree/tests/{vm,netns} tree/.cache/kernels/made/kdir
cp "$top/tests/run.sh" tree/tests/
cp "$top"/tests/vm/{kernel-build.sh,cc} tree/tests/vm/
echo 6.6.6-made | tee tree/.cache/kernels/made/version >tree/.cache/kernels/made/vmlinux
touch tree/tests/netns/{one,other}.t
echo 'need_cpus 2' >tree/tests/netns/two.t
export WEIR_LOGS=$tmp/logs
unset WEIR_UNTIL V

# prop FILE: a script of the tree, from stdin
prop() { (echo '#!/bin/bash' && cat) >"tree/tests/$1" && chmod +x "tree/tests/$1"; }

# runs STATUS COUNTS NAME: run.sh with the guest on stdin, which says @begin FILE,
# TAP and @end STATUS
runs() {
	local wanted=$1 counts=$2
	shift 2
	prop vm/guest.sh
	rm -rf logs && mkdir logs
	timeout 20 tree/tests/run.sh --on-kernel made tests/netns/{one,other}.t >said 2>&1
	is "$? $(tail -n 1 said)" "$wanted $counts" "$@" || diag "$(<said)"
}

cp tree/tests/vm/kernel-build.sh builder && prop vm/kernel-build.sh <<<:
runs 0 "4 passed, 0 failed, 0 skipped" "guests that run all their tests" <<-'GUEST'
	for t; do
		case $t in *.t) printf '@begin %s\nok 1 - well\n1..1\n@end 0\n' "$t" ;; esac
	done
GUEST
runs 1 "2 passed, 1 failed, 0 skipped" "a guest that begins no test, and ends well" <<<'echo hello'
like "$(<said)" "not ok 3 - made: the guest begins its tests .*# not run: tests/netns/one.t tests/netns/other.t" "... tells which"
runs 1 "1 passed, 1 failed, 0 skipped" "a guest that begins no test, and dies" <<<'exit 98'
runs 1 "2 passed, 3 failed, 0 skipped" "a guest that dies in a test, and the next begins none" <<-'GUEST'
	[ ! -e "$WEIR_LOGS/died" ] || exit 0
	: >"$WEIR_LOGS/died" && echo '@begin tests/netns/one.t' && exit 98
GUEST
runs 0 "5 passed, 0 failed, 0 skipped" "a log that cannot be written loses no test" <<-'GUEST'
	rm -rf "$WEIR_LOGS"
	while [ "$1" != --in-guest ]; do shift; done
	printf '@begin %s\nok 1 - well\n1..1\n@end 0\n' "$2"
GUEST

# The lock of guests with two CPUs, which one of them outlives its run with.
prop vm/guest.sh <<-'GUEST'
	while [ "$1" != --in-guest ]; do shift; done
	printf '@begin %s\nok 1 - well\n1..1\n' "$2"
	echo $$ >"$PIPE"
	exec tail -f /dev/null >/dev/null 2>&1
GUEST
mkdir -p logs && mkfifo pipe && exec {pipe}<>pipe
PIPE=$tmp/pipe tree/tests/run.sh --on-kernel made tests/netns/two.t >said 2>&1 &
run=$!
read -r -t 60 -u "$pipe" orphan
flock -n tree/.cache/guest.lock true
is "$?" 1 "a guest with two CPUs has the lock"
kill "$run"
wait "$run" 2>/dev/null
flock -w 20 tree/.cache/guest.lock true
ok $? "... which a run that is killed leaves"
kill -0 "$orphan"
ok $? "... though its guest goes on"
kill "$orphan"

# A guest whose files want no second CPU waits for nobody.
exec {lock}<tree/.cache/guest.lock && flock -w 20 "$lock"
runs 0 "4 passed, 0 failed, 0 skipped" "a guest with one CPU does not wait for those with two" <<-'GUEST'
	while [ "$1" != --in-guest ]; do shift; done
	shift
	for t; do printf '@begin %s\nok 1 - well\n1..1\n@end 0\n' "$t"; done
GUEST

# kernel-build.sh -w, and a kernel that says of the module what is in the file warn
cp builder tree/tests/vm/kernel-build.sh
mkdir -p tree/{module,tests/table}
# shellcheck disable=SC2016 # make's
echo 'modules: ; @sed "s|OUT|$(M)|" ../../../../warn' >tree/.cache/kernels/made/kdir/Makefile
# warns STATUS LINE NAME
warns() {
	echo "$2" >tree/warn
	tree/tests/vm/kernel-build.sh -w -m tree/tests/table -a tree/module -o tree/.cache/build/made-table made >said 2>&1
	is "$?" "$1" "$3" || diag "$(<said)"
}
warns 0 "  CC [M]  OUT/unit_kernel.o" "kernel-build.sh -w: a build without a warning"
warns 1 "OUT/unit_kernel.c:35:12: warning: 'f' defined but not used" "... a warning of a file of the folder"
warns 1 "OUT/thread.h:35:12: warning: 'f' defined but not used" "... of its header"
warns 1 "unit_kernel.c:35:12: warning: 'f' defined but not used" "... where make is in that folder"
warns 1 "WARNING: modpost: missing MODULE_LICENSE() in OUT/table.o" "... of modpost"
warns 0 "./include/linux/list.h:35:12: warning: 'f' defined but not used" "... a header of the kernel's may warn"
finish
