# SPDX-License-Identifier: GPL-2.0-or-later
# complaints.awk: what of a kernel's log a sound kernel does not say; each
# complaint with the last line "weir-test: NAME" before it and what follows it. The
# module says nothing of its own either, but what a line "weir-expects: PATTERN" in
# the log announces, until the next test.
{ sub(/\r$/, "") } # a console's
/weir-test: tests\// { expected = "" }
/weir-test: / { during = $NF; left = 0 }
/weir-expects: / { expected = $0; sub(/.*weir-expects: /, "", expected); next }
function own_word(line) {
	sub(/^\[[^]]*\] /, "", line)
	return line ~ /^weir: / && line !~ /: (loading out-of-tree module|module verification failed)/ &&
		(expected == "" || line !~ expected)
}
/BUG:|WARNING:|INFO: |KASAN:|UBSAN:|KCSAN:|ODEBUG:|Oops|Kernel panic|Call Trace|cut here|possible circular|suspicious RCU|unreferenced object|memory leaks|leaked|detected stall|locking correctness validator|refcount_t|unregister_netdevice: waiting|weir-guest: / || own_word($0) {
	if (left <= 0 && during != "")
		print "during " during
	left = 25
}
left-- > 0
