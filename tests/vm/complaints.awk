# SPDX-License-Identifier: GPL-2.0-or-later
# complaints.awk: what of a kernel's log a sound kernel does not say; each
# complaint with the last line "weir-test: NAME" before it and what follows it.
/weir-test: / { during = $NF; left = 0 }
/BUG:|WARNING:|INFO: |KASAN:|UBSAN:|KCSAN:|ODEBUG:|Oops|Kernel panic|Call Trace|cut here|possible circular|suspicious RCU|unreferenced object|memory leaks|leaked|detected stall|locking correctness validator|refcount_t|weir-guest: / {
	if (left <= 0 && during != "")
		print "during " during
	left = 25
}
left-- > 0
