#!/usr/bin/env python3
"""Looks at a page of hr sweep view: "sweep.py PAGE EVENT OTHER" prints what it says of the two as one JSON object."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser  # noqa: E402  (the path above)

where, events = sys.argv[1], sys.argv[2:]
with Browser(1400, 1000, dark=True) as page:
    page.call("Page.navigate", url="file://" + os.path.abspath(where))
    page.wait("window.hrSweep && hrSweep.ready")
    row, column = (page.js(f"hrSweep.shown.findIndex(e => e.name === {json.dumps(name)})") for name in events)
    matrix = page.js("(({x, y}) => ({x, y}))(document.getElementById('matrix').getBoundingClientRect())")
    layout = page.js("hrSweep.layout()")
    x, y = matrix["x"] + layout["labels"] + (column + 0.5) * layout["cell"], matrix["y"] + (row + 0.5) * layout["high"]
    page.mouse("mouseMoved", x, y)
    seen = {"tip": page.js("document.getElementById('matrix-tip').innerText"), "theme": page.js("document.documentElement.dataset.theme")}
    for kind in ("mousePressed", "mouseReleased"):
        page.mouse(kind, x, y, button="left", clickCount=1)
    seen.update(pair=page.js("[...document.querySelectorAll('.pair b')].map(b => b.textContent)"),
                figures=page.js("Object.fromEntries([...document.querySelectorAll('#figures div')].map(d => [d.firstChild.textContent, d.lastChild.textContent]))"),
                rows=page.js("document.querySelectorAll('#events tbody tr').length"), wide=page.js("document.documentElement.scrollWidth - document.documentElement.clientWidth"),
                elements=page.js("document.querySelectorAll('main img, main script').length"))
    page.js("(f => { f.value = 'LLC-'; f.oninput(); })(document.getElementById('filter'))")
    seen["filtered"] = page.js("[...document.querySelectorAll('#events tbody tr')].map(r => r.cells[0].textContent)")
    seen["problems"] = page.problems + [u for u in page.requests if not u.startswith("file:")]
print(json.dumps(seen))
