#!/usr/bin/env python3
"""Draws docs/images/demo.svg from real output of `callgate demo`.

    callgate demo --fast | python3 docs/images/draw-demo.py 12-13 29-48 51-58 > docs/images/demo.svg

Each argument is a range of output lines (1-based, inclusive); a cut between ranges is drawn as a
dim `⋮`. Without arguments every line is drawn, numbered on stderr.
"""
import re, sys
from xml.sax.saxutils import escape

lines = [l.rstrip() for l in sys.stdin.read().split('\n')]
shown = [('$', '$ callgate demo')]
last = 0
for arg in sys.argv[1:] or [f'1-{len(lines)}']:
    a, b = (int(n) for n in arg.split('-'))
    if a > last + 1:
        shown.append(('cut', '⋮'))
    for n in range(a, b + 1):
        shown.append(('', lines[n - 1]))
    last = b
if last < len(lines.copy()) and any(lines[last:]):
    shown.append(('cut', '⋮'))
if len(sys.argv) == 1:
    for n, l in enumerate(lines, 1):
        print(f'{n:3} {l}', file=sys.stderr)

W, H, PAD, TOP = 8.4, 20, 18, 44
cols = max(len(t) for _, t in shown)
width = round(cols * W + 2 * PAD)
height = TOP + len(shown) * H + 14

def spans(kind, text):
    if kind == '$':
        return [('p', '$ '), ('b', text[2:])]
    if kind == 'cut':
        return [('d', text)]
    m = re.match(r'^(\s*)(deny|allow)(\s.*)$', text)
    if m:
        return [('', m[1]), ('r' if m[2] == 'deny' else 'g', m[2]), ('', m[3])]
    out = []
    # the border between two columns, rules, and a blocked call stand out
    for part in re.split(r'(│|─+┼?─*|callgate blocked the tool call `[^`]*`\.?)', text):
        if not part:
            continue
        style = 'd' if part[0] in '│─' else 'r' if part.startswith('callgate blocked') else ''
        out.append((style, part))
    return out

print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="callgate demo in a terminal">')
print('<style>'
      'text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;fill:#d7dde5;white-space:pre}'
      '.r{fill:#ff7b72;font-weight:700}.g{fill:#7ee787;font-weight:700}.d{fill:#6b7685}.p{fill:#7ee787}.b{fill:#fff;font-weight:700}'
      '@keyframes in{from{opacity:0}}'
      '@media (prefers-reduced-motion:no-preference){text{animation:in .25s backwards}}'
      '</style>')
print(f'<rect x=".5" y=".5" width="{width-1}" height="{height-1}" rx="9" fill="#12161d" stroke="#3a4350"/>')
for n, c in enumerate(('#ff5f57', '#febc2e', '#28c840')):
    print(f'<circle cx="{20+n*18}" cy="19" r="5.5" fill="{c}"/>')
delay = 0.0
for n, (kind, text) in enumerate(shown):
    delay += 0.9 if n == 1 else 0.12
    if not text.strip():
        continue
    lead = len(text) - len(text.lstrip())
    body = spans(kind, text)
    # leading blanks become an offset, so that renderers that drop them agree
    body[0] = (body[0][0], body[0][1].lstrip()) if body[0][1].strip() else body[0]
    if not body[0][1].strip():
        body = body[1:] if len(body) > 1 else body
    x = PAD + lead * W
    y = TOP + n * H + 8
    inner, at = '', 0
    col = lead
    body = [(style, piece) for style, part in body for piece in re.split(r'( {2,})', part) if piece]
    for style, part in body:
        # each part starts on its own column, whatever the font's width is
        strip = len(part) - len(part.lstrip())
        col += strip
        s = part.strip()
        if s:
            cls = f' class="{style}"' if style else ''
            length = f' textLength="{len(s)*W:.1f}"' if len(s) > 1 else ''
            inner += f'<tspan x="{PAD+col*W:.1f}"{length}{cls}>{escape(s)}</tspan>'
        col += len(part) - strip
    print(f'<text y="{y}" style="animation-delay:{delay:.2f}s">{inner}</text>')
print('</svg>')
