#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Draw the last screen of a terminal's output as SVG:

script -qec 'make demo' /dev/null | Documentation/demo.py >Documentation/demo.svg
make picture (tests/demo/top.sh) draws weir top."""

import re
import sys
from xml.sax.saxutils import escape

COLOURS = {"1": "#ffffff", "2": "#8a8f98", "31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "35": "#d2a8ff", "36": "#79c0ff"}
DEFAULT, BACK = "#c9d1d9", "#0d1117"
WIDE, HIGH, MARGIN = 8.4, 18, 12


def screen(text):
    """Rows of (character, (colour, is it exchanged with the background?))."""
    rows, row, column, colour, turned = [[]], 0, 0, DEFAULT, False
    for escaped, char in re.findall(r"\x1b\[([?\d;]*[A-Za-z])|([^\x00\x1b])", text):
        if escaped[-1:] == "m":
            for code in escaped[:-1].split(";"):
                turned = code == "7" or turned and code not in ("", "0")
                if code not in ("7", "49"):
                    colour = COLOURS.get(code, DEFAULT)
        elif escaped[-1:] == "A":
            row = max(row - int(escaped[:-1] or 1), 0)
        elif escaped == "K":
            del rows[row][column:]
        elif char == "\r":
            column = 0
        elif char == "\n":
            row, column = row + 1, 0
            rows += [[]] * (row == len(rows))
        elif char:
            rows[row] += [(" ", (DEFAULT, False))] * (column + 1 - len(rows[row]))
            rows[row][column] = char, (colour, turned)
            column += 1
    return rows


def spans(row):
    """Runs of one colour: (column, text, (colour, is it exchanged?))."""
    found = []
    for column, (char, colour) in enumerate(row):
        if found and found[-1][2] == colour:
            found[-1][1] += char
        else:
            found.append([column, char, colour])
    return [span for span in found if span[1].strip() or span[2][1]]


lines = [row for row in screen(sys.stdin.buffer.read().decode(errors="replace"))]
while lines and not lines[-1]:
    lines.pop()
width = max(map(len, lines)) * WIDE + 2 * MARGIN
height = len(lines) * HIGH + 2 * MARGIN
print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
      'font-family="monospace" font-size="14" xml:space="preserve">')
print("<!-- SPDX-License-Identifier: GPL-2.0-or-later -->")
print("<style>text { white-space: pre }</style>")  # browsers have no xml:space any more
print(f'<rect width="100%" height="100%" rx="6" fill="{BACK}"/>')
for number, line in enumerate(lines):
    for column, words, (colour, turned) in spans(line):
        if turned:
            print(f'<rect x="{MARGIN + column * WIDE:.1f}" y="{MARGIN + number * HIGH}" '
                  f'width="{len(words) * WIDE:.1f}" height="{HIGH}" fill="{colour}"/>')
            colour = BACK
        print(f'<text x="{MARGIN + column * WIDE:.1f}" y="{MARGIN + number * HIGH + 14}" '
              f'textLength="{len(words) * WIDE:.1f}" fill="{colour}">{escape(words)}</text>')
print("</svg>")
