# SPDX-License-Identifier: GPL-2.0-or-later
"""Report what a proof proved, as a test. Skips it where there is no solver."""
import importlib.util
import sys

if not importlib.util.find_spec('z3'):
    print('1..0 # SKIP python3-z3 is not installed')
    sys.exit(4)


def report(tests):
    """Of each, its name and whether it is so."""
    print(f'1..{len(tests)}')
    for number, (name, ok) in enumerate(tests, 1):
        print(f'{"ok" if ok else "not ok"} {number} - {name}')
    sys.exit(not all(ok for _, ok in tests))
