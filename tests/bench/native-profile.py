#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""native-profile.py WEIR.KO ADDRESS PERF.DATA: where in weir the time goes

Of the samples that perf has taken of User-Mode Linux, those in the module, whose
code begins at ADDRESS: the part of each function, and of the instructions that
took longest. A load is seen at the instruction behind it, which waits for it.
"""
import bisect
import collections
import re
import subprocess
import sys

FUNCTIONS, INSTRUCTIONS = 12, 8


def output(*command):
    return subprocess.run(command, check=True, capture_output=True,
                          text=True).stdout


def code(module):
    """Offsets in .text, sorted: of functions, of instructions with their words."""
    functions, instructions = [], []
    for line in output("objdump", "-d", "-r", "-j", ".text", "--no-show-raw-insn",
                       module).splitlines():
        if match := re.match(r"([0-9a-f]+) <(.*)>:$", line):
            functions.append((int(match[1], 16), match[2]))
        elif match := re.match(r" *([0-9a-f]+):\t([^<]*)", line):
            instructions.append((int(match[1], 16), " ".join(match[2].split())))
    return functions, instructions


def main():
    module, base, data = sys.argv[1], int(sys.argv[2], 16), sys.argv[3]
    functions, instructions = code(module)
    starts = [start for start, _ in functions]
    words_of = dict(instructions)
    inside, at = collections.Counter(), collections.Counter()
    for line in output("perf", "script", "-i", data, "-F", "ip").split():
        offset = int(line, 16) - base
        if 0 <= offset <= instructions[-1][0]:
            start, name = functions[bisect.bisect_right(starts, offset) - 1]
            inside[name] += 1
            at[name, offset - start, words_of.get(offset, "?")] += 1
    total = sum(inside.values())
    if not total:
        sys.exit("native-profile: no sample is weir's")
    print("%d samples in weir, of which" % total)
    for name, n in inside.most_common(FUNCTIONS):
        print("%5.1f %% %s" % (100 * n / total, name))
    print("and at")
    for (name, offset, words), n in at.most_common(INSTRUCTIONS):
        print("%5.1f %% %s+0x%x: %s" % (100 * n / total, name, offset, words))


main()
