#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""compare.py TICKS LIMIT <RECORDS: evaluate the records of weir_record for a case of
compare.sh. Prints a line of name=value:

worst           most that any source got through within TICKS
honest          packets that came from honest sources
lost            those that were dropped
asked           most that an honest source sent within TICKS
heavy, slow     what the heavy and the slow source got, in thousandths of LIMIT per TICKS
flood, through  packets of the flood, and how many of them passed

Sources: 10.1.0.0/16 honest, 10.6.6.6 heavy, 10.7.7.7 slow, the others flood.

A packet is recorded before and after the limit. If the tick changed in between, the tick that
the limit read is unknown: a packet is in a window only if both ticks are."""
import collections
import struct
import sys

KINDS = {0x0a060606: "heavy", 0x0a070707: "slow"}


def kind_of(source):
    return "honest" if source >> 16 == 0x0a01 else KINDS.get(source, "flood")


def worst(packets, ticks):
    """The most packets (came, tick) in any window that begins with one of them"""
    most = first = 0
    for i, (_, tick) in enumerate(packets):
        while tick - packets[first][0] >= ticks:
            first += 1
        most = max(most, i + 1 - first)
    return most


def main():
    ticks, limit = map(int, sys.argv[1:])
    sources = collections.defaultdict(list)
    for source, came, tick, passed in struct.iter_unpack("=4sIII", sys.stdin.buffer.read()):
        sources[int.from_bytes(source, "big"), passed].append((came, tick))
    packets, most = collections.Counter(), collections.Counter()
    for (source, passed), of in sources.items():
        of.sort(key=lambda packet: packet[0])
        key = kind_of(source), passed
        packets[key] += len(of)
        most[key] = max(most[key], worst(of, ticks))
    slow = sources[0x0a070707, 0]
    span = slow[-1][1] - slow[0][1]
    rate = {kind: 1000 * packets[kind, 1] * ticks / span / limit for kind in ("heavy", "slow")}
    print(f"worst={max(most[kind, 1] for kind in ('honest', 'heavy', 'slow', 'flood'))}"
          f" honest={packets['honest', 0]} lost={packets['honest', 0] - packets['honest', 1]}"
          f" asked={most['honest', 0]} heavy={rate['heavy']:.0f} slow={rate['slow']:.0f}"
          f" flood={packets['flood', 0]} through={packets['flood', 1]}")


main()
