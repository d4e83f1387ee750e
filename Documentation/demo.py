#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Draw the last screen of a terminal's output as SVG:

script -qec 'make demo' /dev/null | Documentation/demo.py >Documentation/demo.svg"""

import re
import sys
from xml.sax.saxutils import escape

COLOURS = {"1": "#ffffff", "2": "#8a8f98", "31": "#ff7b72", "32": "#7ee787", "35": "#d2a8ff", "36": "#79c0ff"}
DEFAULT = "#c9d1d9"
WIDE, HIGH, MARGIN = 8.4, 18, 12


def screen(text):
    """Rows of (character, colour)."""
    rows, row, column, colour = [[]], 0, 0, DEFAULT
    for escaped, char in re.findall(r"\x1b\[([?\d;]*[A-Za-z])|([^\x00\x1b])", text):
        if escaped[-1:] == "m":
            colour = COLOURS.get(escaped[:-1], DEFAULT)
        elif escaped[-1:] == "A":
            row = max(row - int(escaped[:-1] or 1), 0)
        elif escaped == "K":
            del rows[row][column:]
        elif char == "\r":
            column = 0
        elif char == "\n":
            row += 1
            rows += [[]] * (row == len(rows))
        elif char:
            rows[row] += [(" ", DEFAULT)] * (column + 1 - len(rows[row]))
            rows[row][column] = char, colour
            column += 1
    return rows


def spans(row):
    """Runs of one colour: (column, text, colour)."""
    found = []
    for column, (char, colour) in enumerate(row):
        if found and found[-1][2] == colour:
            found[-1][1] += char
        else:
            found.append([column, char, colour])
    return [span for span in found if span[1].strip()]


lines = [row for row in screen(sys.stdin.buffer.read().decode(errors="replace"))]
while lines and not lines[-1]:
    lines.pop()
width = max(map(len, lines)) * WIDE + 2 * MARGIN
height = len(lines) * HIGH + 2 * MARGIN
print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
      'font-family="monospace" font-size="14" xml:space="preserve">')
print("<!-- SPDX-License-Identifier: GPL-2.0-or-later -->")
print('<rect width="100%" height="100%" rx="6" fill="#0d1117"/>')
for number, line in enumerate(lines):
    for column, words, colour in spans(line):
        print(f'<text x="{MARGIN + column * WIDE:.1f}" y="{MARGIN + number * HIGH + 14}" '
              f'textLength="{len(words) * WIDE:.1f}" fill="{colour}">{escape(words)}</text>')
print("</svg>")
