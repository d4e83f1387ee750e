# SPDX-License-Identifier: GPL-2.0-or-later
# warnings.awk: print the warnings in a kernel's log, each with the last line "weir-test:
# NAME" before it and the lines behind it. A message of the module is a warning, too,
# unless a line "weir-expects: PATTERN" of the same test matches it.
{ sub(/\r$/, "") } # from a console
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
