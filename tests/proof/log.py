#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prove with an SMT solver that a log is a wheel: its steps are those that wheel.py proves things about.

E(i) is the i-th last entry of a log (module/count/log.h), the slot in which a packet was charged, from 0
on; a log has N of them. A wheel's S(x) is the number of entries from a slot x of the window on. As
entries in the window do not grow with i,

    S(x) > i  exactly if  E(i) >= x,  for all i below N

which is how S is written here, so that nothing needs to be counted: a log that does a step is the
wheel that does it if that holds for the wheel's S afterwards, where at most N entries count. B is the
budget, at most N, t the current slot, and W slots besides that are the window. All numbers are
variables, and so are E and the number i of an entry. tests/unit/count_log.c compares the
operations in C with a list of packets.

Each wrong operation must be refuted, by a log of small numbers. The assumptions of each right one
must be satisfiable: otherwise anything would follow from them.
"""
from report import report
from z3 import And, Function, If, Implies, IntSort, Ints, Not, Or, Solver, sat, unsat

E, F, S, R = [Function(name, IntSort(), IntSort()) for name in 'EFSR']
N, B, W, t, c, p, x, s, i = Ints('N B W t c p x s i')
first = t - W


def grows_not(E, a, b, first):
    """Of what has left the window nothing is said."""
    return Implies(And(0 <= a, a <= b, b < N), Or(E(a) >= E(b), E(b) < first))


def is_log(E, ages):
    """What holds for all entries, at those of these ages."""
    return And([grows_not(E, a, b, first) for a in ages for b in ages] +
               [Implies(And(0 <= a, a < N), E(a) <= t) for a in ages])


def counts(S, E, x, ages):
    """S(x) is the number of entries of the log from a slot x on."""
    return And([0 <= S, S <= N] + [Implies(And(0 <= a, a < N), (S > a) == (E(a) >= x)) for a in ages])


def least(a, b):
    return If(a < b, a, b)


def larger(a, b):
    return If(a > b, a, b)


# The operations: on entries.

def charge(E, cost):
    """The oldest ones are replaced."""
    return lambda a: If(a < cost, t, E(a - cost))


def join(E, F):
    return lambda a: larger(E(a), F(a))


def uncharge(E, newer, cost, none):
    """Of a slot with this many newer ones; behind the last there is none."""
    return lambda a: If(a < newer, E(a), If(a + cost < N, E(a + cost), none))


ages = [0, i, i - c, i + c, i + 1, i + 1 - c, i + 1 + c, B - c, S(s + 1) - 1]
log = And(is_log(E, ages), counts(S(x), E, x, ages), first <= x, x <= t)
two = And(log, is_log(F, ages), counts(R(x), F, x, ages))
room = And(is_log(E, ages), counts(S(first), E, first, ages), c <= B, B <= N)
# Of slot s, in the window, c packets at least were charged; x is any slot of the window.
held = And(log, counts(S(s), E, s, ages), counts(S(s + 1), E, s + 1, ages), S(s) - S(s + 1) >= c,
           first <= s, s <= t, Implies(x <= s, S(x) >= S(s)), Implies(x > s, S(x) <= S(s + 1)))
left = S(x) - If(x <= s, c, 0)
one = And(0 <= i, i < N)


def is_wheel(S, E):
    """At any entry i."""
    return And(Implies(one, (S > i) == (E(i) >= x)), grows_not(E, i, i + 1, first))


RIGHT = [
    ('room for a cost exactly if an entry has left the window', room,
     (S(first) + c <= B) == Or(B - c >= N, E(B - c) < first)),
    ('charge', log, is_wheel(least(N, S(x) + c), charge(E, c))),
    ('what a charge replaces has left the window', And(room, S(first) + c <= B, i >= N - c, i < N), E(i) < first),
    ('time passes', And(log, p >= 0), grows_not(E, i, i + 1, first + p)),
    ('turn: none is left if the last entry has', And(log, E(0) < first), is_wheel(S(x), lambda a: first - 1)),
    ('join: of each two entries the later one', two, is_wheel(larger(S(x), R(x)), join(E, F))),
    ('give back', held, is_wheel(left, uncharge(E, S(s + 1), c, first - 1))),
    ('a copy with fewer entries has the newest', And(log, B <= N, one, i < B), (least(S(x), B) > i) == (E(i) >= x)),
]
WRONG = [
    ('room if the entry before has left', room, Implies(E(B - c + 1) < first, S(first) + c <= B)),
    ('room if it leaves just now', room, Implies(E(B - c) <= first, S(first) + c <= B)),
    ('charge replaces the newest', log, is_wheel(least(N, S(x) + c), lambda a: If(a < c, t, E(a)))),
    ('charge one entry for any cost', log, is_wheel(least(N, S(x) + c), charge(E, 1))),
    ('turn: none is left if the oldest entry has', And(log, E(N - 1) < first), is_wheel(S(x), lambda a: first - 1)),
    ('join: of each two entries the earlier one', two,
     is_wheel(larger(S(x), R(x)), lambda a: If(E(a) > F(a), F(a), E(a)))),
    ('join: the log with the later last entry', two,
     is_wheel(larger(S(x), R(x)), lambda a: If(E(0) >= F(0), E(a), F(a)))),
    ('join: entries of both', two, is_wheel(least(N, S(x) + R(x)), join(E, F))),
    ('give back the newest ones', held, is_wheel(left, uncharge(E, 0, c, first - 1))),
    ('give back, and behind the last is the present', held, is_wheel(left, uncharge(E, S(s + 1), c, t))),
    ('a copy with fewer entries has the oldest', And(log, B <= N, one, i < B),
     (least(S(x), B) > i) == (E(i + N - B) >= x)),
]


def check(*formulas):
    solver = Solver()
    solver.set('timeout', 20000)
    solver.add(N >= 1, B >= 1, W >= 1, t >= W, c >= 1, c <= N, *formulas)
    return solver.check()


tests = []
for name, assumption, claim in RIGHT:
    tests.append((name, check(assumption, Not(claim)) == unsat and check(assumption) == sat))
for name, assumption, claim in WRONG:
    # A log in full, where the ones above know it at the entries that they look at.
    small = And(N <= 4, is_log(E, range(4)), is_log(F, range(4)), one, counts(S(x), E, x, range(4)),
                counts(R(x), F, x, range(4)))
    tests.append((f'refuted: {name}', check(assumption, small, Not(claim)) == sat))
report(tests)
