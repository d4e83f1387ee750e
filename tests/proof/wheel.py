#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prove with an SMT solver that no window of a wheel admits more than its budget.

S(a) is what a wheel (module/count/ring.h) counted in its newest slot and the a slots
before it, 0 <= a < R, where R = reach + 1. G(a) is what was actually admitted from
a source in the same slots. S is the source's own wheel, or the floor of its set
while it has none. L is the largest budget that the table has held. All operations
on wheels preserve this invariant:

    S and G are nondecreasing in a;  0 <= G(a) <= S(a);  S(R-1) <= L

An interval as long as n slots that ends in slot k lies within slots k-n..k, so it
admits at most G(n) <= L if the wheel reaches back n slots. R and L are variables:
the proof holds for every reach and every budget. Sums do not wrap, because the
table's count width holds L. tests/unit/count_proof.c compares the operations in C
with those below.

Each wrong operation must be refuted, by a wheel of three slots. The assumptions of
each right one must be satisfiable at that size: otherwise anything would follow
from them.
"""
import itertools

from report import report
from z3 import And, ForAll, Function, If, Implies, Int, IntSort, Ints, Not, Or, Solver, sat, unsat


# The operations. A wheel is a function from ages to sums.

def charge(S, cost):
    return lambda a: S(a) + cost


def turn(S, passed):
    return lambda a: If(a < passed, 0, S(a - passed))


def uncharge(S, age, cost):
    return lambda a: If(a < age, S(a), S(a) - cost)


def join(S, T):
    return lambda a: If(S(a) > T(a), S(a), T(a))


def into_newest(S, R):
    """Move to slots of another length."""
    return lambda a: S(R - 1)


def by_entry(S, R, most):
    """Move to another width or reach; older slots count as the oldest."""
    def cut(x):
        return If(x < most, x, most)
    return lambda a: cut(If(a < R, S(a), S(R - 1)))


# Predicates on wheels.

def every(n, R, f):
    """f holds for all n-tuples of ages below R, a number or a variable."""
    if isinstance(R, int):
        return And([f(*ages) for ages in itertools.product(range(R), repeat=n)])
    ages = Ints('i j')[:n]
    return ForAll(ages, Implies(And([And(0 <= a, a < R) for a in ages]), f(*ages)))


def grows(S, R):
    return And(every(1, R, lambda a: S(a) >= 0), every(2, R, lambda a, b: Implies(a <= b, S(a) <= S(b))))


def is_wheel(S, R, L):
    return And(grows(S, R), S(R - 1) <= L)


def bounds(S, G, R, L):
    return And(is_wheel(S, R, L), grows(G, R), every(1, R, lambda a: G(a) <= S(a)))


def has_room(S, R, budget, cost):
    return And(S(R - 1) <= budget, cost <= budget - S(R - 1))


def holds(S, age, cost):
    """The slot of this age alone has counted at least the cost."""
    return S(age) - If(age > 0, S(age - 1), 0) >= cost


S, G, T, H, K = [Function(name, IntSort(), IntSort()) for name in 'SGTHK']
L, M, Q, budget, cost, age, p, q = Ints('L M Q budget cost age p q')
n, s, t, u, k, j = Ints('n s t u k j')


def in_slot(time, slot):
    return And(slot * s <= time, time < (slot + 1) * s)


def window(reach):
    """A packet at time u, in slot j, lies in the window that ends at time t, in slot k."""
    return (And(s >= 1, n >= 1, in_slot(t, k), in_slot(u, j), t - n * s <= u, u <= t),
            And(k - reach <= j, j <= k))


def source(R):
    return bounds(S, G, R, L)


def two(R):
    """S bounds what one source sent; T, a wheel or a floor, what another sent."""
    return And(bounds(S, G, R, L), bounds(T, H, R, L))


# Rows: name, assumption, conclusion.

def right(R, Q):
    joined = join(turn(S, p), turn(T, q))
    return [
        ('a window lies within the slots that are summed', *window(n)),
        ('charge', And(source(R), has_room(S, R, budget, cost)),
         bounds(charge(S, cost), charge(G, cost), R, L)),
        ('turn', source(R), bounds(turn(S, p), turn(G, p), R, L)),
        ('give back', And(source(R), holds(S, age, cost), holds(G, age, cost)),
         bounds(uncharge(S, age, cost), uncharge(G, age, cost), R, L)),
        ('join, each turned to the later of their times', two(R),
         And(bounds(joined, turn(G, p), R, L), bounds(joined, turn(H, q), R, L))),
        ('a newcomer starts from the floor', source(R), bounds(turn(S, p), turn(G, p), R, L)),
        ('a newcomer starts from the floors of a table and of its predecessor',
         And(is_wheel(S, R, L), is_wheel(T, R, L), Or(bounds(S, G, R, L), bounds(T, G, R, L))),
         bounds(join(S, T), G, R, L)),
        # K is G in the new slots: what the old window admitted, in any slots up to the newest.
        ('other slots: the sum goes into the newest', And(source(R), grows(K, Q), K(Q - 1) <= G(R - 1)),
         bounds(into_newest(S, R), K, Q, L)),
        ('another width or reach: entry by entry', And(source(R), M >= L),
         bounds(by_entry(S, R, M), by_entry(G, R, L), Q, L)),
    ]


def wrong(R):
    def slot(S, a):
        return S(a) - (S(a - 1) if a else 0)

    def larger_slots(a):
        return sum(If(slot(S, i) > slot(T, i), slot(S, i), slot(T, i)) for i in range(a + 1))

    return [
        ('one slot fewer is summed', *window(n - 1)),
        ('charge without room', And(source(R), cost <= budget),
         bounds(charge(S, cost), charge(G, cost), R, L)),
        ('charge with room in the newest slot only', And(source(R), cost <= budget - S(0)),
         bounds(charge(S, cost), charge(G, cost), R, L)),
        ('charge and count nothing', And(source(R), has_room(S, R, budget, cost)),
         bounds(S, charge(G, cost), R, L)),
        ('turn by a slot too many', source(R), bounds(turn(S, p + 1), turn(G, p), R, L)),
        ('give back what the wheel does not hold', And(source(R), holds(G, age, cost)),
         bounds(uncharge(S, age, cost), uncharge(G, age, cost), R, L)),
        ('give back to another source', And(source(R), holds(S, age, cost)),
         bounds(uncharge(S, age, cost), G, R, L)),
        ('join a wheel as if it were one slot older', two(R), bounds(join(S, turn(T, 1)), H, R, L)),
        ('join slot by slot', two(R), is_wheel(larger_slots, R, L)),
        ('a floor keeps the last eviction only', two(R), bounds(S, H, R, L)),
        ('a newcomer starts empty', source(R), bounds(lambda a: 0 * a, G, R, L)),
        ('other slots: the sum goes into the oldest', And(source(R), grows(K, R), K(R - 1) <= G(R - 1)),
         bounds(lambda a: If(a == R - 1, S(R - 1), 0), K, R, L)),
        ('other slots: the sum goes into the slot of a late clock',
         And(source(R), grows(K, R), K(R - 1) <= G(R - 1)),
         bounds(turn(into_newest(S, R), 1), K, R, L)),
        ('a width below the largest budget', source(R), bounds(by_entry(S, R, M), G, R, L)),
    ]


def check(R, *formulas):
    solver = Solver()
    solver.set('timeout', 60000)
    solver.add(R >= 1, Q >= 1, 0 <= budget, budget <= L, 0 <= cost, 0 <= age, age < R, 0 <= p, 0 <= q)
    solver.add(*formulas)
    return solver.check()


R = Int('R')
tests = []
for (name, assumption, claim), (_, example, _) in zip(right(R, Q), right(3, 4)):
    tests.append((name, check(R, assumption, Not(claim)) == unsat and check(3, example) == sat))
for name, assumption, claim in wrong(3):
    tests.append((f'refuted: {name}', check(3, assumption, Not(claim)) == sat))
report(tests)
