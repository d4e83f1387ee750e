#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prove with an SMT solver that no window of a leaky bucket admits more than its size and a budget.

v is the level of a bucket (module/count/leak.h) in parts, of which a packet or byte has n; L parts
leak in each slot, and a window has n slots. C is the size in parts. g(a) is what was actually
admitted from a source in the newest slot and the a slots before it, in parts. All operations
preserve this invariant, where v is the level of the source's own bucket, or of the floor
while it has none:

    0 <= v <= C;  g is nondecreasing, 0 <= g(a) <= v + L a

So g(n) <= C + L n: at most the size and L packets. n, L and C are variables. tests/unit/count_leak.c
compares the operations in C with a list of charges.

A reservation charges c now, beyond C, and is due p slots later. In g it counts then. Until then the
level is what it would be without it, and c; so by induction it is, when each of several is due, as
if they had been charged then, and at most C.

Each wrong operation must be refuted. The assumptions of each right one must be satisfiable:
otherwise anything would follow from them.
"""
from report import report
from z3 import And, Function, If, Implies, Int, IntSort, Ints, Not, Solver, sat, unsat

g, h = [Function(name, IntSort(), IntSort()) for name in 'gh']
v, w, n, L, M, C, D, c, p, q, k, i, j = Ints('v w n L M C D c p q k i j')


# The operations: on levels, and on what was admitted.

def leak(v, slots):
    return If(v > L * slots, v - L * slots, 0)


def turn(g, slots):
    return lambda a: If(a < slots, 0, g(a - slots))


def charge(g, cost):
    return lambda a: g(a) + cost


def uncharge(g, age, cost):
    return lambda a: If(a < age, g(a), g(a) - cost)


def reserve(v, cost, slots):
    """What leaks until it is due and was not there before does not leak from it."""
    return larger(v, L * slots) + cost


def larger(v, w):
    return If(v > w, v, w)


# Predicates, at some ages: what holds at all ages holds at these.

def grows(g, ages):
    return And([And(Implies(a >= 0, g(a) >= 0),
                    And([Implies(And(0 <= a, a <= b), g(a) <= g(b)) for b in ages])) for a in ages])


def bounds(v, g, rate=L, size=C):
    return lambda ages: And(0 <= v, v <= size, grows(g, ages),
                            And([Implies(a >= 0, g(a) <= v + rate * a) for a in ages]))


def both(*facts):
    return lambda ages: And([fact(ages) if callable(fact) else fact for fact in facts])


def holds(g, age, cost):
    """The slot of this age alone has admitted at least the cost."""
    return And(g(age) >= cost, Implies(age > 0, g(age) - g(age - 1) >= cost))


def given_back(v, age, cost):
    """What has leaked since is not given back."""
    return If(cost > L * age, v - (cost - L * age), v)


def due(slots):
    """A cost beyond the size is due in the first slot in which it would fit."""
    return lambda ages: And(0 <= v, c <= C, slots >= 1, v + c - L * slots <= C, v + c - L * (slots - 1) > C)


def pending(level, slots):
    """Until it is due, and then, within the size."""
    return lambda ages: And(leak(level, slots) <= C,
                            And([Implies(And(0 <= a, a <= slots), leak(level, a) >= leak(v, a) + c)
                                 for a in ages]))


source = bounds(v, g)
two = both(bounds(v, g), bounds(w, h))

RIGHT = [
    ('a window admits at most the size and a budget', source, lambda ages: g(n) <= C + L * n),
    ('charge', both(source, v + c <= C), bounds(v + c, charge(g, c))),
    ('turn', source, bounds(leak(v, p), turn(g, p))),
    ('give back, without what has leaked', both(source, holds(g, k, c)),
     bounds(given_back(v, k, c), uncharge(g, k, c))),
    ('join, each turned to the later of their times', two,
     both(bounds(larger(leak(v, p), leak(w, q)), turn(g, p)), bounds(larger(leak(v, p), leak(w, q)), turn(h, q)))),
    ('a newcomer starts from the floor', source, bounds(leak(v, p), turn(g, p))),
    ('a reservation is there until it is due, and what was before', due(p), pending(reserve(v, c, p), p)),
    ('another budget: the larger one holds', both(source, M >= L), bounds(v, g, M)),
    ('another size: the larger one holds', both(source, D >= C), bounds(v, g, L, D)),
]
WRONG = [
    ('a window admits at most the size', source, lambda ages: g(n) <= C),
    ('charge without room', both(source, c <= C), bounds(v + c, charge(g, c))),
    ('charge and count nothing', both(source, v + c <= C), bounds(v, charge(g, c))),
    ('leak for a slot too many', source, bounds(leak(v, p + 1), turn(g, p))),
    ('give back all of it', both(source, holds(g, k, c), v >= c), bounds(v - c, uncharge(g, k, c))),
    ('give back to another source', both(source, v >= c), bounds(given_back(v, 0, c), g)),
    ('a floor keeps the last eviction only', two, bounds(v, h)),
    ('a newcomer starts empty', source, bounds(0 * v, g)),
    ('a reservation that leaks as a charge does', due(p), pending(v + c, p)),
    ('a reservation that is due a slot early', due(p), pending(reserve(v, c, p - 1), p - 1)),
    ('a smaller budget at once', both(source, M < L), bounds(v, g, M)),
]


def check(*formulas):
    solver = Solver()
    solver.set('timeout', 20000)
    solver.add(n >= 1, L >= 1, M >= 1, C >= 0, c >= 1, p >= 0, q >= 0, k >= 0, i >= 0, j >= 0, *formulas)
    return solver.check()


def proved(assumption, claim):
    """At any ages i and j, from what is assumed at the ages that the operations look at."""
    ages = [i, j, i - p, j - p, i - q, j - q, k, k - 1, n]
    return check(assumption(ages), Not(claim([i, j]))) == unsat


def example(assumption, claim=None):
    """With small numbers, at all ages."""
    ages = range(8)
    return check(n == 2, L == 2, C == 8, M <= 4, D <= 12, k <= 3, p <= 3, q <= 3, assumption(ages),
                 Not(claim(range(5))) if claim else True) == sat


tests = []
for name, assumption, claim in RIGHT:
    tests.append((name, proved(assumption, claim) and example(assumption)))
for name, assumption, claim in WRONG:
    tests.append((f'refuted: {name}', example(assumption, claim)))
report(tests)
