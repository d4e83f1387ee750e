# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # tmp is of lib.sh
# trace.sh: weir's trace events, for tests; lib.sh sources it.
#
# Events are enabled before the first packet and stay enabled to the end of the test, and task names
# are not recorded: either would patch running code, which sometimes fails under QEMU's TCG.

TRACING=/sys/kernel/tracing

# trace_start [EVENT...]: of weir; default: weir_charge, weir_uncharge, weir_limited
trace_start() {
	local event enable
	[ $# -gt 0 ] || set -- weir_charge weir_uncharge weir_limited
	echo 0 >"$TRACING/tracing_on"
	if [ ! -e "$tmp/traces" ]; then
		: >"$tmp/traces"
		echo 0 >"$TRACING/options/record-cmd"
		echo 32768 >"$TRACING/buffer_size_kb"
	fi
	for event; do
		enable=$TRACING/events/weir/$event/enable
		[ -e "$enable" ] || bail "no event $event"
		[ "$(<"$enable")" = 1 ] || echo 1 >"$enable"
	done
	: >"$TRACING/trace"
	echo 1 >"$TRACING/tracing_on"
}

# trace_stop: save the trace in $tmp/trace; lost events are an error
trace_stop() {
	echo 0 >"$TRACING/tracing_on"
	! grep -Eq '^(overrun|dropped events): [1-9]' "$TRACING"/per_cpu/cpu*/stats ||
		bail "the trace buffer is too small"
	cat "$TRACING/trace" >"$tmp/trace"
}

# requests_start [EVENT...]: trace the messages that weir sends to the kernel, and EVENTs of its tasks
requests=$TRACING/instances/requests
requests_start() {
	local event
	[ -d "$TRACING/events/syscalls" ] && [ -e "$TRACING/kprobe_events" ] || return
	echo 0 >"$TRACING/options/record-cmd" # an instance takes over the option
	mkdir "$requests"
	for event in syscalls/sys_enter_sendto "$@"; do
		echo 'comm == "weir"' >"$requests/events/$event/filter"
		echo 1 >"$requests/events/$event/enable" || bail "no event $event"
	done
}
requests_stop() {
	local enable
	for enable in "$requests"/events/{syscalls/sys_enter_sendto,kprobes/*}/enable; do
		[ ! -e "$enable" ] || echo 0 >"$enable"
	done
	rmdir "$requests"
	: >"$TRACING/kprobe_events"
}
# requests COMMAND...: run it; requested EVENT: how many of it there were meanwhile
requests() {
	: >"$requests/trace"
	"$@"
}
requested() { grep -c " $1[:(]" "$requests/trace"; }

# traced WINDOW-OPTION...: evaluate the trace
traced() { window "$@" <"$tmp/trace"; }

# meet: source and limit of each charge in the trace
meet() {
	awk '/ weir_charge: / { for (i = 1; i < NF; i++) if ($i ~ /^limit=/)
		print substr($(i + 1), 7), substr($i, 7) }' "$tmp/trace"
}

# packet NAME SOURCE LIMITS SEND-OPTION...: queue a packet, with the limits that
# should charge it; packets_meet sends them all and checks
names=() sources=() wanted=()
packet() {
	names+=("$1") sources+=("$2") wanted+=("$3")
	shift 3
	later -s "${sources[-1]/::ffff:/}" -c 1 "$@"
}
packets_meet() {
	local i
	trace_start weir_charge
	deliver
	trace_stop
	meet >"$tmp/met"
	for i in "${!names[@]}"; do
		is "$(awk -v s="${sources[i]}" '$1 == s { print $2 }' "$tmp/met" | sort | xargs)" \
			"$(printf '%s\n' ${wanted[i]} | sort | xargs)" "${names[i]}"
	done
}
