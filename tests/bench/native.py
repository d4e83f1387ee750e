#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""native.py RESULTS PLACE: tables of the native bench, of XDP if PLACE ends in that.

RESULTS has a file for each boot, with the output of native-cells. A figure is the
median over boots of each boot's median; a ratio is computed within each boot
first.
"""
import collections
import pathlib
import re
import statistics
import sys

TITLES = {
    "drop-1": "drop, 1 source", "drop-1k": "drop, 1 k sources", "drop-16k": "drop, 16 k",
    "drop-64k": "drop, 64 k", "drop-256k": "drop, 256 k", "drop-1m": "drop, 1 M",
    "admit-1": "admit, 1 source", "admit-1k": "admit, 1 k sources", "admit-16k": "admit, 16 k",
    "admit-64k": "admit, 64 k", "admit-256k": "admit, 256 k", "admit-1m": "admit, 1 M",
    "new-64k": "new source, 64 k table", "new-1m": "new source, 1 M table",
    "full-64k": "new source, 64 k full [1]", "full-1m": "new source, 1 M full [1]",
    "refused-64k": "new source, refused [2]", "unknown": "newcomer, no room",
    "two-unknown": "2 CPUs: newcomer, no room", "two-drop-1": "2 CPUs: drop, 1 source",
    "two-drop-1k": "2 CPUs: drop, 1 k each", "two-admit-1": "2 CPUs: admit, 1 source",
    "two-admit-1k": "2 CPUs: admit, 1 k each", "shared-admit": "one for all, admit",
    "two-shared-admit": "2 CPUs: one for all, admit", "unmatched": "no limit matches",
    "exempt": "exempt", "ten-drop": "ten limits, drop", "ten-admit": "ten limits, admit",
    "ip6-drop-1": "IPv6, drop, 1 source", "ip6-admit-1k": "IPv6, admit, 1 k",
    "net-drop-1": "/24, drop, 1 source", "net-admit-1k": "/24, admit, 1 k",
    "xdp-pass": "pass", "xdp-drop-1": "drop, 1 source", "xdp-drop-64k": "drop, 64 k",
    "xdp-drop-1m": "drop, 1 M", "xdp-new-refused": "new source, refused",
}
NOTES = """\
[1] hashlimit refuses every newcomer then, and nft lets every newcomer pass.
[2] A budget of 1: what was seen in a set leaves newcomers no room.
"""

# ROW: at most this fraction of hashlimit's cost, both without the hook's; a full table
# is compared with hashlimit's insertion into a table with room.
GOALS = {
    "drop-1": 0.25, "drop-1k": 0.5, "drop-16k": 0.5, "drop-64k": 0.6, "drop-1m": 0.75,
    "admit-1": 0.5, "admit-16k": 0.5, "admit-64k": 0.65, "admit-1m": 0.8,
    "new-64k": 0.95, "full-64k": 0.85, "two-admit-1": 1,
}
# ROW: with two CPUs at most this multiple of one CPU's cost
TWO_GOALS = {"drop-1": 1.1, "drop-1k": 1.15, "admit-1k": 1.15, "admit-1": None, "shared-admit": 1.3,
             "unknown": 1.15}
# ROW: at most this fraction of what the LRU hash takes, both without the empty program's
XDP_GOALS = {"xdp-drop-1": 0.5, "xdp-drop-64k": 0.7, "xdp-drop-1m": 0.85, "xdp-new-refused": 0.5}
XDP_TOOLS = ("weir", "lru", "lock", "clock")
INSTEAD = {"full-64k": "new-64k", "full-1m": "new-1m"}
PEERS = ("hashlimit", "nft")
TOOLS = ("weir", *PEERS)
MEMORY = {"memory-64k": ("64 k sources", 1 << 16), "memory-256k": ("256 k sources", 1 << 18),
          "memory-1m": ("1 M sources", 1 << 20)}

Figure = collections.namedtuple("Figure", "middle low high")


def figure(values):
    return Figure(statistics.median(values), min(values), max(values)) if values else None


class Results:
    """Results of the boots: the median of the repetitions for each row and tool."""

    def __init__(self, folder):
        self.cost = []  # for each boot: {(row, tool): ns}
        self.memory = []
        self.shown = collections.defaultdict(list)  # {row: [(all, ten, top, advise)]}, microseconds
        self.saved = collections.defaultdict(list)  # {row: [words of @saved]}
        self.verdict = {}  # {(row, tool): accept or drop, whichever is more}
        self.rows = []
        self.thrown = collections.Counter()
        self.cells = 0
        self.states = []
        self.line = []  # for each boot: ns per cache line of memory
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
            if line.startswith("@saved "):
                self.saved[word[1]].append(tuple(map(int, word[2:])))
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
        """Nanoseconds more than a hook that returns this cell's verdict at once, or an
        XDP program that is empty."""
        base = "empty" if tool in XDP_TOOLS[1:] else self.verdict[row, tool]
        return boot[row, tool] - boot[row, base]

    def ratio(self, row, peer):
        """Weir's cost as a fraction of a peer's, both without the hook's."""
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


def conditions(results):
    yield results.circumstances.replace("# ", "").rstrip()
    for state in results.states:
        yield state
    thrown = sum(results.thrown.values())
    yield f"{len(results.cost)} boots, {results.cells} cells kept, {thrown} thrown away (disturbed)"
    yield ""


def table(results):
    if not any((row, "weir") in boot for boot in results.cost for row in results.rows
               if not row.startswith("xdp-")):
        return
    yield from conditions(results)
    yield "Nanoseconds a packet and CPU, harness included. A fence (mfence; lfence) before each"
    yield "packet keeps the cache misses of one from overlapping with the next's, as thousands of"
    yield "instructions do in a real stack. Median of boots (lowest-highest), then weir's cost"
    yield "over a hook that returns the verdict at once as a part of what the others take"
    yield ""
    form = "%-26s %6s %16s %16s %16s %9s %5s  %s"
    yield form % ("", "a hook", "weir", "hashlimit", "nft", "of hashl.", "of nft", "goal")
    for row in results.rows:
        if row in MEMORY or row.startswith("xdp-") or not results.of(row, "weir"):
            continue
        base = results.of(row, results.verdict[row, "weir"])
        ratios = [results.ratio(row, peer) for peer in PEERS]
        said = ["%.2f" % r.middle if r else "-" for r in ratios]
        line = form % (TITLES.get(row, row), "%.1f" % base.middle if base else "-",
                       *(cell(results.of(row, t)) for t in TOOLS), *said, goal(GOALS.get(row), ratios[0]))
        yield line.rstrip()
    yield NOTES.rstrip()
    yield from lines_of_memory(results)
    yield from two_cpus(results)
    yield from memory(results)


def xdp(results):
    """What XDP programs add to an empty one, and weir's part of what the LRU hash adds."""
    form = "%-20s %15s %15s %15s %15s %7s %9s  %s"
    rows = [row for row in results.rows if row.startswith("xdp-")]
    if not rows:
        return
    yield from conditions(results)
    yield form % ("ns over an empty one", "weir", "LRU hash", "spin lock", "clock", "of LRU", "less clk.", "goal")
    for row in rows:
        boots = [{tool: results.over(boot, row, tool) for tool in XDP_TOOLS if (row, tool) in boot}
                 for boot in results.cost]
        costs = [figure([boot[tool] for boot in boots if tool in boot]) for tool in XDP_TOOLS]
        boots = [boot for boot in boots if len(boot) == len(XDP_TOOLS)]
        parts = [figure([boot["weir"] / boot["lru"] for boot in boots]),
                 figure([boot["weir"] / (boot["lru"] - boot["clock"]) for boot in boots])]
        said = ["%.2f" % part.middle if part else "-" for part in parts]
        yield (form % (TITLES[row], *map(cell, costs), *said, goal(XDP_GOALS.get(row), parts[0]))).rstrip()


def goal(wanted, value):
    if not wanted or not value:
        return ""
    return f"{wanted:.2f}: {'met' if value.middle <= wanted else 'missed'}"


def section(title, form, rows, last=""):
    """A table of each tool's figures; rows have a name, figures and a last word"""
    line = "%-26s %18s %18s %18s  %s"
    told = [(line % (name, *(form % f if f else "-" for f in figures), word)).rstrip()
            for name, figures, word in rows if figures[0]]
    if told:
        yield from ("", title, "", (line % ("", *TOOLS, last)).rstrip(), *told)


def lines_of_memory(results):
    """Cost of a packet without the hook's, if no table is cached, in cache line times."""
    rows = [(TITLES[row], [figure([results.over(boot, row, tool) / line
                                   for boot, line in zip(results.cost, results.line)
                                   if line and (row, tool) in boot]) for tool in TOOLS], "")
            for row in ("drop-1m", "admit-1m", "new-1m", "full-1m")]
    takes = statistics.median([line for line in results.line if line] or [0])
    yield from section("The same over the hook as a multiple of the one cache line that the memory "
                       "takes, %.0f ns" % takes, "%.1f (%.1f-%.1f)", rows)


def two_cpus(results):
    rows = []
    for row, wanted in TWO_GOALS.items():
        two = "two-" + row
        figures = [figure([results.over(boot, two, tool) / results.over(boot, row, tool)
                           for boot in results.cost if (two, tool) in boot and (row, tool) in boot])
                   for tool in TOOLS]
        rows.append((TITLES[two], figures, goal(wanted, figures[0])))
    yield from section("Each of two CPUs, over the hook, as a multiple of one alone",
                       "%.2f (%.2f-%.2f)", rows, "goal")


def memory_of(results, row, tool):
    """Bytes a source that the table is made for, less what the cell takes without one."""
    per = []
    for boot in results.memory:
        base = boot.get((row, "accept"))
        if base is not None and (row, tool) in boot:
            per.append((boot[row, tool] - base) / MEMORY[row][1])
    return figure(per)


def seconds(values):
    return "%.2f (%.2f-%.2f)" % figure([value / 1e6 for value in values])


def memory(results):
    yield from section("Bytes a source, all that the kernel has less of", "%.0f (%.0f-%.0f)",
                       [(title, [memory_of(results, row, tool) for tool in TOOLS], "")
                        for row, (title, _) in MEMORY.items()])
    if results.shown:
        yield from ("", "Seconds that weir takes to show all of them, and the ten worst (top 10 by count); and of the",
                    "CPU, each further screen of weir top, and for limit advise to look at all of them twice",
                    "", "%-16s %18s %18s %18s %18s" % ("", "all", "ten", "weir top", "advise"))
    for row, values in results.shown.items():
        yield "%-16s %18s %18s %18s %18s" % (MEMORY[row][0], *map(seconds, zip(*values)))
    if results.saved:
        yield from ("", "save -state and restore: seconds, MiB of memory of the tool; MB of the file, sources in it", "",
                    "%-14s %16s %4s %16s %4s %6s %9s" % ("", "save", "MiB", "restore", "MiB", "MB", "sources"))
    for row, values in results.saved.items():
        save, save_kib, restore, restore_kib, size, sources = zip(*values)
        yield "%-14s %16s %4.1f %16s %4.1f %6.1f %9d" % (
            MEMORY[row][0], seconds(save), max(save_kib) / 1024, seconds(restore), max(restore_kib) / 1024,
            max(size) / 1e6, min(sources))


def main():
    results = Results(pathlib.Path(sys.argv[1]))
    if not results.rows:
        sys.exit("native.py: no cell was kept")
    for line in (xdp if sys.argv[2].endswith("XDP") else table)(results):
        print(line)


main()
