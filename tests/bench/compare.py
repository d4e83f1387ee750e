#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""compare.py TICKS LIMIT sizes|floods <RECORDS: evaluate the records of weir_record for a case
of compare.sh. Prints a line of name=value:

worst           most that any source got through within TICKS
flood, through  packets of the flood, and how many of them passed

sizes:
honest, honest_lost
                packets that came from honest sources, and that were dropped
asked           most that an honest source sent within TICKS
heavy, slow     what the heavy and the slow source got, in thousandths of LIMIT per TICKS

floods, from the first packet of the flood on:
known, known_lost, idle, idle_lost, new, new_lost
                packets that came, and that were dropped, of sources that were there before and
                send, and of those that send rarely, and of clients that arrive
clients, syn1, syn2, syn3, syn4
                clients, and how many of them got their first, second, ... SYN through

Sources: 10.1.0.0/16 honest or known, 10.2.0.0/16 idle, 10.3.0.0/16 clients, 10.6.6.6 heavy,
10.7.7.7 slow, the others flood.

A packet is recorded before and after the limit. If the tick changed in between, the tick that
the limit read is unknown: a packet is in a window only if both ticks are."""
import collections
import struct
import sys

KINDS = {0x0a060606: "heavy", 0x0a070707: "slow"}
NETS = {0x0a01: "honest", 0x0a02: "idle", 0x0a03: "client"}


def kind_of(source):
    return NETS.get(source >> 16) or KINDS.get(source, "flood")


def worst(packets, ticks):
    """The most packets (came, tick) in any window that begins with one of them"""
    most = first = 0
    for i, (_, tick) in enumerate(packets):
        while tick - packets[first][0] >= ticks:
            first += 1
        most = max(most, i + 1 - first)
    return most


def sizes(sources, packets, most, ticks, limit):
    slow = sources[0x0a070707, 0]
    span = slow[-1][1] - slow[0][1]
    rate = {kind: 1000 * packets[kind, 1] * ticks / span / limit for kind in ("heavy", "slow")}
    print(f" honest={packets['honest', 0]} honest_lost={packets['honest', 0] - packets['honest', 1]}"
          f" asked={most['honest', 0]} heavy={rate['heavy']:.0f} slow={rate['slow']:.0f}")


def floods(sources, packets):
    syns = collections.Counter()
    for (source, passed), of in sources.items():
        if passed and kind_of(source) == "client":
            syns[sum(came < of[0][0] for came, _ in sources[source, 0])] += 1
    clients = sum(not passed and kind_of(source) == "client" for source, passed in sources)
    for name, kind in ("known", "honest"), ("idle", "idle"), ("new", "client"):
        print(f" {name}={packets[kind, 0]} {name}_lost={packets[kind, 0] - packets[kind, 1]}", end="")
    print(f" clients={clients}", *(f"syn{i + 1}={syns[i]}" for i in range(4)))


def main():
    ticks, limit, table = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    sources = collections.defaultdict(list)
    for source, came, tick, passed in struct.iter_unpack("=4sIII", sys.stdin.buffer.read()):
        sources[int.from_bytes(source, "big"), passed].append((came, tick))
    begin = min(of[0][0] for (source, _), of in sources.items() if kind_of(source) == "flood")
    packets, most = collections.Counter(), collections.Counter()
    for (source, passed), of in sources.items():
        of.sort(key=lambda packet: packet[0])
        key = kind_of(source), passed
        packets[key] += sum(came >= begin for came, _ in of) if table == "floods" else len(of)
        most[key] = max(most[key], worst(of, ticks))
    print(f"worst={max(most[kind, 1] for kind in ('honest', 'idle', 'client', 'heavy', 'slow', 'flood'))}"
          f" flood={packets['flood', 0]} through={packets['flood', 1]}", end="")
    if table == "floods":
        floods(sources, packets)
    else:
        sizes(sources, packets, most, ticks, limit)


main()
