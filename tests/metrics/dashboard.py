#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""dashboard.py URL SECONDS: a page with the dashboard's panels, of the last seconds that the Prometheus
at this URL has. Status 1 if a panel's first query has no series."""

import html
import json
import pathlib
import re
import sys
import time
import urllib.parse
import urllib.request

DASHBOARD = pathlib.Path(__file__).resolve().parents[2] / "Documentation/examples/grafana.json"
COLOURS = "#7eb26d #eab839 #6ed0e0 #ef843c #e24d42 #1f78c1 #ba43a9 #705da0".split()
UNITS = {"pps": " p/s", "Bps": " B/s", "percentunit": "%", "bytes": " B"}
GRID, WIDE, HIGH, LEFT, HEAD = 52, 620, 150, 64, 30
url, seconds = sys.argv[1], int(sys.argv[2])
now = time.time()


def series(target):
    """Of a query: (legend, [(time, value)]) of each series that it gives."""
    query = re.sub(r"\$(instance|limit)", ".*", target["expr"].replace("$__rate_interval", "5s"))
    words = urllib.parse.urlencode({"query": query, "start": now - seconds, "end": now, "step": 1})
    with urllib.request.urlopen(f"{url}/api/v1/query_range?{words}") as answer:
        for found in json.load(answer)["data"]["result"]:
            name = re.sub(r"{{(\w+)}}", lambda m: found["metric"].get(m[1], ""), target["legendFormat"])
            yield name.strip(), [(float(at), float(value)) for at, value in found["values"]]


def short(value, unit):
    value *= 100 if unit == "percentunit" else 1
    for factor, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.3g} {letter}{UNITS.get(unit, '').strip()}"
    return f"{value:.3g}{UNITS.get(unit, '')}"


def draw(panel):
    unit = panel["fieldConfig"]["defaults"]["unit"]
    lines = [line for target in panel["targets"] for line in series(target)]
    most = max([value for _, points in lines for _, value in points] + [0]) * 1.1 or 1
    place = panel["gridPos"]
    print(f'<svg style="left:{place["x"] * GRID}px; top:{place["y"] * 31}px" width="{WIDE}" height="240">'
          f'<text x="10" y="20" class="title">{html.escape(panel["title"])}</text>')
    for part in range(5):
        y = HEAD + HIGH - HIGH * part / 4
        print(f'<path d="M{LEFT} {y}H{WIDE - 12}" class="grid"/>'
              f'<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end">{short(most * part / 4, unit)}</text>')
    for part in range(0, 5):
        x = LEFT + (WIDE - LEFT - 12) * part / 4
        print(f'<text x="{x}" y="{HEAD + HIGH + 16}" text-anchor="middle">{seconds * (part - 4) // 4} s</text>')
    x, row = LEFT, HEAD + HIGH + 30
    for number, (name, points) in enumerate(lines):
        colour = COLOURS[number % len(COLOURS)]
        if x + 26 + 6 * len(name) > WIDE:
            x, row = LEFT, row + 14
        path = "L".join(f"{LEFT + (WIDE - LEFT - 12) * (at - now + seconds) / seconds:.1f} "
                        f"{HEAD + HIGH - HIGH * value / most:.1f}" for at, value in points)
        print(f'<path d="M{path}" stroke="{colour}" class="line"/><rect x="{x}" y="{row - 6}" width="10" height="4" '
              f'fill="{colour}"/><text x="{x + 14}" y="{row}">{html.escape(name)}</text>')
        x += 26 + 7 * len(name)
    print("</svg>")
    return lines


panels = json.loads(DASHBOARD.read_text())["panels"]
print("""<!DOCTYPE html><meta charset="utf-8"><title>weir</title><style>
body { margin: 0; background: #111217; width: 1256px; height: 1240px; position: relative }
svg { position: absolute; background: #181b1f; margin: 4px; font: 11px sans-serif }
text { fill: #ccccdc } .title { font-size: 13px; font-weight: bold }
.grid { stroke: #2c2f36 } .line { fill: none; stroke-width: 1.5 }</style>""")
empty = [panel["title"] for panel in panels if not draw(panel)]
if empty:
    sys.exit(f"no series: {empty}")
