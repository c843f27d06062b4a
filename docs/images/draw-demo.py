#!/usr/bin/env python3
"""Draws docs/images/demo.svg from the real output of `callgate demo`:

    callgate demo --fast | python3 docs/images/draw-demo.py 3-21 39-46 > docs/images/demo.svg

Each argument is a range of output lines (1-based, inclusive); omitted lines are drawn as `⋮`.
Without arguments, it prints the output with line numbers instead.
"""

import re
import sys
from xml.sax.saxutils import escape

CHAR, LINE, MARGIN, TOP = 8.4, 20, 18, 44

STYLE = (
    'text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d7dde5}'
    ".deny{fill:#ff7b72;font-weight:700}.allow{fill:#7ee787;font-weight:700}.dim{fill:#6b7685}"
    ".prompt{fill:#7ee787}.typed{fill:#fff;font-weight:700}"
    # Lines appear one by one; without animations, and at the end, all of them are visible.
    "@keyframes in{from{opacity:0}}"
    "@media (prefers-reduced-motion:no-preference){text{animation:in .25s backwards}}"
)

HIGHLIGHTS = [
    ("dim", r"│|─+┼?─*|⋮"),
    ("deny", r"callgate blocked the tool call( `[^`]*`\.)?|^ *deny(?= )"),
    ("allow", r"^ *allow(?= )"),
    ("prompt", r"^\$"),
    ("typed", r"(?<=^\$ )callgate demo$"),
]


def selected(lines, ranges):
    """The lines to draw, with a mark for each gap."""
    drawn, last = ["$ callgate demo"], 0
    for chosen in ranges:
        first, end = (int(number) for number in chosen.split("-"))
        if first > last + 1:
            drawn.append("⋮")
        drawn += lines[first - 1 : end]
        last = end
    if any(lines[last:]):
        drawn.append("⋮")
    return drawn


def classes(line):
    """The class of each character."""
    found = [""] * len(line)
    for name, pattern in HIGHLIGHTS:
        for match in re.finditer(pattern, line):
            found[match.start() : match.end()] = [name] * (match.end() - match.start())
    return found


def spans(line):
    """Runs of one class without wide gaps, each at its own column, so that any font fits."""
    named = classes(line)
    for match in re.finditer(r"\S+(?: \S+)*", line):
        start = match.start()
        while start < match.end():
            end = start + 1
            while end < match.end() and named[end] == named[start]:
                end += 1
            text = line[start:end]
            column = start + len(text) - len(text.lstrip())
            text = text.strip()
            if text:
                name = f' class="{named[start]}"' if named[start] else ""
                width = f' textLength="{len(text) * CHAR:.1f}"' if len(text) > 1 else ""
                place = f'x="{MARGIN + column * CHAR:.1f}"'
                yield f"<tspan {place}{width}{name}>{escape(text)}</tspan>"
            start = end


def draw(lines):
    width = round(max(map(len, lines)) * CHAR + 2 * MARGIN)
    height = TOP + len(lines) * LINE + 14
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="callgate demo in a terminal">'
    )
    yield f"<style>{STYLE}</style>"
    yield (
        f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="9" '
        'fill="#12161d" stroke="#3a4350"/>'
    )
    for number, color in enumerate(("#ff5f57", "#febc2e", "#28c840")):
        yield f'<circle cx="{20 + number * 18}" cy="19" r="5.5" fill="{color}"/>'
    for number, line in enumerate(lines):
        if line.strip():
            delay = 0.12 * number + (0.8 if number else 0)
            y = TOP + number * LINE + 8
            yield f'<text y="{y}" style="animation-delay:{delay:.2f}s">{"".join(spans(line))}</text>'
    yield "</svg>"


def main():
    lines = [line.rstrip() for line in sys.stdin.read().split("\n")]
    if len(sys.argv) == 1:
        for number, line in enumerate(lines, 1):
            print(f"{number:3} {line}")
        return
    print("\n".join(draw(selected(lines, sys.argv[1:]))))


main()
