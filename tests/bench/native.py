#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""native.py [--write FOLDER] RESULTS: tables of the native bench.

RESULTS has a file of lines for each boot, as native-cells makes them. A figure
is the median over boots of each boot's median; a ratio is made within a boot
first. --write also keeps the tables, and what the plots are made of, in FOLDER.
"""
import argparse
import collections
import pathlib
import re
import statistics
import sys

TITLES = {
    "drop-1": "drop, 1 source", "drop-1k": "drop, 1 k sources",
    "drop-16k": "drop, 16 k", "drop-64k": "drop, 64 k",
    "drop-256k": "drop, 256 k", "drop-1m": "drop, 1 M",
    "admit-1": "admit, 1 source", "admit-1k": "admit, 1 k sources",
    "admit-16k": "admit, 16 k", "admit-64k": "admit, 64 k",
    "admit-256k": "admit, 256 k", "admit-1m": "admit, 1 M",
    "new-64k": "new source, 64 k table", "new-1m": "new source, 1 M table",
    "full-64k": "new source, 64 k full [1]", "full-1m": "new source, 1 M full [1]",
    "refused-64k": "new source, refused [2]",
    "two-drop-1": "2 CPUs: drop, 1 source", "two-drop-1k": "2 CPUs: drop, 1 k each",
    "two-admit-1": "2 CPUs: admit, 1 source", "two-admit-1k": "2 CPUs: admit, 1 k each",
    "shared-admit": "one for all, admit", "two-shared-admit": "2 CPUs: one for all, admit",
    "unmatched": "no limit matches", "exempt": "exempt",
    "ten-drop": "ten limits, drop", "ten-admit": "ten limits, admit",
    "ip6-drop-1": "IPv6, drop, 1 source", "ip6-admit-1k": "IPv6, admit, 1 k",
    "net-drop-1": "/24, drop, 1 source", "net-admit-1k": "/24, admit, 1 k",
}
NOTES = """\
[1] hashlimit refuses every newcomer then, and nft lets every newcomer pass.
[2] A budget of 1: what was seen in a bucket leaves newcomers no room.
"""

# ROW: at most this part of hashlimit's cost over the hook; the cost of a full table is
# compared with hashlimit's insertion into one with room.
GOALS = {
    "drop-1": 0.25, "drop-1k": 0.5, "drop-16k": 0.5, "drop-64k": 0.6, "drop-1m": 0.75,
    "admit-1": 0.5, "admit-16k": 0.5, "admit-64k": 0.65, "admit-1m": 0.8,
    "new-64k": 0.95, "full-64k": 0.85, "two-admit-1": 1,
}
# ROW: with two CPUs at most this multiple of one alone
TWO_GOALS = {"drop-1": 1.1, "drop-1k": 1.15, "admit-1k": 1.15, "admit-1": None, "shared-admit": 1.3}
INSTEAD = {"full-64k": "new-64k", "full-1m": "new-1m"}
LICENCE = "# SPDX-License-Identifier: GPL-2.0-or-later"
PEERS = ("hashlimit", "nft")
MEMORY = {"memory-64k": "64 k sources", "memory-256k": "256 k sources", "memory-1m": "1 M sources"}
SIZES = {"1": 1, "1k": 1 << 10, "16k": 1 << 14, "64k": 1 << 16, "256k": 1 << 18, "1m": 1 << 20}

Figure = collections.namedtuple("Figure", "middle low high")


def figure(values):
    return Figure(statistics.median(values), min(values), max(values)) if values else None


class Results:
    """What the boots said: per boot, row and tool the medians of its repetitions."""

    def __init__(self, folder):
        self.cost = []  # of each boot: {(row, tool): ns}
        self.memory = []
        self.shown = collections.defaultdict(list)  # {row: [(all, ten)]}, microseconds
        self.verdict = {}  # {(row, tool): accept or drop, whichever is more}
        self.rows = []
        self.thrown = collections.Counter()
        self.cells = 0
        self.states = []
        self.line = []  # of each boot: what a line of the memory takes, ns
        for path in sorted(folder.glob("boot.*"), key=lambda p: int(p.suffix[1:])):
            self.read(path)
        self.circumstances = (folder / "circumstances").read_text()

    def read(self, path):
        cost, memory = collections.defaultdict(list), collections.defaultdict(list)
        cells = collections.defaultdict(list)
        of_line = []
        for line in path.read_text(errors="replace").splitlines():
            word = line.split()
            if line.startswith("# boot"):
                self.states.append(line[2:])
                of_line += map(float, re.findall(r" takes ([\d.]+) ns", line))
            if line.startswith("@shown "):
                self.shown[word[1]].append(tuple(map(int, word[2:])))
            if len(word) != 9 or not all(re.fullmatch(r"-?\d+", w) for w in word[2:]):
                continue
            row, tool = word[:2]
            repetition, kept, count, accepted, ns, _, size = map(int, word[2:])
            if not kept:
                self.thrown[row, tool] += 1
                continue
            cells[row, tool, repetition].append(ns / count)
            memory[row, tool].append(size)
            self.verdict[row, tool] = "accept" if accepted * 2 > count else "drop"
            if row not in self.rows:
                self.rows.append(row)
        for (row, tool, _), per_cpu in cells.items():
            cost[row, tool].append(statistics.mean(per_cpu))
            self.cells += 1
        self.cost.append({key: statistics.median(v) for key, v in cost.items()})
        self.memory.append({key: statistics.median(v) for key, v in memory.items()})
        self.line.append(statistics.mean(of_line) if of_line else None)

    def of(self, row, tool):
        return figure([boot[row, tool] for boot in self.cost if (row, tool) in boot])

    def over(self, boot, row, tool):
        """Nanoseconds over a hook that returns the verdict of this cell at once."""
        return boot[row, tool] - boot[row, self.verdict[row, tool]]

    def ratio(self, row, peer):
        """Weir's cost as a part of a peer's, both over the hook."""
        other = INSTEAD.get(row, row) if peer == "hashlimit" else row
        parts = []
        for boot in self.cost:
            try:
                parts.append(self.over(boot, row, "weir") / self.over(boot, other, peer))
            except (KeyError, ZeroDivisionError):
                pass
        return figure(parts)


def cell(value):
    if not value:
        return "-"
    return f"{value.middle:.1f} ({value.low:.0f}-{value.high:.0f})"


def table(results):
    yield results.circumstances.replace("# ", "").rstrip()
    for state in results.states:
        yield state
    thrown = sum(results.thrown.values())
    yield f"{len(results.cost)} boots, {results.cells} cells kept, {thrown} thrown away (disturbed)"
    yield ""
    yield "Nanoseconds a packet and CPU, harness included. A fence (mfence; lfence) before each"
    yield "packet keeps the cache misses of one from overlapping with the next's, as thousands of"
    yield "instructions do in a real stack. Median of boots (lowest-highest), then weir's cost"
    yield "over a hook that returns the verdict at once as a part of what the others take"
    yield ""
    form = "%-26s %6s %16s %16s %16s %9s %5s  %s"
    yield form % ("", "a hook", "weir", "hashlimit", "nft", "of hashl.", "of nft", "goal")
    for row in results.rows:
        if row in MEMORY or not results.of(row, "weir"):
            continue
        base = results.of(row, results.verdict[row, "weir"])
        ratios = [results.ratio(row, peer) for peer in PEERS]
        said = ["%.2f" % r.middle if r else "-" for r in ratios]
        line = form % (TITLES.get(row, row), "%.1f" % base.middle if base else "-",
                       *(cell(results.of(row, t)) for t in ("weir", *PEERS)), *said, goal(row, ratios))
        yield line.rstrip()
    yield NOTES.rstrip()
    yield from lines_of_memory(results)
    yield from two_cpus(results)
    yield from memory(results)


def goal(row, ratios):
    wanted = GOALS.get(row)
    if not wanted or not ratios[0]:
        return ""
    return f"{wanted:.2f}: {'met' if ratios[0].middle <= wanted else 'missed'}"


def lines_of_memory(results):
    """What a packet takes over the hook where the table is in no cache, in lines."""
    rows = []
    for row in ("drop-1m", "admit-1m", "new-1m", "full-1m"):
        said = []
        for tool in ("weir", *PEERS):
            value = figure([results.over(boot, row, tool) / line
                            for boot, line in zip(results.cost, results.line)
                            if line and (row, tool) in boot])
            said.append("%.1f (%.1f-%.1f)" % value if value else "-")
        if said[0] != "-":
            rows.append("%-26s %18s %18s %18s" % (TITLES[row], *said))
    if rows:
        yield ""
        yield ("The same over the hook as a multiple of the one cache line that the memory "
               "takes, %.0f ns" % statistics.median(filter(None, results.line)))
        yield ""
        yield "%-26s %18s %18s %18s" % ("", "weir", *PEERS)
        yield from rows


def two_cpus(results):
    lines = []
    for row, wanted in TWO_GOALS.items():
        said, met = [], ""
        for tool in ("weir", *PEERS):
            value = figure([results.over(boot, "two-" + row, tool) / results.over(boot, row, tool)
                            for boot in results.cost
                            if ("two-" + row, tool) in boot and (row, tool) in boot])
            said.append("%.2f (%.2f-%.2f)" % value if value else "-")
            if tool == "weir" and value and wanted:
                met = f"{wanted:.2f}: {'met' if value.middle <= wanted else 'missed'}"
        if said[0] != "-":
            lines.append(("%-26s %18s %18s %18s  %s" % (TITLES["two-" + row], *said, met)).rstrip())
    if lines:
        yield ""
        yield "Each of two CPUs, over the hook, as a multiple of one alone"
        yield ""
        yield "%-26s %18s %18s %18s  %s" % ("", "weir", *PEERS, "goal")
        yield from lines


def memory_of(results, row, tool):
    """Bytes a source that the table is made for, less what the cell takes without one."""
    per = []
    for boot in results.memory:
        base = boot.get((row, "accept"))
        if base is not None and (row, tool) in boot:
            per.append((boot[row, tool] - base) / SIZES[row.rsplit("-", 1)[1]])
    return figure(per)


def memory(results):
    lines = []
    for row in ("memory-64k", "memory-256k", "memory-1m"):
        said = [memory_of(results, row, tool) for tool in ("weir", *PEERS)]
        if said[0]:
            lines.append("%-26s %18s %18s %18s" % (MEMORY[row],
                         *("%.0f (%.0f-%.0f)" % s if s else "-" for s in said)))
    if lines:
        yield ""
        yield "Bytes a source, all that the kernel has less of"
        yield ""
        yield "%-26s %18s %18s %18s" % ("", "weir", *PEERS)
        yield from lines
    lines = []
    for row, values in results.shown.items():
        said = ["%.2f (%.2f-%.2f)" % figure([v / 1e6 for v in column]) for column in zip(*values)]
        lines.append("%-26s %18s %18s" % (MEMORY[row], *said))
    if lines:
        yield ""
        yield "Seconds that weir takes to show all of them, and the ten worst (top 10 by count)"
        yield ""
        yield "%-26s %18s %18s" % ("", "all", "ten")
        yield from lines


def data(results):
    """Files for the plots: name -> lines."""
    for what, hook in (("drop", "drop"), ("admit", "accept")):
        lines = ["# sources, then of weir, hashlimit, nft and the hook: ns, lowest, highest"]
        for name, size in SIZES.items():
            row = f"{what}-{name}"
            values = [results.of(row, tool) for tool in ("weir", *PEERS, hook)]
            if all(values):
                lines.append(" ".join([str(size), *("%.2f %.2f %.2f" % v for v in values)]))
        yield f"sources-{what}.dat", lines
    lines = ["# what, then of weir, hashlimit and nft: ns of one CPU alone, of each of two"]
    for row, title in (("drop-1", "drop,\\n1 source"), ("drop-1k", "drop,\\n1 k each"),
                       ("admit-1", "admit,\\n1 source"), ("admit-1k", "admit,\\n1 k each")):
        values = [results.of(prefix + row, tool) for tool in ("weir", *PEERS) for prefix in ("", "two-")]
        if all(values):
            lines.append(" ".join([f'"{title}"', *("%.2f" % v.middle for v in values)]))
    yield "cpus.dat", lines
    lines = ["# sources, then bytes a source of weir, hashlimit, nft"]
    for row, title in MEMORY.items():
        values = [memory_of(results, row, tool) for tool in ("weir", *PEERS)]
        if all(values):
            lines.append(" ".join([f'"{title}"', *("%.1f" % v.middle for v in values)]))
    yield "memory.dat", lines
    lines = ["# row tool, then a median for each boot, ns a packet"]
    for row in results.rows:
        for tool in ("accept", "drop", "weir", *PEERS):
            values = [f"{boot[row, tool]:.2f}" for boot in results.cost if (row, tool) in boot]
            if values:
                lines.append(" ".join([row, tool, *values]))
    yield "native.dat", lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("results", type=pathlib.Path)
    args = parser.parse_args()
    results = Results(args.results)
    if not results.rows:
        sys.exit("native.py: no cell was kept")
    text = "\n".join(table(results)) + "\n"
    print(text, end="")
    if args.write:
        args.write.mkdir(exist_ok=True)
        for name, lines in data(results):
            (args.write / name).write_text("\n".join([LICENCE, results.circumstances.rstrip(), *lines]) + "\n")


main()
