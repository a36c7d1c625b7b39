#!/usr/bin/env python3
"""How fast a page of hr view opens and moves in headless Chromium: "OPEN_MS READY_MS DRAW_MEDIAN DRAW_P95 FRAME_MEDIAN".

    bench.py PAGE

Times are the page's own clock, from navigation on: the first picture, everything read; then, while the timeline is moved
and zoomed for 200 frames, the time to draw one and the time between two, in ms.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser  # noqa: E402  (the path above)

MOVE = """(async () => {
  const draw = [], frame = [], end = hrView.view.end;
  let last = await new Promise(requestAnimationFrame);
  for (let i = 0; i < 200; i++) {
    const span = end * (0.2 + 0.19 * Math.sin(i / 25)), from = (end - span) * i / 200;
    hrView.change({ from, to: from + span });
    const now = await new Promise(requestAnimationFrame);
    frame.push(now - last);
    last = now;
    draw.push(hrView.view.frameMs);
  }
  const at = (list, share) => list.sort((a, b) => a - b)[Math.floor((list.length - 1) * share)];
  return [at(draw, 0.5), at(draw, 0.95), at(frame, 0.5)];
})()"""

with Browser(1280, 800) as page:
    page.open("file://" + os.path.abspath(sys.argv[1]))
    page.settle()
    figures = [page.js("hrView.firstPictureMs"), page.js("hrView.readyMs"), *page.js(MOVE)]
    print(" ".join(f"{figure:.1f}" for figure in figures))
