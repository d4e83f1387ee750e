#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prove with an SMT solver what a single slot admits: a fixed window at most L in each multiple of
T and 2 L in any T, a total at most L ever, a calendar at most L for each end that the clock passes.

Both are a lenient wheel of one slot (module/count/ring.h), whose sum is S: of the source's own wheel, or
of the floor of its set while it has none. L is the largest budget that the table has held. All
operations preserve the invariant

    0 <= g <= S <= L,  0 <= G <= L

where g is what was actually admitted from a source in the newest slot, and G in the slot before. A
total has slot 0 only, which never ends: g is all since the source was forgotten. All numbers are
variables.

A calendar numbers its slots by a timer (module/count/calendar.c): when the clock shows the end e that is
expected, or later, a slot begins, and the next end is the first multiple of the period s above what
the clock shows. The clock may be set at any time.

tests/unit/count_proof.c compares the operations in C with those of rings of any
length, one slot included; tests/unit/table_total.c a table of totals with a list.

Each wrong operation must be refuted. The assumptions of each right one must be satisfiable:
otherwise anything would follow from them.
"""
from report import report
from z3 import And, If, Implies, Ints, Not, Solver, sat, unsat

S, T, g, G, h, H, L, M, B, c, p, q = Ints('S T g G h H L M B c p q')
s, t, u, v, e, f, k, j = Ints('s t u v e f k j')


def bounds(wheel, newest, before, most=L):
    return And(0 <= newest, newest <= wheel, wheel <= most, 0 <= before, before <= most)


def in_slot(time, slot):
    return And(slot * s <= time, time < (slot + 1) * s)


def within(slots):
    """A packet at time u, in slot j, lies in the window T = s that ends at time t, in slot k."""
    return (And(s >= 1, in_slot(t, k), in_slot(u, j), t - s <= u, u <= t), And(k - slots <= j, j <= k))


def turned(wheel, newest, before, slots):
    """A late clock counts at the wheel's time."""
    return (If(slots > 0, 0, wheel), If(slots > 0, 0, newest),
            If(slots > 1, 0, If(slots == 1, newest, before)))


def larger(a, b):
    return If(a > b, a, b)


def expected(end, clock, number):
    """The first multiple of the period above what the clock shows."""
    return And(s >= 1, end == number * s, end - s <= clock, clock < end)


source = bounds(S, g, G)
two = And(source, bounds(T, h, H))
room = And(B <= L, S <= B, c <= B - S)
joined = larger(turned(S, g, G, p)[0], turned(T, h, H, q)[0])

RIGHT = [
    ('a window lies within two slots', *within(1)),
    ('an aligned window admits L', source, g <= L),
    ('any window admits 2 L', source, g + G <= 2 * L),
    ('charge', And(source, room), bounds(S + c, g + c, G)),
    ('turn', source, bounds(*turned(S, g, G, p))),
    ('give back in the newest slot', And(source, c <= S, c <= g), bounds(S - c, g - c, G)),
    ('give back of an older slot is left', And(source, c <= G), bounds(S, g, G - c)),
    ('join, each turned to the later of their times', And(two, Implies(p > 0, q <= 0)),
     And(bounds(joined, *turned(S, g, G, p)[1:]), bounds(joined, *turned(T, h, H, q)[1:]))),
    ('another budget: the larger one holds', And(source, M >= L), bounds(S, g, G, M)),
    ('total: all time is the newest slot', source, g <= L),
    ('total: charge', And(source, room), bounds(S + c, g + c, 0)),
    ('total: time passes', And(source, p >= 0), bounds(S, g, 0)),
    ('total: give back', And(source, c <= S, c <= g), bounds(S - c, g - c, 0)),
    ('total: forget', source, bounds(0, 0, 0)),
    # An idle entry has counted nothing of its source, who so is within any floor.
    ('total: a newcomer takes an idle entry', And(two, S == 0), And(bounds(T, h, 0), bounds(T, g, 0))),
    ('total: into a smaller table, by the floor', two,
     And(bounds(larger(S, T), g, 0), bounds(larger(S, T), h, 0))),
    ('calendar: a clock set forward over any number of ends renews once', And(e <= t, expected(f, t, k)), Not(f <= t)),
    ('calendar: a clock set back renews nothing until the same end', And(expected(e, t, k), u < t), Not(e <= u)),
    ('calendar: from one renewal to the next the clock passes an end', And(e <= u, expected(f, u, k), f <= t),
     And(u < k * s, k * s <= t)),
    ('calendar: a change at time u expects no end up to the one crossed at v', expected(f, larger(u, v), k), v < f),
    # Counted from the last end
    ('calendar: unless the clock is set a period ends with the next multiple',
     And(0 <= t, t < s, expected(f, t, k)), f == s),
]
WRONG = [
    ('a window lies within a slot', *within(0)),
    ('any window admits L', source, g + G <= L),
    ('charge without room', And(source, c <= B, B <= L), bounds(S + c, g + c, G)),
    ('charge and count nothing', And(source, room), bounds(S, g + c, G)),
    ('a late clock turns, too', And(source, p < 0), bounds(0, g, G)),
    ('give back of an older slot in the newest', And(source, c <= G, c <= S), bounds(S - c, g, G - c)),
    ('a floor keeps the last eviction only', two, bounds(S, h, H)),
    ('a newcomer starts empty', source, bounds(0, g, G)),
    ('a smaller budget at once', And(source, M < L), bounds(S, g, G, M)),
    ('total: time empties it', And(source, p > 0), bounds(*turned(S, g, 0, p)[:1], g, 0)),
    ('total: charge without room', And(source, c <= B, B <= L), bounds(S + c, g + c, 0)),
    ('total: a newcomer takes an entry that is not idle', two, bounds(T, g, 0)),
    ('calendar: the next end is a period after the last', And(e <= t, s >= 1, f == e + s), Not(f <= t)),
    ('calendar: the next end is that of a clock that is late', And(expected(e, v, j), e <= t, expected(f, v, k)), Not(f <= t)),
    ('calendar: a change expects the end of the clock', expected(f, u, k), v < f),
    ('calendar: a clock set back expects an earlier end', And(expected(e, t, k), u < t, expected(f, u, j)), t < f),
]


def check(*formulas):
    solver = Solver()
    solver.set('timeout', 20000)
    solver.add(L >= 1, M >= 1, B >= 0, c >= 1, *formulas)
    return solver.check()


tests = []
for name, assumption, claim in RIGHT:
    tests.append((name, check(assumption, Not(claim)) == unsat and check(assumption) == sat))
for name, assumption, claim in WRONG:
    tests.append((f'refuted: {name}', check(assumption, Not(claim)) == sat))
report(tests)
