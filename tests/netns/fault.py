# SPDX-License-Identifier: GPL-2.0-or-later
"""fault.py: make the module's allocations and calls fail, one after the other."""
import os
import pathlib

from wire import Tap

DEBUG = pathlib.Path("/sys/kernel/debug")
PROBE = pathlib.Path("/sys/module/weir_fault/parameters")


def write(path, value):
    path.write_text(f"{value}\n")


class Slab:
    """The module's nth allocation in this task fails, of slab or pages; with rest,
    all later ones too. Allocations for the socket are made outside the module
    and do not count."""

    POINTS = ("failslab", "fail_page_alloc")
    # The address range of modules; the guest has no other module.
    MODULES = (0xffffffffa0000000, 0xffffffffff000000)

    def __init__(self, rest=False):
        self.name = "all allocations from one on" if rest else "one allocation"
        self.self = pathlib.Path("/proc/self")
        for point in self.POINTS:
            to = DEBUG / point
            for name, value in (("verbose", 0), ("times", -1), ("interval", 1), ("space", 0),
                                ("probability", 100 if rest else 0), ("task-filter", "Y"),
                                ("require-start", hex(self.MODULES[0])),
                                ("require-end", hex(self.MODULES[1])),
                                ("stacktrace-depth", 32), ("ignore-gfp-wait", "N")):
                write(to / name, value)
        write(DEBUG / "fail_page_alloc/ignore-gfp-highmem", "N")
        write(DEBUG / "fail_page_alloc/min-order", 0)

    def arm(self, nth):
        write(self.self / "fail-nth", nth)
        write(self.self / "make-it-fail", 1)

    def disarm(self):
        write(self.self / "make-it-fail", 0)
        left = int((self.self / "fail-nth").read_text())
        write(self.self / "fail-nth", 0)
        return left == 0


class Call:
    """The nth call of a function by the module in this task fails."""

    def __init__(self):
        self.name = (PROBE / "symbol").read_text().strip()

    def arm(self, nth):
        write(PROBE / "task", os.getpid())
        write(PROBE / "nth", nth)

    def disarm(self):
        left = int((PROBE / "nth").read_text())
        write(PROBE / "nth", 0)
        return left == 0


def difference(was, now):
    if isinstance(was, (tuple, list)) and isinstance(now, (tuple, list)) and len(was) == len(now):
        return "; ".join(difference(a, b) for a, b in zip(was, now) if a != b)
    return f"{was!r} became {now!r}"


class Trial:
    """An operation, repeated with each of its faults in turn."""

    def __init__(self, name, faults):
        self.name, self.faults = name, faults
        self.count = self.failed = 0
        self.bad = []

    def run(self, reset, do, state, done):
        """reset establishes the initial state; do returns 0 or an errno; state
        returns the current state; done is the expected state after do."""
        reset()
        before = state()
        while len(self.bad) < 5:
            self.count += 1
            self.faults.arm(self.count)
            error = do()
            hit = self.faults.disarm()
            now = state()
            if error and not hit:
                self.bad.append(f"{self.count}: {os.strerror(error)}, but nothing was made to fail")
            elif error and now != before:
                self.bad.append(f"{self.count}: {os.strerror(error)}, and {difference(before, now)}")
            elif not error and now != done:
                self.bad.append(f"{self.count}: done, but {difference(done, now)}")
            if not error:
                if not hit:
                    break
                reset()
            else:
                self.failed += 1

    def tell(self):
        """A line of TAP. Faults in optional allocations, or in those of a debug
        facility, cause no error."""
        Tap.ok(not self.bad, f"{self.name}, {self.faults.name}: nothing changes "
               f"({self.count - 1} faults, {self.failed} of them errors)", *self.bad)
        return self.failed
