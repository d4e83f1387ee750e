#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# table.t: unit tests of the table inside a kernel (tests/table): comparison with an
# exact model, replacement under load, threads on every CPU. UNIT_PERCENT, UNIT_SEED
# and UNIT_RUN work as in tests/unit.
. "$(dirname "$0")/lib.sh"
need_cpus 2
module=weir_table_test
WEIR_KO=$top/.cache/build/${WEIR_KERNEL:-}-table/$module.ko
stripped=/run/${WEIR_KO//\//-}
trap '[ ! -d /sys/module/$module ] || rmmod $module; cleanup' EXIT

# program NAME PERCENT: run PERCENT (or UNIT_PERCENT) of its runs; a TAP line for each
# of its tests, with its notes.
program() {
	local line notes='' status seen=0 words=(program="$1" percent="${UNIT_PERCENT:-$2}")
	[ -z "${UNIT_SEED:-}" ] || words+=(seed="$UNIT_SEED")
	[ -z "${UNIT_RUN:-}" ] || words+=(run="$UNIT_RUN")
	log_mark
	load "${words[@]}"
	status=$?
	[ "$status" != 0 ] || rmmod $module || status=1
	log_since >"$tmp/log"
	while IFS= read -r line; do
		case $line in
		"# "*) notes+=${notes:+; }${line#\# } ;;
		"ok "* | "not ok "*)
			[[ $line == ok* ]]
			ok $? "${line#*- }${notes:+ ($notes)}"
			notes='' seen=$((seen + 1))
			;;
		esac
	done <"$tmp/log"
	[ "$status" = 0 ] && [ "$seen" != 0 ]
	ok $? "$1: runs to its end, and the module unloads"
}

program table_model 10
program table_move 10
program table_threads 15
finish
